//! Where a fault is, in lines of the source.
//!
//! A wrong statement is where it stands. What is missing stands nowhere, and is located by two rules. *Strict*: a
//! missing assignment is at the use that it should have reached, anything else at the statement that comes next, which
//! it should have kept from running or run before. *Lenient*: the same, or the nearest statement before or after, or a
//! definition that should have been overwritten.

use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use super::source::{
    Lines, Source, ancestors, function_of, is_field, is_statement, lines_of, own_lines, own_range,
    statement_of,
};

/// The lines that name a fault, by both rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    pub strict: Lines,
    pub lenient: Lines,
}

impl Truth {
    fn plain(lines: Lines) -> Truth {
        Truth { strict: lines.clone(), lenient: lines }
    }

    /// The fault is a statement.
    pub fn at(statement: Node<'_>, source: &Source) -> Truth {
        Truth::plain(own_lines(statement, source))
    }

    /// The fault is an element of initialised data.
    pub fn element(node: Node<'_>, source: &Source) -> Truth {
        Truth::plain(lines_of(node.byte_range(), source))
    }

    /// The fault is what a macro or an enumerator stands for: all statements and data that it stands in.
    pub fn expansions(name: &str, source: &Source) -> Truth {
        let mut lines = Lines::new();
        let mut names = vec![name.to_owned()];
        let mut next = 0;
        while let Some(name) = names.get(next).cloned() {
            next += 1;
            for node in source.nodes(source.root()) {
                if node.kind() == "preproc_arg" && words(source.text(node)).any(|word| word == name) {
                    let macro_name = node.parent().and_then(|define| define.child_by_field_name("name"));
                    let macro_name = macro_name.map(|node| source.text(node).to_owned());
                    names.extend(macro_name.filter(|new| !names.contains(new)));
                }
                if node.kind() != "identifier" || source.text(node) != name {
                    continue;
                }
                if let Some(statement) = statement_of(node, source) {
                    lines.extend(own_lines(statement, source));
                } else if let Some(switch) = switch_of_label(node) {
                    lines.extend(own_lines(switch, source));
                } else if is_initial_value(node) {
                    lines.extend(lines_of(node.byte_range(), source));
                }
            }
        }
        Truth::plain(lines)
    }

