//! The room of the judges: the processor under us decides whether the machine is true, and gdb whether what we say about a
//! stopped program is.

pub mod debugger;
pub mod fuzz;
pub mod lockstep;
mod maker;
