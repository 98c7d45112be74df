//! Whether a crash was avoided or only not come to: the three cases of the paper.
//!
//! The instruction that failed is known in another run by its execution index. A trial comes to it and does not fail there; or it comes to it
//! and fails again; or it never comes to it, and nobody can tell whether the reason of the failure has gone.

use linux::Process;
use machine::{Time, Trace};
use replay::Recording;
use replay::index::{ConditionKey, Event, Here, Indexer, Indices, Key};

/// Instructions that are followed in one go.
const STRETCH: u64 = 1 << 15;

/// An execution of an instruction in scope, or of one that called the code in which a run is, by its execution index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    path: Vec<Key>,
    address: u64,
    /// The code that was called there, if the run is in that.
    within: Option<Key>,
    /// Where that was jumped to: the call of the function that jumped.
    left: Option<Key>,
}

/// What was done to a run in which a point is looked for.
#[derive(Clone, Copy, Debug)]
pub enum Altered {
    /// The decision that it begins with went the other way; by a jump, which leads to one of its sides at once, or by a value.
    First { by_jump: bool },
    /// All decisions of a condition did.
    All(Option<ConditionKey>),
}

/// What became of the point that failed, in another run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// It was come to.
    pub reached: bool,
    /// The run ended there.
    pub ended_there: bool,
    /// The condition right around it was decided the other way, and was not the one that was switched.
    pub guarded: bool,
}

impl Point {
    /// The point to which a recorded run comes at `time`.
    pub fn at(indices: &mut Indices<'_>, recording: &mut Recording, time: Time) -> Point {
        Point::of(indices.walk_to(recording, time), &mut recording.at(time))
    }

    /// That to which a run has come that `indexer` has followed.
    fn of(indexer: &mut Indexer<'_>, there: &mut Process) -> Point {
        indexer.arrive_at(there);
        let Here { depth, address, left } = indexer.here(there.machine.cpu.rip);
        let mut path = indexer.path();
        let within = path.get(depth).copied();
        path.truncate(depth);
        Point { path, address, within, left }
    }

    /// Looks for it in a run that begins where `indexer` is, up to the run's end or `deadline`. A run that panics goes on for some time after that;
    /// `panics` is the instruction with which this begins.
    pub fn seek(
        &self,
        indexer: &mut Indexer<'_>,
        process: &mut Process,
        altered: Altered,
        (panics, deadline): (Option<u64>, Time),
    ) -> Presence {
        let mut seeker = Seeker::new(self, indexer.path(), altered);
        let mut trace = Trace::new();
        indexer.wait_for([self.address].into_iter().chain(panics).collect());
        loop {
            let mut before = process.fork();
            let start = process.machine.time;
            let until = Time(start.0.saturating_add(STRETCH)).min(deadline);
            trace.clear();
            process.run_traced(until, &mut trace);
            indexer.follow(&trace, &mut before, |event| seeker.event(event));
            if process.kernel.ended.is_some()
                || process.machine.time >= deadline
                || process.machine.time == start
            {
                break;
            }
        }
        indexer.wait_for(Vec::new());
        seeker.presence.ended_there |= Point::of(indexer, process) == *self;
        seeker.presence
    }
}

struct Seeker<'a> {
    point: &'a Point,
    open: Vec<Key>,
    /// How many of the regions around the point are open.
    common: usize,
    altered: Altered,
    /// How many sides were entered.
    sides: u64,
    /// The run is in the code that was called at the point, since before it was followed.
    is_within: bool,
    presence: Presence,
}

impl<'a> Seeker<'a> {
    fn new(point: &'a Point, open: Vec<Key>, altered: Altered) -> Seeker<'a> {
        let common = open.iter().zip(&point.path).take_while(|(mine, theirs)| mine == theirs).count();
        let is_around = common == point.path.len();
        let is_within = is_around && point.within.is_some() && open.get(common) == point.within.as_ref();
        Seeker { point, open, common, altered, sides: 0, is_within, presence: Presence::default() }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Leave(depth) => {
                // What is around everything has no key.
                self.open.truncate(depth.saturating_sub(1));
                self.common = self.common.min(self.open.len());
                if self.is_within && self.open.len() <= self.point.path.len() {
                    // Who returns there has come through.
                    self.is_within = false;
                    self.presence.reached |= self.open.len() == self.point.path.len();
                }
            }
            Event::Enter(key) => {
                self.sides += u64::from(matches!(key, Key::Side { .. }));
                if let Some(wanted) = self.point.path.get(self.open.len()) {
                    self.enter(wanted, &key);
                }
                self.open.push(key);
            }
            Event::Come(address) => {
                if address == self.point.address {
                    self.presence.reached |= self.is_directly_in(self.point.left.as_ref());
                } else {
                    // A panic.
                    self.presence.ended_there |= self.is_directly_in(self.point.within.as_ref());
                }
            }
            Event::Statement { .. } => {}
        }
    }

    /// A region is entered where the point has another, or the same.
    fn enter(&mut self, wanted: &Key, key: &Key) {
        let (is_within, is_last) =
            (self.common == self.open.len(), self.open.len() + 1 == self.point.path.len());
        let is_answer = is_last && is_other_side(wanted, key) && !self.is_altered(key);
        self.presence.guarded |= is_within && is_answer;
        self.common += usize::from(is_within && wanted == key);
    }

    /// Whether the run is at the point's place, or in one call from there and in no call of the program's own from that.
    fn is_directly_in(&self, call: Option<&Key>) -> bool {
        let depth = self.point.path.len();
        let inner = self.open.get(depth..).unwrap_or(&[]);
        let is_there = match (inner.split_first(), call) {
            (None, None) => true,
            (Some((first, deeper)), Some(call)) => {
                first == call && !deeper.iter().any(|key| matches!(key, Key::Call { .. }))
            }
            _ => false,
        };
        is_there && self.common == depth
    }

    /// Whether a side that is just entered is one to which the run was made to go.
    fn is_altered(&self, side: &Key) -> bool {
        match (self.altered, side) {
            (Altered::First { by_jump }, _) => by_jump && self.sides == 1,
            (Altered::All(whole), Key::Side { condition, .. }) => *condition == whole,
            (Altered::All(_), _) => false,
        }
    }
}

/// Whether two regions are the sides of one decision.
fn is_other_side(one: &Key, other: &Key) -> bool {
    match (one, other) {
        (Key::Side { condition: a, side: x, count: m }, Key::Side { condition: b, side: y, count: n }) => {
            a == b && m == n && x != y
        }
        _ => false,
    }
}
