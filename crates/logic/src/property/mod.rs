//! The correctness property: what should have been so where a run failed, as a formula over the terms of that place.
//!
//! It is stated as close to the source as possible. How the terms came about is of no concern here.

mod expression;
#[cfg(test)]
mod tests;

pub use expression::{NoTerm, Type, Typed, term_of};

use crate::format::Wanted;
use crate::term::{Sort, Term, Terms};

/// Something that should have been so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Property {
    /// An integer or a float should have been printed as something else.
    Printed { argument: Term, wanted: Wanted },
    /// The bytes at a pointer, up to where they are known, should have been printed as something else.
    PrintedText { bytes: Vec<Term>, wanted: Wanted },
    /// A pointer should not have been null.
    NotNull { pointer: Term },
    /// An access of so many bytes should have been within an object, from its first byte to the one after its last.
    Within { pointer: Term, size: u64, start: u64, end: u64 },
    /// A divisor should not have been zero.
    NotZero { divisor: Term },
    /// A quotient of signed numbers should have existed: the lowest number divided by -1 has none.
    HasQuotient { dividend: Term, divisor: Term },
    /// A program should have ended with this code, of which a parent sees eight bits.
    ExitCode { status: Term, code: u8 },
    /// A condition should have gone the other way.
    OtherWay { condition: Term, was: bool },
    /// What a user asserts.
    Asserted { condition: Term },
}

impl Property {
    /// The formula; `None` if a term has not the sort that the property is about.
    pub fn term(&self, terms: &mut Terms) -> Option<Term> {
        match self {
            Property::Printed { argument, wanted } => wanted.term(terms, *argument),
            Property::PrintedText { bytes, wanted } => wanted.text_term(terms, bytes),
            Property::NotNull { pointer: value } | Property::NotZero { divisor: value } => {
                is_bits(terms, *value).then(|| terms.is_nonzero(*value))
            }
            Property::Within { pointer, size, start, end } => within(terms, *pointer, *size, *start..*end),
            Property::HasQuotient { dividend, divisor } => has_quotient(terms, *dividend, *divisor),
            Property::ExitCode { status, code } => {
                let wanted = Wanted::Integer { bits: 8, value: (*code).into() };
                wanted.term(terms, *status)
            }
            Property::OtherWay { condition, was } => {
                is_truth(terms, *condition).then(|| if *was { terms.not(*condition) } else { *condition })
            }
            Property::Asserted { condition } => is_truth(terms, *condition).then_some(*condition),
        }
    }
}

fn is_bits(terms: &Terms, term: Term) -> bool {
    matches!(terms.sort(term), Sort::Bits(_))
}

fn is_truth(terms: &Terms, term: Term) -> bool {
    terms.sort(term) == Sort::Bool
}

fn within(terms: &mut Terms, pointer: Term, size: u64, object: std::ops::Range<u64>) -> Option<Term> {
    if terms.sort(pointer) != Sort::Bits(64) {
        return None;
    }
    // The last place where an access of this size still fits; there may be none.
    let Some(last) = object.end.checked_sub(size).filter(|last| *last >= object.start) else {
        return Some(terms.truth(false));
    };
    let (start, last) = (terms.bits(64, object.start.into()), terms.bits(64, last.into()));
    let above = terms.unsigned_less_or_equal(start, pointer);
    let below = terms.unsigned_less_or_equal(pointer, last);
    Some(terms.and(above, below))
}

fn has_quotient(terms: &mut Terms, dividend: Term, divisor: Term) -> Option<Term> {
    if !is_bits(terms, dividend) || terms.sort(dividend) != terms.sort(divisor) {
        return None;
    }
    let width = terms.width(divisor);
    let (lowest, minus_one) = (terms.bits(width, 1 << (width - 1)), terms.bits(width, u128::MAX));
    let is_lowest = terms.equal(dividend, lowest);
    let by_minus_one = terms.equal(divisor, minus_one);
    let both = terms.and(is_lowest, by_minus_one);
    let (fits, exists) = (terms.not(both), terms.is_nonzero(divisor));
    Some(terms.and(exists, fits))
}
