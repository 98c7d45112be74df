//! One entry and its attributes.

use gimli::{AttributeValue, DebuggingInformationEntry, DwAt, DwTag, Range, Unit};

use super::index::qualifies;
use super::{DEEPEST, Debug, Die};
use crate::debug_info::Reader;
use crate::demangle::demangle;

/// An entry may complete another, which completes another; compilers make chains of three.
const MOST_ORIGINS: usize = 8;

/// A damaged unit can claim that everything in it is one entry's child.
const MOST_CHILDREN: usize = 1 << 16;

/// A damaged file can make names of names without end.
const LONGEST_NAME: usize = 1 << 16;

/// Code of one function lies in a few places.
const MOST_RANGES: usize = 4096;

pub(crate) struct Entry<'a> {
    pub debug: Debug<'a>,
    pub die: Die,
    pub unit: &'a Unit<Reader>,
    pub entry: DebuggingInformationEntry<'a, 'a, Reader>,
}

impl<'a> Entry<'a> {
    pub fn tag(&self) -> DwTag {
        self.entry.tag()
    }

    pub fn attribute(&self, name: DwAt) -> Option<AttributeValue<Reader>> {
        self.entry.attr_value(name).ok().flatten()
    }

    pub fn has(&self, name: DwAt) -> bool {
        self.attribute(name).is_some()
    }

    pub fn flag(&self, name: DwAt) -> bool {
        matches!(self.attribute(name), Some(AttributeValue::Flag(true)))
    }

    pub fn unsigned(&self, name: DwAt) -> Option<u64> {
        match self.attribute(name)? {
            AttributeValue::FileIndex(index) => Some(index),
            value => value.udata_value(),
        }
    }

    pub fn text(&self, name: DwAt) -> Option<String> {
        let value = self.attribute(name)?;
        self.decode(value)
    }

    fn decode(&self, value: AttributeValue<Reader>) -> Option<String> {
        let text = self.debug.dwarf(self.die.unit).attr_string(self.unit, value).ok()?;
        Some(gimli::Reader::to_string_lossy(&text).ok()?.into_owned())
    }

    /// The name that this entry itself has.
    pub fn own_name(&self) -> Option<String> {
        self.text(gimli::DW_AT_name).filter(|name| !name.is_empty())
    }

    /// What a reference of this entry leads to.
    pub fn refers(&self, name: DwAt) -> Option<Die> {
        self.debug.target(self.die.unit, &self.attribute(name)?)
    }

    /// The entry that this one is an instance or the definition of.
    pub fn origin(&self) -> Option<Die> {
        self.refers(gimli::DW_AT_abstract_origin).or_else(|| self.refers(gimli::DW_AT_specification))
    }

