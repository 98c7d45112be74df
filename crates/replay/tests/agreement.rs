//! Slices against a tracer that keeps everything: both must say the same of every statement and every source.

mod guest;
mod naive;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use guest::{Guest, argument, carried, compile, compile_all};
use linux::Place;
use machine::Time;
use naive::{Answer, Naive, Random, Seeds, csmith};
use program::Scope;
use replay::{Cell, Code, Follow, Recording, Seed, SeedKind, Slice, Source, Unseen};

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

/// Compares slices of random criteria; says how many were compared, and what differs. Chops that are not empty are counted.
fn compare(
    guest: &mut Guest,
    name: &str,
    seed: u64,
    samples: usize,
    chops: &mut u64,
) -> (usize, Vec<String>) {
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
    for (number, (criteria, seeds)) in
        forward_criteria(&mut guest.recording, &naive, seed, samples).into_iter().enumerate()
    {
        for follow in [Follow::Data, Follow::Full] {
            let ours = guest.recording.forward_slice(&mut code, &criteria, follow, &mut Unseen);
            let (theirs, carried) = naive.forward(&mut code, &seeds, follow);
            let mut found = differences(&ours, &theirs);
            // The last are bytes of the output.
            let sink = naive.questions.iter().rev().nth(number % 5);
            if let Some((question, roots)) = sink.filter(|_| follow == Follow::Full) {
                let ours =
                    guest.recording.chop(&mut code, &criteria, std::slice::from_ref(question), &mut Unseen);
                let theirs = naive.chop(&mut code, roots, &carried);
                let told = differences(&ours, &theirs);
                found.extend(told.into_iter().map(|told| format!("chop to {question:?}: {told}")));
                compared += 1;
                *chops += u64::from(!ours.statements.is_empty());
            }
            compared += 1;
            if !found.is_empty() {
                told.push(format!(
                    "{name}, {follow:?} forward of {criteria:?}, {} differences:",
                    found.len()
                ));
                told.extend(found.into_iter().take(4));
            }
        }
    }
    (compared, told)
}

/// What forward slices are compared of: the results of the sampled instructions, the first argument, the input, and some
/// statement instances and branches.
fn forward_criteria(
    recording: &mut Recording,
    naive: &Naive,
    seed: u64,
    samples: usize,
) -> Vec<(Vec<Seed>, Seeds)> {
    let begin = naive.begin();
    let mut criteria = Vec::new();
    let mut add = |time: Time, kind: SeedKind, seeds: Seeds| {
        criteria.push((vec![Seed { time, kind }], Seeds { time, ..seeds }));
    };
    let none = Seeds { time: begin, parts: Vec::new(), instance: None, decision: None };
    for (question, roots) in naive.questions.iter().filter(|(question, _)| question.time < recording.end()) {
        let seeds = Seeds { parts: roots.parts.clone(), ..none.clone() };
        add(question.time, SeedKind::Cells(question.cells.clone()), seeds);
        if let Some((instance, start)) = naive.instance_at(question.time) {
            add(start, SeedKind::Statement, Seeds { instance: Some(instance), ..none.clone() });
        }
    }
    if let Some((address, length)) = argument(recording, 1) {
        let is_in = |source: &Source| matches!(source, Source::Initial { address: at } if (address..address + length).contains(at));
        let seeds = Seeds { parts: naive.parts_of(is_in), ..none.clone() };
        add(begin, SeedKind::Cells(vec![Cell::Memory { address, length }]), seeds);
    }
    let is_input = |source: &Source| matches!(source, Source::Input(Place::Input { .. }));
    let seeds = Seeds { parts: naive.parts_of(is_input), ..none.clone() };
    let place = Place::Input { offset: 0 };
    add(begin, SeedKind::Cells(vec![Cell::Kernel { place, length: 1 << 16 }]), seeds);
    let (decisions, mut random) = (naive.decisions(), Random::new(seed + 77));
    for _ in 0..samples.div_ceil(2) {
        if let Some((time, node)) = decisions.get(random.below(decisions.len() as u64) as usize) {
            add(*time, SeedKind::Decision, Seeds { decision: Some(*node), ..none.clone() });
        }
    }
    criteria
}

