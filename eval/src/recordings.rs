//! Recordings: what it costs to record a run and to follow an output back to its causes, against the length of the run.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use linux::fs::Stream;
use linux::{Config, Exit, Place, Process};
use machine::{Time, Unwatched};
use program::{Program, Scope};
use replay::{Cell, Code, Follow, Question, Recording, Unseen};

use crate::measure::{self, Cost, median};
use crate::place;

/// Runs of about 1, 10, 100 and 1,000 million instructions: rounds and entries of ledger.
const LENGTHS: [(u32, u32); 4] = [(1, 200), (1, 2400), (1, 23_500), (10, 23_500)];
/// Random instants that are looked up in a recording.
const SEEKS: u64 = 20;

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
        let start = Instant::now();
        if self.what == What::Run {
            match process.run(Time(u64::MAX), &mut Unwatched) {
                Exit::Exited(0) => {}
                other => bail!("the program ended otherwise: {other:?}"),
            }
            return tell(process.machine.time, start.elapsed());
        }
        let mut recording = Recording::make(process, Time(u64::MAX));
        let recorded = start.elapsed();
        let taken = match self.what {
            What::Run | What::Record => recorded,
            What::Slice => slice(&mut recording)?,
            What::Seek => seek(&mut recording),
        };
        tell(recording.end(), taken)
    }
}

fn tell(end: Time, taken: Duration) -> Result<()> {
    eprintln!("instructions: {}\nnanoseconds: {}", end.0, taken.as_nanos());
    Ok(())
}

fn slice(recording: &mut Recording) -> Result<Duration> {
    let program = Program::from_memory(&recording.last().machine.memory);
    let mut code = Code::new(&program, Scope::new(&[], &[])?);
    // The last byte is the end of a line.
    let offset = recording.last().kernel.output.length(Stream::Stdout).saturating_sub(2);
    let place = Place::Output { stream: Stream::Stdout, offset };
    let question =
        Question { time: recording.end(), cells: vec![Cell::Kernel { place, length: 1 }], why_here: false };
    let start = Instant::now();
    let slice = recording.slice(&mut code, &question, Follow::Full, &mut Unseen);
    if slice.statements.len() < 10 {
        bail!("the slice has only {} statements", slice.statements.len());
    }
    Ok(start.elapsed())
}

/// The longest of some.
fn seek(recording: &mut Recording) -> Duration {
    let mut longest = Duration::ZERO;
    for number in 1..=SEEKS {
        let time = Time(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % recording.end().0.max(1));
        let start = Instant::now();
        recording.at(time);
        longest = longest.max(start.elapsed());
    }
    longest
}

pub fn table(rounds: usize, divisor: usize) -> Result<String> {
    let ledger = place::compile("ledger")?;
    let mut text = String::from(
        "| instructions | run, ns each | recording ÷ run | full slice ÷ run | slice, ns each | recording, peak | slice, peak | longest seek |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let lengths = if divisor > 1 { &LENGTHS[..2] } else { &LENGTHS[..] };
    for &(turns, entries) in lengths {
        let command = [ledger.clone().into(), turns.to_string().into(), entries.to_string().into()];
        let phases = measured(&command, if entries * turns > 100_000 { 1 } else { rounds })?;
        let [run, record, slice, seek] = &phases;
        let (instructions, plain) = (run.instructions as f64, run.time.as_secs_f64());
        let _ = writeln!(
            text,
            "| {:.1} M | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} MB | {:.1} MB | {:.0} ms |",
            instructions / 1e6,
            plain * 1e9 / instructions,
            record.time.as_secs_f64() / plain,
            slice.time.as_secs_f64() / plain,
            slice.time.as_secs_f64() * 1e9 / instructions,
            record.peak as f64 / 1e6,
            slice.peak as f64 / 1e6,
            seek.time.as_secs_f64() * 1e3,
        );
    }
    text.push_str(&lackey(&ledger, divisor)?);
    Ok(text)
}

/// A phase, as it was measured.
struct Measured {
    instructions: u64,
    time: Duration,
    peak: u64,
}

fn measured(command: &[OsString], rounds: usize) -> Result<[Measured; 4]> {
    let phases = ["run", "record", "slice", "seek"];
    let mut costs: [Vec<Cost>; 4] = Default::default();
    for _ in 0..rounds {
        for (phase, costs) in phases.iter().zip(&mut costs) {
            costs.push(one_phase(phase, command)?);
        }
    }
    Ok(costs.map(|costs| Measured {
        instructions: costs.last().and_then(|cost| cost.statistic("instructions")).unwrap_or(0),
        time: Duration::from_nanos(
            median(&costs.iter().filter_map(|cost| cost.statistic("nanoseconds")).collect::<Vec<_>>())
                .unwrap_or(0),
        ),
        peak: costs.iter().map(|cost| cost.peak_resident_bytes).max().unwrap_or(0),
    }))
}

fn one_phase(phase: &str, command: &[OsString]) -> Result<Cost> {
    let own = std::env::current_exe()?;
    let words: Vec<OsString> = [own.into(), "phase".into(), phase.into(), "--".into()]
        .into_iter()
        .chain(command.iter().cloned())
        .collect();
    measure::run(&words)
}

/// The second length under the peer that merely writes down which addresses were accessed.
fn lackey(ledger: &Path, divisor: usize) -> Result<String> {
    let (turns, entries) = LENGTHS[if divisor > 1 { 0 } else { 1 }];
    let command: Vec<OsString> = vec![ledger.into(), turns.to_string().into(), entries.to_string().into()];
    let slice = one_phase("slice", &command)?;
    let peer = ["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=/dev/null"].map(OsString::from);
    let lackey = measure::run(&peer.into_iter().chain(command).collect::<Vec<_>>())?;
    Ok(format!(
        "\nThe whole slice of the run of {:.1} M instructions, from loading to the answer: {:.2} s; `valgrind --tool=lackey --trace-mem=yes`, its \
         trace thrown away: {:.2} s, {:.1} times as long.\n",
        slice.statistic("instructions").unwrap_or(0) as f64 / 1e6,
        slice.wall.as_secs_f64(),
        lackey.wall.as_secs_f64(),
        lackey.wall.as_secs_f64() / slice.wall.as_secs_f64(),
    ))
}
