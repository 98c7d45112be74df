//! `whydunit run`: a program in the machine, as if it ran natively.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, anyhow};
use linux::errno::Errno;
use linux::fs::Pieces;
use linux::{Config, Exit, LoadError, Process, signal};
use machine::{Definedness, Time, Unwatched};
use replay::{Bytes, Case, Ending, Heap, Limits, Stdin};

use crate::args::{GuestArguments, HeapArgument, RunArguments, UninitArgument};
use crate::bundle;
use crate::exit_code::{self, Failure};
use crate::fault_report;
use crate::lookup::{self, Lookup};
use crate::rerun::Rerun;
use crate::streams::{self, Input, OutputError, PassThrough};
use crate::view;
use crate::write_back;

/// Output is passed on this often, in instructions: a few hundredths of a second.
pub const SLICE: u64 = 5_000_000;

/// So many removed files are named.
const MOST_REMOVED: usize = 10;

pub fn run(arguments: &RunArguments) -> Result<u8, Failure> {
    let failed = |error| Failure::new(exit_code::FAILED, error);
    if let Some(directory) = &arguments.write_back {
        // At once, so that a long run is not for nothing.
        write_back::prepare(directory).map_err(failed)?;
    }
    let Opened { mut process, case, recorded } = open(&arguments.guest)?;
    let mut past = Rerun::new(&mut process);
    let started = Instant::now();
    let limit = case.end().min(Time(arguments.max_instructions.unwrap_or(u64::MAX)));
    let mut definedness = definedness(arguments, &process)?;
    let exit = match drive_noting(&mut process, limit, &mut past.pieces, definedness.as_mut()) {
        Ok(exit) => exit,
        Err(Interrupted::BrokenPipe) => return Ok(exit_code::BROKEN_PIPE),
        Err(Interrupted::Failed(error)) => return Err(failed(error)),
    };
    let seconds = started.elapsed().as_secs_f64();
    if let Some(recorded) = recorded {
        bundle::verify(&recorded, &process, &exit);
    }
    let name = case.argv.first().unwrap_or(&case.program).to_string();
    if let Some(report) = fault_report::report(&process, &exit, &name, streams::coloured(), &mut past) {
        streams::tell(&report);
    }
    if let Some(definedness) = &definedness {
        streams::tell(&fault_report::uninitialised(definedness, &process, &name, &mut past));
    }
    tell_heap(&process, &exit, arguments.leaks, &mut past);
    if let Some(directory) = &arguments.write_back {
        write_back(&mut process, directory).map_err(failed)?;
    }
    if arguments.stats {
        streams::tell(&statistics(&process, seconds));
    }
    Ok(status(&exit))
}

/// What is undefined in a process, if the user wants to know that.
fn definedness(arguments: &RunArguments, process: &Process) -> Result<Option<Definedness>, Failure> {
    match arguments.uninit {
        UninitArgument::Ignore => Ok(None),
        UninitArgument::Report if process.kernel.checked_heap.is_checked() => Ok(Some(process.definedness())),
        // Neither fresh blocks nor what string routines need would be known.
        UninitArgument::Report => {
            let error = anyhow!("--uninit=report needs the checked heap, which --heap=program turns off");
            Err(Failure::new(exit_code::FAILED, error))
        }
    }
}

/// What else there is to say about the heap.
fn tell_heap(process: &Process, exit: &Exit, leaks: bool, past: &mut Rerun) {
    let heap = &process.kernel.checked_heap;
    if !heap.mismatches().is_empty() {
        streams::tell(&fault_report::mismatches(heap.mismatches(), &view::program_of(process), past));
    }
    if leaks && matches!(exit, Exit::Exited(_)) {
        let text = match heap.is_checked() && heap.serves_anything() {
            true => {
                // What functions left on the stack that have returned must not pass for what those have there that end the program.
                let called = heap.exit_called();
                let clean = called.and_then(|time| past.end_without_dead_stack(time, process.machine.time));
                fault_report::leaks(clean.as_ref().unwrap_or(process), &view::program_of(process), past)
            }
            false => "whydunit: what was not freed is not known, since the heap is not checked\n".to_owned(),
        };
        streams::tell(&text);
    }
}

