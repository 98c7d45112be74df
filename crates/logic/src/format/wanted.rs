//! What an argument must have been, as data and as a term.

use super::float::{FloatSet, FloatValue};
use crate::term::{Format, Sort, Term, Terms};

/// The arguments that print as a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All whose lowest bits are these.
    Integer {
        bits: u32,
        value: u64,
    },
    Float {
        format: Format,
        set: FloatSet,
    },
    /// Pointers to any of these. More than one if padding cannot be told from the text.
    Text(Vec<TextValue>),
}

/// What is at the pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextValue {
    pub bytes: Vec<u8>,
    /// Whether a NUL must follow; not if the precision ends it.
    pub ends: bool,
}

impl Wanted {
    /// That this argument is one of them: of an integer its bits, at least as many as are printed, or a float. `None` for a text, or if the argument is
    /// of another sort.
    pub fn term(&self, terms: &mut Terms, argument: Term) -> Option<Term> {
        match (self, terms.sort(argument)) {
            (Wanted::Integer { bits, value }, Sort::Bits(width)) if u32::from(width) >= *bits => {
                let low = terms.extract(bits - 1, 0, argument);
                let value = terms.bits(*bits, (*value).into());
                Some(terms.equal(low, value))
            }
            (Wanted::Float { format, set }, Sort::Float(of)) if of == *format => {
                Some(set.term(terms, argument))
            }
            (Wanted::Float { format, .. }, Sort::Bits(width)) if u32::from(width) == format.bits() => {
                let float = terms.float_from_bits(*format, argument);
                self.term(terms, float)
            }
            (Wanted::Integer { .. } | Wanted::Float { .. } | Wanted::Text(_), _) => None,
        }
    }

    /// That the bytes at the pointer are one of the texts; `bytes` are terms of 8 bits, as many as are known. `None` if this is no text, or if
    /// too few are known for all of them.
    pub fn text_term(&self, terms: &mut Terms, bytes: &[Term]) -> Option<Term> {
        let Wanted::Text(alternatives) = self else { return None };
        let mut any = terms.truth(false);
        for TextValue { bytes: wanted, ends } in alternatives {
            let wanted: Vec<u8> = wanted.iter().copied().chain(ends.then_some(0)).collect();
            let mut all = terms.truth(true);
            for (byte, wanted) in bytes.get(..wanted.len())?.iter().zip(wanted) {
                let wanted = terms.bits(8, wanted.into());
                let equal = terms.equal(*byte, wanted);
                all = terms.and(all, equal);
            }
            any = terms.or(any, all);
        }
        Some(any)
    }
}

impl FloatSet {
    pub fn contains(&self, value: FloatValue) -> bool {
        match self {
            FloatSet::Nan { is_negative } => {
                value.is_negative() == *is_negative && value.place() > FloatValue::infinity(value.format)
            }
            FloatSet::Between(least, most) => {
                value.is_negative() == least.is_negative()
                    && (least.place()..=most.place()).contains(&value.place())
            }
        }
    }

    fn term(&self, terms: &mut Terms, argument: Term) -> Term {
        match self {
            FloatSet::Nan { is_negative } => {
                let (nan, sign) = (terms.float_is_nan(argument), has_sign(terms, argument, *is_negative));
                terms.and(nan, sign)
            }
            FloatSet::Between(least, most) => {
                let (low, high) = if least.is_negative() { (most, least) } else { (least, most) };
                let (low, high) = (terms.float(low.format, low.bits), terms.float(high.format, high.bits));
                let above = terms.float_less_or_equal(low, argument);
                let below = terms.float_less_or_equal(argument, high);
                let between = terms.and(above, below);
                // The two zeroes compare as equal.
                if least.place() != 0 {
                    return between;
                }
                let sign = has_sign(terms, argument, least.is_negative());
                terms.and(between, sign)
            }
        }
    }
}

fn has_sign(terms: &mut Terms, float: Term, is_negative: bool) -> Term {
    let bits = terms.float_to_bits(float);
    let top = terms.width(bits) - 1;
    let sign = terms.extract(top, top, bits);
    let wanted = terms.bits(1, is_negative.into());
    terms.equal(sign, wanted)
}
