//! Instants of a run, each with a core file and a fork to look at.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lift::{Op, Reg};
use linux::{Config, Exit, Process};
use machine::{Cpu, Observer, Time, Unwatched};
use program::{Program, Rule, State};

use super::answer::View;
use super::{Case, Failure, Instants, ours};
use crate::fuzz::random::Random;

/// A run that takes longer is sampled in its beginning.
const LONGEST: Time = Time(200_000_000);

/// Where every instruction is looked at.
const LONGEST_BY_LINES: Time = Time(20_000_000);

/// Times that are remembered of a line.
const MOST_TIMES: usize = 10_000;

/// The dynamic loader takes a few hundred thousand instructions.
const LONGEST_LOADING: u64 = 50_000_000;

/// How far from an instant in a library the program's own code is looked for.
const FARTHEST: u64 = 30_000;

/// Frames that functions left by jumps, before the one on the stack.
const MOST_LEFT: usize = 64;

/// Code without call frame information is short.
const LONGEST_CALL: u64 = 1_000_000;

/// Of so many instants one stays wherever it falls; the others are moved on into the program's own code.
const ANYWHERE: u64 = 4;

pub struct Sample {
    pub time: Time,
    pub core: PathBuf,
    /// `None` where call frame information says who called the code that is about to run. Where none does, gdb guesses, and the run
    /// itself is the judge: whether it comes back to where we say that the code was called from.
    pub comes_back: Option<bool>,
    process: Process,
}

impl Sample {
    /// What we see here. Which variables at file level are looked at is gdb's choice.
    pub fn view(&self, theirs: &View) -> View {
        ours::view(&self.process, theirs)
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.core);
    }
}

/// One run, stopped at increasing times.
pub fn take(case: &Case) -> Result<Vec<Sample>, Failure> {
    let mut process = load(case)?;
    // Before the loader has done its work, gdb cannot know what is mapped where.
    let code = own_code(&process)?;
    if !move_into(&mut process, &code, LONGEST_LOADING) {
        return Err(Failure::Setup(format!("{} never runs code of its own", case.program.display())));
    }
    let start = process.machine.time.0;
    let mut rest = process.fork();
    match rest.run(LONGEST, &mut Unwatched) {
        Exit::Until | Exit::Exited(_) | Exit::Killed { .. } => {}
        other => return Err(Failure::Setup(format!("{}: {other:?}", case.program.display()))),
    }
    let times = match case.instants {
        Instants::Any => times(case, start, rest.machine.time.0),
        Instants::Lines => times_of_lines(case, process.fork()),
    };
    let mut samples: Vec<Sample> = Vec::new();
    for (index, time) in times.into_iter().enumerate() {
        // An earlier one may have been moved beyond this one.
        if process.machine.time.0 >= time {
            continue;
        }
        if process.run(Time(time), &mut Unwatched) != Exit::Until {
            break;
        }
        if case.instants == Instants::Any && !(index as u64).is_multiple_of(ANYWHERE) {
            move_into(&mut process, &code, FARTHEST);
        }
        if process.kernel.ended.is_some() {
            break;
        }
        samples.push(sample(case, index, process.fork())?);
    }
    Ok(samples)
}

/// See [`Sample::comes_back`].
fn comes_back(process: &mut Process) -> Option<bool> {
    let program = Program::from_memory(&process.machine.memory);
    let backtrace = program.backtrace_of(&State::of(&process.machine), MOST_LEFT);
    let caller = backtrace.frames.iter().skip(1).find(|frame| frame.rule != Rule::TailCall)?;
    if caller.rule == Rule::CallFrames {
        return None;
    }
    let mut back = Back { address: caller.address, stack: caller.registers.rsp(), is_reached: false };
    process.fork().run(Time(process.machine.time.0 + LONGEST_CALL), &mut back);
    Some(back.is_reached)
}

/// Watches for a return.
struct Back {
    address: u64,
    stack: Option<u64>,
    is_reached: bool,
}

impl Observer for Back {
    fn instruction(&mut self, _time: Time, address: u64, _ops: &[Op], cpu: &Cpu) {
        self.is_reached |= address == self.address && Some(cpu.get(Reg::RSP)) == self.stack;
    }
}

/// Sorted, without repetitions.
fn times(case: &Case, start: u64, end: u64) -> Vec<u64> {
    let mut random = Random::for_case(case.seed, "instants", 0);
    let mut times: Vec<u64> = (0..case.samples).map(|_| random.between(start, end.max(start + 1))).collect();
    times.sort_unstable();
    times.dedup();
    times
}

