//! Which operand bytes a byte of a vector function's result depends on.
//!
//! Derived from the lane structure and nothing else, so it holds for every value of the
//! operands; a reader that knows the values may find less.

use super::{
    Conversion, Direction, FloatFunction, FloatWidth, Half, PackFrom, ShiftCount, Shuffle, VectorOp,
    VectorResult,
};
use crate::Size;

/// Operand bytes, as masks: bit i is byte i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Dependence {
    pub a: u16,
    pub b: u16,
}

impl VectorOp {
    /// The operand bytes that byte `byte` of the result may depend on.
    /// MXCSR is not among them; see [`VectorOp::uses_mxcsr`].
    pub const fn dependence(self, imm: u8, byte: u8) -> Dependence {
        if byte >= self.result_bytes() {
            return NOTHING;
        }
        match self {
            VectorOp::Lanes(_, size) => both(lane(size, byte)),
            VectorOp::Pairs(_, size) => pair(size, byte),
            VectorOp::FloatPairs { width, .. } => pair(width.size(), byte),
            VectorOp::Absolute(size) => only_b(lane(size, byte)),
            VectorOp::Bitwise(_) => both(1 << byte),
            VectorOp::Shift(_, size, ShiftCount::Immediate) => only_a(lane(size, byte)),
            VectorOp::Shift(_, size, ShiftCount::Slot) => Dependence { a: lane(size, byte), b: 0x00ff },
            VectorOp::ShiftBytes(Direction::Left) => only_a(shifted_left(1 << byte, imm)),
            VectorOp::ShiftBytes(Direction::Right) => only_a(shifted_right(1 << byte, imm)),
            VectorOp::MultiplyEven(_) => both(if byte < 8 { 0x000f } else { 0x0f00 }),
            VectorOp::MultiplyAddPairs => both(lane(Size::B4, byte)),
            VectorOp::MultiplyAddBytes => both(lane(Size::B2, byte)),
            VectorOp::SlidingDifferences => {
                let first = (imm >> 2 & 1) * 4 + byte / 2;
                Dependence { a: ones(4, first), b: ones(4, picked(imm, 0) * 4) }
            }
            // The least one is found by looking at all.
            VectorOp::MinimumPosition => {
                if byte < 3 {
                    only_b(0xffff)
                } else {
                    NOTHING
                }
            }
            VectorOp::SumDifferences => match byte {
                0 | 1 => both(0x00ff),
                8 | 9 => both(0xff00),
                _ => NOTHING,
            },
            VectorOp::Unpack(half, size) => {
                let bytes = size.bytes() as u8;
                let source = byte / (2 * bytes) * bytes + byte % bytes + half.first_byte();
                if (byte / bytes).is_multiple_of(2) { only_a(1 << source) } else { only_b(1 << source) }
            }
            VectorOp::Pack(from, _) => {
                let bytes = match from {
                    PackFrom::Words => 2,
                    PackFrom::Dwords => 4,
                };
                let source = ones(bytes, (byte % 8) / (bytes / 2) * bytes);
                if byte < 8 { only_a(source) } else { only_b(source) }
            }
            VectorOp::Shuffle(shuffle) => shuffled(shuffle, imm, byte),
            VectorOp::ShuffleBytes => Dependence { a: 0xffff, b: 1 << byte },
            VectorOp::Align => match imm.saturating_add(byte) {
                source @ 0..16 => only_b(1 << source),
                source @ 16..32 => only_a(1 << (source - 16)),
                _ => NOTHING,
            },
            VectorOp::Blend(size) => {
                if blends(imm, byte / size.bytes() as u8) {
                    only_b(1 << byte)
                } else {
                    only_a(1 << byte)
                }
            }
            VectorOp::Widen { from, to, .. } => {
                let (from, to) = (from.bytes() as u8, to.bytes() as u8);
                only_b(ones(from, byte / to * from))
            }
            VectorOp::TestBits => both(0xffff),
            VectorOp::Checksum(size) => Dependence { a: 0x000f, b: lane(size, 0) },
            VectorOp::SignMask(size) => {
                let bytes = size.bytes() as u8;
                let mut mask = 0;
                let mut n = byte * 8;
                while n < 16 / bytes && n < byte * 8 + 8 {
                    mask |= 1 << (n * bytes + bytes - 1);
                    n += 1;
                }
                only_b(mask)
            }
            VectorOp::Float { function, width, packed } => {
                let source = lane(width.size(), byte);
                if !packed && byte >= width.size().bytes() as u8 {
                    only_a(1 << byte)
                } else if matches!(function, FloatFunction::Sqrt | FloatFunction::Round { .. }) {
                    only_b(source)
                } else {
                    both(source)
                }
            }
            VectorOp::Approximate { packed, .. } => {
                if !packed && byte >= 4 {
                    only_a(1 << byte)
                } else {
                    only_b(lane(Size::B4, byte))
                }
            }
            VectorOp::CompareFlags { width, .. } => both(lane(width.size(), 0)),
            VectorOp::Convert(conversion) => converted(conversion, byte),
        }
    }

