//! Names the block that an address belongs to, or lies beside.

use super::blocks::{Block, HEAP};
use super::{BlockState, CheckedHeap};

/// Where an address is, as seen from a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// So many bytes before its first one.
    Before(u64),
    /// So many bytes after its start, in it.
    Inside(u64),
    /// So many bytes after its end: 0 is the first one that is not in it.
    After(u64),
}

/// A block and where an address is, as seen from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearby {
    pub block: Block,
    pub relation: Relation,
}

impl Nearby {
    pub fn new(block: Block, address: u64) -> Nearby {
        let relation = match address.checked_sub(block.address) {
            None => Relation::Before(block.address - address),
            Some(offset) if offset < block.size => Relation::Inside(offset),
            Some(offset) => Relation::After(offset - block.size),
        };
        Nearby { block, relation }
    }

    pub fn is_freed(&self) -> bool {
        self.block.state == BlockState::Freed
    }
}

impl CheckedHeap {
    /// The block that an address belongs to, or in whose room it lies.
    pub fn nearby(&self, address: u64) -> Option<Nearby> {
        if !self.is_checked() || !HEAP.contains(&address) {
            return None;
        }
        let block = self.blocks.around(address).or_else(|| self.blocks.large_before(address))?;
        Some(Nearby::new(block, address))
    }
}
