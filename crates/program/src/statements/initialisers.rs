//! Which piece of an initialiser gives which part of a variable its value, by C's rules.
//!
//! Braces may be left out, designators jump, later initialisers override earlier ones. What the rules alone
//! do not decide (text that a macro stands for, conditional text, an index that is not known here) is given
//! up, and the declaration counts as a whole.

use std::collections::BTreeMap;
use std::ops::Range;

use tree_sitter::Node;

use crate::source::{SourceFile, literal};
use crate::statements::shape::{Path, Shape};

/// Tables with more elements are taken as a whole.
const MOST_ITEMS: usize = 100_000;

/// Braces nest as deep as the types that they are for, or a little deeper.
const DEEPEST_BRACES: usize = 64;

/// As many declarators as anybody nests around a name.
const MOST_DECLARATORS: usize = 32;

/// The initialiser of one variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Initialiser {
    /// In the order of the text, each list before what is in it.
    items: Vec<Item>,
    /// The items for parts of one part of the variable, by its index.
    by_first: BTreeMap<u64, Vec<usize>>,
    /// All other items.
    others: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    /// The part that is given its value; an index is a range of them.
    path: Vec<Range<u64>>,
    text: Range<usize>,
    is_list: bool,
}

/// What is known of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Declaration {
    /// It was not found, or not understood.
    Unknown,
    NotInitialised,
    Initialised(Initialiser),
}

/// Looks up the value of an enumerator.
pub(super) type Enumerators<'a> = &'a dyn Fn(&str) -> Option<u64>;

impl Declaration {
    /// The declaration of a variable at a line of a C file.
    pub fn find(
        file: &SourceFile,
        name: &str,
        line: u32,
        shape: &Shape,
        enumerators: Enumerators<'_>,
    ) -> Declaration {
        let Some((declarator, value)) = find_declarator(file, name, line) else {
            return Declaration::Unknown;
        };
        let Some(value) = value else { return Declaration::NotInitialised };
        let mut reader =
            Reading { content: file.content(), enumerators, depth: 0, found: Initialiser::default() };
        let read = reader.value(shape, &[], value, value.byte_range());
        let fits = || !has_inferred_size(declarator) || reader.found.top_parts() == Some(shape.parts());
        match read {
            Some(()) if value.kind() != "initializer_list" || fits() => {
                Declaration::Initialised(reader.found)
            }
            _ => Declaration::Unknown,
        }
    }
}

impl Initialiser {
    /// The text that gives a part its value, and the part that this text is about, which can be larger: a
    /// string is one initialiser. A part that is not mentioned gets the text of the list that leaves it out.
    pub fn of(&self, shape: &Shape, path: &[u64]) -> Option<(Range<usize>, Path)> {
        // One member of a union stands for all of it.
        let is_union = shape.at(path).is_some_and(Shape::is_union);
        let gives = |item: &&Item| {
            (is_union || item.path.len() <= path.len())
                && item.path.iter().zip(path).all(|(range, index)| range.contains(index))
        };
        let first = path.first().and_then(|first| self.by_first.get(first));
        let last = |indices: &[usize]| {
            indices.iter().rev().copied().find(|index| self.items.get(*index).as_ref().is_some_and(gives))
        };
        let index = last(first.map_or(&[][..], Vec::as_slice)).max(last(&self.others))?;
        let item = self.items.get(index)?;
        let length = if item.is_list { path.len() } else { item.path.len().min(path.len()) };
        Some((item.text.clone(), path.get(..length)?.to_vec()))
    }

    fn push(&mut self, item: Item) {
        let index = self.items.len();
        match item.path.first() {
            Some(first) if first.end == first.start.saturating_add(1) => {
                self.by_first.entry(first.start).or_default().push(index);
            }
            _ => self.others.push(index),
        }
        self.items.push(item);
    }

    /// How many elements of the outermost array are mentioned, up to the last one.
    fn top_parts(&self) -> Option<u64> {
        self.items.iter().filter_map(|item| item.path.first()).map(|range| range.end).max()
    }
}

struct Reading<'a> {
    content: &'a [u8],
    enumerators: Enumerators<'a>,
    /// Of braces.
    depth: usize,
    found: Initialiser,
}

