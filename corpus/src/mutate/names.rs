//! What is declared in a source: variables with their types, fields of structures, enumerators.

use std::collections::BTreeMap;
use std::ops::Range;

use tree_sitter::Node;

use super::source::{Source, ancestors, function_of};

/// Where a variable is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    File,
    Parameter,
    Block,
}

/// A variable or parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub level: Level,
    pub name: String,
    /// In one spelling for each type: the base type, then a star for each pointer or array.
    pub kind: String,
    /// Where it can be named.
    pub scope: Range<usize>,
}

struct Structure {
    /// Its type, spelled as that of a variable.
    kind: String,
    /// With their types.
    fields: Vec<(String, String)>,
}

/// Everything that is declared in a source.
#[derive(Default)]
pub struct Names {
    pub variables: Vec<Variable>,
    structures: Vec<Structure>,
    /// What the name of a type stands for.
    synonyms: BTreeMap<String, String>,
    pub enumerations: Vec<Vec<String>>,
}

impl Names {
    pub fn new(source: &Source) -> Names {
        let mut names = Names::default();
        for node in source.nodes(source.root()) {
            match node.kind() {
                "declaration" | "parameter_declaration" => names.add_variables(node, source),
                "field_declaration_list" => names.structures.extend(structure(node, source)),
                "type_definition" => names.synonyms.extend(declared(node, source)),
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
            let Some(kind) = structure.kind_of(field) else { continue };
            for (name, other) in &structure.fields {
                if other == kind && name != field && !found.contains(&name.as_str()) {
                    found.push(name.as_str());
                }
            }
        }
        found
    }

    /// The variable that an identifier stands for.
    pub fn named_by(&self, identifier: Node<'_>, source: &Source) -> Option<&Variable> {
        // A variable can be named in the declaration that it is declared by.
        let declaration = ancestors(identifier).find(|above| above.kind() == "declaration");
        let at = declaration.map_or(identifier.start_byte(), |declaration| declaration.end_byte());
        self.variable(source.text(identifier), at)
    }

    /// The type of the structure whose field is named, as far as that can be told.
    pub fn structure_of(&self, field: Node<'_>, source: &Source) -> Option<&str> {
        let access = field.parent().filter(|above| above.kind() == "field_expression")?;
        let kind = self.type_of(access.child_by_field_name("argument")?, source)?;
        let base = kind.trim_end_matches('*');
        self.structures.iter().find(|one| one.kind == base).map(|one| one.kind.as_str())
    }

    pub fn is_pointer(&self, expression: Node<'_>, source: &Source) -> bool {
        self.type_of(expression, source).is_some_and(|kind| kind.ends_with('*'))
    }

    /// The type of what variables, fields, elements and pointers make up; of other expressions it is not known.
    fn type_of(&self, expression: Node<'_>, source: &Source) -> Option<String> {
        let part = |name: &str| self.type_of(expression.child_by_field_name(name)?, source);
        let kind = match expression.kind() {
            "identifier" => self.named_by(expression, source)?.kind.clone(),
            "field_expression" => {
                let field = expression.child_by_field_name("field")?;
                let kind = self.structure_of(field, source)?;
                let structure = self.structures.iter().find(|one| one.kind == kind)?;
                structure.kind_of(source.text(field))?.to_owned()
            }
            "subscript_expression" => part("argument")?.strip_suffix('*')?.to_owned(),
            "pointer_expression" if source.text(expression).starts_with('&') => part("argument")? + "*",
            "pointer_expression" => part("argument")?.strip_suffix('*')?.to_owned(),
            "update_expression" => part("argument")?,
            "assignment_expression" => part("left")?,
            "parenthesized_expression" => self.type_of(expression.named_child(0)?, source)?,
            _ => return None,
        };
        Some(self.resolved(kind))
    }

    /// With the name of a type replaced by what it stands for.
    fn resolved(&self, mut kind: String) -> String {
        // Each is followed once, so this ends also when names stand for each other.
        for _ in 0..self.synonyms.len() {
            let base = kind.trim_end_matches('*');
            let stars = kind.get(base.len()..).unwrap_or_default();
            let Some(meaning) = self.synonyms.get(base) else { break };
            kind = format!("{meaning}{stars}");
        }
        kind
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
        let level = match declaration.kind() {
            "parameter_declaration" => Level::Parameter,
            _ if around.is_some() => Level::Block,
            _ => Level::File,
        };
        for (name, kind) in declared(declaration, source) {
            self.variables.push(Variable { level, name, kind, scope: declaration.end_byte()..end });
        }
    }
}

impl Structure {
    fn kind_of(&self, field: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == field).map(|(_, kind)| kind.as_str())
    }
}

fn structure(list: Node<'_>, source: &Source) -> Option<Structure> {
    let mut cursor = list.walk();
    let fields: Vec<Node<'_>> =
        list.children(&mut cursor).filter(|child| child.kind() == "field_declaration").collect();
    let fields = fields.into_iter().flat_map(|field| declared(field, source)).collect();
    Some(Structure { kind: spelled(list.parent()?, source), fields })
}

fn enumerators(list: Node<'_>, source: &Source) -> Vec<String> {
    let mut cursor = list.walk();
    let named = list.children(&mut cursor).filter_map(|child| child.child_by_field_name("name"));
    named.map(|name| source.text(name).to_owned()).collect()
}

/// The names that a declaration declares, with their types; functions are left out.
fn declared(declaration: Node<'_>, source: &Source) -> Vec<(String, String)> {
    let Some(base) = declaration.child_by_field_name("type") else { return Vec::new() };
    let base = spelled(base, source);
    let mut cursor = declaration.walk();
    let declarators: Vec<Node<'_>> = declaration.children_by_field_name("declarator", &mut cursor).collect();
    declarators.into_iter().filter_map(|declarator| name_and_type(declarator, &base, source)).collect()
}

/// `struct ship { … } own` and `struct ship other` are of one type.
fn spelled(base: Node<'_>, source: &Source) -> String {
    match base.child_by_field_name("name") {
        Some(name) => format!("{} {}", base.kind(), source.text(name)),
        None => source.text(base).to_owned(),
    }
}

fn name_and_type(declarator: Node<'_>, base: &str, source: &Source) -> Option<(String, String)> {
    let mut kind = base.to_owned();
    let mut node = declarator;
    loop {
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" => {
                return Some((source.text(node).to_owned(), kind));
            }
            "pointer_declarator" | "array_declarator" => kind.push('*'),
            "init_declarator" => {}
            _ => return None,
        }
        node = node.child_by_field_name("declarator")?;
    }
}
