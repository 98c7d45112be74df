//! What is expected of a run.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Bytes;

/// Says whether a run fails. Without an expectation it fails by a crash, a failed assertion or a deadlock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Oracle {
    pub expectations: Vec<Expectation>,
    pub comparison: Comparison,
}

impl Oracle {
    /// From how many instructions on the run counts as a hang.
    pub fn hang_after(&self) -> Option<u64> {
        self.expectations.iter().filter_map(Expectation::hang_after).min()
    }
}

/// One thing that is expected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Expectation {
    /// A text at a place, byte by byte.
    Exactly { channel: Channel, text: Bytes },
    /// A text at a place, with or without an end of line after it.
    Text { channel: Channel, text: Bytes },
    /// The exit status; 128 and the signal's number for a program that a signal kills.
    Exit(i32),
    /// The program ends before it has executed so many instructions.
    EndsWithin(u64),
    /// `FILE:LINE: EXPRESSION`: the expression is true whenever the line is reached.
    Holds(String),
    /// The run ends as that of this executable does, which is given the same arguments, input and files.
    LikeReference(Bytes),
    /// A command of the host's shell that looks at what the run leaves behind.
    Command(Bytes),
}

impl Expectation {
    fn hang_after(&self) -> Option<u64> {
        match self {
            Expectation::EndsWithin(instructions) => Some(*instructions),
            _ => None,
        }
    }
}

/// Where a program leaves text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Channel {
    Stdout,
    Stderr,
    /// A file's path; a relative one is relative to the working directory of the case.
    File(Bytes),
}

impl fmt::Display for Channel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Channel::Stdout => formatter.write_str("standard output"),
            Channel::Stderr => formatter.write_str("standard error"),
            Channel::File(path) => path.fmt(formatter),
        }
    }
}

/// What counts as equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// White space counts as one space, and not at all at the end of a line or of the text.
    pub ignore_space: bool,
    /// Numbers may differ by so much, in itself or in proportion to the larger of the two.
    pub float_tolerance: Option<f64>,
}
