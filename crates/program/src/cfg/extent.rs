//! Which code belongs to a function: the part it begins with, and the parts that the compiler moved away.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use super::flow::{self, Flow};
use super::graph::Cfg;
use super::memory;
use crate::object_file::ObjectFile;
use crate::symbols::is_moved_part;

/// A function has a hot and a cold part; hand-written ones share more. So many are followed.
const MOST_PARTS: usize = 64;

/// A fragment belongs to a function, perhaps by way of another fragment.
const MOST_OWNERS: usize = 4;

/// The code of one function, as far as it is known.
pub(super) struct Extent<'a> {
    object: &'a ObjectFile,
    pub start: u64,
    /// Those found first come first.
    parts: Vec<Range<u64>>,
}

impl<'a> Extent<'a> {
    /// The function that the code at `address` belongs to.
    pub fn around(object: &'a ObjectFile, address: u64) -> Option<Extent<'a>> {
        if !object.is_code(address) {
            return None;
        }
        if let Some(stub) = memory::stub(object, address) {
            return Some(Extent { object, start: stub.start, parts: vec![stub] });
        }
        let range = range(object, owner(object, address))?;
        Some(Extent { object, start: range.start, parts: vec![range] })
    }

    /// The function that begins at `start`, where something calls, also in the middle of a known range.
    pub fn from(object: &'a ObjectFile, start: u64) -> Option<Extent<'a>> {
        let range = range(object, start).filter(|_| object.is_code(start))?;
        Some(Extent { object, start, parts: vec![range] })
    }

    /// Whether the code at `target`, to which some instruction of this function jumps, belongs to it. A
    /// part that is jumped into is added.
    pub fn takes(&mut self, target: u64) -> bool {
        let part = self.part_of(target);
        if let Some(part) = part.clone().filter(|_| !self.contains(target)) {
            self.parts.push(part);
        }
        part.is_some()
    }

    /// Whether the code at `target` belongs to the function, or would once something jumps there.
    pub fn would_take(&self, target: u64) -> bool {
        self.part_of(target).is_some()
    }

    fn part_of(&self, target: u64) -> Option<Range<u64>> {
        if let Some(known) = self.parts.iter().find(|part| part.contains(&target)) {
            return Some(known.clone());
        }
        if self.parts.len() >= MOST_PARTS || !self.object.is_code(target) {
            return None;
        }
        let range = range(self.object, target)?;
        let is_part = target != range.start || is_fragment(self.object, range.start);
        (is_part && !memory::is_stub(self.object, target)).then_some(range)
    }

    /// The parts that are known so far; new ones come last.
    pub fn parts(&self) -> &[Range<u64>] {
        &self.parts
    }

    pub fn contains(&self, address: u64) -> bool {
        self.parts.iter().any(|part| part.contains(&address))
    }
}

/// An address in the function that the code at `address` is a fragment of; `address` itself when it is none, or
/// when nobody is known to jump there.
fn owner(object: &ObjectFile, address: u64) -> u64 {
    let mut at = address;
    for _ in 0..MOST_OWNERS {
        let Some(range) = range(object, at).filter(|range| is_fragment(object, range.start)) else {
            return at;
        };
        let Some(from) = object.sweep().jump_into(range.start) else { return at };
        at = from;
    }
    at
}

/// The function, or the part of one, around an address. Where nothing is known, a function begins where something
/// calls, and ends where the next begins.
pub(super) fn range(object: &ObjectFile, address: u64) -> Option<Range<u64>> {
    known_range(object, address).or_else(|| {
        let segment =
            object.segments().iter().find(|segment| segment.executable && segment.contains(address))?;
        let gap = object.call_frames().gap(address);
        let (start, end) = object.sweep().starts_around(address);
        let (found_start, found_end) = object.found_starts().around(address);
        let start = start.max(found_start).unwrap_or(0).max(gap.start).max(segment.address);
        let segment_end = segment.address.saturating_add(segment.memory_size);
        let end = [end, found_end].into_iter().flatten().fold(gap.end.min(segment_end), u64::min);
        Some(start..end)
    })
}

/// The innermost range around an address that symbols or call frame information know.
pub(super) fn known_range(object: &ObjectFile, address: u64) -> Option<Range<u64>> {
    let symbol = object.symbols().at(object, address).filter(|symbol| symbol.size > 0);
    let by_symbol = symbol.map(|symbol| symbol.address..symbol.address.saturating_add(symbol.size));
    let by_frames = object.call_frames().range(address);
    let known = by_symbol.into_iter().chain(by_frames).filter(|range| range.contains(&address));
    known.max_by_key(|range| (range.start, std::cmp::Reverse(range.end)))
}

/// Whether the code at the start of a range is no function of its own but a piece of one.
pub(super) fn is_fragment(object: &ObjectFile, start: u64) -> bool {
    let named = object.symbols().at(object, start).filter(|symbol| symbol.address == start);
    match named {
        Some(symbol) => is_moved_part(symbol.name),
        // A function begins with nothing but the return address on the stack.
        None => {
            object.call_frames().range(start).is_some_and(|range| range.start == start)
                && object.call_frames().is_entry_height(start) == Some(false)
        }
    }
}

/// Function starts in code that nothing describes, found while graphs were made: what no way leads to must
/// belong to another function.
#[derive(Default)]
pub(crate) struct FoundStarts(RefCell<BTreeSet<u64>>);

impl FoundStarts {
    /// The last one up to `address`, and the first after it.
    fn around(&self, address: u64) -> (Option<u64>, Option<u64>) {
        let starts = self.0.borrow();
        let before = starts.range(..=address).next_back().copied();
        (before, starts.range(address.saturating_add(1)..).next().copied())
    }

    /// Returns whether it is new.
    fn insert(&self, start: u64) -> bool {
        self.0.borrow_mut().insert(start)
    }
}

/// Notes that a function begins between the end of what `graph` has before `address` and `address` itself, when no
/// way in the graph leads there and nothing else is known. Returns whether that is news.
pub(super) fn split(object: &ObjectFile, graph: &Cfg, address: u64, bias: u64) -> bool {
    let in_guest = address.wrapping_add(bias);
    if graph.block_at(in_guest).is_some() || known_range(object, address).is_some() {
        return false;
    }
    let after = graph.blocks.partition_point(|block| block.start <= in_guest);
    let Some(last) = graph.blocks.get(..after).and_then(|blocks| blocks.last()) else { return false };
    let mut ops = Vec::new();
    let mut start = last.end.wrapping_sub(bias);
    // Between functions there may be instructions that do nothing.
    while let Some(step) = object.bytes_at(start).and_then(|bytes| flow::step(bytes, start, &mut ops)) {
        if !ops.is_empty() || step.flow != Flow::On {
            break;
        }
        start = start.wrapping_add(u64::from(step.length));
    }
    start <= address && object.found_starts().insert(start)
}
