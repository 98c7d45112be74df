//! Candidates and what comes of them: tested in parallel, remembered, and counted.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

/// Candidates that are looked at together. It does not depend on the number of threads, so that nothing else does.
const ROUND: usize = 8;

/// A hash of what a candidate is in the end: equal ones are tested once, however they came about.
pub type Key = [u8; 32];

/// Something that can be tested.
pub trait Candidate: Sync {
    fn key(&self) -> Key;
}

/// What came of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As the original does: the same failure.
    Fails,
    Passes,
    /// It fails in another way, or nobody can tell.
    Unresolved,
}

/// What tests may take.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    pub threads: usize,
    /// How many tests may be made.
    pub budget: u64,
    /// Asked before each test, from all threads.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Told now and then how far it is.
    pub watch: &'a dyn Fn(Counts),
}

/// What was tested. It is the same for all numbers of threads: what was tested ahead counts when its turn comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub asked: u64,
    /// Those of them whose outcome was known from before.
    pub remembered: u64,
}

/// The first candidate of a list that came out as wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum First {
    At(usize),
    /// None did; these are the outcomes of all.
    Nowhere(Vec<Outcome>),
    /// The budget or the user ended the search.
    CutShort,
}

struct Known {
    outcome: Outcome,
    is_counted: bool,
}

/// The tests of a search, with the memory of them.
pub struct Trials<'a, C> {
    test: &'a (dyn Fn(&C) -> Outcome + Sync),
    limits: Limits<'a>,
    known: FxHashMap<Key, Known>,
    counts: Counts,
    is_cut_short: bool,
}

impl<'a, C: Candidate> Trials<'a, C> {
    pub fn new(test: &'a (dyn Fn(&C) -> Outcome + Sync), limits: Limits<'a>) -> Trials<'a, C> {
        Trials { test, limits, known: FxHashMap::default(), counts: Counts::default(), is_cut_short: false }
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Whether something was left untested.
    pub fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }

    /// What is known of a candidate, without a test.
    pub fn recall(&self, candidate: &C) -> Option<Outcome> {
        self.known.get(&candidate.key()).map(|known| known.outcome)
    }

    /// The outcome of one candidate; `None` when nothing may be tested any more.
    pub fn outcome(&mut self, candidate: impl Fn() -> C) -> Option<Outcome> {
        match self.first(1, &|_| candidate(), Outcome::Fails) {
            First::At(_) => Some(Outcome::Fails),
            First::Nowhere(outcomes) => outcomes.first().copied(),
            First::CutShort => None,
        }
    }

    /// The first of `number` candidates whose outcome is the wanted one. Those behind it may have been tested, too, but nothing
    /// depends on that.
    pub fn first(&mut self, number: usize, candidate: &dyn Fn(usize) -> C, wanted: Outcome) -> First {
        let mut outcomes = Vec::new();
        for begin in (0..number).step_by(ROUND) {
            let round: Vec<C> = (begin..number).take(ROUND).map(candidate).collect();
            let keys: Vec<Key> = round.iter().map(Candidate::key).collect();
            self.test_round(&round, &keys, wanted);
            for (place, key) in (begin..).zip(&keys) {
                match self.count(key) {
                    None => {
                        self.is_cut_short = true;
                        return First::CutShort;
                    }
                    Some(outcome) if outcome == wanted => {
                        (self.limits.watch)(self.counts);
                        return First::At(place);
                    }
                    Some(outcome) => outcomes.push(outcome),
                }
            }
            (self.limits.watch)(self.counts);
        }
        First::Nowhere(outcomes)
    }

    /// The outcome of a candidate whose turn it is.
    fn count(&mut self, key: &Key) -> Option<Outcome> {
        let tested = self.tested();
        let known = self.known.get_mut(key)?;
        if !known.is_counted && tested >= self.limits.budget {
            return None;
        }
        self.counts.asked += 1;
        self.counts.remembered += u64::from(known.is_counted);
        known.is_counted = true;
        Some(known.outcome)
    }

    fn tested(&self) -> u64 {
        self.counts.asked - self.counts.remembered
    }

    /// Tests what is not known of a round. What comes behind one that is as wanted may be left out.
    fn test_round(&mut self, round: &[C], keys: &[Key], wanted: Outcome) {
        let mut jobs: Vec<usize> = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            match self.known.get(key) {
                Some(known) if known.outcome == wanted => break,
                Some(_) => {}
                None if jobs.iter().any(|job| keys.get(*job) == Some(key)) => {}
                None => jobs.push(place),
            }
        }
        let left = self.limits.budget.saturating_sub(self.tested());
        jobs.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        let next = AtomicUsize::new(0);
        let winner = AtomicUsize::new(usize::MAX);
        let found = Mutex::new(BTreeMap::new());
        let work = || {
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Some(candidate) = round.get(*job) else { return };
                if *job > winner.load(Ordering::Relaxed) || (self.limits.stop)() {
                    return;
                }
                let outcome = (self.test)(candidate);
                if outcome == wanted {
                    winner.fetch_min(*job, Ordering::Relaxed);
                }
                found.lock().unwrap_or_else(PoisonError::into_inner).insert(*job, outcome);
            }
        };
        let threads = self.limits.threads.min(jobs.len());
        if threads <= 1 {
            work();
        } else {
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(work);
                }
            });
        }
        for (job, outcome) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
            if let Some(key) = keys.get(job) {
                self.known.insert(*key, Known { outcome, is_counted: false });
            }
        }
    }
}
