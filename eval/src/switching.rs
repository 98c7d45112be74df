//! Predicate switching: what it takes to try every condition that a failing run decided.
//!
//! The columns are those of the paper: all predicates, how many were tried until one helped, last executed first and by priority, and the
//! time. Its table goes up to 218,778 predicates in 30 minutes, and its failed searches took from 4 minutes to 6 hours.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use linux::Process;
use linux::fs::Stream;
use locate::criterion::asked_of;
use locate::switching::{Found, Judge, Meter, Options, Order, Search};
use program::{Program, Scope};
use replay::failure::Verdict;
use replay::oracle::{Assertions, judge};
use replay::{Bytes, Case, Channel, Code, Expectation, Flow, Recording, Stdin};

use crate::place;

/// Rounds and entries of ledger, whose last byte counts as wrong: nothing helps, so that all is tried.
const LENGTHS: [(u32, u32); 3] = [(1, 100), (1, 200), (1, 400)];

/// Examples in which one condition repairs the run: the program, its arguments, its input, and what it should print.
const EXAMPLES: [(&str, &[&str], Option<&str>); 6] = [
    ("triangle", &["6", "5", "4"], None),
    ("flash_map", &["segments.txt"], None),
    ("log_sift", &["-nw", "retry", "server.log"], None),
    ("job_order", &[], Some("jobs.txt")),
    ("price_table", &[], Some("prices.txt")),
    ("rule_check", &["site"], Some("build.rules")),
];

/// A search that was made.
struct Made {
    found: Found,
    time: Duration,
    instructions: u64,
}

pub fn table(divisor: usize) -> Result<String> {
    let mut text = String::from(
        "| failing run | instructions | predicates | tried until one helped, last first | by priority | time, by priority |\n\
         |---|---|---|---|---|---|\n",
    );
    for (name, arguments, input) in EXAMPLES {
        let Some(case) = example(name, arguments, input)? else { continue };
        let [lefs, prior] = [Order::Lefs, Order::Prior].map(|order| search(&case, &options(order, 2, true)));
        let (lefs, prior) = (lefs?, prior?);
        let until =
            |made: &Made| made.found.statistics.first.map_or("—".to_owned(), |first| first.to_string());
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {:.2} s |",
            prior.instructions,
            prior.found.statistics.candidates,
            until(&lefs),
            until(&prior),
            prior.time.as_secs_f64()
        );
    }
    text.push_str(
        "\nSearches that fail, all decisions tried:\n\n\
         | ledger, entries | instructions | predicates | two threads | one | ÷ two | trials a second | instructions a trial | without parking | instructions a trial |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    let ledger = place::compile("ledger")?;
    for &(rounds, entries) in if divisor > 1 { &LENGTHS[..1] } else { &LENGTHS[..] } {
        let case = last_byte_wrong(&ledger, &[rounds.to_string(), entries.to_string()])?;
        let two = search(&case, &options(Order::Prior, 2, true))?;
        let one = search(&case, &options(Order::Prior, 1, true))?;
        // Without parking each trial runs to its end: the time grows with the square of the length.
        let unparked = (entries == LENGTHS[0].1).then(|| search(&case, &options(Order::Prior, 2, false)));
        let unparked = unparked.transpose()?;
        let each = |made: &Made| {
            made.found.statistics.instructions as f64 / made.found.statistics.tried.max(1) as f64
        };
        let alone = unparked.map_or(("—".to_owned(), "—".to_owned()), |made| {
            (format!("{:.1} s", made.time.as_secs_f64()), format!("{:.0}", each(&made)))
        });
        let _ = writeln!(
            text,
            "| {entries} | {} | {} | {:.1} s | {:.1} s | {:.2} | {:.0} | {:.0} | {} | {} |",
            two.instructions,
            two.found.statistics.candidates,
            two.time.as_secs_f64(),
            one.time.as_secs_f64(),
            one.time.as_secs_f64() / two.time.as_secs_f64(),
            two.found.statistics.tried as f64 / two.time.as_secs_f64(),
            each(&two),
            alone.0,
            alone.1
        );
    }
    Ok(text)
}

fn options(order: Order, threads: usize, parks: bool) -> Options {
    Options { order, budget: u64::MAX, parks, threads, goes_beyond: false }
}

fn search(case: &Case, options: &Options) -> Result<Made> {
    let mut recording = Recording::make(case.load()?, case.end());
    let Verdict::Failed(failure) = judge(case, recording.last()) else { bail!("the run does not fail") };
    let view = |process: &Process| Program::from_memory(&process.machine.memory);
    let program = view(recording.last());
    let start = Instant::now();
    let scope = Scope::default();
    let mut code = Code::new(&program, scope.clone());
    let flow = Flow::new(&program);
    let question = asked_of(&failure, &mut recording, &mut code).question;
    let assertions = Assertions::default();
    let judge = Judge { case, assertions: &assertions, view: &view };
    let instructions = recording.end().0;
    let mut search = Search {
        recording: &mut recording,
        code: &mut code,
        flow: &flow,
        scope: &scope,
        judge: &judge,
        failure: &failure,
        question: &question,
        inducing: &[],
    };
    let found = search.run(options, &Meter::default());
    Ok(Made { found, time: start.elapsed(), instructions })
}

/// One of the examples with what it should print; `None` if it is not there.
fn example(name: &str, arguments: &[&str], input: Option<&str>) -> Result<Option<Case>> {
    let folder = place::root().join("examples").join(name);
    let source = folder.join(format!("{name}.c"));
    let expected = match name {
        "triangle" => b"9.92\n".to_vec(),
        _ => match std::fs::read(folder.join("expected.txt")) {
            Ok(text) => text,
            Err(_) => return Ok(None),
        },
    };
    let program = place::scratch()?.join(name);
    let mut command = Command::new("gcc");
    command.args(["-g", "-O0", "-w", "-o"]).arg(&program).arg(&source).arg("-lm");
    if !command.status().context("gcc cannot be run")?.success() {
        bail!("gcc could not compile {}", source.display());
    }
    let mut case = Case::new(program.as_path());
    case.argv.extend(arguments.iter().map(|argument| Bytes::from(*argument)));
    case.cwd = Bytes::from(folder.as_path());
    if let Some(input) = input {
        case.stdin = Stdin::Bytes(Bytes::from(std::fs::read(folder.join(input))?));
    }
    let text = Bytes::from(expected);
    case.oracle.expectations.push(Expectation::Exactly { channel: Channel::Stdout, text });
    Ok(Some(case))
}

fn last_byte_wrong(program: &Path, arguments: &[String]) -> Result<Case> {
    let mut case = Case::new(program);
    case.argv.extend(arguments.iter().map(|argument| Bytes::from(argument.as_str())));
    let recording = Recording::make(case.load()?, case.end());
    let mut text = recording.last().kernel.output.contents(Stream::Stdout);
    let letter =
        text.iter_mut().rev().find(|byte| byte.is_ascii_alphanumeric()).context("it prints nothing")?;
    *letter = b'?';
    case.oracle.expectations.push(Expectation::Exactly { channel: Channel::Stdout, text: Bytes::from(text) });
    Ok(case)
}
