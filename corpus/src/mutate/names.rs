//! What is declared in a source: variables with their types, fields of structures, enumerators.

use std::collections::BTreeMap;
use std::ops::Range;

use tree_sitter::Node;

use super::source::{Source, ancestors, function_of};

/// A variable or parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// In one spelling for each type: the base type, then a star for each pointer or array.
    pub kind: String,
    /// Where it can be named.
    pub scope: Range<usize>,
}

/// Everything that is declared in a source.
#[derive(Default)]
pub struct Names {
    pub variables: Vec<Variable>,
    /// The fields of each structure, with their types.
    pub structures: Vec<Vec<(String, String)>>,
    pub enumerations: Vec<Vec<String>>,
}

impl Names {
    pub fn new(source: &Source) -> Names {
        let mut names = Names::default();
        for node in source.nodes(source.root()) {
            match node.kind() {
                "declaration" | "parameter_declaration" => names.add_variables(node, source),
                "field_declaration_list" => names.structures.push(declared_in(node, source)),
                "enumerator_list" => names.enumerations.push(enumerators(node, source)),
                _ => {}
            }
        }
        names
    }

    /// The innermost variable of that name that is visible there.
    pub fn variable(&self, name: &str, at: usize) -> Option<&Variable> {
        let fits = |variable: &&Variable| variable.name == name && variable.scope.contains(&at);
        self.variables.iter().filter(fits).min_by_key(|variable| variable.scope.len())
    }

    /// Other variables of the same type that are visible there.
    pub fn alike(&self, variable: &Variable, at: usize) -> Vec<&Variable> {
        let mut found: BTreeMap<&str, &Variable> = BTreeMap::new();
        for other in &self.variables {
            let is_visible = self.variable(&other.name, at) == Some(other);
            if is_visible && other.kind == variable.kind && other.name != variable.name {
                found.insert(&other.name, other);
            }
        }
        found.into_values().collect()
    }

    /// Fields of the same type in structures that have a field of that name.
    pub fn fields_alike(&self, field: &str) -> Vec<&str> {
        let mut found = Vec::new();
        for structure in &self.structures {
            let Some((_, kind)) = structure.iter().find(|(name, _)| name == field) else { continue };
            for (name, other) in structure {
                if other == kind && name != field && !found.contains(&name.as_str()) {
                    found.push(name.as_str());
                }
            }
        }
        found
    }

    /// The other enumerators beside one.
    pub fn enumerators_beside(&self, name: &str) -> Vec<&str> {
        let set = self.enumerations.iter().find(|set| set.iter().any(|one| one == name));
        set.into_iter().flatten().map(String::as_str).filter(|other| *other != name).collect()
    }

    fn add_variables(&mut self, declaration: Node<'_>, source: &Source) {
        let around = match declaration.kind() {
            "parameter_declaration" => function_of(declaration),
            _ => ancestors(declaration)
                .find(|above| matches!(above.kind(), "compound_statement" | "for_statement")),
        };
        if around.is_none() && declaration.kind() == "parameter_declaration" {
            return;
        }
        let end = around.map_or(source.whole().len(), |node| node.end_byte());
        for (name, kind) in declared(declaration, source) {
            self.variables.push(Variable { name, kind, scope: declaration.end_byte()..end });
        }
    }
}

fn declared_in(list: Node<'_>, source: &Source) -> Vec<(String, String)> {
    let mut cursor = list.walk();
    let fields: Vec<Node<'_>> =
        list.children(&mut cursor).filter(|child| child.kind() == "field_declaration").collect();
    fields.into_iter().flat_map(|field| declared(field, source)).collect()
}

fn enumerators(list: Node<'_>, source: &Source) -> Vec<String> {
    let mut cursor = list.walk();
    let named = list.children(&mut cursor).filter_map(|child| child.child_by_field_name("name"));
    named.map(|name| source.text(name).to_owned()).collect()
}

/// The names that a declaration declares, with their types; functions are left out.
fn declared(declaration: Node<'_>, source: &Source) -> Vec<(String, String)> {
    let Some(base) = declaration.child_by_field_name("type") else { return Vec::new() };
    // `struct ship { … } own` and `struct ship other` are of one type.
    let base = match base.child_by_field_name("name") {
        Some(name) => format!("{} {}", base.kind(), source.text(name)),
        None => source.text(base).to_owned(),
    };
    let mut cursor = declaration.walk();
    let declarators: Vec<Node<'_>> = declaration.children_by_field_name("declarator", &mut cursor).collect();
    declarators.into_iter().filter_map(|declarator| name_and_type(declarator, &base, source)).collect()
}

fn name_and_type(declarator: Node<'_>, base: &str, source: &Source) -> Option<(String, String)> {
    let mut kind = base.to_owned();
    let mut node = declarator;
    loop {
        match node.kind() {
            "identifier" | "field_identifier" => return Some((source.text(node).to_owned(), kind)),
            "pointer_declarator" | "array_declarator" => kind.push('*'),
            "init_declarator" => {}
            _ => return None,
        }
        node = node.child_by_field_name("declarator")?;
    }
}
