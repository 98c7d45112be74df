//! Names an address for a person: the function, or the mapped file and how far into it.

use machine::{Backing, Memory};
use program::{Mapping, Program};

use super::native::Native;

/// `_dl_relocate_object+0x1f in /lib/ld.so at 0x1234`, as far as it is known. The offset is one into the file's
/// first mapping.
pub fn describe(memory: &Memory, native: &Native, address: u64) -> String {
    let Some(region) = memory.region_at(address) else { return "no mapping".to_owned() };
    if region.name.is_empty() {
        return "anonymous memory".to_owned();
    }
    let first = memory.regions().iter().find(|other| other.name == region.name).unwrap_or(region);
    let in_file = format!("{} at {:#x}", region.name, address - first.start);
    match program(memory, native).locate(address).function {
        Some(function) => format!("{}+{:#x} in {in_file}", function.name, function.offset),
        None => in_file,
    }
}

fn program(memory: &Memory, native: &Native) -> Program {
    // What was mapped before the start is known only natively with its place in its file; what
    // was mapped since, only by the machine.
    let at_start: Vec<_> = native
        .mappings()
        .unwrap_or_default()
        .into_iter()
        .filter(|mapping| mapping.name.starts_with('/'))
        .collect();
    Program::from_mappings(memory.regions().iter().filter_map(|region| {
        let Backing::Bytes { offset, .. } = region.backing else { return None };
        let native = at_start.iter().find(|mapping| (mapping.start..mapping.end).contains(&region.start));
        let file_offset = native.map_or(offset, |mapping| mapping.offset + (region.start - mapping.start));
        let (start, end, path) = (region.start, region.end, region.name.clone());
        Some(Mapping { start, end, file_offset, path, content: None })
    }))
}
