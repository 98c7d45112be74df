//! One pass along the failing run, the *spine*, which hands out trials and follows those that wait.
//!
//! A trial is a fork of the spine in which one condition goes the other way. Where its way meets the spine's again it differs
//! from it in a few registers and bytes. It is *parked* then: as long as the spine reads none of these, the trial would do what
//! the spine does. What the spine overwrites is no difference any more, and a trial without a difference ends as the spine
//! does. When the spine reads one, that one instruction is executed in the trial's world as well (`follow.rs`), and what differs
//! afterwards is what the two have written. Only when the trial would go another way than the spine, or when somebody else reads what differs,
//! it is *woken*: a fork of the spine with the differences put in. Equal reads mean an equal future, so nothing is guessed.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use lift::Reg;
use linux::{Event, Exit, Process, SERVED};
use machine::{Pass, Time, Trace, Unwatched};
use replay::oracle::Watched;
use replay::{Diversion, Scanner};

use super::difference::Difference;
use super::follow::Follower;
use super::judging::{Judge, Meter};
use super::kernels::Kernels;
use super::meeting::Ways;
use super::parked::{Parked, Waiting};
use super::plan::{Diverted, Switch};
use super::tariff::{GRACE, MEET, Parking, STEP, WAKE};
use super::touches::{Touched, Touches};
use super::trial::{self, Ending, Trial};
use super::witnesses::Witnesses;

/// Instructions of the spine that are looked at in one go.
const STRETCH: u64 = 1 << 14;

/// What functions that are served are given.
const SERVED_BY: [Reg; 5] = [Reg::RDI, Reg::RSI, Reg::RDX, Reg::RCX, Reg::RSP];

/// What all trials of a search share.
pub struct Rules<'a> {
    pub judge: &'a Judge<'a>,
    pub meter: &'a Meter,
    /// Where the ways from each instruction in scope meet again.
    pub joins: &'a HashMap<u64, u64>,
    pub parking: Parking,
    /// Some trials that wait are run beside the spine; see [`Witnesses`].
    pub checks: bool,
    /// When trials are given up.
    pub deadline: Time,
    /// When the failing run counts as over, if that is before its end.
    pub over: Option<Time>,
}

impl Rules<'_> {
    /// When the spine ends.
    pub fn end(&self) -> Time {
        self.judge.case.end().min(self.over.unwrap_or(Time(u64::MAX)))
    }
}

/// A trial that is to be made.
pub struct Job {
    pub time: Time,
    pub switch: Switch,
    /// It may wait where its way meets the spine's.
    pub waits: bool,
}

/// Makes all trials, which are sorted by time, along a run that begins with `start`; the results are in the same order.
pub fn sweep(start: Process, jobs: &[&Job], rules: &Rules<'_>) -> Vec<Trial> {
    let program = rules.judge.program(&start);
    let watched = rules.judge.watch(program.as_ref());
    let mut sweep = Sweep {
        rules,
        watched: watched.as_ref(),
        is_over: false,
        is_interrupted: false,
        jobs,
        results: vec![Trial::default(); jobs.len()],
        parked: Parked::default(),
        arriving: BTreeMap::new(),
        touches: Touches::default(),
        follower: Follower::default(),
        ways: Ways::default(),
        scanner: Scanner::default(),
        witnesses: Witnesses::default(),
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
    /// A signal handler is entered or left at the end of the stretch: nobody waits in it.
    is_interrupted: bool,
    jobs: &'a [&'a Job],
    results: Vec<Trial>,
    parked: Parked,
    /// Those whose way the spine has not come to yet, by when it will.
    arriving: BTreeMap<Time, Vec<Waiting>>,
    touches: Touches,
    follower: Follower,
    ways: Ways,
    scanner: Scanner,
    witnesses: Witnesses,
    /// The first trial that has not begun.
    next: usize,
}

/// An instruction of the spine.
struct Place<'a> {
    pass: &'a Pass<'a>,
    touched: &'a Touched,
    /// Which of those of the pass.
    number: usize,
    /// What the kernel did with it.
    kernels: Option<&'a Kernels>,
}

