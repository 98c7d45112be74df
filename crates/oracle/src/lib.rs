//! The room of the judges: the processor under us decides whether the machine is true.

pub mod fuzz;
pub mod lockstep;
