//! Runs of programs that are looked at afterwards.

use anyhow::{Context, Result, bail};
use linux::{Exit, Process};
use machine::{Time, Unwatched};
use program::{Program, SourceMap, Stmt};

use crate::args::GuestArguments;
use crate::run;
use crate::streams;
use crate::view::short_path;

/// Programs before their first instructions, with all of their input at hand, so that each run of them is the same. What
/// they do after `limit` does not matter.
pub fn load(commands: &[&GuestArguments], limit: Time) -> Result<Vec<Process>> {
    let load = |command: &&GuestArguments| run::load(command).map_err(|failure| failure.error);
    let mut processes: Vec<Process> = commands.iter().map(load).collect::<Result<_>>()?;
    // Only who reads standard input waits for what somebody types.
    if processes.iter_mut().any(|process| matches!(process.fork().run(limit, &mut Unwatched), Exit::Input)) {
        feed_all(&mut processes)?;
    }
    Ok(processes)
}

/// One program, likewise.
pub fn load_one(command: &GuestArguments, limit: Time) -> Result<Process> {
    load(&[command], limit)?.pop().context("there is no program")
}

/// Gives all of them all of our standard input.
fn feed_all(processes: &mut [Process]) -> Result<()> {
    let limit = processes.iter().map(|process| process.kernel.limits.memory).min().unwrap_or(0);
    let mut fed = 0u64;
    loop {
        let piece = streams::next_input()?;
        fed = fed.saturating_add(piece.len() as u64);
        if fed > limit {
            bail!("there is more input than --max-memory permits to keep");
        }
        processes.iter_mut().for_each(|process| process.kernel.files.feed_input(&piece));
        if piece.is_empty() {
            return Ok(());
        }
    }
}

/// The static view of a process that has ended: of all that it has loaded.
pub fn view(ended: &Process, sources: SourceMap) -> Program {
    Program::from_memory(&ended.machine.memory).with_source_map(sources)
}

/// `file:line in function`
pub fn place(stmt: &Stmt) -> String {
    let function = stmt.function.as_ref().map_or_else(String::new, |function| format!(" in {function}"));
    format!("{}:{}{function}", short_path(&stmt.file), stmt.line)
}
