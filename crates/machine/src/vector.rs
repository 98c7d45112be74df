//! What the vector functions of [`lift::VectorOp`] compute: functions of values alone, apart from
//! MXCSR, so that whoever has the operands of an op can ask for its result.
//!
//! Integer functions are written out lane by lane; where the host has an instruction for one, that
//! is used. Float functions are always the host's.

mod approximate;
mod float;
mod instructions;
mod lanes;
mod mxcsr;
mod permute;
mod round;
mod sse2;
pub mod strings;
mod unmasked;

pub use float::FloatResult;
pub use mxcsr::FloatException;

use lanes::{Lane, map, truth, zip};
use lift::vector::Signedness::{Signed, Unsigned};
use lift::vector::{
    Approximation, BitwiseFunction, Direction, Half, LaneFunction, PackFrom, ShiftCount, ShiftFunction,
    Shuffle, Signedness,
};
use lift::{Size, VectorOp};

/// The result of a vector function. An operand that the op takes from one slot is that slot's value,
/// zero-extended (only the bytes that the op names are read); a result that goes to one slot is in the
/// low 64 bits, already zero-extended from the op's size.
#[inline]
pub fn execute(op: VectorOp, a: u128, b: u128, imm: u8, mxcsr: &mut u32) -> FloatResult {
    function_for(op).call(a, b, imm, mxcsr)
}

/// Takes `a`, `b` and the immediate.
pub type PureCall = fn(u128, u128, u8) -> u128;
/// Takes `a`, `b` and the guest's MXCSR.
pub type FloatCall = fn(u128, u128, &mut u32) -> FloatResult;

/// What computes one vector function: found once, when a block is compiled, and called each time
/// it is executed.
#[derive(Clone, Copy, Debug)]
pub enum Function {
    /// Has nothing to do with MXCSR and cannot fault.
    Pure(PureCall),
    /// Reads the control bits of MXCSR, sets its exception flags, and faults if one of them is not
    /// masked. The immediate plays no part.
    Float(FloatCall),
}

impl Function {
    #[inline]
    pub fn call(self, a: u128, b: u128, imm: u8, mxcsr: &mut u32) -> FloatResult {
        match self {
            Function::Pure(function) => Ok(function(a, b, imm)),
            Function::Float(function) => function(a, b, mxcsr),
        }
    }
}

/// The function that computes `op`.
pub fn function_for(op: VectorOp) -> Function {
    match sse2::function_for(op) {
        Some(function) => Function::Pure(function),
        None => plain_function_for(op),
    }
}

