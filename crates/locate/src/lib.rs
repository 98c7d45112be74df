//! The room where causes are found: what failed, what could have gone another way, and what came of it when it did.
//!
//! A technique sees recordings, programs and formulas, and returns findings; it never prints. Here is predicate switching:
//! the conditions that a failing run decided are made to go the other way, and those are told with which the run does not fail.

pub mod criterion;
mod emission;
pub mod explain;
pub mod inducing;
pub mod instances;
pub mod minimize;
pub mod switching;

/// The static view of a process, for assertions and backtraces.
pub type View<'a> = &'a (dyn Fn(&linux::Process) -> program::Program + Sync);
