//! `whydunit explain`: why a run failed.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use linux::fs::Stream;
use locate::criterion::asked_of;
use locate::explain::Explanation;
use locate::inducing::Inducing;
use locate::switching::{Judge, Meter, Options, Order, Parking, Search};
use replay::failure::{Failure as Failed, FailureKind, Verdict};
use replay::oracle::{Assertions, ask};
use replay::{Code, Expectation, Flow, Heap, Patience, escaped, without_wrong_bytes};
use report::{ExplainReport, Explained, Page, envelope};
use serde_json::json;

use crate::args::{ExplainArguments, OrderArgument, PageFormat, ScopeArgument};
use crate::asking::{self, RecordedCase};
use crate::compile;
use crate::exit_code::{self, Failure};
use crate::explain_page;
use crate::inducing;
use crate::interrupt;
use crate::minimize::Stopping;
use crate::progress::Progress;
use crate::streams::tell;
use crate::view::{short_path, tell_warnings_about};

/// So much of what a program printed is shown when it did not fail.
const MOST_SHOWN: usize = 400;

/// When an answer is wanted. The search ends before that, so that there is time left to tell what it found.
#[derive(Clone, Copy)]
struct Deadlines {
    /// For what of the input matters.
    input: Option<Instant>,
    search: Option<Instant>,
    answer: Option<Instant>,
}

impl Deadlines {
    fn new(timeout: Option<u64>) -> Deadlines {
        let now = Instant::now();
        let answer = timeout.and_then(|seconds| now.checked_add(Duration::from_secs(seconds)));
        let thirds = |count: u32| answer.map(|answer| now + (answer - now) * count / 3);
        Deadlines { input: thirds(1), search: thirds(2), answer }
    }
}

fn is_past(instant: Option<Instant>) -> bool {
    instant.is_some_and(|instant| Instant::now() >= instant)
}

pub fn explain(mut arguments: ExplainArguments) -> Result<u8, Failure> {
    let deadlines = Deadlines::new(arguments.timeout);
    explain_page::check(&arguments)?;
    understand_command(&mut arguments)?;
    if arguments.scope == ScopeArgument::All {
        arguments.view.suspect.push("*".to_owned());
    }
    let arguments = &arguments;
    let mut recorded = RecordedCase::open_to_an_end(&arguments.case, &arguments.view)?;
    let mut given_up = None;
    if let Some(cut) = recorded.cut_in_its_loop()? {
        given_up = Some(recorded.recording.end());
        recorded = cut;
    }
    let mut verdict = recorded.judge()?;
    if verdict.failure().is_none() && recorded.case.heap == Heap::Checked {
        // What a program does wrong may show only with its own allocator.
        let mut other = recorded.with_heap(Heap::Program, u64::MAX)?;
        let otherwise = other.judge()?;
        if let Verdict::Failed(_) = otherwise {
            tell("whydunit: the run fails only with the program's own allocator, so that is used\n");
            verdict = otherwise;
            recorded = other;
        }
    }
    let Verdict::Failed(mut failure) = verdict else { return did_not_fail(&recorded, &verdict) };
    if let FailureKind::Hang { given_up: later, .. } = &mut failure.kind {
        *later = given_up;
    }
    warn_of_oracle(&recorded, &failure);
    tell_of_other_heap(&recorded, &failure)?;
    interrupt::catch();
    let limits = Stopping { threads: jobs(arguments), budget: inducing::RUNS, deadline: deadlines.input };
    let inducing = inducing::of(arguments, &limits, &mut recorded)?;
    let explanation = search(arguments, deadlines, &mut recorded, &failure, inducing.as_ref());
    let explained = Explained {
        explanation: &explanation,
        failure: &failure,
        inducing: inducing.as_ref(),
        command: command_of(&recorded, &arguments.sources),
        program: &recorded.program,
        shorten: &short_path,
    };
    let report = ExplainReport::new(&explained);
    let conditions = explanation.causes.iter().filter_map(|cause| cause.decided.stmt.as_ref());
    let computed = explanation.computed.iter().map(|(stmt, _)| stmt);
    tell_warnings_about(&recorded.program, &conditions.chain(computed).map(|stmt| &*stmt.file).collect());
    let text = match arguments.format {
        PageFormat::Text => report.text(asking::paper()),
        PageFormat::Json => {
            let counts = json!(report.search);
            let emission = failure.emission.or(explanation.emission);
            let verdict = Verdict::Failed(Failed { emission, ..failure.clone() });
            let causes = report.verdict().iter().map(|cause| json!(cause)).collect();
            envelope("explain", &recorded.case, &verdict, vec![json!(report)], causes, counts)
        }
        PageFormat::Html => report.html(&Page::new(&explained, &explain_page::texts(&recorded, &failure))),
    };
    explain_page::write(&text, arguments.output.as_deref())?;
    let is_explained = !explanation.causes.is_empty() || report.comes_of_unset();
    Ok(if is_explained { exit_code::SUCCESS } else { exit_code::NO_ANSWER })
}

