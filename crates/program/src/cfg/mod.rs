//! Control flow graphs, from machine code.

mod graph;

pub use graph::{BasicBlock, BlockId, Cfg, Terminator};
