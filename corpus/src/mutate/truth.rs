//! Where a fault is, in lines of the source.
//!
//! A wrong statement is where it stands. What is missing stands nowhere, and is located by two rules. *Strict*: a
//! missing assignment is at the use that it should have reached, anything else at the statement that comes next, which
//! it should have kept from running or run before. *Lenient*: the same, or the nearest statement before or after, or the
//! definition that should have been overwritten.

use serde::{Deserialize, Serialize};
use tree_sitter::Node;

use super::names::Names;
use super::places::{Place, is_call, name_of_function};
use super::source::{
    Lines, Source, ancestors, function_of, is_field, is_statement, lines_of, own_lines, statement_of,
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
    pub fn missing(statement: Node<'_>, names: &Names, source: &Source) -> Truth {
        let place = Place::assigned(statement, names, source);
        let uses = place.as_ref().map(|place| place.uses(statement)).unwrap_or_default();
        let strict = if uses.is_empty() { next_statement(statement, source) } else { uses };
        let mut lenient = strict.clone();
        lenient.extend(neighbours(statement, source));
        lenient.extend(place.map(|place| place.overwritten(statement)).unwrap_or_default());
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

/// The statements of a function in the order of the source.
fn statements_of<'a>(function: Node<'a>, source: &'a Source) -> Vec<Node<'a>> {
    source.nodes(function).into_iter().filter(|node| is_statement(*node, source)).collect()
}

/// The statement that is executed next when one is left out: the next in the block, the head of the loop around it,
/// or what follows the block; at the end of a function those that call it.
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
            "function_definition" => return calls_of(above, source),
            _ => node = above,
        }
    }
}

/// The statements that call a function; if none does by name, those that call what a pointer leads to; of `main` its end.
fn calls_of(function: Node<'_>, source: &Source) -> Lines {
    let name = name_of_function(function, source);
    let nodes = source.nodes(source.root());
    let lines_where = |calls: &dyn Fn(Node<'_>) -> bool| -> Lines {
        let statements =
            nodes.iter().filter(|node| calls(**node)).filter_map(|call| statement_of(*call, source));
        statements.flat_map(|one| own_lines(one, source)).collect()
    };
    let by_name = lines_where(&|node| is_call(node, name, source));
    let found = match by_name.is_empty() && name != "main" {
        true => lines_where(&is_indirect_call),
        false => by_name,
    };
    if found.is_empty() {
        let end = function.end_byte();
        return lines_of(end.saturating_sub(1)..end, source);
    }
    found
}

/// Does the node call what an expression leads to, and no function by its name?
fn is_indirect_call(node: Node<'_>) -> bool {
    let called = node.child_by_field_name("function").filter(|_| node.kind() == "call_expression");
    called.is_some_and(|called| called.kind() != "identifier")
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
