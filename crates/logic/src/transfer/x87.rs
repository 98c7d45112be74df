//! The x87 unit: floats of 80 bits, each in a pair of slots.

use super::{Effect, Transfer, Unmodelled};
use crate::term::{FloatArithmetic, Format, Rounding, Term, Terms};
use lift::x87::{C0, C1, C2, C3, CODES, IN_USE, X87Arithmetic, X87Format, X87Operand, X87Unary};
use lift::{Reg, Turn, X87Op};

/// Results have 64 digits.
const PRECISION: u64 = 0x300;
const ROUNDING: u32 = 10;
/// Above sign and exponent, in the upper slot.
const TAG_BITS: u32 = 48;

/// The two slots of a register in use that holds these 80 bits.
pub(super) fn halves(terms: &mut Terms, bits: Term) -> (Term, Term) {
    let (low, high) = (terms.extract(63, 0, bits), terms.extract(79, 64, bits));
    let tag = terms.bits(TAG_BITS, u128::from(IN_USE >> 16));
    (low, terms.concat(tag, high))
}

impl Transfer<'_> {
    pub(super) fn x87(&mut self, op: X87Op, dst: Reg, a: Reg, b: Reg) -> Result<Effect, Unmodelled> {
        if op == X87Op::StatusWord {
            self.status_word(dst);
            return Ok(Effect::None);
        }
        if self.registers.get(Reg::X87_CONTROL).is_some() {
            return Err(Unmodelled::RoundingMode);
        }
        self.check_stack(op, a, b)?;
        let lost = self.keep_codes(op);
        let rounding = Rounding::ALL[(self.cpu.get(Reg::X87_CONTROL) >> ROUNDING & 3) as usize];
        match op {
            // Memory operands of 64 bits are floats, or are loaded.
            X87Op::Arithmetic(_, X87Format::Integer64)
            | X87Op::Compare { format: X87Format::Integer64, .. } => return Err(Unmodelled::X87Function),
            X87Op::Arithmetic(function, format) => {
                self.check_precision()?;
                let (a, b) = (self.register(a), self.x87_operand(b, format));
                let result = self.x87_arithmetic(function, rounding, a, b);
                self.set_register(dst, result);
            }
            X87Op::Compare { format, .. } => {
                let (a, b) = (self.register(a), self.x87_operand(b, format));
                self.set_codes(a, b);
            }
            X87Op::CompareFlags { .. } => {
                let (a, b) = (self.register(a), self.register(b));
                self.set_comparison(dst, a, b);
            }
            X87Op::Test => {
                let (a, zero) = (self.register(a), self.terms.float(Format::Extended, 0));
                self.set_codes(a, zero);
            }
            X87Op::Examine => self.examine(a),
            X87Op::Unary(function) => {
                let a = self.register(a);
                let result = match function {
                    X87Unary::Negate => self.terms.float_negate(a),
                    X87Unary::Absolute => self.terms.float_absolute(a),
                    X87Unary::SquareRoot => {
                        self.check_precision()?;
                        self.terms.float_square_root(rounding, a)
                    }
                    X87Unary::Round => self.terms.float_round(rounding, a),
                    X87Unary::Exponent
                    | X87Unary::Significand
                    | X87Unary::Exponential
                    | X87Unary::Sine
                    | X87Unary::Cosine
                    | X87Unary::SineWithPush
                    | X87Unary::CosineWithPush
                    | X87Unary::TangentWithPush
                    | X87Unary::OneWithPush => return Err(Unmodelled::X87Function),
                };
                self.set_register(dst, result);
            }
            X87Op::Binary(_) => return Err(Unmodelled::X87Function),
            // Nothing that it reads is a part of the number.
            X87Op::Constant(_) => {
                [dst, dst.high_half()].into_iter().for_each(|reg| self.registers.forget(reg))
            }
            X87Op::Load(format) => {
                let number = self.x87_operand(a, format);
                self.set_register(dst, number);
            }
            X87Op::Store { format, truncate } => {
                let a = self.register(a);
                let rounding = if truncate { Rounding::Zero } else { rounding };
                let number = self.x87_stored(a, format, rounding)?;
                self.set(dst, number);
                self.registers.forget(dst.high_half());
            }
            X87Op::ToDecimal { .. } | X87Op::FromDecimal => return Err(Unmodelled::Decimal),
            X87Op::Copy | X87Op::Push => {
                let a = self.register(a);
                self.set_register(dst, a);
            }
            X87Op::StatusWord => {}
        }
        Ok(if lost { Effect::Unmodelled(Unmodelled::ConditionCodes) } else { Effect::None })
    }

    /// Whether registers are empty is concrete; if one is that must not be, or the other way round, the result is none of the operands.
    fn check_stack(&self, op: X87Op, a: Reg, b: Reg) -> Result<(), Unmodelled> {
        let is_empty = |reg: Reg| self.cpu.get(reg.high_half()) & IN_USE == 0;
        let underflow = op.a() == X87Operand::Register && is_empty(a)
            || op.b() == X87Operand::Register && is_empty(b)
            || op == X87Op::Copy && b != Reg::ZERO && is_empty(b);
        let overflow = op.b() == X87Operand::Place && op != X87Op::Copy && b != Reg::ZERO && !is_empty(b);
        if (underflow || overflow) && op != X87Op::Examine || op == X87Op::Examine && is_empty(a) {
            return Err(Unmodelled::X87Stack);
        }
        Ok(())
    }

    fn check_precision(&self) -> Result<(), Unmodelled> {
        match self.cpu.get(Reg::X87_CONTROL) & PRECISION {
            PRECISION => Ok(()),
            _ => Err(Unmodelled::X87Precision),
        }
    }

    /// Most functions overwrite one of the condition codes, which is not followed. Whether that lost anything.
    fn keep_codes(&mut self, op: X87Op) -> bool {
        let is_kept = !op.tells() || op.defines_codes() || matches!(op, X87Op::CompareFlags { .. });
        if is_kept || self.registers.get(Reg::X87_CODES).is_none() {
            return false;
        }
        self.registers.forget(Reg::X87_CODES);
        true
    }

    /// The number in a register.
    fn register(&mut self, reg: Reg) -> Term {
        let bits = self.extended_bits(reg);
        self.terms.float_from_bits(Format::Extended, bits)
    }

    fn extended_bits(&mut self, reg: Reg) -> Term {
        let (low, high) = (self.slot(reg), self.low(reg.high_half(), 16));
        self.terms.concat(high, low)
    }

    fn set_register(&mut self, reg: Reg, number: Term) {
        let bits = self.terms.float_to_bits(number);
        let (low, high) = halves(self.terms, bits);
        self.set(reg, low);
        self.set(reg.high_half(), high);
    }

    /// The ten bytes that are stored of a register; none if it is empty, since what is stored then is always the same.
    pub(super) fn stored_extended(&mut self, reg: Reg) -> Option<Term> {
        let is_empty = self.cpu.get(reg.high_half()) & IN_USE == 0;
        let bits = self.extended_bits(reg);
        (!is_empty).then(|| self.unless_constant(bits)).flatten()
    }

    /// An operand in some format, as a number of 80 bits.
    fn x87_operand(&mut self, reg: Reg, format: X87Format) -> Term {
        let (exact, extended) = (Rounding::Nearest, Format::Extended);
        let float = match format {
            X87Format::Extended => return self.register(reg),
            X87Format::Single => Format::Single,
            X87Format::Double => Format::Double,
            X87Format::Integer16 | X87Format::Integer32 | X87Format::Integer64 => {
                let integer = self.low(reg, format.size().bits());
                return self.terms.float_from_signed(extended, exact, integer);
            }
        };
        let bits = self.low(reg, float.bits());
        let number = self.terms.float_from_bits(float, bits);
        self.terms.float_convert(extended, exact, number)
    }

    fn x87_stored(&mut self, a: Term, format: X87Format, rounding: Rounding) -> Result<Term, Unmodelled> {
        let float = match format {
            X87Format::Single => Format::Single,
            X87Format::Double => Format::Double,
            X87Format::Integer16 | X87Format::Integer32 | X87Format::Integer64 => {
                return Ok(self.terms.float_to_signed(format.size().bits(), rounding, a));
            }
            // There is no such op.
            X87Format::Extended => return Err(Unmodelled::X87Function),
        };
        let converted = self.terms.float_convert(float, rounding, a);
        Ok(self.terms.float_to_bits(converted))
    }

    fn x87_arithmetic(&mut self, function: X87Arithmetic, rounding: Rounding, a: Term, b: Term) -> Term {
        let (function, a, b) = match function {
            X87Arithmetic::Add => (FloatArithmetic::Add, a, b),
            X87Arithmetic::Multiply => (FloatArithmetic::Mul, a, b),
            X87Arithmetic::Subtract => (FloatArithmetic::Sub, a, b),
            X87Arithmetic::SubtractFrom => (FloatArithmetic::Sub, b, a),
            X87Arithmetic::Divide => (FloatArithmetic::Div, a, b),
            X87Arithmetic::DivideInto => (FloatArithmetic::Div, b, a),
        };
        self.terms.float_arithmetic(function, rounding, a, b)
    }

    fn set_codes(&mut self, a: Term, b: Term) {
        let [less, unordered, equal] = self.comparison_bits(a, b);
        let codes = self.assemble(&[
            (C0.trailing_zeros(), less),
            (C2.trailing_zeros(), unordered),
            (C3.trailing_zeros(), equal),
        ]);
        self.set(Reg::X87_CODES, codes);
    }

    /// The kind of a number: none, NaN, normal, infinite, zero or denormal.
    fn examine(&mut self, reg: Reg) {
        let bits = self.extended_bits(reg);
        let (exponent, digits) = (self.terms.extract(78, 64, bits), self.terms.extract(63, 0, bits));
        let fraction = self.terms.extract(62, 0, bits);
        let (lowest, highest) = (self.terms.bits(15, 0), self.terms.bits(15, 0x7fff));
        let is_least = self.terms.equal(exponent, lowest);
        let is_most = self.terms.equal(exponent, highest);
        let (some_digits, some_fraction) = (self.terms.is_nonzero(digits), self.terms.is_nonzero(fraction));
        let first_digit = self.bit(bits, 63);
        let no_digits = self.terms.not(some_digits);
        // Above the two lowest kinds, what lacks the first digit is no number.
        let not_least = self.terms.not(is_least);
        let proper = self.terms.and(not_least, first_digit);
        let nan_or_infinite = self.terms.and(proper, is_most);
        let no_fraction = self.terms.not(some_fraction);
        let not_large = self.terms.not(is_most);
        let normal = self.terms.and(proper, not_large);
        let infinite = self.terms.and(nan_or_infinite, no_fraction);
        let denormal = self.terms.and(is_least, some_digits);
        let zero = self.terms.and(is_least, no_digits);
        let c2 = self.terms.disjunction([normal, infinite, denormal]);
        let c3 = self.terms.or(zero, denormal);
        let sign = self.bit(bits, 79);
        let codes = self.assemble(&[
            (C0.trailing_zeros(), nan_or_infinite),
            (C1.trailing_zeros(), sign),
            (C2.trailing_zeros(), c2),
            (C3.trailing_zeros(), c3),
        ]);
        self.set(Reg::X87_CODES, codes);
    }

    /// The condition codes, with the rest of the status word as it is in the concrete run.
    fn status_word(&mut self, dst: Reg) {
        let rest = self.terms.bits(64, (u64::from(self.cpu.x87_status()) & !CODES).into());
        let codes = self.slot(Reg::X87_CODES);
        let word = self.terms.bits_or(codes, rest);
        self.set(dst, word);
    }

    pub(super) fn rotate(&mut self, turn: Turn) {
        let place = |n: u8| [Reg::st(n), Reg::st(n).high_half()];
        let old: Vec<[Option<Term>; 2]> =
            (0..8).map(|n| place(n).map(|reg| self.registers.get(reg))).collect();
        for n in 0..8u8 {
            let from = match turn {
                Turn::Push => (n + 7) % 8,
                Turn::Pop => (n + 1) % 8,
            };
            for (reg, term) in place(n).into_iter().zip(old[usize::from(from)]) {
                match term {
                    Some(term) => self.registers.set(self.terms, reg, term),
                    None => self.registers.forget(reg),
                }
            }
        }
    }
}
