//! A run from its start to its end, by checkpoints.
//!
//! Checkpoints are made while the run is recorded: at most [`MOST_COARSE`], each the same number of instructions after
//! the other; when there are too many, every other one is dropped. A backward pass takes one stretch after the other, from
//! the last to the first, runs through it to make at most [`MOST_FINE`] checkpoints in it, and so on until stretches
//! are short enough to be traced. So a pass over the whole run costs two or three more runs, a traced one included, with a
//! number of checkpoints alive that hardly depends on how long the run is. Where much memory is written there are fewer, and what
//! they take beyond a budget goes to a nameless file.

mod backward;
mod spill;
mod store;

use std::ops::Range;
use std::path::PathBuf;

use linux::{Exit, Process, Snapshot, SystemCall};
use machine::{Intervention, Observer, Time, Trace, Unwatched};

use crate::dependence::Experiments;
use crate::diversion::Diversion;
use crate::gauge::Gauge;
use crate::patience::Patience;
use store::Store;

/// Instructions between the first coarse checkpoints.
const FIRST_SPACING: u64 = 1 << 16;
/// A checkpoint keeps the pages that were written after it, so their number is what memory is bounded by.
const MOST_COARSE: usize = 32;
/// So many are kept even if they take more than the budget; then they go to a file.
const FEWEST_COARSE: usize = 8;
/// A page that has to be copied because a checkpoint has it costs some hundred instructions. There are so few checkpoints
/// that all copies together cost less than a tenth of the run; but one for this many instructions, so that none is far away.
const PAGE_COST: u64 = 4096;
const LONGEST_SPACING: u64 = 1 << 25;
/// Checkpoints that one stretch is divided by.
const MOST_FINE: u64 = 256;
/// Bytes that checkpoints may take, however little memory the program has: those that last as long as the recording, and those
/// of one pass, which costs more where they are few.
const LEAST_COARSE: u64 = 6 << 20;
const LEAST_FINE: u64 = 10 << 20;
/// Instructions of a segment: its trace, some bytes an instruction, is to stay in the processor's cache.
const SEGMENT: u64 = 1 << 17;
/// So many segments are traced before they are looked at, so that nobody waits while a stretch is divided.
const AHEAD: usize = 4;
/// How much longer stretches are, a level up.
const LEVEL: u64 = 16;

/// How a run is recorded.
#[derive(Clone, Debug)]
pub struct Options {
    /// The run is cut off here.
    pub limit: Time,
    /// Bytes that the pages of checkpoints may take at most. What is more goes to a temporary file.
    pub memory: u64,
    /// Where that file is made; it has no name there.
    pub directory: PathBuf,
    /// Shows how many instructions the run has executed so far.
    pub gauge: Gauge,
}

impl Options {
    pub const DEFAULT_MEMORY: u64 = 256 << 20;
}

impl Default for Options {
    fn default() -> Options {
        let directory = std::env::temp_dir();
        Options { limit: Time(u64::MAX), memory: Options::DEFAULT_MEMORY, directory, gauge: Gauge::default() }
    }
}

impl From<Time> for Options {
    fn from(limit: Time) -> Options {
        Options { limit, ..Options::default() }
    }
}

/// A run that has ended.
pub struct Recording {
    /// Where all begins, should nothing else be readable any more.
    first: Snapshot,
    checkpoints: Store,
    /// The state that was last asked for.
    recent: Option<Snapshot>,
    /// The process as it ended.
    last: Process,
    exit: Exit,
    /// Up to when code was executed that had not been before.
    last_news: Time,
    options: Options,
    /// When the program itself began, once that has been asked.
    pub(crate) program_start: Option<Time>,
    /// What came of making its conditions go the other way.
    pub(crate) experiments: Experiments,
    /// Of who waits for slices.
    pub(crate) patience: Patience,
    gauge: Gauge,
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
    /// Runs a process from where it is to its end, or to the limit; a time alone is taken as the limit.
    pub fn make(mut process: Process, options: impl Into<Options>) -> Recording {
        let options = options.into();
        let first = process.snapshot();
        let mut checkpoints =
            Store::new(process.snapshot(), options.memory / 2, LEAST_COARSE, &options.directory);
        let start = process.machine.time.0;
        let mut spacing = FIRST_SPACING;
        let mut last_news = process.machine.time;
        let exit = loop {
            let now = process.machine.time.0;
            let next = Time(now.saturating_add(spacing - (now - start) % spacing));
            let known = process.machine.block_count_without_news();
            let exit = process.run(next.min(options.limit), &mut Unwatched);
            if process.machine.block_count() > known {
                last_news = process.machine.time;
            }
            if !matches!(exit, Exit::Until) || process.machine.time >= options.limit {
                break exit;
            }
            options.gauge.set(process.machine.time.0);
            let pages = checkpoints.push(process.snapshot());
            let is_dear = pages.saturating_mul(PAGE_COST) > spacing && spacing < LONGEST_SPACING;
            let is_over = checkpoints.is_over(&process) && checkpoints.len() > FEWEST_COARSE;
            if is_dear || is_over || checkpoints.len() > MOST_COARSE {
                spacing = spacing.saturating_mul(2);
                checkpoints.thin(|time| (time.0 - start).is_multiple_of(spacing));
            }
            checkpoints.spill(&process);
        };
        Recording {
            first,
            checkpoints,
            recent: None,
            last: process,
            exit,
            last_news,
            options,
            program_start: None,
            experiments: Experiments::default(),
            patience: Patience::default(),
            gauge: Gauge::default(),
        }
    }

