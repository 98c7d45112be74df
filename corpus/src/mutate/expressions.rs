//! Wrong operators and wrong conditions.

use tree_sitter::Node;

use super::source::{ancestors, is_field};
use super::{Operator, Workshop};

impl Workshop<'_> {
    pub(super) fn expressions(&mut self, node: Node<'_>) {
        match node.kind() {
            "binary_expression" => {
                self.operator(node);
                self.part_of_condition(node);
                self.loop_bound(node);
            }
            "assignment_expression" | "update_expression" => self.operator(node),
            _ => {}
        }
        let is_condition = node.parent().is_some_and(|above| is_field(node, above, "condition"));
        let is_switch = node.parent().is_some_and(|above| above.kind() == "switch_statement");
        if is_condition && !is_switch {
            self.negate(node);
        }
    }

    fn operator(&mut self, node: Node<'_>) {
        let Some(operator) = node.child_by_field_name("operator") else { return };
        let (kind, others) = others(self.source.text(operator));
        for other in others {
            self.replace(kind, operator, other);
        }
    }

    /// `a && b` becomes `a`, or `b`.
    fn part_of_condition(&mut self, node: Node<'_>) {
        if !matches!(self.operator_of(node), "&&" | "||") {
            return;
        }
        for side in ["left", "right"] {
            if let Some(kept) = node.child_by_field_name(side) {
                let kept = self.source.text(kept).to_owned();
                self.replace(Operator::RemovedCondition, node, &kept);
            }
        }
    }

    /// The condition of a loop ends it one step too early or too late. One of the two is what another relational operator
    /// does, and a number that is off by one is a mistake of its own.
    fn loop_bound(&mut self, node: Node<'_>) {
        let step = match self.operator_of(node) {
            "<" | ">=" => "- 1",
            "<=" | ">" => "+ 1",
            _ => return,
        };
        let is_loop = std::iter::once(node)
            .chain(ancestors(node))
            .zip(ancestors(node))
            .take_while(|(below, _)| below.kind().ends_with("_expression"))
            .any(|(below, above)| {
                matches!(above.kind(), "while_statement" | "for_statement" | "do_statement")
                    && is_field(below, above, "condition")
            });
        let Some(bound) = node.child_by_field_name("right").filter(|_| is_loop) else { return };
        // A letter is no number of steps.
        if !matches!(bound.kind(), "null" | "char_literal" | "number_literal") {
            let wrong = format!("{} {step}", self.source.text(bound));
            self.replace(Operator::LoopBound, bound, &wrong);
        }
    }

    /// A comparison is not negated: another relational operator does the same.
    fn negate(&mut self, node: Node<'_>) {
        if self.is_comparison(node) {
            return;
        }
        let text = self.source.text(node);
        let wrong = match text.strip_prefix('(').filter(|_| node.kind() == "parenthesized_expression") {
            Some(inside) => format!("(!({inside})"),
            None => format!("!({text})"),
        };
        self.replace(Operator::NegatedCondition, node, &wrong);
    }

    fn is_comparison(&self, node: Node<'_>) -> bool {
        match node.kind() {
            "parenthesized_expression" => {
                node.named_child(0).is_some_and(|inside| self.is_comparison(inside))
            }
            "binary_expression" => others(self.operator_of(node)).0 == Operator::Relational,
            _ => false,
        }
    }

    fn operator_of(&self, node: Node<'_>) -> &str {
        node.child_by_field_name("operator").map_or("", |operator| self.source.text(operator))
    }
}

/// What an operator is mistaken for.
fn others(operator: &str) -> (Operator, &'static [&'static str]) {
    match operator {
        "<" => (Operator::Relational, &["<=", ">", ">="]),
        "<=" => (Operator::Relational, &["<", ">", ">="]),
        ">" => (Operator::Relational, &[">=", "<", "<="]),
        ">=" => (Operator::Relational, &[">", "<", "<="]),
        "==" => (Operator::Relational, &["!="]),
        "!=" => (Operator::Relational, &["=="]),
        "&&" => (Operator::Logical, &["||"]),
        "||" => (Operator::Logical, &["&&"]),
        "+" => (Operator::Arithmetic, &["-"]),
        "-" => (Operator::Arithmetic, &["+"]),
        "*" => (Operator::Arithmetic, &["+", "/"]),
        "/" => (Operator::Arithmetic, &["*"]),
        "%" => (Operator::Arithmetic, &["/", "*"]),
        "+=" => (Operator::Arithmetic, &["-=", "="]),
        "-=" => (Operator::Arithmetic, &["+="]),
        "*=" => (Operator::Arithmetic, &["+=", "="]),
        "/=" => (Operator::Arithmetic, &["*="]),
        "%=" => (Operator::Arithmetic, &["/="]),
        "++" => (Operator::Arithmetic, &["--"]),
        "--" => (Operator::Arithmetic, &["++"]),
        _ => (Operator::Arithmetic, &[]),
    }
}
