//! Statements that are missing.

use tree_sitter::Node;

use super::{Kind, Operator, Truth, Workshop};

impl Workshop<'_> {
    pub(super) fn statements(&mut self, node: Node<'_>) {
        let operator = match node.kind() {
            "expression_statement" if is_reset(node) => Operator::MissingReset,
            "expression_statement" if node.named_child_count() > 0 => Operator::RemovedStatement,
            "continue_statement" => Operator::RemovedStatement,
            "if_statement" if is_guard(node) => Operator::RemovedStatement,
            "break_statement" => Operator::MissingBreak,
            _ => return,
        };
        let is_in_block = node
            .parent()
            .is_some_and(|above| matches!(above.kind(), "compound_statement" | "case_statement"));
        let truth = Truth::missing(node, &self.names, self.source);
        self.finish(operator, Kind::Omission, node, if is_in_block { "" } else { ";" }, truth);
    }
}

/// Does the statement set something to a constant?
fn is_reset(statement: Node<'_>) -> bool {
    let Some(assignment) = statement.named_child(0).filter(|node| node.kind() == "assignment_expression")
    else {
        return false;
    };
    let is_plain = assignment.child_by_field_name("operator").is_some_and(|node| node.kind() == "=");
    let constants = ["number_literal", "null", "char_literal", "true", "false"];
    is_plain && assignment.child_by_field_name("right").is_some_and(|node| constants.contains(&node.kind()))
}

/// Is it `if (…) return …;` or the like, which keeps what follows from running?
fn is_guard(node: Node<'_>) -> bool {
    let jumps = |node: Node<'_>| {
        matches!(
            node.kind(),
            "return_statement" | "break_statement" | "continue_statement" | "goto_statement"
        )
    };
    let Some(body) = node.child_by_field_name("consequence") else { return false };
    let count = u32::try_from(body.named_child_count()).unwrap_or(0);
    let last = body.named_child(count.saturating_sub(1));
    let ends_in_jump = body.kind() == "compound_statement" && last.is_some_and(jumps);
    node.child_by_field_name("alternative").is_none() && (jumps(body) || ends_in_jump)
}
