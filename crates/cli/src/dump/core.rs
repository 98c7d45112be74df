//! `whydunit dump core`: the state at an instant of a run, for gdb.

use std::ffi::OsStr;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use linux::{Exit, Process};
use machine::{Time, Unwatched};

use crate::args::{DumpCore, Instant};
use crate::atomic_file::AtomicFile;
use crate::run;
use crate::streams;

/// Runs the program, writes the file, and returns what is to be told about it.
pub fn write(arguments: &DumpCore) -> Result<String> {
    let mut process = run::load(&arguments.guest).map_err(|failure| failure.error)?;
    let path = arguments.output.clone().unwrap_or_else(|| default_name(&process));
    // Made at once, so that a long run is not for nothing.
    let file = AtomicFile::create(&path)?;
    let exit = match arguments.at {
        Instant::After(instructions) => run_to(&mut process, Time(instructions))?,
        Instant::End => run_to_end(&mut process)?,
    };
    let mut out = BufWriter::new(&file.file);
    linux::write_core(&process, &mut out).with_context(|| format!("{} cannot be written", path.display()))?;
    drop(out);
    file.keep()?;
    Ok(told(&path, &process, &exit))
}

/// In the working directory, whatever directory the program is in.
fn default_name(process: &Process) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let executable = Path::new(OsStr::from_bytes(&process.kernel.command.executable));
    let mut name = executable.file_name().unwrap_or(executable.as_os_str()).to_owned();
    name.push(".core");
    PathBuf::from(name)
}

/// Runs to the instant; an error when the program is over before it.
fn run_to(process: &mut Process, instant: Time) -> Result<Exit> {
    let mut fed = 0;
    loop {
        let exit = run_slice(process, instant);
        match exit {
            Exit::Until if process.machine.time < instant => {}
            Exit::Until => return Ok(exit),
            Exit::Input => {
                run::feed(process, &mut fed)?;
            }
            exit => bail!(
                "there is no instruction {}: the program {} after {} instructions; --at end is its last state",
                instant.0,
                run::ending(&exit),
                process.machine.time.0
            ),
        }
    }
}

/// Runs until the program is over. One that exits is taken back to where it was about to.
fn run_to_end(process: &mut Process) -> Result<Exit> {
    let mut fed = 0;
    loop {
        let mut before = process.fork();
        match run_slice(process, Time(u64::MAX)) {
            Exit::Until => {}
            Exit::Input => {
                run::feed(process, &mut fed)?;
            }
            exit @ Exit::Exited(_) => {
                let last = Time(process.machine.time.0.saturating_sub(1));
                before.run(last, &mut Unwatched);
                *process = before;
                return Ok(exit);
            }
            exit => return Ok(exit),
        }
    }
}

fn run_slice(process: &mut Process, limit: Time) -> Exit {
    let until = process.machine.time.0.saturating_add(run::SLICE).min(limit.0);
    let exit = process.run(Time(until), &mut Unwatched);
    // Nobody reads it, and it may be long.
    process.kernel.output.forget();
    exit
}

fn told(path: &Path, process: &Process, exit: &Exit) -> String {
    let ending = match exit {
        Exit::Until => String::new(),
        Exit::Exited(status) => format!(", just before the program exits with status {status}"),
        exit => format!(", where the program {}", run::ending(exit)),
    };
    let path = streams::printable(&path.to_string_lossy());
    format!("{path}: the state before instruction {}{ending}\n", process.machine.time.0)
}
