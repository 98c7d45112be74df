//! Runs that go another way from some instant on: the only door to experiments.
//!
//! A diversion is a fork of the recorded run, with interventions. It cannot reach the recording, whatever it does.

use std::ops::Range;
use std::sync::Arc;

use lift::Reg;
use linux::{Event, Exit, Process, SERVED, Snapshot};
use machine::{Interruption, InterruptionKind, Intervention, Observer, Pass, Time, Trace, Unwatched};

use crate::events::{Ending, RegisterSet, Shape, Shapes};

/// Which run an instant belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum RunId {
    #[default]
    Original,
    /// What was altered, in the order in which it was asked for.
    Diversion(Arc<[Intervention]>),
}

/// One instruction of one run. Times of different runs have nothing to do with each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub run: RunId,
    pub time: Time,
}

/// A run that goes another way.
pub struct Diversion {
    id: RunId,
    /// The state that it began with.
    origin: Snapshot,
    /// A state on its way; behind `time` where a search overran its end.
    process: Process,
    time: Time,
}

/// What a search for a place needs again and again; it can be used for one diversion after the other.
#[derive(Default)]
pub struct Scanner {
    trace: Trace,
    shapes: Shapes,
}

/// Where [`Diversion::run_to`] came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    pub outcome: Outcome,
    /// Before the instruction at the address; after the one that left the activation.
    pub time: Time,
    pub writes: Writes,
    /// When the last of the system calls and other events was over, if there was one.
    pub last_event: Option<Time>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The address is reached in the same activation.
    Reached,
    /// The activation is left, by a return or otherwise.
    Left,
    /// The instructions that were granted are used up.
    CutShort,
    /// The program ended, or cannot go on.
    Ended(Exit),
    /// After a system call that was not wanted.
    Called,
}

/// What a run goes on to.
pub(crate) trait Goal {
    /// Which instruction of a pass in the activation that counts, if any, is where it ends; it is not executed.
    fn place(&mut self, pass: &Pass<'_>, shape: &Shape) -> Option<usize>;

    /// Whether it ends before an instruction that is about to be executed, and is in no pass because it faults.
    fn is_at(&self, _address: u64, _time: Time) -> bool {
        false
    }

    /// Whether it goes on after a system call.
    fn permits(&self, _call: u64) -> bool {
        true
    }
}

/// An address that is come to after `start`.
struct Address {
    address: Option<u64>,
    start: Time,
}

impl Goal for Address {
    fn place(&mut self, pass: &Pass<'_>, shape: &Shape) -> Option<usize> {
        let place = shape.find(self.address?)?;
        (pass.time > self.start || place > 0).then_some(place)
    }

    fn is_at(&self, address: u64, time: Time) -> bool {
        self.address == Some(address) && time > self.start
    }
}

/// What was written on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// Sorted, neither overlapping nor touching each other. What the kernel wrote is among it.
    pub memory: Vec<Range<u64>>,
    pub registers: RegisterSet,
    /// How many system calls were made; what they changed outside of memory is not told here.
    pub system_calls: u64,
    /// How many functions of the heap were served, and signals delivered.
    pub other_events: u64,
    /// How many entries of `memory` are sorted and merged.
    merged: usize,
}

/// The first stretch that is run before anybody looks. Most ways to a place are shorter; what is run too much is lost.
const FIRST_STRETCH: u64 = 48;
const LONGEST_STRETCH: u64 = 1 << 15;
/// So many more entries than after the last merge are kept before they are merged again.
const UNMERGED: usize = 1 << 12;

impl Diversion {
    /// Goes on from a state of some run, which stays as it is, with these interventions.
    pub fn new(from: &mut Process, interventions: &[Intervention]) -> Diversion {
        let mut process = from.fork();
        for intervention in interventions {
            process.machine.intervene(intervention.clone());
        }
        let id = RunId::Diversion(interventions.into());
        Diversion { id, origin: process.snapshot(), time: process.machine.time, process }
    }

    /// Goes on from a state that nobody else needs.
    pub fn of(mut process: Process) -> Diversion {
        let id = RunId::Diversion([].into());
        Diversion { id, origin: process.snapshot(), time: process.machine.time, process }
    }

    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// When it began.
    pub fn start(&self) -> Time {
        self.origin.time()
    }

    /// Where it is.
    pub fn time(&self) -> Time {
        self.time
    }

    /// The state that it began with, as good for a diversion from a diversion as a state of the recording.
    pub(crate) fn into_origin(self) -> Snapshot {
        self.origin
    }

