//! The debug information of one object: its DWARF sections, from the object itself or its separate debug file.
//!
//! Nothing is read ahead. Units are found by address and their tables parsed when a question first leads there.

use std::cell::OnceCell;
use std::sync::Arc;

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, LittleEndian, Unit};

use crate::debug_file;
use crate::entries::{Debug, Entries, Entry};
use crate::object_file::{ObjectFile, section};
use crate::types::TypeCache;

pub(crate) type Reader = EndianArcSlice<LittleEndian>;

pub(crate) struct DebugInfo {
    pub dwarf: Arc<Dwarf<Reader>>,
    pub context: Context<Reader>,
    entries: OnceCell<Entries>,
    pub types: TypeCache,
}

impl DebugInfo {
    /// `None` when there is no debug information, or none that can be read.
    pub fn new(object: &ObjectFile) -> Option<DebugInfo> {
        let content = object.debug_content().unwrap_or(object.content());
        let mut dwarf = load(content)?;
        if let Some(supplementary) =
            debug_file::supplementary(content, &*object.files).and_then(|found| load(&found))
        {
            dwarf.set_sup(supplementary);
        }
        let dwarf = Arc::new(dwarf);
        let context = Context::from_arc_dwarf(dwarf.clone()).ok()?;
        Some(DebugInfo { context, dwarf, entries: OnceCell::new(), types: TypeCache::default() })
    }

    pub fn debug(&self) -> Debug<'_> {
        Debug::new(&self.dwarf, self.entries.get_or_init(|| Entries::new(&self.dwarf)))
    }

    /// The unit that the code at an address of the object belongs to.
    pub fn unit_at(&self, address: u64) -> Option<&Unit<Reader>> {
        Some(self.context.find_dwarf_and_unit(address).skip_all_loads()?.unit)
    }

    /// The innermost function at an address of the object.
    pub fn function_at(&self, address: u64) -> Option<Entry<'_>> {
        let debug = self.debug();
        let unit = debug.handle(self.unit_at(address)?)?;
        debug.entry(debug.outline(unit)?.function_at(address)?)
    }
}

fn load(content: &[u8]) -> Option<Dwarf<Reader>> {
    let empty: Arc<[u8]> = Arc::from([]);
    let mut any = false;
    let dwarf = Dwarf::load(|id| {
        let found = section(content, id.name());
        any |= found.is_some();
        let data = found.map_or_else(|| empty.clone(), |(data, _)| data);
        Ok::<_, gimli::Error>(EndianArcSlice::new(data, LittleEndian))
    });
    if any { dwarf.ok() } else { None }
}
