//! The variable or field that a statement assigns to, and where else it is used or gets a value.

use tree_sitter::Node;

use super::names::{Level, Names, Variable};
use super::reach::{contains, goes_around, is_loop, reaches};
use super::source::{
    Lines, Source, ancestors, function_of, is_field, lines_of, own_lines, own_range, statement_of,
};

/// What an assignment changes: a variable, what it points to, or a field.
pub struct Place<'a> {
    names: &'a Names,
    source: &'a Source,
    name: &'a str,
    is_field: bool,
    /// Not the variable or field itself, but an element of it or what it points to.
    is_indirect: bool,
    variable: Option<&'a Variable>,
    /// The type of the structure that the field is in, if it can be told.
    structure: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// `None` if the statement is no assignment.
    pub fn assigned(statement: Node<'a>, names: &'a Names, source: &'a Source) -> Option<Place<'a>> {
        if statement.kind() != "expression_statement" {
            return None;
        }
        let changed = changed_by(statement.named_child(0)?)?;
        let name = name_of(changed)?;
        let is_field = name.kind() == "field_identifier";
        Some(Place {
            names,
            source,
            name: source.text(name),
            is_field,
            is_indirect: is_indirect(changed),
            variable: names.named_by(name, source).filter(|_| !is_field),
            structure: names.structure_of(name, source),
        })
    }

    /// Where the value of a missing assignment should have been used: the first use that control can come to after it, be it that the innermost loop around it
    /// goes on that has one, or that it is over; else in other functions, as far as they can name it.
    pub fn uses(&self, missing: Node<'a>) -> Lines {
        let Some(function) = function_of(missing) else { return Lines::new() };
        let uses: Vec<Node<'_>> = self.statements(function, |node| self.is_read_at(node), missing).collect();
        let begin = |statement: &&Node<'_>| own_range(**statement).start;
        let after = uses.iter().filter(|one| begin(one) > missing.start_byte() && reaches(missing, **one));
        let after = after.min_by_key(begin);
        let mut loops = ancestors(missing).filter(|above| is_loop(above) && goes_around(missing, *above));
        // What comes before the next round is reached first.
        let again = loops.find_map(|around| {
            let is_after = after.is_some_and(|after| contains(around, *after));
            let round = uses.iter().filter(|one| contains(around, **one));
            (!is_after).then(|| round.min_by_key(begin)).flatten()
        });
        let found: Lines =
            after.into_iter().chain(again).flat_map(|one| own_lines(*one, self.source)).collect();
        if found.is_empty() { self.uses_elsewhere(function, missing) } else { found }
    }

    /// The definitions that a missing assignment should have overwritten: the nearest before it, and the last in the
    /// loop around it; else what it is initialised with; else all in other functions, for nothing better is known.
    pub fn overwritten(&self, missing: Node<'a>) -> Lines {
        let Some(function) = function_of(missing) else { return Lines::new() };
        let all: Vec<Node<'_>> =
            self.statements(function, |node| self.is_changed_by(node), missing).collect();
        let begin = |statement: &Node<'_>| own_range(*statement).start;
        let is_before = |one: &Node<'_>| begin(one) < missing.start_byte() && reaches(*one, missing);
        let before = all.iter().copied().filter(is_before).max_by_key(begin);
        let comes_again = |one: &Node<'_>, around| contains(around, *one) && goes_around(*one, around);
        let again = ancestors(missing).filter(is_loop).find_map(|around| {
            let fits = all.iter().copied().filter(|one| !is_before(one) && comes_again(one, around));
            fits.max_by_key(begin)
        });
        let found: Lines =
            before.into_iter().chain(again).flat_map(|one| own_lines(one, self.source)).collect();
        if !found.is_empty() {
            return found;
        }
        let initial = self.initialiser();
        if !initial.is_empty() || !self.is_shared() {
            return initial;
        }
        let everywhere = self.statements(self.source.root(), |node| self.is_changed_by(node), missing);
        let elsewhere = everywhere.filter(|one| !contains(function, *one));
        elsewhere.flat_map(|one| own_lines(one, self.source)).collect()
    }

    fn uses_elsewhere(&self, function: Node<'a>, missing: Node<'a>) -> Lines {
        let is_parameter = self.variable.is_some_and(|variable| variable.level == Level::Parameter);
        let name = name_of_function(function, self.source);
        let found: Vec<Node<'_>> = if self.is_shared() {
            let everywhere = self.statements(self.source.root(), |node| self.is_read_at(node), missing);
            everywhere.filter(|one| !contains(function, *one)).collect()
        } else if is_parameter && self.is_indirect {
            // The caller knows what the parameter points to.
            self.statements(self.source.root(), |node| is_call(node, name, self.source), missing).collect()
        } else {
            Vec::new()
        };
        found.into_iter().flat_map(|one| own_lines(one, self.source)).collect()
    }

    /// Where a variable with static storage gets its first value.
    fn initialiser(&self) -> Lines {
        let nodes = self.source.nodes(self.source.root()).into_iter();
        let initialisers = nodes.filter(|node| node.kind() == "init_declarator" && self.is_changed_by(*node));
        let names = initialisers.filter_map(|node| node.child_by_field_name("declarator"));
        names.flat_map(|name| lines_of(name.byte_range(), self.source)).collect()
    }

    /// The statements other than the missing one with a node that fits, in the order of the source.
    fn statements(
        &self,
        within: Node<'a>,
        fits: impl Fn(Node<'a>) -> bool,
        missing: Node<'a>,
    ) -> impl Iterator<Item = Node<'a>> {
        let nodes = self.source.nodes(within).into_iter().filter(move |node| fits(*node));
        let statements = nodes.filter_map(|node| statement_of(node, self.source));
        statements.filter(move |statement| statement.id() != missing.id())
    }

    /// Can other functions name it?
    fn is_shared(&self) -> bool {
        self.is_field || self.variable.is_none_or(|variable| variable.level == Level::File)
    }

    fn is_named_by(&self, node: Node<'_>) -> bool {
        if self.source.text(node) != self.name {
            return false;
        }
        match node.kind() {
            "identifier" => !self.is_field && self.names.named_by(node, self.source) == self.variable,
            "field_identifier" if self.is_field => {
                let other = self.names.structure_of(node, self.source);
                self.structure.is_none() || other.is_none() || self.structure == other
            }
            _ => false,
        }
    }

    /// Is it a name of the place that stands for a value there?
    fn is_read_at(&self, node: Node<'_>) -> bool {
        if !self.is_named_by(node) {
            return false;
        }
        let assignment =
            ancestors(node).find(|above| above.kind() == "assignment_expression").filter(|above| {
                above.child_by_field_name("operator").is_some_and(|operator| operator.kind() == "=")
            });
        let target = assignment.and_then(changed_by);
        let is_target = target.and_then(name_of).is_some_and(|name| name.id() == node.id());
        // To write what a pointer points to, the pointer is read.
        let is_written = is_target && (self.is_indirect || !target.is_some_and(is_indirect));
        let is_declared = node
            .parent()
            .is_some_and(|above| is_field(node, above, "declarator") || above.kind() == "field_designator");
        let is_measured = ancestors(node).any(|above| above.kind() == "sizeof_expression");
        !is_written && !is_declared && !is_measured
    }

    /// Does the node give the place a value?
    fn is_changed_by(&self, node: Node<'_>) -> bool {
        if node.kind() == "init_declarator" {
            let Some(declarator) = node.child_by_field_name("declarator") else { return false };
            let is_whole = !self.is_indirect || declarator.kind() == "array_declarator";
            return is_whole && declared_name(declarator).is_some_and(|name| self.is_named_by(name));
        }
        let Some(changed) = changed_by(node) else { return false };
        is_indirect(changed) == self.is_indirect
            && name_of(changed).is_some_and(|name| self.is_named_by(name))
    }
}