    pub fn instance(&self) -> Instance {
        Instance { run: self.id.clone(), time: self.time }
    }

    /// The state where it is.
    pub fn process(&mut self) -> &mut Process {
        if self.process.machine.time != self.time {
            self.process = self.origin.process();
            self.process.run(self.time, &mut Unwatched);
        }
        &mut self.process
    }

    /// Runs on until the time has come or the process ends.
    pub fn run_until(&mut self, until: Time) -> Exit {
        self.run_watched(until, &mut Unwatched)
    }

    pub fn run_watched<O: Observer>(&mut self, until: Time, observer: &mut O) -> Exit {
        let exit = self.process().run(until, observer);
        self.time = self.process.machine.time;
        exit
    }

    pub fn run_traced(&mut self, until: Time, trace: &mut Trace) -> Exit {
        let exit = self.process().run_traced(until, trace);
        self.time = self.process.machine.time;
        exit
    }

    /// Runs on until the instruction at `address` is about to be executed in the activation that is current now, until
    /// this activation is left, or for at most `budget` instructions; and tells what was written on the way. Without an
    /// address only the end of the activation counts.
    ///
    /// At least one instruction is executed: where the current one is itself at the address, it has to come again.
    pub fn run_to(&mut self, address: Option<u64>, budget: u64, scanner: &mut Scanner) -> Arrival {
        let start = self.process().machine.time;
        self.run_to_goal(&mut Address { address, start }, budget, scanner)
    }

    /// The same with another goal.
    pub(crate) fn run_to_goal(
        &mut self,
        goal: &mut impl Goal,
        budget: u64,
        scanner: &mut Scanner,
    ) -> Arrival {
        let process = self.process();
        let start = process.machine.time;
        let deadline = Time(start.0.saturating_add(budget));
        let stack = process.machine.cpu.get(Reg::RSP);
        let mut search =
            Search { goal, stack, open: Vec::new(), writes: Writes::default(), last_event: None };
        let mut length = FIRST_STRETCH;
        let (outcome, time) = loop {
            let until = deadline.min(Time(self.process.machine.time.0.saturating_add(length)));
            length = length.saturating_mul(4).min(LONGEST_STRETCH);
            scanner.trace.clear();
            let ended = run_to_system_call(&mut self.process, until, &mut scanner.trace);
            if let Some(found) = search.scan(&scanner.trace, &mut scanner.shapes, &self.origin) {
                break found;
            }
            let now = self.process.machine.time;
            let is_killed = matches!(ended, Ended::Interrupted | Ended::Process(Exit::Killed { .. }))
                && self.process.kernel.ended.is_some();
            if is_killed && search.open.is_empty() && search.goal.is_at(self.process.machine.cpu.rip, now) {
                self.process = self.origin.process();
                self.process.run(now, &mut Unwatched);
                break (Outcome::Reached, now);
            }
            match ended {
                Ended::Call(number) => {
                    search.note_kernel(&self.process);
                    search.writes.other_events += u64::from(number == SERVED);
                    search.last_event = Some(now);
                    if number != SERVED && !search.goal.permits(number) {
                        break (Outcome::Called, now);
                    }
                }
                Ended::Process(exit) => break (Outcome::Ended(exit), now),
                Ended::Interrupted => {
                    search.note_kernel(&self.process);
                    search.writes.other_events += 1;
                    search.last_event = Some(now);
                }
                Ended::Until if now >= deadline => break (Outcome::CutShort, now),
                Ended::Until => {}
            }
        };
        search.writes.merge();
        self.time = time;
        Arrival { outcome, time, writes: search.writes, last_event: search.last_event }
    }
}

enum Ended {
    Until,
    /// The system call of this number has been served, or a function of the heap.
    Call(u64),
    /// A signal handler was entered, or the process has just ended.
    Interrupted,
    Process(Exit),
}

fn run_to_system_call(process: &mut Process, until: Time, trace: &mut Trace) -> Ended {
    match process.run_to_event_traced(until, trace) {
        Event::Called(number) => Ended::Call(number),
        Event::Interrupted => Ended::Interrupted,
        Event::Exit(Exit::Until) => Ended::Until,
        Event::Exit(exit) => Ended::Process(exit),
    }
}

