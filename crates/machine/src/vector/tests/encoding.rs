//! The machine code of vector functions, written down apart from the decoder and from the float
//! functions' assembly text, so that a mix-up in either shows.

use lift::vector::FloatWidth::{self, F32, F64};
use lift::vector::IntegerWidth::I64;
use lift::vector::Signedness::{Signed, Unsigned};
use lift::vector::*;
use lift::{Size, VectorOp};

/// The instruction that applies `op` to xmm0 and xmm1 (integers: rax and rcx), if SSE2 has it.
pub fn encoding(op: VectorOp, imm: u8) -> Option<Vec<u8>> {
    // Both operands: xmm0 or rax, and xmm1 or rcx.
    const OPERANDS: u8 = 0xc1;
    let integer = |opcode: u8| Some(vec![0x66, 0x0f, opcode, OPERANDS]);
    let scalar_or_packed = |width, packed: bool, opcode: u8| {
        let mut bytes = prefix(width, packed);
        bytes.extend([0x0f, opcode, OPERANDS]);
        Some(bytes)
    };
    let with_immediate = |bytes: Option<Vec<u8>>, imm: u8| bytes.map(|bytes| [bytes, vec![imm]].concat());
    let later = |opcode: u8| Some(vec![0x66, 0x0f, 0x38, opcode, OPERANDS]);
    let later_immediate = |opcode: u8, imm: u8| Some(vec![0x66, 0x0f, 0x3a, opcode, OPERANDS, imm]);
    match op {
        VectorOp::Lanes(function, size) => match later_lane_opcode(function, size) {
            Some(opcode) => later(opcode),
            None => lane_opcode(function, size).and_then(integer),
        },
        VectorOp::Pairs(function, size) => match (function, size) {
            (LaneFunction::Add, Size::B2) => later(0x01),
            (LaneFunction::Add, Size::B4) => later(0x02),
            (LaneFunction::AddSaturating(Signed), Size::B2) => later(0x03),
            (LaneFunction::Sub, Size::B2) => later(0x05),
            (LaneFunction::Sub, Size::B4) => later(0x06),
            (LaneFunction::SubSaturating(Signed), Size::B2) => later(0x07),
            _ => None,
        },
        VectorOp::Absolute(size) => match size {
            Size::B1 => later(0x1c),
            Size::B2 => later(0x1d),
            Size::B4 => later(0x1e),
            Size::B8 => None,
        },
        VectorOp::MultiplyAddBytes => later(0x04),
        VectorOp::SlidingDifferences => later_immediate(0x42, imm),
        VectorOp::MinimumPosition => later(0x41),
        VectorOp::ShuffleBytes => later(0x00),
        VectorOp::Align => later_immediate(0x0f, imm),
        VectorOp::Blend(size) => match size {
            Size::B1 => None,
            Size::B2 => later_immediate(0x0e, imm),
            Size::B4 => later_immediate(0x0c, imm),
            Size::B8 => later_immediate(0x0d, imm),
        },
        VectorOp::Widen { from, to, signedness } => {
            let row = if signedness == Signed { 0x20 } else { 0x30 };
            later(
                row + match (from, to) {
                    (Size::B1, Size::B2) => 0,
                    (Size::B1, Size::B4) => 1,
                    (Size::B1, _) => 2,
                    (Size::B2, Size::B4) => 3,
                    (Size::B2, _) => 4,
                    _ => 5,
                },
            )
        }
        VectorOp::TestBits => later(0x17),
        VectorOp::Checksum(size) => Some(match size {
            Size::B1 => vec![0xf2, 0x0f, 0x38, 0xf0, OPERANDS],
            Size::B2 => vec![0x66, 0xf2, 0x0f, 0x38, 0xf1, OPERANDS],
            Size::B4 => vec![0xf2, 0x0f, 0x38, 0xf1, OPERANDS],
            Size::B8 => vec![0xf2, 0x48, 0x0f, 0x38, 0xf1, OPERANDS],
        }),
        VectorOp::FloatPairs { function, width } => {
            let first = if width == F32 { 0xf2 } else { 0x66 };
            let opcode = if function == PairFunction::Add { 0x7c } else { 0x7d };
            Some(vec![first, 0x0f, opcode, OPERANDS])
        }
        VectorOp::Bitwise(function) => integer(match function {
            BitwiseFunction::And => 0xdb,
            BitwiseFunction::AndNot => 0xdf,
            BitwiseFunction::Or => 0xeb,
            BitwiseFunction::Xor => 0xef,
        }),
        VectorOp::Shift(function, size, count) => {
            let group = match size {
                Size::B1 => return None,
                Size::B2 => 1,
                Size::B4 => 2,
                Size::B8 => 3,
            };
            let (extension, row) = match function {
                ShiftFunction::Right => (2, 0xd0),
                ShiftFunction::RightSigned if size == Size::B8 => return None,
                ShiftFunction::RightSigned => (4, 0xe0),
                ShiftFunction::Left => (6, 0xf0),
            };
            match count {
                ShiftCount::Immediate => Some(vec![0x66, 0x0f, 0x70 + group, 0xc0 | extension << 3, imm]),
                ShiftCount::Slot => integer(row + group),
            }
        }
        VectorOp::ShiftBytes(Direction::Right) => Some(vec![0x66, 0x0f, 0x73, 0xd8, imm]),
        VectorOp::ShiftBytes(Direction::Left) => Some(vec![0x66, 0x0f, 0x73, 0xf8, imm]),
        VectorOp::MultiplyEven(Unsigned) => integer(0xf4),
        VectorOp::MultiplyEven(Signed) => later(0x28),
        VectorOp::MultiplyAddPairs => integer(0xf5),
        VectorOp::SumDifferences => integer(0xf6),
        VectorOp::Unpack(half, size) => integer(match (half, size) {
            (Half::Low, Size::B1) => 0x60,
            (Half::Low, Size::B2) => 0x61,
            (Half::Low, Size::B4) => 0x62,
            (Half::Low, Size::B8) => 0x6c,
            (Half::High, Size::B1) => 0x68,
            (Half::High, Size::B2) => 0x69,
            (Half::High, Size::B4) => 0x6a,
            (Half::High, Size::B8) => 0x6d,
        }),
        VectorOp::Pack(PackFrom::Words, Signed) => integer(0x63),
        VectorOp::Pack(PackFrom::Words, Unsigned) => integer(0x67),
        VectorOp::Pack(PackFrom::Dwords, Signed) => integer(0x6b),
        VectorOp::Pack(PackFrom::Dwords, Unsigned) => later(0x2b),
        VectorOp::Shuffle(shuffle) => match shuffle {
            Shuffle::Dwords => with_immediate(integer(0x70), imm),
            Shuffle::Words(Half::Low) => with_immediate(Some(vec![0xf2, 0x0f, 0x70, OPERANDS]), imm),
            Shuffle::Words(Half::High) => with_immediate(Some(vec![0xf3, 0x0f, 0x70, OPERANDS]), imm),
            Shuffle::PairsOfDwords => with_immediate(scalar_or_packed(F32, true, 0xc6), imm),
            Shuffle::PairOfQwords => with_immediate(scalar_or_packed(F64, true, 0xc6), imm),
        },
        VectorOp::SignMask(Size::B1) => integer(0xd7),
        VectorOp::SignMask(Size::B2) => None,
        VectorOp::SignMask(Size::B4) => scalar_or_packed(F32, true, 0x50),
        VectorOp::SignMask(Size::B8) => scalar_or_packed(F64, true, 0x50),
        VectorOp::Float { function, width, packed } => match function {
            FloatFunction::Add => scalar_or_packed(width, packed, 0x58),
            FloatFunction::Mul => scalar_or_packed(width, packed, 0x59),
            FloatFunction::Sub => scalar_or_packed(width, packed, 0x5c),
            FloatFunction::Min => scalar_or_packed(width, packed, 0x5d),
            FloatFunction::Div => scalar_or_packed(width, packed, 0x5e),
            FloatFunction::Max => scalar_or_packed(width, packed, 0x5f),
            FloatFunction::Sqrt => scalar_or_packed(width, packed, 0x51),
            FloatFunction::SubAdd => Some(vec![if width == F32 { 0xf2 } else { 0x66 }, 0x0f, 0xd0, OPERANDS]),
            FloatFunction::Round { to, quiet } => {
                let opcode = match (width, packed) {
                    (F32, true) => 0x08,
                    (F64, true) => 0x09,
                    (F32, false) => 0x0a,
                    (F64, false) => 0x0b,
                };
                later_immediate(opcode, to as u8 | u8::from(quiet) << 3)
            }
            FloatFunction::Compare(predicate) => {
                with_immediate(scalar_or_packed(width, packed, 0xc2), predicate as u8)
            }
        },
        VectorOp::CompareFlags { width, signalling } => {
            scalar_or_packed(width, true, if signalling { 0x2f } else { 0x2e })
        }
        VectorOp::Convert(conversion) => Some(conversion_code(conversion)),
        VectorOp::Approximate { function: Approximation::Reciprocal, packed } => {
            scalar_or_packed(F32, packed, 0x53)
        }
        VectorOp::Approximate { function: Approximation::ReciprocalSqrt, packed } => {
            scalar_or_packed(F32, packed, 0x52)
        }
    }
}

