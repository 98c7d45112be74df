//! How trials are judged, and who may end a search.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use linux::Process;
use machine::Time;
use program::{Program, Stmt};
use replay::failure::{FailureKind, Verdict};
use replay::oracle::{Assertions, Watched, ask, judge};
use replay::{Case, Expectation, Gauge};

use super::verify::Effect;
use crate::View;

/// What a run has to come to.
pub struct Judge<'a> {
    pub case: &'a Case,
    pub assertions: &'a Assertions,
    pub view: View<'a>,
}

impl<'a> Judge<'a> {
    /// A view of a process, if there is something to be watched in it. Each thread needs its own.
    pub fn program(&self, process: &Process) -> Option<Program> {
        (!self.assertions.is_empty()).then(|| (self.view)(process))
    }

    pub fn watch<'w>(&'w self, program: Option<&'w Program>) -> Option<Watched<'w>> {
        program.and_then(|program| self.assertions.watch(program).ok())
    }

    /// Whether commands of the user have a say.
    pub fn has_commands(&self) -> bool {
        let expectations = &self.case.oracle.expectations;
        expectations.iter().any(|expectation| matches!(expectation, Expectation::Command(_)))
    }

    /// The verdict about the end of a run in which no assertion was false; with all that it takes.
    pub fn verdict(&self, process: &Process) -> Verdict {
        match judge(self.case, process) {
            Verdict::Passed if self.has_commands() => {
                ask(self.case, process).unwrap_or_else(|error| Verdict::CannotTell(error.to_string()))
            }
            verdict => verdict,
        }
    }

    /// Runs a process to its end, and judges it.
    pub fn run(&self, process: &mut Process, program: &Program, deadline: Time) -> Verdict {
        let Ok(watched) = self.assertions.watch(program) else {
            return Verdict::CannotTell("the assertions make no sense".to_owned());
        };
        match watched.check(process, deadline) {
            Ok(checked) => match checked.violation {
                Some(failure) => Verdict::Failed(failure),
                None => self.verdict(process),
            },
            Err(error) => Verdict::CannotTell(error.to_string()),
        }
    }
}

/// When the failing run is over as far as trials go: nothing that it does after an assertion was false counts.
pub fn end_of(kind: &FailureKind, time: Time) -> Option<Time> {
    matches!(kind, FailureKind::AssertViolated(_)).then_some(time)
}

/// How far a search is, for who waits; and whether it is to go on.
pub struct Meter {
    pub candidates: AtomicU64,
    pub tried: AtomicU64,
    pub found: AtomicU64,
    /// How far the pass along the run is: most of its trials are over only when it is.
    pub pass: Gauge,
    /// The condition that was found first of those that repair the run.
    pub best: Mutex<Option<Stmt>>,
    is_over: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Meter {
    /// `is_over` is asked again and again, by several threads.
    pub fn new(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Meter {
        Meter {
            candidates: AtomicU64::new(0),
            tried: AtomicU64::new(0),
            found: AtomicU64::new(0),
            pass: Gauge::default(),
            best: Mutex::new(None),
            is_over: Box::new(is_over),
        }
    }

    pub fn is_over(&self) -> bool {
        (self.is_over)()
    }

    pub(super) fn tried_one(&self) {
        self.tried.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn expects(&self, trials: usize) {
        self.candidates.fetch_add(trials as u64, Ordering::Relaxed);
    }

    pub(super) fn found_one(&self, stmt: Option<&Stmt>, effect: Effect) {
        self.found.fetch_add(u64::from(effect.saves()), Ordering::Relaxed);
        if let (Ok(mut best), Effect::Repairs) = (self.best.lock(), effect) {
            *best = best.take().or_else(|| stmt.cloned());
        }
    }
}

/// A search that nobody ends early.
impl Default for Meter {
    fn default() -> Meter {
        Meter::new(|| false)
    }
}
