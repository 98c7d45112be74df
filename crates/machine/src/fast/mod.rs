//! The fast executor: blocks as arrays of codes, each with a pointer to its handler.
//!
//! A code stands for one guest instruction, sometimes for a comparison and the jump after it; that is where
//! the speed comes from: fewer dispatches, not cheaper ones. It is made from the plain ops by pattern
//! ([`compile`]), never from x86: what has no pattern is run from the plain ops by the reference executor, so
//! a missing pattern costs time and nothing else.
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

pub use compile::compile;

use crate::Core;
use crate::block::Block;

/// Runs a code and all that follows it, up to the reason in [`Core::exit`].
///
/// Calling it is safe if the code belongs to `core.current`, whose space must be alive.
pub type Handler = unsafe fn(&mut Core, *const Code);

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

/// Why the code of the block [`Core::current`] returned.
#[derive(Clone, Copy)]
pub enum Exit {
    /// Control goes to this side's target, which is not linked yet.
    Link(bool),
    /// Control goes to rip.
    Indirect,
    /// Control goes to this block, which is longer than what is left of the slice.
    Slice(*const Block),
    /// Nothing was done of the code.
    Bail(*const Code),
}

const JUMP_ENTRIES: usize = 1024;

/// A direct-mapped cache from addresses to blocks, for indirect jumps and returns.
pub struct JumpCache {
    entries: [(u64, *const Block); JUMP_ENTRIES],
}

impl Default for JumpCache {
    fn default() -> JumpCache {
        // An empty entry has the tag of an address that belongs into another one, so that it matches none.
        let mut entries = [(u64::MAX, std::ptr::null()); JUMP_ENTRIES];
        entries[Self::index(u64::MAX)].0 = 1;
        JumpCache { entries }
    }
}

impl JumpCache {
    #[inline(always)]
    pub fn get(&self, address: u64) -> Option<*const Block> {
        let (tag, block) = self.entries[Self::index(address)];
        (tag == address).then_some(block)
    }

    pub fn set(&mut self, address: u64, block: *const Block) {
        self.entries[Self::index(address)] = (address, block);
    }

    pub fn clear(&mut self) {
        *self = JumpCache::default();
    }

    #[inline(always)]
    fn index(address: u64) -> usize {
        (address ^ address >> 10) as usize % JUMP_ENTRIES
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
