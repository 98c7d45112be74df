//! What a vector function reads and writes, slot by slot.

use super::{Conversion, FloatFunction, FloatWidth, ShiftCount, Shuffle, VectorOp};
use crate::Size;

/// What the slot number of an operand stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorOperand {
    /// Not read. The lift puts [`crate::Reg::ZERO`] there.
    None,
    /// The low bytes of one slot: a general register, a temporary, or the low half of an XMM
    /// register.
    Slot(Size),
    /// An XMM register: the slot and the one after it.
    Vector,
}

/// What a function writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorResult {
    /// One slot, zero-extended from the size.
    Slot(Size),
    /// One slot, with CF, PF and ZF at their places in RFLAGS and zeroes elsewhere.
    Flags,
    /// The slot and the one after it.
    Vector,
}

impl VectorOp {
    /// What `a` is.
    pub const fn a(self) -> VectorOperand {
        use VectorOperand::{None, Slot, Vector};
        match self {
            VectorOp::Lanes(..)
            | VectorOp::Bitwise(_)
            | VectorOp::Shift(..)
            | VectorOp::ShiftBytes(_)
            | VectorOp::Pairs(..)
            | VectorOp::FloatPairs { .. }
            | VectorOp::MultiplyEven(_)
            | VectorOp::MultiplyAddPairs
            | VectorOp::MultiplyAddBytes
            | VectorOp::SumDifferences
            | VectorOp::SlidingDifferences
            | VectorOp::ShuffleBytes
            | VectorOp::Align
            | VectorOp::Blend(_)
            | VectorOp::TestBits
            | VectorOp::Unpack(..)
            | VectorOp::Pack(..) => Vector,
            VectorOp::Absolute(_) | VectorOp::MinimumPosition | VectorOp::Widen { .. } => None,
            VectorOp::Checksum(_) => Slot(Size::B4),
            VectorOp::Shuffle(Shuffle::PairsOfDwords | Shuffle::PairOfQwords) => Vector,
            VectorOp::Shuffle(Shuffle::Dwords | Shuffle::Words(_)) => None,
            VectorOp::SignMask(_) => None,
            VectorOp::Float {
                function: FloatFunction::Sqrt | FloatFunction::Round { .. },
                width,
                packed,
            } => kept(width, packed),
            VectorOp::Float { packed: true, .. } => Vector,
            VectorOp::Float { packed: false, .. } => Slot(Size::B8),
            VectorOp::CompareFlags { width, .. } => Slot(width.size()),
            VectorOp::Convert(conversion) => match conversion {
                Conversion::IntegerToScalar { to, .. } | Conversion::ScalarTo(to) => kept(to, false),
                Conversion::ScalarToInteger { .. }
                | Conversion::PackedTo(_)
                | Conversion::IntegersToPacked(_)
                | Conversion::PackedToIntegers { .. } => None,
            },
            VectorOp::Approximate { packed, .. } => kept(FloatWidth::F32, packed),
        }
    }

    /// What `b` is.
    pub const fn b(self) -> VectorOperand {
        use VectorOperand::{None, Slot, Vector};
        match self {
            VectorOp::Lanes(..)
            | VectorOp::Bitwise(_)
            | VectorOp::Pairs(..)
            | VectorOp::FloatPairs { .. }
            | VectorOp::Absolute(_)
            | VectorOp::MultiplyEven(_)
            | VectorOp::MultiplyAddPairs
            | VectorOp::MultiplyAddBytes
            | VectorOp::SumDifferences
            | VectorOp::SlidingDifferences
            | VectorOp::MinimumPosition
            | VectorOp::ShuffleBytes
            | VectorOp::Align
            | VectorOp::Blend(_)
            | VectorOp::TestBits
            | VectorOp::Unpack(..)
            | VectorOp::Pack(..)
            | VectorOp::Shuffle(_)
            | VectorOp::SignMask(_) => Vector,
            VectorOp::Widen { from, to, .. } => Slot(widened(from, to)),
            VectorOp::Checksum(size) => Slot(size),
            VectorOp::Shift(_, _, ShiftCount::Immediate) | VectorOp::ShiftBytes(_) => None,
            VectorOp::Shift(_, _, ShiftCount::Slot) => Slot(Size::B8),
            VectorOp::Float { packed: true, .. } | VectorOp::Approximate { packed: true, .. } => Vector,
            VectorOp::Float { width, packed: false, .. } => Slot(width.size()),
            VectorOp::Approximate { packed: false, .. } => Slot(Size::B4),
            VectorOp::CompareFlags { width, .. } => Slot(width.size()),
            VectorOp::Convert(conversion) => match conversion {
                Conversion::IntegerToScalar { from, .. } => Slot(from.size()),
                Conversion::ScalarToInteger { from, .. } => Slot(from.size()),
                Conversion::ScalarTo(FloatWidth::F32) => Slot(Size::B8),
                Conversion::ScalarTo(FloatWidth::F64) => Slot(Size::B4),
                Conversion::PackedTo(FloatWidth::F64) | Conversion::IntegersToPacked(FloatWidth::F64) => {
                    Slot(Size::B8)
                }
                Conversion::PackedTo(FloatWidth::F32)
                | Conversion::IntegersToPacked(FloatWidth::F32)
                | Conversion::PackedToIntegers { .. } => Vector,
            },
        }
    }

