//! What a script says of a node is what evaluation says.

use super::generate::Pool;
use super::*;
use crate::random::{Random, rounds};
use crate::term::{Format, Node};

const WIDTHS: [u8; 8] = [1, 8, 16, 32, 33, 64, 80, 128];

fn sorts() -> Vec<Sort> {
    WIDTHS.map(Sort::Bits).into_iter().chain(Format::ALL.map(Sort::Float)).collect()
}

/// Whether SMT-LIB says what its value is: not of the bits of a NaN, and of functions of them.
fn is_told(terms: &Terms, evaluation: &mut Evaluation, node: Node) -> bool {
    let (Node::FloatToBits(of), Sort::Float(format)) =
        (node, node.children().next().map_or(Sort::Bool, |child| terms.sort(child)))
    else {
        return true;
    };
    let bits = evaluation.value(terms, of);
    // Neither a NaN nor an encoding that no operation makes.
    let place = format.digits() - 1;
    let first = bits >> 63 & 1 != 0;
    let exponent = bits >> (format.bits() - 1 - format.exponent_bits()) & ((1 << format.exponent_bits()) - 1);
    let is_nan = exponent + 1 == 1 << format.exponent_bits() && bits & ((1 << place) - 1) != 0;
    !is_nan && (format != Format::Extended || first == (exponent != 0))
}

/// Unknowns are given values; then no term can have another value than evaluation gives it.
fn agrees(seed: u64) {
    let mut pool = Pool::new(seed, &sorts());
    let mut assignment = Assignment::default();
    let mut constraints = Vec::new();
    for term in pool.all.clone() {
        let Node::Variable(variable) = pool.terms.node(term) else { continue };
        let sort = pool.terms.sort(term);
        let value = pool.random.value(sort);
        assignment.set(variable, value);
        let (bits, value) = match sort {
            Sort::Float(format) => {
                // Bit for bit, so that a NaN is that one.
                let bits = pool.terms.unknown(Sort::Bits(format.bits() as u8));
                let Node::Variable(variable) = pool.terms.node(bits) else { continue };
                assignment.set(variable, value);
                let float = pool.terms.float_from_bits(format, bits);
                constraints.push(pool.terms.equal(term, float));
                (bits, pool.terms.bits(format.bits(), value))
            }
            Sort::Bool | Sort::Bits(_) => (term, pool.terms.value(sort, value)),
        };
        constraints.push(pool.terms.equal(bits, value));
    }
    let mut evaluation = Evaluation::new(assignment);
    let mut wrong = Vec::new();
    for _ in 0..30 {
        let mut probe = Evaluation::clone(&evaluation);
        let is_welcome = |terms: &Terms, node: Node| {
            // Its value is found out apart, and the last digits of a remainder take a solver minutes.
            let mut probe = probe.clone();
            is_told(terms, &mut probe, node) && !matches!(node, Node::FloatRemainder(..))
        };
        let term = pool.grow(is_welcome);
        let value = probe.value(&pool.terms, term);
        let sort = pool.terms.sort(term);
        let value = pool.terms.value(sort, value);
        wrong.push(pool.terms.differs(term, value));
    }
    let any_wrong = pool.terms.disjunction(wrong.iter().copied());
    constraints.push(any_wrong);
    let answer = z3().check(&pool.terms, &query(&constraints, Wanted::Verdict));
    let failing: Vec<String> = wrong
        .iter()
        .filter(|_| !matches!(answer, Answer::Unsat(_)))
        .filter(|wrong| {
            let mut constraints = constraints.clone();
            *constraints.last_mut().expect("there are some") = **wrong;
            !matches!(z3().check(&pool.terms, &query(&constraints, Wanted::Verdict)), Answer::Unsat(_))
        })
        .map(|wrong| pool.terms.print(*wrong))
        .collect();
    assert!(matches!(answer, Answer::Unsat(_)), "seed {seed}: {answer:?} by {failing:#?}");
    // And what was claimed to be the values is a model.
    constraints.pop();
    assert!(constraints.iter().all(|constraint| evaluation.holds(&pool.terms, *constraint)), "seed {seed}");
}

/// Solvers take long for remainders, so there are few, of numbers that are not far apart.
#[test]
fn remainders_are_those_of_evaluation() {
    let mut random = Random::new(1);
    for _ in 0..rounds(12, 300) {
        let mut terms = Terms::new();
        let mut constraints = Vec::new();
        let [a, b] = [(); 2].map(|()| {
            let value = (random.below(2000) as f32 - 1000.0) / random.pick(&[1.0, 4.0, 10.0]);
            let bits = terms.unknown(Sort::Bits(32));
            let value = terms.bits(32, value.to_bits().into());
            constraints.push(terms.equal(bits, value));
            (terms.float_from_bits(Format::Single, bits), terms.float_from_bits(Format::Single, value))
        });
        let (remainder, value) = (terms.float_remainder(a.0, b.0), terms.float_remainder(a.1, b.1));
        assert!(terms.is_constant(value));
        constraints.push(terms.differs(remainder, value));
        let answer = z3().check(&terms, &query(&constraints, Wanted::Verdict));
        assert!(
            matches!(answer, Answer::Unsat(_)),
            "{} is not {}: {answer:?}",
            terms.print(remainder),
            terms.print(value)
        );
    }
}

#[test]
fn every_node_has_the_value_that_evaluation_gives_it() {
    for seed in 0..rounds(60, 3000) {
        agrees(seed as u64);
    }
}
