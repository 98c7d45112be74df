//! What rests on a product that was taken for a division is answered only when it is one.

use super::*;
use crate::term::Equivalence;

/// `x * factor >> 35` for a number of 32 bits.
fn product(terms: &mut Terms, x: Term, factor: u128) -> Term {
    let wide = terms.zero_extend(64, x);
    let (factor, count) = (terms.bits(64, factor), terms.bits(64, 35));
    let product = terms.mul(wide, factor);
    let shifted = terms.shift_right(product, count);
    terms.extract(31, 0, shifted)
}

fn tenth(terms: &mut Terms, x: Term) -> Term {
    let ten = terms.bits(32, 10);
    terms.unsigned_divide(x, ten)
}

#[test]
fn a_product_is_proved_once_to_be_a_division() {
    let mut solver = z3();
    for value in [4, 5] {
        let mut terms = Terms::new();
        let x = terms.unknown(Sort::Bits(32));
        let quotient = product(&mut terms, x, 0xcccc_cccd);
        assert_eq!(quotient, tenth(&mut terms, x));
        let value = terms.bits(32, value);
        let equal = terms.equal(quotient, value);
        let answer = solver.check(&terms, &query(&[equal], Wanted::Verdict));
        assert!(matches!(answer, Answer::Sat(_)), "{answer:?}");
    }
    // Numbers with the highest bit, and those without.
    assert_eq!(solver.statistics().proofs, 2);
}

/// One less is wrong for 10, one more for large numbers only.
#[test]
fn a_product_that_is_no_division_is_found_out() {
    for factor in [0xcccc_cccc, 0xcccc_ccd0] {
        let mut terms = Terms::new();
        let x = terms.unknown(Sort::Bits(32));
        let (form, division) = (product(&mut terms, x, factor), tenth(&mut terms, x));
        assert!(terms.equivalences().is_empty(), "{factor:#x}");
        let claim = Equivalence { form, division, of: x };
        assert_eq!(z3().prove_division(&terms, &claim), Err(Unknown::NoDivision), "{factor:#x}");
    }
}

#[test]
fn without_a_solver_a_division_is_not_claimed() {
    let mut terms = Terms::new();
    let x = terms.unknown(Sort::Bits(32));
    let quotient = product(&mut terms, x, 0xcccc_cccd);
    let five = terms.bits(32, 5);
    let equal = terms.equal(quotient, five);
    let mut missing = Choice::command("no-such-solver").open(Limits::default());
    let answer = missing.check(&terms, &query(&[equal], Wanted::Verdict));
    let Answer::Unknown(reason) = answer else { panic!("{answer:?}") };
    assert!(reason.to_string().contains("no-such-solver"), "{reason}");
}