/// What the checked heap has noticed comes before what the user has seen, and need not be the reason. A run that takes many times as long is not waited for.
fn tell_of_other_heap(recorded: &RecordedCase, failure: &Failed) -> Result<(), Failure> {
    let is_noticed = matches!(failure.kind, FailureKind::GuestFault { .. });
    let is_said = |expectation: &Expectation| !matches!(expectation, Expectation::EndsWithin(_));
    if !is_noticed || !recorded.case.oracle.expectations.iter().any(is_said) {
        return Ok(());
    }
    let most = recorded.recording.end().0.saturating_mul(4);
    if let Verdict::Failed(other) = recorded.with_heap(Heap::Program, most)?.judge()? {
        tell(&format!(
            "whydunit: with --heap=program, which does not check the heap, the run {other}; that can be explained as well\n"
        ));
    }
    Ok(())
}

/// Nobody has asked the user's own oracle about a run that fails without it, but what trials come to is for it to say.
fn warn_of_oracle(recorded: &RecordedCase, failure: &Failed) {
    if matches!(failure.kind, FailureKind::OracleSaysSo { .. }) {
        return;
    }
    if let Err(error) = ask(&recorded.case, recorded.recording.last()) {
        tell(&format!("whydunit: warning: {error}\n"));
    }
}

/// Sources are compiled first; the program that comes of them is run in their place.
fn understand_command(arguments: &mut ExplainArguments) -> Result<(), Failure> {
    let usage = |error: anyhow::Error| Failure::new(exit_code::USAGE, error);
    let ExplainArguments { sources, case, .. } = arguments;
    let command = &mut case.guest.command;
    match sources.iter().find(|name| !compile::is_source(name)) {
        None if sources.is_empty() && command.is_empty() => {
            Err(usage(anyhow!("say which program failed: whydunit explain -- PROGRAM [ARGS]...")))
        }
        None if sources.is_empty() => Ok(()),
        None => {
            let program = compile::compile(sources).map_err(usage)?;
            command.insert(0, program.into_os_string());
            Ok(())
        }
        // The program is understood without the two dashes as well, if its arguments are plain words.
        Some(_) if command.is_empty() && sources.first().is_some_and(|first| compile::is_source(first)) => {
            let name = sources.first().map(|first| first.to_string_lossy().into_owned()).unwrap_or_default();
            Err(usage(anyhow!(
                "the arguments of {name} come after --: whydunit explain [OPTIONS] {name} -- ARGS"
            )))
        }
        Some(_) if command.is_empty() => {
            *command = std::mem::take(sources);
            Ok(())
        }
        Some(other) => {
            let name = other.to_string_lossy();
            Err(usage(anyhow!("{name} is no C or C++ file; the program and its arguments come after --")))
        }
    }
}

fn jobs(arguments: &ExplainArguments) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    arguments.jobs.unwrap_or(cores).max(1)
}

