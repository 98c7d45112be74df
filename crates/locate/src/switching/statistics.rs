//! A search in numbers.

use serde::Serialize;

use super::trial::{Ending, Trial};
use super::verify::Effect;

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    pub candidates: u64,
    /// Of them, those that lie on a way from what makes the input fail.
    pub on_the_way: u64,
    pub tried: u64,
    /// Those that ended as the failing run, as what they did differently was never read.
    pub parked_for_good: u64,
    pub woken: u64,
    /// Given up because of what they wrote, or because they took too long.
    pub wrong_output: u64,
    pub cut_short: u64,
    pub instructions: u64,
    /// Decisions that were not looked at: there were too many.
    pub left_out: u64,
    /// Trials that passed, of conditions of which enough others had passed before; they were not run again. And such that the user's
    /// commands or assertions could not judge.
    pub unverified: u64,
    /// Trials after a crash that failed as well, of conditions of which enough others had been looked at: it is not known whether they avoided it.
    pub unclassified: u64,
    /// The first trial that saved the run.
    pub first: Option<u64>,
    /// Trials of other cases of switch statements, of all decisions of a condition at once, and of pairs of decisions.
    pub cases: u64,
    pub wholes: u64,
    pub pairs: u64,
}

impl Statistics {
    pub(super) fn count(&mut self, trial: &Trial) {
        self.instructions += trial.instructions;
        self.parked_for_good += u64::from(trial.ending == Ending::AsTheSpine);
        self.woken += u64::from(trial.wakes > 0);
        self.wrong_output += u64::from(matches!(trial.ending, Ending::Failed { wrote: true, .. }));
        self.cut_short += u64::from(trial.ending == Ending::CutShort);
    }

    /// A trial was worth something.
    pub(super) fn found(&mut self, effect: Effect, trial: u64) {
        if effect.saves() {
            self.first.get_or_insert(trial);
        }
    }
}
