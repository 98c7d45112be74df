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