impl Reading<'_> {
    /// One initialiser for the part at `path`.
    fn value(
        &mut self,
        shape: &Shape,
        path: &[Range<u64>],
        value: Node<'_>,
        text: Range<usize>,
    ) -> Option<()> {
        if self.found.items.len() >= MOST_ITEMS {
            return None;
        }
        let is_list = value.kind() == "initializer_list";
        self.found.push(Item { path: path.to_vec(), text, is_list });
        if !is_list {
            return Some(());
        }
        self.depth += 1;
        let read = if self.depth < DEEPEST_BRACES { self.list(shape, path, value) } else { None };
        self.depth -= 1;
        read
    }

    fn list(&mut self, shape: &Shape, path: &[Range<u64>], list: Node<'_>) -> Option<()> {
        // The part that the last initialiser was for, within `shape`.
        let mut last: Option<Path> = None;
        let mut cursor = list.walk();
        for child in list.named_children(&mut cursor).filter(|child| child.kind() != "comment") {
            let is_pair = child.kind() == "initializer_pair";
            let value = if is_pair { child.child_by_field_name("value")? } else { child };
            // Conditional text has both of its branches here, of which one was compiled.
            if child.is_error()
                || child.is_missing()
                || child.kind().starts_with("preproc_")
                || child.has_error()
            {
                return None;
            }
            let (mut at, span) =
                if is_pair { self.designated(shape, child)? } else { (next(shape, last)?, 1) };
            let mut part = shape.at(&at)?;
            while span == 1 && is_split(part, value) {
                at.push(0);
                part = shape.at(&at)?;
            }
            let mut full = path.to_vec();
            full.extend(at.iter().map(|index| *index..index.saturating_add(1)));
            if let Some(range) = full.last_mut() {
                range.end = range.start.saturating_add(span);
                if span > 1
                    && let Some(index) = at.last_mut()
                {
                    *index = range.end - 1;
                }
            }
            self.value(part, &full, value, child.byte_range())?;
            last = Some(at);
        }
        Some(())
    }

    /// The part that designators name, and how many there are from it on.
    fn designated(&self, shape: &Shape, pair: Node<'_>) -> Option<(Path, u64)> {
        let mut path = Path::new();
        let mut span = 1;
        let mut cursor = pair.walk();
        for designator in pair.children_by_field_name("designator", &mut cursor) {
            // A range is understood at the end only.
            if span != 1 {
                return None;
            }
            let part = shape.at(&path)?;
            match designator.kind() {
                "field_designator" => path.extend(part.member(self.text(designator.named_child(0)?)?)?),
                "field_identifier" => path.extend(part.member(self.text(designator)?)?),
                "subscript_designator" => path.push(self.number(designator.named_child(0)?)?),
                "subscript_range_designator" => {
                    let start = self.number(designator.child_by_field_name("start")?)?;
                    let end = self.number(designator.child_by_field_name("end")?)?;
                    span = end.checked_sub(start)?.checked_add(1)?;
                    path.push(start);
                }
                _ => return None,
            }
        }
        Some((path, span))
    }

    fn number(&self, node: Node<'_>) -> Option<u64> {
        match node.kind() {
            "identifier" => (self.enumerators)(self.text(node)?),
            _ => literal(node, self.content),
        }
    }

    fn text(&self, node: Node<'_>) -> Option<&str> {
        std::str::from_utf8(self.content.get(node.byte_range())?).ok()
    }
}

/// Whether a value without braces is for the first part of `shape`, and the braces were left out.
fn is_split(shape: &Shape, value: Node<'_>) -> bool {
    match value.kind() {
        "initializer_list" | "compound_literal_expression" => false,
        "string_literal" | "concatenated_string" if shape.is_text() => false,
        // No function can be called here, so it is a macro; those in tables stand for an element, nearly
        // always.
        "call_expression" => false,
        _ => shape.parts() > 0,
    }
}

/// The part after the one at `last`: the first, the next one beside it, or the next one of what is around.
fn next(shape: &Shape, last: Option<Path>) -> Option<Path> {
    let Some(mut path) = last else {
        return Some(if shape.parts() > 0 { vec![0] } else { Path::new() });
    };
    while let Some(index) = path.pop() {
        let next = index.checked_add(1)?;
        if next < shape.at(&path)?.parts() {
            path.push(next);
            return Some(path);
        }
    }
    None
}

/// The declarator of a variable that is declared at a line, and its initialiser.
fn find_declarator<'a>(file: &'a SourceFile, name: &str, line: u32) -> Option<(Node<'a>, Option<Node<'a>>)> {
    let line = file.line(line)?;
    let mut cursor = file.syntax()?.tree.walk();
    loop {
        let node = cursor.node();
        let touches = node.start_byte() <= line.end && node.end_byte() >= line.start;
        if touches && matches!(node.kind(), "init_declarator" | "declaration") {
            let declarators = declarators(node);
            let found = declarators.into_iter().find(|declarator| {
                declared_name(*declarator, file.content())
                    .is_some_and(|(found, at)| found == name.as_bytes() && line.start <= at && at <= line.end)
            });
            if let Some(declarator) = found {
                let value =
                    (node.kind() == "init_declarator").then(|| node.child_by_field_name("value")).flatten();
                return Some((declarator, value));
            }
        }
        if touches && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}

/// The declarators that stand in a node themselves, not in another one inside of it.
fn declarators<'a>(node: Node<'a>) -> Vec<Node<'a>> {
    let mut cursor = node.walk();
    let found = node.children_by_field_name("declarator", &mut cursor);
    found.filter(|child| child.kind() != "init_declarator").collect()
}

/// The name that a declarator declares, and where it stands.
fn declared_name<'a>(declarator: Node<'_>, content: &'a [u8]) -> Option<(&'a [u8], usize)> {
    let name = innermost(declarator)?;
    Some((content.get(name.byte_range())?, name.start_byte()))
}

fn innermost<'a>(mut node: Node<'a>) -> Option<Node<'a>> {
    for _ in 0..MOST_DECLARATORS {
        let inner = match node.kind() {
            "identifier" | "field_identifier" => return Some(node),
            "parenthesized_declarator" => node.named_child(0),
            "qualified_identifier" => node.child_by_field_name("name"),
            _ => node.child_by_field_name("declarator"),
        };
        node = inner?;
    }
    None
}

/// Whether the initialiser says how many elements there are.
fn has_inferred_size(declarator: Node<'_>) -> bool {
    let Some(name) = innermost(declarator) else { return false };
    let around = name.parent().filter(|parent| parent.kind() == "array_declarator");
    around.is_some_and(|array| array.child_by_field_name("size").is_none())
}
