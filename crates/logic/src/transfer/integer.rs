//! The integer functions as terms.

use super::{Effect, Transfer};
use crate::term::{BitsBinary, Node, Term};
use lift::{Binary, Reg, Size, Ternary, Unary};

/// The bits that count of the count of a shift.
pub(super) const fn count_mask(bits: u32) -> u128 {
    if bits == 64 { 63 } else { 31 }
}

impl Transfer<'_> {
    /// Of operands of the same width, which is also that of the result.
    pub(super) fn binary(&mut self, function: Binary, a: Term, b: Term) -> Term {
        match function {
            Binary::Add => self.terms.add(a, b),
            Binary::Sub => self.terms.sub(a, b),
            Binary::And => self.terms.bits_and(a, b),
            Binary::Or => self.terms.bits_or(a, b),
            Binary::Xor => self.terms.bits_xor(a, b),
            Binary::Shl | Binary::Shr | Binary::Sar => {
                let count = self.shift_count(b);
                match function {
                    Binary::Shl => self.terms.shift_left(a, count),
                    Binary::Shr => self.terms.shift_right(a, count),
                    _ => self.terms.shift_right_signed(a, count),
                }
            }
            Binary::Rol => self.rotate_left(a, b),
            Binary::Ror => {
                let opposite = self.terms.negate(b);
                self.rotate_left(a, opposite)
            }
            Binary::Mul => self.terms.mul(a, b),
            Binary::MulHighUnsigned => self.high_product(a, b, false),
            Binary::MulHighSigned => self.high_product(a, b, true),
        }
    }

    /// A count as the processor masks it, as wide as it was.
    pub(super) fn shift_count(&mut self, count: Term) -> Term {
        let width = self.terms.width(count);
        let mask = self.terms.bits(width, count_mask(width));
        self.terms.bits_and(count, mask)
    }

    /// By any count; widths are powers of two, so that the count goes round with them.
    fn rotate_left(&mut self, a: Term, count: Term) -> Term {
        let width = self.terms.width(a);
        let mask = self.terms.bits(width, u128::from(width) - 1);
        let left = self.terms.bits_and(count, mask);
        match self.terms.constant(left) {
            Some(0) => a,
            Some(left) => {
                let border = width - left as u32;
                let (high, low) =
                    (self.terms.extract(border - 1, 0, a), self.terms.extract(width - 1, border, a));
                self.terms.concat(high, low)
            }
            None => {
                let whole = self.terms.bits(width, width.into());
                let right = self.terms.sub(whole, left);
                let (high, low) = (self.terms.shift_left(a, left), self.terms.shift_right(a, right));
                self.terms.bits_or(high, low)
            }
        }
    }

    fn high_product(&mut self, a: Term, b: Term, signed: bool) -> Term {
        let width = self.terms.width(a);
        let product = self.wide_product(a, b, signed);
        self.terms.extract(2 * width - 1, width, product)
    }

    /// The product of twice the width.
    pub(super) fn wide_product(&mut self, a: Term, b: Term, signed: bool) -> Term {
        let width = 2 * self.terms.width(a);
        let (a, b) = match signed {
            true => (self.terms.sign_extend(width, a), self.terms.sign_extend(width, b)),
            false => (self.terms.zero_extend(width, a), self.terms.zero_extend(width, b)),
        };
        self.terms.mul(a, b)
    }

    pub(super) fn unary(&mut self, function: Unary, size: Size, a: Term) -> Term {
        let width = size.bits();
        match function {
            Unary::Not => self.terms.bits_not(a),
            Unary::Neg => self.terms.negate(a),
            Unary::ByteSwap => match size {
                Size::B1 | Size::B2 => self.terms.bits(width, 0),
                Size::B4 | Size::B8 => self.swap_bytes(a),
            },
            Unary::BitScanForward => self.find_bit(a, (0..width).rev()),
            Unary::BitScanReverse => self.find_bit(a, 0..width),
            Unary::CountOnes => self.count_ones(a),
        }
    }

    fn swap_bytes(&mut self, a: Term) -> Term {
        let bytes = self.terms.width(a) / 8;
        let mut swapped = self.terms.extract(8 * bytes - 1, 8 * bytes - 8, a);
        for byte in (0..bytes - 1).rev() {
            let next = self.terms.extract(8 * byte + 7, 8 * byte, a);
            swapped = self.terms.concat(next, swapped);
        }
        swapped
    }

    /// The number of the set bit that comes last in the given order; 0 if there is none.
    fn find_bit(&mut self, a: Term, order: impl Iterator<Item = u32>) -> Term {
        let width = self.terms.width(a);
        let mut found = self.terms.bits(width, 0);
        for bit in order {
            let number = self.terms.bits(width, bit.into());
            let is_set = self.bit(a, bit);
            found = self.terms.if_then_else(is_set, number, found);
        }
        found
    }

    /// Whether a bit is set.
    pub(super) fn bit(&mut self, a: Term, bit: u32) -> Term {
        let bit = self.terms.extract(bit, bit, a);
        self.terms.is_nonzero(bit)
    }

    /// By adding neighbours, then neighbouring sums, and so on.
    fn count_ones(&mut self, a: Term) -> Term {
        let width = self.terms.width(a);
        let mut sum = a;
        let mut apart = 1;
        while apart < width {
            let every_other =
                (0..width).filter(|bit| bit / apart % 2 == 0).fold(0, |mask: u128, bit| mask | 1 << bit);
            let (mask, count) = (self.terms.bits(width, every_other), self.terms.bits(width, apart.into()));
            let shifted = self.terms.shift_right(sum, count);
            let (even, odd) = (self.terms.bits_and(sum, mask), self.terms.bits_and(shifted, mask));
            sum = self.terms.add(even, odd);
            apart *= 2;
        }
        sum
    }

    pub(super) fn ternary(&mut self, function: Ternary, size: Size, a: Term, b: Term, c: Term) -> Term {
        match function {
            Ternary::ShiftDoubleLeft => self.shift_double(size, a, b, c, true),
            Ternary::ShiftDoubleRight => self.shift_double(size, a, b, c, false),
            Ternary::RotateCarryLeft => self.rotate_carry(a, b, c, true),
            Ternary::RotateCarryRight => self.rotate_carry(a, b, c, false),
        }
    }

    /// Through `a`, `b`, and below 64 bits `a` again, for counts above the width.
    pub(super) fn shift_double(&mut self, size: Size, a: Term, b: Term, count: Term, left: bool) -> Term {
        let width = size.bits();
        let (around, wide) = match size {
            Size::B8 if left => (self.terms.concat(a, b), 128),
            Size::B8 => (self.terms.concat(b, a), 128),
            Size::B1 | Size::B2 | Size::B4 => {
                let lower = self.terms.concat(b, a);
                (self.terms.concat(a, lower), 3 * width)
            }
        };
        let count = self.shift_count(count);
        let count = self.terms.zero_extend(wide, count);
        if left {
            let shifted = self.terms.shift_left(around, count);
            self.terms.extract(wide - 1, wide - width, shifted)
        } else {
            let shifted = self.terms.shift_right(around, count);
            self.terms.extract(width - 1, 0, shifted)
        }
    }

    /// How far a rotation through the carry goes: the count modulo the width and one. One bit wider than the count.
    pub(super) fn carry_steps(&mut self, count: Term) -> Term {
        let width = self.terms.width(count) + 1;
        let count = self.shift_count(count);
        let count = self.terms.zero_extend(width, count);
        let round = self.terms.bits(width, width.into());
        self.terms.unsigned_remainder(count, round)
    }

    fn rotate_carry(&mut self, a: Term, count: Term, carry: Term, left: bool) -> Term {
        let width = self.terms.width(a);
        let carry = self.terms.extract(0, 0, carry);
        let around = self.terms.concat(carry, a);
        let steps = self.carry_steps(count);
        let all = self.terms.bits(width + 1, u128::from(width) + 1);
        let others = self.terms.sub(all, steps);
        let (up, down) = if left { (steps, others) } else { (others, steps) };
        let (high, low) = (self.terms.shift_left(around, up), self.terms.shift_right(around, down));
        let rotated = self.terms.bits_or(high, low);
        self.terms.extract(width - 1, 0, rotated)
    }

    pub(super) fn divide(
        &mut self,
        signed: bool,
        size: Size,
        [quotient, remainder]: [Reg; 2],
        high: Reg,
        low: Reg,
        divisor: Reg,
    ) -> Effect {
        let bits = size.bits();
        let (high, low) = (self.low(high, bits), self.low(low, bits));
        let divisor = self.low(divisor, bits);
        let nonzero = self.terms.is_nonzero(divisor);
        let (results, fits) = match self.narrow_division(signed, high, low, divisor) {
            Some(narrow) => narrow,
            None => self.wide_division(signed, high, low, divisor),
        };
        self.set(quotient, results[0]);
        self.set(remainder, results[1]);
        Effect::Division { without_fault: self.terms.and(nonzero, fits) }
    }

    /// The usual case: the upper half of the dividend is the extension of the lower one, so that this is the division that somebody wrote. Results,
    /// and whether the quotient fits.
    fn narrow_division(
        &mut self,
        signed: bool,
        high: Term,
        low: Term,
        divisor: Term,
    ) -> Option<([Term; 2], Term)> {
        let width = self.terms.width(low);
        if !signed {
            return (self.terms.constant(high) == Some(0)).then(|| {
                let quotient = self.terms.unsigned_divide(low, divisor);
                ([quotient, self.terms.unsigned_remainder(low, divisor)], self.terms.truth(true))
            });
        }
        let extended = match self.terms.node(high) {
            Node::BitsBinary(BitsBinary::ShiftRightSigned, of, count) => {
                of == low && self.terms.constant(count) == Some(u128::from(width) - 1)
            }
            Node::Constant(_, value) => {
                let last = self.terms.constant(low)? >> (width - 1);
                value == if last == 0 { 0 } else { self.terms.sort(high).mask() }
            }
            _ => self.is_sign_of(high, low),
        };
        extended.then(|| {
            let quotient = self.terms.signed_divide(low, divisor);
            let remainder = self.terms.signed_remainder(low, divisor);
            // The lowest number, by -1.
            let (lowest, minus_one) =
                (self.terms.bits(width, 1 << (width - 1)), self.terms.bits(width, u128::MAX));
            let (fits, other) = (self.terms.differs(low, lowest), self.terms.differs(divisor, minus_one));
            ([quotient, remainder], self.terms.or(fits, other))
        })
    }

    /// Whether `high` is the sign of `low` in every bit, by the form of the two.
    fn is_sign_of(&mut self, high: Term, low: Term) -> bool {
        let width = self.terms.width(low);
        let whole = self.terms.sign_extend(2 * width, low);
        self.terms.concat(high, low) == whole
    }

    fn wide_division(&mut self, signed: bool, high: Term, low: Term, divisor: Term) -> ([Term; 2], Term) {
        let width = self.terms.width(low);
        let dividend = self.terms.concat(high, low);
        let (quotient, remainder) = if signed {
            let divisor = self.terms.sign_extend(2 * width, divisor);
            (self.terms.signed_divide(dividend, divisor), self.terms.signed_remainder(dividend, divisor))
        } else {
            let divisor = self.terms.zero_extend(2 * width, divisor);
            (self.terms.unsigned_divide(dividend, divisor), self.terms.unsigned_remainder(dividend, divisor))
        };
        let low_quotient = self.terms.extract(width - 1, 0, quotient);
        let extended = match signed {
            true => self.terms.sign_extend(2 * width, low_quotient),
            false => self.terms.zero_extend(2 * width, low_quotient),
        };
        let fits = self.terms.equal(quotient, extended);
        ([low_quotient, self.terms.extract(width - 1, 0, remainder)], fits)
    }
}
