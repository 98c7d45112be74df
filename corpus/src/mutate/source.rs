//! A C source and its syntax tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tree_sitter::{Node, Parser, Tree};

/// Line numbers count from 1.
pub type Lines = BTreeSet<usize>;

/// A source without syntax errors.
pub struct Source {
    text: String,
    tree: Tree,
}

impl Source {
    /// `None` if it is not valid C.
    pub fn parse(text: &str) -> Option<Source> {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
        let tree = parser.parse(text, None)?;
        (!tree.root_node().has_error()).then(|| Source { text: text.to_owned(), tree })
    }

    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    pub fn whole(&self) -> &str {
        &self.text
    }

    pub fn text(&self, node: Node<'_>) -> &str {
        self.slice(node.byte_range())
    }

    pub fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// Where the function begins that a place in the text is in.
    pub fn function_around(&self, at: usize) -> Option<usize> {
        let node = self.root().descendant_for_byte_range(at, at)?;
        function_of(node).map(|function| function.start_byte())
    }

    /// Where each function begins, and its body.
    pub fn bodies(&self) -> BTreeMap<usize, Range<usize>> {
        let functions =
            self.nodes(self.root()).into_iter().filter(|node| node.kind() == "function_definition");
        let body = |function: Node<'_>| {
            Some((function.start_byte(), function.child_by_field_name("body")?.byte_range()))
        };
        functions.filter_map(body).collect()
    }

    /// The lines of all statements, each with the line that its statement begins in.
    pub fn statements(&self) -> BTreeMap<usize, usize> {
        let statements = self.nodes(self.root()).into_iter().filter(|node| is_statement(*node, self));
        let all: Vec<Lines> = statements.map(|statement| own_lines(statement, self)).collect();
        let begin = |lines: &Lines| lines.first().copied().unwrap_or(0);
        let mut found: BTreeMap<usize, usize> =
            all.iter().flat_map(|lines| lines.iter().map(move |line| (*line, begin(lines)))).collect();
        // Where one statement ends and another begins, the line is that of the latter.
        found.extend(all.iter().map(|lines| (begin(lines), begin(lines))));
        found
    }

    /// All nodes below one, itself included, in the order of the source.
    pub fn nodes<'a>(&'a self, from: Node<'a>) -> Vec<Node<'a>> {
        let mut found = Vec::new();
        let mut left = vec![from];
        while let Some(node) = left.pop() {
            found.push(node);
            let mut cursor = node.walk();
            let children: Vec<Node<'a>> = node.children(&mut cursor).collect();
            left.extend(children.into_iter().rev());
        }
        found
    }
}

pub fn ancestors(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(node.parent(), Node::parent)
}

pub fn is_field(node: Node<'_>, parent: Node<'_>, name: &str) -> bool {
    parent.child_by_field_name(name).is_some_and(|child| child.id() == node.id())
}

/// The function that a node is in.
pub fn function_of(node: Node<'_>) -> Option<Node<'_>> {
    ancestors(node).find(|above| above.kind() == "function_definition")
}

/// Objects with static storage are initialised before the program runs: no statement does it.
pub fn is_static(declaration: Node<'_>, source: &Source) -> bool {
    let mut cursor = declaration.walk();
    function_of(declaration).is_none()
        || declaration
            .children(&mut cursor)
            .any(|child| child.kind() == "storage_class_specifier" && source.text(child) == "static")
}

/// The part of a statement that is executed as one: of `if`, `while`, `for` and `switch` what stands before the
/// body, of `do` the condition, of all others everything.
pub fn own_range(statement: Node<'_>) -> Range<usize> {
    let whole = statement.byte_range();
    let body = match statement.kind() {
        "if_statement" => statement.child_by_field_name("consequence"),
        "while_statement" | "for_statement" | "switch_statement" => statement.child_by_field_name("body"),
        "do_statement" => {
            return statement.child_by_field_name("condition").map_or(whole, |node| node.byte_range());
        }
        _ => None,
    };
    whole.start..body.map_or(whole.end, |body| body.start_byte())
}

/// Is it something that a debugger would stop at?
pub fn is_statement(node: Node<'_>, source: &Source) -> bool {
    match node.kind() {
        "if_statement"
        | "while_statement"
        | "for_statement"
        | "switch_statement"
        | "do_statement"
        | "expression_statement"
        | "return_statement"
        | "break_statement"
        | "continue_statement"
        | "goto_statement" => true,
        "declaration" => {
            let mut cursor = node.walk();
            !is_static(node, source)
                && ancestors(node).next().is_none_or(|above| above.kind() != "for_statement")
                && node.children(&mut cursor).any(|child| child.kind() == "init_declarator")
        }
        _ => false,
    }
}

/// The statement whose own part a node is in.
pub fn statement_of<'a>(node: Node<'a>, source: &Source) -> Option<Node<'a>> {
    let at = node.start_byte();
    std::iter::once(node)
        .chain(ancestors(node))
        .find(|above| is_statement(*above, source))
        .filter(|statement| own_range(*statement).contains(&at))
}

/// The lines of a part of the source, without white space at its end.
pub fn lines_of(range: Range<usize>, source: &Source) -> Lines {
    let first = source.slice(0..range.start).matches('\n').count() + 1;
    let count = source.slice(range).trim_end().matches('\n').count();
    (first..=first + count).collect()
}

pub fn own_lines(statement: Node<'_>, source: &Source) -> Lines {
    lines_of(own_range(statement), source)
}
