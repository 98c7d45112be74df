//! The claim that a form is a division, as one about whole numbers.
//!
//! As bits, the product of a form is more than any solver can do. As whole numbers it is linear, since factors and divisors are constants. So each term is
//! a number that is its bits, up to a multiple of two to its width; its range mostly tells which multiple, once it is said whether the highest bit of what is
//! divided is set. So there is a claim for each of the two.

use super::{ASSERT, Logic, Script};
use crate::term::{BitsBinary, BitsCompare, BitsUnary, Equivalence, Node, Term, Terms};
use num_bigint::BigInt;
use num_integer::Integer;
use rustc_hash::FxHashMap;
use std::fmt::Write;

impl Script {
    /// That the form is something else than the division for some number with this highest bit; none, if a part of it is not linear.
    pub fn other_than_division(terms: &Terms, claim: &Equivalence, highest: bool) -> Option<Script> {
        let mut writer = Writer { terms, text: String::new(), equations: 0, numbers: FxHashMap::default() };
        writer.divided(claim.of, highest);
        let form = writer.number(claim.form)?;
        let division = writer.number(claim.division)?;
        let width = terms.width(claim.form);
        let [form, division] = [form, division].map(|number| writer.signed(number, width));
        writer.text.push_str(ASSERT);
        let start = writer.text.len();
        let _ = write!(writer.text, "(not (= {} {}))", form.text, division.text);
        let constraint = start..writer.text.len();
        writer.text.push_str(")\n");
        Some(Script {
            text: writer.text,
            equations: writer.equations,
            constraints: vec![constraint],
            variables: Vec::new(),
            widths: Vec::new(),
            logic: Logic::Integers,
            has_division: false,
        })
    }
}

/// A whole number, and what it is at least and at most.
#[derive(Clone)]
struct Number {
    text: String,
    least: BigInt,
    most: BigInt,
}

impl Number {
    fn constant(value: BigInt) -> Number {
        Number { text: literal(&value), least: value.clone(), most: value }
    }

    fn plus(self, other: Number) -> Number {
        Number {
            text: format!("(+ {} {})", self.text, other.text),
            least: self.least + other.least,
            most: self.most + other.most,
        }
    }

    fn times(self, factor: &BigInt) -> Number {
        let (one, other) = (self.least * factor, self.most * factor);
        let (least, most) = if one <= other { (one, other) } else { (other, one) };
        Number { text: format!("(* {} {})", literal(factor), self.text), least, most }
    }
}

fn literal(value: &BigInt) -> String {
    match value.sign() {
        num_bigint::Sign::Minus => format!("(- {})", value.magnitude()),
        _ => value.to_string(),
    }
}

fn power(of_two: u32) -> BigInt {
    BigInt::from(1) << of_two
}

struct Writer<'a> {
    terms: &'a Terms,
    text: String,
    equations: usize,
    numbers: FxHashMap<Term, Number>,
}

