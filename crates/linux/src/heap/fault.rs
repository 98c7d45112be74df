//! What a program did wrong with its heap, in words.

use machine::{Access, Cause, Fault, FaultKind};

use super::{Block, BlockKind, CheckedHeap, HEAP, Misuse, MisuseKind, Nearby, Relation};
use crate::kernel::Exit;
use crate::process::Process;

/// What was done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeapFault {
    /// Memory was accessed that is in no block.
    Access { access: Access, address: u64, nearby: Option<Nearby> },
    /// What is no block, or is none any more, was freed or resized.
    Misuse(Misuse),
}

impl Process {
    /// What the process has done wrong with its checked heap, if that has ended it.
    pub fn heap_fault(&self) -> Option<HeapFault> {
        match &self.kernel.ended {
            Some(Exit::Killed { fault: Some(fault), .. }) => self.kernel.checked_heap.fault(fault),
            _ => None,
        }
    }
}

impl CheckedHeap {
    /// What a fault is about, if it is about this heap.
    pub fn fault(&self, fault: &Fault) -> Option<HeapFault> {
        match fault.kind {
            FaultKind::Misuse => self.misuse().copied().map(HeapFault::Misuse),
            FaultKind::Memory(access)
                if access.cause == Cause::Forbidden
                    || self.is_checked()
                        && access.cause == Cause::Unmapped
                        && HEAP.contains(&access.address) =>
            {
                let nearby = self.nearby(access.address);
                Some(HeapFault::Access { access: access.access, address: access.address, nearby })
            }
            _ => None,
        }
    }
}

impl HeapFault {
    /// The block that it is about.
    pub fn block(&self) -> Option<Block> {
        match self {
            HeapFault::Access { nearby, .. } => nearby.map(|nearby| nearby.block),
            HeapFault::Misuse(misuse) => misuse.block,
        }
    }

    /// The fault as the end of a sentence that begins with "it". The places are where its block was allocated and freed, if
    /// that is known.
    pub fn tell(&self, allocated: Option<&str>, freed: Option<&str>) -> String {
        let of = |block: &Block, is_freed: bool| history(block, is_freed, allocated, freed);
        match self {
            HeapFault::Access { access, address, nearby } => {
                let did = match access {
                    Access::Read => "read memory",
                    Access::Write => "wrote to memory",
                    Access::Execute => "jumped to memory",
                };
                match nearby {
                    None => format!("{did} at {address:#x}, which is in no block of the heap"),
                    Some(nearby) => {
                        let after_free = if nearby.is_freed() { " after it was freed," } else { "" };
                        let block = of(&nearby.block, nearby.is_freed());
                        format!("{did}{after_free} {} {block}", place(nearby.relation))
                    }
                }
            }
            HeapFault::Misuse(Misuse { kind, pointer, resizes, block }) => {
                let did = if *resizes { "resized" } else { "freed" };
                match (kind, block) {
                    (MisuseKind::Freed, Some(block)) if *resizes => {
                        format!("resized a block after it was freed, {}", of(block, true))
                    }
                    (MisuseKind::Freed, Some(block)) => format!("freed a block twice, {}", of(block, true)),
                    (_, Some(block)) => {
                        let nearby = Nearby::new(*block, *pointer);
                        let block = of(block, nearby.is_freed());
                        format!("{did} {pointer:#x}, {} {block}", place(nearby.relation))
                    }
                    (_, None) => format!("{did} {pointer:#x}, which is no block of the heap"),
                }
            }
        }
    }
}

impl BlockKind {
    /// What allocates such a block.
    pub fn allocated_by(self) -> &'static str {
        match self {
            BlockKind::Malloc => "malloc",
            BlockKind::New => "new",
            BlockKind::NewArray => "new[]",
            BlockKind::Rust => "Rust's allocator",
        }
    }

    /// What frees such a block.
    pub fn freed_by(self) -> &'static str {
        match self {
            BlockKind::Malloc => "free",
            BlockKind::New => "delete",
            BlockKind::NewArray => "delete[]",
            BlockKind::Rust => "Rust's allocator",
        }
    }
}

fn place(relation: Relation) -> String {
    let (bytes, word) = match relation {
        Relation::Before(bytes) => (bytes, "before"),
        Relation::Inside(bytes) => (bytes, "into"),
        Relation::After(bytes) => (bytes, "after"),
    };
    format!("{bytes} {} {word}", if bytes == 1 { "byte" } else { "bytes" })
}

/// "a block of 40 allocated at list.c:31 and freed at list.c:44", as far as that is known.
fn history(block: &Block, is_freed: bool, allocated: Option<&str>, freed: Option<&str>) -> String {
    let allocated = allocated.map_or_else(String::new, |place| format!(" allocated at {place}"));
    let freed = match freed.filter(|_| is_freed) {
        Some(place) if allocated.is_empty() => format!(" freed at {place}"),
        Some(place) => format!(" and freed at {place}"),
        None => String::new(),
    };
    format!("a block of {}{allocated}{freed}", block.size)
}
