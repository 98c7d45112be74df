//! The wrong variable, field or argument, and pointers that go the wrong distance.

use tree_sitter::Node;

use super::source::{function_of, is_field};
use super::{Operator, Workshop};

impl Workshop<'_> {
    pub(super) fn data(&mut self, node: Node<'_>) {
        match node.kind() {
            "identifier" => self.wrong_variable(node),
            "field_identifier" => self.wrong_field(node),
            "argument_list" => self.swapped_arguments(node),
            "update_expression" | "binary_expression" => self.pointer_step(node),
            _ => {}
        }
    }

    fn wrong_variable(&mut self, node: Node<'_>) {
        let is_value = node
            .parent()
            .is_some_and(|above| !is_field(node, above, "declarator") && !is_field(node, above, "function"));
        if !is_value || function_of(node).is_none() {
            return;
        }
        let at = node.start_byte();
        let Some(variable) = self.names.variable(self.source.text(node), at) else { return };
        let others: Vec<String> =
            self.names.alike(variable, at).into_iter().map(|other| other.name.clone()).collect();
        for other in others {
            self.replace(Operator::WrongVariable, node, &other);
        }
    }

    fn wrong_field(&mut self, node: Node<'_>) {
        if node.parent().is_none_or(|above| above.kind() != "field_expression") {
            return;
        }
        let others = self.names.fields_alike(self.source.text(node));
        let others: Vec<String> = others.into_iter().map(str::to_owned).collect();
        for other in others {
            self.replace(Operator::WrongField, node, &other);
        }
    }

    fn swapped_arguments(&mut self, list: Node<'_>) {
        let mut cursor = list.walk();
        let arguments: Vec<Node<'_>> = list.named_children(&mut cursor).collect();
        for pair in arguments.windows(2) {
            let [first, second] = pair else { continue };
            let (left, right) = (self.source.text(*first), self.source.text(*second));
            let is_text = first.kind() == "string_literal" || second.kind() == "string_literal";
            if left == right || is_text {
                continue;
            }
            let before = self.source.slice(list.start_byte()..first.start_byte());
            let between = self.source.slice(first.end_byte()..second.start_byte());
            let after = self.source.slice(second.end_byte()..list.end_byte());
            let wrong = format!("{before}{right}{between}{left}{after}");
            self.replace(Operator::SwappedArguments, list, &wrong);
        }
    }

    /// A pointer goes one element too far, or before it is used.
    fn pointer_step(&mut self, node: Node<'_>) {
        let pointer = match node.kind() {
            "update_expression" => node.child_by_field_name("argument"),
            _ => node.child_by_field_name("left"),
        };
        let Some(pointer) = pointer.filter(|pointer| pointer.kind() == "identifier") else { return };
        let name = self.source.text(pointer);
        let variable = self.names.variable(name, node.start_byte());
        if !variable.is_some_and(|variable| variable.kind.ends_with('*')) {
            return;
        }
        // The difference of two pointers is a number, not a pointer.
        let right = node.child_by_field_name("right");
        if right.is_some_and(|right| self.names.is_pointer(right, self.source)) {
            return;
        }
        let operator = node.child_by_field_name("operator").map(|operator| self.source.text(operator));
        let is_used = node
            .parent()
            .is_some_and(|above| !matches!(above.kind(), "expression_statement" | "for_statement"));
        let wrong = match operator {
            Some("++") if is_used && self.source.text(node).ends_with('+') => format!("++{name}"),
            Some("++") if !is_used => format!("{name} += 2"),
            Some("+" | "-") => format!("{} + 1", self.source.text(node)),
            _ => return,
        };
        self.replace(Operator::PointerStep, node, &wrong);
    }
}
