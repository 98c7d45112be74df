//! Which stretches of memory a core file holds.

use machine::{Backing, Memory, PAGE_SIZE, Permissions, Region};

/// Untouched zeros beyond this are told of but not part of the file, not even as a hole: programs reserve terabytes,
/// and file systems have limits.
const LARGEST_HOLE: u64 = 1 << 30;

/// A stretch of one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub start: u64,
    pub memory_size: u64,
    /// As much as `memory_size`, or nothing.
    pub file_size: u64,
    pub permissions: Permissions,
    /// Only pages that were written can hold something.
    zero_backed: bool,
}

impl Segment {
    /// The pages that can hold something else than zeros, in order.
    pub fn pages(&self, memory: &Memory) -> Box<dyn Iterator<Item = u64>> {
        let end = self.start + self.file_size;
        if self.zero_backed {
            Box::new(memory.written_pages_in(self.start, end))
        } else {
            Box::new((self.start..end).step_by(PAGE_SIZE as usize))
        }
    }
}

/// All of the memory, in order of addresses.
pub fn segments(memory: &Memory) -> Vec<Segment> {
    memory.regions().iter().flat_map(|region| split(memory, region)).collect()
}

/// A region is one segment, but for the large untouched parts of what is zero at first.
fn split(memory: &Memory, region: &Region) -> Vec<Segment> {
    let zero_backed = matches!(region.backing, Backing::Zero);
    let segment = |start: u64, end: u64, is_in_file: bool| Segment {
        start,
        memory_size: end - start,
        file_size: if is_in_file { end - start } else { 0 },
        permissions: region.permissions,
        zero_backed,
    };
    // What nobody may read and nobody has written is an address range and nothing more.
    let largest = if region.permissions == Permissions::NONE { 0 } else { LARGEST_HOLE };
    if !zero_backed || region.end - region.start <= largest {
        return vec![segment(region.start, region.end, true)];
    }
    let mut segments = Vec::new();
    let mut start = region.start;
    let mut end = region.start;
    let written = memory.written_pages_in(region.start, region.end).map(|page| (page, page + PAGE_SIZE));
    for (page, page_end) in written.chain([(region.end, region.end)]) {
        if page - end > largest {
            if start < end {
                segments.push(segment(start, end, true));
            }
            segments.push(segment(end, page, false));
            start = page;
        }
        end = page_end;
    }
    if start < end {
        segments.push(segment(start, end, true));
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: u64, end: u64, permissions: Permissions) -> Region {
        Region { start, end, permissions, backing: Backing::Zero, name: "".into(), shared: false }
    }

    /// Start, size in memory and size in the file.
    fn sizes(memory: &Memory) -> Vec<(u64, u64, u64)> {
        segments(memory).iter().map(|s| (s.start, s.memory_size, s.file_size)).collect()
    }

    #[test]
    fn a_small_region_is_in_the_file_touched_or_not() {
        let mut memory = Memory::new(1 << 20);
        memory.map(region(0x10000, 0x20000, Permissions::RW));
        assert_eq!(sizes(&memory), [(0x10000, 0x10000, 0x10000)]);
    }

    #[test]
    fn terabytes_that_are_reserved_take_no_room_but_what_was_written_there_is_kept() {
        const TERABYTE: u64 = 1 << 40;
        let mut memory = Memory::new(1 << 20);
        memory.map(region(TERABYTE, 2 * TERABYTE, Permissions::RW));
        let (first, second) = (TERABYTE + 0x5000, TERABYTE + (1 << 39));
        memory.poke(first, &[1]).unwrap();
        memory.poke(second, &[1]).unwrap();
        let gap = second - first - PAGE_SIZE;
        let rest = 2 * TERABYTE - second - PAGE_SIZE;
        assert_eq!(
            sizes(&memory),
            [
                (TERABYTE, 0x6000, 0x6000),
                (first + PAGE_SIZE, gap, 0),
                (second, PAGE_SIZE, PAGE_SIZE),
                (second + PAGE_SIZE, rest, 0),
            ]
        );
    }

    #[test]
    fn what_may_not_be_accessed_is_kept_only_where_it_was_written() {
        let mut memory = Memory::new(1 << 20);
        memory.map(region(0x10000, 0x20000, Permissions::NONE));
        assert_eq!(sizes(&memory), [(0x10000, 0x10000, 0)]);
        memory.poke(0x14000, &[1]).unwrap();
        assert_eq!(sizes(&memory), [(0x10000, 0x4000, 0), (0x14000, 0x1000, 0x1000), (0x15000, 0xb000, 0)]);
    }
}
