//! The room where bytes become ops: decodes a guest instruction and states its meaning in a
//! small RISC-like language. It is the only description of x86 in the house; executor,
//! dependence tracker and formulas all read it.

pub mod flags;
mod op;
mod reg;
pub mod vector;

pub use op::*;
pub use reg::{Reg, SLOTS};
pub use vector::VectorOp;
