//! The control flow graph of one function.

/// A basic block of one function's graph, by its place in [`Cfg::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cfg {
    /// The function's first instruction.
    pub start: u64,
    pub entry: BlockId,
    /// Sorted by address, without overlaps.
    pub blocks: Vec<BasicBlock>,
}

/// Instructions that are always executed one after the other. A call does not end a block unless it never
/// returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicBlock {
    pub start: u64,
    /// After the last instruction.
    pub end: u64,
    /// Address of the last instruction.
    pub last: u64,
    pub terminator: Terminator,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// Falls through or jumps to the only block that can follow.
    Next(BlockId),
    Branch {
        taken: BlockId,
        not_taken: BlockId,
    },
    /// An indirect jump whose targets are known, by jump table or because they were seen; each once, in the
    /// order of the table.
    Switch {
        targets: Vec<BlockId>,
    },
    Return,
    /// A jump to another function.
    TailCall {
        target: Option<u64>,
    },
    /// A call that does not return, a trap, or the end of what can be decoded.
    Stop,
    /// An indirect jump whose targets are not known.
    Unknown,
}

impl Terminator {
    pub fn successors(&self) -> impl Iterator<Item = BlockId> + '_ {
        let (pair, list): ([Option<BlockId>; 2], &[BlockId]) = match self {
            Terminator::Next(next) => ([Some(*next), None], &[]),
            Terminator::Branch { taken, not_taken } => ([Some(*taken), Some(*not_taken)], &[]),
            Terminator::Switch { targets } => ([None, None], targets),
            Terminator::Return | Terminator::TailCall { .. } | Terminator::Stop | Terminator::Unknown => {
                ([None, None], &[])
            }
        };
        pair.into_iter().flatten().chain(list.iter().copied())
    }
}

impl Cfg {
    pub fn block(&self, id: BlockId) -> Option<&BasicBlock> {
        self.blocks.get(id.0 as usize)
    }

    /// The block that has the instruction at `address`.
    pub fn block_at(&self, address: u64) -> Option<BlockId> {
        let after = self.blocks.partition_point(|block| block.start <= address);
        let index = after.checked_sub(1)?;
        (address < self.blocks.get(index)?.end).then_some(BlockId(index as u32))
    }
}
