//! Writes beside a value: what should have replaced it may have gone to another element of the same array. No dependence leads
//! there, for the write that missed the value has no part in it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use machine::{Pass, Time};
use program::{Elements, State, Stmt};

use super::describe::View;
use crate::Recording;
use crate::dependence::{Code, Follow, Made, Need, Question, Source, Step, StmtId, Use, Watch};
use crate::events::{Shapes, accesses};

/// Values are looked at that are so near to what is asked about, and so many.
const FURTHEST: u32 = 2;
const MOST_VALUES: usize = 6;
/// So many are noted on the way, the last ones of the run: a long text has a value a byte.
const MOST_NOTED: usize = 1 << 12;

/// A statement that wrote beside a value between the instant at which that was made and the one at which it was used.
#[derive(Clone, Debug)]
pub struct Beside {
    pub stmt: Stmt,
    pub time: Time,
    pub range: Range<u64>,
}

/// A value that was kept in memory.
struct Kept {
    range: Range<u64>,
    since: Time,
    until: Time,
    distance: u32,
}

/// How near a write is to a value; the least is the nearest.
type Nearness = (u32, u64, Reverse<Time>);

impl Recording {
    /// The statements in scope that wrote beside what a question is about, the nearest first: to the same part of another element
    /// of the same array, after the value was made and before it was used.
    pub fn beside(&mut self, code: &mut Code<'_>, question: &Question) -> Vec<Beside> {
        let mut values = Values::new(self.program_start(), question.time);
        self.slice(code, question, Follow::Data, &mut values);
        let values = self.elements_among(code, values.nearest());
        let Some(since) = values.iter().map(|(value, _)| value.since).min() else { return Vec::new() };
        let until = values.iter().map(|(value, _)| value.until).max().unwrap_or(since);
        let mut shapes = Shapes::default();
        let mut found: BTreeMap<StmtId, (Nearness, Range<u64>)> = BTreeMap::new();
        let patience = self.patience().clone();
        self.forward(since..until, |segment| {
            let passes = segment.trace.forward().filter(|pass| writes_to(&mut shapes, pass, &values));
            passes.for_each(|pass| note_writes(code, &pass, &values, &mut found));
            !patience.is_over()
        });
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by_key(|(_, (nearness, _))| *nearness);
        let beside = |(id, ((_, _, Reverse(time)), range)): (StmtId, (Nearness, Range<u64>))| {
            Some(Beside { stmt: code.statement(id)?.clone(), time, range })
        };
        found.into_iter().filter_map(beside).collect()
    }

    /// Those values that are in elements of arrays, with these.
    fn elements_among(&mut self, code: &mut Code<'_>, mut values: Vec<Kept>) -> Vec<(Kept, Elements)> {
        values.sort_by_key(|value| value.until);
        let mut found = Vec::new();
        let mut values = values.into_iter().peekable();
        while let Some(until) = values.peek().map(|value| value.until) {
            let process = self.at(until);
            let state = State::of(&process.machine);
            let view = View::new(&state, code);
            while let Some(value) = values.next_if(|value| value.until == until) {
                found.extend(view.array(value.range.start).map(|array| (value, array)));
            }
        }
        found
    }
}

/// Whether a pass writes to one of the arrays.
fn writes_to(shapes: &mut Shapes, pass: &Pass<'_>, values: &[(Kept, Elements)]) -> bool {
    let mut writes = false;
    shapes.of(pass).stores(pass, pass.instructions().len(), |range| {
        writes |= values.iter().any(|(_, array)| array.range.contains(&range.start));
    });
    writes
}

fn note_writes(
    code: &mut Code<'_>,
    pass: &Pass<'_>,
    values: &[(Kept, Elements)],
    found: &mut BTreeMap<StmtId, (Nearness, Range<u64>)>,
) {
    for executed in pass.forward() {
        for access in accesses(&executed).into_iter().filter(|access| access.write) {
            let near = values.iter().filter_map(|value| nearness(value, &access.range, executed.time)).min();
            let (Some(near), id) = (near, code.statement_at(executed.address)) else { continue };
            if id == StmtId::NONE {
                continue;
            }
            let nearest = found.entry(id).or_insert_with(|| (near, access.range.clone()));
            if near < nearest.0 {
                *nearest = (near, access.range);
            }
        }
    }
}

