//! The heap of a process: the one that brk moves the end of, and the checked one.
//!
//! With a checked heap, the functions by which a program allocates memory are served by the machine (`service`), wherever they are defined
//! (`objects`, `names`). Their blocks (`blocks`) lie apart from each other in memory that nobody may access (see
//! `machine::Memory::set_forbidden`), and come back into use long after they were freed; so what is done wrong with them is a fault at the
//! instruction that does it. The routines of the C library that read more than they need are checked as a whole (`contracts`).

mod blocks;
mod contracts;
mod fault;
mod leaks;
mod names;
mod nearby;
mod objects;
mod program_break;
mod service;

pub use blocks::{Block, BlockKind, BlockState, HEAP};
pub use contracts::has_contract;
pub use fault::HeapFault;
pub use leaks::Leak;
pub use nearby::{Nearby, Relation};
pub use program_break::Heap;
pub use service::{Misuse, MisuseKind, Refused, Served};

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use blocks::Blocks;
use machine::{AccessFault, Time};
use names::Role;

/// Who serves the program's allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HeapMode {
    /// The machine, which notices what is done wrong with memory.
    Checked,
    /// The program's own allocator.
    #[default]
    Program,
}

/// A block that was freed by a function that does not belong to the one that allocated it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mismatch {
    pub block: Block,
    /// Of the function that freed it.
    pub freed_as: BlockKind,
    pub time: Time,
}

/// Nobody reads more of them.
const MOST_MISMATCHES: usize = 100;

/// What there is to know of a checked heap. Cloned in constant time.
#[derive(Clone, Debug)]
pub struct CheckedHeap {
    pub mode: HeapMode,
    blocks: Blocks,
    /// What the functions are for at whose entries the machine stops.
    roles: Arc<BTreeMap<u64, Role>>,
    /// Where to ask for the place of errno.
    errno_location: Option<u64>,
    /// Where to go when memory cannot be had and an exception is due.
    throw: Option<u64>,
    /// Some object has symbols.
    knows_symbols: bool,
    /// The program has operators new or delete of its own.
    replaces_operators: bool,
    mismatches: Arc<Vec<Mismatch>>,
    /// A request that there was no memory for, though it was less than the limit.
    refused_size: Option<u64>,
    /// What was done wrong with a block, when that has ended the process.
    misuse: Option<Misuse>,
    /// When `exit` was last called.
    exit_called: Option<Time>,
    /// The access that a function could not make on the program's behalf, when that has ended the process.
    refused_write: Option<AccessFault>,
}

impl CheckedHeap {
    pub fn new(mode: HeapMode, limit: u64) -> CheckedHeap {
        CheckedHeap {
            mode,
            blocks: Blocks::new(limit),
            roles: Arc::default(),
            errno_location: None,
            throw: None,
            knows_symbols: false,
            replaces_operators: false,
            mismatches: Arc::default(),
            refused_size: None,
            misuse: None,
            exit_called: None,
            refused_write: None,
        }
    }

    pub fn is_checked(&self) -> bool {
        self.mode == HeapMode::Checked
    }

    /// Whether any function is known by which memory could be allocated. A stripped static program has none.
    pub fn serves_anything(&self) -> bool {
        self.roles.values().any(|role| matches!(role, Role::Serve(_)))
    }

    /// Whether any object has symbols by which functions are known.
    pub fn knows_symbols(&self) -> bool {
        self.knows_symbols
    }

    /// All blocks that are allocated, in the order of their addresses.
    pub fn live(&self) -> Vec<Block> {
        self.blocks.live()
    }

    pub fn mismatches(&self) -> &[Mismatch] {
        &self.mismatches
    }

    pub fn misuse(&self) -> Option<&Misuse> {
        self.misuse.as_ref()
    }

    /// When the program last called `exit`, or returned from main.
    pub fn exit_called(&self) -> Option<Time> {
        self.exit_called
    }

    /// The last request that there was no memory for because of the limit, once.
    pub fn take_refused_size(&mut self) -> Option<u64> {
        self.refused_size.take()
    }

    pub fn refused_write(&self) -> Option<AccessFault> {
        self.refused_write
    }

    fn add_mismatch(&mut self, mismatch: Mismatch) {
        let key = |mismatch: &Mismatch| (mismatch.block.kind, mismatch.freed_as);
        let same = self.mismatches.iter().filter(|known| key(known) == key(&mismatch)).count();
        if self.mismatches.len() < MOST_MISMATCHES && same < MOST_MISMATCHES / 4 {
            Arc::make_mut(&mut self.mismatches).push(mismatch);
        }
    }
}

impl Hash for CheckedHeap {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.mode.hash(hasher);
        self.blocks.hash(hasher);
    }
}
