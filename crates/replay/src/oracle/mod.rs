//! Says whether a run failed, and how.
//!
//! [`judge`] looks at a process that has ended and runs nothing. What takes more runs comes before and after it:
//! [`expect_like_reference`] turns a reference into plain expectations, [`Assertions`] are watched while it runs, and
//! [`ask`] asks the commands of the user. [`examine`] does all of it.

mod assertion;
mod command;
mod compare;
mod judge;
mod leavings;
mod messages;
mod reference;

pub use assertion::{AssertionError, Assertions, Checked, Watched};
pub use command::{CommandError, ask};
pub use judge::{judge, lacks_output};
pub use leavings::{contents, digest, status};
pub use reference::{ReferenceError, expect_like_reference};

use linux::{LoadError, Process};
use machine::Unwatched;
use program::Program;

use crate::case::{Case, Expectation};
use crate::failure::{Failure, Verdict};

/// A case that has been run and judged.
pub struct Examined {
    /// The case with all that was found out about what is expected: its oracle needs no other program.
    pub case: Case,
    /// The process at its end, or where it was cut short.
    pub process: Process,
    pub verdict: Verdict,
    /// How often an assertion was evaluated.
    pub assertions_evaluated: u64,
}

/// Why a case could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum ExamineError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    #[error(transparent)]
    Assertion(#[from] AssertionError),
    #[error(transparent)]
    Command(#[from] CommandError),
}

/// Runs a case and all that its oracle needs. `start` is the process of the case before its first instruction, and `view` gives
/// the static view of a process, for assertions.
pub fn examine(
    case: &Case,
    mut start: Process,
    view: &dyn Fn(&Process) -> Program,
) -> Result<Examined, ExamineError> {
    let assertions = Assertions::of(case)?;
    let mut process = start.fork();
    process.run(case.end(), &mut Unwatched);
    let case = expect_like_reference(case, &process)?;
    let mut checked = Checked::default();
    if !assertions.is_empty() {
        let program = view(&process);
        let watched = assertions.watch(&program)?;
        checked = watched.check(&mut start, case.end())?;
        checked.unknown = watched.unreached(&checked.first).or(checked.unknown);
    }
    let verdict = match checked.violation {
        Some(failure) => Verdict::Failed(failure),
        None => match (judge(&case, &process), checked.unknown) {
            (Verdict::Passed, Some(reason)) => Verdict::CannotTell(reason),
            (Verdict::Passed, None) => ask(&case, &process)?,
            (verdict, _) => verdict,
        },
    };
    Ok(Examined { case, process, verdict, assertions_evaluated: checked.evaluated })
}

impl Verdict {
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Verdict::Failed(failure) => Some(failure),
            Verdict::Passed | Verdict::CannotTell(_) => None,
        }
    }
}

/// The status that is expected, if one is.
fn expected_status(case: &Case) -> Option<i32> {
    case.oracle.expectations.iter().find_map(|expectation| match expectation {
        Expectation::Exit(status) => Some(*status),
        _ => None,
    })
}
