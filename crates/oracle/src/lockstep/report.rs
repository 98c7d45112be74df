//! What a lock-step run found, as data and as text.

use std::fmt;
use std::io;

use super::state::Difference;

/// A run in which both sides agreed.
#[derive(Clone, Debug)]
pub struct Report {
    /// Instructions executed and compared on both sides.
    pub steps: u64,
    pub end: End,
    pub system_calls: u64,
    /// How often a page was compared with its native counterpart, beside the bytes that each
    /// instruction wrote.
    pub pages_compared: u64,
}

/// Why an agreeing run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// At the caller's limit.
    Limit,
    Exited(i32),
    /// By the machine's kernel, for example by a signal that the program sent itself.
    Stopped(String),
    /// Both sides faulted alike.
    Fault(String),
    /// The machine does not have this instruction. No disagreement, and no proof beyond this point.
    Unsupported(String),
}

/// Why a run is no proof of agreement.
#[derive(Debug)]
pub enum Failure {
    /// This host does not let us trace. Nothing was compared; callers say so loudly.
    NotPermitted(String),
    /// The run could not be set up or carried on, through no fault of the machine.
    Setup(String),
    Diverged(Box<Divergence>),
}

/// The first instruction after which the sides disagree.
#[derive(Clone, Debug)]
pub struct Divergence {
    pub step: u64,
    /// Address, bytes and text.
    pub instruction: String,
    /// Function and file.
    pub place: String,
    pub differences: Vec<Difference>,
    /// The instructions before it, oldest first, and itself.
    pub history: Vec<String>,
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
            Failure::Diverged(divergence) => divergence.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the machine and the processor disagree at step {}", self.step)?;
        writeln!(f, "  {}", self.instruction)?;
        writeln!(f, "  in {}", self.place)?;
        for difference in &self.differences {
            writeln!(f, "  {difference}")?;
        }
        writeln!(f, "last instructions:")?;
        for line in &self.history {
            writeln!(f, "  {line}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { steps, system_calls, pages_compared, end } = self;
        write!(
            f,
            "agreed for {steps} instructions, {system_calls} system calls, {pages_compared} page comparisons: "
        )?;
        match end {
            End::Limit => f.write_str("limit reached"),
            End::Exited(status) => write!(f, "exited with {status}"),
            End::Stopped(reason) => write!(f, "stopped: {reason}"),
            End::Fault(fault) => write!(f, "both faulted: {fault}"),
            End::Unsupported(what) => write!(f, "not supported by the machine: {what}"),
        }
    }
}
