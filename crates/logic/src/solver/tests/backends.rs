//! Different solvers, the same answers.

use super::generate::Pool;
use super::*;
use crate::random::rounds;
use crate::term::{FloatArithmetic, Format, Node};
use std::process::Command;

/// Widths of all kinds; products and quotients of small ones only, and little of floats, so that all solvers can do it.
const SORTS: [&[Sort]; 6] = [
    &[Sort::Bits(1), Sort::Bits(7), Sort::Bits(8)],
    &[Sort::Bits(8), Sort::Bits(16)],
    &[Sort::Bits(32), Sort::Bits(33)],
    &[Sort::Bits(64), Sort::Bits(80)],
    &[Sort::Bits(127), Sort::Bits(128)],
    &[Sort::Float(Format::Single), Sort::Bits(16)],
];

fn is_small(terms: &Terms, node: Node) -> bool {
    use crate::term::BitsBinary::{Mul, SignedDivide, SignedRemainder, UnsignedDivide, UnsignedRemainder};
    let width = node.children().map(|child| terms.width(child)).max().unwrap_or(0);
    match node {
        Node::BitsBinary(Mul | UnsignedDivide | UnsignedRemainder | SignedDivide | SignedRemainder, _, _) => {
            width <= 16
        }
        // Not of the standard's own formats, which other solvers want an option for.
        Node::FloatFromBits(format, _)
        | Node::FloatConvert(format, ..)
        | Node::FloatFromSigned(format, ..) => format == Format::Single,
        Node::FloatArithmetic(FloatArithmetic::Div, ..) | Node::FloatSquareRoot(..) => false,
        Node::FloatRemainder(..) => false,
        _ => true,
    }
}

/// A few constraints, of which some queries have a model and some have none.
fn constraints(seed: u64) -> (Terms, Vec<Term>) {
    let mut pool = Pool::new(seed, SORTS[seed as usize % SORTS.len()]);
    for _ in 0..12 {
        pool.grow(is_small);
    }
    let mut constraints = Vec::new();
    while constraints.len() < 2 + seed as usize % 4 {
        let truth = pool.any(|sort| sort == Sort::Bool);
        let (a, b) = (pool.any(|sort| matches!(sort, Sort::Bits(_))), pool.any(|sort| sort == Sort::Bool));
        let sort = pool.terms.sort(a);
        let value = pool.random.value(sort);
        let value = pool.terms.value(sort, value);
        let equal = pool.terms.equal(a, value);
        let either = pool.terms.or(equal, b);
        let constraint = pool.random.pick(&[truth, equal, either]);
        if !pool.terms.is_constant(constraint) && !constraints.contains(&constraint) {
            constraints.push(constraint);
        }
    }
    (pool.terms, constraints)
}

#[derive(Default, Debug)]
struct Tally {
    sat: usize,
    unsat: usize,
    unknown: usize,
}

/// Asks both; they may not contradict each other.
fn compare(seeds: impl Iterator<Item = u64>, command: &str) -> Tally {
    let mut tally = Tally::default();
    let limits = Limits { units: 1_000_000, seconds: 3, ..Limits::default() };
    let mut one = Choice::InProcess.open(limits);
    let mut other = Choice::command(command).open(limits);
    for seed in seeds {
        let (terms, constraints) = constraints(seed);
        let wanted = if seed % 2 == 0 { Wanted::Core } else { Wanted::Verdict };
        let asked = query(&constraints, wanted);
        let answers = [one.check(&terms, &asked), other.check(&terms, &asked)];
        match &answers {
            [Answer::Sat(_), Answer::Sat(_)] => tally.sat += 1,
            [Answer::Unsat(a), Answer::Unsat(b)] => {
                tally.unsat += 1;
                for core in [a, b] {
                    assert_holds_no_model(&mut one, &terms, &constraints, core, seed);
                }
            }
            [Answer::Unknown(reason), _] | [_, Answer::Unknown(reason)] => {
                let is_trouble =
                    matches!(reason, Unknown::Died { .. } | Unknown::Nonsense { .. } | Unknown::Missing(_));
                assert!(!is_trouble, "seed {seed}: {reason}");
                tally.unknown += 1;
            }
            _ => panic!("seed {seed}: {answers:?}"),
        }
    }
    tally
}

fn assert_holds_no_model(solver: &mut Solver, terms: &Terms, constraints: &[Term], core: &[Name], seed: u64) {
    let core: Vec<Term> = core.iter().map(|name| constraints[name.0 as usize]).collect();
    let answer = solver.check(terms, &query(&core, Wanted::Verdict));
    assert!(matches!(answer, Answer::Unsat(_)), "seed {seed}: the core has {answer:?}");
}

fn compare_many(command: &'static str, first: u64, count: usize) {
    let program = command.split(' ').next().unwrap_or_default();
    assert!(Command::new(program).arg("--version").output().is_ok(), "{program} is installed by ./test");
    let share = |part: u64| (first..first + count as u64).filter(move |seed| seed % 2 == part);
    let tallies = std::thread::scope(|scope| {
        let halves = [0, 1].map(|part| scope.spawn(move || compare(share(part), command)));
        halves.map(|half| half.join().expect("no contradiction"))
    });
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    let (sat, unsat, unknown) = (sum(|t| t.sat), sum(|t| t.unsat), sum(|t| t.unknown));
    println!("{command}: {sat} sat, {unsat} unsat, {unknown} unknown");
    assert!(sat > count / 5 && unsat > count / 10, "{sat} sat, {unsat} unsat");
    assert!(unknown < count / 20, "{unknown} of {count} unknown");
}

#[test]
fn z3_as_a_child_agrees() {
    compare_many("z3 -in", 0, rounds(400, 5000));
}

#[test]
fn cvc5_agrees() {
    compare_many("cvc5 --lang smt2 --incremental", 1 << 32, rounds(600, 5000));
}

#[test]
fn answers_are_the_same_each_time() {
    let answers = || {
        let mut solver = z3();
        (0..60)
            .map(|seed| {
                let (terms, constraints) = constraints(seed);
                solver.check(&terms, &query(&constraints, Wanted::Core))
            })
            .collect::<Vec<_>>()
    };
    let first = answers();
    assert!(first.iter().any(|answer| matches!(answer, Answer::Sat(_))));
    let others = std::thread::scope(|scope| [0, 1].map(|_| scope.spawn(answers)).map(|thread| thread.join()));
    for other in others {
        assert_eq!(other.ok().as_ref(), Some(&first));
    }
}