/// What an expression changes.
fn changed_by(expression: Node<'_>) -> Option<Node<'_>> {
    match expression.kind() {
        "assignment_expression" => expression.child_by_field_name("left"),
        "update_expression" => expression.child_by_field_name("argument"),
        _ => None,
    }
}

/// The name of what is changed: the field, or the variable at its base.
fn name_of(changed: Node<'_>) -> Option<Node<'_>> {
    let mut node = changed;
    loop {
        node = match node.kind() {
            "identifier" | "field_identifier" => return Some(node),
            "field_expression" => return node.child_by_field_name("field"),
            "parenthesized_expression" | "update_expression" => node.named_child(0)?,
            _ => node.child_by_field_name("argument")?,
        };
    }
}

fn is_indirect(changed: Node<'_>) -> bool {
    match changed.kind() {
        "parenthesized_expression" => changed.named_child(0).is_some_and(is_indirect),
        kind => matches!(kind, "pointer_expression" | "subscript_expression"),
    }
}

fn declared_name(declarator: Node<'_>) -> Option<Node<'_>> {
    let mut parts = std::iter::successors(Some(declarator), |node| node.child_by_field_name("declarator"));
    parts.find(|node| node.kind() == "identifier")
}

pub fn name_of_function<'a>(function: Node<'_>, source: &'a Source) -> &'a str {
    let name = function.child_by_field_name("declarator").and_then(declared_name);
    name.map(|name| source.text(name)).unwrap_or_default()
}

/// Does the node call the function of that name?
pub fn is_call(node: Node<'_>, name: &str, source: &Source) -> bool {
    let called = node.child_by_field_name("function").filter(|_| node.kind() == "call_expression");
    called.is_some_and(|called| source.text(called) == name)
}
