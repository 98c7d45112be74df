//! The blocks of the checked heap: where they lie, and what becomes of them.
//!
//! A small block lies in a span, with room on both sides that nobody may access. Spans come in classes of sizes and are cut off the
//! top of an arena, or taken from those that have been in use: a freed block waits in a queue, where nobody may access it, until so many
//! bytes have been freed after it; then its span can be had again. A large block has pages of its own, which are gone when it is freed,
//! at addresses that are never used again.
//!
//! In front of each block, out of the program's reach, stands its number in the table of blocks.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use machine::{Backing, FRESH, Memory, Permissions, Region, Time};
use table::Table;

use crate::elf::page_up;

mod table;

/// Where all blocks are. Nothing else is mapped there unless the program insists.
pub const HEAP: Range<u64> = 0x6000_0000_0000..0x7000_0000_0000;
/// Where the large ones begin.
const LARGE: u64 = 0x6800_0000_0000;
/// Bytes that freed blocks keep from being used again.
const QUARANTINE: u64 = 16 << 20;
/// What a large block counts there, whose pages are gone: its place in the table.
const LARGE_IN_QUARANTINE: u64 = 4096;
/// Spans up to this size are cut off the arena.
const LARGEST_SPAN: u64 = 1 << 16;
/// The arena grows by this.
const CHUNK: u64 = 1 << 17;
/// Room around a block; its number stands in the part before it.
const LEAST_ROOM: u64 = 16;
const MOST_ROOM: u64 = 1024;
/// As many regions as Linux grants by default.
const MOST_REGIONS: usize = 65_000;
/// Classes of spans: in steps of 16 bytes up to 1024, then eight to each power of two.
const CLASSES: usize = 64 + 8 * 6 + 1;
const NONE: u32 = u32::MAX;

/// Which functions a block belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    Malloc,
    New,
    NewArray,
    Rust,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockState {
    Live,
    Freed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    pub address: u64,
    pub size: u64,
    pub kind: BlockKind,
    pub state: BlockState,
    /// When the function was called that allocated it.
    pub allocated: Time,
    /// When the one that freed it was.
    pub freed: Time,
    /// Its span, or its pages.
    span: (u64, u64),
    /// The next one in the list that it is in.
    next: u32,
}

impl Block {
    /// The room that the block has for itself, with what nobody may access.
    pub fn span(&self) -> Range<u64> {
        self.span.0..self.span.1
    }

    fn is_large(&self) -> bool {
        self.span.0 >= LARGE
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub size: u64,
    /// A power of two.
    pub alignment: u64,
    pub zeroed: bool,
    pub kind: BlockKind,
    pub time: Time,
}

/// What freeing a pointer came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freed {
    Done(Block),
    /// It was freed before.
    Already(Block),
    /// It is not the start of a block.
    NoBlock,
}

#[derive(Clone, Debug)]
pub struct Blocks {
    table: Table,
    /// The first block of the list of spans of each class that can be used again.
    free: Arc<[u32; CLASSES]>,
    /// The first of the list of numbers that can be used again, of large blocks.
    spare: u32,
    /// The queue of freed blocks.
    oldest: u32,
    newest: u32,
    quarantined: u64,
    /// Up to where the arena is cut into spans, and up to where it is mapped.
    top: u64,
    mapped: u64,
    next_large: u64,
    /// Bytes of large blocks.
    in_large: u64,
    limit: u64,
    /// Of the table, kept up to date.
    digest: u64,
}

impl Blocks {
    pub fn new(limit: u64) -> Blocks {
        Blocks {
            table: Table::new(),
            free: Arc::new([NONE; CLASSES]),
            spare: NONE,
            oldest: NONE,
            newest: NONE,
            quarantined: 0,
            top: HEAP.start,
            mapped: HEAP.start,
            next_large: LARGE,
            in_large: 0,
            limit,
            digest: 0,
        }
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }

    pub fn live(&self) -> Vec<Block> {
        let mut live: Vec<Block> =
            self.table.iter().filter(|block| block.state == BlockState::Live).copied().collect();
        live.sort_by_key(|block| block.address);
        live
    }

    /// The block whose room an address lies in.
    pub fn around(&self, address: u64) -> Option<Block> {
        self.table.iter().find(|block| block.span().contains(&address)).copied()
    }

