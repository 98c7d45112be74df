//! Control flow graphs, from machine code.
//!
//! A function's graph is found by recursive descent from its entry. What an instruction does to the flow is
//! read off its ops; nothing here knows x86. Everything below this module speaks addresses of the object; the
//! graph that leaves it speaks addresses of the guest.

mod analysis;
mod blocks;
mod declared;
mod descent;
mod extent;
mod flow;
mod frozen;
mod graph;
mod landing_pads;
mod memory;
mod mentions;
mod no_return;
mod sweep;
mod tables;
mod text;

pub use analysis::{
    Analysis, ControlDependence, Controller, Digraph, Dominators, Loop, Loops, PostDominators,
};
pub use frozen::{Frozen, Transfer};
pub use graph::{BasicBlock, BlockId, Cfg, Hole, HoleKind, JumpTable, TableBound, Terminator};

pub(crate) use declared::Declared;
pub(crate) use descent::Observed;
pub(crate) use extent::FoundStarts;
pub(crate) use mentions::Mentions;
pub(crate) use no_return::Returning;
pub(crate) use sweep::Sweep;

use crate::object_file::ObjectFile;

/// The graph of the function that an address of the object belongs to, in addresses of the object, with the
/// transfers that were observed.
pub(crate) fn build(object: &ObjectFile, address: u64, observed: &Observed) -> Option<Cfg> {
    let extent = extent::Extent::around(object, address)?;
    let (code, extent) = descent::descend(object, extent, observed);
    Some(blocks::assemble(&code, &extent))
}

/// Where the function that an address of the object belongs to begins.
pub(crate) fn function_start(object: &ObjectFile, address: u64) -> Option<u64> {
    extent::Extent::around(object, address).map(|extent| extent.start)
}

/// Whether an address that the graph of its function lacks turned out to be in another function, of which nothing
/// was known before. The graph is that of an object that is loaded at `bias`.
pub(crate) fn split(object: &ObjectFile, graph: &Cfg, address: u64, bias: u64) -> bool {
    extent::split(object, graph, address, bias)
}

/// The stub of the linker at an address of the object: where it begins, and the symbol whose address it jumps to.
pub(crate) fn stub(object: &ObjectFile, address: u64) -> Option<(u64, &str)> {
    let start = memory::stub(object, address)?.start;
    let slot = memory::stub_slot(object, start)?;
    Some((start, object.relocations().import(object, slot)?))
}

/// Whether the code at an address of the object is the linker's, not the program's.
pub(crate) fn is_stub(object: &ObjectFile, address: u64) -> bool {
    memory::is_stub(object, address)
}
