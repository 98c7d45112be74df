//! What lies on a way from one thing to another, and what lies on both sides of one.

use std::collections::BTreeSet;

use machine::Time;
use program::{State, Stmt};
use roaring::RoaringTreemap;

use super::ask::Question;
use super::code::Code;
use super::forward::operand_of;
use super::frames::found;
use super::need::Need;
use super::ran;
use super::seed::{Seed, SeedKind};
use super::slice::{Share, Slice, Source};
use super::step::{Cell, Follow, Step, Watch};
use super::transfer::{Output, Read, Transfer, Wish};
use crate::Recording;

impl Recording {
    /// What lies on a way from some criteria to others. The first are what a failing input differs in and the others are the
    /// failure: then this is the failure-inducing chop.
    ///
    /// Distances are from what it leads to. Where its chains end is not told: at the criteria.
    pub fn chop<W: Watch>(
        &mut self,
        code: &mut Code<'_>,
        from: &[Seed],
        to: &[Question],
        watch: &mut W,
    ) -> Slice {
        let mut marks = Marks::default();
        self.forward_slice(code, from, Follow::Full, &mut marks);
        self.slice_of_all(code, to, Follow::Full, &mut Within { marks: &marks, watch })
    }

    /// What something came from and what came of it: the bidirectional slice.
    pub fn both_ways<W: Watch>(&mut self, code: &mut Code<'_>, seed: &Seed, watch: &mut W) -> Bidirectional {
        let question = self.question_of(code, seed);
        let at = self.at(question.time);
        let program = code.program();
        let open = found(code, program, &State::of(&at.machine));
        drop(at);
        let mut before = Met { watch, makers: BTreeSet::new() };
        let backward = self.slice(code, &question, Follow::Full, &mut before);
        let Met { watch, makers: met_before } = before;
        let mut after = Met { watch, makers: BTreeSet::new() };
        let (forward, under_way) =
            self.forward_slice_with(code, std::slice::from_ref(seed), Follow::Full, &mut after);
        // A backward pass numbers those that have a statement.
        let mut numbers = 1..;
        let mut shared = Vec::new();
        for (found, number) in open.iter().zip(under_way) {
            let Some(stmt) = code.statement(found.stmt) else { continue };
            let is_before = numbers.next().is_some_and(|number| met_before.contains(&number));
            if is_before && number.is_some_and(|number| after.makers.contains(&number)) {
                shared.push(stmt.clone());
            }
        }
        Bidirectional { backward, forward, shared }
    }

    /// What a backward slice of the same begins with. Of a branch these are what it decides by and why control came there,
    /// of a statement instance only the latter.
    pub fn question_of(&mut self, code: &mut Code<'_>, seed: &Seed) -> Question {
        let time = seed.time;
        match &seed.kind {
            SeedKind::Cells(cells) => Question { time, cells: cells.clone(), why_here: false },
            SeedKind::Statement => Question { time, cells: Vec::new(), why_here: true },
            SeedKind::Decision => {
                let mut cells = Vec::new();
                self.forward(time..Time(time.0.saturating_add(1)), |segment| {
                    for pass in segment.trace.forward() {
                        let block = code.block(&pass);
                        if let Some(ran) = ran::last(&pass, &block)
                            && let Some((operand, bytes)) = operand_of(ran.ops)
                        {
                            let transfer = ran.transfer(Wish::new(Output::Slot(operand), bytes));
                            cells.extend(cells_of(transfer, ran.words));
                        }
                    }
                    false
                });
                Question { time, cells, why_here: true }
            }
        }
    }
}

/// The bytes that some bytes of a result come from.
fn cells_of(transfer: &Transfer, words: &[u64]) -> Vec<Cell> {
    let slots = transfer.slots.iter().map(|&(reg, bytes, _)| Cell::Register(reg, bytes));
    let reads = transfer.memory.iter().flat_map(|&Read { word, offset, bytes, .. }| {
        let word = words.get(usize::from(word)).copied().unwrap_or(0);
        let start = word.wrapping_add(u64::from(offset));
        let read = (0..8).filter(move |byte| bytes & 1 << byte != 0);
        read.map(move |byte| Cell::Memory { address: start.wrapping_add(byte), length: 1 })
    });
    slots.chain(reads).collect()
}

/// A bidirectional slice.
#[derive(Clone, Debug)]
pub struct Bidirectional {
    pub backward: Slice,
    pub forward: Slice,
    /// The statements of the instances that are in both: those that were under way at the instant.
    shared: Vec<Stmt>,
}

impl Bidirectional {
    /// Both as one. A statement's distance is the lesser of the two.
    pub fn all(&self) -> Slice {
        let mut all = self.backward.clone();
        all.add(self.forward.clone());
        for stmt in &self.shared {
            let Some(share) = all.statements.get_mut(stmt) else { continue };
            share.instances = share.instances.saturating_sub(1);
            share.data_instances = share.data_instances.min(share.instances);
            share.select_instances = share.select_instances.min(share.instances);
        }
        all
    }

    /// What of a failure-inducing chop it has as well: the bidirectional chop.
    pub fn chop(&self, inducing: &Slice) -> Slice {
        let is_in = |stmt: &Stmt| {
            self.backward.statements.contains_key(stmt) || self.forward.statements.contains_key(stmt)
        };
        let mut common = inducing.clone();
        common.statements.retain(|stmt, _| is_in(stmt));
        common.decisions = common.statements.values().map(|share: &Share| share.decisions).sum();
        common
    }
}

/// The instants at which something was made that came from a criterion.
#[derive(Default)]
struct Marks {
    times: RoaringTreemap,
    last: Option<Time>,
}

impl Watch for Marks {
    const WATCHES: bool = false;

    #[inline]
    fn carried(&mut self, time: Time) {
        if self.last.replace(time) != Some(time) {
            self.times.insert(time.0);
        }
    }
}

/// Follows only what is marked.
struct Within<'a, W> {
    marks: &'a Marks,
    watch: &'a mut W,
}

impl<W: Watch> Watch for Within<'_, W> {
    const WATCHES: bool = W::WATCHES;
    const CONTEXTS: bool = W::CONTEXTS;
    const CHOOSES: bool = true;

    fn step(&mut self, step: Step) {
        self.watch.step(step);
    }

    fn decides_within(&mut self, time: Time, distance: u32) {
        self.watch.decides_within(time, distance);
    }

    fn is_on_the_way(&mut self, time: Time) -> bool {
        self.marks.times.contains(time.0)
    }
}

/// Looks which of the statement instances that have small numbers are met: those that are under way at the criterion have.
struct Met<'a, W> {
    watch: &'a mut W,
    makers: BTreeSet<u32>,
}

/// As many as there may be activations at the criterion, and a few before it.
const SMALL: u32 = 1 << 17;

impl<W: Watch> Watch for Met<'_, W> {
    const CONTEXTS: bool = W::CONTEXTS;

    fn step(&mut self, step: Step) {
        if step.maker < SMALL {
            self.makers.insert(step.maker);
        }
        if W::WATCHES {
            self.watch.step(step);
        }
    }

    fn decides_within(&mut self, time: Time, distance: u32) {
        self.watch.decides_within(time, distance);
    }

    fn end(&mut self, user: Need, source: &Source) {
        self.watch.end(user, source);
    }
}
