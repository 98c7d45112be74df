//! Cuts a file into statements: a body is no part of the statement that it belongs to.
//!
//! `if (a) { b; } else c;` is four pieces: `if (a)`, `b;`, `else` and `c;`. What stands in a block, or is the
//! body of a statement without one, is a piece of its own, and cuts the piece around it.

use std::ops::Range;

use tree_sitter::{Tree, TreeCursor};

use crate::source::loops;
use crate::source::syntax::{Language, Loop};

/// Nodes whose children are statements.
const BLOCKS: [&str; 14] = [
    "translation_unit",
    "compound_statement",
    "preproc_if",
    "preproc_ifdef",
    "preproc_else",
    "preproc_elif",
    "preproc_elifdef",
    "field_declaration_list",
    "declaration_list",
    "source_file",
    "block",
    "match_block",
    "linkage_specification",
    "ERROR",
];

/// A longer piece is no statement that a person wrote, but a text that was not understood.
const LONGEST_PIECE: usize = 1 << 20;

#[derive(Default)]
pub(crate) struct Pieces {
    /// Sorted, without overlaps.
    pub statements: Vec<Range<usize>>,
    /// Sorted by their beginnings.
    pub loops: Vec<Loop>,
    /// Sorted, without overlaps.
    pub comments: Vec<Range<usize>>,
}

/// Walks the tree without recursion, since its depth is the text's to choose.
pub(super) fn pieces(language: Language, tree: &Tree, content: &[u8]) -> Pieces {
    let mut walk =
        Walk { language, content, open: Vec::new(), parents: Vec::new(), found: Pieces::default() };
    let mut cursor = tree.walk();
    loop {
        walk.enter(&cursor);
        let kind = cursor.node().kind();
        if cursor.goto_first_child() {
            walk.parents.push(kind);
            continue;
        }
        while !cursor.goto_next_sibling() {
            walk.parents.pop();
            if !cursor.goto_parent() {
                walk.close(usize::MAX);
                walk.found.statements.sort_by_key(|range| range.start);
                if language != Language::Rust {
                    walk.found.loops = loops::loops(content, &walk.found.comments);
                }
                return walk.found;
            }
        }
    }
}

struct Walk<'a> {
    language: Language,
    content: &'a [u8],
    /// What is left of the statements around the current node, the innermost last.
    open: Vec<Range<usize>>,
    /// Kinds of the nodes around the current one.
    parents: Vec<&'static str>,
    found: Pieces,
}

impl Walk<'_> {
    fn enter(&mut self, cursor: &TreeCursor<'_>) {
        let node = cursor.node();
        let kind = node.kind();
        self.close(node.start_byte());
        if is_comment(kind) {
            self.found.comments.push(node.byte_range());
            return;
        }
        if !node.is_named() {
            return;
        }
        let parent = self.parents.last().copied().unwrap_or_default();
        let field = cursor.field_name().unwrap_or_default();
        // Only classes have code between their members.
        let is_data = kind == "field_declaration_list" && self.language == Language::C;
        let is_block = BLOCKS.contains(&kind) && !is_data;
        let is_clause = parent == "for_statement" && matches!(field, "initializer" | "condition" | "update");
        let is_member = parent == "field_declaration_list" && self.language == Language::C;
        let is_statement = !is_data && !is_member && is_statement(kind, field, parent);
        if is_block || is_clause || is_statement {
            self.cut(node.byte_range());
        }
        if is_statement && !is_block && kind != "for_statement" {
            self.open.push(node.byte_range());
        }
    }

    /// Ends the statements that end before `offset`.
    fn close(&mut self, offset: usize) {
        while let Some(done) = self.open.pop_if(|open| open.end <= offset) {
            self.keep(done);
        }
    }

    /// Takes an inner range out of the statement around it.
    fn cut(&mut self, inner: Range<usize>) {
        let Some(around) = self.open.last_mut() else { return };
        let before = around.start..inner.start;
        around.start = inner.end.clamp(around.start, around.end);
        self.keep(before);
    }

    /// Keeps a piece that says something: more than the punctuation that is left between bodies.
    fn keep(&mut self, range: Range<usize>) {
        let text = self.content.get(range.clone()).unwrap_or_default();
        let blank = |byte: &&u8| byte.is_ascii_whitespace();
        let before = text.iter().take_while(blank).count();
        let after = text.iter().rev().take_while(blank).count();
        let says_something = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        if text.len() <= LONGEST_PIECE && text.iter().any(says_something) {
            self.found.statements.push(range.start + before..range.end - after);
        }
    }
}

/// Whether a node is a statement, by where it stands.
fn is_statement(kind: &str, field: &str, parent: &str) -> bool {
    // Directives make no code; those that choose between texts are blocks.
    if kind.starts_with("preproc_") || kind == "attribute_item" {
        return false;
    }
    match parent {
        // The condition of the directive, and the name of the language.
        _ if BLOCKS.contains(&parent) => !matches!(field, "name" | "condition" | "value"),
        // Parts of an expression, though they have the names of bodies.
        "closure_expression" | "lambda_expression" | "conditional_expression" | "struct_expression" => false,
        "case_statement" | "labeled_statement" | "else_clause" | "attributed_statement" => {
            kind.ends_with("_statement") || kind == "declaration"
        }
        _ => matches!(field, "consequence" | "alternative" | "body"),
    }
}

fn is_comment(kind: &str) -> bool {
    matches!(kind, "comment" | "line_comment" | "block_comment")
}
