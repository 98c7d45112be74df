//! Singles and doubles.

use super::super::Unmodelled;
use super::{Operands, Transfer};
use crate::term::{FloatArithmetic, Format, Rounding, Term};
use lift::flags::{CF, PF, ZF};
use lift::vector::{Conversion, FloatFunction, FloatWidth, IntegerWidth, PairFunction, Predicate};
use lift::{Reg, Size};

/// Denormals are zero as operands (DAZ), or as results (FTZ).
const DENORMALS_ARE_ZERO: u64 = 1 << 6 | 1 << 15;
const ROUNDING: u32 = 13;

fn format(width: FloatWidth) -> Format {
    match width {
        FloatWidth::F32 => Format::Single,
        FloatWidth::F64 => Format::Double,
    }
}

fn other(width: FloatWidth) -> FloatWidth {
    match width {
        FloatWidth::F32 => FloatWidth::F64,
        FloatWidth::F64 => FloatWidth::F32,
    }
}

impl Transfer<'_> {
    /// How MXCSR says that results are rounded.
    fn mxcsr_rounding(&self) -> Result<Rounding, Unmodelled> {
        if self.registers.get(Reg::MXCSR).is_some() {
            return Err(Unmodelled::RoundingMode);
        }
        let mxcsr = self.cpu.get(Reg::MXCSR);
        if mxcsr & DENORMALS_ARE_ZERO != 0 {
            return Err(Unmodelled::DenormalsAreZero);
        }
        Ok(Rounding::ALL[(mxcsr >> ROUNDING & 3) as usize])
    }

    pub(super) fn float(
        &mut self,
        operands: Operands,
        function: FloatFunction,
        width: FloatWidth,
        packed: bool,
        dst: Reg,
    ) -> Result<(), Unmodelled> {
        let rounding = self.mxcsr_rounding()?;
        let size = width.size();
        let (a, b) = self.both(operands, size);
        let count = if packed { b.len() } else { 1 };
        let lanes: Vec<Term> = (0..count)
            .map(|n| {
                // Functions of one operand may have no other.
                let first = a.get(n).copied().unwrap_or(b[n]);
                self.float_lane(function, format(width), rounding, n, first, b[n])
            })
            .collect();
        if packed {
            self.set_lanes(dst, &lanes);
        } else {
            self.merge(operands.a, dst, lanes[0]);
        }
        Ok(())
    }

    /// A scalar result replaces the lowest lane of slot `a`.
    fn merge(&mut self, a: Reg, dst: Reg, lane: Term) {
        let whole = self.slot(a);
        let merged = self.insert(whole, 0, lane);
        self.set(dst, merged);
    }

    /// One lane, as bits; `number` is its number.
    fn float_lane(
        &mut self,
        function: FloatFunction,
        format: Format,
        rounding: Rounding,
        number: usize,
        a: Term,
        b: Term,
    ) -> Term {
        let (x, y) = (self.terms.float_from_bits(format, a), self.terms.float_from_bits(format, b));
        let arithmetic = match function {
            FloatFunction::Add => FloatArithmetic::Add,
            FloatFunction::Sub => FloatArithmetic::Sub,
            FloatFunction::Mul => FloatArithmetic::Mul,
            FloatFunction::Div => FloatArithmetic::Div,
            FloatFunction::SubAdd if number.is_multiple_of(2) => FloatArithmetic::Sub,
            FloatFunction::SubAdd => FloatArithmetic::Add,
            // The second operand as it is, unless the first is less; or greater.
            FloatFunction::Min => {
                let less = self.terms.float_less(x, y);
                return self.terms.if_then_else(less, a, b);
            }
            FloatFunction::Max => {
                let greater = self.terms.float_less(y, x);
                return self.terms.if_then_else(greater, a, b);
            }
            FloatFunction::Sqrt => {
                let root = self.terms.float_square_root(rounding, y);
                return self.terms.float_to_bits(root);
            }
            FloatFunction::Compare(predicate) => {
                let holds = self.predicate(predicate, x, y);
                return self.all_ones(holds, format.bits());
            }
            FloatFunction::Round { to, .. } => {
                let to = match to {
                    lift::vector::Rounding::Nearest => Rounding::Nearest,
                    lift::vector::Rounding::Down => Rounding::Down,
                    lift::vector::Rounding::Up => Rounding::Up,
                    lift::vector::Rounding::Zero => Rounding::Zero,
                    lift::vector::Rounding::Current => rounding,
                };
                let rounded = self.terms.float_round(to, y);
                return self.terms.float_to_bits(rounded);
            }
        };
        let result = self.terms.float_arithmetic(arithmetic, rounding, x, y);
        self.terms.float_to_bits(result)
    }

    fn predicate(&mut self, predicate: Predicate, a: Term, b: Term) -> Term {
        let positive = match predicate {
            Predicate::Equal | Predicate::NotEqual => self.terms.float_equal(a, b),
            Predicate::Less | Predicate::NotLess => self.terms.float_less(a, b),
            Predicate::LessOrEqual | Predicate::NotLessOrEqual => self.terms.float_less_or_equal(a, b),
            Predicate::Unordered | Predicate::Ordered => self.terms.float_unordered(a, b),
        };
        match predicate {
            Predicate::Equal | Predicate::Less | Predicate::LessOrEqual | Predicate::Unordered => positive,
            Predicate::NotEqual | Predicate::NotLess | Predicate::NotLessOrEqual | Predicate::Ordered => {
                self.terms.not(positive)
            }
        }
    }

    pub(super) fn float_pairs(
        &mut self,
        operands: Operands,
        function: PairFunction,
        width: FloatWidth,
    ) -> Result<Vec<Term>, Unmodelled> {
        let rounding = self.mxcsr_rounding()?;
        let (a, b) = self.both(operands, width.size());
        let all = [a, b].concat();
        let function = match function {
            PairFunction::Add => FloatFunction::Add,
            PairFunction::Sub => FloatFunction::Sub,
        };
        let pairs = all.chunks_exact(2);
        Ok(pairs
            .map(|pair| self.float_lane(function, format(width), rounding, 0, pair[0], pair[1]))
            .collect())
    }

    pub(super) fn compare_flags(
        &mut self,
        operands: Operands,
        width: FloatWidth,
        dst: Reg,
    ) -> Result<(), Unmodelled> {
        self.mxcsr_rounding()?;
        let format = format(width);
        let [a, b] = [operands.a, operands.b].map(|reg| {
            let bits = self.low(reg, format.bits());
            self.terms.float_from_bits(format, bits)
        });
        self.set_comparison(dst, a, b);
        Ok(())
    }

    /// CF, PF and ZF of a comparison, in a slot.
    pub(in super::super) fn set_comparison(&mut self, dst: Reg, a: Term, b: Term) {
        let [below, unordered, equal] = self.comparison_bits(a, b);
        let word = self.assemble(&[
            (CF.trailing_zeros(), below),
            (PF.trailing_zeros(), unordered),
            (ZF.trailing_zeros(), equal),
        ]);
        self.registers.set_compared(word, a, b);
        self.set(dst, word);
    }

    /// Whether `a` is less, whether the two do not compare, and whether they are equal; all three if they do not compare.
    pub(in super::super) fn comparison_bits(&mut self, a: Term, b: Term) -> [Term; 3] {
        let (less, equal) = (self.terms.float_less(a, b), self.terms.float_equal(a, b));
        let unordered = self.terms.float_unordered(a, b);
        [self.terms.or(unordered, less), unordered, self.terms.or(unordered, equal)]
    }

    pub(super) fn convert(
        &mut self,
        operands: Operands,
        conversion: Conversion,
        dst: Reg,
    ) -> Result<(), Unmodelled> {
        let rounding = self.mxcsr_rounding()?;
        match conversion {
            Conversion::IntegerToScalar { from, to } => {
                let integer = self.low(operands.b, from.size().bits());
                let float = self.integer_as_float(integer, to, rounding);
                self.merge(operands.a, dst, float);
            }
            Conversion::ScalarToInteger { from, to, truncate } => {
                let bits = self.low(operands.b, from.size().bits());
                let integer = self.float_as_integer(bits, from, to, truncate, rounding);
                self.set(dst, integer);
            }
            Conversion::ScalarTo(to) => {
                let bits = self.low(operands.b, other(to).size().bits());
                let float = self.float_of_width(bits, to, rounding);
                self.merge(operands.a, dst, float);
            }
            Conversion::PackedTo(to) => {
                let (_, lanes) = self.both(operands, other(to).size());
                let lanes: Vec<Term> =
                    lanes.into_iter().take(2).map(|bits| self.float_of_width(bits, to, rounding)).collect();
                self.set_lanes(dst, &lanes);
            }
            Conversion::IntegersToPacked(to) => {
                let (_, lanes) = self.both(operands, Size::B4);
                let lanes: Vec<Term> =
                    lanes.into_iter().map(|integer| self.integer_as_float(integer, to, rounding)).collect();
                self.set_lanes(dst, &lanes);
            }
            Conversion::PackedToIntegers { from, truncate } => {
                let (_, lanes) = self.both(operands, from.size());
                let lanes: Vec<Term> = lanes
                    .into_iter()
                    .map(|bits| self.float_as_integer(bits, from, IntegerWidth::I32, truncate, rounding))
                    .collect();
                self.set_lanes(dst, &lanes);
            }
        }
        Ok(())
    }

    fn integer_as_float(&mut self, integer: Term, to: FloatWidth, rounding: Rounding) -> Term {
        let float = self.terms.float_from_signed(format(to), rounding, integer);
        self.terms.float_to_bits(float)
    }

    fn float_as_integer(
        &mut self,
        bits: Term,
        from: FloatWidth,
        to: IntegerWidth,
        truncate: bool,
        rounding: Rounding,
    ) -> Term {
        let float = self.terms.float_from_bits(format(from), bits);
        let rounding = if truncate { Rounding::Zero } else { rounding };
        self.terms.float_to_signed(to.size().bits(), rounding, float)
    }

    fn float_of_width(&mut self, bits: Term, to: FloatWidth, rounding: Rounding) -> Term {
        let float = self.terms.float_from_bits(format(other(to)), bits);
        let converted = self.terms.float_convert(format(to), rounding, float);
        self.terms.float_to_bits(converted)
    }
}
