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
    /// A `?:` goes by it: a number that is made of it need not say whether it held, as in `a < b ? 0 : 1`.
    pub chooses: bool,
    /// It is that of a `switch`, which is neither true nor false.
    pub is_switch: bool,
}

impl Text {
    /// What a person reads as the condition: the expression of an `if` or a loop, elsewhere the comparison that a position of the unit is in,
    /// or what a `?:` asks there, or else all of the statement.
    pub fn written(&self, unit: Unit, (line, column): (u32, u32)) -> Option<Written> {
        let unit = self.units.get(unit.0 as usize)?;
        let offset = self.file.offset(line, column);
        let around = || {
            let offset = offset?;
            self.logical(offset, &unit.written).or_else(|| self.asked(offset, &unit.written))
        };
        let compared =
            if unit.controls { None } else { around().or_else(|| self.only_decided(&unit.written)) };
        let is_condition = unit.controls || compared.is_some();
        let range = compared.unwrap_or_else(|| unit.written.clone());
        let chooses = self.is_asked(&range);
        Some(Written {
            text: self.file.text(range.clone()),
            line: self.file.position(range.start).0,
            is_condition,
            controls: unit.controls,
            chooses,
            is_switch: unit.switch,
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

    /// What the innermost `?:` around a place of the text asks, if the place is not in one of its answers.
    fn asked(&self, offset: usize, within: &Range<usize>) -> Option<Range<usize>> {
        let root = self.file.syntax()?.tree.root_node();
        let mut at = root.descendant_for_byte_range(offset, offset)?;
        for _ in 0..DEEPEST_EXPRESSION {
            if at.start_byte() < within.start || within.end < at.end_byte() {
                return None;
            }
            if let Some(question) = question(at) {
                let answer = at.child_by_field_name("consequence")?;
                return (offset < answer.start_byte()).then(|| question.byte_range());
            }
            at = at.parent()?;
        }
        None
    }

    /// What a statement compares, or what its `?:` asks, if that is only one thing.
    fn only_decided(&self, within: &Range<usize>) -> Option<Range<usize>> {
        let root = self.file.syntax()?.tree.root_node();
        let mut left = vec![root.descendant_for_byte_range(within.start, within.end)?];
        let mut found = None;
        for _ in 0..LARGEST_STATEMENT {
            let Some(node) = left.pop() else { return found };
            let is_within = within.start <= node.start_byte() && node.end_byte() <= within.end;
            let asked = question(node).filter(|_| is_within);
            let decided = asked.or((is_within && is_logical(node)).then_some(node));
            let inner = (0..node.child_count()).filter_map(|at| node.child(at.try_into().ok()?));
            match decided {
                None => left.extend(inner),
                // Its answers can ask something themselves.
                Some(decided) => {
                    left.extend(inner.filter(|inner| {
                        asked.is_some() && !inner.byte_range().contains(&decided.start_byte())
                    }))
                }
            }
            if decided.is_some_and(|decided| found.replace(decided.byte_range()).is_some()) {
                return None;
            }
        }
        None
    }

    /// Whether a `?:` asks what stands there.
    fn is_asked(&self, range: &Range<usize>) -> bool {
        let root = self.file.syntax().map(|syntax| syntax.tree.root_node());
        let mut at = root.and_then(|root| root.descendant_for_byte_range(range.start, range.end));
        for _ in 0..DEEPEST_EXPRESSION {
            let Some(around) = at.and_then(|node| node.parent()) else { return false };
            if let Some(question) = question(around) {
                return question.byte_range() == *range;
            }
            if around.kind() != "parenthesized_expression" && around.byte_range() != *range {
                return false;
            }
            at = Some(around);
        }
        false
    }
}

/// What a `?:` asks, without the parentheses around it.
fn question(node: Node<'_>) -> Option<Node<'_>> {
    let mut asked =
        (node.kind() == "conditional_expression").then_some(node)?.child_by_field_name("condition")?;
    while asked.kind() == "parenthesized_expression" {
        asked = asked.named_child(0)?;
    }
    Some(asked)
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
