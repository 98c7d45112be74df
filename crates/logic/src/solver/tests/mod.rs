//! Answers are held against evaluation, against each other, and against solvers that misbehave.

mod backends;
mod divisions;
mod encoding;
mod fakes;
mod generate;
mod replies;

use super::*;
use crate::term::Sort;

fn z3() -> Solver {
    Choice::InProcess.open(Limits::default())
}

fn query(constraints: &[Term], wanted: Wanted) -> Query {
    let mut query = Query::new(wanted);
    for (number, term) in (0..).zip(constraints) {
        query.assert(Name(number), *term);
    }
    query
}

/// `a < 5`, `a * a == 9`, `4 < a`, `b == 1`, of 32 bits.
fn squares(terms: &mut Terms) -> [Term; 4] {
    let (a, b) = (terms.unknown(Sort::Bits(32)), terms.unknown(Sort::Bits(32)));
    let [one, four, five, nine] = [1, 4, 5, 9].map(|value| terms.bits(32, value));
    let square = terms.mul(a, a);
    [
        terms.unsigned_less(a, five),
        terms.equal(square, nine),
        terms.unsigned_less(four, a),
        terms.equal(b, one),
    ]
}

#[test]
fn a_model_is_found_and_a_core_named() {
    let mut terms = Terms::new();
    let [small, square, large, other] = squares(&mut terms);
    let mut solver = z3();
    let Answer::Sat(model) = solver.check(&terms, &query(&[small, square, other], Wanted::Core)) else {
        panic!("3 is such a number");
    };
    assert_eq!(model.values.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [3, 1]);
    let all = query(&[small, other, square, large], Wanted::Core);
    assert_eq!(solver.check(&terms, &all), Answer::Unsat(vec![Name(0), Name(3)]));
}

#[test]
fn no_query_is_solved_twice_even_in_another_arena() {
    let mut solver = z3();
    for round in 0..3 {
        let mut terms = Terms::new();
        // Other numbers for the same structure.
        for _ in 0..round {
            terms.unknown(Sort::Bool);
        }
        let [small, square, ..] = squares(&mut terms);
        assert!(matches!(solver.check(&terms, &query(&[small, square], Wanted::Verdict)), Answer::Sat(_)));
    }
    let statistics = solver.statistics();
    assert_eq!((statistics.queries, statistics.cached, statistics.sat), (3, 2, 3));
    assert!(statistics.units > 0);
}

#[test]
fn constants_need_no_solver() {
    let mut terms = Terms::new();
    let (yes, no) = (terms.truth(true), terms.truth(false));
    let mut solver = Solver::new(Box::new(child::Child::new(Vec::new())), Limits::default());
    assert_eq!(solver.check(&terms, &query(&[yes], Wanted::Core)), Answer::Sat(Model::default()));
    assert_eq!(solver.check(&terms, &query(&[yes, no], Wanted::Core)), Answer::Unsat(vec![Name(1)]));
    assert_eq!(solver.statistics().folded, 2);
}

#[test]
fn a_hard_query_is_given_up_at_the_same_point_each_time() {
    let mut terms = Terms::new();
    let (a, b) = (terms.unknown(Sort::Bits(64)), terms.unknown(Sort::Bits(64)));
    let product = terms.mul(a, b);
    // The product of two primes of 32 bits.
    let number = terms.bits(64, 4_294_967_291 * 4_294_967_279);
    let (is_product, one) = (terms.equal(product, number), terms.bits(64, 1));
    let limit = terms.bits(64, 1 << 32);
    let proper = [a, b].map(|factor| {
        let (low, high) = (terms.unsigned_less(one, factor), terms.unsigned_less(factor, limit));
        terms.and(low, high)
    });
    let all = query(&[is_product, proper[0], proper[1]], Wanted::Verdict);
    let limits = Limits { units: 300_000, ..Limits::default() };
    let mut first = None;
    for _ in 0..2 {
        let mut solver = Choice::InProcess.open(limits);
        assert_eq!(solver.check(&terms, &all), Answer::Unknown(Unknown::ResourceLimit(300_000)));
        assert_eq!(*first.get_or_insert(solver.statistics().units), solver.statistics().units);
    }
}

#[test]
fn deep_expressions_overflow_nothing() {
    let mut terms = Terms::new();
    let (mut value, step) = (terms.unknown(Sort::Bits(32)), terms.unknown(Sort::Bits(32)));
    let start = value;
    for _ in 0..100_000 {
        let sum = terms.bits_xor(value, step);
        value = terms.add(sum, start);
    }
    let target = terms.bits(32, 12345);
    let reached = terms.equal(value, target);
    let zero = terms.bits(32, 0);
    let fixed = [terms.equal(step, zero), terms.equal(start, zero)];
    let mut solver = z3();
    let answer = solver.check(&terms, &query(&[reached, fixed[0], fixed[1]], Wanted::Core));
    assert_eq!(answer, Answer::Unsat(vec![Name(0), Name(1), Name(2)]));
}

#[test]
fn a_library_that_is_not_there_is_told() {
    let Err(Unknown::Missing(message)) = z3::Z3::open_file("libz3.so.none") else {
        panic!("there is no such library");
    };
    assert!(message.contains("install Debian's libz3-4"), "{message}");
    assert!(!message.contains('\n'), "{message}");
}

#[test]
fn memory_that_runs_out_is_told_and_the_next_query_is_answered() {
    let mut terms = Terms::new();
    let inputs: [Term; 4] = std::array::from_fn(|_| terms.unknown(Sort::Bits(128)));
    let mut quotient = inputs[0];
    for divisor in inputs.iter().cycle().skip(1).take(12) {
        quotient = terms.unsigned_divide(quotient, *divisor);
        quotient = terms.mul(quotient, *divisor);
    }
    let odd = terms.bits(128, 12345);
    let reached = terms.equal(quotient, odd);
    let limits = Limits { memory: 64, ..Limits::default() };
    let mut solver = Choice::InProcess.open(limits);
    assert_eq!(
        solver.check(&terms, &query(&[reached], Wanted::Verdict)),
        Answer::Unknown(Unknown::Memory(64))
    );
    let [small, square, ..] = squares(&mut terms);
    let answer = z3().check(&terms, &query(&[small, square], Wanted::Verdict));
    assert!(matches!(answer, Answer::Sat(_)), "{answer:?}");
}
