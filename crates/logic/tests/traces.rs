//! On runs of real programs with their input unknown, every term has the value that the machine computed, op by op. With WHYDUNIT_LONG set, millions of ops.

mod common;

use common::{Checked, Scratch, is_long, load};
use linux::Exit;
use logic::concolic::{ConstraintKind, Fallback, Inputs, Naming, Options};
use logic::transfer::Unmodelled;
use machine::Time;
use std::path::Path;

const INTEGERS: &str = "12 5\n-7 3\n1000000 -13\n77 77\n2147483647 2\n-2147483648 -1000\n0 1\n";
const FLOATS: &str = "6 5 4\n3 3.5 3\n1e3 0.25 1000\n-1.5 2 7e-3\n";
const TEXT: &str = "The quick brown fox jumps over the lazy dog; the dog sleeps. Why did the fox jump?\n";

fn options(naming: Naming) -> Options {
    let inputs = Inputs { standard_input: true, files: Vec::new() };
    let most_terms = if is_long() { 40_000_000 } else { 3_000_000 };
    Options { inputs, naming, most_terms, ..Options::default() }
}

/// Runs a program to its end, or as far as there is time for.
fn check(program: &Path, arguments: &[&str], input: &[u8], naming: Naming, limit: u64) -> Checked {
    let mut process = load(program, arguments, input);
    let mut checked = Checked::new(options(naming));
    let exit = checked.run(&mut process, Time(limit));
    assert!(matches!(exit, Exit::Until | Exit::Exited(_)), "{program:?} ended with {exit:?}");
    for (fallback, count) in checked.concolic.fallbacks().counts() {
        println!("{program:?}: {fallback} {count} times");
    }
    println!(
        "{program:?}: {} ops, {} with terms, {} terms, {} constraints, {} definitions",
        checked.ops,
        checked.terms,
        checked.concolic.terms().len(),
        checked.concolic.constraints().len(),
        checked.concolic.definitions().len()
    );
    checked
}

const COMPILERS: [(&str, &str); 3] = [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O2")];

fn check_program(name: &str, input: &str, least: u64) {
    let scratch = Scratch::new(name);
    let repeat = if is_long() { 40 } else { 1 };
    let input = input.repeat(repeat);
    for (compiler, option) in COMPILERS {
        let program = scratch.compile(name, compiler, &[option]);
        for naming in [Naming::None, Naming::Instructions] {
            let checked = check(&program, &[], input.as_bytes(), naming, 400_000_000);
            assert!(checked.terms > least, "{} ops with terms", checked.terms);
            let branches = checked.concolic.constraints().iter();
            assert!(branches.filter(|c| matches!(c.kind, ConstraintKind::Branch { .. })).count() > 20);
        }
    }
}

#[test]
fn integers() {
    check_program("integers", INTEGERS, 3000);
}

#[test]
fn floats() {
    check_program("floats", FLOATS, 5000);
}

#[test]
fn signals() {
    check_program("signals", FLOATS, 1000);
}

#[test]
fn strings() {
    check_program("strings", TEXT, 300);
}

#[test]
fn all_constraints_hold_in_the_run() {
    let scratch = Scratch::new("constraints");
    let program = scratch.compile("integers", "gcc", &["-O2"]);
    let mut checked = check(&program, &[], INTEGERS.as_bytes(), Naming::None, 100_000_000);
    for constraint in checked.concolic.constraints().to_vec() {
        assert_eq!(checked.concolic.value(constraint.term), 1, "{constraint:?}");
    }
}

#[test]
fn tools() {
    let limit = if is_long() { 20_000_000 } else { 1_500_000 };
    let numbers = (0..if is_long() { 2000 } else { 60 }).map(|n| format!("{}\n", n * 7919 % 1000));
    let numbers: String = numbers.collect();
    let sums: String = (1..30).map(|n| format!("{n}*{n}+{n}/7\n")).collect();
    let runs: [(&str, &[&str], &str); 4] = [
        ("/usr/bin/sort", &["-n"], &numbers),
        ("/usr/bin/gzip", &["-c"], &numbers),
        ("/usr/bin/bc", &["-q"], &sums),
        ("/usr/bin/sed", &["s/1*/x&/g"], &numbers),
    ];
    for (program, arguments, input) in runs {
        let checked = check(Path::new(program), arguments, input.as_bytes(), Naming::None, limit);
        assert!(checked.terms > 1000, "{program}: {} ops with terms", checked.terms);
    }
}

#[test]
fn a_program_with_doubles_is_expressed_fully() {
    let scratch = Scratch::new("doubles");
    let program = scratch.compile("floats", "gcc", &["-O0"]);
    let checked = check(&program, &[], FLOATS.as_bytes(), Naming::None, 100_000_000);
    let is_op = |(fallback, _): &(Fallback, u64)| matches!(fallback, Fallback::Op(_));
    let lost: Vec<_> = checked.concolic.fallbacks().counts().filter(is_op).collect();
    assert_eq!(lost, [], "what is lost: {}", Unmodelled::X87Function);
}
