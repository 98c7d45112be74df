//! The symbolic part of a state: the terms of registers and bytes of memory that depend on something unknown. All else is concrete, is not here, and is
//! read from the machine.

mod memory;
mod registers;

pub use memory::Memory;
pub use registers::{Record, Registers};
