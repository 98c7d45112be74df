//! The search: an input is reduced level by level, again and again, until nothing of it can be left out any more.

use std::sync::atomic::{AtomicU64, Ordering};

use replay::Case;
use replay::failure::Failure;

use crate::View;

use super::ddmin::ddmin;
use super::difference::{Difference, known_neighbour, narrow};
use super::input::{Input, PartName};
use super::judging::{Judge, MinimizeError};
use super::text::{Level, Text};
use super::trials::{Counts, Limits, Outcome, Trials};

/// What a search may take.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub threads: usize,
    /// How many runs it may make.
    pub budget: u64,
    /// Asked before each run, from all threads.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Told now and then how far it is.
    pub watch: &'a dyn Fn(Progress),
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub runs: u64,
    /// Of the smallest input that failed so far.
    pub size: u64,
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimized {
    /// The smallest input that was found.
    pub input: Input,
    /// What of it makes the difference to an input that passes, if one was met.
    pub difference: Option<Difference>,
    pub counts: Counts,
    /// Something was left untried.
    pub is_cut_short: bool,
}

/// A case whose failure can be had again with other inputs.
pub struct Minimizer<'a> {
    judge: Judge<'a>,
    input: Input,
}

/// What came of comparing with another input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    Different(Box<Difference>, Counts),
    /// With that input the program fails, too: in the same way, or in another one.
    Fails {
        is_same: bool,
    },
    /// Nobody can tell whether the program passes with that input.
    CannotTell,
    /// It is not known for which part the other input is meant.
    NoPart,
    /// Nothing could be tried.
    CutShort,
}

impl<'a> Minimizer<'a> {
    /// Runs the case twice: it has to fail, and it has to fail again.
    pub fn new(case: &Case, view: View<'a>) -> Result<Minimizer<'a>, MinimizeError> {
        let (judge, input) = Judge::new(case, view)?;
        if input.is_empty() {
            return Err(MinimizeError::NoInput);
        }
        if judge.outcome(&input) != Outcome::Fails {
            return Err(MinimizeError::NotTheSame);
        }
        Ok(Minimizer { judge, input })
    }

    /// The failure that is kept.
    pub fn failure(&self) -> &Failure {
        &self.judge.failure
    }

    /// The input as it was given.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Whether another case, with arguments, input and files of its own, fails in the same way.
    pub fn fails_with(&self, case: &Case) -> bool {
        self.judge.outcome_with(case) == Outcome::Fails
    }

    /// Reduces the input.
    pub fn minimize(&self, options: &Options<'_>) -> Minimized {
        self.search(options, |trials| {
            let input = reduce(trials, self.input.clone());
            let neighbour = known_neighbour(trials, &input);
            // Little is left to narrow, but what the smallest step was is not known if the search was cut short.
            let difference = neighbour.and_then(|(part, passing)| narrow(trials, &input, &part, passing));
            let (counts, is_cut_short) = (trials.counts(), trials.is_cut_short());
            Minimized { input, difference, counts, is_cut_short }
        })
    }

    /// The smallest difference between the input as it was given and another one, with which the program passes: standard input,
    /// or the only file where there is none.
    pub fn compare(&self, passing: &[u8], options: &Options<'_>) -> Compared {
        let Some(part) = self.input.main_part().map(|part| part.name.clone()) else {
            return Compared::NoPart;
        };
        self.search(options, |trials| {
            let text = Text::other(passing);
            let other = self.input.with(&part, text.clone());
            match trials.outcome(|| other.clone()) {
                Some(Outcome::Passes) => {}
                Some(Outcome::Fails) => return Compared::Fails { is_same: true },
                Some(Outcome::Unresolved) if self.judge.fails(&other) => {
                    return Compared::Fails { is_same: false };
                }
                Some(Outcome::Unresolved) => return Compared::CannotTell,
                None => return Compared::CutShort,
            }
            match narrow(trials, &self.input, &part, text) {
                Some(difference) => Compared::Different(Box::new(difference), trials.counts()),
                None => Compared::NoPart,
            }
        })
    }

    fn search<T>(&self, options: &Options<'_>, search: impl FnOnce(&mut Trials<'_, Input>) -> T) -> T {
        let smallest = AtomicU64::new(self.input.size());
        let test = |input: &Input| {
            let outcome = self.judge.outcome(input);
            if outcome == Outcome::Fails {
                smallest.fetch_min(input.size(), Ordering::Relaxed);
            }
            outcome
        };
        let watch = |counts: Counts| {
            let runs = counts.asked - counts.remembered;
            (options.watch)(Progress { runs, size: smallest.load(Ordering::Relaxed) });
        };
        let Options { threads, budget, stop, .. } = *options;
        search(&mut Trials::new(&test, Limits { threads, budget, stop, watch: &watch }))
    }
}

fn reduce(trials: &mut Trials<'_, Input>, mut input: Input) -> Input {
    loop {
        let before = input.clone();
        let kept = ddmin(trials, input.arguments(), &|kept| input.with_arguments(kept));
        input = input.with_arguments(&kept);
        for level in Level::ALL {
            for part in before.parts.iter().map(|part| &part.name) {
                input = reduce_part(trials, input, part, level);
            }
        }
        if input == before || trials.is_cut_short() {
            return input;
        }
    }
}

/// Leaves out what can be left out of one part.
fn reduce_part(trials: &mut Trials<'_, Input>, input: Input, name: &PartName, level: Level) -> Input {
    let Some(part) = input.part(name).filter(|part| part.names.is_none()) else { return input };
    if trials.is_cut_short() {
        return input;
    }
    let units = part.text.units(level);
    let kept = ddmin(trials, units.len(), &|kept| input.with(name, part.text.keep(&units, kept)));
    input.with(name, part.text.keep(&units, &kept))
}
