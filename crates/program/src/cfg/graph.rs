//! The control flow graph of one function.

/// A basic block of one function's graph, by its place in [`Cfg::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cfg {
    /// The function's first instruction.
    pub start: u64,
    pub entry: BlockId,
    /// Sorted by address, without overlaps. An empty block (its start is its end) stands for the target of a
    /// conditional jump that leaves the function.
    pub blocks: Vec<BasicBlock>,
    /// Where exceptions are caught: blocks to which control comes from calls, by way of the unwinder. The graph
    /// has no edges for that.
    pub landing_pads: Vec<BlockId>,
    /// What is known about the jump tables, sorted by the address of the jump.
    pub tables: Vec<JumpTable>,
    /// What could not be resolved, sorted by address.
    pub holes: Vec<Hole>,
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

/// A jump through a table, as the machine code of a switch statement has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JumpTable {
    /// The block that ends in the jump.
    pub block: BlockId,
    /// Address of the jump.
    pub jump: u64,
    /// Which value of the expression that is switched on goes where, in the order of the table. An entry
    /// that goes where the default goes is a gap in the table.
    pub cases: Vec<(i64, BlockId)>,
    /// Where values outside of the table go; `None` when nothing checks.
    pub default: Option<BlockId>,
    pub bound: TableBound,
}

/// How the size of a jump table is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableBound {
    /// The code checks the index.
    #[default]
    Checked,
    /// By the table itself: so many entries lead into the function before the next thing in memory that
    /// something refers to.
    Extent,
}

/// A place where the graph may have fewer edges than the function has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hole {
    /// Address of the instruction.
    pub address: u64,
    pub kind: HoleKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HoleKind {
    /// An indirect jump whose targets are not known, or only as far as they were seen.
    IndirectJump,
    /// What comes here is no instruction, or lies across others.
    Undecodable,
    /// The function is larger than what is looked at.
    TooLarge,
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
    /// A graph of these blocks, with nothing known about tables and no holes.
    pub fn new(start: u64, entry: BlockId, blocks: Vec<BasicBlock>) -> Cfg {
        Cfg { start, entry, blocks, landing_pads: Vec::new(), tables: Vec::new(), holes: Vec::new() }
    }

    pub fn block(&self, id: BlockId) -> Option<&BasicBlock> {
        self.blocks.get(id.0 as usize)
    }

    /// The block that has the instruction at `address`.
    pub fn block_at(&self, address: u64) -> Option<BlockId> {
        let after = self.blocks.partition_point(|block| block.start <= address);
        // An empty block can lie inside of an instruction, where the code jumps into the middle of one.
        let before = self.blocks.get(..after)?.iter().enumerate().rev().take(1 + lift::MAX_INSTRUCTION);
        let found = before.into_iter().find(|(_, block)| address < block.end);
        found.map(|(index, _)| BlockId(index as u32))
    }

    /// Nothing is missing in this graph as far as the code tells.
    pub fn is_complete(&self) -> bool {
        self.holes.is_empty()
    }

    /// The jump table that the block jumps through.
    pub fn table_of(&self, block: BlockId) -> Option<&JumpTable> {
        self.tables.iter().find(|table| table.block == block)
    }

    /// The same graph for an object that is loaded at `bias`.
    pub(crate) fn moved(mut self, bias: u64) -> Cfg {
        let shift = |address: &mut u64| *address = address.wrapping_add(bias);
        shift(&mut self.start);
        for block in &mut self.blocks {
            shift(&mut block.start);
            shift(&mut block.end);
            shift(&mut block.last);
            if let Terminator::TailCall { target: Some(target) } = &mut block.terminator {
                shift(target);
            }
        }
        self.tables.iter_mut().for_each(|table| shift(&mut table.jump));
        self.holes.iter_mut().for_each(|hole| shift(&mut hole.address));
        self
    }
}