    /// How many bytes of the result may be other than zero.
    const fn result_bytes(self) -> u8 {
        match self {
            VectorOp::SignMask(Size::B1) => 2,
            VectorOp::SignMask(_) => 1,
            _ => match self.result() {
                VectorResult::Vector => 16,
                VectorResult::Slot(size) => size.bytes() as u8,
                VectorResult::Flags => 1,
            },
        }
    }
}

impl Half {
    /// The number of the half's first byte.
    pub const fn first_byte(self) -> u8 {
        match self {
            Half::Low => 0,
            Half::High => 8,
        }
    }
}

const NOTHING: Dependence = Dependence { a: 0, b: 0 };

const fn both(mask: u16) -> Dependence {
    Dependence { a: mask, b: mask }
}

const fn only_a(mask: u16) -> Dependence {
    Dependence { a: mask, b: 0 }
}

const fn only_b(mask: u16) -> Dependence {
    Dependence { a: 0, b: mask }
}

/// `count` bytes from byte `first` on.
const fn ones(count: u8, first: u8) -> u16 {
    (((1_u32 << count) - 1) << first) as u16
}

/// The bytes of the lane that holds `byte`.
const fn lane(size: Size, byte: u8) -> u16 {
    let bytes = size.bytes() as u8;
    ones(bytes, byte / bytes * bytes)
}

/// The two lanes of `a` or of `b` that the lane with `byte` is a function of.
const fn pair(size: Size, byte: u8) -> Dependence {
    let bytes = size.bytes() as u8;
    let pair = ones(2 * bytes, byte % 8 / bytes * 2 * bytes);
    if byte < 8 { only_a(pair) } else { only_b(pair) }
}

/// Whether a blend by `imm` takes this lane from the second operand. There are eight bits, and they begin again.
const fn blends(imm: u8, lane: u8) -> bool {
    imm >> (lane % 8) & 1 != 0
}

/// Where a byte came from that a shift to the left by `count` bytes put at `mask`.
const fn shifted_left(mask: u16, count: u8) -> u16 {
    if count < 16 { mask >> count } else { 0 }
}

const fn shifted_right(mask: u16, count: u8) -> u16 {
    if count < 16 { mask << count } else { 0 }
}

const fn shuffled(shuffle: Shuffle, imm: u8, byte: u8) -> Dependence {
    match shuffle {
        Shuffle::Dwords => only_b(1 << (picked(imm, byte / 4) * 4 + byte % 4)),
        Shuffle::Words(half) => {
            let first = half.first_byte();
            if byte / 8 * 8 != first {
                return only_b(1 << byte);
            }
            only_b(1 << (first + picked(imm, byte % 8 / 2) * 2 + byte % 2))
        }
        Shuffle::PairsOfDwords => {
            let source = 1 << (picked(imm, byte / 4) * 4 + byte % 4);
            if byte < 8 { only_a(source) } else { only_b(source) }
        }
        Shuffle::PairOfQwords => {
            let source = 1 << ((imm >> (byte / 8) & 1) * 8 + byte % 8);
            if byte < 8 { only_a(source) } else { only_b(source) }
        }
    }
}

/// The n-th two-bit field of `imm`.
const fn picked(imm: u8, n: u8) -> u8 {
    imm >> (2 * n) & 3
}

const fn converted(conversion: Conversion, byte: u8) -> Dependence {
    match conversion {
        Conversion::IntegerToScalar { from, to } => {
            if byte < to.size().bytes() as u8 {
                only_b(lane(from.size(), 0))
            } else {
                only_a(1 << byte)
            }
        }
        Conversion::ScalarToInteger { from, .. } => only_b(lane(from.size(), 0)),
        Conversion::ScalarTo(FloatWidth::F32) => {
            if byte < 4 {
                only_b(0x00ff)
            } else {
                only_a(1 << byte)
            }
        }
        Conversion::ScalarTo(FloatWidth::F64) => only_b(0x000f),
        // Two 4-byte lanes widen, or two 8-byte lanes narrow.
        Conversion::PackedTo(FloatWidth::F64) | Conversion::IntegersToPacked(FloatWidth::F64) => {
            only_b(ones(4, byte / 8 * 4))
        }
        Conversion::PackedTo(FloatWidth::F32)
        | Conversion::PackedToIntegers { from: FloatWidth::F64, .. } => {
            if byte < 8 {
                only_b(ones(8, byte / 4 * 8))
            } else {
                NOTHING
            }
        }
        Conversion::IntegersToPacked(FloatWidth::F32)
        | Conversion::PackedToIntegers { from: FloatWidth::F32, .. } => only_b(lane(Size::B4, byte)),
    }
}
