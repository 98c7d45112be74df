//! Runs of programs that are looked at afterwards.

use anyhow::Result;
use linux::{Exit, Process};
use machine::{Time, Unwatched};
use program::{Program, SourceMap, Stmt};

use crate::args::GuestArguments;
use crate::run;
use crate::view::short_path;

/// The program before its first instruction, with all of its input at hand, so that each run of it is the same.
pub fn load(arguments: &GuestArguments) -> Result<Process> {
    let mut process = run::load(arguments).map_err(|failure| failure.error)?;
    // Only who reads standard input waits for what somebody types.
    let reads = matches!(process.fork().run(Time(u64::MAX), &mut Unwatched), Exit::Input);
    let mut fed = 0;
    while reads {
        let before = fed;
        run::feed(&mut process, &mut fed)?;
        if fed == before {
            break;
        }
    }
    Ok(process)
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
