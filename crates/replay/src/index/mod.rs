//! Execution indices: names of points that have a meaning in other runs, and the alignment of two runs by them.
//!
//! The n-th execution of a statement in one run is not that in another, as soon as one of them takes another way. The index of a
//! point is the path of regions around it: the calls, the sides of conditions, the iterations of loops. Points of two runs
//! with the same index are the same point. Regions open where a condition is decided and close where its ways
//! meet again, in the same activation. Trusted code is a point itself; what it calls back is numbered.

mod align;
mod keys;
mod path;
mod plan;
mod walk;

use machine::Time;
use program::Scope;

use crate::flow::Flow;
use crate::recording::Recording;

pub use align::{Aligned, Alignment, Point};
pub use keys::{ConditionKey, Keys, PointKey, keys_of_one, keys_of_two};
pub use path::{Index, Leaf, Region, Side};
pub use walk::{Event, Here, Indexer, Key, State};

/// How many states of the walk are kept.
const MOST_KEPT: usize = 32;

/// The indices of a recorded run.
pub struct Indices<'p> {
    indexer: Indexer<'p>,
    /// States of the walk that were come by, sorted by time.
    kept: Vec<(Time, State)>,
    spacing: u64,
}

impl<'p> Indices<'p> {
    pub fn new(flow: &'p Flow<'p>, scope: &'p Scope) -> Indices<'p> {
        let keys = keys_of_one(flow.program());
        Indices { indexer: Indexer::new(flow, scope, keys), kept: Vec::new(), spacing: 1 }
    }

    /// The index of the instruction that retires at `time`; `None` if the run ends before.
    pub fn at(&mut self, recording: &mut Recording, time: Time) -> Option<Index> {
        let after = self.kept.partition_point(|(kept, _)| *kept <= time);
        let known = self.kept.get(..after).and_then(<[_]>::last);
        let (start, state) = known.map_or_else(|| (recording.start(), State::default()), Clone::clone);
        self.indexer.restore(state);
        let mut found = None;
        recording.forward(start..Time(time.0.saturating_add(1)), |segment| {
            self.keep(segment.start);
            if time >= segment.end {
                self.indexer.follow(segment.trace, segment.before, |_| {});
                return true;
            }
            found = self.indexer.follow_to(time, segment.trace, segment.before);
            false
        });
        found
    }

    /// A walk that has come to the instruction that retires at `time`, to be gone on with in this run or in another one that
    /// parts from it there.
    pub fn walk_to(&mut self, recording: &mut Recording, time: Time) -> &mut Indexer<'p> {
        let after = self.kept.partition_point(|(kept, _)| *kept <= time);
        let known = self.kept.get(..after).and_then(<[_]>::last);
        // What the loader does leaves nothing open.
        let begin = Some(recording.program_start()).filter(|begin| *begin <= time);
        let begin = begin.unwrap_or(recording.start());
        let (start, state) = known.map_or_else(|| (begin, State::default()), Clone::clone);
        self.indexer.restore(state);
        recording.forward(start..time, |segment| {
            self.keep(segment.start);
            self.indexer.follow(segment.trace, segment.before, |_| {});
            true
        });
        &mut self.indexer
    }

    /// The most regions that were open at once, as far as the run was walked over.
    pub fn deepest(&self) -> usize {
        self.indexer.state().deepest()
    }

    /// Keeps the state at the start of a segment, unless there are enough so near.
    fn keep(&mut self, time: Time) {
        if self.kept.last().is_some_and(|(last, _)| time.0 < last.0.saturating_add(self.spacing)) {
            return;
        }
        self.kept.push((time, self.indexer.state().clone()));
        if self.kept.len() > MOST_KEPT {
            let mut keep = false;
            self.kept.retain(|_| {
                keep = !keep;
                keep
            });
            let (first, last) = (self.kept.first(), self.kept.last());
            let span = first.zip(last).map_or(1, |(first, last)| last.0.0 - first.0.0);
            self.spacing = (span / (MOST_KEPT as u64 / 2)).max(1);
        }
    }
}
