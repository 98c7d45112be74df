//! Wrong constants: in expressions, tables, macros, initial values and returns.

use tree_sitter::Node;

use super::literals::Literal;
use super::source::{ancestors, is_field, is_static};
use super::{Kind, Operator, Truth, Workshop};

impl Workshop<'_> {
    pub(super) fn constants(&mut self, node: Node<'_>) {
        match node.kind() {
            "number_literal" | "char_literal" => self.number(node),
            "preproc_def" => self.definition(node),
            "return_statement" => self.returned(node),
            _ => {}
        }
    }

    fn number(&mut self, node: Node<'_>) {
        let Some(number) = Literal::parse(self.source.text(node)) else { return };
        let near = number.near();
        let around = |kind: &str| ancestors(node).find(|above| above.kind() == kind);
        if let Some(enumerator) = around("enumerator") {
            let name = enumerator.child_by_field_name("name").map(|name| self.source.text(name));
            let truth = Truth::expansions(name.unwrap_or_default(), self.source);
            self.wrong_constants(node, &number, &truth);
        } else if let Some(declared) = around("init_declarator") {
            let is_static = declared.parent().is_some_and(|above| is_static(above, self.source));
            let operator = if is_whole_value(node) { Operator::WrongInitial } else { Operator::OffByOne };
            if is_static {
                self.wrong_constants(node, &number, &Truth::element(node, self.source));
            } else {
                near.iter().for_each(|wrong| self.replace(operator, node, wrong));
            }
        } else if is_first_value(node) {
            near.iter().for_each(|wrong| self.replace(Operator::WrongInitial, node, wrong));
        } else if node.parent().is_none_or(|above| above.kind() != "return_statement") {
            near.iter().for_each(|wrong| self.replace(Operator::OffByOne, node, wrong));
        }
    }

    fn definition(&mut self, node: Node<'_>) {
        let (Some(name), Some(value)) = (node.child_by_field_name("name"), node.child_by_field_name("value"))
        else {
            return;
        };
        if let Some(number) = Literal::parse(self.source.text(value).trim()) {
            let truth = Truth::expansions(self.source.text(name), self.source);
            self.wrong_constants(value, &number, &truth);
        }
    }

    fn wrong_constants(&mut self, node: Node<'_>, number: &Literal<'_>, truth: &Truth) {
        for wrong in number.near().into_iter().chain(number.ten_times()) {
            // The value of a macro begins after the space before it, or with it.
            let space = self.source.text(node).len() - self.source.text(node).trim_start().len();
            let wrong = format!("{}{wrong}", " ".repeat(space));
            self.finish(Operator::WrongConstant, Kind::Constant, node, &wrong, truth.clone());
        }
    }

    fn returned(&mut self, node: Node<'_>) {
        let Some(value) = node.named_child(0) else { return };
        let text = self.source.text(value);
        let wrong: Vec<String> = match Literal::parse(text) {
            Some(number) => number.other_results(),
            None => self.names.enumerators_beside(text).into_iter().map(str::to_owned).collect(),
        };
        for wrong in wrong {
            self.replace(Operator::WrongReturn, value, &wrong);
        }
    }
}

/// The initial value of a variable or of one of its elements, not a part of what computes it.
fn is_whole_value(node: Node<'_>) -> bool {
    let lists = ["initializer_list", "initializer_pair"];
    ancestors(node)
        .find(|above| !lists.contains(&above.kind()))
        .is_some_and(|above| above.kind() == "init_declarator")
}

/// The first value of a loop's variable.
fn is_first_value(node: Node<'_>) -> bool {
    let Some(assignment) = node.parent().filter(|above| above.kind() == "assignment_expression") else {
        return false;
    };
    assignment
        .parent()
        .is_some_and(|above| above.kind() == "for_statement" && is_field(assignment, above, "initializer"))
}
