//! Whether a reduced input makes the program fail as it did.

use linux::Process;
use program::{Scope, State};
use replay::failure::{Failure, FailureKind, Verdict, WrongOutput};
use replay::oracle::{ExamineError, Examined, examine};
use replay::{Case, Expectation};

use crate::View;

use super::input::Input;
use super::trials::Outcome;

/// A run with a reduced input may take so many times the instructions of the original one, and so many more.
const PATIENCE: u64 = 4;
const GRACE: u64 = 1_000_000;
/// How far up the stack the program's own code is looked for, when a library's code failed.
const MOST_FRAMES: usize = 64;

/// Why an input cannot be reduced.
#[derive(Debug, thiserror::Error)]
pub enum MinimizeError {
    #[error(
        "what is expected is that of this input alone (the program {failure}), and another input has another; minimizing needs \
         an oracle that can judge any input: a crash, a failed assertion, a memory error, --hang-after, --assert, --oracle or --reference"
    )]
    NeedsOracle { failure: String },
    #[error("the program did not fail, so there is nothing to minimize")]
    DidNotFail,
    #[error("nobody can tell whether the program failed: {0}")]
    CannotTell(String),
    #[error(
        "the program has no input that could be reduced: no arguments, no standard input, no file that an argument names"
    )]
    NoInput,
    #[error(
        "the failure is not the same when the program is run again with the same input, so it cannot be minimized"
    )]
    NotTheSame,
    #[error(transparent)]
    Examine(#[from] ExamineError),
}

/// Knows the original failure.
pub(super) struct Judge<'a> {
    /// With an oracle that can judge any input, and a limit.
    case: Case,
    view: View<'a>,
    scope: Scope,
    pub failure: Failure,
    place: Option<u64>,
}

impl<'a> Judge<'a> {
    /// Runs the case; the second answer is its input.
    pub fn new(case: &Case, view: View<'a>) -> Result<(Judge<'a>, Input), MinimizeError> {
        let mut judged = case.clone();
        judged.oracle.expectations.retain(can_judge_any_input);
        let mut start = judged.load().map_err(ExamineError::from)?;
        let examined = examine(&judged, start.fork(), view)?;
        let failure = match examined.verdict {
            Verdict::Failed(ref failure) => failure.clone(),
            Verdict::Passed | Verdict::CannotTell(_) => return Err(why_not(case, &examined, view)),
        };
        let scope = Scope::default();
        let place = place(&failure, &examined.process, view, &scope);
        let longest = examined.process.machine.time.0.saturating_mul(PATIENCE).saturating_add(GRACE);
        judged.limits.instructions = judged.limits.instructions.min(longest);
        let input = Input::of(case, &start);
        Ok((Judge { case: judged, view, scope, failure, place }, input))
    }

    pub fn outcome(&self, input: &Input) -> Outcome {
        self.outcome_of(&input.apply(&self.case))
    }

    /// Whether a run with an input fails, in whatever way.
    pub fn fails(&self, input: &Input) -> bool {
        let case = input.apply(&self.case);
        let examined = case.load().ok().and_then(|start| examine(&case, start, self.view).ok());
        examined.is_some_and(|examined| matches!(examined.verdict, Verdict::Failed(_)))
    }

    /// Of a run with the arguments, the input and the files of another case.
    pub fn outcome_with(&self, case: &Case) -> Outcome {
        let Case { argv, stdin, files, replaced, .. } = case.clone();
        self.outcome_of(&Case { argv, stdin, files, replaced, ..self.case.clone() })
    }

    fn outcome_of(&self, case: &Case) -> Outcome {
        let Ok(start) = case.load() else { return Outcome::Unresolved };
        match examine(case, start, self.view) {
            Ok(Examined { verdict: Verdict::Passed, .. }) => Outcome::Passes,
            Ok(Examined { verdict: Verdict::Failed(failure), process, .. }) => {
                let is_same = is_like(&failure, &self.failure)
                    && place(&failure, &process, self.view, &self.scope) == self.place;
                if is_same { Outcome::Fails } else { Outcome::Unresolved }
            }
            Ok(Examined { verdict: Verdict::CannotTell(_), .. }) | Err(_) => Outcome::Unresolved,
        }
    }
}

/// Whether an expectation says something about runs with other inputs, too.
fn can_judge_any_input(expectation: &Expectation) -> bool {
    match expectation {
        Expectation::EndsWithin(_)
        | Expectation::Holds(_)
        | Expectation::LikeReference(_)
        | Expectation::Command(_) => true,
        Expectation::Exactly { .. } | Expectation::Text { .. } | Expectation::Exit(_) => false,
    }
}

/// Why there is no failure that any input could be judged by.
fn why_not(case: &Case, examined: &Examined, view: View<'_>) -> MinimizeError {
    let whole = case.load().map_err(ExamineError::from).and_then(|start| examine(case, start, view));
    match (whole.map(|whole| whole.verdict), &examined.verdict) {
        (Ok(Verdict::Failed(failure)), _) => MinimizeError::NeedsOracle { failure: failure.to_string() },
        (_, Verdict::CannotTell(reason)) => MinimizeError::CannotTell(reason.clone()),
        _ => MinimizeError::DidNotFail,
    }
}

/// Whether a run with another input failed in the same way. What a program should have written depends on its input, and so
/// does where it is wrong first; the stream counts, and how it is wrong.
fn is_like(failure: &Failure, original: &Failure) -> bool {
    match (&failure.kind, &original.kind) {
        (FailureKind::WrongOutput(now), FailureKind::WrongOutput(before)) => {
            let place = |wrong: &WrongOutput| (wrong.channel.clone(), wrong.difference);
            place(now) == place(before)
        }
        _ => failure.is_like(original),
    }
}

/// Where in the program's own code a crash happened: the instruction, or the one that called the library that it happened in.
fn place(failure: &Failure, process: &Process, view: View<'_>, scope: &Scope) -> Option<u64> {
    let is_crash = matches!(
        failure.kind,
        FailureKind::Crash { .. } | FailureKind::Abort(_) | FailureKind::GuestFault { .. }
    );
    if !is_crash {
        return None;
    }
    let program = view(process);
    let is_code = |address: u64| {
        let region = process.machine.memory.region_at(address);
        region.is_some_and(|region| region.permissions.execute)
    };
    let stack = program.stack_of(&State::of(&process.machine), MOST_FRAMES);
    let own = stack
        .frames
        .iter()
        .find(|frame| is_code(frame.lookup) && !scope.trusts_object_at(&program, frame.lookup));
    own.map(|frame| frame.address)
}