    /// This entry, then what it is an instance or the definition of.
    pub fn chain(&self) -> Vec<Entry<'a>> {
        let mut chain: Vec<Entry<'a>> = Vec::new();
        let mut next = Some(self.die);
        while let Some(entry) = next.and_then(|die| self.debug.entry(die)) {
            next = entry.origin();
            chain.push(entry);
            if chain.len() == MOST_ORIGINS {
                break;
            }
        }
        chain
    }

    pub fn name(&self) -> Option<String> {
        self.chain().iter().find_map(Entry::own_name)
    }

    /// The name with the namespaces and classes around it, where the language has such names.
    pub fn qualified_name(&self) -> Option<String> {
        let chain = self.chain();
        let named = chain.iter().rev().find(|entry| entry.own_name().is_some())?;
        let mut name = named.own_name()?;
        let outline = self.debug.outline(named.die.unit)?;
        if !outline.language.is_some_and(qualifies) {
            // C libraries rename functions; what the linker and gdb call them is said apart.
            let linked = chain.iter().find_map(|entry| entry.text(gimli::DW_AT_linkage_name));
            return Some(linked.unwrap_or(name));
        }
        let mut offset = named.die.offset;
        for _ in 0..DEEPEST {
            let Some(parent) = outline.parent(offset) else { break };
            offset = parent;
            let Some(around) = self.debug.entry(Die { unit: named.die.unit, offset }) else { break };
            if let Some(prefix) = around.prefix() {
                name = format!("{prefix}::{name}");
            }
            if name.len() > LONGEST_NAME {
                return None;
            }
        }
        Some(name)
    }

    /// The name of a function, without its parameters unless it is in a class without a name: then only the mangled
    /// name says where.
    pub fn function_name(&self) -> Option<String> {
        let chain = self.chain();
        let declared = chain.last()?;
        let parent = self.debug.outline(declared.die.unit)?.parent(declared.die.offset);
        let parent = parent.and_then(|offset| self.debug.entry(Die { unit: declared.die.unit, offset }));
        let is_unnamed = parent.is_some_and(|parent| {
            matches!(parent.tag(), gimli::DW_TAG_class_type | gimli::DW_TAG_structure_type)
                && parent.own_name().is_none()
        });
        let linkage = || chain.iter().find_map(|entry| entry.text(gimli::DW_AT_linkage_name));
        let mangled = linkage().filter(|_| is_unnamed);
        mangled.and_then(|name| demangle(&name)).or_else(|| self.qualified_name())
    }

    /// What this entry adds to the names of what is inside of it.
    fn prefix(&self) -> Option<String> {
        match self.tag() {
            gimli::DW_TAG_namespace => {
                Some(self.name().unwrap_or_else(|| "(anonymous namespace)".to_owned()))
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => self.name(),
            _ => None,
        }
    }

    /// The type that this entry, or what it completes, has.
    pub fn typed(&self) -> Option<Die> {
        self.chain().iter().find_map(|entry| entry.refers(gimli::DW_AT_type))
    }

    pub fn children(&self) -> Vec<Entry<'a>> {
        let mut found = Vec::new();
        let Ok(mut tree) = self.unit.entries_tree(Some(self.entry.offset())) else { return found };
        let Ok(root) = tree.root() else { return found };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry().clone();
            let die = Die { unit: self.die.unit, offset: entry.offset().0 };
            found.push(Entry { debug: self.debug, die, unit: self.unit, entry });
            if found.len() == MOST_CHILDREN {
                break;
            }
        }
        found
    }

    /// The code of this entry, as addresses of the object. Empty ranges are left out, and those at address 0:
    /// there linkers put what they dropped.
    pub fn ranges(&self) -> Vec<Range> {
        let list = self.attribute(gimli::DW_AT_ranges);
        let Some(list) = list else { return self.single_range().into_iter().collect() };
        let mut found = Vec::new();
        let list = self.debug.dwarf(self.die.unit).attr_ranges(self.unit, list);
        let Ok(Some(mut ranges)) = list else { return found };
        while let Ok(Some(range)) = ranges.next() {
            if is_code(&range) {
                found.push(range);
            }
            if found.len() == MOST_RANGES {
                break;
            }
        }
        found
    }

    fn single_range(&self) -> Option<Range> {
        let begin = self.address(gimli::DW_AT_low_pc)?;
        let end = match self.attribute(gimli::DW_AT_high_pc)? {
            value @ (AttributeValue::Addr(_) | AttributeValue::DebugAddrIndex(_)) => {
                self.debug.dwarf(self.die.unit).attr_address(self.unit, value).ok().flatten()?
            }
            size => begin.checked_add(size.udata_value()?)?,
        };
        Some(Range { begin, end }).filter(is_code)
    }

    pub fn covers(&self, address: u64) -> bool {
        self.ranges().iter().any(|range| range.begin <= address && address < range.end)
    }

    pub fn address(&self, name: DwAt) -> Option<u64> {
        let value = self.attribute(name)?;
        self.debug.dwarf(self.die.unit).attr_address(self.unit, value).ok().flatten()
    }
}

fn is_code(range: &Range) -> bool {
    range.begin != 0 && range.begin < range.end
}
