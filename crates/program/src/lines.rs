//! From an address of an object to source positions, by its DWARF line tables.

use std::sync::Arc;

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, LittleEndian};

use crate::debug_file;
use crate::demangle::demangle;
use crate::object_file::{ObjectFile, section};

/// Inlining deeper than this is the work of a damaged file.
const MOST_INLINED: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub file: Arc<str>,
    pub line: u32,
    /// Counted from 1; `None` when the compiler did not say.
    pub column: Option<u32>,
}

/// A function of the source and the position in it. An address inside an inlined call has
/// several, innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFrame {
    /// Demangled.
    pub function: Option<String>,
    pub position: Option<Position>,
}

pub(crate) struct Lines {
    context: Context<EndianArcSlice<LittleEndian>>,
}

impl Lines {
    /// `None` when there is no debug information, or none that can be read.
    pub fn new(object: &ObjectFile) -> Option<Lines> {
        let content = object.debug_content().unwrap_or(object.content());
        let mut dwarf = load(content)?;
        if let Some(supplementary) = debug_file::supplementary(content).and_then(|found| load(&found)) {
            dwarf.set_sup(supplementary);
        }
        Some(Lines { context: Context::from_dwarf(dwarf).ok()? })
    }

    /// The frames at an address of the object, innermost first; empty when nothing is known.
    pub fn frames(&self, address: u64) -> Vec<SourceFrame> {
        let mut frames = Vec::new();
        let Ok(mut found) = self.context.find_frames(address).skip_all_loads() else { return frames };
        while let Ok(Some(frame)) = found.next() {
            let function = frame.function.and_then(|function| {
                let name = function.raw_name().ok()?.into_owned();
                Some(demangle(&name).unwrap_or(name))
            });
            frames.push(SourceFrame { function, position: frame.location.and_then(position) });
            if frames.len() == MOST_INLINED {
                break;
            }
        }
        frames
    }
}

/// Line 0 is the compiler's way to say that code belongs to no line.
fn position(location: addr2line::Location<'_>) -> Option<Position> {
    let line = location.line.filter(|line| *line != 0)?;
    Some(Position {
        file: Arc::from(location.file?),
        line,
        column: location.column.filter(|column| *column != 0),
    })
}

fn load(content: &[u8]) -> Option<Dwarf<EndianArcSlice<LittleEndian>>> {
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
