//! Slices against a tracer that keeps everything: both must say the same of every statement and every source.

mod guest;
mod naive;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use guest::{Guest, carried, compile, compile_all};
use machine::Time;
use naive::{Answer, Naive, csmith};
use program::Scope;
use replay::{Code, Follow, Slice, Unseen};

/// Random programs that run for longer are left out: the tracer keeps everything.
const LONGEST: Time = Time(1_500_000);

/// How two answers to one question differ; empty if they do not.
fn differences(ours: &Slice, theirs: &Answer) -> Vec<String> {
    let mut told = Vec::new();
    let statements: BTreeSet<_> = ours.statements.keys().chain(theirs.statements.keys()).collect();
    for stmt in statements {
        let (our, their) = (ours.statements.get(stmt), theirs.statements.get(stmt));
        if our != their {
            told.push(format!("line {} {:?}:\n    {our:?}\n    {their:?}", stmt.line, stmt.part));
        }
    }
    let sources: BTreeSet<_> = ours.sources.keys().chain(theirs.sources.keys()).collect();
    for source in sources {
        let (our, their) = (ours.sources.get(source), theirs.sources.get(source));
        if our != their {
            told.push(format!("{source:?}: {our:?}, {their:?}"));
        }
    }
    if ours.decisions != theirs.decisions {
        told.push(format!("decisions: {}, {}", ours.decisions, theirs.decisions));
    }
    told
}

/// Compares slices of random criteria; says how many were compared, and what differs.
fn compare(guest: &mut Guest, name: &str, seed: u64, samples: usize) -> (usize, Vec<String>) {
    let mut code = Code::new(&guest.program, Scope::new(&[], &[]).unwrap());
    let naive = Naive::watch(&mut guest.recording, &mut code, seed, samples);
    assert_eq!(naive.irregular, 0, "{name}: every return belongs to a call");
    let (mut compared, mut told) = (0, Vec::new());
    for (question, roots) in &naive.questions {
        for follow in [Follow::Data, Follow::Full] {
            if follow == Follow::Data && question.why_here {
                continue;
            }
            let ours = guest.recording.slice(&mut code, question, follow, &mut Unseen);
            let found = differences(&ours, &naive.slice(&mut code, roots, follow));
            compared += 1;
            if !found.is_empty() {
                told.push(format!("{name}, {follow:?} of {question:?}, {} differences:", found.len()));
                told.extend(found.into_iter().take(4));
            }
        }
    }
    (compared, told)
}

fn agrees(guest: &mut Guest, name: &str, samples: usize) {
    let (compared, told) = compare(guest, name, 1, samples);
    println!("{name}: {compared} slices compared in a run of {:?}", guest.recording.end());
    assert!(compared > 0 && told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn small_programs_have_the_slices_that_their_graphs_have() {
    for (source, arguments) in [
        ("two_parts.c", &["2", "1"][..]),
        ("steps.c", &["2", "abc"]),
        ("omitted.c", &[]),
        ("ways.c", &["depth", "30"]),
        ("ways.c", &["find", "9"]),
        ("ways.c", &["machine", "abbabac"]),
        ("ways.c", &["nest", "4"]),
        ("ways.c", &["even", "9"]),
        ("ways.c", &["jump", "6"]),
        ("channels.c", &["vector", "xy"]),
        ("channels.c", &["send", "xy"]),
        ("channels.c", &["mapping", "xy"]),
        ("long_doubles.c", &["7.5", "1.25"]),
    ] {
        for (compiler, optimisation) in [("gcc", "-O0"), ("clang", "-O1")] {
            let mut guest = Guest::compile_by(compiler, source, &[optimisation], arguments);
            agrees(&mut guest, &format!("{source} {arguments:?} by {compiler} {optimisation}"), 8);
        }
    }
}

/// A program of another crate's tests.
fn other(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).canonicalize().unwrap()
}

#[test]
fn programs_of_every_shape_have_the_slices_that_their_graphs_have() {
    for (path, arguments) in [
        ("../oracle/tests/programs/shapes.c", &["4"][..]),
        ("../program/tests/programs/chains.c", &[]),
        ("../../eval/programs/ledger.c", &["1"]),
    ] {
        for (compiler, optimisation) in [("gcc", "-O2"), ("clang", "-O0")] {
            let program = compile(compiler, &other(path), &[optimisation]);
            // The beginning will do.
            let mut guest = Guest::run_for(program, arguments, Time(300_000));
            agrees(&mut guest, &format!("{path} by {compiler} {optimisation}"), 12);
        }
    }
}

#[test]
fn an_interpreter_has_the_slices_that_its_graph_has() {
    let directory = carried("lua-src", "lua-5.4.7");
    let files = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
    let mut sources: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "c")).collect();
    sources.sort();
    sources.insert(0, other("../oracle/tests/programs/interpreter.c"));
    let include = format!("-I{}", directory.display());
    let program = compile_all("gcc", &sources, &["-O1", &include]);
    let script = "local t = {} for i = 1, 9 do t[i] = i * i end print(#t, t[3] + t[4], ('x'):rep(3))";
    let mut guest = Guest::run_for(program, &[script], LONGEST);
    agrees(&mut guest, "lua", 12);
}

fn compare_random(seeds: std::ops::Range<u64>, samples: usize) {
    let (mut compared, mut skipped, mut told, mut instructions) = (0, 0, Vec::new(), 0);
    for seed in seeds {
        let Some(source) = csmith::generate(seed) else {
            println!("skipped: there is no csmith");
            return;
        };
        let (compiler, optimisation) = csmith::VARIANTS[seed as usize % csmith::VARIANTS.len()];
        let program = compile(compiler, &source, &[optimisation, "-isystem", "/usr/include/csmith"]);
        let mut guest = Guest::run_for(program.clone(), &[], LONGEST);
        std::fs::remove_file(&program).unwrap();
        if guest.recording.end() >= LONGEST {
            skipped += 1;
            continue;
        }
        instructions += guest.recording.end().0;
        let (count, found) =
            compare(&mut guest, &format!("seed {seed}, {compiler} {optimisation}"), seed, samples);
        compared += count;
        told.extend(found);
        std::fs::remove_file(&source).unwrap();
    }
    println!(
        "{compared} slices compared in runs of {instructions} instructions, {skipped} programs left out"
    );
    assert!(told.is_empty(), "{}", told.join("\n"));
    assert!(compared > 0);
}

/// In the normal mode so many programs a test, of which several run side by side.
const PROGRAMS: u64 = 8;
const LONG_PROGRAMS: u64 = 200;

fn share(number: u64) {
    let programs = if std::env::var_os("WHYDUNIT_LONG").is_some() { LONG_PROGRAMS } else { PROGRAMS };
    compare_random(1 + number * 1000..1 + number * 1000 + programs, 8);
}

#[test]
fn random_programs_have_the_slices_that_their_graphs_have_1() {
    share(0);
}

#[test]
fn random_programs_have_the_slices_that_their_graphs_have_2() {
    share(1);
}

#[test]
fn random_programs_have_the_slices_that_their_graphs_have_3() {
    share(2);
}
