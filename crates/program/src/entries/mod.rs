//! The entries of an object's debug information, named by small handles, with references followed across units,
//! type units and the supplementary file.
//!
//! Unit headers are listed once; a unit is parsed when something in it is asked for.

mod entry;
mod index;
mod outline;
mod rows;
mod walk;

use std::cell::OnceCell;
use std::collections::HashMap;

use gimli::{
    AttributeValue, DebugInfoOffset, Dwarf, Unit, UnitHeader, UnitOffset, UnitSectionOffset, UnitType,
};

use crate::debug_info::Reader;
pub(crate) use entry::Entry;
use index::NameIndex;
use outline::Outline;
use rows::LineRows;
pub(crate) use rows::without_dots;

/// Real programs have tens of thousands; a unit takes at least eleven bytes of the file.
const MOST_UNITS: usize = 1 << 20;

/// So deep entries are looked at inside of each other. Compilers nest scopes, namespaces and classes a
/// dozen deep.
pub(crate) const DEEPEST: usize = 128;

/// An entry of one object's debug information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Die {
    pub unit: u32,
    pub offset: usize,
}

/// Which section of which file a unit is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Info,
    Types,
    Supplementary,
}

struct Listed {
    origin: Origin,
    start: usize,
    header: UnitHeader<Reader>,
    unit: OnceCell<Option<Unit<Reader>>>,
    outline: OnceCell<Outline>,
    rows: OnceCell<LineRows>,
}

#[derive(Default)]
pub(crate) struct Entries {
    /// Those of .debug_info, of .debug_types, of the supplementary file; each part in the order of the file.
    units: Vec<Listed>,
    by_signature: HashMap<u64, Die>,
    names: OnceCell<NameIndex>,
}

impl Entries {
    pub fn new(dwarf: &Dwarf<Reader>) -> Entries {
        let mut entries = Entries::default();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            entries.list(Origin::Info, header);
        }
        let mut headers = dwarf.type_units();
        while let Ok(Some(header)) = headers.next() {
            entries.list(Origin::Types, header);
        }
        if let Some(supplementary) = dwarf.sup() {
            let mut headers = supplementary.units();
            while let Ok(Some(header)) = headers.next() {
                entries.list(Origin::Supplementary, header);
            }
        }
        entries
    }

    fn list(&mut self, origin: Origin, header: UnitHeader<Reader>) {
        if self.units.len() == MOST_UNITS {
            return;
        }
        let start = match header.offset() {
            UnitSectionOffset::DebugInfoOffset(offset) => offset.0,
            UnitSectionOffset::DebugTypesOffset(offset) => offset.0,
        };
        let unit = self.units.len() as u32;
        if let UnitType::Type { type_signature, type_offset }
        | UnitType::SplitType { type_signature, type_offset } = header.type_()
        {
            self.by_signature.entry(type_signature.0).or_insert(Die { unit, offset: type_offset.0 });
        }
        self.units.push(Listed {
            origin,
            start,
            header,
            unit: OnceCell::new(),
            outline: OnceCell::new(),
            rows: OnceCell::new(),
        });
    }
}

/// The entries together with the sections that they are read from.
#[derive(Clone, Copy)]
pub(crate) struct Debug<'a> {
    dwarf: &'a Dwarf<Reader>,
    entries: &'a Entries,
}

