//! What one unit holds: its functions by address, and which entry is inside of which.

use std::cell::OnceCell;
use std::collections::HashMap;

use gimli::{DebuggingInformationEntry, DwLang, DwTag, EntriesTreeNode};

use super::{DEEPEST, Debug, Die};
use crate::debug_info::Reader;

pub(crate) struct Outline {
    pub language: Option<DwLang>,
    /// Start, end and entry of each function's code, sorted by start.
    functions: Vec<(u64, u64, Die)>,
    /// Each entry that is not directly in the unit, with the one that it is in; sorted.
    parents: Vec<(usize, usize)>,
    /// What is instantiated or defined here, with the only function that has its code; `None` when there are several.
    instances: OnceCell<HashMap<Die, Option<Die>>>,
}

impl Outline {
    pub fn new(debug: Debug<'_>, unit: u32) -> Outline {
        let mut outline = Outline {
            language: None,
            functions: Vec::new(),
            parents: Vec::new(),
            instances: OnceCell::new(),
        };
        let Some(parsed) = debug.unit(unit) else { return outline };
        let Ok(mut tree) = parsed.entries_tree(None) else { return outline };
        let Ok(root) = tree.root() else { return outline };
        outline.language = match root.entry().attr_value(gimli::DW_AT_language) {
            Ok(Some(gimli::AttributeValue::Language(language))) => Some(language),
            _ => None,
        };
        outline.walk(debug, unit, root, 0);
        outline.functions.sort_by_key(|(start, end, _)| (*start, std::cmp::Reverse(*end)));
        outline.parents.sort_unstable();
        outline
    }

    fn walk(&mut self, debug: Debug<'_>, unit: u32, node: EntriesTreeNode<'_, '_, '_, Reader>, depth: usize) {
        if depth == DEEPEST {
            return;
        }
        let parent = node.entry().offset().0;
        let mut children = node.children();
        while let Ok(Some(child)) = children.next() {
            let (tag, offset) = (child.entry().tag(), child.entry().offset().0);
            if depth > 0 && (has_a_name(tag) || is_static_member(child.entry())) {
                self.parents.push((offset, parent));
            }
            let die = Die { unit, offset };
            if tag == gimli::DW_TAG_subprogram
                && let Some(entry) = debug.entry(die)
            {
                self.functions.extend(entry.ranges().iter().map(|range| (range.begin, range.end, die)));
            }
            self.walk(debug, unit, child, depth + 1);
        }
    }

    /// The innermost function at an address of the object.
    pub fn function_at(&self, address: u64) -> Option<Die> {
        let after = self.functions.partition_point(|(start, ..)| *start <= address);
        let before = self.functions.get(..after)?;
        // Ranges nest only where functions do, so the nearest that reaches the address is the innermost.
        before.iter().rev().take(DEEPEST).find(|(_, end, _)| address < *end).map(|(.., die)| *die)
    }

    /// All functions that have code here.
    fn functions(&self) -> impl Iterator<Item = Die> {
        self.functions.iter().map(|(.., die)| *die)
    }

    /// The only function with code that an abstract function or a declaration stands for.
    pub fn instance_of(&self, debug: Debug<'_>, die: Die) -> Option<Die> {
        let instances = self.instances.get_or_init(|| {
            let mut instances: HashMap<Die, Option<Die>> = HashMap::new();
            for function in self.functions().filter_map(|die| debug.entry(die)) {
                for origin in function.chain().iter().skip(1) {
                    let only = instances.entry(origin.die).or_insert(Some(function.die));
                    *only = only.filter(|only| *only == function.die);
                }
            }
            instances
        });
        instances.get(&die).copied().flatten()
    }

    /// The entry that an entry is in, unless that is the unit.
    pub fn parent(&self, offset: usize) -> Option<usize> {
        let at = self.parents.binary_search_by_key(&offset, |(child, _)| *child).ok()?;
        self.parents.get(at).map(|(_, parent)| *parent)
    }
}

/// Whether this declares a variable of a class, which some compilers do by a member.
fn is_static_member(entry: &DebuggingInformationEntry<'_, '_, Reader>) -> bool {
    entry.tag() == gimli::DW_TAG_member && matches!(entry.attr(gimli::DW_AT_declaration), Ok(Some(_)))
}

/// Whether entries of this kind can be asked for their qualified name, or be on the way to one.
fn has_a_name(tag: DwTag) -> bool {
    !matches!(
        tag,
        gimli::DW_TAG_member
            | gimli::DW_TAG_enumerator
            | gimli::DW_TAG_subrange_type
            | gimli::DW_TAG_call_site
            | gimli::DW_TAG_call_site_parameter
            | gimli::DW_TAG_GNU_call_site
            | gimli::DW_TAG_GNU_call_site_parameter
            | gimli::DW_TAG_formal_parameter
            | gimli::DW_TAG_inlined_subroutine
    )
}
