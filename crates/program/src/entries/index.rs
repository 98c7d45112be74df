//! Names across all units of an object: types, functions and variables that are not inside of functions.

use std::collections::HashMap;

use gimli::{DwTag, EntriesTreeNode};

use super::{DEEPEST, Debug, Die};
use crate::debug_info::Reader;

/// As many entries of one name are kept apart.
const MOST_OF_A_NAME: usize = 64;

#[derive(Default)]
pub(crate) struct NameIndex {
    /// Definitions alone, by qualified name.
    types: HashMap<String, Vec<Die>>,
    /// Definitions and what they complete, by qualified name.
    variables: HashMap<String, Vec<Die>>,
    /// All variables, in the order of the file.
    all_variables: Vec<Die>,
}

impl NameIndex {
    pub fn new(debug: Debug<'_>) -> NameIndex {
        let mut index = NameIndex::default();
        for unit in debug.units() {
            let Some(parsed) = debug.unit(unit) else { continue };
            let Ok(mut tree) = parsed.entries_tree(None) else { continue };
            let Ok(root) = tree.root() else { continue };
            let language = root.entry().attr_value(gimli::DW_AT_language).ok().flatten();
            let is_qualified =
                matches!(language, Some(gimli::AttributeValue::Language(language)) if qualifies(language));
            index.walk(debug, unit, root, &Prefix { text: String::new(), is_qualified }, 0);
        }
        index
    }

    fn walk(
        &mut self,
        debug: Debug<'_>,
        unit: u32,
        node: EntriesTreeNode<'_, '_, '_, Reader>,
        prefix: &Prefix,
        depth: usize,
    ) {
        if depth == DEEPEST {
            return;
        }
        let mut children = node.children();
        while let Ok(Some(child)) = children.next() {
            let tag = child.entry().tag();
            let is_variable = tag == gimli::DW_TAG_variable;
            if !is_variable && !is_type(tag) && tag != gimli::DW_TAG_namespace {
                continue;
            }
            let die = Die { unit, offset: child.entry().offset().0 };
            let Some(entry) = debug.entry(die) else { continue };
            let name = entry.own_name();
            if is_variable {
                self.variable(&entry, prefix);
                continue;
            }
            if let Some(name) = &name
                && is_type(tag)
                && !entry.flag(gimli::DW_AT_declaration)
            {
                push(&mut self.types, prefix.join(name), die);
            }
            if matches!(
                tag,
                gimli::DW_TAG_namespace | gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type
            ) {
                let anonymous = if tag == gimli::DW_TAG_namespace { "(anonymous namespace)" } else { "" };
                let inner = prefix.inside(name.as_deref().unwrap_or(anonymous));
                self.walk(debug, unit, child, &inner, depth + 1);
            }
        }
    }

    fn variable(&mut self, entry: &super::Entry<'_>, prefix: &Prefix) {
        // A declaration says that a variable is elsewhere.
        if entry.flag(gimli::DW_AT_declaration) {
            return;
        }
        let name = match entry.own_name() {
            Some(name) => Some(prefix.join(&name)),
            None => entry.qualified_name(),
        };
        if let Some(name) = name {
            push(&mut self.variables, name, entry.die);
            self.all_variables.push(entry.die);
        }
    }

    pub fn types(&self, name: &str) -> &[Die] {
        self.types.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn variables(&self, name: &str) -> &[Die] {
        self.variables.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn all_variables(&self) -> &[Die] {
        &self.all_variables
    }
}

struct Prefix {
    text: String,
    /// The language has namespaces.
    is_qualified: bool,
}

impl Prefix {
    fn join(&self, name: &str) -> String {
        if self.text.is_empty() { name.to_owned() } else { format!("{}::{name}", self.text) }
    }

    fn inside(&self, name: &str) -> Prefix {
        let text = match (self.is_qualified, name) {
            (false, _) | (_, "") => self.text.clone(),
            _ => self.join(name),
        };
        Prefix { text, is_qualified: self.is_qualified }
    }
}

fn push(names: &mut HashMap<String, Vec<Die>>, name: String, die: Die) {
    let same = names.entry(name).or_default();
    if same.len() < MOST_OF_A_NAME {
        same.push(die);
    }
}

/// Whether names of this language have their namespaces before them.
pub(crate) fn qualifies(language: gimli::DwLang) -> bool {
    !matches!(language, gimli::DW_LANG_C89 | gimli::DW_LANG_C | gimli::DW_LANG_C99 | gimli::DW_LANG_C11)
}

pub(crate) fn is_type(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_base_type
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_typedef
    )
}
