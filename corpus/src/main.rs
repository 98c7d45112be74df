//! `corpus`: measures how soon `whydunit explain` names a fault that is known.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use clap::Parser;

use corpus::cases::{self, Case, Harvest};
use corpus::table::{self, Row};
use corpus::{programs, tool};

/// What the ranks of a report are compared with: the name in the table, and the kind of slice.
const BASELINES: [(&str, &str); 2] = [("full slice", "full"), ("relevant slice", "relevant")];

/// Measure how soon `whydunit explain` names a fault that is known
///
/// Mistakes are made in the programs of the corpus, one at a time; those that some test notices are explained, and the
/// statements of the report are counted in the order of reading until the one that is wrong.
#[derive(Parser)]
struct Arguments {
    /// How many mutants in all
    #[arg(long, default_value_t = 30)]
    count: usize,
    /// Which mutants are drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this program (repeatable)
    #[arg(long, value_name = "NAME")]
    program: Vec<String>,
    /// The whydunit command; else the one that WHYDUNIT_BIN names, else a fresh release build
    #[arg(long, value_name = "FILE")]
    tool: Option<PathBuf>,
    /// How many cases are explained at the same time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// How many seconds an explanation may take
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Also tell the rank in slices from the failure, the nearest statement first
    #[arg(long)]
    baselines: bool,
    /// Write a line of JSON for each case
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Keep sources, executables, inputs and answers of the cases in this directory
    #[arg(long, value_name = "DIRECTORY")]
    keep: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let scratch = tempfile::tempdir().context("no temporary directory can be made")?;
    let place = arguments.keep.clone().unwrap_or_else(|| scratch.path().to_owned());
    let names = match arguments.program.is_empty() {
        true => programs::names()?,
        false => arguments.program.clone(),
    };
    ensure!(!names.is_empty(), "there are no programs");
    let mut harvested = Harvest::default();
    for (number, name) in names.iter().enumerate() {
        // The first programs get one more where the count cannot be divided.
        let extra = usize::from(number < arguments.count % names.len());
        let share = arguments.count / names.len() + extra;
        let program = programs::load(name)?;
        let directory = place.join(format!("{number:02}"));
        let mut harvest = cases::harvest(&program, share, arguments.seed, &directory)?;
        eprintln!("{name}: {} cases of {} mutants tried", harvest.cases.len(), harvest.tried);
        harvested.cases.append(&mut harvest.cases);
        harvested.mutants += harvest.mutants;
        harvested.tried += harvest.tried;
        harvested.not_compiled += harvest.not_compiled;
        harvested.never_failing += harvest.never_failing;
    }
    let Harvest { cases, mutants, tried, not_compiled, never_failing } = harvested;
    let rows = explain_all(cases, &arguments)?;
    if let Some(file) = &arguments.json {
        write_json(&rows, file, arguments.keep.is_some())?;
    }
    let mut out = std::io::stdout().lock();
    write!(out, "{}\n{}\n", table::summary(&rows), table::cases(&rows))?;
    writeln!(
        out,
        "{tried} of {mutants} mutants were drawn: {} fail, {never_failing} never fail, {not_compiled} do not compile.",
        rows.len()
    )?;
    Ok(())
}

/// Explains the cases, several at a time; the rows are in their order.
fn explain_all(cases: Vec<Case>, arguments: &Arguments) -> Result<Vec<Row>> {
    let tool = arguments.tool.clone().map_or_else(tool::binary, Ok)?;
    let tool = tool.canonicalize().with_context(|| format!("there is no {}", tool.display()))?;
    let count = cases.len();
    let waiting = Mutex::new(cases.into_iter().enumerate());
    let done: Mutex<Vec<(usize, Row)>> = Mutex::new(Vec::new());
    let work = || -> Result<()> {
        loop {
            let next = waiting.lock().ok().and_then(|mut waiting| waiting.next());
            let Some((number, case)) = next else { return Ok(()) };
            let answer = tool::explain(&tool, &case, arguments.seconds)?;
            let mut row = Row::new(case, &answer);
            for (name, kind) in BASELINES.into_iter().filter(|_| arguments.baselines) {
                let places = tool::slice(&tool, &row.case, kind, arguments.seconds)?;
                row.compare(name, places);
            }
            if let Ok(mut done) = done.lock() {
                done.push((number, row));
                progress(&done, count);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..arguments.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Ok(())))
    })?;
    let mut rows = done.into_inner().unwrap_or_default();
    rows.sort_by_key(|(number, _)| *number);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

fn progress(done: &[(usize, Row)], count: usize) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let near = done.iter().filter(|(_, row)| row.strict.is_some_and(|(rank, _)| rank <= 5)).count();
    eprint!("\r{} of {count}, {near} within five ", done.len());
    if done.len() == count {
        eprintln!();
    }
}

fn write_json(rows: &[Row], file: &Path, is_kept: bool) -> Result<()> {
    let mut text = String::new();
    for row in rows {
        let directory = row.case.directory.to_string_lossy();
        text.push_str(&row.json(is_kept.then_some(&directory)).to_string());
        text.push('\n');
    }
    std::fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))
}
