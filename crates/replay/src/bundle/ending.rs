//! How a recorded run ended, for telling whether a replay of it is the same run.

use linux::{Exit, Process};
use serde::{Deserialize, Serialize};

/// The last instant of a run, in what runs can be compared by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Instructions that were executed.
    pub time: u64,
    /// A hash of the last state.
    pub state: u64,
    pub kind: EndKind,
}

/// Why a run was over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndKind {
    Exited(i32),
    Killed(i32),
    /// By an instruction that whydunit does not support.
    Unsupported(String),
    OutOfMemory,
    TooMuchOutput,
    /// In this system call.
    Deadlock(String),
    /// At the limit of instructions, or where nobody gave it more input.
    Stopped,
}

impl Ending {
    pub fn of(process: &Process, exit: &Exit) -> Ending {
        Ending { time: process.machine.time.0, state: process.state_hash(), kind: EndKind::of(exit) }
    }
}

impl EndKind {
    fn of(exit: &Exit) -> EndKind {
        match exit {
            Exit::Until | Exit::Input => EndKind::Stopped,
            Exit::Exited(status) => EndKind::Exited(*status),
            Exit::Killed { signal, .. } => EndKind::Killed(*signal),
            Exit::Unsupported(instruction) => EndKind::Unsupported(instruction.text.clone()),
            Exit::OutOfMemory { .. } => EndKind::OutOfMemory,
            Exit::TooMuchOutput { .. } => EndKind::TooMuchOutput,
            Exit::Deadlock { call } => EndKind::Deadlock((*call).to_owned()),
        }
    }
}