/// Instants at as many lines as are wanted, sorted.
fn times_of_lines(case: &Case, mut process: Process) -> Vec<u64> {
    let program = Program::from_memory(&process.machine.memory);
    let mut lines = Lines {
        program: &program,
        beside: case.program.parent(),
        of: HashMap::new(),
        times: BTreeMap::new(),
    };
    process.run(LONGEST_BY_LINES, &mut lines);
    let mut random = Random::for_case(case.seed, "lines", 0);
    let mut left: Vec<Vec<u64>> = lines.times.into_values().collect();
    let mut times = Vec::new();
    while times.len() < case.samples && !left.is_empty() {
        let line = left.swap_remove(random.between(0, left.len() as u64) as usize);
        times.extend(line.get(random.between(0, line.len() as u64) as usize));
    }
    times.sort_unstable();
    times
}

/// Notes when each line of the program's own sources is executed.
struct Lines<'a> {
    program: &'a Program,
    /// Where the program and its own libraries are.
    beside: Option<&'a Path>,
    /// Of the addresses that were seen.
    of: HashMap<u64, Option<Line>>,
    times: BTreeMap<Line, Vec<u64>>,
}

type Line = (Arc<str>, u32);

impl Lines<'_> {
    fn line(&self, address: u64) -> Option<Line> {
        let location = self.program.locate(address);
        let object = location.object.as_deref().map(Path::new)?;
        let position = location.position().filter(|_| object.parent() == self.beside)?;
        let is_own = !["/rustc/", "/usr/"].iter().any(|start| position.file.starts_with(start));
        is_own.then(|| (position.file.clone(), position.line))
    }
}

impl Observer for Lines<'_> {
    fn instruction(&mut self, time: Time, address: u64, _ops: &[Op], _cpu: &Cpu) {
        if !self.of.contains_key(&address) {
            let line = self.line(address);
            self.of.insert(address, line);
        }
        if let Some(Some(line)) = self.of.get(&address) {
            let times = self.times.entry(line.clone()).or_default();
            if times.len() < MOST_TIMES {
                times.push(time.0);
            }
        }
    }
}

fn load(case: &Case) -> Result<Process, Failure> {
    let mut config = Config::new(&case.program);
    config.argv.extend(case.arguments.iter().map(|argument| argument.as_bytes().to_vec()));
    config.env = vec![b"LC_ALL=C".to_vec(), b"PATH=/usr/bin:/bin".to_vec()];
    config.stdin = case.stdin.clone();
    config.cwd = case.scratch.clone();
    Process::load(&config).map_err(|error| Failure::Setup(error.to_string()))
}

/// The program's own code: the mapping that holds its entry point.
fn own_code(process: &Process) -> Result<Range<u64>, Failure> {
    const AT_ENTRY: u64 = 9;
    let words =
        process.kernel.auxiliary_vector.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let words: Vec<u64> = words.collect();
    let entry = words.as_chunks::<2>().0.iter().find(|[key, _]| *key == AT_ENTRY).map(|[_, entry]| *entry);
    let region = entry.and_then(|entry| process.machine.memory.region_at(entry));
    let region = region.ok_or_else(|| Failure::Setup("the program has no entry point".to_owned()))?;
    Ok(region.start..region.end)
}

/// Remembers when code in a range was first executed.
struct Arrival<'a> {
    code: &'a Range<u64>,
    time: Option<Time>,
}

impl Observer for Arrival<'_> {
    fn instruction(&mut self, time: Time, address: u64, _ops: &[Op], _cpu: &Cpu) {
        if self.time.is_none() && self.code.contains(&address) {
            self.time = Some(time);
        }
    }
}

/// Runs until the next instruction is one of the code, if that is not farther than `farthest` away.
fn move_into(process: &mut Process, code: &Range<u64>, farthest: u64) -> bool {
    let mut arrival = Arrival { code, time: None };
    process.fork().run(Time(process.machine.time.0 + farthest), &mut arrival);
    arrival.time.is_some_and(|time| process.run(time, &mut Unwatched) == Exit::Until)
}

fn sample(case: &Case, index: usize, mut process: Process) -> Result<Sample, Failure> {
    let core = case.scratch.join(format!("{index}.core"));
    let told = |error: &dyn std::fmt::Display| Failure::Setup(format!("{}: {error}", core.display()));
    let mut file = std::fs::File::create(&core).map_err(|error| told(&error))?;
    linux::write_core(&process, &mut file).map_err(|error| told(&error))?;
    let comes_back = comes_back(&mut process);
    Ok(Sample { time: process.machine.time, core, comes_back, process })
}
