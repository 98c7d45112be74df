//! Queries that real runs give rise to: models do in the machine what they promise, cores are minimal, and solvers agree. With WHYDUNIT_LONG set, a
//! thousand queries and more.

mod common;

use common::{Scratch, is_long, load};
use linux::Process;
use logic::concolic::{Addresses, Concolic, Constraint, ConstraintKind, Inputs, Options, Unknown};
use logic::core::{Outcome, minimal_core, verify};
use logic::solver::{Answer, Choice, Limits, Model, Name, Query, Solver, Wanted};
use logic::{Term, Terms};
use machine::{Time, Unwatched};
use replay::{Cell, Recording};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Programs of the corpus, with arguments and an input for each.
const RUNS: [(&str, &[&str], &str); 6] = [
    ("calculate", &[], "x = (2 + 3) * 40 / 7\nx ^ 2\n"),
    ("tokens", &[], "int a1 = 0x1F; // c\n"),
    ("schedule", &[], "new a 1 5\nrun 3\n"),
    ("columns", &[], "a,b\n1,2.5\n\"3\",4\n"),
    ("substitute", &["a[bc]+", "<&>"], "xabcb a ac\n"),
    ("squeeze", &["tokens"], "abcabcabcabd\n"),
];

fn compile(scratch: &Scratch, name: &str, option: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../corpus/programs/{name}/{name}.c"));
    let text = std::fs::read_to_string(file).unwrap();
    scratch.compile_text(name, &text, "gcc", &[option])
}

fn options() -> Options {
    let inputs = Inputs { standard_input: true, files: Vec::new() };
    Options { addresses: Addresses::Sensitive, inputs, ..Options::default() }
}

/// A whole run, its standard input unknown.
fn with_unknown_input(program: &Path, arguments: &[&str], input: &str) -> Concolic {
    let mut concolic = Concolic::new(options());
    concolic.run(&mut load(program, arguments, input.as_bytes()), Time(u64::MAX));
    concolic
}

/// Can a branch go the other way, and all before it as they did?
struct Question {
    branch: Constraint,
    query: Query,
}

/// A question for each branch about which nothing of the kind was asked before.
fn questions(concolic: &mut Concolic) -> Vec<Question> {
    let constraints = concolic.constraints().to_vec();
    let mut before: Vec<Term> = Vec::new();
    let mut known = HashSet::new();
    let mut questions = Vec::new();
    for constraint in constraints {
        if !known.insert(constraint.term) {
            continue;
        }
        if matches!(constraint.kind, ConstraintKind::Branch { .. }) {
            let other = concolic.terms_mut().not(constraint.term);
            let mut query = Query::new(Wanted::Verdict);
            for (number, term) in before.iter().chain([&other]).enumerate() {
                query.assert(Name(number as u32), *term);
            }
            questions.push(Question { branch: constraint, query });
        }
        before.push(constraint.term);
    }
    questions
}

/// Of a list, so many that are spread over all of it.
fn spread<T>(all: Vec<T>, count: usize) -> impl Iterator<Item = T> {
    let step = all.len().div_ceil(count).max(1);
    all.into_iter().step_by(step)
}

/// Where the process stands after the instruction of this time; it must come to that instruction.
fn after(process: &mut Process, branch: &Constraint) -> u64 {
    process.run(branch.time, &mut Unwatched);
    assert_eq!(process.machine.time, branch.time, "it ended before {branch:?}");
    assert_eq!(process.machine.cpu.rip, branch.address, "it took another way before {branch:?}");
    process.run(Time(branch.time.0 + 1), &mut Unwatched);
    process.machine.cpu.rip
}

/// The standard input with the values of a model.
fn altered(concolic: &Concolic, input: &[u8], model: &Model) -> Vec<u8> {
    let mut altered = input.to_vec();
    for known in concolic.inputs() {
        let value = model.values.iter().find(|(variable, _)| *variable == known.variable);
        if let (Cell::Kernel { place: linux::Place::Input { offset }, .. }, Some((_, value))) =
            (known.cell, value)
        {
            altered[offset as usize] = *value as u8;
        }
    }
    altered
}

