//! The search: which trials are made, in which order, and what they come to.

use std::collections::{BTreeMap, HashMap};
use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

use linux::Process;
use machine::{PAGE_SIZE, Time};
use program::Scope;
use replay::failure::{Failure, FailureKind, Verdict};
use replay::oracle::Watched;
use replay::{Code, Flow, Follow, Question, Recording, Seed, Slice};

use super::judging::{Judge, Meter, end_of};
use super::order::{Distances, Order};
use super::plan::Switch;
use super::statistics::Statistics;
use super::sweep::{Job, Rules, sweep};
use super::tariff::{Accounts, Parking};
use super::trial::{Ending, Trial};
use super::verify::{Critical, Verifier};
use crate::instances::Instances;

/// Trials of the first pass along the run; each pass has twice as many as the one before.
const FIRST_BATCH: usize = 64;
const LARGEST_BATCH: usize = 1 << 14;
/// Of a recursion without end, so many rounds of it are looked at: all of them are alike, and each trial of one takes all the way back.
const MOST_ROUNDS: usize = 64;
/// The same of a loop without end, whose rounds are as alike, but cost less.
const MOST_ROUNDS_OF_HANGS: usize = 1024;
/// What a trial may take beyond what the failing run took; of a hang, which was cut off anyway, less.
const GRACE: u64 = 1 << 20;
/// So many trials that passed are run again after nobody wants to wait any more.
const MOST_LATE: usize = 8;
const GRACE_OF_HANGS: u64 = 1 << 17;

/// How the search is made.
#[derive(Clone, Debug)]
pub struct Options {
    pub order: Order,
    /// Instructions that all trials together may take.
    pub budget: u64,
    pub parking: Parking,
    /// Some trials that wait are run beside the spine, and what they are claimed to differ in is compared with what they do.
    pub checks: bool,
    pub threads: usize,
    /// If no single decision helps, other things are tried.
    pub goes_beyond: bool,
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
    /// How far decisions are from the failure, by dependence.
    pub distances: HashMap<usize, u32>,
    /// The failure-inducing chop, where it is known what of the input makes the run fail.
    pub chop: Option<Slice>,
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

    /// Whether something was found that does more than to skip what failed.
    pub(super) fn helps(&self) -> bool {
        self.critical.iter().any(|critical| critical.effect.helps())
    }
}

/// A failing run whose conditions are switched.
pub struct Search<'a, 'p> {
    pub recording: &'a mut Recording,
    pub code: &'a mut Code<'p>,
    pub flow: &'a Flow<'p>,
    pub scope: &'a Scope,
    pub judge: &'a Judge<'a>,
    pub failure: &'a Failure,
    /// What of the failure is asked about.
    pub question: &'a Question,
    /// What of the input makes the run fail, if that is known.
    pub inducing: &'a [Seed],
}

/// Which decisions are tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub after: Time,
    pub most: usize,
}

impl Bounds {
    const NONE: Bounds = Bounds { after: Time(0), most: usize::MAX };
}

impl<'a, 'p> Search<'a, 'p> {
    /// Tries all conditions that the budget suffices for, and if none helps, what there is besides.
    pub fn run(&mut self, options: &Options, meter: &Meter) -> Found {
        let mut found = self.singles(options, meter, Bounds::NONE);
        if options.goes_beyond && !found.helps() && !found.is_cut_short {
            self.go_beyond(&mut found, options, meter);
        }
        found
    }

    /// Makes one decision after the other go the other way.
    pub(super) fn singles(&mut self, options: &Options, meter: &Meter, bounds: Bounds) -> Found {
        let begin = self.recording.program_start();
        let end = self.failure.time;
        let instances = Instances::of(self.recording, self.flow, self.scope, begin, end);
        let mut distances = Distances::new(&instances);
        self.recording.slice(self.code, self.question, Follow::Full, &mut distances);
        let emission = match self.failure.kind {
            FailureKind::WrongOutput(_) => distances.emission.unwrap_or(end),
            _ => end,
        };
        let mut on_the_way = Distances::new(&instances);
        let chop = (!self.inducing.is_empty()).then(|| {
            let to = std::slice::from_ref(self.question);
            self.recording.chop(self.code, self.inducing, to, &mut on_the_way)
        });
        let mut order = distances.order(options.order, emission, &on_the_way.found);
        order.retain(|place| {
            let instance = instances.list.get(*place).filter(|instance| instance.time > bounds.after);
            instance.and_then(|instance| instances.known(instance)).is_some_and(|known| !known.is_switch())
        });
        let rounds = match self.failure.kind {
            FailureKind::StackOverflow { .. } => MOST_ROUNDS,
            FailureKind::Hang { .. } => MOST_ROUNDS_OF_HANGS,
            _ => usize::MAX,
        };
        let left_out = only_so_many_of_each(&mut order, &instances, rounds);
        order.truncate(bounds.most);
        meter.expects(order.len());
        let distances = distances.found;
        let statistics = Statistics {
            candidates: order.len() as u64,
            on_the_way: order.iter().filter(|place| on_the_way.found.contains_key(place)).count() as u64,
            left_out: instances.left_out + left_out,
            ..Statistics::default()
        };
        let mut found = Found {
            instances,
            critical: Vec::new(),
            trials: Vec::new(),
            statistics,
            is_cut_short: false,
            emission,
            distances,
            chop,
        };
        self.in_batches(&order, &mut found, options, meter);
        found
    }

