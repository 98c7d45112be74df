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
use locate::switching::{Ending, Found, Judge, Meter, Options, Order, Parking, Search, Trial};
use program::{Program, Scope};
use replay::failure::Verdict;
use replay::oracle::{Assertions, judge};
use replay::{Bytes, Case, Channel, Code, Expectation, Flow, Recording, Stdin};

use crate::place;

/// Programs whose last byte of output counts as wrong, so that nothing helps and all is tried; with arguments that make runs longer and
/// longer. What ledger reads goes into sums that are looked at until the end, so that most trials have to be run to there. filter writes
/// as it goes, so that a trial that does something else is soon known to be wrong, and what others do differently is soon written over.
const LENGTHS: [(&str, [&[&str]; 3]); 2] =
    [("ledger", [&["1", "100"], &["1", "200"], &["1", "400"]]), ("filter", [&["50"], &["100"], &["200"]])];

/// Examples in which one condition repairs the run: the program, its arguments, its input, and what it should print.
const EXAMPLES: [(&str, &[&str], Option<&str>); 6] = [
    ("triangle", &["6", "5", "4"], None),
    ("flash_map", &["segments.txt"], None),
    ("log_sift", &["-nw", "retry", "server.log"], None),
    ("job_order", &[], Some("jobs.txt")),
    ("price_table", &[], Some("prices.txt")),
    ("rule_check", &["site"], Some("build.rules")),
];

/// A long run in which one decision is wrong: the lines that filter makes, at some of which it is asked whether they are too wide.
const LONG_RUN: &str = "800";

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
    let mut cases = Vec::new();
    for (name, arguments, input) in EXAMPLES {
        cases.extend(example(name, arguments, input)?.map(|case| (name, case)));
    }
    if divisor == 1 {
        cases.push(("filter", one_decision_wrong()?));
    }
    for (name, case) in cases {
        let [lefs, prior] =
            [Order::Lefs, Order::Prior].map(|order| search(&case, &options(order, 2, Parking::WhileItPays)));
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
         | program | instructions | predicates | two threads | one | ÷ two | trials a second | instructions a trial | wakings a trial | without parking | instructions a trial |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (name, lengths) in LENGTHS {
        let program = place::compile(name)?;
        for arguments in lengths.iter().take(if divisor > 1 { 1 } else { 3 }) {
            let case = last_byte_wrong(&program, arguments)?;
            text.push_str(&row(&format!("{name} {}", arguments.join(" ")), &case)?);
        }
    }
    Ok(text)
}

/// A search that fails, in numbers.
fn row(name: &str, case: &Case) -> Result<String> {
    let two = search(case, &options(Order::Prior, 2, Parking::WhileItPays))?;
    let one = search(case, &options(Order::Prior, 1, Parking::WhileItPays))?;
    let unparked = search(case, &options(Order::Prior, 2, Parking::Never))?;
    Ok(format!(
        "| {name} | {} | {} | {:.1} s | {:.1} s | {:.2} | {:.0} | {:.0} | {:.1} | {:.1} s | {:.0} |\n",
        two.instructions,
        two.found.statistics.candidates,
        two.time.as_secs_f64(),
        one.time.as_secs_f64(),
        one.time.as_secs_f64() / two.time.as_secs_f64(),
        two.found.statistics.tried as f64 / two.time.as_secs_f64(),
        instructions_each(&two.found),
        each(&two.found, |trial| u64::from(trial.wakes)),
        unparked.time.as_secs_f64(),
        instructions_each(&unparked.found)
    ))
}

/// How much of what trials do differs from what the failing run does: all of them wait as long as they can, however dear that is.
pub fn differing() -> Result<String> {
    let mut text = String::from(
        "| program | instructions | predicates | instructions a trial | of them followed | wakings a trial | ran to the end | two threads |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (name, lengths) in LENGTHS {
        let program = place::compile(name)?;
        for arguments in lengths {
            let made =
                search(&last_byte_wrong(&program, arguments)?, &options(Order::Prior, 2, Parking::Always))?;
            let found = &made.found;
            let _ = writeln!(
                text,
                "| {name} {} | {} | {} | {:.0} | {:.0} | {:.1} | {:.0} % | {:.1} s |",
                arguments.join(" "),
                made.instructions,
                found.statistics.candidates,
                instructions_each(found),
                each(found, |trial| trial.followed),
                each(found, |trial| u64::from(trial.wakes)),
                each(found, |trial| 100 * u64::from(trial.ending != Ending::AsTheSpine)),
                made.time.as_secs_f64()
            );
        }
    }
    Ok(text)
}

/// Something of the trials, in the mean.
fn each(found: &Found, of: impl Fn(&Trial) -> u64) -> f64 {
    let all: u64 = found.trials.iter().map(|(_, trial)| of(trial)).sum();
    all as f64 / found.trials.len().max(1) as f64
}

fn instructions_each(found: &Found) -> f64 {
    each(found, |trial| trial.instructions)
}

fn options(order: Order, threads: usize, parking: Parking) -> Options {
    Options { order, budget: u64::MAX, parking, checks: false, threads, goes_beyond: false }
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
    let mut case = with_arguments(&program, arguments);
    case.cwd = Bytes::from(folder.as_path());
    if let Some(input) = input {
        case.stdin = Stdin::Bytes(Bytes::from(std::fs::read(folder.join(input))?));
    }
    Ok(Some(expecting(case, expected)))
}

/// A long run of filter, compiled with a mistake that shows once; what is right is what it prints without.
fn one_decision_wrong() -> Result<Case> {
    let right = printed(&with_arguments(&place::compile("filter")?, &[LONG_RUN]))?;
    let program = place::compile_as("filter-wide", "filter", &["-DLIMIT=WIDTH+1"])?;
    Ok(expecting(with_arguments(&program, &[LONG_RUN]), right))
}

fn with_arguments(program: &Path, arguments: &[&str]) -> Case {
    let mut case = Case::new(program);
    case.argv.extend(arguments.iter().map(|argument| Bytes::from(*argument)));
    case
}

fn printed(case: &Case) -> Result<Vec<u8>> {
    let recording = Recording::make(case.load()?, case.end());
    Ok(recording.last().kernel.output.contents(Stream::Stdout))
}

fn expecting(mut case: Case, text: Vec<u8>) -> Case {
    case.oracle.expectations.push(Expectation::Exactly { channel: Channel::Stdout, text: Bytes::from(text) });
    case
}

fn last_byte_wrong(program: &Path, arguments: &[&str]) -> Result<Case> {
    let case = with_arguments(program, arguments);
    let mut text = printed(&case)?;
    let letter =
        text.iter_mut().rev().find(|byte| byte.is_ascii_alphanumeric()).context("it prints nothing")?;
    *letter = b'?';
    Ok(expecting(case, text))
}
