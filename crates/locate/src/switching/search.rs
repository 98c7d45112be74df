//! The search: which trials are made, in which order, and what they come to.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

use linux::Process;
use machine::Time;
use program::Scope;
use replay::failure::{Failure, FailureKind};
use replay::{Case, Code, Flow, Follow, Question, Recording};

use super::order::{Distances, Order};
use super::plan::Switch;
use super::sweep::{Job, Rules, sweep};
use super::trial::{Ending, Trial};
use super::verify::{Critical, Verifier};
use crate::instances::Instances;

/// Trials of the first pass along the run; each pass has twice as many as the one before.
const FIRST_BATCH: usize = 64;
const LARGEST_BATCH: usize = 1 << 14;
/// What a trial may take beyond what the failing run took.
const GRACE: u64 = 1 << 20;

/// How the search is made.
#[derive(Clone, Debug)]
pub struct Options {
    pub order: Order,
    /// Instructions that all trials together may take.
    pub budget: u64,
    /// Trials wait where their way meets the spine's; the outcome is the same.
    pub parks: bool,
    pub threads: usize,
}

/// How far a search is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub tried: usize,
    pub candidates: usize,
    pub found: usize,
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub candidates: u64,
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
    /// Trials that passed, of conditions of which enough others had passed before; they were not run again.
    pub unverified: u64,
    /// The first trial that saved the run.
    pub first: Option<u64>,
}

/// What a search came to.
pub struct Found {
    pub instances: Instances,
    /// In the order in which they were found.
    pub critical: Vec<Critical>,
    /// What came of each trial, with the place of its decision in the list, in the order in which they were made.
    pub trials: Vec<(usize, Trial)>,
    pub statistics: Statistics,
    /// The budget ended it, or whoever waits.
    pub is_cut_short: bool,
    /// When what is wrong was made.
    pub emission: Time,
}

impl Found {
    /// Whether each trial passed, failed, or was cut short, by the place of its decision in the list.
    pub fn endings(&self) -> BTreeMap<usize, Option<bool>> {
        let ending = |trial: &Trial| match trial.ending {
            Ending::Passed => Some(true),
            Ending::AsTheSpine | Ending::Failed { .. } => Some(false),
            Ending::CutShort => None,
        };
        self.trials.iter().map(|(place, trial)| (*place, ending(trial))).collect()
    }
}

/// A failing run whose conditions are switched.
pub struct Search<'a, 'p> {
    pub recording: &'a mut Recording,
    pub code: &'a mut Code<'p>,
    pub flow: &'a Flow<'p>,
    pub scope: &'a Scope,
    pub case: &'a Case,
    pub failure: &'a Failure,
    /// What of the failure is asked about.
    pub question: &'a Question,
}

impl Search<'_, '_> {
    /// Tries all conditions that the budget suffices for. `go_on` is asked again and again, and says whether it goes on.
    pub fn run(&mut self, options: &Options, go_on: &mut dyn FnMut(Progress) -> bool) -> Found {
        let begin = self.recording.program_start();
        let end = self.failure.time;
        let instances = Instances::of(self.recording, self.flow, self.scope, begin, end);
        let mut distances = Distances::new(&instances);
        self.recording.slice(self.code, self.question, Follow::Full, &mut distances);
        let emission = match self.failure.kind {
            FailureKind::WrongOutput(_) => distances.emission.unwrap_or(end),
            _ => end,
        };
        let order = distances.order(options.order, emission);
        let mut statistics = Statistics {
            candidates: order.len() as u64,
            left_out: instances.left_out,
            ..Statistics::default()
        };
        let deadline = self.deadline();
        let rules = Rules { case: self.case, joins: &instances.joins, parks: options.parks, deadline };
        let mut verifier =
            Verifier::new(self.recording, self.flow, self.scope, self.case, self.failure, deadline);
        let (mut critical, mut trials) = (Vec::new(), Vec::new());
        let mut is_cut_short = false;
        let (mut done, mut batch) = (0, FIRST_BATCH);
        while let Some(places) = order.get(done..).filter(|rest| !rest.is_empty()) {
            let progress = Progress { tried: done, candidates: order.len(), found: critical.len() };
            if statistics.instructions > options.budget || !go_on(progress) {
                is_cut_short = true;
                break;
            }
            let places = &places[..places.len().min(batch)];
            for (place, trial) in self.batch(&instances, places, &rules, options.threads) {
                statistics.count(&trial);
                let instance = instances.list.get(place).copied();
                let known = instance.and_then(|instance| Some((instance, instances.known(&instance)?)));
                let saved = known.and_then(|(instance, known)| {
                    verifier.look(self.recording, &instance, known, &trial.ending)
                });
                trials.push((place, trial));
                let trial = trials.len();
                if let Some(saved) = saved {
                    statistics.first.get_or_insert(trial as u64);
                    critical.push(Critical { place, distance: distances.of(place), trial, ..saved });
                }
            }
            done += places.len();
            batch = (batch * 2).min(LARGEST_BATCH);
        }
        statistics.tried = done as u64;
        statistics.unverified = verifier.unverified;
        Found { instances, critical, trials, statistics, is_cut_short, emission }
    }