    /// What failed may depend on decisions by what they left out: then they are at a distance, too.
    pub fn find_relevant_distances(&mut self, found: &mut Found) {
        let mut relevant = Distances::new(&found.instances);
        let follow = Follow::Relevant(replay::Bounds::default());
        self.recording.slice(self.code, self.question, follow, &mut relevant);
        for (place, distance) in relevant.found {
            found.distances.entry(place).or_insert(distance);
        }
    }

    fn in_batches(&mut self, order: &[usize], found: &mut Found, options: &Options, meter: &Meter) {
        let watched = self.watched();
        let mut verifier = self.verifier(watched.as_ref());
        let (mut accounts, end) = (Accounts::default(), self.failure.time);
        let (mut done, mut batch, mut late) = (0, FIRST_BATCH, 0);
        while let Some(places) = order.get(done..).filter(|rest| !rest.is_empty()) {
            if found.is_cut_short || meter.is_over() {
                found.is_cut_short = true;
                break;
            }
            let places = &places[..places.len().min(batch)];
            let rest = |job: &Job| end.0.saturating_sub(job.time.0);
            let mut jobs: Vec<(usize, Job)> = Vec::new();
            for place in places {
                let Some(instance) = found.instances.list.get(*place) else { continue };
                let Some(job) = job(&found.instances, *place) else { continue };
                let waits = accounts.let_wait(options.parking, instance.condition, rest(&job));
                jobs.push((*place, Job { waits, ..job }));
            }
            let rules = self.rules(&found.instances, options, meter);
            let all: Vec<&Job> = jobs.iter().map(|(_, job)| job).collect();
            let trials = make(self.recording, &all, &rules, options.threads);
            for ((place, job), trial) in jobs.iter().zip(trials) {
                if found.statistics.instructions.saturating_add(trial.instructions) > options.budget {
                    found.is_cut_short = true;
                    break;
                }
                // To look at a trial takes as long as to make it; of those that passed, some are worth it even to somebody who waits.
                let is_late = meter.is_over();
                if let Some(instance) = found.instances.list.get(*place).filter(|_| job.waits) {
                    accounts.note(instance.condition, &trial, rest(job));
                }
                late += usize::from(is_late && trial.ending == Ending::Passed);
                let is_looked_at = !is_late || trial.ending == Ending::Passed && late <= MOST_LATE;
                self.note(found, *place, job, trial, Some(&mut verifier).filter(|_| is_looked_at), meter);
            }
            done += places.len();
            batch = (batch * 2).min(LARGEST_BATCH);
        }
        found.is_cut_short |= meter.is_over();
        verifier.tell(&mut found.statistics);
    }

    /// Takes down what came of a trial.
    fn note(
        &mut self,
        found: &mut Found,
        place: usize,
        job: &Job,
        trial: Trial,
        verifier: Option<&mut Verifier<'_>>,
        meter: &Meter,
    ) {
        if !trial.begun {
            return;
        }
        found.statistics.tried += 1;
        found.statistics.count(&trial);
        let number = found.trials.len() + 1;
        let instance = found.instances.list.get(place).copied();
        if let Some((instance, known)) = instance.and_then(|one| Some((one, found.instances.known(&one)?)))
            && let Some(verifier) = verifier
            && let Some(saved) = verifier.look(self.recording, &instance, known, job, &trial)
        {
            meter.found_one(known.stmt.as_ref(), saved.effect);
            found.statistics.found(saved.effect, number as u64);
            let distance = found.distances.get(&place).copied();
            found.critical.push(Critical { place, distance, trial: number, ..saved });
        }
        found.trials.push((place, trial));
    }

    /// What assertions there are, in the program as it is at the end.
    pub(super) fn watched<'r>(&self) -> Option<Watched<'r>>
    where
        'a: 'r,
        'p: 'r,
    {
        self.judge.watch(Some(self.flow.program())).filter(|_| !self.judge.assertions.is_empty())
    }

    pub(super) fn verifier<'r>(&mut self, watched: Option<&'r Watched<'r>>) -> Verifier<'r>
    where
        'a: 'r,
        'p: 'r,
    {
        let deadline = self.deadline();
        let names = (self.flow, self.scope);
        let failed = (self.failure, self.question.time);
        Verifier::new(self.recording, names, self.judge, watched, failed, deadline)
    }