impl<'a> Debug<'a> {
    pub fn new(dwarf: &'a Dwarf<Reader>, entries: &'a Entries) -> Debug<'a> {
        Debug { dwarf, entries }
    }

    fn listed(self, unit: u32) -> Option<&'a Listed> {
        self.entries.units.get(usize::try_from(unit).ok()?)
    }

    /// The sections that a unit's offsets lead into.
    pub fn dwarf(self, unit: u32) -> &'a Dwarf<Reader> {
        let is_supplementary = self.listed(unit).is_some_and(|unit| unit.origin == Origin::Supplementary);
        self.dwarf.sup().filter(|_| is_supplementary).unwrap_or(self.dwarf)
    }

    pub fn unit(self, unit: u32) -> Option<&'a Unit<Reader>> {
        let listed = self.listed(unit)?;
        listed.unit.get_or_init(|| self.dwarf(unit).unit(listed.header.clone()).ok()).as_ref()
    }

    pub fn units(self) -> impl Iterator<Item = u32> {
        0..self.entries.units.len() as u32
    }

    /// The handle of a unit of .debug_info that somebody else has found.
    pub fn handle(self, unit: &Unit<Reader>) -> Option<u32> {
        let UnitSectionOffset::DebugInfoOffset(offset) = unit.header.offset() else { return None };
        self.containing(Origin::Info, offset).map(|die| die.unit)
    }

    pub fn entry(self, die: Die) -> Option<Entry<'a>> {
        let unit = self.unit(die.unit)?;
        let entry = unit.entry(UnitOffset(die.offset)).ok()?;
        Some(Entry { debug: self, die, unit, entry })
    }

    /// What a reference leads to.
    pub fn target(self, from: u32, value: &AttributeValue<Reader>) -> Option<Die> {
        match value {
            AttributeValue::UnitRef(offset) => Some(Die { unit: from, offset: offset.0 }),
            AttributeValue::DebugInfoRef(offset) => self.at_offset(from, *offset),
            AttributeValue::DebugInfoRefSup(offset) => self.containing(Origin::Supplementary, *offset),
            AttributeValue::DebugTypesRef(signature) => self.entries.by_signature.get(&signature.0).copied(),
            _ => None,
        }
    }

    /// The entry at an offset of .debug_info, of the file that the unit `from` is in.
    pub fn at_offset(self, from: u32, offset: DebugInfoOffset<usize>) -> Option<Die> {
        let origin = match self.listed(from)?.origin {
            Origin::Supplementary => Origin::Supplementary,
            _ => Origin::Info,
        };
        self.containing(origin, offset)
    }

    fn containing(self, origin: Origin, offset: DebugInfoOffset<usize>) -> Option<Die> {
        let units = &self.entries.units;
        let first = units.iter().position(|unit| unit.origin == origin)?;
        let part = units.get(first..)?;
        let part = part.get(..part.partition_point(|unit| unit.origin == origin))?;
        let after = part.partition_point(|unit| unit.start <= offset.0);
        let index = after.checked_sub(1)?;
        let listed = part.get(index)?;
        let inside = offset.0.checked_sub(listed.start)?;
        let unit = u32::try_from(first.checked_add(index)?).ok()?;
        (inside < listed.header.length_including_self()).then_some(Die { unit, offset: inside })
    }

    pub fn outline(self, unit: u32) -> Option<&'a Outline> {
        let listed = self.listed(unit)?;
        Some(listed.outline.get_or_init(|| Outline::new(self, unit)))
    }

    fn rows(self, unit: u32) -> Option<&'a LineRows> {
        let listed = self.listed(unit)?;
        let parsed = self.unit(unit)?;
        Some(listed.rows.get_or_init(|| LineRows::new(parsed)))
    }

    pub fn names(self) -> &'a NameIndex {
        self.entries.names.get_or_init(|| NameIndex::new(self))
    }

    pub fn is_rust(self, unit: u32) -> bool {
        self.language(unit) == Some(gimli::DW_LANG_Rust)
    }

    pub fn is_cpp(self, unit: u32) -> bool {
        use gimli::{
            DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14,
        };
        [DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14]
            .map(Some)
            .contains(&self.language(unit))
    }

    /// Whether names of a unit's language have those of namespaces before them.
    pub fn qualifies(self, unit: u32) -> bool {
        self.language(unit).is_some_and(index::qualifies)
    }

    fn language(self, unit: u32) -> Option<gimli::DwLang> {
        self.outline(unit)?.language
    }
}