    /// The large block before an address.
    pub fn large_before(&self, address: u64) -> Option<Block> {
        let large = self.table.iter().filter(|block| block.is_large() && block.span.1 <= address);
        large.max_by_key(|block| block.address).copied()
    }

    /// The block that begins at an address.
    pub fn at(&self, memory: &Memory, address: u64) -> Option<Block> {
        self.numbered(memory, address).map(|(_, block)| block)
    }

    /// Where the new block is; `None` if there is no room for it.
    pub fn allocate(&mut self, memory: &mut Memory, request: Request) -> Option<u64> {
        let Request { size, alignment, zeroed, kind, time } = request;
        if size > self.limit || alignment > self.limit {
            return None;
        }
        let slack = alignment.max(LEAST_ROOM) - LEAST_ROOM;
        let total = LEAST_ROOM + slack + size + room_for(size);
        let (number, span, used) = match class_of(total) {
            Some(class) => self.take_span(memory, class)?,
            None => self.take_pages(memory, total, zeroed)?,
        };
        let address = (span.0 + LEAST_ROOM).checked_next_multiple_of(alignment)?;
        if class_of(total).is_some() {
            memory.set_forbidden(address..address + size, false).ok()?;
        } else {
            memory.set_forbidden(span.0..address, true).ok()?;
            memory.set_forbidden(address + size..span.1, true).ok()?;
        }
        let mut header = [0; LEAST_ROOM as usize];
        header[..4].copy_from_slice(&number.to_le_bytes());
        memory.poke(address - LEAST_ROOM, &header).ok()?;
        if class_of(total).is_some() && (zeroed || used) {
            let fill = if zeroed { 0 } else { FRESH };
            memory.poke(address, &vec![fill; size as usize]).ok()?;
        }
        let block = Block {
            address,
            size,
            kind,
            state: BlockState::Live,
            allocated: time,
            freed: Time(0),
            span,
            next: NONE,
        };
        self.set(number, block);
        Some(address)
    }

    pub fn free(&mut self, memory: &mut Memory, address: u64, time: Time) -> Freed {
        let Some((number, block)) = self.numbered(memory, address) else { return Freed::NoBlock };
        if block.state == BlockState::Freed {
            return Freed::Already(block);
        }
        let freed = Block { state: BlockState::Freed, freed: time, next: NONE, ..block };
        if block.is_large() {
            memory.unmap(block.span.0, block.span.1);
            self.in_large -= block.span.1 - block.span.0;
        } else {
            // The bits are there since the block was allocated, so that no page is needed for them.
            let _ = memory.set_forbidden(block.address..block.address + block.size, true);
        }
        self.set(number, freed);
        self.put_away(number, weight(&block));
        Freed::Done(block)
    }

    /// Puts a block of so much weight at the end of the queue, and makes those at its beginning good for use again.
    fn put_away(&mut self, number: u32, added: u64) {
        if !self.set_next(self.newest, number) {
            self.oldest = number;
        }
        self.newest = number;
        self.quarantined += added;
        while self.quarantined > QUARANTINE && self.oldest != self.newest {
            let number = self.oldest;
            let Some(block) = self.table.get_mut(number) else { break };
            self.oldest = block.next;
            self.quarantined -= weight(block);
            let list = match class_of(block.span.1 - block.span.0) {
                Some(class) if !block.is_large() => &mut Arc::make_mut(&mut self.free)[class],
                _ => &mut self.spare,
            };
            block.next = std::mem::replace(list, number);
        }
    }

    /// What comes after a block in its list. Lists follow from when blocks were freed, so they need no digest.
    fn set_next(&mut self, number: u32, next: u32) -> bool {
        let block = self.table.get_mut(number);
        block.map(|block| block.next = next).is_some()
    }

    /// A span of a class: its number, where it is, and whether it was in use before.
    fn take_span(&mut self, memory: &mut Memory, class: usize) -> Option<(u32, (u64, u64), bool)> {
        let number = self.free.get(class).copied()?;
        if let Some(block) = self.get(number) {
            Arc::make_mut(&mut self.free)[class] = block.next;
            return Some((number, block.span, true));
        }
        let size = size_of_class(class);
        if self.mapped - self.top < size {
            let more = self.top + size - self.mapped;
            let more = more.checked_next_multiple_of(CHUNK)?;
            let used = self.mapped - HEAP.start + self.in_large;
            if self.mapped + more > LARGE || used + more > self.limit {
                return None;
            }
            memory.set_forbidden(self.mapped..self.mapped + more, true).ok()?;
            memory.map(region(self.mapped, self.mapped + more, Backing::Fresh));
            self.mapped += more;
        }
        let span = (self.top, self.top + size);
        self.top += size;
        Some((self.table.len() as u32, span, false))
    }

