//! Cores are minimal, and found again in noise.

use super::*;
use crate::solver::{Backend, Choice, Limits, Script, Solved, Verdict};
use crate::term::{Sort, Term};

fn named(terms: &[Term]) -> Vec<Constraint> {
    (0..).zip(terms).map(|(number, term)| Constraint { name: Name(number), term: *term }).collect()
}

fn solver() -> Solver {
    Choice::InProcess.open(Limits::default())
}

/// A chain `x0 == 1, x1 == x0 + 1, …` with noise beside it; that the last one is even contradicts it.
fn chain(terms: &mut Terms, length: u32) -> (Vec<Term>, Vec<u32>) {
    let sort = Sort::Bits(32);
    let (one, two, zero) = (terms.bits(32, 1), terms.bits(32, 2), terms.bits(32, 0));
    let mut x = terms.unknown(sort);
    let mut constraints = vec![terms.equal(x, one)];
    let mut core = vec![0];
    for _ in 0..length {
        let (next, noise) = (terms.unknown(sort), terms.unknown(sort));
        let sum = terms.add(x, two);
        // Connected, and of no use.
        let beside = terms.bits_and(noise, x);
        constraints.push(terms.unsigned_less_or_equal(beside, x));
        core.push(constraints.len() as u32);
        constraints.push(terms.equal(next, sum));
        let apart = terms.unknown(sort);
        let odd = terms.bits(32, 7);
        constraints.push(terms.equal(apart, odd));
        x = next;
    }
    let rest = terms.unsigned_remainder(x, two);
    core.push(constraints.len() as u32);
    constraints.push(terms.equal(rest, zero));
    (constraints, core)
}

#[test]
fn the_core_of_a_chain_is_the_chain() {
    for length in [1, 5, 20] {
        let mut terms = Terms::new();
        let (constraints, expected) = chain(&mut terms, length);
        let constraints = named(&constraints);
        let Outcome::Unsat(core) = minimal_core(&mut solver(), &terms, &constraints) else {
            panic!("an odd number is not even");
        };
        assert_eq!(core, Core { names: expected.into_iter().map(Name).collect(), undecided: 0 });
        assert_eq!(verify(&mut solver(), &terms, &constraints, &core), Ok(()));
    }
}

#[test]
fn what_holds_has_a_model_of_all_groups() {
    let mut terms = Terms::new();
    let (mut constraints, _) = chain(&mut terms, 3);
    constraints.pop();
    let Outcome::Sat(model) = minimal_core(&mut solver(), &terms, &named(&constraints)) else {
        panic!("without the contradiction it holds");
    };
    let mut evaluation = crate::term::Evaluation::new(model.assignment());
    assert!(constraints.iter().all(|constraint| evaluation.holds(&terms, *constraint)));
}

/// Knows nothing about queries with fewer constraints than this.
struct Forgetful(usize, crate::solver::z3::Z3);

impl Backend for Forgetful {
    fn solve(&mut self, script: &Script, wanted: Wanted, limits: Limits) -> Solved {
        if script.len() < self.0 {
            return Solved { verdict: Verdict::Unknown(Unknown::ResourceLimit(limits.units)), units: 0 };
        }
        self.1.solve(script, wanted, limits)
    }
}

#[test]
fn what_is_not_known_to_be_superfluous_stays() {
    let mut terms = Terms::new();
    let (constraints, expected) = chain(&mut terms, 2);
    let constraints = named(&constraints);
    let z3 = crate::solver::z3::Z3::open().expect("libz3-4 is installed by ./test");
    let mut solver = Solver::new(Box::new(Forgetful(expected.len(), z3)), Limits::default());
    let Outcome::Unsat(core) = minimal_core(&mut solver, &terms, &constraints) else { panic!("it is odd") };
    assert_eq!(core.undecided, core.names.len());
    assert!(expected.iter().all(|name| core.names.contains(&Name(*name))));
}

#[test]
fn a_core_that_is_none_or_not_minimal_is_seen() {
    let mut terms = Terms::new();
    let (constraints, expected) = chain(&mut terms, 2);
    let constraints = named(&constraints);
    let names = |numbers: &[u32]| Core { names: numbers.iter().copied().map(Name).collect(), undecided: 0 };
    let verdict = verify(&mut solver(), &terms, &constraints, &names(&expected[1..]));
    assert!(matches!(verdict, Err(Wrong::NoCore(_))), "{verdict:?}");
    let mut more = expected.clone();
    more.insert(1, 1);
    assert_eq!(verify(&mut solver(), &terms, &constraints, &names(&more)), Err(Wrong::NotMinimal(Name(1))));
}
