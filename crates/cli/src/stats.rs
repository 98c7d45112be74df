//! `whydunit stats`: the figures of a run, and the verdict about it.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use linux::{Exit, Process, signal};
use replay::failure::Verdict;
use replay::oracle::{Examined, examine};
use replay::{Options, Recording, Statistics};
use report::envelope;
use serde_json::json;

use crate::args::{Format, StatsArguments};
use crate::case_arguments::Opened;
use crate::exit_code::{self, Failure};
use crate::streams::{printable, tell};
use crate::view::program_of;

pub fn stats(arguments: &StatsArguments) -> Result<u8, Failure> {
    let usage = |error: anyhow::Error| Failure::new(exit_code::USAGE, error);
    let scope = arguments.view.scope().map_err(usage)?;
    let map = arguments.view.sources.source_map().map_err(usage)?;
    let Opened { case, mut process } = arguments.case.open()?;
    let view = |process: &Process| program_of(process).with_source_map(map.clone());
    let mut start = process.fork();
    let examined = examine(&case, process, &view).map_err(|error| usage(error.into()))?;
    for warning in examined.process.kernel.warnings.list() {
        tell(&format!("whydunit: warning: {warning}\n"));
    }
    let program = view(&examined.process);
    let (checkpoints, _) =
        Recording::make(start.fork(), Options::from(examined.process.machine.time)).checkpoints();
    let statistics = Statistics::of(start, examined.process.machine.time, &program, &scope);
    let text = match arguments.format {
        Format::Text => text(&statistics, checkpoints, &examined),
        Format::Json => {
            let counts = counts(&statistics, checkpoints, &examined);
            envelope("stats", &examined.case, &examined.verdict, Vec::new(), Vec::new(), counts)
        }
    };
    let written = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit_code::BROKEN_PIPE),
        Err(error) => Err(Failure::new(exit_code::NO_ANSWER, error)),
        Ok(()) => Ok(exit_code::SUCCESS),
    }
}

fn text(statistics: &Statistics, checkpoints: usize, examined: &Examined) -> String {
    let Statistics { instructions, in_scope, system_calls, pages, stdout, stderr, state } = statistics;
    let mut text = String::new();
    let share = *in_scope as f64 / (*instructions).max(1) as f64 * 100.0;
    let _ = writeln!(text, "instructions   {instructions}");
    let _ = writeln!(text, "in scope       {in_scope} ({share:.1} %)");
    let _ = writeln!(text, "system calls   {}", system_calls.values().sum::<u64>());
    let mut calls: Vec<(&String, &u64)> = system_calls.iter().collect();
    calls.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    for (name, count) in calls {
        let _ = writeln!(text, "  {name:<20} {count}");
    }
    let _ = writeln!(text, "memory         {pages} pages");
    let _ = writeln!(text, "checkpoints    {checkpoints}");
    let _ = writeln!(text, "output         {stdout} bytes, and {stderr} to standard error");
    if examined.assertions_evaluated > 0 {
        let _ = writeln!(text, "assertions     evaluated {} times", examined.assertions_evaluated);
    }
    let _ = writeln!(text, "state          {state:016x}");
    let _ = writeln!(text, "end            {}", ending(&examined.process));
    let _ = writeln!(text, "verdict        {}", verdict(examined));
    text
}

fn verdict(examined: &Examined) -> String {
    match &examined.verdict {
        Verdict::Passed => "the program did not fail".to_owned(),
        Verdict::Failed(failure) => {
            let name = examined.case.argv.first().unwrap_or(&examined.case.program).to_string();
            let failure = failure.to_string();
            // A message can have lines.
            format!("FAILED: {} {}", printable(&name), printable(&failure.replace('\n', " / ")))
        }
        Verdict::CannotTell(reason) => format!("unknown: {}", printable(reason)),
    }
}

fn ending(process: &Process) -> String {
    match process.kernel.ended.as_ref().unwrap_or(&Exit::Until) {
        Exit::Exited(status) => format!("exited with status {}", status & 0xff),
        Exit::Killed { signal, .. } => format!("killed by {}", signal::name(*signal)),
        Exit::Until | Exit::Input => "none: the run was cut short".to_owned(),
        Exit::Unsupported(instruction) => {
            format!("an instruction that is not supported: {}", instruction.text)
        }
        Exit::OutOfMemory { .. } => "none: the limit of --max-memory was reached".to_owned(),
        Exit::TooMuchOutput { .. } => "none: the limit of --max-output was reached".to_owned(),
        Exit::Deadlock { call } => format!("none: it waits for ever in {call}"),
    }
}

fn counts(statistics: &Statistics, checkpoints: usize, examined: &Examined) -> serde_json::Value {
    json!({
        "instructions": statistics.instructions,
        "in_scope": statistics.in_scope,
        "system_calls": statistics.system_calls,
        "pages": statistics.pages,
        "checkpoints": checkpoints,
        "stdout_bytes": statistics.stdout,
        "stderr_bytes": statistics.stderr,
        "assertions_evaluated": examined.assertions_evaluated,
        "state": format!("{:016x}", statistics.state),
        "end": ending(&examined.process),
    })
}