    /// The fault is that a statement is missing.
    pub fn missing(statement: Node<'_>, source: &Source) -> Truth {
        let target = assigned(statement, source);
        let uses = target.as_deref().map(|name| uses_after(statement, name, source)).unwrap_or_default();
        let strict = if uses.is_empty() { next_statement(statement, source) } else { uses };
        let mut lenient = strict.clone();
        lenient.extend(neighbours(statement, source));
        if let Some(name) = &target {
            lenient.extend(definitions(statement, name, source));
        }
        Truth { strict, lenient }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

/// Does it stand in what a variable is initialised with? The size of an array does not.
fn is_initial_value(node: Node<'_>) -> bool {
    std::iter::once(node)
        .chain(ancestors(node))
        .zip(ancestors(node))
        .any(|(below, above)| above.kind() == "init_declarator" && is_field(below, above, "value"))
}

/// The `switch` that decides by a `case` label.
fn switch_of_label(name: Node<'_>) -> Option<Node<'_>> {
    let label = name.parent().filter(|above| is_field(name, *above, "value"))?;
    ancestors(label).next()?.parent().filter(|above| above.kind() == "switch_statement")
}

/// The name of the variable or field that a statement assigns to.
fn assigned(statement: Node<'_>, source: &Source) -> Option<String> {
    if statement.kind() != "expression_statement" {
        return None;
    }
    let expression = statement.named_child(0)?;
    let place = match expression.kind() {
        "assignment_expression" => expression.child_by_field_name("left")?,
        "update_expression" => expression.child_by_field_name("argument")?,
        _ => return None,
    };
    name_of_place(place).map(|node| source.text(node).to_owned())
}

/// What an assignment to a place changes: the field, or the variable at its base.
fn name_of_place(place: Node<'_>) -> Option<Node<'_>> {
    let mut node = place;
    loop {
        node = match node.kind() {
            "identifier" | "field_identifier" => return Some(node),
            "field_expression" => return node.child_by_field_name("field"),
            "parenthesized_expression" | "update_expression" => node.named_child(0)?,
            _ => node.child_by_field_name("argument")?,
        };
    }
}

/// Does this name stand for a value that is read there?
fn is_read(name: Node<'_>) -> bool {
    let written =
        ancestors(name).find(|above| above.kind() == "assignment_expression").filter(|assignment| {
            assignment.child_by_field_name("operator").is_some_and(|operator| operator.kind() == "=")
                && assignment
                    .child_by_field_name("left")
                    .and_then(name_of_place)
                    .is_some_and(|target| target.id() == name.id())
        });
    let is_declared = name.parent().is_some_and(|above| is_field(name, above, "declarator"));
    written.is_none() && !is_declared
}

fn is_named(node: Node<'_>, name: &str, source: &Source) -> bool {
    matches!(node.kind(), "identifier" | "field_identifier") && source.text(node) == name
}

/// The statements of a function in the order of the source.
fn statements_of<'a>(function: Node<'a>, source: &'a Source) -> Vec<Node<'a>> {
    source.nodes(function).into_iter().filter(|node| is_statement(*node, source)).collect()
}

fn reads(statement: Node<'_>, name: &str, source: &Source) -> bool {
    let own = own_range(statement);
    source
        .nodes(statement)
        .into_iter()
        .any(|node| own.contains(&node.start_byte()) && is_named(node, name, source) && is_read(node))
}

/// The first use after a place in the function; else the first of the loop around it; else all elsewhere.
fn uses_after(missing: Node<'_>, name: &str, source: &Source) -> Lines {
    let Some(function) = function_of(missing) else { return Lines::new() };
    let uses: Vec<Node<'_>> = statements_of(function, source)
        .into_iter()
        .filter(|statement| statement.id() != missing.id() && reads(*statement, name, source))
        .collect();
    let is_loop =
        |node: &Node<'_>| matches!(node.kind(), "while_statement" | "for_statement" | "do_statement");
    let around = ancestors(missing).filter(is_loop).last();
    let after = uses.iter().find(|statement| statement.start_byte() > missing.start_byte());
    let again = around.and_then(|around| uses.iter().find(|one| one.start_byte() >= around.start_byte()));
    if let Some(first) = after.or(again) {
        return own_lines(*first, source);
    }
    let all = statements_of(source.root(), source).into_iter();
    let elsewhere = all.filter(|one| function_of(*one).is_some_and(|other| other.id() != function.id()));
    elsewhere.filter(|one| reads(*one, name, source)).flat_map(|one| own_lines(one, source)).collect()
}

/// The statement that is executed next when one is left out: the next in the block, the head of the loop around it,
/// or what follows the block.
fn next_statement(missing: Node<'_>, source: &Source) -> Lines {
    let mut node = missing;
    loop {
        let mut sibling = next_in_block(node);
        while let Some(next) = sibling {
            if let Some(first) = statements_of(next, source).first() {
                return own_lines(*first, source);
            }
            sibling = next_in_block(next);
        }
        let Some(above) = node.parent() else { return Lines::new() };
        match above.kind() {
            "while_statement" | "for_statement" | "do_statement" => return own_lines(above, source),
            "function_definition" => {
                let end = above.end_byte();
                return lines_of(end.saturating_sub(1)..end, source);
            }
            _ => node = above,
        }
    }
}

fn next_in_block(node: Node<'_>) -> Option<Node<'_>> {
    let is_in_block =
        node.parent().is_some_and(|above| matches!(above.kind(), "compound_statement" | "case_statement"));
    if is_in_block { node.next_named_sibling() } else { None }
}

/// The nearest statements before and after, in the order of the source.
fn neighbours(missing: Node<'_>, source: &Source) -> Lines {
    let Some(function) = function_of(missing) else { return Lines::new() };
    let statements = statements_of(function, source);
    let before = statements.iter().rev().find(|one| one.start_byte() < missing.start_byte());
    let after = statements.iter().find(|one| one.start_byte() >= missing.end_byte());
    before.into_iter().chain(after).flat_map(|one| own_lines(*one, source)).collect()
}

/// Where else the same variable or field gets a value.
fn definitions(missing: Node<'_>, name: &str, source: &Source) -> Lines {
    let is_local = function_of(missing).is_some_and(|function| {
        source.nodes(function).into_iter().any(|node| {
            is_named(node, name, source)
                && node.parent().is_some_and(|above| is_field(node, above, "declarator"))
        })
    });
    let within = if is_local { function_of(missing).unwrap_or(source.root()) } else { source.root() };
    let defines = |node: &Node<'_>| match node.kind() {
        "assignment_expression" => {
            let left = node.child_by_field_name("left").and_then(name_of_place);
            left.is_some_and(|target| is_named(target, name, source))
        }
        "init_declarator" => {
            node.child_by_field_name("declarator").is_some_and(|node| is_named(node, name, source))
        }
        _ => false,
    };
    let found = source.nodes(within).into_iter().filter(defines);
    let statements = found.filter_map(|node| statement_of(node, source));
    let others = statements.filter(|one| one.id() != missing.id());
    others.flat_map(|one| own_lines(one, source)).collect()
}