    /// Pages for a large block.
    fn take_pages(
        &mut self,
        memory: &mut Memory,
        total: u64,
        zeroed: bool,
    ) -> Option<(u32, (u64, u64), bool)> {
        let start = self.next_large;
        let end = page_up(start.checked_add(total)?);
        let gap = page_up(total / 8).max(CHUNK);
        let used = self.mapped - HEAP.start + self.in_large;
        if end.checked_add(gap)? > HEAP.end
            || used + (end - start) > self.limit
            || memory.regions().len() > MOST_REGIONS
        {
            return None;
        }
        memory.map(region(start, end, if zeroed { Backing::Zero } else { Backing::Fresh }));
        self.next_large = end + gap;
        self.in_large += end - start;
        let number = match self.get(self.spare) {
            Some(block) => std::mem::replace(&mut self.spare, block.next),
            None => self.table.len() as u32,
        };
        Some((number, (start, end), false))
    }

    fn get(&self, number: u32) -> Option<Block> {
        self.table.get(number).copied()
    }

    fn set(&mut self, number: u32, block: Block) {
        if let Some(place) = self.table.get_mut(number) {
            self.digest ^= digest(number, place);
            *place = block;
        } else {
            self.table.push(block);
        }
        self.digest ^= digest(number, &block);
    }

    /// The block that begins at an address, and its number.
    fn numbered(&self, memory: &Memory, address: u64) -> Option<(u32, Block)> {
        if !HEAP.contains(&address) {
            return None;
        }
        let mut header = [0; 4];
        if memory.peek(address.checked_sub(LEAST_ROOM)?, &mut header) < header.len() {
            // The pages of a large block that was freed are gone.
            let mut blocks = self.table.iter().enumerate();
            let found = blocks.find(|(_, block)| block.address == address && block.is_large());
            return found.map(|(number, block)| (number as u32, *block));
        }
        let number = u32::from_le_bytes(header);
        // What stands before an address that is no block's may be anything.
        self.get(number).filter(|block| block.address == address).map(|block| (number, block))
    }
}

impl Hash for Blocks {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.top, self.next_large, self.oldest, self.newest, self.digest).hash(hasher);
    }
}

fn region(start: u64, end: u64, backing: Backing) -> Region {
    Region { start, end, permissions: Permissions::RW, backing, name: "[heap]".into(), shared: false }
}

fn digest(number: u32, block: &Block) -> u64 {
    let Block { address, size, kind, state, allocated, freed, span, next: _ } = *block;
    let kinds = u64::from(number) << 16 | (kind as u64) << 8 | state as u64;
    let words = [kinds, address, size, allocated.0, freed.0, span.0, span.1];
    words.into_iter().fold(0, |digest: u64, word| {
        let mixed = (digest.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    })
}

/// What a block counts in the queue.
fn weight(block: &Block) -> u64 {
    if block.is_large() { LARGE_IN_QUARANTINE } else { block.span.1 - block.span.0 }
}

/// How much room a block has behind it.
fn room_for(size: u64) -> u64 {
    (size / 8).clamp(LEAST_ROOM, MOST_ROOM)
}

/// The smallest class whose spans have so many bytes; none has for a large block.
fn class_of(total: u64) -> Option<usize> {
    if total > LARGEST_SPAN {
        return None;
    }
    if total <= 1024 {
        return Some(total.max(1).div_ceil(16) as usize - 1);
    }
    let power = (total - 1).ilog2();
    let step = 1u64 << (power - 3);
    let within = (total - (1 << power)).div_ceil(step) as usize;
    Some(64 + (power as usize - 10) * 8 + within - 1)
}

fn size_of_class(class: usize) -> u64 {
    match class.checked_sub(64) {
        None => (class as u64 + 1) * 16,
        Some(above) => {
            let power = 10 + above as u32 / 8;
            (1 << power) + (above as u64 % 8 + 1) * (1 << (power - 3))
        }
    }
}

#[cfg(test)]
mod tests;
