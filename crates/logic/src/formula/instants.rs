//! When the statements of a slice were executed.

use machine::{Executed, Time};
use replay::{Code, Recording, Slice, StmtId};
use rustc_hash::FxHashMap;

use crate::concolic::Naming;

/// So many instructions are followed with terms; of longer runs the last ones.
const MOST: usize = 1 << 21;

/// The instructions of a slice's statements in a run.
pub struct Instants {
    instants: Vec<Time>,
    /// Where another statement begins.
    stretches: Vec<Time>,
    pub is_cut_short: bool,
}

/// The share that the code at an address has in a slice.
#[derive(Clone, Copy)]
struct Part {
    statement: StmtId,
    first: Time,
    last: Time,
}

impl Instants {
    /// Those before a time.
    pub fn of(recording: &mut Recording, code: &mut Code<'_>, slice: &Slice, until: Time) -> Instants {
        let mut parts: FxHashMap<u64, Option<Part>> = FxHashMap::default();
        let first = slice.statements.values().map(|share| share.first).min().unwrap_or(until);
        let mut found = Instants { instants: Vec::new(), stretches: Vec::new(), is_cut_short: false };
        let mut statement = None;
        recording.forward(first..until, |segment| {
            for pass in segment.trace.forward() {
                for Executed { time, address, .. } in pass.forward() {
                    let part = *parts.entry(address).or_insert_with(|| part_of(code, slice, address));
                    let own = part.filter(|part| (part.first..=part.last).contains(&time));
                    let now = own.map(|part| part.statement);
                    if now != statement {
                        found.stretches.push(time);
                        statement = now;
                    }
                    found.instants.extend(now.map(|_| time));
                }
            }
            found.forget_the_earliest();
            true
        });
        found
    }

    fn forget_the_earliest(&mut self) {
        if self.instants.len() > 2 * MOST {
            self.instants.drain(..self.instants.len() - MOST);
            let first = self.instants.first().copied().unwrap_or(Time(0));
            self.stretches.retain(|start| *start >= first);
            self.is_cut_short = true;
        }
    }

    pub fn first(&self) -> Option<Time> {
        self.instants.first().copied()
    }

    pub fn naming(&self) -> Naming {
        Naming::Instants {
            instants: self.instants.as_slice().into(),
            stretches: self.stretches.as_slice().into(),
        }
    }
}

fn part_of(code: &mut Code<'_>, slice: &Slice, address: u64) -> Option<Part> {
    let id = code.statement_at(address);
    let stmt = code.statement(id)?;
    let share = slice.statements.get(stmt)?;
    Some(Part { statement: id, first: share.first, last: share.last })
}
