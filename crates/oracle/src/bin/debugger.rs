//! Compares what we see of a stopped program with what gdb sees, at many instants of a run.
//!
//! Exit status: 0 they agree, 1 they do not, 2 usage or set-up, 77 there is no gdb.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use oracle::debugger::{self, Case, Failure, Instants};

const USAGE: &str =
    "usage: debugger [--samples N] [--at any|lines] [--seed N] [--stdin FILE] -- PROGRAM [ARGUMENT...]";

fn main() -> ExitCode {
    let case = match parse(std::env::args_os().skip(1)) {
        Ok(case) => case,
        Err(message) => {
            eprintln!("debugger: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let result = debugger::run(&case);
    let _ = std::fs::remove_dir_all(&case.scratch);
    match result {
        Ok(report) => {
            print!("{report}");
            ExitCode::from(u8::from(!report.differences.is_empty()))
        }
        Err(failure) => {
            eprintln!("debugger: {failure}");
            ExitCode::from(if matches!(failure, Failure::NoDebugger(_)) { 77 } else { 2 })
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Case, String> {
    let scratch = std::env::temp_dir().join(format!("whydunit-debugger-{}", std::process::id()));
    let mut case = Case {
        program: Default::default(),
        arguments: Vec::new(),
        stdin: Arc::default(),
        seed: 1,
        samples: 100,
        instants: Instants::Any,
        scratch,
    };
    loop {
        let option = arguments.next().ok_or("no program given")?;
        if option == "--" {
            break;
        }
        let value = arguments.next().ok_or_else(|| format!("{} needs a value", option.display()))?;
        let number = || value.to_str().and_then(|text| text.parse::<u64>().ok());
        let no_number = || format!("{} is no number", value.display());
        match option.to_str() {
            Some("--samples") => case.samples = number().ok_or_else(no_number)? as usize,
            Some("--at") if value == "lines" => case.instants = Instants::Lines,
            Some("--at") if value == "any" => case.instants = Instants::Any,
            Some("--seed") => case.seed = number().ok_or_else(no_number)?,
            Some("--stdin") => {
                let read = std::fs::read(&value);
                case.stdin = Arc::new(read.map_err(|error| format!("{}: {error}", value.display()))?);
            }
            _ => return Err(format!("unknown option {}", option.display())),
        }
    }
    let program = arguments.next().ok_or("no program given")?;
    case.program = std::path::absolute(&program).map_err(|error| error.to_string())?;
    case.arguments = arguments.collect();
    std::fs::create_dir_all(&case.scratch).map_err(|error| format!("{}: {error}", case.scratch.display()))?;
    Ok(case)
}
