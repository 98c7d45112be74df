//! Slices against a tracer that keeps everything: both must say the same of every statement and every source.

mod guest;
mod naive;

use std::collections::BTreeSet;

use guest::{Guest, compile};
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

#[test]
fn small_programs_have_the_slices_that_their_graphs_have() {
    for (source, arguments) in
        [("two_parts.c", &["2", "1"][..]), ("steps.c", &["2", "abc"]), ("omitted.c", &[])]
    {
        for options in [["-O0"], ["-O1"]] {
            let mut guest = Guest::compile(source, &options, arguments);
            let (compared, told) = compare(&mut guest, &format!("{source} {options:?}"), 1, 20);
            assert!(compared > 0 && told.is_empty(), "{}", told.join("\n"));
        }
    }
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

#[test]
fn random_programs_have_the_slices_that_their_graphs_have() {
    let (first, last) = match std::env::var("SEEDS") {
        Ok(seeds) => {
            let (a, b) = seeds.split_once("..").unwrap();
            (a.parse().unwrap(), b.parse().unwrap())
        }
        _ => (1, 25),
    };
    compare_random(first..last, 8);
}