#[test]
fn a_model_of_the_input_makes_a_branch_go_the_other_way() {
    let scratch = Scratch::new("inputs");
    let count = if is_long() { 400 } else { 40 };
    let mut replayed = 0;
    for (name, arguments, input) in RUNS {
        for option in ["-O0", "-O2"] {
            let program = compile(&scratch, name, option);
            let mut concolic = with_unknown_input(&program, arguments, input);
            let mut solver = Choice::InProcess.open(Limits::default());
            let asked =
                questions(&mut concolic).into_iter().filter(|question| question.branch.fallbacks == 0);
            for Question { branch, query } in spread(asked.collect(), count) {
                let Answer::Sat(model) = solver.check(concolic.terms(), &query) else { continue };
                let other = altered(&concolic, input.as_bytes(), &model);
                let ways = [input.as_bytes(), &other]
                    .map(|input| after(&mut load(&program, arguments, input), &branch));
                assert_ne!(ways[0], ways[1], "{name} {option}: {other:?} at {branch:?}");
                replayed += 1;
            }
            println!("{name} {option}: {replayed} so far; {:?}", solver.statistics());
        }
    }
    assert!(replayed > 50, "only {replayed} models");
}

/// Instants of the program's own code, spread over the run.
fn instants(recording: &mut Recording, count: u64) -> Vec<Time> {
    let (start, end) = (recording.program_start().0, recording.end().0);
    (0..count).map(|n| Time(start + (end - start) * n / count)).collect()
}

#[test]
fn a_model_of_a_result_makes_a_branch_go_the_other_way() {
    let scratch = Scratch::new("results");
    let (mut replayed, mut followed) = (0, 0);
    for (name, arguments, input) in RUNS {
        let program = compile(&scratch, name, "-O0");
        let mut recording = Recording::make(load(&program, arguments, input.as_bytes()), Time(100_000_000));
        let mut solver = Choice::InProcess.open(Limits::default());
        for time in instants(&mut recording, if is_long() { 2000 } else { 150 }) {
            let range = time..Time(time.0 + 5000);
            let options = Options { addresses: Addresses::Sensitive, ..Options::default() };
            let mut concolic = Concolic::follow(&mut recording, range, &[Unknown::Result(time)], options);
            followed += 1;
            let asked =
                questions(&mut concolic).into_iter().filter(|question| question.branch.fallbacks == 0);
            for Question { branch, query } in asked.take(3) {
                let Answer::Sat(model) = solver.check(concolic.terms(), &query) else { continue };
                let interventions = concolic.interventions(&mut recording, &model).unwrap();
                let mut diversion = recording.divert(time, &interventions);
                let ways = [after(&mut recording.at(time), &branch), after(diversion.process(), &branch)];
                assert_ne!(ways[0], ways[1], "{name}: {interventions:?} at {branch:?}");
                replayed += 1;
            }
        }
        println!("{name}: {replayed} models of {followed} results so far; {:?}", solver.statistics());
    }
    assert!(replayed > 50, "only {replayed} models");
}

/// Whether there is a core, which then is one, and minimal.
fn has_core(solver: &mut Solver, terms: &Terms, query: &Query) -> bool {
    let Outcome::Unsat(core) = minimal_core(solver, terms, &query.constraints) else { return false };
    // What is asked here is harder than what was asked for the core: that others hold, of whom fewer are left.
    let mut patient = Choice::InProcess.open(Limits { units: 500_000_000, ..Limits::default() });
    verify(&mut patient, terms, &query.constraints, &core).unwrap();
    true
}

#[test]
fn cores_of_real_queries_are_minimal_and_solvers_agree() {
    let scratch = Scratch::new("agreement");
    let count = if is_long() { 150 } else { 5 };
    let limits = Limits { units: 2_000_000, seconds: 20, ..Limits::default() };
    let mut one = Choice::InProcess.open(limits);
    let mut other = Choice::command("z3 -in").open(limits);
    let (mut sat, mut unsat, mut unknown, mut cores) = (0, 0, 0, 0);
    for (name, arguments, input) in RUNS {
        for option in ["-O0", "-O2"] {
            let program = compile(&scratch, name, option);
            let mut concolic = with_unknown_input(&program, arguments, input);
            for Question { branch, query } in spread(questions(&mut concolic), count) {
                let terms = concolic.terms();
                match [one.check(terms, &query), other.check(terms, &query)] {
                    [Answer::Sat(_), Answer::Sat(_)] => sat += 1,
                    [Answer::Unsat(_), Answer::Unsat(_)] => {
                        unsat += 1;
                        cores += usize::from(has_core(&mut one, terms, &query));
                    }
                    [Answer::Unknown(reason), _] | [_, Answer::Unknown(reason)] => {
                        println!("{name} {option} at {branch:?}: {reason}");
                        unknown += 1;
                    }
                    answers => panic!("{name} {option} at {branch:?}: {answers:?}"),
                }
            }
        }
    }
    println!(
        "{sat} sat, {unsat} unsat with {cores} minimal cores, {unknown} unknown; {:?}",
        one.statistics()
    );
    assert!(sat >= 10 && unsat >= 20 && cores == unsat, "{sat} sat, {unsat} unsat, {cores} cores");
    assert!(unknown * 20 < sat + unsat, "{unknown} unknown");
}
