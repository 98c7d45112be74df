//! Lock-step: a real program runs in the machine and on the processor, one instruction at a time,
//! and the two are compared after each.
//!
//! Both sides start from the native child at its entry point. From there the machine leads:
//! whatever depends on the host (cpuid, clocks, random numbers, system calls) is answered by the
//! machine, and the answers are copied into the child.

mod auxv;
mod instruction;
mod maps;
mod native;
mod ptrace;
mod state;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

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

/// Why a run is no proof of agreement.
#[derive(Debug)]
pub enum Failure {
    /// This host does not let us trace. Nothing was compared; callers say so loudly.
    NotPermitted(String),
    /// The run could not be set up or carried on, through no fault of the machine.
    Setup(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Setup(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NotPermitted(reason) => write!(f, "tracing is not permitted here ({reason})"),
            Failure::Setup(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Failure {}