fn write_back(process: &mut Process, directory: &Path) -> anyhow::Result<()> {
    let changes = process.kernel.files.changed_files().map_err(|error| match error {
        Errno::ENOMEM => anyhow!("the changed files are too large to write back: at most 2 GiB"),
        Errno::ENAMETOOLONG => anyhow!("the changed files cannot be written back: a path is too long"),
        error => anyhow!("the changed files cannot be written back: one of them cannot be read ({error})"),
    })?;
    let removed = write_back::export(&changes, directory)?;
    for path in removed.iter().take(MOST_REMOVED) {
        streams::tell(&format!(
            "whydunit: the program removed {}; --write-back removes nothing\n",
            streams::printable(&path.to_string_lossy())
        ));
    }
    if removed.len() > MOST_REMOVED {
        streams::tell(&format!("whydunit: … and {} more\n", removed.len() - MOST_REMOVED));
    }
    Ok(())
}

/// What the run cost. The state is that of the guest at its end, in one number: equal runs have equal ones.
fn statistics(process: &Process, seconds: f64) -> String {
    let instructions = process.machine.time.0;
    format!(
        "instructions: {instructions}\nblocks: {}\npages: {}\nstate: {:016x}\ninstructions per second: {:.0}\n",
        process.machine.block_count(),
        process.machine.memory.resident_pages(),
        process.state_hash(),
        instructions as f64 / seconds.max(1e-9),
    )
}

fn status(exit: &Exit) -> u8 {
    match exit {
        // As the kernel does, only the low byte is passed on.
        Exit::Exited(status) => *status as u8,
        Exit::Killed { signal, .. } => exit_code::killed_by(*signal),
        _ => exit_code::FAILED,
    }
}

/// Why a run was given up.
pub enum Interrupted {
    BrokenPipe,
    Failed(anyhow::Error),
}

impl From<OutputError> for Interrupted {
    fn from(error: OutputError) -> Interrupted {
        match error {
            OutputError::BrokenPipe => Interrupted::BrokenPipe,
            OutputError::Failed(_) => Interrupted::Failed(error.into()),
        }
    }
}

/// Runs to the end, or to the limit, which is told as [`Exit::Until`].
pub fn drive(process: &mut Process, limit: Time) -> Result<Exit, Interrupted> {
    drive_noting(process, limit, &mut Vec::new(), None)
}

/// The same; the pieces of standard input that the program was given are added to a list, and what is undefined is followed if
/// somebody cares.
fn drive_noting(
    process: &mut Process,
    limit: Time,
    pieces: &mut Vec<Vec<u8>>,
    mut definedness: Option<&mut Definedness>,
) -> Result<Exit, Interrupted> {
    let mut output = PassThrough::default();
    let mut warned = 0;
    let mut input = 0u64;
    loop {
        let until = Time(process.machine.time.0.saturating_add(SLICE).min(limit.0));
        let exit = match &mut definedness {
            Some(definedness) => process.run_defining(until, definedness),
            None => process.run(until, &mut Unwatched),
        };
        output.pass(&process.kernel.output)?;
        process.kernel.output.forget();
        let warnings = process.kernel.warnings.list();
        for warning in warnings.get(warned..).unwrap_or_default() {
            streams::tell(&format!("whydunit: warning: {warning}\n"));
        }
        warned = warnings.len();
        match exit {
            Exit::Until if process.machine.time < limit => {}
            Exit::Input => {
                pieces.push(feed(process, &mut input).map_err(Interrupted::Failed)?);
            }
            exit => return Ok(exit),
        }
    }
}

/// Gives the program the next piece of our standard input, which comes back; `fed` counts the bytes.
pub fn feed(process: &mut Process, fed: &mut u64) -> anyhow::Result<Vec<u8>> {
    let piece = streams::next_input()?;
    *fed = fed.saturating_add(piece.len() as u64);
    if *fed > process.kernel.limits.memory {
        return Err(anyhow!("the program reads more input than --max-memory permits to keep"));
    }
    process.kernel.files.feed_input(&piece);
    Ok(piece)
}

/// A program in its machine, before its first instruction.
pub struct Opened {
    pub process: Process,
    pub case: Case,
    /// How the run ends, if it comes from a bundle.
    pub recorded: Option<Ending>,
}

/// The program in its machine, before its first instruction.
pub fn load(arguments: &GuestArguments) -> Result<Process, Failure> {
    open(arguments).map(|opened| opened.process)
}

/// The same with the case that it is: from the command line, or from the bundle that was given in the program's place.
pub fn open(arguments: &GuestArguments) -> Result<Opened, Failure> {
    if let Some(opened) = open_bundle(arguments)? {
        return Ok(opened);
    }
    let (case, live) = case(arguments)?;
    let process = load_case(&case, live)?;
    Ok(Opened { process, case, recorded: None })
}

/// The same if a bundle was given.
pub fn open_bundle(arguments: &GuestArguments) -> Result<Option<Opened>, Failure> {
    let Some(bundle) = bundle::given(arguments)? else { return Ok(None) };
    let case = bundle.sealed_case();
    let process = case.load().map_err(refused)?;
    Ok(Some(Opened { process, case, recorded: Some(bundle.ending) }))
}

