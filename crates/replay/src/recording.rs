//! A run from its start to its end, by checkpoints.
//!
//! There are two levels. The coarse checkpoints are made while the run is recorded: at most [`MOST_COARSE`], each the
//! same number of instructions after the other; when there are too many, every other one is dropped. A backward pass takes one
//! coarse stretch after the other, from the last to the first, runs through it once to make fine checkpoints, and then
//! through each fine segment, the last first, with a trace. So a pass over the whole run costs about two more runs, in
//! memory that does not depend on how long the run is.

use linux::{Exit, Process, SystemCall};
use machine::{Time, Trace, Unwatched};

/// Instructions between the first coarse checkpoints.
const FIRST_SPACING: u64 = 1 << 20;
/// A checkpoint keeps the pages that were written after it, so their number is what memory is bounded by.
const MOST_COARSE: usize = 64;
/// Instructions of a segment: its trace, some bytes an instruction, is to stay in the processor's cache.
const SEGMENT: u64 = 1 << 18;

/// A run that has ended.
pub struct Recording {
    /// Sorted by time; the first is the start.
    checkpoints: Vec<Process>,
    spacing: u64,
    /// The process as it ended.
    last: Process,
    exit: Exit,
    /// When the program itself began, once that has been asked.
    pub(crate) program_start: Option<Time>,
}

/// A stretch of the run, with a trace of it.
pub struct Segment<'a> {
    /// The state before it.
    pub before: &'a mut Process,
    pub start: Time,
    pub end: Time,
    pub trace: &'a Trace,
    /// In order.
    pub calls: &'a [SystemCall],
}

impl Recording {
    /// Runs a process from where it is to its end, or to `limit`.
    pub fn make(mut process: Process, limit: Time) -> Recording {
        let mut recording = Recording {
            checkpoints: vec![process.fork()],
            spacing: FIRST_SPACING,
            last: process.fork(),
            exit: Exit::Until,
            program_start: None,
        };
        let start = process.machine.time;
        let exit = loop {
            let now = process.machine.time;
            let next = Time(now.0.saturating_add(recording.spacing - (now.0 - start.0) % recording.spacing));
            let exit = process.run(next.min(limit), &mut Unwatched);
            if !matches!(exit, Exit::Until) || process.machine.time >= limit {
                break exit;
            }
            recording.add(process.fork());
        };
        recording.last = process;
        recording.exit = exit;
        recording
    }

    pub fn start(&self) -> Time {
        self.checkpoints.first().map_or(Time(0), |first| first.machine.time)
    }

    pub fn end(&self) -> Time {
        self.last.machine.time
    }

    /// How the run ended.
    pub fn exit(&self) -> &Exit {
        &self.exit
    }

    /// The process as it ended.
    pub fn last(&self) -> &Process {
        &self.last
    }

    /// The state before the instruction at `time`; of the end, if that is earlier.
    pub fn at(&mut self, time: Time) -> Process {
        if time >= self.end() {
            return self.last.fork();
        }
        let after = self.checkpoints.partition_point(|checkpoint| checkpoint.machine.time <= time);
        let nearest = self.checkpoints.get_mut(after.saturating_sub(1));
        let mut process = nearest.map_or_else(|| self.last.fork(), Process::fork);
        process.run(time, &mut Unwatched);
        process
    }

    /// Goes from `end` back to the start, segment by segment, as long as `visit` says true.
    pub fn backward(&mut self, end: Time, mut visit: impl FnMut(Segment<'_>) -> bool) {
        let mut end = end.min(self.end());
        let mut trace = Trace::new();
        let mut calls = Vec::new();
        for index in (0..self.checkpoints.len()).rev() {
            let Some(coarse) = self.checkpoints.get_mut(index) else { return };
            if coarse.machine.time >= end {
                continue;
            }
            let begin = coarse.machine.time;
            let mut fine = fine_checkpoints(coarse.fork(), end);
            while let Some(mut before) = fine.pop() {
                let start = before.machine.time;
                trace.clear();
                calls.clear();
                before.fork().run_followed(end, &mut trace, &mut calls);
                if !visit(Segment { before: &mut before, start, end, trace: &trace, calls: &calls }) {
                    return;
                }
                end = start;
            }
            end = begin;
        }
    }

    fn add(&mut self, checkpoint: Process) {
        self.checkpoints.push(checkpoint);
        if self.checkpoints.len() > MOST_COARSE {
            self.spacing *= 2;
            let (start, spacing) = (self.start().0, self.spacing);
            self.checkpoints.retain(|checkpoint| (checkpoint.machine.time.0 - start).is_multiple_of(spacing));
        }
    }
}

/// The start, and the state after each segment, up to `end`.
fn fine_checkpoints(mut process: Process, end: Time) -> Vec<Process> {
    let mut fine = vec![process.fork()];
    loop {
        let next = Time(process.machine.time.0 + SEGMENT);
        if next >= end || !matches!(process.run(next, &mut Unwatched), Exit::Until) {
            return fine;
        }
        fine.push(process.fork());
    }
}
