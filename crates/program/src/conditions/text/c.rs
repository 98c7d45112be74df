//! The conditions of C and C++.

use tree_sitter::Node;

use super::{Text, UnitText};

impl Text {
    pub(super) fn understand_c(&mut self, node: Node<'_>, source: &[u8]) {
        let field = |name: &str| node.child_by_field_name(name).map(|child| child.byte_range());
        match node.kind() {
            "if_statement" => {
                let Some(condition) = field("condition") else { return };
                let mut unit = UnitText { controls: true, ..UnitText::default() };
                unit.sides.extend(field("consequence").map(|range| (range, true)));
                unit.sides.extend(field("alternative").map(|range| (range, false)));
                self.controlled(node, condition, unit);
            }
            "while_statement" | "for_statement" => {
                let Some(condition) = field("condition") else { return };
                let mut unit = UnitText { loops: true, controls: true, ..UnitText::default() };
                unit.sides.extend(field("body").map(|range| (range, true)));
                unit.sides.extend(field("update").map(|range| (range, true)));
                self.controlled(node, condition, unit);
                for part in ["initializer", "update"].into_iter().filter_map(field) {
                    self.add(part, UnitText::default());
                }
            }
            "for_range_loop" => {
                // Whether there is one more element is asked at the range, or at the keyword.
                let Some(range) = field("right") else { return };
                let mut unit = UnitText { loops: true, controls: true, ..UnitText::default() };
                let parts = ["declarator", "body"].into_iter().filter_map(field);
                unit.sides.extend(parts.map(|part| (part, true)));
                self.controlled(node, range, unit);
            }
            "do_statement" => {
                let (Some(condition), Some(body)) = (field("condition"), field("body")) else { return };
                // clang gives the end of the body as the place of the jump back, or the start of one without braces.
                let is_block =
                    node.child_by_field_name("body").is_some_and(|body| body.kind() == "compound_statement");
                let end = if is_block { body.end.saturating_sub(1) } else { body.end };
                let unit = UnitText {
                    loops: true,
                    controls: true,
                    sides: vec![(body.clone(), true)],
                    ..UnitText::default()
                };
                let unit = self.add(condition.clone(), unit);
                self.span(end..condition.start, unit);
                if !is_block {
                    self.span(body.start..body.start + 1, unit);
                }
            }
            "switch_statement" => {
                let Some(condition) = field("condition") else { return };
                self.controlled(node, condition, UnitText { switch: true, ..UnitText::default() });
            }
            "expression_statement" | "return_statement" | "init_declarator" | "declaration" => {
                let asserts = source.get(node.byte_range()).is_some_and(is_assertion);
                self.add(node.byte_range(), UnitText { asserts, ..UnitText::default() });
            }
            "conditional_expression" => {
                self.sides_within(node, [(field("consequence"), true), (field("alternative"), false)]);
            }
            _ => {}
        }
    }
}

fn is_assertion(text: &[u8]) -> bool {
    let rest = text.strip_prefix(b"assert");
    rest.is_some_and(|rest| rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'('))
}
