//! The conditions of Rust.

use std::ops::Range;

use tree_sitter::Node;

use super::{Text, UnitText};

/// Expressions that consist of statements and conditions: what they decide is decided in these.
const COMPOUND: [&str; 8] = [
    "if_expression",
    "while_expression",
    "for_expression",
    "loop_expression",
    "match_expression",
    "block",
    "unsafe_block",
    "const_block",
];

impl Text {
    pub(super) fn understand_rust(&mut self, node: Node<'_>, source: &[u8]) {
        let field = |name: &str| node.child_by_field_name(name).map(|child| child.byte_range());
        match node.kind() {
            "if_expression" => {
                let Some(condition) = field("condition") else { return };
                let sides = [(field("consequence"), true), (field("alternative"), false)];
                let sides = sides.into_iter().filter_map(|(range, side)| Some((range?, side))).collect();
                let unit = UnitText { controls: true, sides, ..UnitText::default() };
                self.choosing(node, condition, unit);
            }
            "while_expression" => {
                let Some(condition) = field("condition") else { return };
                let sides = field("body").map(|range| (range, true)).into_iter().collect();
                let unit = UnitText { loops: true, controls: true, sides, ..UnitText::default() };
                self.choosing(node, condition, unit);
            }
            "for_expression" => {
                // Whether there is one more element is asked at the range.
                let Some(range) = field("value") else { return };
                let sides = field("body").map(|range| (range, true)).into_iter().collect();
                let unit = UnitText { loops: true, controls: true, sides, ..UnitText::default() };
                self.choosing(node, range, unit);
            }
            "match_expression" => {
                let Some(value) = field("value") else { return };
                self.controlled(node, value, UnitText { switch: true, ..UnitText::default() });
            }
            "match_arm" => {
                let guard = node.child_by_field_name("pattern");
                let guard = guard.and_then(|pattern| pattern.child_by_field_name("condition"));
                if let Some(guard) = guard {
                    let sides = field("value").map(|range| (range, true)).into_iter().collect();
                    self.add(guard.byte_range(), UnitText { controls: true, sides, ..UnitText::default() });
                }
                self.alone(node.child_by_field_name("value"), source);
            }
            "let_declaration" => match field("alternative") {
                Some(otherwise) => {
                    let asked = node.start_byte()..field("value").map_or(otherwise.start, |value| value.end);
                    let unit =
                        UnitText { controls: true, sides: vec![(otherwise, false)], ..UnitText::default() };
                    self.choosing(node, asked, unit);
                }
                None => {
                    self.add(node.byte_range(), UnitText::default());
                }
            },
            "expression_statement" => self.alone(node.named_child(0), source),
            // What a block ends with is its value.
            "block" => {
                let last =
                    u32::try_from(node.named_child_count()).ok().and_then(|count| count.checked_sub(1));
                let last = last.and_then(|last| node.named_child(last));
                self.alone(last.filter(|last| is_expression(last.kind())), source);
            }
            "closure_expression" => self.alone(node.child_by_field_name("body"), source),
            _ => {}
        }
    }

    /// A condition that may be a pattern. What this names is given its values when it holds.
    fn choosing(&mut self, node: Node<'_>, condition: Range<usize>, mut unit: UnitText) {
        let named = bindings(node);
        unit.sides.extend(named.iter().map(|name| (name.clone(), true)));
        self.controlled(node, condition, unit);
        for name in named {
            self.add(name, UnitText::default());
        }
    }

    /// An expression that is no part of another one.
    fn alone(&mut self, expression: Option<Node<'_>>, source: &[u8]) {
        let Some(expression) = expression.filter(|node| !COMPOUND.contains(&node.kind())) else { return };
        let asserts =
            expression.child_by_field_name("macro").is_some_and(|name| asserts(source, name.byte_range()));
        self.add(expression.byte_range(), UnitText { asserts, ..UnitText::default() });
    }
}

/// The names in the pattern that a loop or a declaration asks for, or in those of a condition.
fn bindings(node: Node<'_>) -> Vec<Range<usize>> {
    let parts = ["pattern", "condition"].into_iter().zip([true, false]);
    let mut left: Vec<(Node<'_>, bool)> =
        parts.filter_map(|(name, is_pattern)| Some((node.child_by_field_name(name)?, is_pattern))).collect();
    let mut found = Vec::new();
    while let Some((node, is_pattern)) = left.pop() {
        let children = (0..node.named_child_count()).filter_map(|at| node.named_child(at.try_into().ok()?));
        match node.kind() {
            "identifier" | "shorthand_field_identifier" if is_pattern => found.push(node.byte_range()),
            "let_condition" => {
                left.extend(node.child_by_field_name("pattern").map(|pattern| (pattern, true)));
            }
            "let_chain" => left.extend(children.map(|child| (child, false))),
            _ if is_pattern => {
                let variant = node.child_by_field_name("type").map(|variant| variant.id());
                left.extend(children.filter(|child| Some(child.id()) != variant).map(|child| (child, true)));
            }
            _ => {}
        }
    }
    found
}

fn is_expression(kind: &str) -> bool {
    !kind.ends_with("_statement")
        && !kind.ends_with("_item")
        && !kind.ends_with("_declaration")
        && !kind.ends_with("comment")
}

fn asserts(source: &[u8], name: Range<usize>) -> bool {
    let name = source.get(name).unwrap_or_default();
    let name = name.strip_prefix(b"debug_").unwrap_or(name);
    matches!(name, b"assert" | b"assert_eq" | b"assert_ne")
}