/// As [`function_for`], with integer functions in plain Rust.
fn plain_function_for(op: VectorOp) -> Function {
    let pure: PureCall = match op {
        VectorOp::Lanes(function, size) => match size {
            Size::B1 => lane_function::<u8>(function),
            Size::B2 => lane_function::<u16>(function),
            Size::B4 => lane_function::<u32>(function),
            Size::B8 => lane_function::<u64>(function),
        },
        VectorOp::Bitwise(function) => match function {
            BitwiseFunction::And => |a, b, _| a & b,
            BitwiseFunction::AndNot => |a, b, _| !a & b,
            BitwiseFunction::Or => |a, b, _| a | b,
            BitwiseFunction::Xor => |a, b, _| a ^ b,
        },
        VectorOp::Shift(function, size, count) => match size {
            Size::B1 => shift_function::<u8>(function, count),
            Size::B2 => shift_function::<u16>(function, count),
            Size::B4 => shift_function::<u32>(function, count),
            Size::B8 => shift_function::<u64>(function, count),
        },
        VectorOp::Pairs(function, size) => match size {
            Size::B1 => pair_function::<u8>(function),
            Size::B2 => pair_function::<u16>(function),
            Size::B4 => pair_function::<u32>(function),
            Size::B8 => pair_function::<u64>(function),
        },
        VectorOp::Absolute(size) => match size {
            Size::B1 => |_, b, _| lanes::absolute::<u8>(b),
            Size::B2 => |_, b, _| lanes::absolute::<u16>(b),
            Size::B4 => |_, b, _| lanes::absolute::<u32>(b),
            Size::B8 => |_, b, _| lanes::absolute::<u64>(b),
        },
        VectorOp::ShiftBytes(Direction::Left) => |a, _, imm| permute::shift_bytes_left(a, imm),
        VectorOp::ShiftBytes(Direction::Right) => |a, _, imm| permute::shift_bytes_right(a, imm),
        VectorOp::MultiplyEven(Unsigned) => |a, b, _| lanes::multiply_even(a, b),
        VectorOp::MultiplyEven(Signed) => |a, b, _| lanes::multiply_even_signed(a, b),
        VectorOp::MultiplyAddBytes => |a, b, _| lanes::multiply_add_bytes(a, b),
        VectorOp::SlidingDifferences => lanes::sliding_differences,
        VectorOp::MinimumPosition => |_, b, _| lanes::minimum_position(b),
        VectorOp::ShuffleBytes => |a, b, _| permute::shuffle_bytes(a, b),
        VectorOp::Align => permute::align,
        VectorOp::Blend(size) => match size {
            Size::B1 => permute::blend::<u8>,
            Size::B2 => permute::blend::<u16>,
            Size::B4 => permute::blend::<u32>,
            Size::B8 => permute::blend::<u64>,
        },
        VectorOp::Widen { from, to, signedness } => widen_function(from, to, signedness),
        VectorOp::TestBits => |a, b, _| lanes::test_bits(a, b),
        VectorOp::Checksum(size) => match size {
            Size::B1 => |a, b, _| lanes::checksum(a, b, 1),
            Size::B2 => |a, b, _| lanes::checksum(a, b, 2),
            Size::B4 => |a, b, _| lanes::checksum(a, b, 4),
            Size::B8 => |a, b, _| lanes::checksum(a, b, 8),
        },
        VectorOp::MultiplyAddPairs => |a, b, _| lanes::multiply_add_pairs(a, b),
        VectorOp::SumDifferences => |a, b, _| lanes::sum_differences(a, b),
        VectorOp::Unpack(half, size) => match size {
            Size::B1 => unpack_function::<u8>(half),
            Size::B2 => unpack_function::<u16>(half),
            Size::B4 => unpack_function::<u32>(half),
            Size::B8 => unpack_function::<u64>(half),
        },
        VectorOp::Pack(from, range) => match (from, range) {
            (PackFrom::Words, Signed) => |a, b, _| lanes::pack(PackFrom::Words, Signed, a, b),
            (PackFrom::Words, Unsigned) => |a, b, _| lanes::pack(PackFrom::Words, Unsigned, a, b),
            (PackFrom::Dwords, Signed) => |a, b, _| lanes::pack(PackFrom::Dwords, Signed, a, b),
            (PackFrom::Dwords, Unsigned) => |a, b, _| lanes::pack(PackFrom::Dwords, Unsigned, a, b),
        },
        VectorOp::Shuffle(shuffle) => match shuffle {
            Shuffle::Dwords => |_, b, imm| permute::shuffle_dwords(b, imm),
            Shuffle::Words(Half::Low) => |_, b, imm| permute::shuffle_words(Half::Low, b, imm),
            Shuffle::Words(Half::High) => |_, b, imm| permute::shuffle_words(Half::High, b, imm),
            Shuffle::PairsOfDwords => permute::shuffle_pairs_of_dwords,
            Shuffle::PairOfQwords => permute::shuffle_pair_of_qwords,
        },
        VectorOp::SignMask(size) => match size {
            Size::B1 => |_, b, _| lanes::sign_mask::<u8>(b),
            Size::B2 => |_, b, _| lanes::sign_mask::<u16>(b),
            Size::B4 => |_, b, _| lanes::sign_mask::<u32>(b),
            Size::B8 => |_, b, _| lanes::sign_mask::<u64>(b),
        },
        VectorOp::Approximate { function, packed } => match (function, packed) {
            (Approximation::Reciprocal, true) => |_, b, _| map(b, approximate::reciprocal),
            (Approximation::ReciprocalSqrt, true) => |_, b, _| map(b, approximate::reciprocal_sqrt),
            (Approximation::Reciprocal, false) => |a, b, _| merge(a, approximate::reciprocal(b as u32)),
            (Approximation::ReciprocalSqrt, false) => {
                |a, b, _| merge(a, approximate::reciprocal_sqrt(b as u32))
            }
        },
        VectorOp::Float { function, width, packed } => {
            return Function::Float(instructions::arithmetic(function, width, packed));
        }
        VectorOp::FloatPairs { function, width } => {
            return Function::Float(instructions::pairs(function, width));
        }
        VectorOp::CompareFlags { width, signalling } => {
            return Function::Float(instructions::compare_flags(width, signalling));
        }
        VectorOp::Convert(conversion) => return Function::Float(instructions::conversion(conversion)),
    };
    Function::Pure(pure)
}