fn prefix(width: FloatWidth, packed: bool) -> Vec<u8> {
    match (width, packed) {
        (F32, true) => vec![],
        (F64, true) => vec![0x66],
        (F32, false) => vec![0xf3],
        (F64, false) => vec![0xf2],
    }
}

fn lane_opcode(function: LaneFunction, size: Size) -> Option<u8> {
    use Size::{B1, B2, B4, B8};
    Some(match (function, size) {
        (LaneFunction::Add, B1) => 0xfc,
        (LaneFunction::Add, B2) => 0xfd,
        (LaneFunction::Add, B4) => 0xfe,
        (LaneFunction::Add, B8) => 0xd4,
        (LaneFunction::Sub, B1) => 0xf8,
        (LaneFunction::Sub, B2) => 0xf9,
        (LaneFunction::Sub, B4) => 0xfa,
        (LaneFunction::Sub, B8) => 0xfb,
        (LaneFunction::AddSaturating(Signed), B1) => 0xec,
        (LaneFunction::AddSaturating(Signed), B2) => 0xed,
        (LaneFunction::AddSaturating(Unsigned), B1) => 0xdc,
        (LaneFunction::AddSaturating(Unsigned), B2) => 0xdd,
        (LaneFunction::SubSaturating(Signed), B1) => 0xe8,
        (LaneFunction::SubSaturating(Signed), B2) => 0xe9,
        (LaneFunction::SubSaturating(Unsigned), B1) => 0xd8,
        (LaneFunction::SubSaturating(Unsigned), B2) => 0xd9,
        (LaneFunction::Equal, B1) => 0x74,
        (LaneFunction::Equal, B2) => 0x75,
        (LaneFunction::Equal, B4) => 0x76,
        (LaneFunction::GreaterSigned, B1) => 0x64,
        (LaneFunction::GreaterSigned, B2) => 0x65,
        (LaneFunction::GreaterSigned, B4) => 0x66,
        (LaneFunction::Min(Unsigned), B1) => 0xda,
        (LaneFunction::Max(Unsigned), B1) => 0xde,
        (LaneFunction::Min(Signed), B2) => 0xea,
        (LaneFunction::Max(Signed), B2) => 0xee,
        (LaneFunction::Average, B1) => 0xe0,
        (LaneFunction::Average, B2) => 0xe3,
        (LaneFunction::MultiplyLow, B2) => 0xd5,
        (LaneFunction::MultiplyHigh(Unsigned), B2) => 0xe4,
        (LaneFunction::MultiplyHigh(Signed), B2) => 0xe5,
        _ => return None,
    })
}