    pub fn start(&self) -> Time {
        self.first.time()
    }

    pub fn end(&self) -> Time {
        self.last.machine.time
    }

    /// Up to when, or a little earlier, code was executed that had not been executed before. What comes after it are rounds of loops.
    pub fn last_news(&self) -> Time {
        self.last_news
    }

    /// How the run ended.
    pub fn exit(&self) -> &Exit {
        &self.exit
    }

    /// The process as it ended.
    pub fn last(&self) -> &Process {
        &self.last
    }

    /// From now on slices end early, with what they have, when nobody waits any longer. What is nearest in time to what is asked about
    /// is always looked at.
    pub fn wait_no_longer_than(&mut self, patience: Patience) {
        self.patience = patience;
    }

    pub fn patience(&self) -> &Patience {
        &self.patience
    }

    /// How far the pass at hand has come.
    pub fn gauge(&self) -> Gauge {
        self.gauge.clone()
    }

    /// How many checkpoints there are, and how many of them have their pages in a file.
    pub fn checkpoints(&self) -> (usize, usize) {
        (self.checkpoints.len(), self.checkpoints.spilled())
    }

    /// The state before the instruction at `time`; of the end, if that is earlier.
    pub fn at(&mut self, time: Time) -> Process {
        if time >= self.end() {
            return self.last.fork();
        }
        let mut process = self.nearest(time);
        process.run(time, &mut Unwatched);
        self.recent = Some(process.snapshot());
        process
    }

    /// Runs through a stretch once more, with an observer. Before its end the process may end.
    pub fn events<O: Observer>(&mut self, range: Range<Time>, observer: &mut O) -> Exit {
        self.at(range.start).run(range.end, observer)
    }

    /// A run that goes another way from `time` on.
    pub fn divert(&mut self, time: Time, interventions: &[Intervention]) -> Diversion {
        Diversion::new(&mut self.at(time), interventions)
    }

    /// Goes from one instant to another, segment by segment, as long as `visit` says true.
    pub fn forward(&mut self, range: Range<Time>, mut visit: impl FnMut(Segment<'_>) -> bool) {
        let last = range.end.min(self.end());
        let mut process = self.at(range.start);
        let (mut trace, mut calls) = (Trace::new(), Vec::new());
        let first = process.machine.time;
        self.gauge.begin(last.0.saturating_sub(first.0));
        while process.machine.time < last {
            let start = process.machine.time;
            let end = last.min(Time(start.0.saturating_add(SEGMENT)));
            let mut before = process.fork();
            trace.clear();
            calls.clear();
            process.run_followed(end, &mut trace, &mut calls);
            let end = process.machine.time;
            self.gauge.set(start.0 - first.0);
            if end == start
                || !visit(Segment { before: &mut before, start, end, trace: &trace, calls: &calls })
            {
                return;
            }
        }
    }

    /// The last state before `time` that is at hand.
    /// From now on passes can begin at this time without running what is before. Code that is mapped before it is lifted once for
    /// all of them, not for each.
    pub(crate) fn keep_checkpoint(&mut self, time: Time) {
        let is_there = self.checkpoints.time(self.checkpoints.before(time)) == Some(time);
        if !is_there && time < self.end() {
            let snapshot = self.at(time).snapshot();
            self.checkpoints.insert(snapshot);
        }
    }

    fn nearest(&self, time: Time) -> Process {
        let index = self.checkpoints.before(time);
        let recent = self.recent.as_ref().filter(|recent| {
            recent.time() <= time && self.checkpoints.time(index).is_none_or(|stored| stored < recent.time())
        });
        if let Some(recent) = recent {
            return recent.process();
        }
        let mut found = (0..=index).rev().filter_map(|index| self.checkpoints.open(index));
        found.next().unwrap_or_else(|| self.first.process())
    }
}