    /// What is written.
    pub const fn result(self) -> VectorResult {
        use VectorResult::{Flags, Slot, Vector};
        match self {
            VectorOp::Lanes(..)
            | VectorOp::Bitwise(_)
            | VectorOp::Shift(..)
            | VectorOp::ShiftBytes(_)
            | VectorOp::Pairs(..)
            | VectorOp::FloatPairs { .. }
            | VectorOp::Absolute(_)
            | VectorOp::MultiplyEven(_)
            | VectorOp::MultiplyAddPairs
            | VectorOp::MultiplyAddBytes
            | VectorOp::SumDifferences
            | VectorOp::SlidingDifferences
            | VectorOp::MinimumPosition
            | VectorOp::ShuffleBytes
            | VectorOp::Align
            | VectorOp::Blend(_)
            | VectorOp::Widen { .. }
            | VectorOp::Unpack(..)
            | VectorOp::Pack(..)
            | VectorOp::Shuffle(_) => Vector,
            VectorOp::Checksum(_) => Slot(Size::B4),
            VectorOp::TestBits => Flags,
            VectorOp::SignMask(_) => Slot(Size::B4),
            VectorOp::Float { packed, .. } | VectorOp::Approximate { packed, .. } => {
                if packed {
                    Vector
                } else {
                    Slot(Size::B8)
                }
            }
            VectorOp::CompareFlags { .. } => Flags,
            VectorOp::Convert(conversion) => match conversion {
                Conversion::IntegerToScalar { .. } | Conversion::ScalarTo(_) => Slot(Size::B8),
                Conversion::ScalarToInteger { to, .. } => Slot(to.size()),
                Conversion::PackedTo(_)
                | Conversion::IntegersToPacked(_)
                | Conversion::PackedToIntegers { .. } => Vector,
            },
        }
    }

    /// Whether the function is one of the immediate byte too.
    pub const fn reads_immediate(self) -> bool {
        matches!(
            self,
            VectorOp::Shift(_, _, ShiftCount::Immediate)
                | VectorOp::ShiftBytes(_)
                | VectorOp::Shuffle(_)
                | VectorOp::SlidingDifferences
                | VectorOp::Align
                | VectorOp::Blend(_)
        )
    }

    /// Whether the function reads MXCSR, sets its exception flags, and may raise
    /// a float exception.
    pub const fn uses_mxcsr(self) -> bool {
        matches!(
            self,
            VectorOp::Float { .. }
                | VectorOp::FloatPairs { .. }
                | VectorOp::CompareFlags { .. }
                | VectorOp::Convert(_)
        )
    }
}

/// What is read of a vector whose lowest lanes are widened to fill one.
const fn widened(from: Size, to: Size) -> Size {
    match to as u8 - from as u8 {
        1 => Size::B8,
        2 => Size::B4,
        _ => Size::B2,
    }
}

/// The `a` of a function that reads it only to keep what lies above the lowest lane.
const fn kept(width: FloatWidth, packed: bool) -> VectorOperand {
    match width {
        FloatWidth::F32 if !packed => VectorOperand::Slot(Size::B8),
        _ => VectorOperand::None,
    }
}
