//! What a failure is, and how the end of one run compares with that of another.

use std::fmt;

use machine::{Fault, Time};
use program::Place;

use crate::case::{Bytes, Channel};
use crate::escaped::escaped;
use crate::numbers::grouped;

/// A run that went wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub kind: FailureKind,
    /// When it shows: the instruction that faulted, the system call that ended the process, the instant at which an
    /// assertion was false.
    pub time: Time,
    /// Of wrong output: the instruction that put the wrong byte into the stream. Data dependences tell it, so
    /// nobody knows it yet when a run has just ended.
    pub emission: Option<Time>,
    /// Of wrong output to a stream: the system call instruction that wrote the wrong byte, which may be long after.
    pub write: Option<Time>,
    /// What the program did that it was killed for, as the end of a sentence that begins with "it", where somebody has looked.
    pub doing: Option<Box<str>>,
    /// What to ask the past about.
    pub criterion: Vec<Criterion>,
    /// What should have been true, in words or in C.
    pub property: Option<String>,
    /// What was expected instead, where that is a text or a number.
    pub expected: Option<Bytes>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FailureKind {
    /// A signal killed the program: one that a fault raised, or one that it sent to itself.
    Crash {
        signal: i32,
        fault: Option<Fault>,
    },
    /// A crash because there was no room left on the stack: most likely functions called each other without end.
    StackOverflow {
        /// Of the stack, in bytes.
        size: u64,
        /// Of the instruction that faulted.
        address: u64,
    },
    /// The program noticed something wrong and gave up.
    Abort(Abort),
    /// The checked heap noticed something wrong at an instruction.
    GuestFault {
        what: String,
        address: u64,
    },
    WrongOutput(WrongOutput),
    /// As a shell tells it: 128 and the signal's number for a program that was killed.
    WrongExit {
        actual: i32,
        expected: i32,
    },
    /// It did not end, or waits in a system call for what cannot happen any more.
    Hang {
        call: Option<&'static str>,
        /// When the run was given up, if that was later than what is looked at of it.
        given_up: Option<Time>,
    },
    AssertViolated(Violation),
    /// The user's own oracle says so; with what it printed.
    OracleSaysSo {
        message: String,
    },
}

/// How a program gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abort {
    pub by: AbortKind,
    /// Without the position.
    pub message: Option<String>,
    /// As the message states it.
    pub position: Option<StatedPosition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortKind {
    /// `assert` of C.
    Assertion,
    /// An exception of C++ that nobody caught.
    Exception,
    /// A panic of Rust.
    Panic,
    /// A check of the C library: a smashed stack, a damaged heap, a buffer that is too small.
    LibraryCheck,
    /// Nothing says why.
    Unknown,
}

/// A source position that a program printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedPosition {
    pub file: String,
    pub line: u32,
    pub column: Option<u32>,
    pub function: Option<String>,
}

/// Where a text differs first from what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongOutput {
    pub channel: Channel,
    /// Of the first byte that differs, in what the program wrote; the end of that, if bytes are missing.
    pub offset: u64,
    pub difference: Difference,
    /// The line of the offset, from 1.
    pub line: u64,
    /// That line, without its end, cut if it is long.
    pub actual: Bytes,
    /// The line that was expected there, likewise.
    pub expected: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The program wrote less.
    Missing,
    /// It wrote more.
    Surplus,
    /// It wrote something else.
    Different,
}

/// An assertion that was false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// As the user calls it.
    pub file: String,
    pub line: u32,
    pub expression: String,
    /// What the expression read, and its values.
    pub values: Vec<(String, String)>,
}

/// Something whose history explains a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    pub subject: Subject,
    pub time: Time,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// What the faulting instruction at this address accessed, and by which address.
    Access { instruction: u64 },
    /// A byte that the program wrote.
    Output { channel: Channel, offset: u64 },
    /// The argument of the system call that ended the process.
    Status,
    /// What an assertion read.
    Value { place: Place, size: u64 },
    /// That execution came here at all.
    Reached,
}