/// How near a write is to a value, if it went to the same part of another element while the value was kept.
fn nearness((value, array): &(Kept, Elements), write: &Range<u64>, time: Time) -> Option<Nearness> {
    let is_between = value.since < time && time < value.until;
    let is_within = array.range.start <= write.start && write.end <= array.range.end;
    let gap = value.range.start.abs_diff(write.start);
    let is_alike = gap >= array.size && gap.is_multiple_of(array.size);
    (is_between && is_within && is_alike).then_some((value.distance, gap, Reverse(time)))
}

/// Watches a slice for values that were kept in memory.
struct Values {
    start: Time,
    asked: Time,
    /// When statement instances were executed that used something.
    users: HashMap<u32, Time>,
    found: Vec<Kept>,
}

impl Values {
    fn new(start: Time, asked: Time) -> Values {
        Values { start, asked, users: HashMap::new(), found: Vec::new() }
    }

    fn used_by(&self, user: u32) -> Time {
        self.users.get(&user).copied().unwrap_or(self.asked)
    }

    fn add(&mut self, range: Range<u64>, since: Time, until: Time, distance: u32) {
        let has_room = self.found.len() < MOST_NOTED;
        // Bytes of one value are told one by one where a chain ends.
        let last = self.found.last_mut().filter(|last| (last.since, last.until) == (since, until));
        match last.filter(|last| last.range.end == range.start) {
            Some(last) => last.range.end = range.end,
            None if has_room => self.found.push(Kept { range, since, until, distance }),
            None => {}
        }
    }

    /// The nearest to what is asked about, each place once.
    fn nearest(mut self) -> Vec<Kept> {
        self.found.sort_by_key(|kept| (kept.distance, Reverse(kept.until), kept.range.start));
        let mut seen = HashSet::new();
        self.found.retain(|kept| seen.insert(kept.range.clone()));
        self.found.truncate(MOST_VALUES);
        self.found
    }
}

impl Watch for Values {
    fn step(&mut self, step: Step) {
        if step.distance > FURTHEST || self.users.len() >= MOST_NOTED {
            return;
        }
        let until = self.used_by(step.user);
        let user = self.users.entry(step.maker).or_insert(step.time);
        *user = step.time.max(*user);
        if let Made::Memory { address, length } = step.made
            && step.how != Use::Address
            && !step.in_library
        {
            self.add(address..address.saturating_add(length), step.time, until, step.distance);
        }
    }

    fn end(&mut self, user: Need, source: &Source) {
        if let Source::Initial { address } | Source::Uninitialised { address } = *source
            && user.distance() < FURTHEST
            && user.how() != Use::Address
        {
            let until = self.used_by(user.user());
            self.add(address..address.saturating_add(1), self.start, until, user.distance() + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_noted_once_each_byte_by_byte_and_not_without_bound() {
        let mut values = Values::new(Time(0), Time(100));
        for byte in 0..4 {
            values.add(byte..byte + 1, Time(0), Time(9), 2);
        }
        values.add(64..68, Time(3), Time(8), 1);
        values.add(64..68, Time(1), Time(2), 2);
        for place in 0..100_000 {
            values.add(1000 + 8 * place..1004 + 8 * place, Time(5), Time(6), 2);
        }
        assert_eq!(values.found.len(), MOST_NOTED);
        let nearest = values.nearest();
        assert_eq!(nearest.len(), MOST_VALUES);
        assert_eq!(nearest[0].range, 64..68);
        assert_eq!(nearest[1].range, 0..4);
        assert!(nearest[2..].iter().all(|kept| kept.range.start >= 1000));
    }
}
