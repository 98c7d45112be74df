//! One pass along the failing run, the *spine*, which hands out trials and follows those that wait.
//!
//! A trial is a fork of the spine in which one condition goes the other way. Where its way meets the spine's again it differs
//! from it in a few registers and bytes. It is *parked* then: as long as the spine reads none of these, the trial would do what
//! the spine does. What the spine overwrites is no difference any more, and a trial without a difference ends as the spine
//! does. When the spine reads one, the trial is woken: a fork of the spine with the differences put in. Equal reads mean an equal
//! future, so nothing is guessed.

use std::collections::{BTreeMap, HashMap};

use linux::{Event, Exit, Place, Process, SERVED};
use machine::{Pass, Time, Trace, Unwatched};
use replay::oracle::Watched;
use replay::{Diversion, Outcome, Scanner, Writes};

use super::judging::{Judge, Meter};
use super::parked::{Difference, Parked, Waiting};
use super::plan::{Diverted, Switch};
use super::touches::Touches;
use super::trial::{self, Ending, Trial};

/// Instructions of the spine that are looked at in one go.
const STRETCH: u64 = 1 << 14;
/// Instructions that a trial, and the spine, may take to where their ways meet.
const LONGEST_WAY: u64 = 1 << 14;
/// A trial that is woken more often runs on to its end: it has to do with what the program does all the time.
const MOST_WAKES: u32 = 6;

/// System calls after which memory may be other memory.
const REMAPPING: [u64; 5] = [9, 11, 12, 25, 28];

/// What all trials of a search share.
pub struct Rules<'a> {
    pub judge: &'a Judge<'a>,
    pub meter: &'a Meter,
    /// Where the ways from each piece of code in scope meet again, by its first address.
    pub joins: &'a HashMap<u64, u64>,
    /// Trials wait where their way meets the spine's.
    pub parks: bool,
    /// When trials are given up.
    pub deadline: Time,
    /// When the failing run counts as over, if that is before its end.
    pub over: Option<Time>,
}

impl Rules<'_> {
    /// When the spine ends.
    fn end(&self) -> Time {
        self.judge.case.end().min(self.over.unwrap_or(Time(u64::MAX)))
    }
}

/// A trial that is to be made.
pub struct Job {
    pub time: Time,
    pub switch: Switch,
}

/// Makes all trials, which are sorted by time, along a run that begins with `start`; the results are in the same order.
pub fn sweep(start: Process, jobs: &[&Job], rules: &Rules<'_>) -> Vec<Trial> {
    let program = rules.judge.program(&start);
    let watched = rules.judge.watch(program.as_ref());
    let mut sweep = Sweep {
        rules,
        watched: watched.as_ref(),
        is_over: false,
        jobs,
        results: vec![Trial::default(); jobs.len()],
        parked: Parked::default(),
        arriving: BTreeMap::new(),
        touches: Touches::default(),
        scanner: Scanner::default(),
        next: 0,
    };
    sweep.run(start);
    sweep.results
}

struct Sweep<'a> {
    rules: &'a Rules<'a>,
    watched: Option<&'a Watched<'a>>,
    /// The spine has ended; there is nothing more that trials could meet.
    is_over: bool,
    jobs: &'a [&'a Job],
    results: Vec<Trial>,
    parked: Parked,
    /// Those whose way the spine has not come to yet, by when it will.
    arriving: BTreeMap<Time, Vec<Waiting>>,
    touches: Touches,
    scanner: Scanner,
    /// The first trial that has not begun.
    next: usize,
}

/// What the kernel did at the end of a stretch.
#[derive(Default)]
struct Kernels {
    reads: Vec<std::ops::Range<u64>>,
    writes: Vec<std::ops::Range<u64>>,
    remaps: bool,
}

