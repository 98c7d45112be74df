//! Vector and float functions as terms: operands are taken apart into lanes, and results put together again.

mod float;
mod lanes;
mod permute;

use super::{Transfer, Unmodelled};
use crate::term::Term;
use lift::flags::{CF, ZF};
use lift::vector::{BitwiseFunction, LaneFunction, VectorOperand, VectorResult};
use lift::{Reg, Size, VectorOp};

impl Transfer<'_> {
    pub(super) fn vector(
        &mut self,
        op: VectorOp,
        dst: Reg,
        a: Reg,
        b: Reg,
        imm: u8,
    ) -> Result<(), Unmodelled> {
        let operands = Operands { op, a, b };
        match op {
            VectorOp::Lanes(function, size) => {
                let lanes = self.zip(operands, size, |transfer, a, b| transfer.lane(function, a, b));
                self.set_lanes(dst, &lanes);
            }
            VectorOp::Bitwise(function) => {
                let halves = self.zip(operands, Size::B8, |transfer, a, b| transfer.bitwise(function, a, b));
                self.set_lanes(dst, &halves);
            }
            VectorOp::Shift(function, size, count) => {
                let lanes = self.shift_lanes(operands, function, size, count, imm);
                self.set_lanes(dst, &lanes);
            }
            VectorOp::ShiftBytes(direction) => {
                let bytes = self.lanes(op.a(), a, Size::B1);
                let bytes = self.shift_bytes(direction, &bytes, imm);
                self.set_lanes(dst, &bytes);
            }
            VectorOp::Pairs(function, size) => {
                let lanes = self.pair_lanes(operands, function, size)?;
                self.set_lanes(dst, &lanes);
            }
            VectorOp::Absolute(size) => {
                let lanes = self.lanes(op.b(), b, size);
                let lanes: Vec<Term> = lanes.into_iter().map(|lane| self.absolute(lane)).collect();
                self.set_lanes(dst, &lanes);
            }
            VectorOp::MultiplyEven(signedness) => {
                let lanes = self.zip(operands, Size::B8, |transfer, a, b| {
                    let (a, b) = (transfer.terms.extract(31, 0, a), transfer.terms.extract(31, 0, b));
                    transfer.wide_product(a, b, signedness == lift::vector::Signedness::Signed)
                });
                self.set_lanes(dst, &lanes);
            }
            VectorOp::MultiplyAddBytes => {
                let lanes = self.zip(operands, Size::B2, Self::multiply_add_bytes);
                self.set_lanes(dst, &lanes);
            }
            VectorOp::MultiplyAddPairs => {
                let lanes = self.zip(operands, Size::B4, Self::multiply_add_pair);
                self.set_lanes(dst, &lanes);
            }
            VectorOp::SumDifferences => {
                let lanes = self.zip(operands, Size::B8, Self::sum_differences);
                self.set_lanes(dst, &lanes);
            }
            VectorOp::Unpack(half, size) => {
                let (a, b) = (self.lanes(op.a(), a, size), self.lanes(op.b(), b, size));
                self.set_lanes(dst, &permute::unpack(half, &a, &b));
            }
            VectorOp::Pack(from, range) => {
                let lanes = self.pack(operands, from, range);
                self.set_lanes(dst, &lanes);
            }
            VectorOp::Shuffle(shuffle) => {
                let lanes = self.shuffle(operands, shuffle, imm);
                self.set_lanes(dst, &lanes);
            }
            VectorOp::ShuffleBytes => {
                let lanes = self.shuffle_bytes(operands);
                self.set_lanes(dst, &lanes);
            }
            VectorOp::Align => {
                let lanes = self.align(operands, imm);
                self.set_lanes(dst, &lanes);
            }
            VectorOp::Blend(size) => {
                let (a, b) = (self.lanes(op.a(), a, size), self.lanes(op.b(), b, size));
                self.set_lanes(dst, &permute::blend(&a, &b, imm));
            }
            VectorOp::Widen { from, to, signedness } => {
                let lanes = self.lanes(op.b(), b, from);
                let lanes = self.widen(&lanes, to, signedness);
                self.set_lanes(dst, &lanes);
            }
            VectorOp::TestBits => {
                let word = self.test_bits(operands);
                self.set(dst, word);
            }
            VectorOp::SignMask(size) => {
                let lanes = self.lanes(op.b(), b, size);
                let mask = self.sign_mask(&lanes);
                self.set(dst, mask);
            }
            VectorOp::Float { function, width, packed } => {
                self.float(operands, function, width, packed, dst)?;
            }
            VectorOp::FloatPairs { function, width } => {
                let lanes = self.float_pairs(operands, function, width)?;
                self.set_lanes(dst, &lanes);
            }
            VectorOp::CompareFlags { width, .. } => self.compare_flags(operands, width, dst)?,
            VectorOp::Convert(conversion) => self.convert(operands, conversion, dst)?,
            VectorOp::Approximate { .. } => return Err(Unmodelled::Approximation),
            VectorOp::Checksum(_) => return Err(Unmodelled::Checksum),
            VectorOp::SlidingDifferences | VectorOp::MinimumPosition => {
                return Err(Unmodelled::RareVector);
            }
        }
        debug_assert!(op.result() != VectorResult::Vector || dst.high_half() != Reg::ZERO);
        Ok(())
    }

    /// The lanes of an operand, from the low end; of one slot, those that the op reads.
    fn lanes(&mut self, operand: VectorOperand, reg: Reg, size: Size) -> Vec<Term> {
        let slots = match operand {
            VectorOperand::None => return Vec::new(),
            VectorOperand::Slot(_) => vec![self.slot(reg)],
            VectorOperand::Vector => vec![self.slot(reg), self.slot(reg.high_half())],
        };
        let bits = size.bits();
        let read = match operand {
            VectorOperand::Slot(read) => read.bits().max(bits),
            VectorOperand::None | VectorOperand::Vector => 64,
        };
        let mut lanes = Vec::new();
        for slot in slots {
            for lane in 0..read / bits {
                lanes.push(self.terms.extract(bits * lane + bits - 1, bits * lane, slot));
            }
        }
        lanes
    }

    /// Both operands, taken apart.
    fn both(&mut self, operands: Operands, size: Size) -> (Vec<Term>, Vec<Term>) {
        let Operands { op, a, b } = operands;
        (self.lanes(op.a(), a, size), self.lanes(op.b(), b, size))
    }

    fn zip(
        &mut self,
        operands: Operands,
        size: Size,
        mut function: impl FnMut(&mut Self, Term, Term) -> Term,
    ) -> Vec<Term> {
        let (a, b) = self.both(operands, size);
        a.into_iter().zip(b).map(|(a, b)| function(self, a, b)).collect()
    }

    /// Puts lanes together, from the low end.
    fn join(&mut self, lanes: &[Term]) -> Term {
        let whole = lanes.iter().copied().reduce(|low, high| self.terms.concat(high, low));
        whole.unwrap_or_else(|| self.terms.bits(64, 0))
    }

    /// Gives a pair of slots a value; lanes that are missing at the upper end are zero.
    fn set_lanes(&mut self, dst: Reg, lanes: &[Term]) {
        let bits = lanes.first().map_or(64, |lane| self.terms.width(*lane));
        let in_half = (64 / bits) as usize;
        let (low, high) = lanes.split_at(in_half.min(lanes.len()));
        for (reg, half) in [(dst, low), (dst.high_half(), high)] {
            let value = self.join(half);
            self.set(reg, value);
        }
    }

    fn bitwise(&mut self, function: BitwiseFunction, a: Term, b: Term) -> Term {
        match function {
            BitwiseFunction::And => self.terms.bits_and(a, b),
            BitwiseFunction::AndNot => {
                let not = self.terms.bits_not(a);
                self.terms.bits_and(not, b)
            }
            BitwiseFunction::Or => self.terms.bits_or(a, b),
            BitwiseFunction::Xor => self.terms.bits_xor(a, b),
        }
    }

    fn pair_lanes(
        &mut self,
        operands: Operands,
        function: LaneFunction,
        size: Size,
    ) -> Result<Vec<Term>, Unmodelled> {
        use lift::vector::Signedness::Signed;
        let exists = matches!(
            function,
            LaneFunction::Add
                | LaneFunction::Sub
                | LaneFunction::AddSaturating(Signed)
                | LaneFunction::SubSaturating(Signed)
        );
        if !exists {
            return Err(Unmodelled::RareVector);
        }
        let (a, b) = self.both(operands, size);
        let all = [a, b].concat();
        Ok(all.chunks_exact(2).map(|pair| self.lane(function, pair[0], pair[1])).collect())
    }

    fn test_bits(&mut self, operands: Operands) -> Term {
        let mut truths = [BitwiseFunction::And, BitwiseFunction::AndNot].map(|function| {
            let halves = self.zip(operands, Size::B8, |transfer, a, b| transfer.bitwise(function, a, b));
            let whole = self.join(&halves);
            let some = self.terms.is_nonzero(whole);
            self.terms.not(some)
        });
        truths.reverse();
        let [carry, zero] = truths;
        self.assemble(&[(CF.trailing_zeros(), carry), (ZF.trailing_zeros(), zero)])
    }

    fn sign_mask(&mut self, lanes: &[Term]) -> Term {
        let signs: Vec<Term> = lanes.iter().map(|lane| self.terms.top_bit(*lane)).collect();
        self.join(&signs)
    }
}

/// A function with the registers of its operands.
#[derive(Clone, Copy)]
struct Operands {
    op: VectorOp,
    a: Reg,
    b: Reg,
}
