//! The `whydunit` command: reads arguments, does the asking, and prints the answers.

mod allocator;
mod args;
mod asking;
mod atomic_file;
mod backtraces;
mod bundle;
mod case_arguments;
mod compile;
mod dump;
mod exit_code;
mod explain;
mod explain_page;
mod fault_report;
mod inducing;
mod interrupt;
mod lookup;
mod minimize;
mod panic;
mod progress;
mod record;
mod rerun;
mod run;
mod slice;
mod stats;
mod streams;
mod view;
mod why;
mod write_back;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Arguments, Command};

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator::new();

fn main() -> ExitCode {
    panic::install_hook();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return ExitCode::from(usage(&error)),
    };
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Record(arguments) => record::record(&arguments),
        Command::Stats(arguments) => stats::stats(&arguments),
        Command::Explain(arguments) => explain::explain(*arguments),
        Command::Why(arguments) => why::why(&arguments),
        Command::Minimize(arguments) => minimize::minimize(&arguments),
        Command::Slice(arguments) => slice::slice(&arguments),
        Command::Dump { what } => dump::dump(&what),
    };
    ExitCode::from(result.unwrap_or_else(|failure| {
        streams::tell(&format!("whydunit: {}\n", streams::printable(&format!("{:#}", failure.error))));
        failure.status
    }))
}

/// Prints help, the version or what was wrong with the command line.
fn usage(error: &clap::Error) -> u8 {
    // A closed pipe is no reason to complain.
    let _ = error.print();
    let is_run = std::env::args_os().nth(1).is_some_and(|word| word == "run" || word == "record");
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => exit_code::SUCCESS,
        _ if is_run => exit_code::FAILED,
        _ => exit_code::USAGE,
    }
}
