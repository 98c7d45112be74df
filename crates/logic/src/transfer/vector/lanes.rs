//! Functions of integer lanes.

use super::{Operands, Transfer};
use crate::term::Term;
use lift::Size;
use lift::vector::Signedness::{self, Signed, Unsigned};
use lift::vector::{LaneFunction, PackFrom, ShiftCount, ShiftFunction};

impl Transfer<'_> {
    pub(super) fn lane(&mut self, function: LaneFunction, a: Term, b: Term) -> Term {
        let width = self.terms.width(a);
        match function {
            LaneFunction::Add => self.terms.add(a, b),
            LaneFunction::Sub => self.terms.sub(a, b),
            LaneFunction::AddSaturating(signedness) => {
                let [a, b] = self.extended([a, b], width + 2, signedness);
                let sum = self.terms.add(a, b);
                self.clamp(sum, width, signedness)
            }
            LaneFunction::SubSaturating(signedness) => {
                let [a, b] = self.extended([a, b], width + 2, signedness);
                let difference = self.terms.sub(a, b);
                self.clamp(difference, width, signedness)
            }
            LaneFunction::Equal => {
                let equal = self.terms.equal(a, b);
                self.all_ones(equal, width)
            }
            LaneFunction::GreaterSigned => {
                let greater = self.terms.signed_less(b, a);
                self.all_ones(greater, width)
            }
            LaneFunction::Min(signedness) => {
                let less = self.less_than(a, b, signedness);
                self.terms.if_then_else(less, a, b)
            }
            LaneFunction::Max(signedness) => {
                let greater = self.less_than(b, a, signedness);
                self.terms.if_then_else(greater, a, b)
            }
            LaneFunction::Average => {
                let [a, b] = self.extended([a, b], width + 1, Unsigned);
                let one = self.terms.bits(width + 1, 1);
                let sum = self.terms.add(a, b);
                let sum = self.terms.add(sum, one);
                self.terms.extract(width, 1, sum)
            }
            LaneFunction::MultiplyLow => self.terms.mul(a, b),
            LaneFunction::MultiplyHigh(signedness) => {
                let product = self.wide_product(a, b, signedness == Signed);
                self.terms.extract(2 * width - 1, width, product)
            }
            LaneFunction::MultiplyRounded => {
                let product = self.wide_product(a, b, true);
                let (count, one) =
                    (self.terms.bits(2 * width, u128::from(width) - 2), self.terms.bits(2 * width, 1));
                let shifted = self.terms.shift_right_signed(product, count);
                let rounded = self.terms.add(shifted, one);
                self.terms.extract(width, 1, rounded)
            }
            LaneFunction::Sign => {
                let zero = self.terms.bits(width, 0);
                let (negative, is_zero) = (self.terms.signed_less(b, zero), self.terms.equal(b, zero));
                let (opposite, kept) = (self.terms.negate(a), self.terms.if_then_else(is_zero, zero, a));
                self.terms.if_then_else(negative, opposite, kept)
            }
        }
    }

    fn extended<const N: usize>(&mut self, values: [Term; N], to: u32, signedness: Signedness) -> [Term; N] {
        values.map(|value| match signedness {
            Signed => self.terms.sign_extend(to, value),
            Unsigned => self.terms.zero_extend(to, value),
        })
    }

    fn less_than(&mut self, a: Term, b: Term, signedness: Signedness) -> Term {
        match signedness {
            Signed => self.terms.signed_less(a, b),
            Unsigned => self.terms.unsigned_less(a, b),
        }
    }

    pub(super) fn all_ones(&mut self, condition: Term, width: u32) -> Term {
        let (ones, zero) = (self.terms.bits(width, u128::MAX), self.terms.bits(width, 0));
        self.terms.if_then_else(condition, ones, zero)
    }

    /// A signed number, clamped to the range of so many bits.
    fn clamp(&mut self, number: Term, width: u32, range: Signedness) -> Term {
        let wide = self.terms.width(number);
        let (lowest, highest) = match range {
            Signed => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
            Unsigned => (0, (1i128 << width) - 1),
        };
        let (low, high) = (self.terms.bits(wide, lowest as u128), self.terms.bits(wide, highest as u128));
        let (below, above) = (self.terms.signed_less(number, low), self.terms.signed_less(high, number));
        let clamped = self.terms.if_then_else(above, high, number);
        let clamped = self.terms.if_then_else(below, low, clamped);
        self.terms.extract(width - 1, 0, clamped)
    }

    pub(super) fn absolute(&mut self, lane: Term) -> Term {
        let zero = self.terms.bits(self.terms.width(lane), 0);
        let (negative, opposite) = (self.terms.signed_less(lane, zero), self.terms.negate(lane));
        self.terms.if_then_else(negative, opposite, lane)
    }

    pub(super) fn shift_lanes(
        &mut self,
        operands: Operands,
        function: ShiftFunction,
        size: Size,
        count: ShiftCount,
        imm: u8,
    ) -> Vec<Term> {
        let count = match count {
            ShiftCount::Immediate => self.terms.bits(64, imm.into()),
            ShiftCount::Slot => self.slot(operands.b),
        };
        let bits = size.bits();
        let width = self.terms.bits(64, bits.into());
        let is_small = self.terms.unsigned_less(count, width);
        // A count that is too large is as good as the width.
        let count = self.terms.if_then_else(is_small, count, width);
        let count = self.terms.extract(bits - 1, 0, count);
        let lanes = self.lanes(operands.op.a(), operands.a, size);
        let shifted = lanes.into_iter().map(|lane| match function {
            ShiftFunction::Left => self.terms.shift_left(lane, count),
            ShiftFunction::Right => self.terms.shift_right(lane, count),
            ShiftFunction::RightSigned => self.terms.shift_right_signed(lane, count),
        });
        shifted.collect()
    }

    pub(super) fn multiply_add_pair(&mut self, a: Term, b: Term) -> Term {
        let products = [0, 16].map(|at| {
            let (a, b) = (self.terms.extract(at + 15, at, a), self.terms.extract(at + 15, at, b));
            self.wide_product(a, b, true)
        });
        self.terms.add(products[0], products[1])
    }

    pub(super) fn multiply_add_bytes(&mut self, a: Term, b: Term) -> Term {
        const WIDE: u32 = 32;
        let products = [0, 8].map(|at| {
            let (a, b) = (self.terms.extract(at + 7, at, a), self.terms.extract(at + 7, at, b));
            let (a, b) = (self.terms.zero_extend(WIDE, a), self.terms.sign_extend(WIDE, b));
            self.terms.mul(a, b)
        });
        let sum = self.terms.add(products[0], products[1]);
        self.clamp(sum, 16, Signed)
    }

    pub(super) fn sum_differences(&mut self, a: Term, b: Term) -> Term {
        let mut sum = self.terms.bits(64, 0);
        for at in (0..64).step_by(8) {
            let (a, b) = (self.terms.extract(at + 7, at, a), self.terms.extract(at + 7, at, b));
            let less = self.terms.unsigned_less(a, b);
            let (up, down) = (self.terms.sub(b, a), self.terms.sub(a, b));
            let difference = self.terms.if_then_else(less, up, down);
            let difference = self.terms.zero_extend(64, difference);
            sum = self.terms.add(sum, difference);
        }
        sum
    }

    pub(super) fn pack(&mut self, operands: Operands, from: PackFrom, range: Signedness) -> Vec<Term> {
        let size = match from {
            PackFrom::Words => Size::B2,
            PackFrom::Dwords => Size::B4,
        };
        let (a, b) = self.both(operands, size);
        let narrow = size.bits() / 2;
        a.into_iter()
            .chain(b)
            .map(|lane| {
                // Wide enough for the highest unsigned number to be a positive one.
                let wide = self.terms.sign_extend(size.bits() + 1, lane);
                self.clamp(wide, narrow, range)
            })
            .collect()
    }

    pub(super) fn widen(&mut self, lanes: &[Term], to: Size, signedness: Signedness) -> Vec<Term> {
        let count = 128 / to.bits() as usize;
        lanes.iter().take(count).map(|lane| self.extended([*lane], to.bits(), signedness)[0]).collect()
    }
}
