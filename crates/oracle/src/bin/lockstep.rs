//! Runs a program in the machine and on the processor in lock-step, and shows the first
//! difference.
//!
//! Exit status: 0 they agreed, 1 they did not, 2 usage or set-up, 77 tracing is not permitted.

use std::ffi::OsString;
use std::process::ExitCode;

use oracle::lockstep::{self, Command, Failure};

const USAGE: &str = "usage: lockstep [--limit INSTRUCTIONS] [--stdin FILE] -- PROGRAM [ARGUMENT...]";
const DEFAULT_LIMIT: u64 = 1_000_000;

fn main() -> ExitCode {
    let (command, limit) = match parse(std::env::args_os().skip(1)) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("lockstep: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match lockstep::run(&command, limit) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("lockstep: {failure}");
            ExitCode::from(match failure {
                Failure::Diverged(_) => 1,
                Failure::Setup(_) => 2,
                Failure::NotPermitted(_) => 77,
            })
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<(Command, u64), String> {
    let mut limit = DEFAULT_LIMIT;
    let mut stdin = Vec::new();
    loop {
        let argument = arguments.next().ok_or("no program given")?;
        match argument.to_str() {
            Some("--") => break,
            Some("--limit") => {
                let text = arguments.next().ok_or("--limit needs a number")?;
                limit = text
                    .to_str()
                    .and_then(|text| text.replace('_', "").parse().ok())
                    .ok_or_else(|| format!("{} is no number of instructions", text.display()))?;
            }
            Some("--stdin") => {
                let path = arguments.next().ok_or("--stdin needs a file")?;
                stdin = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            }
            _ => return Err(format!("unknown option {}", argument.display())),
        }
    }
    let argv: Vec<OsString> = arguments.collect();
    if argv.is_empty() {
        return Err("no program given".to_owned());
    }
    let env = std::env::vars_os()
        .map(|(name, value)| {
            let mut variable = name;
            variable.push("=");
            variable.push(value);
            variable
        })
        .collect();
    let cwd = std::env::current_dir().map_err(|error| format!("no working directory: {error}"))?;
    Ok((Command { argv, env, cwd, stdin }, limit))
}
