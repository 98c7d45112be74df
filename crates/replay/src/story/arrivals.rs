//! When a run comes to a line, and when it leaves a statement again.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use lift::{Op, Reg, Value};
use linux::Exit;
use machine::{Cpu, Observer, Time};
use program::LinePlaces;

use crate::{Recording, Shapes};

/// The executions of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// When the wanted one begins.
    pub time: Time,
    /// Which one that is, from 1, and how many there are.
    pub hit: u64,
    pub hits: u64,
}

/// Instructions between two looks at whether a statement has been left.
const STRETCH: u64 = 1 << 12;

/// The code of a line, as a run passes through it.
struct Line {
    starts: BTreeSet<u64>,
    ranges: Vec<Range<u64>>,
}

impl Line {
    fn of(places: &LinePlaces) -> Line {
        let ranges = places.statements.iter().flat_map(|placed| placed.ranges.iter().cloned());
        Line { starts: places.starts.iter().copied().collect(), ranges: ranges.collect() }
    }

    fn contains(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }

    /// Whether an execution begins here. Compilers scatter the code of a statement, so that going on to another piece of
    /// it is no new one, but going back is.
    fn begins(&self, before: u64, address: u64) -> bool {
        self.starts.contains(&address) && (!self.contains(before) || address <= before)
    }
}

/// The execution of a line that is wanted, or else how many there are. `hit` counts from 1; `None` is the last.
pub(super) fn arrival(
    recording: &mut Recording,
    places: &LinePlaces,
    hit: Option<u64>,
) -> Result<Arrival, u64> {
    let line = Line::of(places);
    let (mut hits, mut found) = (0u64, None);
    let mut note = |time: Time| {
        hits += 1;
        if hit.is_none_or(|wanted| wanted == hits) {
            found = Some((time, hits));
        }
    };
    let mut shapes = Shapes::default();
    // For each shape the instructions of it that are starts.
    let mut known: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut before = 0;
    let (start, end) = (recording.start(), recording.end());
    recording.forward(start..end, |segment| {
        for pass in segment.trace.forward() {
            let place = shapes.place(&pass);
            let Some(shape) = shapes.get(place) else { continue };
            let offsets = known.entry(place).or_insert_with(|| {
                let addresses = shape.addresses().iter().enumerate();
                let starts = addresses.filter(|(_, address)| line.starts.contains(address));
                starts.map(|(offset, _)| offset).collect()
            });
            for offset in offsets.iter() {
                let address = shape.addresses().get(*offset).copied().unwrap_or(0);
                let previous = offset.checked_sub(1).and_then(|index| shape.addresses().get(index).copied());
                if line.begins(previous.unwrap_or(before), address) {
                    note(Time(pass.time.0 + *offset as u64));
                }
            }
            before = shape.last();
        }
        true
    });
    // An instruction that faults has not been executed, and so is not in the trace.
    let last = recording.last().machine.cpu.rip;
    if matches!(recording.exit(), Exit::Killed { fault: Some(_), .. }) && line.begins(before, last) {
        note(recording.end());
    }
    found.map(|(time, hit)| Arrival { time, hit, hits }).ok_or(hits)
}

/// When an instruction was executed for the last time.
pub(super) fn last_execution(recording: &mut Recording, address: u64) -> Option<Time> {
    let mut found = None;
    let mut shapes = Shapes::default();
    recording.backward(recording.end(), |segment| {
        found = segment.trace.backward().find_map(|pass| {
            let offset = shapes.of(&pass).find(address)?;
            Some(Time(pass.time.0 + offset as u64))
        });
        found.is_none()
    });
    found
}

/// What a statement did until it was left.
#[derive(Debug)]
pub(super) struct Passage {
    /// When the first instruction after it runs; `None` when the run ends in it.
    pub left: Option<Time>,
    /// Whether it wrote to one of the watched ranges.
    pub wrote: bool,
    /// When its last branch decided.
    pub decided: Option<Time>,
}

/// Runs through the statement that begins at `time`, and sees whether it writes to some memory.
pub(super) fn pass_through(
    recording: &mut Recording,
    places: &LinePlaces,
    time: Time,
    watched: &[Range<u64>],
) -> Passage {
    let mut process = recording.at(time);
    let mut passing = Passing {
        line: Line::of(places),
        begin: time,
        stack: process.machine.cpu.get(Reg::RSP),
        watched,
        passage: Passage { left: None, wrote: false, decided: None },
    };
    let end = recording.end();
    while passing.passage.left.is_none() && process.machine.time < end {
        let next = Time(process.machine.time.0.saturating_add(STRETCH)).min(end);
        if !matches!(process.run(next, &mut passing), Exit::Until) {
            break;
        }
    }
    passing.passage
}

struct Passing<'a> {
    line: Line,
    begin: Time,
    /// What is called runs below this.
    stack: u64,
    watched: &'a [Range<u64>],
    passage: Passage,
}

impl Observer for Passing<'_> {
    fn instruction(&mut self, time: Time, address: u64, ops: &[Op], cpu: &Cpu) {
        let is_called = cpu.get(Reg::RSP) < self.stack;
        let begins_again = time > self.begin && self.line.starts.contains(&address);
        if self.passage.left.is_none() && !is_called && (begins_again || !self.line.contains(address)) {
            self.passage.left = Some(time);
        }
        let decides = matches!(ops.last(), Some(Op::Branch { .. } | Op::Jump { target: Value::Reg(_) }));
        if decides && self.passage.left.is_none() && !is_called {
            self.passage.decided = Some(time);
        }
    }

    fn store(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        let touches = self.watched.iter().any(|range| range.start < end && address < range.end);
        self.passage.wrote |= self.passage.left.is_none() && touches;
    }
}