/// The long mode asks about more instants.
fn is_long() -> bool {
    std::env::var_os("WHYDUNIT_LONG").is_some()
}

fn samples(normally: usize) -> usize {
    if is_long() { 6 * normally } else { normally }
}

fn agrees(guest: &mut Guest, name: &str, normally: usize) {
    let mut chops = 0;
    let (compared, told) = compare(guest, name, 1, samples(normally), &mut chops);
    let end = guest.recording.end();
    println!("{name}: {compared} slices compared in a run of {end:?}, {chops} chops have something in them");
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

fn agrees_with_a_checked_heap(source: &str, arguments: &[&str]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    for (compiler, optimisation) in [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O0"), ("clang", "-O1")] {
        let program = compile(compiler, &path, &[optimisation]);
        let mut guest = Guest::run_checked(program, arguments);
        agrees(&mut guest, &format!("{source} {arguments:?} by {compiler} {optimisation}"), 12);
    }
}

#[test]
fn programs_with_a_checked_heap_have_the_slices_that_their_graphs_have() {
    agrees_with_a_checked_heap("blocks.c", &["12"]);
    agrees_with_a_checked_heap("blocks.c", &["own"]);
}

#[test]
fn programs_that_hardly_use_a_checked_heap_have_the_slices_that_their_graphs_have() {
    agrees_with_a_checked_heap("steps.c", &["2", "abc"]);
    agrees_with_a_checked_heap("ways.c", &["find", "9"]);
}

#[test]
fn programs_that_signals_interrupt_have_the_slices_that_their_graphs_have() {
    let mut differences = Vec::new();
    for (way, input) in [("fault", "4"), ("divide", "5"), ("raise", "4"), ("compute", "3")] {
        for (compiler, optimisation) in [("gcc", "-O0"), ("clang", "-O1"), ("gcc", "-O2")] {
            let mut guest = Guest::compile_by(compiler, "interrupted.c", &[optimisation], &[way, input]);
            let name = format!("{way} by {compiler} {optimisation}");
            let (compared, told) = compare(&mut guest, &name, 1, samples(12), &mut 0);
            println!("{name}: {compared} slices compared, {} differ", told.len());
            assert!(compared > 0, "{name}");
            differences.extend(told);
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
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
    let (mut compared, mut skipped, mut told, mut instructions, mut chops) = (0, 0, Vec::new(), 0, 0);
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
        let (count, found) = compare(
            &mut guest,
            &format!("seed {seed}, {compiler} {optimisation}"),
            seed,
            samples,
            &mut chops,
        );
        println!("seed {seed}: {count} slices compared, {} lines of differences", found.len());
        compared += count;
        told.extend(found);
        std::fs::remove_file(&source).unwrap();
    }
    println!(
        "{compared} slices compared in runs of {instructions} instructions, {skipped} programs left out, \
         {chops} chops have something in them"
    );
    assert!(told.is_empty(), "{}", told.join("\n"));
    assert!(compared > 0);
}

/// In the normal mode so many programs a test, of which several run side by side.
const PROGRAMS: u64 = 8;
const LONG_PROGRAMS: u64 = 200;

fn share(number: u64) {
    let programs = if is_long() { LONG_PROGRAMS } else { PROGRAMS };
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

/// Programs that once had other slices than their graphs.
const FOUND: [u64; 1] = [
    // A conditional move goes by flags of another statement.
    2049,
];

#[test]
fn programs_that_once_had_other_slices_than_their_graphs_have_the_same() {
    FOUND.into_iter().for_each(|seed| compare_random(seed..seed + 1, 8));
}