    pub(super) fn rules<'r>(&self, instances: &'r Instances, options: &Options, meter: &'r Meter) -> Rules<'r>
    where
        'a: 'r,
    {
        Rules {
            judge: self.judge,
            meter,
            joins: &instances.joins,
            parking: options.parking,
            checks: options.checks,
            deadline: self.deadline(),
            over: end_of(&self.failure.kind, self.failure.time),
        }
    }

    /// Whether a run of its own from the very start ends as a critical condition says.
    pub fn holds_afresh(&mut self, critical: &Critical) -> bool {
        let mut process = self.recording.at(self.recording.start());
        critical.interventions.iter().for_each(|one| process.machine.intervene(one.clone()));
        let verdict = self.judge.run(&mut process, self.flow.program(), self.deadline());
        (verdict == Verdict::Passed) == critical.passes && process.kernel.ended == critical.exit
    }

    /// When a trial is given up.
    pub(crate) fn deadline(&self) -> Time {
        let end = self.recording.end();
        match self.failure.kind {
            // A loop that is left at last has to have the time to come to the program's end.
            FailureKind::Hang { .. } => Time(end.0.saturating_add(end.0 / 2).saturating_add(GRACE_OF_HANGS)),
            _ => Time(end.0.saturating_add(end.0 / 2).saturating_add(GRACE)).min(self.judge.case.end()),
        }
    }
}

/// Leaves out all decisions of a condition but the first so many, and says how many those are.
fn only_so_many_of_each(order: &mut Vec<usize>, instances: &Instances, most: usize) -> u64 {
    let mut rounds: HashMap<u32, usize> = HashMap::new();
    let before = order.len();
    order.retain(|place| {
        let Some(instance) = instances.list.get(*place) else { return false };
        let rounds = rounds.entry(instance.condition).or_default();
        *rounds += 1;
        *rounds <= most
    });
    (before - order.len()) as u64
}

/// The trial of a decision that goes the other way.
pub(super) fn job(instances: &Instances, place: usize) -> Option<Job> {
    let instance = instances.list.get(place)?;
    let switch = Switch::of(instances.known(instance)?, instance);
    Some(Job { time: instance.time, switch, waits: true })
}

/// Makes some trials, on several threads; each goes along the run for itself, so that nothing depends on how many there are.
pub(super) fn make(
    recording: &mut Recording,
    jobs: &[&Job],
    rules: &Rules<'_>,
    threads: usize,
) -> Vec<Trial> {
    let mut sorted: Vec<usize> = (0..jobs.len()).collect();
    sorted.sort_by_key(|number| (jobs[*number].time, *number));
    let threads = threads.max(1);
    let shares = (0..threads).map(|share| sorted.iter().copied().skip(share).step_by(threads));
    let shares: Vec<Vec<usize>> =
        shares.map(Iterator::collect).filter(|share: &Vec<_>| !share.is_empty()).collect();
    let work: Vec<(Process, Vec<&Job>)> = shares
        .iter()
        .map(|share| {
            let jobs: Vec<&Job> = share.iter().map(|number| jobs[*number]).collect();
            let start = jobs.first().map_or(recording.start(), |job| job.time);
            (beginning(recording, start), jobs)
        })
        .collect();
    let end = rules.end().min(recording.end());
    let ways = work.iter().map(|(start, _)| end.0.saturating_sub(start.machine.time.0));
    rules.meter.pass.begin(ways.fold(0, u64::saturating_add));
    let results = in_threads(work, |(start, jobs)| sweep(start, &jobs, rules));
    rules.meter.pass.begin(0);
    let made = shares.into_iter().flatten().zip(results.into_iter().flatten());
    let made: BTreeMap<usize, Trial> = made.collect();
    made.into_values().collect()
}

/// Does each piece of work in a thread of its own; the results come in the same order.
pub(super) fn in_threads<W: Send, R: Send>(work: Vec<W>, one: impl Fn(W) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let running: Vec<_> = work.into_iter().map(|work| scope.spawn(|| one(work))).collect();
        // A panic is a bug of ours, and trials that are missing would look like trials that failed.
        let join =
            |thread: ScopedJoinHandle<'_, R>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        running.into_iter().map(join).collect()
    })
}

/// A state of the failing run that trials begin with. A trial that writes many times as much as that run did, or takes many times as much memory, has gone
/// astray, and would go on until it has used up all that there is.
pub(super) fn beginning(recording: &mut Recording, time: Time) -> Process {
    const TIMES: u64 = 8;
    const OUTPUT: u64 = 16 << 20;
    const MEMORY: u64 = 128 << 20;
    let last = recording.last();
    let most = |taken: u64, room: u64| taken.saturating_mul(TIMES).saturating_add(room);
    let output = most(last.kernel.output.bytes(), OUTPUT);
    let memory = most(last.machine.memory.resident_pages().saturating_mul(PAGE_SIZE), MEMORY);
    let mut process = recording.at(time);
    let limit = &mut process.kernel.limits.output;
    *limit = output.min(*limit);
    process.machine.memory.restrict(memory);
    process
}
