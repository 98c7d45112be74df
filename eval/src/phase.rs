//! One phase of work on a run, in a process of its own.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use linux::fs::Stream;
use linux::{Config, Exit, Place, Process};
use machine::{Action, Intervention, Time, Unwatched};
use program::{Program, Scope};
use replay::events::Ending;
use replay::index::{Alignment, Indexer, Indices, keys_of_one};
use replay::{Cell, Code, Diversion, Flow, Follow, Outcome, Question, Recording, Scanner, Shapes, Unseen};

/// Random instants that are looked up in a recording.
const SEEKS: u64 = 20;
/// Instructions whose branches are made to go the other way, and how far each is followed.
const DIVERTED: u64 = 200_000;
const LONGEST: u64 = 10_000;

/// What is done with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Runs it, nobody watching.
    Run,
    /// Records it.
    Record,
    /// Records it and follows the last byte of its output backwards.
    Slice,
    /// Records it and goes to random instants.
    Seek,
    /// Records it and passes over it from its end to its start.
    Backward,
    /// Records it and tells the execution index of its last instruction.
    Index,
    /// Aligns two runs of it, statement instance by statement instance.
    Align,
    /// Records it and makes the branches of some 200,000 instructions in its middle go the other way, one by one.
    Divert,
}

#[derive(Debug, Args)]
pub struct Phase {
    pub what: What,
    #[arg(trailing_var_arg = true)]
    pub command: Vec<OsString>,
}

impl Phase {
    /// Prints the instructions of the run and the time that the phase took, without what it needs before.
    pub fn run(&self) -> Result<()> {
        let program = self.command.first().context("a program to run")?;
        let argv = self.command.iter().map(|word| word.as_bytes().to_vec()).collect();
        let config = Config { argv, ..Config::new(PathBuf::from(program)) };
        let mut process = Process::load(&config)?;
        let start = Start::now();
        if self.what == What::Run {
            match process.run(Time(u64::MAX), &mut Unwatched) {
                Exit::Exited(0) => {}
                other => bail!("the program ended otherwise: {other:?}"),
            }
            return tell(process.machine.time, start.taken());
        }
        let mut recording = Recording::make(process, Time(u64::MAX));
        let recorded = start.taken();
        let taken = match self.what {
            What::Run | What::Record => recorded,
            What::Slice => slice(&mut recording)?,
            What::Seek => seek(&mut recording),
            What::Backward => timed(|| recording.backward(Time(u64::MAX), |_| true)),
            What::Index => index(&mut recording)?,
            What::Divert => divert(&mut recording),
            What::Align => align(&mut recording),
        };
        tell(recording.end(), taken)
    }
}

/// What a phase took.
#[derive(Clone, Copy, Default)]
struct Taken {
    wall: Duration,
    /// Processor time of the thread that somebody waits for. A pass has another one, which traces ahead.
    processor: Duration,
}

struct Start {
    wall: Instant,
    processor: Duration,
}

impl Start {
    fn now() -> Start {
        Start { wall: Instant::now(), processor: own_processor_time() }
    }

    fn taken(&self) -> Taken {
        let processor = own_processor_time().saturating_sub(self.processor);
        Taken { wall: self.wall.elapsed(), processor }
    }
}

fn own_processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for writing.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
        + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

fn tell(end: Time, taken: Taken) -> Result<()> {
    eprintln!("instructions: {}\nnanoseconds: {}", end.0, taken.wall.as_nanos());
    eprintln!("processor nanoseconds: {}", taken.processor.as_nanos());
    Ok(())
}

fn slice(recording: &mut Recording) -> Result<Taken> {
    let program = Program::from_memory(&recording.last().machine.memory);
    let mut code = Code::new(&program, Scope::new(&[], &[])?);
    // The last byte is the end of a line.
    let offset = recording.last().kernel.output.length(Stream::Stdout).saturating_sub(2);
    let place = Place::Output { stream: Stream::Stdout, offset };
    let question =
        Question { time: recording.end(), cells: vec![Cell::Kernel { place, length: 1 }], why_here: false };
    let start = Start::now();
    let slice = recording.slice(&mut code, &question, Follow::Full, &mut Unseen);
    if slice.statements.len() < 10 {
        bail!("the slice has only {} statements", slice.statements.len());
    }
    Ok(start.taken())
}

/// The longest of some.
fn seek(recording: &mut Recording) -> Taken {
    let mut longest = Taken::default();
    for number in 1..=SEEKS {
        let time = Time(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % recording.end().0.max(1));
        let taken = timed(|| _ = recording.at(time));
        longest = if taken.wall > longest.wall { taken } else { longest };
    }
    longest
}

fn timed(work: impl FnOnce()) -> Taken {
    let start = Start::now();
    work();
    start.taken()
}

fn index(recording: &mut Recording) -> Result<Taken> {
    let program = Program::from_memory(&recording.last().machine.memory);
    let (flow, scope) = (Flow::new(&program), Scope::default());
    let start = Start::now();
    let last = Time(recording.end().0.saturating_sub(1));
    Indices::new(&flow, &scope).at(recording, last).context("an index of the last instruction")?;
    Ok(start.taken())
}

fn align(recording: &mut Recording) -> Taken {
    let program = Program::from_memory(&recording.last().machine.memory);
    let (flow, scope) = (Flow::new(&program), Scope::default());
    let keys = keys_of_one(&program);
    let mut side = || (recording.at(recording.start()), Indexer::new(&flow, &scope, keys.clone()));
    let mut alignment = Alignment::new(side(), side());
    let mut instances = 0;
    let taken = timed(|| instances = alignment.by_ref().count());
    eprintln!("statement instances: {instances}");
    taken
}

/// What all diversions take together.
fn divert(recording: &mut Recording) -> Taken {
    let program = Program::from_memory(&recording.last().machine.memory);
    let flow = Flow::new(&program);
    let (mut scanner, mut shapes) = (Scanner::default(), Shapes::default());
    let (mut count, mut reached, mut taken) = (0u64, 0u64, Taken::default());
    let middle = Time(recording.end().0 / 2);
    recording.forward(middle..Time(middle.0 + DIVERTED), |segment| {
        let mut process = segment.before.fork();
        for pass in segment.trace.forward() {
            let shape = shapes.of(&pass);
            let Ending::Branch { .. } = shape.ending else { continue };
            let Some(function) = flow.function(shape.last()) else { continue };
            let time = Time(pass.time.0 + (shape.addresses().len() as u64).saturating_sub(1));
            process.run(time, &mut Unwatched);
            let flip = Intervention::At(time, Action::FlipBranch);
            let one = timed(|| {
                let mut diversion = Diversion::new(&mut process, &[flip]);
                let arrival = diversion.run_to(function.reconvergence(shape.last()), LONGEST, &mut scanner);
                reached += u64::from(arrival.outcome == Outcome::Reached);
            });
            taken.wall += one.wall;
            taken.processor += one.processor;
            count += 1;
        }
        true
    });
    eprintln!("diversions: {count}\nreached: {reached}");
    taken
}
