//! The table of blocks, by number.
//!
//! It is persistent, since processes are forked, and a chunk of blocks is one piece of memory: what is asked for most are blocks that
//! nobody has looked at for long, and each step on the way to one is a wait for the host's memory.

use super::Block;
use rpds::VectorSync;

const CHUNK: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct Table {
    /// What is left of the last one is filled with copies of its first block.
    chunks: VectorSync<[Block; CHUNK]>,
    length: usize,
}

impl Table {
    pub fn new() -> Table {
        Table { chunks: VectorSync::new_sync(), length: 0 }
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn iter(&self) -> impl Iterator<Item = &Block> {
        self.chunks.iter().flatten().take(self.length)
    }

    pub fn get(&self, number: u32) -> Option<&Block> {
        let number = Some(number as usize).filter(|&number| number < self.length)?;
        self.chunks.get(number / CHUNK)?.get(number % CHUNK)
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut Block> {
        let number = Some(number as usize).filter(|&number| number < self.length)?;
        self.chunks.get_mut(number / CHUNK)?.get_mut(number % CHUNK)
    }

    pub fn push(&mut self, block: Block) {
        match self.chunks.get_mut(self.length / CHUNK) {
            Some(chunk) => chunk[self.length % CHUNK] = block,
            None => self.chunks.push_back_mut([block; CHUNK]),
        }
        self.length += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::blocks::{BlockKind, BlockState, NONE};
    use machine::Time;

    fn block(address: u64) -> Block {
        Block {
            address,
            size: 8,
            kind: BlockKind::Malloc,
            state: BlockState::Live,
            allocated: Time(0),
            freed: Time(0),
            span: (address, address + 48),
            next: NONE,
        }
    }

    #[test]
    fn a_table_has_what_was_pushed_and_a_clone_its_own() {
        let mut table = Table::new();
        for number in 0..100u32 {
            assert_eq!((table.len(), table.get(number)), (number as usize, None));
            table.push(block(number.into()));
            assert!(table.iter().map(|block| block.address).eq(0..=u64::from(number)));
        }
        let before = table.clone();
        table.get_mut(40).unwrap().address = 7;
        assert_eq!(table.get(40).map(|block| block.address), Some(7));
        assert_eq!(before.get(40).map(|block| block.address), Some(40));
        assert!(table.get_mut(100).is_none() && table.get(u32::MAX).is_none());
    }
}
