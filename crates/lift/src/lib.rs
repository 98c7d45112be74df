//! The room where bytes become ops: decodes a guest instruction and states its meaning in a
//! small RISC-like language. It is the only description of x86 in the house; executor,
//! dependence tracker and formulas all read it.

mod describe;
mod effects;
pub mod flags;
mod lift;
mod op;
mod print;
mod reg;
mod slots;
mod sources;
pub mod vector;
pub mod x87;

pub use describe::{Description, describe};
pub use effects::{ENVIRONMENT_BYTES, Effects, FNSAVE_BYTES, FXSAVE_BYTES, FXSAVE_WRITTEN};
pub use iced_x86::Instruction;
pub use lift::{Decoded, decode, decode_all, goes_on, lift, only_computes};
pub use op::*;
pub use reg::{Reg, SLOTS};
pub use sources::{Bytes, Sources, WHOLE, low};
pub use vector::VectorOp;
pub use x87::X87Op;

/// Longest x86 instruction, in bytes.
pub const MAX_INSTRUCTION: usize = 15;
