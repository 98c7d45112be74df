//! What the integration tests share: running a program natively and under `whydunit run` and telling the two apart,
//! compiling guest programs, deterministic inputs, snapshots of directory trees, and the ratchet.
//!
//! The tests know whydunit only as the command that users have. Only the rows on instructions ask the fuzzer, which knows the machine, and
//! only the watched transfers of control look into a run.

pub mod command;
pub mod compile;
pub mod csmith;
pub mod inputs;
pub mod outcome;
pub mod place;
pub mod ratchet;
pub mod transfers;
pub mod tree;
