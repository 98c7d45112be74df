//! `whydunit explain`: why a run failed.

use std::time::{Duration, Instant};

use linux::fs::Stream;
use locate::criterion::asked_of;
use locate::explain::Explanation;
use locate::switching::{Options, Order, Search};
use replay::failure::{Failure as Failed, Verdict};
use replay::oracle::expect_like_reference;
use replay::{Code, Expectation, Flow, Gauge, Heap};
use report::{ExplainReport, Explained, Page, envelope};
use serde_json::json;

use crate::args::{ExplainArguments, OrderArgument, PageFormat};
use crate::asking::{self, RecordedCase};
use crate::exit_code::{self, Failure};
use crate::explain_page;
use crate::interrupt;
use crate::progress::Progress;
use crate::streams::tell;
use crate::view::{short_path, tell_warnings_about};

/// So much of what a program printed is shown when it did not fail.
const MOST_SHOWN: usize = 400;

pub fn explain(arguments: &ExplainArguments) -> Result<u8, Failure> {
    explain_page::check(arguments)?;
    let mut recorded = RecordedCase::open(&arguments.case, &arguments.view)?;
    judge_by_plain_text(&mut recorded)?;
    let mut verdict = recorded.verdict();
    if verdict.failure().is_none() && recorded.case.heap == Heap::Checked {
        // What a program does wrong may show only with its own allocator.
        let other = recorded.with_heap(Heap::Program)?;
        if let Verdict::Failed(_) = other.verdict() {
            tell("whydunit: the run fails only with the program's own allocator, so that is used\n");
            verdict = other.verdict();
            recorded = other;
        }
    }
    let Verdict::Failed(failure) = verdict else { return did_not_fail(&recorded, &verdict) };
    let explanation = search(arguments, &mut recorded, &failure);
    let explained = Explained {
        explanation: &explanation,
        failure: &failure,
        command: command_of(&recorded),
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
            let verdict = Verdict::Failed(failure.clone());
            envelope("explain", &recorded.case, &verdict, vec![json!(report)], counts)
        }
        PageFormat::Html => report.html(&Page::new(&explained, &explain_page::texts(&recorded, &failure))),
    };
    explain_page::write(&text, arguments.output.as_deref())?;
    Ok(if explanation.causes.is_empty() { exit_code::NO_ANSWER } else { exit_code::SUCCESS })
}

fn search(arguments: &ExplainArguments, recorded: &mut RecordedCase, failure: &Failed) -> Explanation {
    interrupt::catch();
    let gauge = Gauge::default();
    let progress = Progress::of("trying conditions the other way", gauge.clone());
    let RecordedCase { recording, program, scope, case, .. } = recorded;
    let mut code = Code::new(program, scope.clone());
    let flow = Flow::new(program);
    let asked = asked_of(failure, recording, &mut code);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options {
        order: match arguments.order {
            OrderArgument::Prior => Order::Prior,
            OrderArgument::Lefs => Order::Lefs,
        },
        budget: arguments.budget,
        parks: true,
        threads: arguments.jobs.unwrap_or(cores).max(1),
    };
    let end = arguments.timeout.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut search =
        Search { recording, code: &mut code, flow: &flow, scope, case, failure, question: &asked.question };
    let explanation = locate::explain::explain(&mut search, &asked, &options, &mut |progress| {
        if progress.tried == 0 {
            gauge.begin(progress.candidates as u64);
        }
        gauge.set(progress.tried as u64);
        !interrupt::is_interrupted() && end.is_none_or(|end| Instant::now() < end)
    });
    drop(progress);
    explanation
}

/// A reference is run once, and what it did is what is expected. What takes more than a look at the end of a run cannot judge
/// thousands of them.
fn judge_by_plain_text(recorded: &mut RecordedCase) -> Result<(), Failure> {
    let usage = |error: anyhow::Error| Failure::new(exit_code::USAGE, error);
    let is_dear =
        |expectation: &Expectation| matches!(expectation, Expectation::Holds(_) | Expectation::Command(_));
    if recorded.case.oracle.expectations.iter().any(is_dear) {
        let message = "explain cannot search with --assert or --oracle yet; it takes crashes, --expect-stdout, \
                       --expect-stderr, --expect-file, --expect-exit, --hang-after and --reference";
        return Err(usage(anyhow::anyhow!(message)));
    }
    recorded.case = expect_like_reference(&recorded.case, recorded.recording.last())
        .map_err(|error| usage(error.into()))?;
    Ok(())
}

fn did_not_fail(recorded: &RecordedCase, verdict: &Verdict) -> Result<u8, Failure> {
    let printed = recorded.recording.last().kernel.output.contents(Stream::Stdout);
    let shown = String::from_utf8_lossy(printed.get(..MOST_SHOWN).unwrap_or(&printed)).into_owned();
    let message = match verdict {
        Verdict::CannotTell(reason) => format!("nobody can tell whether it failed: {reason}"),
        _ if printed.is_empty() => "the program did not fail, and printed nothing".to_owned(),
        _ => format!("the program did not fail; it printed \"{}\"", shown.escape_debug()),
    };
    let hint = "what it should have done is told by --expect-stdout and its kin, see whydunit explain --help";
    Err(Failure::new(exit_code::NO_FAILURE, anyhow::anyhow!("{message}; {hint}")))
}

/// The command line as it was typed, more or less.
fn command_of(recorded: &RecordedCase) -> String {
    let words = recorded.case.argv.iter().map(|word| String::from_utf8_lossy(word).into_owned());
    let quoted =
        words.map(|word| match word.is_empty() || word.contains([' ', '\n', '\t', '"', '\'', '*', '$']) {
            true => format!("'{}'", word.replace('\'', "'\\''")),
            false => word,
        });
    quoted.collect::<Vec<_>>().join(" ")
}