/// Behind 66 0f 38.
fn later_lane_opcode(function: LaneFunction, size: Size) -> Option<u8> {
    use Size::{B1, B2, B4, B8};
    Some(match (function, size) {
        (LaneFunction::Equal, B8) => 0x29,
        (LaneFunction::GreaterSigned, B8) => 0x37,
        (LaneFunction::Min(Signed), B1) => 0x38,
        (LaneFunction::Min(Signed), B4) => 0x39,
        (LaneFunction::Min(Unsigned), B2) => 0x3a,
        (LaneFunction::Min(Unsigned), B4) => 0x3b,
        (LaneFunction::Max(Signed), B1) => 0x3c,
        (LaneFunction::Max(Signed), B4) => 0x3d,
        (LaneFunction::Max(Unsigned), B2) => 0x3e,
        (LaneFunction::Max(Unsigned), B4) => 0x3f,
        (LaneFunction::MultiplyLow, B4) => 0x40,
        (LaneFunction::MultiplyRounded, B2) => 0x0b,
        (LaneFunction::Sign, B1) => 0x08,
        (LaneFunction::Sign, B2) => 0x09,
        (LaneFunction::Sign, B4) => 0x0a,
        _ => return None,
    })
}

fn conversion_code(conversion: Conversion) -> Vec<u8> {
    let (mut bytes, wide, opcode) = match conversion {
        Conversion::IntegerToScalar { from, to } => (prefix(to, false), from == I64, 0x2a),
        Conversion::ScalarToInteger { from, to, truncate } => {
            (prefix(from, false), to == I64, if truncate { 0x2c } else { 0x2d })
        }
        Conversion::ScalarTo(F64) => (prefix(F32, false), false, 0x5a),
        Conversion::ScalarTo(F32) => (prefix(F64, false), false, 0x5a),
        Conversion::PackedTo(F64) => (prefix(F32, true), false, 0x5a),
        Conversion::PackedTo(F32) => (prefix(F64, true), false, 0x5a),
        Conversion::IntegersToPacked(F32) => (vec![], false, 0x5b),
        Conversion::IntegersToPacked(F64) => (vec![0xf3], false, 0xe6),
        Conversion::PackedToIntegers { from: F32, truncate: false } => (vec![0x66], false, 0x5b),
        Conversion::PackedToIntegers { from: F32, truncate: true } => (vec![0xf3], false, 0x5b),
        Conversion::PackedToIntegers { from: F64, truncate: false } => (vec![0xf2], false, 0xe6),
        Conversion::PackedToIntegers { from: F64, truncate: true } => (vec![0x66], false, 0xe6),
    };
    if wide {
        bytes.push(0x48);
    }
    bytes.extend([0x0f, opcode, 0xc1]);
    bytes
}