fn lane_function<L: Lane>(function: LaneFunction) -> PureCall {
    match function {
        LaneFunction::Add => |a, b, _| zip(a, b, L::add),
        LaneFunction::Sub => |a, b, _| zip(a, b, L::sub),
        LaneFunction::AddSaturating(Signed) => |a, b, _| zip(a, b, |a: L, b| a.add_saturating(b, Signed)),
        LaneFunction::AddSaturating(Unsigned) => |a, b, _| zip(a, b, |a: L, b| a.add_saturating(b, Unsigned)),
        LaneFunction::SubSaturating(Signed) => |a, b, _| zip(a, b, |a: L, b| a.sub_saturating(b, Signed)),
        LaneFunction::SubSaturating(Unsigned) => |a, b, _| zip(a, b, |a: L, b| a.sub_saturating(b, Unsigned)),
        LaneFunction::Equal => |a, b, _| zip(a, b, |a: L, b| truth(a == b)),
        LaneFunction::GreaterSigned => |a, b, _| zip(a, b, |a: L, b| truth(a.signed() > b.signed())),
        LaneFunction::Min(Signed) => {
            |a, b, _| zip(a, b, |a: L, b| if a.signed() < b.signed() { a } else { b })
        }
        LaneFunction::Max(Signed) => {
            |a, b, _| zip(a, b, |a: L, b| if a.signed() > b.signed() { a } else { b })
        }
        LaneFunction::Min(Unsigned) => |a, b, _| zip(a, b, |a: L, b| a.min(b)),
        LaneFunction::Max(Unsigned) => |a, b, _| zip(a, b, |a: L, b| a.max(b)),
        LaneFunction::Average => |a, b, _| zip(a, b, L::average),
        LaneFunction::MultiplyLow => |a, b, _| zip(a, b, L::multiply_low),
        LaneFunction::MultiplyRounded => |a, b, _| zip(a, b, L::multiply_rounded),
        LaneFunction::Sign => |a, b, _| zip(a, b, lanes::sign::<L>),
        LaneFunction::MultiplyHigh(Signed) => |a, b, _| zip(a, b, |a: L, b| a.multiply_high(b, Signed)),
        LaneFunction::MultiplyHigh(Unsigned) => |a, b, _| zip(a, b, |a: L, b| a.multiply_high(b, Unsigned)),
    }
}

/// Neighbouring lanes are those with even numbers and those with odd ones, side by side.
fn pair_function<L: Lane>(function: LaneFunction) -> PureCall {
    macro_rules! pairs {
        ($function:expr) => {
            |a, b, _| zip(permute::every_other::<L>(0, a, b), permute::every_other::<L>(1, a, b), $function)
        };
    }
    match function {
        LaneFunction::Add => pairs!(L::add),
        LaneFunction::Sub => pairs!(L::sub),
        LaneFunction::AddSaturating(Signed) => pairs!(|a: L, b| a.add_saturating(b, Signed)),
        LaneFunction::SubSaturating(Signed) => pairs!(|a: L, b| a.sub_saturating(b, Signed)),
        // There are no such instructions.
        _ => |_, _, _| 0,
    }
}

fn widen_function(from: Size, to: Size, signedness: Signedness) -> PureCall {
    macro_rules! widen {
        ($from:ty, $to:ty) => {
            match signedness {
                Signed => |_, b, _| permute::widen::<$from, $to>(b, Signed),
                Unsigned => |_, b, _| permute::widen::<$from, $to>(b, Unsigned),
            }
        };
    }
    match (from, to) {
        (Size::B1, Size::B2) => widen!(u8, u16),
        (Size::B1, Size::B4) => widen!(u8, u32),
        (Size::B1, _) => widen!(u8, u64),
        (Size::B2, Size::B4) => widen!(u16, u32),
        (Size::B2, _) => widen!(u16, u64),
        _ => widen!(u32, u64),
    }
}

fn shift_function<L: Lane>(function: ShiftFunction, count: ShiftCount) -> PureCall {
    match (function, count) {
        (ShiftFunction::Left, ShiftCount::Immediate) => |a, _, imm| lanes::shift_left::<L>(a, imm.into()),
        (ShiftFunction::Left, ShiftCount::Slot) => |a, b, _| lanes::shift_left::<L>(a, b as u64),
        (ShiftFunction::Right, ShiftCount::Immediate) => |a, _, imm| lanes::shift_right::<L>(a, imm.into()),
        (ShiftFunction::Right, ShiftCount::Slot) => |a, b, _| lanes::shift_right::<L>(a, b as u64),
        (ShiftFunction::RightSigned, ShiftCount::Immediate) => {
            |a, _, imm| lanes::shift_right_signed::<L>(a, imm.into())
        }
        (ShiftFunction::RightSigned, ShiftCount::Slot) => {
            |a, b, _| lanes::shift_right_signed::<L>(a, b as u64)
        }
    }
}

fn unpack_function<L: Lane>(half: Half) -> PureCall {
    match half {
        Half::Low => |a, b, _| permute::unpack::<L>(Half::Low, a, b),
        Half::High => |a, b, _| permute::unpack::<L>(Half::High, a, b),
    }
}

/// The lowest 32-bit lane of slot `a` replaced.
#[inline(always)]
fn merge(a: u128, lane: u32) -> u128 {
    a & 0xffff_ffff_0000_0000 | u128::from(lane)
}

#[cfg(test)]
mod tests;