fn search(
    arguments: &ExplainArguments,
    deadlines: Deadlines,
    recorded: &mut RecordedCase,
    failure: &Failed,
    inducing: Option<&Inducing>,
) -> Explanation {
    let is_over = |end| move || interrupt::is_interrupted() || is_past(end);
    let meter = Arc::new(Meter::new(is_over(deadlines.search)));
    let progress = Progress::telling(telling(meter.clone()));
    let view = recorded.view();
    let RecordedCase { recording, program, scope, case, .. } = recorded;
    recording.wait_no_longer_than(Patience::until(is_over(deadlines.answer)));
    let mut code = Code::new(program, scope.clone());
    let flow = Flow::new(program);
    let asked = asked_of(failure, recording, &mut code);
    let seeds = inducing.and_then(|inducing| inducing.seeds(recording)).unwrap_or_default();
    let options = Options {
        order: match arguments.order {
            OrderArgument::Prior => Order::Prior,
            OrderArgument::Lefs => Order::Lefs,
        },
        budget: arguments.budget,
        parking: Parking::WhileItPays,
        checks: false,
        threads: jobs(arguments),
        goes_beyond: true,
    };
    // They were understood when the run was judged.
    let assertions = Assertions::of(case).unwrap_or_default();
    let judge = Judge { case, assertions: &assertions, view: &view };
    let question = &asked.question;
    let mut search = Search {
        recording,
        code: &mut code,
        flow: &flow,
        scope,
        judge: &judge,
        failure,
        question,
        inducing: &seeds,
    };
    let explanation = locate::explain::explain(&mut search, &asked, &options, &meter);
    drop(progress);
    explanation
}

/// How far a search is, in words.
fn telling(meter: Arc<Meter>) -> impl Fn() -> String + Send + 'static {
    let begun = Instant::now();
    move || {
        let [candidates, tried, found] =
            [&meter.candidates, &meter.tried, &meter.found].map(|count| count.load(Ordering::Relaxed));
        let rate = tried.checked_div(begun.elapsed().as_secs()).unwrap_or(tried);
        let best = meter.best.lock().ok().and_then(|best| best.clone());
        let best = best
            .map_or(String::new(), |stmt| format!(", {}:{} repairs it", short_path(&stmt.file), stmt.line));
        let pass = meter.pass.percent().map_or(String::new(), |share| format!(" (this pass {share} %)"));
        match candidates {
            0 => "looking for conditions".to_owned(),
            _ => format!(
                "tried {tried} of {candidates} decisions{pass}, {rate} a second, {found} save the run{best}"
            ),
        }
    }
}

fn did_not_fail(recorded: &RecordedCase, verdict: &Verdict) -> Result<u8, Failure> {
    let printed = recorded.recording.last().kernel.output.contents(Stream::Stdout);
    let shown = escaped(printed.get(..MOST_SHOWN).unwrap_or(&printed));
    if let Verdict::CannotTell(reason) = verdict {
        let message = anyhow!("nobody can tell whether it failed: {reason}");
        return Err(Failure::new(exit_code::NO_ANSWER, message));
    }
    let message = match printed.is_empty() {
        true => "the program did not fail, and printed nothing".to_owned(),
        false => format!("the program did not fail; it printed \"{shown}\""),
    };
    let hint = "what it should have done is told by --expect-stdout and its kin, see whydunit explain --help";
    Err(Failure::new(exit_code::NO_FAILURE, anyhow!("{message}; {hint}")))
}

/// The command line as it was typed, more or less.
fn command_of(recorded: &RecordedCase, sources: &[OsString]) -> String {
    // Where a program lies that was compiled for this is nobody's business.
    let source = sources.first();
    let words = recorded.case.argv.iter().enumerate().map(|(place, word)| match source {
        Some(source) if place == 0 => source.to_string_lossy().into_owned(),
        _ => without_wrong_bytes(word),
    });
    let quoted =
        words.map(|word| match word.is_empty() || word.contains([' ', '\n', '\t', '"', '\'', '*', '$']) {
            true => format!("'{}'", word.replace('\'', "'\\''")),
            false => word,
        });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_told_how_far_the_pass_is_while_there_is_one() {
        let meter = Arc::new(Meter::default());
        let line = telling(meter.clone());
        assert_eq!(line(), "looking for conditions");
        meter.candidates.store(56_567, Ordering::Relaxed);
        meter.tried.store(8_128, Ordering::Relaxed);
        assert!(line().starts_with("tried 8128 of 56567 decisions, "), "{}", line());
        meter.pass.begin(1_000);
        meter.pass.add(425);
        assert!(line().starts_with("tried 8128 of 56567 decisions (this pass 42 %), "), "{}", line());
    }
}