/// What an oracle says about a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Passed,
    Failed(Failure),
    /// With the reason, as a clause.
    CannotTell(String),
}

/// How a run compares with the original one, which failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Pass,
    SameFailure,
    OtherFailure,
    /// It did not come to an end, or nobody can tell.
    CutShort,
}

impl Outcome {
    pub fn of(verdict: &Verdict, original: &Failure) -> Outcome {
        match verdict {
            Verdict::Passed => Outcome::Pass,
            Verdict::Failed(failure) if failure.is_like(original) => Outcome::SameFailure,
            Verdict::Failed(_) => Outcome::OtherFailure,
            Verdict::CannotTell(_) => Outcome::CutShort,
        }
    }
}

impl Failure {
    /// A failure with nothing known but its kind and time.
    pub fn new(kind: FailureKind, time: Time) -> Failure {
        let (emission, write, doing, property, expected) = Default::default();
        Failure { kind, time, emission, write, doing, criterion: Vec::new(), property, expected }
    }

    /// Whether another run failed in the same way at the same place. Times differ from run to run and do not count.
    pub fn is_like(&self, other: &Failure) -> bool {
        use FailureKind as Kind;
        let address = |fault: &Option<Fault>| fault.map(|fault| fault.rip);
        match (&self.kind, &other.kind) {
            (Kind::Crash { signal: a, fault: x }, Kind::Crash { signal: b, fault: y }) => {
                a == b && address(x) == address(y)
            }
            // Where a stack ends has nothing to do with where in the recursion the program is then.
            (Kind::StackOverflow { .. }, Kind::StackOverflow { .. }) => true,
            (Kind::Abort(a), Kind::Abort(b)) => match (&a.position, &b.position) {
                (Some(x), Some(y)) => a.by == b.by && x == y,
                _ => a == b,
            },
            (Kind::GuestFault { address: a, .. }, Kind::GuestFault { address: b, .. }) => a == b,
            (Kind::WrongOutput(a), Kind::WrongOutput(b)) => {
                let place = |wrong: &WrongOutput| (wrong.channel.clone(), wrong.offset, wrong.difference);
                place(a) == place(b)
            }
            (Kind::WrongExit { actual: a, .. }, Kind::WrongExit { actual: b, .. }) => a == b,
            (Kind::Hang { call: a, .. }, Kind::Hang { call: b, .. }) => a == b,
            (Kind::AssertViolated(a), Kind::AssertViolated(b)) => {
                (&a.file, a.line, &a.expression) == (&b.file, b.line, &b.expression)
            }
            (Kind::OracleSaysSo { .. }, Kind::OracleSaysSo { .. }) => true,
            _ => false,
        }
    }
}

impl FailureKind {
    /// The word for it in answers for programs.
    pub fn name(&self) -> &'static str {
        match self {
            FailureKind::Crash { .. } => "crash",
            FailureKind::StackOverflow { .. } => "stack-overflow",
            FailureKind::Abort(_) => "abort",
            FailureKind::GuestFault { .. } => "guest-fault",
            FailureKind::WrongOutput(_) => "wrong-output",
            FailureKind::WrongExit { .. } => "wrong-exit",
            FailureKind::Hang { .. } => "hang",
            FailureKind::AssertViolated(_) => "assert-violated",
            FailureKind::OracleSaysSo { .. } => "oracle",
        }
    }
}

impl fmt::Display for StatedPosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)?;
        match self.column {
            Some(column) => write!(formatter, ":{column}"),
            None => Ok(()),
        }
    }
}

