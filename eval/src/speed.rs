//! Speed: the same commands natively, under valgrind without a tool, under memcheck, and under whydunit.
//!
//! The peers are run in turn within each round, so that what disturbs the machine disturbs them alike, and the least time of each counts, since what
//! disturbs only ever adds. A tool's start-up (the time of `true`
//! under it) is taken off before ratios are made, since it says nothing about speed.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::measure::{self, Cost};
use crate::place;

/// Which time counts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Clock {
    Wall,
    Processor,
}

/// Who runs a command.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Peer {
    Native,
    Valgrind,
    Memcheck,
    Whydunit,
}

const PEERS: [Peer; 4] = [Peer::Native, Peer::Valgrind, Peer::Memcheck, Peer::Whydunit];

impl Peer {
    fn words(self, whydunit: &Path, command: &[OsString]) -> Vec<OsString> {
        let before: Vec<OsString> = match self {
            Peer::Native => Vec::new(),
            Peer::Valgrind => ["valgrind", "-q", "--tool=none"].map(OsString::from).into(),
            Peer::Memcheck => ["valgrind", "-q", "--tool=memcheck"].map(OsString::from).into(),
            Peer::Whydunit => vec![whydunit.into(), "run".into(), "--stats".into(), "--".into()],
        };
        before.into_iter().chain(command.iter().cloned()).collect()
    }
}

/// A command that everybody runs.
struct Workload {
    name: &'static str,
    command: Vec<OsString>,
}

/// The least times of one workload (or of start-up), by peer in the order of [`PEERS`].
struct Least {
    time: Vec<Duration>,
    instructions: u64,
}

pub fn table(whydunit: &Path, rounds: usize, divisor: usize, clock: Clock) -> Result<String> {
    let start_up = measure_all(&["true".into()], whydunit, rounds, clock)?;
    let mut text = String::from(
        "| program | instructions | native | valgrind none | memcheck | whydunit | whydunit ÷ none | whydunit ÷ memcheck | M instructions/s |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for workload in workloads(divisor)? {
        let least = measure_all(&workload.command, whydunit, rounds, clock)
            .with_context(|| format!("while measuring {}", workload.name))?;
        text.push_str(&row(&workload, &least, &start_up));
    }
    let _ = writeln!(
        text,
        "\nThe least of {rounds}, {clock:?} time, peers interleaved. native: seconds; peers: × native, net of start-up ({}).",
        PEERS
            .iter()
            .zip(&start_up.time)
            .map(|(peer, time)| format!("{peer:?} {:.0} ms", time.as_secs_f64() * 1e3))
            .collect::<Vec<_>>()
            .join(", ")
    );
    Ok(text)
}

fn row(workload: &Workload, least: &Least, start_up: &Least) -> String {
    let net: Vec<f64> = least
        .time
        .iter()
        .zip(&start_up.time)
        .map(|(time, start)| time.saturating_sub(*start).as_secs_f64().max(1e-6))
        .collect();
    let of = |peer: Peer| {
        PEERS.iter().position(|&other| other == peer).and_then(|at| net.get(at)).copied().unwrap_or(f64::NAN)
    };
    let (native, none, memcheck, ours) =
        (of(Peer::Native), of(Peer::Valgrind), of(Peer::Memcheck), of(Peer::Whydunit));
    format!(
        "| {} | {:.2} G | {native:.3} | {:.1} | {:.1} | {:.1} | {:.2} | {:.2} | {:.0} |\n",
        workload.name,
        least.instructions as f64 / 1e9,
        none / native,
        memcheck / native,
        ours / native,
        ours / none,
        ours / memcheck,
        least.instructions as f64 / ours / 1e6,
    )
}

fn measure_all(command: &[OsString], whydunit: &Path, rounds: usize, clock: Clock) -> Result<Least> {
    let mut costs: Vec<Vec<Cost>> = vec![Vec::new(); PEERS.len()];
    for _ in 0..rounds {
        for (peer, costs) in PEERS.iter().zip(&mut costs) {
            costs.push(measure::run(&peer.words(whydunit, command))?);
        }
    }
    let of = |cost: &Cost| if clock == Clock::Wall { cost.wall } else { cost.processor };
    let time = costs.iter().filter_map(|costs| costs.iter().map(of).min()).collect();
    let last = costs.last().and_then(|costs| costs.last()).context("at least one round")?;
    let instructions =
        last.statistic("instructions").context("whydunit's --stats does not tell the instructions")?;
    Ok(Least { time, instructions })
}

fn workloads(divisor: usize) -> Result<Vec<Workload>> {
    let text = place::text("text", 6_000_000 / divisor)?;
    let lines = place::text("lines", 10_000_000 / divisor)?;
    let small = place::text("small", 3_000_000 / divisor)?;
    let smaller = place::text("smaller", 600_000 / divisor)?;
    let ledger = place::compile("ledger")?;
    let words = |words: &[&str], file: &Path| {
        words.iter().map(OsString::from).chain([file.into()]).collect::<Vec<OsString>>()
    };
    Ok(vec![
        Workload { name: "gzip -9", command: words(&["gzip", "-9", "-c"], &text) },
        Workload { name: "sort", command: words(&["sort", "--parallel=1"], &lines) },
        Workload { name: "bzip2", command: words(&["bzip2", "-c"], &small) },
        Workload {
            name: "ledger (gcc -O0)",
            command: vec![ledger.into(), (16 / divisor.min(16)).to_string().into()],
        },
        Workload { name: "sqlite3", command: sqlite(60_000 / divisor) },
        Workload { name: "lua5.4", command: script(&["lua5.4"], "words.lua", 60_000 / divisor) },
        // By its path, since a python3 of another make may come first.
        Workload {
            name: "python3",
            command: script(&["/usr/bin/python3", "-I"], "records.py", 6_000 / divisor),
        },
        Workload { name: "xz", command: words(&["xz", "--threads=1", "-c"], &smaller) },
    ])
}

/// A script of eval/programs that is told how much to do.
fn script(interpreter: &[&str], name: &str, size: usize) -> Vec<OsString> {
    let words = interpreter.iter().map(OsString::from);
    words.chain([place::program(name).into(), size.to_string().into()]).collect()
}

/// Queries, in memory, on a database that they make themselves.
fn sqlite(orders: usize) -> Vec<OsString> {
    let read = format!(".read '{}'", place::program("orders.sql").display());
    let size = format!("CREATE TABLE size AS SELECT {orders} AS orders");
    ["sqlite3", ":memory:", &size, &read].map(OsString::from).into()
}
