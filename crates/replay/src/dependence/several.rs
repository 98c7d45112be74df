//! Slices of several criteria: each is asked about when the pass comes to its time.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::iter::Peekable;

use linux::SystemCall;
use machine::{Time, Trace};
use program::State;

use super::ask::Question;
use super::backward::Backward;
use super::code::Code;
use super::slice::{Share, Slice};
use super::step::{Follow, Watch};
use crate::{Recording, Segment};

impl Recording {
    /// What several criteria depend on.
    pub fn slice_of_all<W: Watch>(
        &mut self,
        code: &mut Code<'_>,
        questions: &[Question],
        follow: Follow,
        watch: &mut W,
    ) -> Slice {
        let mut sorted: Vec<&Question> = questions.iter().collect();
        sorted.sort_by_key(|question| Reverse(question.time));
        let mut open = sorted.into_iter().peekable();
        let begin = self.program_start();
        let mut slice = Slice::default();
        while let Some(end) = open.peek().map(|question| question.time) {
            let at = self.at(end);
            let mut pass = Backward::new(code, &State::of(&at.machine), begin, follow, watch);
            if let Follow::Relevant(_) = follow {
                pass.remember(std::mem::take(&mut self.experiments), self.patience.clone());
            }
            ask_until(&mut pass, &mut open, end);
            let patience = self.patience.clone();
            self.backward(end, |segment| {
                let start = segment.start;
                pass_and_ask(&mut pass, segment, &mut open);
                !pass.is_done() && start > begin && !patience.is_over()
            });
            // What the next criterion is needs is all before the time at which nothing was left to be looked for here, so
            // that no instance is counted twice.
            self.experiments = pass.experiments().unwrap_or_else(|| std::mem::take(&mut self.experiments));
            slice.add(pass.finish());
        }
        slice
    }
}

type Questions<'a, I> = &'a mut Peekable<I>;

/// Asks all that is about the state before `time`, or after.
fn ask_until<'q, W: Watch>(
    pass: &mut Backward<'_, '_, W>,
    open: Questions<'_, impl Iterator<Item = &'q Question>>,
    time: Time,
) {
    while let Some(question) = open.next_if(|question| question.time >= time) {
        question.cells.iter().for_each(|cell| pass.ask(*cell));
        if question.why_here {
            pass.ask_why_here();
        }
    }
}

/// Goes over a segment, in pieces where a criterion lies inside of it.
fn pass_and_ask<'q, W: Watch>(
    pass: &mut Backward<'_, '_, W>,
    segment: Segment<'_>,
    open: Questions<'_, impl Iterator<Item = &'q Question>>,
) {
    let Segment { before, start, mut end, trace, calls } = segment;
    ask_until(pass, open, end);
    if open.peek().is_none_or(|question| question.time <= start) {
        pass.pass(Segment { before, start, end, trace, calls });
        return;
    }
    while let Some(time) = open.peek().map(|question| question.time).filter(|time| *time > start) {
        let mut middle = before.fork();
        middle.run(time, &mut machine::Unwatched);
        let (trace, calls) = traced(&mut middle.fork(), end);
        pass.pass(Segment { before: &mut middle, start: time, end, trace: &trace, calls: &calls });
        if pass.is_done() {
            return;
        }
        ask_until(pass, open, time);
        end = time;
    }
    let (trace, calls) = traced(&mut before.fork(), end);
    pass.pass(Segment { before, start, end, trace: &trace, calls: &calls });
}

fn traced(process: &mut linux::Process, end: Time) -> (Trace, Vec<SystemCall>) {
    let (mut trace, mut calls) = (Trace::new(), Vec::new());
    process.run_followed(end, &mut trace, &mut calls);
    (trace, calls)
}

impl Slice {
    /// Adds a slice with which this one has no instance in common.
    pub(super) fn add(&mut self, other: Slice) {
        for (stmt, share) in other.statements {
            match self.statements.entry(stmt) {
                Entry::Vacant(entry) => {
                    entry.insert(share);
                }
                Entry::Occupied(mut entry) => entry.get_mut().add(&share),
            }
        }
        for (source, distance) in other.sources {
            let nearest = self.sources.entry(source).or_insert(distance);
            *nearest = distance.min(*nearest);
        }
        self.decisions += other.decisions;
        if let Some(tried) = other.tried {
            self.tried.get_or_insert_default().add(tried);
        }
        self.instructions += other.instructions;
    }
}

impl Share {
    fn add(&mut self, other: &Share) {
        self.instances += other.instances;
        self.data_instances += other.data_instances;
        self.select_instances += other.select_instances;
        self.decisions += other.decisions;
        self.omissions += other.omissions;
        self.weak_omissions += other.weak_omissions;
        self.distance = self.distance.min(other.distance);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}
