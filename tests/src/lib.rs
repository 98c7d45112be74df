//! What the integration tests share: running a program natively and under `whydunit run` and telling the two apart,
//! compiling guest programs, deterministic inputs, snapshots of directory trees, and the ratchet.
//!
//! The tests know whydunit only as the command that users have; only the rows on instructions ask the fuzzer, which knows the machine.

pub mod command;
pub mod compile;
pub mod csmith;
pub mod inputs;
pub mod outcome;
pub mod place;
pub mod ratchet;
pub mod tree;