    fn deadline(&self) -> Time {
        let end = self.recording.end();
        match self.failure.kind {
            FailureKind::Hang { .. } => self.case.end(),
            _ => Time(end.0.saturating_add(end.0 / 2).saturating_add(GRACE)).min(self.case.end()),
        }
    }

    /// Makes some trials, on several threads; each goes along the run for itself, so that nothing depends on how many there are.
    fn batch(
        &mut self,
        instances: &Instances,
        places: &[usize],
        rules: &Rules<'_>,
        threads: usize,
    ) -> Vec<(usize, Trial)> {
        let mut sorted: Vec<usize> = places.to_vec();
        sorted.sort_unstable();
        let threads = threads.max(1);
        let shares: Vec<Vec<usize>> = (0..threads)
            .map(|share| sorted.iter().copied().skip(share).step_by(threads).collect())
            .filter(|share: &Vec<usize>| !share.is_empty())
            .collect();
        let work: Vec<(Process, Vec<Job>)> = shares.iter().map(|share| self.jobs(instances, share)).collect();
        let results = std::thread::scope(|scope| {
            let running: Vec<_> = work
                .into_iter()
                .map(|(start, jobs)| scope.spawn(move || sweep(start, &jobs, rules)))
                .collect();
            // A panic is a bug of ours, and trials that are missing would look like trials that failed.
            let join = |thread: ScopedJoinHandle<'_, Vec<Trial>>| {
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            };
            running.into_iter().map(join).collect::<Vec<_>>()
        });
        let shares = shares.into_iter().zip(results);
        let made: BTreeMap<usize, Trial> =
            shares.flat_map(|(share, results)| share.into_iter().zip(results)).collect();
        places.iter().filter_map(|place| Some((*place, made.get(place)?.clone()))).collect()
    }

    fn jobs(&mut self, instances: &Instances, share: &[usize]) -> (Process, Vec<Job>) {
        let chosen = share.iter().filter_map(|place| instances.list.get(*place));
        let jobs: Vec<Job> = chosen
            .filter_map(|instance| {
                let known = instances.known(instance)?;
                Some(Job { time: instance.time, switch: Switch::of(known, instance) })
            })
            .collect();
        let start = jobs.first().map_or(self.recording.start(), |job| job.time);
        (self.recording.at(start), jobs)
    }
}

impl Statistics {
    fn count(&mut self, trial: &Trial) {
        self.instructions += trial.instructions;
        self.parked_for_good += u64::from(trial.ending == Ending::AsTheSpine);
        self.woken += u64::from(trial.wakes > 0);
        self.wrong_output += u64::from(trial.ending == Ending::Failed { wrote: true });
        self.cut_short += u64::from(trial.ending == Ending::CutShort);
    }
}
