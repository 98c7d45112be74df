//! Conditions in the words of the source.

use std::ops::Range;

use tree_sitter::Node;

use super::{Text, Unit};

/// Expressions in expressions that are looked through for the comparison around a place.
const DEEPEST_EXPRESSION: usize = 64;
/// Parts of a statement that are looked through for one.
const LARGEST_STATEMENT: usize = 1024;

/// A condition as the source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    /// Where it begins.
    pub line: u32,
    /// It is a condition, not a statement that has one somewhere.
    pub is_condition: bool,
    /// An `if` or a loop goes by it, so that its outcome becomes no value.
    pub controls: bool,
}

impl Text {
    /// What a person reads as the condition: the expression of an `if` or a loop, elsewhere the comparison that a position of the unit is in,
    /// or else all of the statement.
    pub fn written(&self, unit: Unit, (line, column): (u32, u32)) -> Option<Written> {
        let unit = self.units.get(unit.0 as usize)?;
        let around = || self.logical(self.file.offset(line, column)?, &unit.written);
        let compared =
            if unit.controls { None } else { around().or_else(|| self.only_logical(&unit.written)) };
        let is_condition = unit.controls || compared.is_some();
        let range = compared.unwrap_or_else(|| unit.written.clone());
        Some(Written {
            text: self.file.text(range.clone()),
            line: self.file.position(range.start).0,
            is_condition,
            controls: unit.controls,
        })
    }

    /// The comparison around a place of the text, with all that it is joined to by `&&`, `||` and `!`.
    fn logical(&self, offset: usize, within: &Range<usize>) -> Option<Range<usize>> {
        let root = self.file.syntax()?.tree.root_node();
        let mut at = root.descendant_for_byte_range(offset, offset)?;
        let mut found = None;
        for _ in 0..DEEPEST_EXPRESSION {
            if at.start_byte() < within.start || within.end < at.end_byte() {
                break;
            }
            match is_logical(at) {
                true => found = Some(at.byte_range()),
                false if found.is_some() && at.kind() != "parenthesized_expression" => break,
                false => {}
            }
            at = at.parent()?;
        }
        found
    }

    /// The comparison in a statement that has no other.
    fn only_logical(&self, within: &Range<usize>) -> Option<Range<usize>> {
        let root = self.file.syntax()?.tree.root_node();
        let mut left = vec![root.descendant_for_byte_range(within.start, within.end)?];
        let mut found = None;
        for _ in 0..LARGEST_STATEMENT {
            let Some(node) = left.pop() else { return found };
            if node.start_byte() < within.start || within.end < node.end_byte() || !is_logical(node) {
                left.extend((0..node.child_count()).filter_map(|at| node.child(at.try_into().ok()?)));
            } else if found.replace(node.byte_range()).is_some() {
                return None;
            }
        }
        None
    }
}

/// Whether an expression is true or false by what it is, in any of the languages.
fn is_logical(node: Node<'_>) -> bool {
    let operator = match node.kind() {
        "binary_expression" => node.child_by_field_name("operator"),
        "unary_expression" => node.child(0),
        _ => None,
    };
    operator.is_some_and(|operator| {
        matches!(operator.kind(), "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||" | "!")
    })
}
