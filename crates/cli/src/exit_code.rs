//! What whydunit's exit statuses mean. `run` passes on the guest's own; its own errors are those of env(1).

/// All went well.
pub const SUCCESS: u8 = 0;
/// A question has no answer: no such symbol, no such program.
pub const NO_ANSWER: u8 = 1;
/// The command line makes no sense; under `run` that is [`FAILED`].
pub const USAGE: u8 = 2;
/// The question is about a failure, and the program did not fail.
pub const NO_FAILURE: u8 = 3;
/// `run` could not run the program, or not to its end: a limit, something unsupported, a bug in whydunit.
pub const FAILED: u8 = 125;
/// `run` found the program but it cannot be executed.
pub const NOT_EXECUTABLE: u8 = 126;
/// `run` did not find the program.
pub const NOT_FOUND: u8 = 127;
/// Somebody closed the pipe that we write to, of which a native program dies.
pub const BROKEN_PIPE: u8 = 128 + 13;

/// As a shell reports it.
pub fn killed_by(signal: i32) -> u8 {
    128u8.wrapping_add(signal as u8)
}

pub const HELP: &str = "\
Exit status:
  the program's own, or 128+N when signal N killed it; else
  125  whydunit failed: bad usage, a limit was reached, something is not supported
  126  the program was found but cannot be executed
  127  the program was not found";

pub const QUESTION_HELP: &str = "\
Exit status:
  0  there is an answer
  1  there is none: the line was never executed, the variable was optimised out
  2  the question makes no sense, or the program cannot be run
  3  the question is about a crash, and there was none";

pub const EXPLAIN_HELP: &str = "\
Exit status:
  0  a cause was found
  1  none was
  2  the command line makes no sense, or the program cannot be run
  3  the program did not fail";

pub const MINIMIZE_HELP: &str = "\
Exit status:
  0  a smaller input was found and written
  1  nothing could be left out
  2  the question makes no sense, or nothing can judge other inputs
  3  the program did not fail";

/// An error message and the status to exit with.
#[derive(Debug)]
pub struct Failure {
    pub status: u8,
    pub error: anyhow::Error,
}

impl Failure {
    pub fn new(status: u8, error: impl Into<anyhow::Error>) -> Failure {
        Failure { status, error: error.into() }
    }
}
