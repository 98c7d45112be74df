//! Recordings: what it costs to record a run and to follow an output back to its causes, against the length of the run.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::measure::{self, Cost, median};
use crate::place;
use crate::speed::Clock;

/// Runs of about 1, 10, 100 and 1,000 million instructions: rounds and entries of ledger. The last one is as long as the one
/// before, with ten times the data.
const LENGTHS: [(u32, u32); 5] = [(1, 200), (1, 2400), (10, 2400), (100, 2400), (10, 23_500)];

pub fn table(rounds: usize, divisor: usize, clock: Clock) -> Result<String> {
    let ledger = place::compile("ledger")?;
    let mut text = String::from(
        "| instructions | entries | run, ns each | recording ÷ run | full slice ÷ run | slice, ns each | recording, peak | slice, peak | longest seek |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let lengths = if divisor > 1 { &LENGTHS[..2] } else { &LENGTHS[..] };
    for &(turns, entries) in lengths {
        let command = [ledger.clone().into(), turns.to_string().into(), entries.to_string().into()];
        let phases = measured(&command, if entries * turns > 100_000 { 1 } else { rounds }, clock)?;
        let [run, record, slice, seek] = &phases;
        let (instructions, plain) = (run.instructions as f64, run.time.as_secs_f64());
        let _ = writeln!(
            text,
            "| {:.1} M | {entries} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} MB | {:.1} MB | {:.0} ms |",
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

fn measured(command: &[OsString], rounds: usize, clock: Clock) -> Result<[Measured; 4]> {
    let statistic = match clock {
        Clock::Wall => "nanoseconds",
        Clock::Processor => "processor nanoseconds",
    };
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
            median(&costs.iter().filter_map(|cost| cost.statistic(statistic)).collect::<Vec<_>>())
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
