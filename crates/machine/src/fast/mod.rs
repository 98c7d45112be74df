//! The fast executor: blocks as arrays of codes, each with a pointer to its handler.
//!
//! A code stands for one guest instruction, sometimes for a comparison and the jump after it; that is where
//! the speed comes from: fewer dispatches, not cheaper ones. It is made from the plain ops by pattern
//! ([`compile`]), never from x86: what has no pattern is run from the plain ops by the reference executor, so
//! a missing pattern costs time and nothing else. Some codes that often follow each other share a handler ([`sequences`]).
//!
//! A handler ends by calling the next code's handler, or that of the next block, which compilers turn into a
//! jump. Where they don't, the host's stack grows with every code, so a run is cut into slices
//! ([`SLICE`]) that would fit on any stack. Flags are recorded at every instruction that defines them, so that the state is exact wherever a
//! fault or a stop may fall.
//!
//! A handler that meets anything out of the ordinary (a fault, a write to code) changes nothing and bails:
//! the reference executor then does the instruction and finds out what it was.

mod compile;
mod handlers;
mod parts;
mod sequences;

pub use compile::compile;

use crate::Core;
use crate::block::Block;
use std::cell::UnsafeCell;
use std::sync::atomic::AtomicPtr;

/// Runs a code and all that follows it, up to the reason in [`Core::exit`]. The number is how many more
/// instructions may be entered after those of the current block; it is handed on in a register.
///
/// Calling it is safe if the code belongs to the block of `core.current`, whose space must be alive.
pub type Handler = unsafe fn(&mut Core, *const Code, u64);

/// How many instructions run before control returns to the machine's loop.
pub const SLICE: u64 = 8192;

/// One step of the fast executor. Which fields mean what is the handler's affair; by convention `a` is the
/// destination (or the register stored), `b c d e` are the parts of an address, `f` is another operand.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Code {
    pub handler: Handler,
    pub a: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
    pub e: u8,
    pub f: u8,
    /// How many ops, for the handler that runs plain ops.
    pub count: u16,
    pub displacement: i64,
    pub imm: u64,
}

impl Code {
    pub fn new(handler: Handler) -> Code {
        Code { handler, a: 0, b: 0, c: 0, d: 0, e: 0, f: 0, count: 0, displacement: 0, imm: 0 }
    }
}

/// What a block's codes end with: the headers of the blocks at its targets, once they are known, as
/// `[not taken or next, taken or jumped to]`.
#[repr(C)]
pub struct Links {
    pub next: [AtomicPtr<Code>; 2],
}

impl Links {
    /// The links of the block whose last code is at `last`.
    ///
    /// # Safety
    /// `last` must be the last code of a block that is alive.
    #[inline(always)]
    pub unsafe fn after<'a>(last: *const Code) -> &'a Links {
        // SAFETY: the slot after the last code holds the links (see `Codes`).
        unsafe { &*last.add(1).cast::<Links>() }
    }
}

/// The codes of a block, in one piece: a header (`imm` is the number of instructions, `displacement` the
/// address of the [`Block`]), the codes, and a slot for the [`Links`].
pub struct Codes {
    slots: Box<[UnsafeCell<Code>]>,
}

impl Codes {
    pub fn new(codes: Vec<Code>, length: u64, block: *const Block) -> Codes {
        let blank = Code::new(handlers::refuse);
        let header = Code { imm: length, displacement: block as usize as i64, ..blank };
        let slots = [header].into_iter().chain(codes).chain([blank]).map(UnsafeCell::new).collect();
        let mut codes = Codes { slots };
        if let Some(last) = codes.slots.last_mut() {
            // SAFETY: a code is larger than the links and aligned alike, and nobody else sees it yet.
            unsafe { last.get().cast::<Links>().write(Links { next: Default::default() }) };
        }
        codes
    }

    pub fn header(&self) -> *const Code {
        self.slots.as_ptr().cast()
    }

    /// Bytes that they take.
    pub fn size(&self) -> usize {
        size_of_val(&*self.slots)
    }

    pub fn links(&self) -> &Links {
        // SAFETY: there are a header, at least one code, and the links.
        unsafe { Links::after(self.header().add(self.slots.len() - 2)) }
    }
}

/// Why the code of the block [`Core::current`] returned.
#[derive(Clone, Copy)]
pub enum Exit {
    /// Control goes to this side's target, which is not linked yet.
    Link(bool),
    /// Control goes to rip.
    Indirect,
    /// Control goes to this block, which is longer than what is left of the slice.
    Slice(*const Code),
    /// Nothing was done of the code.
    Bail(*const Code),
}

const JUMP_ENTRIES: usize = 2048;

/// A direct-mapped cache from addresses to blocks, for indirect jumps and returns.
pub struct JumpCache {
    entries: [(u64, *const Code); JUMP_ENTRIES],
    /// Whether anything was remembered since it was last cleared; else there is nothing to clear.
    used: bool,
}

impl Default for JumpCache {
    fn default() -> JumpCache {
        let mut cache = JumpCache { entries: [(0, std::ptr::null()); JUMP_ENTRIES], used: false };
        // SAFETY: all its bytes are zero.
        unsafe { JumpCache::empty_zeroed(&raw mut cache) };
        cache
    }
}

impl JumpCache {
    /// Makes an empty cache of zeros. An empty entry has the tag of an address that belongs into another one, so
    /// that it matches none; for zeros that is so in every entry but the one of address 0.
    ///
    /// # Safety
    /// `zeroed` must be valid for writes, and all zero.
    pub unsafe fn empty_zeroed(zeroed: *mut JumpCache) {
        // SAFETY: as above.
        unsafe { (*zeroed).entries[Self::index(0)].0 = 1 };
    }

    #[inline(always)]
    pub fn get(&self, address: u64) -> Option<*const Code> {
        let (tag, block) = self.entries[Self::index(address)];
        (tag == address).then_some(block)
    }

    pub fn set(&mut self, address: u64, block: *const Code) {
        self.entries[Self::index(address)] = (address, block);
        self.used = true;
    }

    pub fn clear(&mut self) {
        if self.used {
            self.entries.fill((0, std::ptr::null()));
            self.entries[Self::index(0)].0 = 1;
            self.used = false;
        }
    }

    #[inline(always)]
    fn index(address: u64) -> usize {
        (address ^ address >> 11) as usize % JUMP_ENTRIES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_jump_cache_knows_no_address() {
        let cache = JumpCache::default();
        for address in [0, 1, 2, 1024, u64::MAX - 1, u64::MAX] {
            assert_eq!(cache.get(address), None);
        }
    }
}