/// What went wrong, as the end of a sentence that begins with the program's name.
impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FailureKind::Crash { signal, .. } => {
                write!(formatter, "was killed by {}", linux::signal::name(*signal))?;
                match &self.doing {
                    Some(doing) => write!(formatter, ": it {doing}"),
                    None => Ok(()),
                }
            }
            FailureKind::StackOverflow { size, .. } => {
                write!(formatter, "used up its stack of {} MiB", size >> 20)
            }
            FailureKind::Abort(abort) => abort.fmt(formatter),
            FailureKind::GuestFault { what, .. } => {
                formatter.write_str(self.doing.as_deref().unwrap_or(what))
            }
            FailureKind::WrongOutput(wrong) => wrong.fmt(formatter),
            FailureKind::WrongExit { actual, expected } => {
                write!(formatter, "exited with status {actual}, expected {expected}")
            }
            FailureKind::Hang { call: Some(call), .. } => write!(formatter, "waits for ever in {call}"),
            FailureKind::Hang { call: None, given_up } => {
                let instructions = given_up.unwrap_or(self.time);
                write!(formatter, "was still running after {} instructions", grouped(instructions.0))
            }
            FailureKind::AssertViolated(violation) => violation.fmt(formatter),
            FailureKind::OracleSaysSo { message } if message.is_empty() => {
                formatter.write_str("failed, as the oracle says")
            }
            FailureKind::OracleSaysSo { message } => {
                write!(formatter, "failed, as the oracle says: {message}")
            }
        }
    }
}

impl fmt::Display for Abort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.by {
            AbortKind::Assertion => "failed an assertion",
            AbortKind::Exception => "ended by an exception",
            AbortKind::Panic => "panicked",
            AbortKind::LibraryCheck => "was stopped by a check of the C library",
            AbortKind::Unknown => "aborted",
        })?;
        if let Some(position) = &self.position {
            write!(formatter, " at {position}")?;
        }
        match &self.message {
            Some(message) => write!(formatter, ": {message}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for WrongOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |bytes: &Bytes| format!("\"{}\"", escaped(bytes));
        let (actual, expected) = (quoted(&self.actual), quoted(&self.expected));
        let verb = match self.channel {
            Channel::Stdout => "printed".to_owned(),
            Channel::Stderr => "printed to standard error".to_owned(),
            Channel::File(_) => format!("wrote to {}", self.channel),
        };
        match self.difference {
            Difference::Missing if self.actual == self.expected => {
                write!(formatter, "{verb} {actual} without the end of line that was expected")
            }
            Difference::Surplus if self.actual == self.expected => {
                write!(formatter, "{verb} {actual} with an end of line that was not expected")
            }
            Difference::Surplus if self.expected.is_empty() => {
                write!(formatter, "{verb} {actual} after all that was expected")
            }
            Difference::Missing if self.actual.is_empty() => {
                write!(formatter, "{verb} no more where {expected} was expected")
            }
            _ => write!(formatter, "{verb} {actual}, expected {expected}"),
        }?;
        if self.line > 1 { write!(formatter, " (line {})", self.line) } else { Ok(()) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "came to {}:{} while {} was false", self.file, self.line, self.expression)?;
        for (index, (name, value)) in self.values.iter().enumerate() {
            write!(formatter, "{}{name} = {value}", if index == 0 { ": " } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(difference: Difference, actual: &str, expected: &str, text: &str) {
        let (actual, expected) = (Bytes::from(actual), Bytes::from(expected));
        let wrong =
            WrongOutput { channel: Channel::Stdout, offset: 0, difference, line: 1, actual, expected };
        assert_eq!(Failure::new(FailureKind::WrongOutput(wrong), Time(0)).to_string(), text);
    }

    #[test]
    fn wrong_output_is_told_in_one_line() {
        use Difference::{Different, Missing, Surplus};
        check(Different, "a\"b", "a", "printed \"a\\\"b\", expected \"a\"");
        check(Missing, "9.9", "9.92", "printed \"9.9\", expected \"9.92\"");
        check(Missing, "", "9.92", "printed no more where \"9.92\" was expected");
        check(Missing, "9", "9", "printed \"9\" without the end of line that was expected");
        check(Surplus, "9", "9", "printed \"9\" with an end of line that was not expected");
        check(Surplus, "3.1415", "3.14", "printed \"3.1415\", expected \"3.14\"");
        check(Surplus, "more", "", "printed \"more\" after all that was expected");
    }
}