impl Writer<'_> {
    fn new_number(&mut self, least: BigInt, most: BigInt) -> Number {
        let text = format!("n{}", self.equations);
        let _ = writeln!(self.text, "(declare-const {text} Int)");
        Number { text, least, most }
    }

    fn equation(&mut self, lower: &str, between: &str, upper: &str) {
        let _ = writeln!(self.text, "(assert (and (<= {lower} {between}) (< {between} {upper})))");
        self.equations += 1;
    }

    /// What is divided: a number whose highest bit is known.
    fn divided(&mut self, term: Term, highest: bool) {
        let width = self.terms.width(term);
        let half = power(width - 1);
        let least = if highest { half.clone() } else { BigInt::ZERO };
        let end = &least + half;
        let number = self.new_number(least.clone(), &end - 1);
        self.equation(&literal(&least), &number.text, &literal(&end));
        self.numbers.insert(term, number);
    }

    /// Forms are small: the recursion ends at what is divided.
    fn number(&mut self, term: Term) -> Option<Number> {
        if let Some(known) = self.numbers.get(&term) {
            return Some(known.clone());
        }
        let width = self.terms.width(term);
        let number = match self.terms.node(term) {
            Node::Constant(_, value) => self.signed(Number::constant(value.into()), width),
            Node::BitsUnary(BitsUnary::Negate, a) => self.number(a)?.times(&(-1).into()),
            Node::BitsBinary(function, a, b) => self.binary(function, a, b)?,
            Node::Extract { low, of, .. } => {
                let number = self.number(of)?;
                self.floor(number, &power(low.into()))
            }
            Node::ZeroExtend(_, a) => {
                let number = self.number(a)?;
                self.unsigned(number, self.terms.width(a))
            }
            Node::SignExtend(_, a) => {
                let number = self.number(a)?;
                self.signed(number, self.terms.width(a))
            }
            Node::IfThenElse(condition, yes, no) => {
                let (yes, no) = (self.number(yes)?, self.number(no)?);
                Number {
                    text: format!("(ite {} {} {})", self.condition(condition)?, yes.text, no.text),
                    least: yes.least.min(no.least),
                    most: yes.most.max(no.most),
                }
            }
            _ => return None,
        };
        self.numbers.insert(term, number.clone());
        Some(number)
    }

    fn binary(&mut self, function: BitsBinary, a: Term, b: Term) -> Option<Number> {
        let width = self.terms.width(a);
        let number = self.number(a)?;
        if matches!(function, BitsBinary::Add | BitsBinary::Sub) {
            let other = self.number(b)?;
            let sign = if function == BitsBinary::Add { 1 } else { -1 };
            return Some(number.plus(other.times(&sign.into())));
        }
        let constant = BigInt::from(self.terms.constant(b)?);
        Some(match function {
            BitsBinary::Mul => number.times(&self.number(b)?.least),
            BitsBinary::ShiftRight if constant < width.into() => {
                let bits = self.unsigned(number, width);
                self.floor(bits, &power(u32::try_from(&constant).ok()?))
            }
            BitsBinary::ShiftRightSigned if constant < width.into() => {
                let value = self.signed(number, width);
                self.floor(value, &power(u32::try_from(&constant).ok()?))
            }
            BitsBinary::UnsignedDivide if constant > BigInt::ZERO => {
                let bits = self.unsigned(number, width);
                self.floor(bits, &constant)
            }
            BitsBinary::SignedDivide if constant > BigInt::ZERO && constant < power(width - 1) => {
                let value = self.signed(number, width);
                // Rounded towards zero.
                match value.most <= BigInt::ZERO {
                    true => self.floor(value.times(&(-1).into()), &constant).times(&(-1).into()),
                    false if value.least >= BigInt::ZERO => self.floor(value, &constant),
                    false => return None,
                }
            }
            _ => return None,
        })
    }

    /// The quotient, rounded down.
    fn floor(&mut self, number: Number, divisor: &BigInt) -> Number {
        if *divisor == BigInt::from(1) {
            return number;
        }
        let (least, most) = (number.least.div_floor(divisor), number.most.div_floor(divisor));
        if least == most {
            return Number::constant(least);
        }
        let quotient = self.new_number(least, most);
        let product = quotient.clone().times(divisor).text;
        self.equation(&product, &number.text, &format!("(+ {product} {})", literal(divisor)));
        quotient
    }

    /// The same bits as a number from `least` on, which is a multiple of two to the width away. Mostly it is the same one for all values.
    fn moved(&mut self, number: Number, width: u32, least: BigInt) -> Number {
        let (size, distance) = (power(width), number.clone().plus(Number::constant(-&least)));
        let multiples = self.floor(distance, &size);
        if multiples.least == multiples.most {
            let offset = -&multiples.least * &size;
            return if offset == BigInt::ZERO { number } else { number.plus(Number::constant(offset)) };
        }
        let moved = number.plus(multiples.times(&-&size));
        Number { text: moved.text, most: &least + size - 1, least }
    }

    fn unsigned(&mut self, number: Number, width: u32) -> Number {
        self.moved(number, width, BigInt::ZERO)
    }

    fn signed(&mut self, number: Number, width: u32) -> Number {
        self.moved(number, width, -power(width - 1))
    }

    fn condition(&mut self, condition: Term) -> Option<String> {
        let Node::BitsCompare(BitsCompare::SignedLess, a, b) = self.terms.node(condition) else {
            return None;
        };
        let width = self.terms.width(a);
        let (a, b) = (self.number(a)?, self.number(b)?);
        let (a, b) = (self.signed(a, width), self.signed(b, width));
        Some(format!("(< {} {})", a.text, b.text))
    }
}
