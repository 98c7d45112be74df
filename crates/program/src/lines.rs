//! From an address of an object to source positions, by its DWARF line tables.

use std::ops::Range;
use std::sync::Arc;

use crate::debug_info::DebugInfo;
use crate::demangle::demangle;
use crate::entries::without_dots;

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

/// The frames at an address of the object, innermost first; empty when nothing is known.
pub(crate) fn frames(info: &DebugInfo, address: u64) -> Vec<SourceFrame> {
    let mut frames = Vec::new();
    let Ok(mut found) = info.context.find_frames(address).skip_all_loads() else { return frames };
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

/// Line 0 is the compiler's way to say that code belongs to no line.
fn position(location: addr2line::Location<'_>) -> Option<Position> {
    let line = location.line.filter(|line| *line != 0)?;
    Some(Position {
        file: Arc::from(without_dots(location.file?)),
        line,
        column: location.column.filter(|column| *column != 0),
    })
}

/// The addresses from `start` on that one row of the line table is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub start: u64,
    pub end: u64,
    /// `None` for code that belongs to no line.
    pub position: Option<Position>,
}

impl Row {
    pub fn moved(self, bias: u64) -> Row {
        Row { start: self.start.wrapping_add(bias), end: self.end.wrapping_add(bias), ..self }
    }
}

/// The rows that have to do with a range of addresses, sorted and without overlaps.
pub(crate) fn rows(info: &DebugInfo, range: Range<u64>) -> Vec<Row> {
    let Ok(found) = info.context.find_location_range(range.start, range.end) else { return Vec::new() };
    let mut rows: Vec<Row> = found
        .map(|(start, size, location)| Row {
            start,
            end: start.saturating_add(size),
            position: position(location),
        })
        .collect();
    rows.sort_by_key(|row| row.start);
    rows
}
