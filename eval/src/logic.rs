//! Formulas and solvers: what it takes to build the terms of a run, and to have questions about them answered.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use ::logic::concolic::{Addresses, Concolic, ConstraintKind, Inputs, Naming, Options, Unknown};
use ::logic::solver::{Answer, Choice, Limits, Name, Query, Script, Solver, Wanted};
use ::logic::{Term, Terms};
use anyhow::{Context, Result, ensure};
use linux::Process;
use machine::Time;
use replay::{Case, Recording, Stdin};

use crate::place;

/// So many definitions have the straight lines that are followed, about.
const LENGTHS: [u64; 3] = [1_000, 10_000, 100_000];
/// A step of `chain` makes so many.
const A_STEP: u64 = 9;
/// So many small questions are asked.
const QUESTIONS: usize = 2_000;
/// The run that they are about, and how far each instant of it is followed.
const LINES: &str = "100";
const FOLLOWED: u64 = 3_000;
/// So many questions about an instant.
const OF_AN_INSTANT: usize = 3;

const OTHER: &str = "z3 -in";

fn solvers() -> [Solver; 2] {
    let limits = Limits { units: 500_000_000, ..Limits::default() };
    [Choice::InProcess.open(limits), Choice::command(OTHER).open(limits)]
}

pub fn table(divisor: usize) -> Result<String> {
    let mut text = format!(
        "| definitions | instructions followed | terms | building, ms | terms a second | formula, KB | Z3 in process, ms | `{OTHER}`, ms |\n\
         |---|---|---|---|---|---|---|---|\n"
    );
    let chain = place::compile("chain")?;
    for length in LENGTHS {
        text.push_str(&straight_line(&chain, length / divisor as u64 / A_STEP)?);
    }
    text.push_str(
        "\nchain by gcc -O0, sixteen bytes of its input unknown, every result named. The solver is told what the input was, and asked whether the last result can be another.\n\n\
         | solver | questions | asked before | sat | unsat | unknown | time, ms | questions a second |\n|---|---|---|---|---|---|---|---|\n",
    );
    text.push_str(&small_questions(&place::compile("filter")?, QUESTIONS / divisor)?);
    let _ = writeln!(
        text,
        "\nCan a branch of filter {LINES} go the other way, up to {OF_AN_INSTANT} of those after an instant, the result of the instant's instruction being unknown?"
    );
    Ok(text)
}

fn load(program: &Path, argument: &str, input: &[u8]) -> Result<Process> {
    let mut case = Case::new(program.as_os_str().as_encoded_bytes());
    case.argv.push(argument.as_bytes().into());
    case.stdin = Stdin::Bytes(input.into());
    case.load().context("the program cannot be loaded")
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}

/// A row.
fn straight_line(chain: &Path, steps: u64) -> Result<String> {
    let mut process = load(chain, &steps.to_string(), b"sixteen bytes...")?;
    let inputs = Inputs { standard_input: true, ..Inputs::default() };
    let mut run = Concolic::new(Options { inputs, naming: Naming::Instructions, ..Options::default() });
    let begun = Instant::now();
    run.run(&mut process, Time(u64::MAX));
    let building = begun.elapsed();
    ensure!(!run.is_stopped(), "there are more terms than fit");
    let terms = run.terms().len();
    let query = another_result(&mut run);
    let script = Script::new(run.terms(), query.constraints.iter().map(|constraint| constraint.term));
    let [in_process, other] = solvers().map(|mut solver| {
        let begun = Instant::now();
        let answer = solver.check(run.terms(), &query);
        match answer {
            Answer::Unsat(_) => milliseconds(begun.elapsed()),
            Answer::Sat(_) => "wrong".to_owned(),
            Answer::Unknown(reason) => reason.to_string(),
        }
    });
    Ok(format!(
        "| {} | {} | {terms} | {} | {:.0} | {} | {in_process} | {other} |\n",
        run.definitions().len(),
        process.machine.time.0,
        milliseconds(building),
        terms as f64 / building.as_secs_f64(),
        script.text().len() / 1000,
    ))
}

/// All definitions, the input as it was, and the last result as it was not.
fn another_result(run: &mut Concolic) -> Query {
    let definitions = run.definitions().list().to_vec();
    let inputs: Vec<_> = run.inputs().iter().map(|input| (input.variable, input.value)).collect();
    let terms = run.terms_mut();
    let mut all: Vec<Term> = Vec::new();
    for definition in &definitions {
        let result = terms.of_variable(definition.variable);
        all.push(terms.equal(result, definition.term));
    }
    for (variable, value) in inputs {
        all.push(is(terms, variable, value));
    }
    if let Some(last) = definitions.last() {
        let as_it_was = is(terms, last.variable, last.value);
        all.push(terms.not(as_it_was));
    }
    named(&all)
}

fn is(terms: &mut Terms, variable: ::logic::Variable, value: u128) -> Term {
    let (term, sort) = (terms.of_variable(variable), terms.variable_sort(variable));
    let value = terms.value(sort, value);
    terms.equal(term, value)
}

fn named(all: &[Term]) -> Query {
    let mut query = Query::new(Wanted::Verdict);
    for (number, term) in (0..).zip(all) {
        query.assert(Name(number), *term);
    }
    query
}

/// A row for each solver.
fn small_questions(filter: &Path, count: usize) -> Result<String> {
    let mut recording = Recording::make(load(filter, LINES, b"")?, Time(u64::MAX));
    let mut solvers = solvers();
    let mut times = [Duration::ZERO; 2];
    let (start, end) = (recording.program_start().0, recording.end().0);
    let step = (end - start) / (2 * count as u64);
    let mut asked = 0;
    for instant in (start..end).step_by(step.max(1) as usize).map(Time) {
        let options = Options { addresses: Addresses::Sensitive, ..Options::default() };
        let range = instant..Time(instant.0 + FOLLOWED);
        let mut run = Concolic::follow(&mut recording, range, &[Unknown::Result(instant)], options);
        for query in other_ways(&mut run).into_iter().take(count - asked) {
            let mut verdicts = Vec::new();
            for (solver, time) in solvers.iter_mut().zip(&mut times) {
                let begun = Instant::now();
                let answer = solver.check(run.terms(), &query);
                *time += begun.elapsed();
                verdicts.extend(
                    (!matches!(answer, Answer::Unknown(_))).then_some(matches!(answer, Answer::Sat(_))),
                );
            }
            ensure!(verdicts.windows(2).all(|two| two[0] == two[1]), "the solvers contradict each other");
            asked += 1;
        }
    }
    let mut text = String::new();
    for ((name, solver), time) in ["Z3 in process", "`z3 -in`"].iter().zip(&solvers).zip(times) {
        let told = solver.statistics();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {:.0} |",
            told.queries,
            told.cached,
            told.sat,
            told.unsat,
            told.unknown,
            milliseconds(time),
            told.queries as f64 / time.as_secs_f64()
        );
    }
    Ok(text)
}

/// Whether a branch can go the other way, all before it going as they did.
fn other_ways(run: &mut Concolic) -> Vec<Query> {
    let constraints = run.constraints().to_vec();
    let mut before = Vec::new();
    let mut queries = Vec::new();
    for constraint in constraints {
        if matches!(constraint.kind, ConstraintKind::Branch { .. }) && queries.len() < OF_AN_INSTANT {
            let other = run.terms_mut().not(constraint.term);
            queries.push(named(&[&before[..], &[other]].concat()));
        }
        before.push(constraint.term);
    }
    queries
}