/// A walk over what ran, in search of a place.
struct Search<'g, G> {
    goal: &'g mut G,
    /// The stack pointer in the activation that counts.
    stack: u64,
    /// The calls that were made from this activation on and have not returned: where their return addresses are.
    open: Vec<u64>,
    writes: Writes,
    last_event: Option<Time>,
}

impl<G: Goal> Search<'_, G> {
    /// Goes on with a stretch; `Some` if it ends in it.
    fn scan(&mut self, trace: &Trace, shapes: &mut Shapes, origin: &Snapshot) -> Option<(Outcome, Time)> {
        let mut interruptions = trace.interruptions().iter().peekable();
        for pass in trace.forward() {
            while let Some(interruption) = interruptions.next_if(|known| known.time <= pass.time) {
                self.interrupt(interruption);
            }
            let shape = shapes.of(&pass);
            let count = shape.addresses().len();
            let place = if self.open.is_empty() { self.goal.place(&pass, shape) } else { None };
            if let Some(place) = place {
                shape.stores(&pass, place, |range| self.writes.add(range));
                for executed in pass.forward().take(place) {
                    executed.ops.iter().for_each(|op| op.writes(|reg| self.writes.registers.add(reg)));
                }
                return Some((Outcome::Reached, Time(pass.time.0 + place as u64)));
            }
            shape.stores(&pass, count, |range| self.writes.add(range));
            self.writes.registers.add_all(&shape.registers);
            let after = Time(pass.time.0 + count as u64);
            let word = |slot: u16| pass.words().get(usize::from(slot)).copied().unwrap_or(0);
            match shape.ending {
                Ending::Call { slot, .. } => {
                    self.forget_below(word(slot).saturating_add(8));
                    self.open.push(word(slot));
                }
                Ending::Return { slot } => {
                    self.forget_below(word(slot));
                    // From below this activation's stack, one that is of no call is a jump into it: exceptions are
                    // caught so.
                    if self.open.pop_if(|open| *open == word(slot)).is_none() && word(slot) >= self.stack {
                        return Some((Outcome::Left, after));
                    }
                }
                Ending::Indirect { stack: true } => {
                    let mut there = origin.process();
                    there.run(after, &mut Unwatched);
                    let stack = there.machine.cpu.get(Reg::RSP);
                    self.forget_below(stack);
                    if stack > self.stack {
                        return Some((Outcome::Left, after));
                    }
                }
                Ending::System => {
                    self.writes.system_calls += 1;
                    self.last_event = Some(after);
                }
                Ending::Next | Ending::Jump | Ending::Branch { .. } | Ending::Indirect { stack: false } => {}
            }
        }
        interruptions.for_each(|interruption| self.interrupt(interruption));
        None
    }

    /// A signal handler is like a call that nobody made; when it is left it has returned already.
    fn interrupt(&mut self, interruption: &Interruption) {
        if let InterruptionKind::Entered { slot, .. } = interruption.kind {
            self.open.push(slot);
        }
    }

    /// The stack ends here: activations below are gone.
    fn forget_below(&mut self, stack: u64) {
        while self.open.pop_if(|slot| *slot < stack).is_some() {}
    }

    fn note_kernel(&mut self, process: &Process) {
        for access in process.kernel.accesses.iter().filter(|access| access.write) {
            self.writes.add(access.address..access.address.saturating_add(access.length));
        }
    }
}

impl Writes {
    fn add(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        match self.memory.last_mut() {
            Some(last) if last.start <= range.start && range.start <= last.end => {
                last.end = last.end.max(range.end);
            }
            _ => self.memory.push(range),
        }
        if self.memory.len() >= self.merged * 2 + UNMERGED {
            self.merge();
        }
    }

    /// Adds what was written on another way.
    pub fn join(&mut self, other: &Writes) {
        other.memory.iter().for_each(|range| self.add(range.clone()));
        self.registers.add_all(&other.registers);
        self.system_calls += other.system_calls;
        self.other_events += other.other_events;
        self.merge();
    }

    fn merge(&mut self) {
        self.memory.sort_unstable_by_key(|range| range.start);
        self.memory.dedup_by(|next, previous| {
            let joins = next.start <= previous.end;
            if joins {
                previous.end = previous.end.max(next.end);
            }
            joins
        });
        self.merged = self.memory.len();
    }

    /// Whether a byte of the range was written.
    pub fn touches(&self, range: &Range<u64>) -> bool {
        let after = self.memory.partition_point(|written| written.start < range.end);
        self.memory.get(..after).and_then(<[_]>::last).is_some_and(|written| written.end > range.start)
    }
}
