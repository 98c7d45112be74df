//! Lock-step: a real program runs in the machine and on the processor, one instruction at a time,
//! and the two are compared after each.
//!
//! Both sides start from the native child at its entry point: its registers and mappings are
//! copied into a machine. From there the machine leads. Whatever depends on the host (cpuid,
//! clocks, random numbers, system calls) is answered by the machine, and the answers are copied
//! into the child; everything else both execute.

mod adopt;
mod auxv;
mod compare;
mod instruction;
mod kernel;
mod maps;
mod native;
mod pin;
mod place;
mod ptrace;
mod report;
mod shadow;
mod signals;
mod state;
mod stepper;

use std::ffi::OsString;
use std::path::PathBuf;

pub use report::{Divergence, End, Failure, Report};
pub use state::Difference;

/// What to run.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program's path and its arguments.
    pub argv: Vec<OsString>,
    /// `NAME=value`
    pub env: Vec<OsString>,
    pub cwd: PathBuf,
    pub stdin: Vec<u8>,
}

/// Runs the command on both sides for at most `limit` instructions.
///
/// `Ok` means that the sides agreed for as long as the report says; see [`Report::end`] for why
/// it ended.
pub fn run(command: &Command, limit: u64) -> Result<Report, Failure> {
    // A thread of its own: tracing belongs to a thread, and so does being pinned to a processor.
    std::thread::scope(|scope| {
        scope
            .spawn(|| stepper::run(command, limit))
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