/// The process of a case; `live` says in which pieces standard input is yet to come.
pub fn load_case(case: &Case, live: Option<Pieces>) -> Result<Process, Failure> {
    let Some(pieces) = live else { return case.load().map_err(refused) };
    let config = Config { stdin_open: true, stdin_pieces: pieces, ..case.config() };
    Process::load(&config).map_err(refused)
}

fn refused(error: LoadError) -> Failure {
    let status = match &error {
        LoadError::NotFound { .. } => exit_code::NOT_FOUND,
        LoadError::NoMemory { .. } | LoadError::WorkingDirectory { .. } => exit_code::FAILED,
        _ => exit_code::NOT_EXECUTABLE,
    };
    Failure::new(status, error)
}

/// The case that the command line describes. Standard input that is yet to come is not in it; then the second answer
/// says in which pieces it comes.
pub fn case(arguments: &GuestArguments) -> Result<(Case, Option<Pieces>), Failure> {
    let failed = |error| Failure::new(exit_code::FAILED, error);
    let environment = environment(arguments);
    let name = &arguments.command[0];
    let working_directory =
        std::env::current_dir().context("the working directory is gone").map_err(failed)?;
    let mut case = Case {
        argv: arguments.command.iter().map(|word| Bytes::from(word.as_os_str())).collect(),
        env: environment
            .iter()
            .map(|(name, value)| Bytes::from([name.as_bytes(), b"=", value.as_bytes()].concat()))
            .collect(),
        cwd: Bytes::from(working_directory.as_path()),
        terminal: arguments.terminal,
        heap: match arguments.heap {
            HeapArgument::Checked => Heap::Checked,
            HeapArgument::Program => Heap::Program,
        },
        limits: Limits { memory: arguments.max_memory, output: arguments.max_output, ..Limits::default() },
        ..Case::new(find(name, &environment)?.as_path())
    };
    let input = Input::open(arguments.stdin.as_deref(), arguments.terminal, arguments.max_memory);
    match input.map_err(failed)? {
        Input::File(file) => {
            case.stdin = Stdin::File { path: Bytes::from(file.path), offset: file.offset };
        }
        Input::Bytes(bytes) => case.stdin = Stdin::Bytes(Bytes::from(bytes)),
        Input::Live(pieces) => return Ok((case, Some(pieces))),
    }
    Ok((case, None))
}

/// How a run ended, as in "the program exited with status 1".
pub fn ending(exit: &Exit) -> String {
    match exit {
        Exit::Exited(status) => format!("exited with status {status}"),
        Exit::Killed { signal, .. } => format!("was killed by {}", signal::name(*signal)),
        Exit::Unsupported(instruction) => {
            format!("stopped at an unsupported instruction, {}", instruction.text)
        }
        Exit::OutOfMemory { .. } => "stopped at the limit of --max-memory".to_owned(),
        Exit::TooMuchOutput { .. } => "stopped at the limit of --max-output".to_owned(),
        Exit::Deadlock { call } => format!("stopped in {call}, waiting for ever"),
        Exit::Until | Exit::Input => "stopped".to_owned(),
    }
}

/// The host's environment in its order, with what --env says put in its place or at the end.
pub fn environment(arguments: &GuestArguments) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    for entry in &arguments.environment {
        match variables.iter_mut().find(|(name, _)| *name == entry.name) {
            Some((_, value)) => value.clone_from(&entry.value),
            None => variables.push((entry.name.clone(), entry.value.clone())),
        }
    }
    variables
}

pub fn find(program: &OsStr, environment: &[(OsString, OsString)]) -> Result<PathBuf, Failure> {
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let name = program.to_string_lossy();
    if program.is_empty() {
        return Err(Failure::new(exit_code::NOT_FOUND, anyhow!("the name of the program is empty")));
    }
    match lookup::find(program, path) {
        Lookup::Found(path) => Ok(path),
        Lookup::NotExecutable(path) => {
            let what = if path.is_dir() { "is a directory" } else { "is not executable; try chmod +x" };
            Err(Failure::new(exit_code::NOT_EXECUTABLE, anyhow!("{} {what}", path.display())))
        }
        Lookup::NotFound if program.as_bytes().contains(&b'/') => {
            Err(Failure::new(exit_code::NOT_FOUND, anyhow!("{name}: no such file")))
        }
        Lookup::NotFound => Err(Failure::new(
            exit_code::NOT_FOUND,
            anyhow!("{name} is not in PATH; give its path, as in ./{name}"),
        )),
    }
}