impl Place<'_> {
    fn time(&self) -> Time {
        Time(self.pass.time.0 + self.number as u64)
    }
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
            let begun = before.machine.time;
            self.stretch(&trace, &event, &spine, &mut before);
            self.rules.meter.pass.add(spine.machine.time.0.saturating_sub(begun.0));
            // Where a function was just served the time has not moved on.
            if self.rules.checks && event != Event::Called(SERVED) {
                self.arrive(spine.machine.time);
                self.witnesses.check(&self.parked, &mut spine, &mut self.results);
            }
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
        let all = self.parked.all();
        let left: Vec<Waiting> = left.chain(all.into_iter().filter_map(|id| self.parked.take(id))).collect();
        self.end_as_the_spine(left);
    }

    /// The spine is over where it failed, not where it ends: from there on trials go their own ways.
    fn part(&mut self, mut spine: Process) {
        self.is_over = true;
        self.wake(self.parked.all(), None, &mut spine);
        for (time, waiting) in std::mem::take(&mut self.arriving) {
            spine.run(time, &mut Unwatched);
            waiting.into_iter().for_each(|waiting| self.parked.add(waiting));
            self.wake(self.parked.all(), None, &mut spine);
        }
    }

    fn is_done(&self) -> bool {
        self.next >= self.jobs.len() && self.parked.is_empty() && self.arriving.is_empty()
    }

    fn stretch(&mut self, trace: &Trace, event: &Event, after: &Process, before: &mut Process) {
        let is_fatal = after.kernel.ended.is_some() && !matches!(event, Event::Called(_));
        // What a signal handler is given, and what it leaves, is not looked at one by one.
        let is_interrupted = matches!(event, Event::Interrupted) || !trace.interruptions().is_empty();
        self.is_interrupted = is_interrupted && !is_fatal;
        let kernels = Kernels::of(event, after);
        // A function is served before the instruction that stands for it, which is in no trace yet.
        let (served, called) = match event {
            Event::Called(SERVED) => (kernels, None),
            _ => (None, kernels),
        };
        let mut passes = trace.forward().peekable();
        while let Some(pass) = passes.next() {
            let is_last = passes.peek().is_none();
            self.pass(&pass, called.as_ref().filter(|_| is_last), before);
        }
        if let Some(served) = served {
            self.serve(&served, after.machine.time, before);
        }
        if is_fatal {
            // The instruction that faulted is in no trace.
            self.arrive(after.machine.time);
            before.run(after.machine.time, &mut Unwatched);
            self.wake(self.parked.all(), None, before);
        }
    }

    /// Wakes those for whom a function would be served otherwise, and takes from the others what that wrote.
    fn serve(&mut self, served: &Kernels, now: Time, before: &mut Process) {
        self.arrive(now);
        before.run(now, &mut Unwatched);
        let mut woken = Vec::new();
        if self.is_interrupted {
            woken = self.parked.all();
        }
        self.parked.readers(&SERVED_BY.into_iter().collect(), &mut woken);
        served.readers(&self.parked, before, &mut woken);
        self.wake(woken, None, before);
        let mut left = Vec::new();
        self.parked.write(Reg::RAX, self.follower.step(), &mut left);
        self.overwrite_by_kernel(served, &mut left);
        let same = self.parked.finished(&left);
        self.end_as_the_spine(same);
    }

    fn pass(&mut self, pass: &Pass<'_>, kernels: Option<&Kernels>, before: &mut Process) {
        self.arrive(pass.time);
        let length = pass.instructions().len();
        let end = Time(pass.time.0 + length as u64);
        let comes = self.arriving.keys().next().copied().unwrap_or(Time(u64::MAX));
        let begins = self.jobs.get(self.next).map_or(Time(u64::MAX), |job| job.time);
        if comes.min(begins) >= end && self.parked.is_empty() {
            return;
        }
        let touched = self.touches.of(pass);
        if comes.min(begins) >= end && kernels.is_none() && self.is_of_no_concern(pass, &touched) {
            return self.overwrite(pass, &touched, 0..length, None);
        }
        for number in 0..length {
            let kernels = kernels.filter(|_| number + 1 == length);
            let place = Place { pass, touched: &touched, number, kernels };
            self.arrive(place.time());
            if !self.parked.is_empty() {
                self.concern(&place, before);
            }
            while self.jobs.get(self.next).is_some_and(|job| job.time <= place.time()) {
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

    /// Whether a pass reads nothing that anybody differs in.
    fn is_of_no_concern(&self, pass: &Pass<'_>, touched: &Touched) -> bool {
        if self.is_interrupted
            || touched.is_special()
            || pass.is_checked()
            || !self.parked.registers.common(&touched.reads).is_empty()
        {
            return false;
        }
        let mut concerns = false;
        let length = pass.instructions().len();
        touched.memory(pass, 0..length, |range, is_write| {
            concerns |= !is_write && self.parked.has_readers(&range);
        });
        !concerns
    }

    /// Follows an instruction in the worlds of those that differ in what it reads, wakes those for whom that cannot be, and takes from the others
    /// what it writes.
    fn concern(&mut self, place: &Place<'_>, before: &mut Process) {
        let Place { pass, touched, number, kernels } = place;
        let Some(instruction) = touched.instructions.get(*number) else { return };
        if self.is_interrupted {
            return self.wake_at(self.parked.all(), place, before);
        }
        let mut woken = Vec::new();
        self.parked.readers(&instruction.hands_over, &mut woken);
        if instruction.tells_time {
            woken.extend(self.parked.which(|waiting| waiting.ahead != 0));
        }
        if let Some(kernels) = kernels {
            before.run(place.time(), &mut Unwatched);
            kernels.readers(&self.parked, before, &mut woken);
        }
        if !woken.is_empty() {
            self.wake_at(woken, place, before);
        }
        let mut readers = Vec::new();
        self.parked.readers(&instruction.reads, &mut readers);
        touched.memory(pass, *number..number + 1, |range, is_write| {
            if !is_write {
                self.parked.readers_of_memory(&range, &mut readers);
            }
        });
        if pass.is_checked() && *number == 0 {
            before.run(place.time(), &mut Unwatched);
            let looked = before.machine.looked_at(pass);
            self.parked.readers(&looked.registers.into_iter().collect(), &mut readers);
            looked.memory.iter().for_each(|range| self.parked.readers_of_memory(range, &mut readers));
        }
        if !readers.is_empty() {
            self.follow(readers, place, before);
        }
        self.overwrite(pass, touched, *number..number + 1, *kernels);
    }

    /// Executes an instruction in the worlds of some, and wakes those that would go another way.
    fn follow(&mut self, mut readers: Vec<u32>, place: &Place<'_>, before: &mut Process) {
        readers.sort_unstable();
        readers.dedup();
        before.run(place.time(), &mut Unwatched);
        let index = place.pass.instructions().start + place.number;
        let writes = place.touched.instructions.get(place.number).map_or(&[][..], |one| &one.writes);
        let instruction = (place.pass, index, writes);
        let (mut woken, mut same) = (Vec::new(), Vec::new());
        let is_known = self.follower.begin(place.pass, index, before);
        for id in readers {
            let is_dear = self.parked.get(id).is_some_and(|waiting| self.is_dear(waiting, place.time()));
            let follows =
                is_known && !is_dear && self.follower.follow(id, &mut self.parked, instruction, before);
            let Some(waiting) = self.parked.get_mut(id) else { continue };
            if !follows {
                woken.push(id);
                continue;
            }
            waiting.spent += STEP;
            self.results[waiting.trial].followed += 1;
            self.results[waiting.trial].instructions += 1;
            same.push(id);
        }
        if !woken.is_empty() {
            self.wake_at(woken, place, before);
        }
        let same = self.parked.finished(&same);
        self.end_as_the_spine(same);
    }

    /// What the spine has written is no difference any more.
    fn overwrite(
        &mut self,
        pass: &Pass<'_>,
        touched: &Touched,
        which: Range<usize>,
        kernels: Option<&Kernels>,
    ) {
        let step = self.follower.step();
        let mut left = Vec::new();
        let writes = match touched.instructions.get(which.start) {
            Some(one) if which.len() == 1 => &one.writes,
            _ => &touched.writes,
        };
        writes.iter().for_each(|reg| self.parked.write(*reg, step, &mut left));
        touched.memory(pass, which, |range, is_write| {
            if is_write {
                self.parked.write_memory(&range, step, &mut left);
            }
        });
        if let Some(kernels) = kernels {
            self.overwrite_by_kernel(kernels, &mut left);
        }
        if !left.is_empty() {
            let same = self.parked.finished(&left);
            self.end_as_the_spine(same);
        }
        self.follower.end();
    }

    /// Nobody was followed into the kernel.
    fn overwrite_by_kernel(&mut self, kernels: &Kernels, left: &mut Vec<u32>) {
        kernels.writes.iter().for_each(|range| self.parked.write_memory(range, u64::MAX, left));
    }

    fn end_as_the_spine(&mut self, trials: Vec<Waiting>) {
        for waiting in trials {
            if let Some(result) = self.results.get_mut(waiting.trial) {
                result.wakes = waiting.wakes;
                result.spent = waiting.spent;
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
        let Diverted { run, is_plain, .. } = job.switch.divert(before, job.time, &mut self.scanner);
        let took = run.time().0.saturating_sub(job.time.0);
        self.results[trial].begun = true;
        self.results[trial].instructions += took;
        let difference = Difference::default();
        let waiting = Waiting { trial, difference, ahead: 0, wakes: 0, spent: took, followed: 0 };
        if is_plain { self.go_on(waiting, run, job.switch.join, before) } else { self.run_out(waiting, run) }
    }

    /// Wakes trials before an instruction of the spine.
    fn wake_at(&mut self, ids: Vec<u32>, place: &Place<'_>, before: &mut Process) {
        before.run(place.time(), &mut Unwatched);
        let join = self.rules.joins.get(&before.machine.cpu.rip).copied();
        self.wake(ids, join, before);
    }

    /// Wakes trials at the instant at which `before` is.
    fn wake(&mut self, mut ids: Vec<u32>, join: Option<u64>, before: &mut Process) {
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let Some(waiting) = self.parked.take(id) else { continue };
            let mut process = before.fork();
            let now = process.machine.time;
            process.machine.time = Time(now.0.wrapping_add(waiting.ahead));
            if !waiting.difference.apply(&mut process) {
                self.end(waiting.trial, Ending::CutShort);
                continue;
            }
            let waiting = Waiting { wakes: waiting.wakes + 1, spent: waiting.spent + WAKE, ..waiting };
            self.go_on(waiting, Diversion::of(process), join, before);
        }
    }

    /// Runs a trial to where its way meets the spine's, to be parked there; or to its end.
    fn go_on(&mut self, waiting: Waiting, mut run: Diversion, join: Option<u64>, before: &mut Process) {
        let trial = waiting.trial;
        self.results[trial].wakes = waiting.wakes;
        let waits = self.jobs.get(trial).is_some_and(|job| job.waits);
        if !waits || self.is_over || self.is_dear(&waiting, before.machine.time) {
            return self.run_out(waiting, run);
        }
        let start = run.time();
        let met = self.ways.meet(before, &mut run, join, &mut self.scanner);
        let end = met.as_ref().map_or(run.time(), |met| met.own);
        let took = end.0.saturating_sub(start.0);
        self.results[trial].instructions += took;
        let waiting = Waiting { spent: waiting.spent + MEET + took, ..waiting };
        let Some(met) = met else { return self.run_out(waiting, run) };
        if met.difference.is_empty() {
            return self.end_as_the_spine(vec![waiting]);
        }
        self.results[trial].parked += 1;
        if self.rules.checks {
            self.witnesses.add(trial, self.results[trial].parked, run.process());
        }
        let ahead = met.own.0.wrapping_sub(met.spine.0);
        let waiting = Waiting { difference: met.difference, ahead, ..waiting };
        self.arriving.entry(met.spine).or_default().push(waiting);
    }

    /// Runs a trial to its end.
    fn run_out(&mut self, waiting: Waiting, mut run: Diversion) {
        let start = run.time();
        let process = run.process();
        let (ending, leavings) = trial::run(process, self.rules, self.watched);
        let ended = process.machine.time;
        let took = ended.0.saturating_sub(start.0);
        let begun = self.jobs.get(waiting.trial).map_or(start, |job| job.time);
        let result = &mut self.results[waiting.trial];
        result.instructions += took;
        result.spent = waiting.spent;
        result.length = ended.0.saturating_sub(begun.0);
        result.ran_out = took;
        result.leavings = leavings;
        self.end(waiting.trial, ending);
    }

    /// Whether it would have been cheaper so far to run a trial plainly.
    fn is_dear(&self, waiting: &Waiting, now: Time) -> bool {
        if self.rules.parking == Parking::Always {
            return false;
        }
        let since = self.jobs.get(waiting.trial).map_or(now, |job| job.time);
        waiting.spent > now.0.saturating_sub(since.0).saturating_add(GRACE)
    }

    fn end(&mut self, trial: usize, ending: Ending) {
        if let Some(result) = self.results.get_mut(trial) {
            result.ending = ending;
            self.rules.meter.tried_one();
        }
    }
}
