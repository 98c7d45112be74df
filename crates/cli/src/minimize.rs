//! `whydunit minimize`: the smallest input with which the program still fails as it did.

mod files;
mod shell;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use clap::Args;
use linux::Process;
use locate::minimize::{
    Compared, Counts, Difference, Input, MinimizeError, Minimized, Minimizer, Options, PartName,
};
use replay::failure::Verdict;
use replay::{Case, Options as Recorded, Recording};
use report::{
    ArgumentsReport, DifferenceReport, MinimizeReport, PartReport, RunsReport, SpanReport, envelope,
};
use serde_json::json;

use crate::args::{Format, ViewArguments, count};
use crate::asking::{self, still_running};
use crate::case_arguments::{CaseArguments, Opened, cut_in_its_loop};
use crate::exit_code::{self, Failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::streams::printable;
use crate::view::{program_of, short_path};

#[derive(Debug, Args)]
pub struct MinimizeArguments {
    /// The directory to write to; it must not be there yet, or be empty
    #[arg(short, long, value_name = "DIR", default_value = "whydunit-minimized")]
    pub output: PathBuf,

    /// An input with which the program passes: what makes the difference to it is told
    ///
    /// It stands for standard input, or, where the program has none, for the one file that
    /// its arguments name.
    #[arg(long, verbatim_doc_comment, value_name = "FILE")]
    pub passing_input: Option<PathBuf>,

    /// Make at most so many runs
    #[arg(long, value_name = "RUNS", value_parser = count, default_value = "10K")]
    pub budget: u64,

    /// Stop after so many seconds, with the best so far
    #[arg(long, value_name = "SECONDS", value_parser = count)]
    pub timeout: Option<u64>,

    /// How the answer is written: for people, or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub view: ViewArguments,
    #[command(flatten)]
    pub case: CaseArguments,
}

pub fn minimize(arguments: &MinimizeArguments) -> Result<u8, Failure> {
    let usage = |error: anyhow::Error| Failure::new(exit_code::USAGE, error);
    interrupt::catch();
    let map = arguments.view.sources.source_map().map_err(usage)?;
    // At once, so that a long search is not for nothing.
    files::check(&arguments.output).map_err(usage)?;
    let passing = arguments.passing_input.as_deref().map(read).transpose().map_err(usage)?;
    let Opened { case, process } = arguments.case.open_to_an_end()?;
    let limits = Stopping::new(arguments);
    let view = |process: &Process| program_of(process).with_source_map(map.clone());
    let options = Recorded::from(case.end());
    let progress = Progress::telling(still_running(options.gauge.clone()));
    let case = cut_in_its_loop(&case, &Recording::make(process, options)).unwrap_or(case);
    let minimizer = Minimizer::new(&case, &view).map_err(refused)?;
    drop(progress);

    let compared = passing.as_ref().map(|passing| {
        let compare = |options: &Options<'_>| minimizer.compare(passing, options);
        limits.search("narrowing the difference", &minimizer, compare)
    });
    let compared = compared.map(|compared| understood(compared, arguments)).transpose().map_err(usage)?;
    let minimized = limits.search("minimizing", &minimizer, |options| minimizer.minimize(options));

    let mut report = report_of(&case, &minimizer, &minimized, compared.flatten(), &limits);
    let is_smaller = minimized.input != *minimizer.input();
    if is_smaller {
        let written = files::write(&arguments.output, &case, &minimized.input).map_err(usage)?;
        tell_written(&mut report, written, &minimizer);
    }
    let text = match arguments.format {
        Format::Text => report.text(asking::paper()),
        Format::Json => {
            let counts = json!({ "runs": report.runs.asked, "remembered": report.runs.remembered });
            let verdict = Verdict::Failed(minimizer.failure().clone());
            envelope("minimize", &case, &verdict, vec![json!(report)], Vec::new(), counts)
        }
    };
    asking::print(&text)?;
    Ok(if is_smaller { exit_code::SUCCESS } else { exit_code::NO_ANSWER })
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}

/// Adds where things are now, and tries the command.
fn tell_written(report: &mut MinimizeReport, written: files::Written, minimizer: &Minimizer<'_>) {
    for (part, path) in written.files {
        let told = report.parts.iter_mut().find(|told| told.name == short_path(&part.to_string()));
        if let Some(told) = told {
            told.file = Some(path.display().to_string());
        }
    }
    report.is_confirmed = written.case.map(|case| minimizer.fails_with(&case));
    report.command = Some(written.command);
}

/// What is said when there is nothing that could be minimized.
pub fn refused(error: MinimizeError) -> Failure {
    let status = match &error {
        MinimizeError::DidNotFail => exit_code::NO_FAILURE,
        MinimizeError::NeedsOracle { .. } | MinimizeError::Examine(_) => exit_code::USAGE,
        MinimizeError::CannotTell(_) | MinimizeError::NoInput | MinimizeError::NotTheSame => {
            exit_code::NO_ANSWER
        }
    };
    Failure::new(status, error)
}

/// When a search ends before it is done.
pub struct Stopping {
    pub threads: usize,
    pub budget: u64,
    pub deadline: Option<Instant>,
}

impl Stopping {
    fn new(arguments: &MinimizeArguments) -> Stopping {
        let later = |seconds| Instant::now().checked_add(Duration::from_secs(seconds));
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Stopping { threads, budget: arguments.budget, deadline: arguments.timeout.and_then(later) }
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Searches with these limits, and tells who waits how far it is.
    pub fn search<T>(
        &self,
        what: &'static str,
        minimizer: &Minimizer<'_>,
        search: impl FnOnce(&Options<'_>) -> T,
    ) -> T {
        let size = Arc::new(AtomicU64::new(minimizer.input().size()));
        let runs = Arc::new(AtomicU64::new(0));
        let told = (size.clone(), runs.clone());
        let line = move || {
            let (size, runs) = (told.0.load(Ordering::Relaxed), told.1.load(Ordering::Relaxed));
            format!("{what}, {size} bytes after {runs} runs")
        };
        let progress = Progress::telling(line);
        let watch = |progress: locate::minimize::Progress| {
            size.store(progress.size, Ordering::Relaxed);
            runs.store(progress.runs, Ordering::Relaxed);
        };
        let stop = || interrupt::is_interrupted() || self.is_late();
        let Stopping { threads, budget, .. } = *self;
        let found = search(&Options { threads, budget, stop: &stop, watch: &watch });
        drop(progress);
        found
    }

    /// What cut a search short.
    fn reason(&self) -> &'static str {
        match interrupt::is_interrupted() {
            true => "Ctrl-C",
            false if self.is_late() => "--timeout",
            false => "--budget",
        }
    }
}

/// The difference to the input that was given, if there is one.
fn understood(
    compared: Compared,
    arguments: &MinimizeArguments,
) -> anyhow::Result<Option<(Difference, Counts)>> {
    let file = arguments.passing_input.as_deref().unwrap_or(&arguments.output).display();
    match compared {
        Compared::Different(difference, counts) => Ok(Some((*difference, counts))),
        Compared::CutShort => Ok(None),
        Compared::Fails { is_same: true } => {
            Err(anyhow!("with {file} the program fails in the same way, so that there is no difference"))
        }
        Compared::Fails { is_same: false } => {
            Err(anyhow!("with {file} the program fails as well, in another way"))
        }
        Compared::CannotTell => Err(anyhow!("nobody can tell whether the program passes with {file}")),
        Compared::NoPart => Err(anyhow!(
            "it is not known what {file} stands for: the program reads no standard input, and not just one file"
        )),
    }
}

fn report_of(
    case: &Case,
    minimizer: &Minimizer<'_>,
    minimized: &Minimized,
    compared: Option<(Difference, Counts)>,
    limits: &Stopping,
) -> MinimizeReport {
    let (before, after) = (minimizer.input(), &minimized.input);
    let name = case.argv.first().unwrap_or(&case.program).to_string();
    let counts = compared.as_ref().map(|(_, counts)| *counts).unwrap_or_default();
    let of_given = compared.map(|(difference, _)| difference_report(&difference, true));
    let of_found = minimized.difference.as_ref().map(|difference| difference_report(difference, false));
    MinimizeReport {
        kind: "minimized-input",
        failure: printable(&format!("{name} {}", minimizer.failure())),
        arguments: arguments_report(before, after),
        parts: parts_report(before, after),
        command: None,
        is_confirmed: None,
        difference: of_given.or(of_found),
        runs: RunsReport {
            asked: counts.asked + minimized.counts.asked,
            remembered: counts.remembered + minimized.counts.remembered,
        },
        cut_short: minimized.is_cut_short.then(|| limits.reason()),
    }
}

fn arguments_report(before: &Input, after: &Input) -> ArgumentsReport {
    let bytes = |input: &Input| {
        let arguments = input.parts.iter().filter(|part| matches!(part.name, PartName::Argument(_)));
        arguments.map(|part| part.text.bytes().len()).sum()
    };
    ArgumentsReport {
        before: before.arguments(),
        after: after.arguments(),
        bytes_before: bytes(before),
        bytes_after: bytes(after),
    }
}

fn parts_report(before: &Input, after: &Input) -> Vec<PartReport> {
    let texts = before.parts.iter().filter(|part| !matches!(part.name, PartName::Argument(_)));
    let report = |part: &locate::minimize::Part| PartReport {
        name: short_path(&part.name.to_string()),
        before: part.text.bytes().len(),
        after: after.part(&part.name).map_or(0, |part| part.text.bytes().len()),
        file: None,
    };
    texts.map(report).collect()
}

fn difference_report(difference: &Difference, is_to_given: bool) -> DifferenceReport {
    let span = |span: &locate::minimize::Span| SpanReport {
        offset: span.range.start,
        length: span.range.len(),
        given_offset: span.given.as_ref().map(|given| given.start),
        bytes: span.bytes.clone(),
        instead: span.instead.clone(),
    };
    DifferenceReport {
        part: short_path(&difference.part.to_string()),
        is_to_given,
        spans: difference.spans.iter().map(span).collect(),
        is_cut_short: difference.is_cut_short,
    }
}