impl Sweep<'_> {
    fn run(&mut self, mut spine: Process) {
        let mut trace = Trace::new();
        let end = self.rules.end();
        while !self.is_done() && spine.machine.time < end {
            if self.rules.meter.is_over() {
                return;
            }
            let mut before = spine.fork();
            let until = Time(spine.machine.time.0.saturating_add(STRETCH)).min(end);
            trace.clear();
            let event = spine.run_to_event_traced(until, &mut trace);
            self.stretch(&trace, &event, &spine, &mut before);
            let is_over = match event {
                Event::Exit(Exit::Until) => spine.machine.time >= end,
                Event::Exit(_) => true,
                Event::Called(_) | Event::Interrupted => spine.kernel.ended.is_some(),
            };
            if is_over {
                break;
            }
        }
        if self.rules.over.is_some_and(|over| spine.machine.time >= over) {
            return self.part(spine);
        }
        let left = std::mem::take(&mut self.arriving).into_values().flatten();
        let left: Vec<Waiting> = left.chain(self.parked.take(self.parked.all())).collect();
        self.end_as_the_spine(left);
    }

    /// The spine is over where it failed, not where it ends: from there on trials go their own ways.
    fn part(&mut self, mut spine: Process) {
        self.is_over = true;
        let all = self.parked.all();
        self.wake(all, &mut spine);
        for (time, waiting) in std::mem::take(&mut self.arriving) {
            spine.run(time, &mut Unwatched);
            waiting.into_iter().for_each(|waiting| self.parked.add(waiting));
            let all = self.parked.all();
            self.wake(all, &mut spine);
        }
    }

    fn is_done(&self) -> bool {
        self.next >= self.jobs.len() && self.parked.is_empty() && self.arriving.is_empty()
    }

    fn stretch(&mut self, trace: &Trace, event: &Event, after: &Process, before: &mut Process) {
        let is_fatal = after.kernel.ended.is_some() && !matches!(event, Event::Called(_));
        if matches!(event, Event::Interrupted) && !is_fatal {
            // What a signal handler is given is not looked at one by one.
            let all = self.parked.all();
            self.wake(all, before);
        }
        let mut kernels = Kernels::of(event, after);
        let mut passes = trace.forward().peekable();
        while let Some(pass) = passes.next() {
            let is_last = passes.peek().is_none();
            let own = if is_last { std::mem::take(&mut kernels) } else { Kernels::default() };
            self.pass(&pass, &own, before);
        }
        if is_fatal {
            // The instruction that faulted is in no trace.
            self.arrive(after.machine.time);
            before.run(after.machine.time, &mut Unwatched);
            let all = self.parked.all();
            self.wake(all, before);
        }
    }

    fn pass(&mut self, pass: &Pass<'_>, kernels: &Kernels, before: &mut Process) {
        let end = Time(pass.time.0 + pass.instructions().len() as u64);
        self.arrive(pass.time);
        if !self.parked.is_empty() {
            self.concern(pass, 0, kernels, before);
        }
        // In order: the fork that trials are made of does not go back.
        loop {
            let arrival = self.arriving.keys().next().copied().unwrap_or(Time(u64::MAX));
            let job = self.jobs.get(self.next).map_or(Time(u64::MAX), |job| job.time);
            if arrival.min(job) >= end {
                break;
            }
            if arrival <= job {
                self.arrive_within(pass, arrival, kernels, before);
            } else {
                self.begin(before);
            }
        }
    }

    /// Those whose way the spine has come to wait from now on.
    fn arrive(&mut self, now: Time) {
        while let Some(entry) = self.arriving.first_entry().filter(|entry| *entry.key() <= now) {
            entry.remove().into_iter().for_each(|waiting| self.parked.add(waiting));
        }
    }

    /// Some begin to wait in the middle of a pass: only what comes then concerns them.
    fn arrive_within(&mut self, pass: &Pass<'_>, since: Time, kernels: &Kernels, before: &mut Process) {
        // They are looked at alone: the others have been already.
        let others = std::mem::take(&mut self.parked);
        let arrived = self.arriving.remove(&since).unwrap_or_default();
        arrived.into_iter().for_each(|waiting| self.parked.add(waiting));
        let from = since.0.saturating_sub(pass.time.0) as usize;
        self.concern(pass, from, kernels, before);
        let mut arrived = std::mem::replace(&mut self.parked, others);
        arrived.take(arrived.all()).into_iter().for_each(|waiting| self.parked.add(waiting));
    }

    /// Wakes those that differ in what a pass reads from one of its instructions on, and takes from the others what it writes.
    fn concern(&mut self, pass: &Pass<'_>, from: usize, kernels: &Kernels, before: &mut Process) {
        let touched = self.touches.of(pass);
        let (reads, writes) = touched.registers(pass, from);
        let mut woken = Vec::new();
        self.parked.readers(&reads, &mut woken);
        let mut stores = smallvec::SmallVec::<[std::ops::Range<u64>; 8]>::new();
        touched.memory(pass, from, |range, is_write| {
            if is_write {
                stores.push(range);
            } else {
                self.parked.readers_of_memory(&range, &mut woken);
            }
        });
        kernels.reads.iter().for_each(|range| self.parked.readers_of_memory(range, &mut woken));
        if touched.tells_time {
            woken.extend(self.parked.which(|waiting| waiting.ahead != 0));
        }
        if kernels.remaps || pass.is_checked() {
            woken.extend(self.parked.which(|waiting| !waiting.difference.memory.is_empty()));
        }
        if !woken.is_empty() {
            before.run(Time(pass.time.0 + from as u64), &mut Unwatched);
            self.wake(woken, before);
        }
        let mut same = self.parked.write(&writes);
        for range in stores.iter().chain(&kernels.writes) {
            same.extend(self.parked.write_memory(range));
        }
        self.end_as_the_spine(same);
    }

    fn end_as_the_spine(&mut self, trials: Vec<Waiting>) {
        for waiting in trials {
            if let Some(result) = self.results.get_mut(waiting.trial) {
                result.wakes = waiting.wakes;
            }
            self.end(waiting.trial, Ending::AsTheSpine);
        }
    }

    /// Begins the next trial.
    fn begin(&mut self, before: &mut Process) {
        let (trial, jobs) = (self.next, self.jobs);
        self.next += 1;
        let Some(job) = jobs.get(trial) else { return };
        before.run(job.time, &mut Unwatched);
        let Diverted { run, writes, .. } = job.switch.divert(before, job.time, &mut self.scanner);
        let waiting = Waiting { trial, difference: Difference::default(), ahead: 0, wakes: 0 };
        self.results[trial].begun = true;
        self.results[trial].instructions += run.time().0.saturating_sub(job.time.0);
        self.go_on(waiting, run, &writes, job.switch.join, before);
    }

    /// Wakes trials at the instant at which `before` is.
    fn wake(&mut self, ids: Vec<u32>, before: &mut Process) {
        for waiting in self.parked.take(ids) {
            let mut process = before.fork();
            let now = process.machine.time;
            process.machine.time = Time(now.0.wrapping_add(waiting.ahead));
            if !waiting.difference.apply(&mut process) {
                self.end(waiting.trial, Ending::CutShort);
                continue;
            }
            let wakes = waiting.wakes + 1;
            let join = self.rules.joins.get(&process.machine.cpu.rip).copied();
            let join = join.filter(|_| wakes <= MOST_WAKES);
            // What was put in counts as written: what stays of it is a difference still.
            let written = waiting.difference.as_writes();
            let waiting = Waiting { wakes, ..waiting };
            self.go_on(waiting, Diversion::new(&mut process, &[]), &written, join, before);
        }
    }

    /// Runs a trial to where its way meets the spine's, to be parked there; or to its end.
    fn go_on(
        &mut self,
        waiting: Waiting,
        mut diversion: Diversion,
        written: &Writes,
        join: Option<u64>,
        before: &mut Process,
    ) {
        let trial = waiting.trial;
        self.results[trial].wakes = waiting.wakes;
        let start = diversion.time();
        let parked = match join.filter(|_| self.rules.parks && !self.is_over) {
            Some(join) => self.meet(&mut diversion, written, join, before),
            None => None,
        };
        match parked {
            Some((difference, _, _)) if difference.is_empty() => {
                self.results[trial].instructions += diversion.time().0.saturating_sub(start.0);
                self.end(trial, Ending::AsTheSpine);
            }
            Some((difference, since, time)) => {
                self.results[trial].instructions += time.0.saturating_sub(start.0);
                self.results[trial].parked += 1;
                let ahead = time.0.wrapping_sub(since.0);
                let waiting = Waiting { difference, ahead, ..waiting };
                self.arriving.entry(since).or_default().push(waiting);
            }
            None => {
                let process = diversion.process();
                let (ending, leavings) = trial::run(process, self.rules, self.watched);
                self.results[trial].instructions += process.machine.time.0.saturating_sub(start.0);
                self.results[trial].leavings = leavings;
                self.end(trial, ending);
            }
        }
    }

    /// Runs a trial and the spine to where they meet, and compares them; tells when that is, for both.
    fn meet(
        &mut self,
        trial: &mut Diversion,
        written: &Writes,
        join: u64,
        before: &mut Process,
    ) -> Option<(Difference, Time, Time)> {
        if before.kernel.signals.timers.deadline() != Time(u64::MAX) {
            return None;
        }
        let mut mine = trial.run_to(Some(join), LONGEST_WAY, &mut self.scanner);
        mine.writes.join(written);
        if mine.outcome != Outcome::Reached || mine.writes.system_calls + mine.writes.other_events > 0 {
            return None;
        }
        let mut spine = Diversion::new(before, &[]);
        let theirs = spine.run_to(Some(join), LONGEST_WAY, &mut self.scanner);
        if theirs.outcome != Outcome::Reached || theirs.writes.system_calls + theirs.writes.other_events > 0 {
            return None;
        }
        let difference =
            Difference::between((trial.process(), &mine.writes), (spine.process(), &theirs.writes))?;
        Some((difference, theirs.time, mine.time))
    }

    fn end(&mut self, trial: usize, ending: Ending) {
        if let Some(result) = self.results.get_mut(trial) {
            result.ending = ending;
            self.rules.meter.tried_one();
        }
    }
}

impl Kernels {
    fn of(event: &Event, after: &Process) -> Kernels {
        let Event::Called(number) = event else { return Kernels::default() };
        let mut kernels = Kernels { remaps: REMAPPING.contains(number), ..Kernels::default() };
        for access in &after.kernel.accesses {
            let range = access.address..access.address.saturating_add(access.length);
            if access.write { &mut kernels.writes } else { &mut kernels.reads }.push(range);
        }
        if *number == SERVED {
            for moved in &after.kernel.moved {
                let range = |place: Place| match place {
                    Place::Memory(address) => Some(address..address.saturating_add(moved.length)),
                    _ => None,
                };
                kernels.reads.extend(range(moved.from));
                kernels.writes.extend(range(moved.to));
            }
        }
        kernels
    }
}
