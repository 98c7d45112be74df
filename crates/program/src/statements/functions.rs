//! Where the code of functions is, in all its parts, and what is inlined into them.

use std::ops::Range;

use gimli::{DW_TAG_inlined_subroutine, DW_TAG_subprogram, Dwarf, UnitOffset};

use crate::debug_info::Reader;

pub(super) type Unit = gimli::Unit<Reader>;
pub(super) type Entry<'a> = gimli::DebuggingInformationEntry<'a, 'a, Reader>;

/// The code of a function, with all its parts.
pub(super) struct FunctionCode {
    pub ranges: Vec<Range<u64>>,
    pub entry: UnitOffset,
}

/// The functions of a unit that have code.
pub(super) fn functions(dwarf: &Dwarf<Reader>, unit: &Unit) -> Vec<FunctionCode> {
    let mut found = Vec::new();
    let mut entries = unit.entries();
    while let Ok(Some((_, entry))) = entries.next_dfs() {
        if entry.tag() == DW_TAG_subprogram {
            let ranges = ranges(dwarf, unit, entry);
            if !ranges.is_empty() {
                found.push(FunctionCode { ranges, entry: entry.offset() });
            }
        }
    }
    found
}

/// Where code that is inlined into a function begins and ends; sorted.
pub(super) fn inlined_bounds(dwarf: &Dwarf<Reader>, unit: &Unit, function: UnitOffset) -> Vec<u64> {
    let mut bounds = Vec::new();
    let Ok(mut entries) = unit.entries_at_offset(function) else { return bounds };
    let mut depth = 0isize;
    let mut is_first = true;
    while let Ok(Some((delta, entry))) = entries.next_dfs() {
        depth = depth.saturating_add(delta);
        if depth <= 0 && !is_first {
            break;
        }
        is_first = false;
        if entry.tag() == DW_TAG_inlined_subroutine {
            bounds.extend(ranges(dwarf, unit, entry).into_iter().flat_map(|range| [range.start, range.end]));
        }
    }
    bounds.sort_unstable();
    bounds.dedup();
    bounds
}

/// The ranges that an entry says it covers. No code is at address 0: linkers put there what they dropped.
fn ranges(dwarf: &Dwarf<Reader>, unit: &Unit, entry: &Entry<'_>) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    let Ok(mut ranges) = dwarf.die_ranges(unit, entry) else { return found };
    while let Ok(Some(range)) = ranges.next() {
        if range.begin != 0 && range.begin < range.end {
            found.push(range.begin..range.end);
        }
    }
    found
}
