//! Which function of the table an instruction applies.

use crate::vector::Signedness::{Signed, Unsigned};
use crate::vector::{
    Approximation, BitwiseFunction, Conversion, Direction, FloatFunction, FloatWidth, Half, IntegerWidth,
    LaneFunction, PackFrom, PairFunction, Predicate, Rounding, ShiftCount, ShiftFunction, Shuffle,
    Signedness,
};
use crate::{Size, VectorOp};
use FloatWidth::{F32, F64};
use iced_x86::{Instruction, Mnemonic, OpKind};

/// The function that `instruction` applies, if it is one of SSE to SSE4.2 that does.
pub(super) fn function_of(instruction: &Instruction) -> Option<VectorOp> {
    integer(instruction)
        .or_else(|| later_integer(instruction.mnemonic()))
        .or_else(|| float(instruction))
        .or_else(|| later_float(instruction))
        .or_else(|| conversion(instruction).map(VectorOp::Convert))
}

fn integer(instruction: &Instruction) -> Option<VectorOp> {
    use LaneFunction::*;
    use Mnemonic::*;
    use Size::{B1, B2, B4, B8};
    let lanes = |function, size| Some(VectorOp::Lanes(function, size));
    let shift = |function, size| {
        let immediate = instruction.op1_kind() == OpKind::Immediate8;
        let count = if immediate { ShiftCount::Immediate } else { ShiftCount::Slot };
        Some(VectorOp::Shift(function, size, count))
    };
    match instruction.mnemonic() {
        Paddb => lanes(LaneFunction::Add, B1),
        Paddw => lanes(LaneFunction::Add, B2),
        Paddd => lanes(LaneFunction::Add, B4),
        Paddq => lanes(LaneFunction::Add, B8),
        Psubb => lanes(LaneFunction::Sub, B1),
        Psubw => lanes(LaneFunction::Sub, B2),
        Psubd => lanes(LaneFunction::Sub, B4),
        Psubq => lanes(LaneFunction::Sub, B8),
        Paddsb => lanes(AddSaturating(Signed), B1),
        Paddsw => lanes(AddSaturating(Signed), B2),
        Paddusb => lanes(AddSaturating(Unsigned), B1),
        Paddusw => lanes(AddSaturating(Unsigned), B2),
        Psubsb => lanes(SubSaturating(Signed), B1),
        Psubsw => lanes(SubSaturating(Signed), B2),
        Psubusb => lanes(SubSaturating(Unsigned), B1),
        Psubusw => lanes(SubSaturating(Unsigned), B2),
        Pcmpeqb => lanes(Equal, B1),
        Pcmpeqw => lanes(Equal, B2),
        Pcmpeqd => lanes(Equal, B4),
        Pcmpgtb => lanes(GreaterSigned, B1),
        Pcmpgtw => lanes(GreaterSigned, B2),
        Pcmpgtd => lanes(GreaterSigned, B4),
        Pminub => lanes(Min(Unsigned), B1),
        Pmaxub => lanes(Max(Unsigned), B1),
        Pminsw => lanes(Min(Signed), B2),
        Pmaxsw => lanes(Max(Signed), B2),
        Pavgb => lanes(Average, B1),
        Pavgw => lanes(Average, B2),
        Pmullw => lanes(MultiplyLow, B2),
        Pmulhw => lanes(MultiplyHigh(Signed), B2),
        Pmulhuw => lanes(MultiplyHigh(Unsigned), B2),
        Pmuludq => Some(VectorOp::MultiplyEven(Unsigned)),
        Pmaddwd => Some(VectorOp::MultiplyAddPairs),
        Psadbw => Some(VectorOp::SumDifferences),
        Pand | Andps | Andpd => Some(VectorOp::Bitwise(BitwiseFunction::And)),
        Pandn | Andnps | Andnpd => Some(VectorOp::Bitwise(BitwiseFunction::AndNot)),
        Por | Orps | Orpd => Some(VectorOp::Bitwise(BitwiseFunction::Or)),
        Pxor | Xorps | Xorpd => Some(VectorOp::Bitwise(BitwiseFunction::Xor)),
        Psllw => shift(ShiftFunction::Left, B2),
        Pslld => shift(ShiftFunction::Left, B4),
        Psllq => shift(ShiftFunction::Left, B8),
        Psrlw => shift(ShiftFunction::Right, B2),
        Psrld => shift(ShiftFunction::Right, B4),
        Psrlq => shift(ShiftFunction::Right, B8),
        Psraw => shift(ShiftFunction::RightSigned, B2),
        Psrad => shift(ShiftFunction::RightSigned, B4),
        Pslldq => Some(VectorOp::ShiftBytes(Direction::Left)),
        Psrldq => Some(VectorOp::ShiftBytes(Direction::Right)),
        Punpcklbw => Some(VectorOp::Unpack(Half::Low, B1)),
        Punpcklwd => Some(VectorOp::Unpack(Half::Low, B2)),
        Punpckldq | Unpcklps => Some(VectorOp::Unpack(Half::Low, B4)),
        Punpcklqdq | Unpcklpd => Some(VectorOp::Unpack(Half::Low, B8)),
        Punpckhbw => Some(VectorOp::Unpack(Half::High, B1)),
        Punpckhwd => Some(VectorOp::Unpack(Half::High, B2)),
        Punpckhdq | Unpckhps => Some(VectorOp::Unpack(Half::High, B4)),
        Punpckhqdq | Unpckhpd => Some(VectorOp::Unpack(Half::High, B8)),
        Packsswb => Some(VectorOp::Pack(PackFrom::Words, Signed)),
        Packuswb => Some(VectorOp::Pack(PackFrom::Words, Unsigned)),
        Packssdw => Some(VectorOp::Pack(PackFrom::Dwords, Signed)),
        Pshufd => Some(VectorOp::Shuffle(Shuffle::Dwords)),
        Pshuflw => Some(VectorOp::Shuffle(Shuffle::Words(Half::Low))),
        Pshufhw => Some(VectorOp::Shuffle(Shuffle::Words(Half::High))),
        Shufps => Some(VectorOp::Shuffle(Shuffle::PairsOfDwords)),
        Shufpd => Some(VectorOp::Shuffle(Shuffle::PairOfQwords)),
        Pmovmskb => Some(VectorOp::SignMask(B1)),
        Movmskps => Some(VectorOp::SignMask(B4)),
        Movmskpd => Some(VectorOp::SignMask(B8)),
        _ => None,
    }
}

fn float(instruction: &Instruction) -> Option<VectorOp> {
    use FloatFunction::*;
    use Mnemonic::*;
    let scalar = |function, width| Some(VectorOp::Float { function, width, packed: false });
    let packed = |function, width| Some(VectorOp::Float { function, width, packed: true });
    // The upper bits of the immediate are ignored.
    let compare = || Compare(Predicate::ALL[usize::from(instruction.immediate8() & 7)]);
    match instruction.mnemonic() {
        Addss => scalar(FloatFunction::Add, F32),
        Addsd => scalar(FloatFunction::Add, F64),
        Addps => packed(FloatFunction::Add, F32),
        Addpd => packed(FloatFunction::Add, F64),
        Subss => scalar(FloatFunction::Sub, F32),
        Subsd => scalar(FloatFunction::Sub, F64),
        Subps => packed(FloatFunction::Sub, F32),
        Subpd => packed(FloatFunction::Sub, F64),
        Mulss => scalar(FloatFunction::Mul, F32),
        Mulsd => scalar(FloatFunction::Mul, F64),
        Mulps => packed(FloatFunction::Mul, F32),
        Mulpd => packed(FloatFunction::Mul, F64),
        Divss => scalar(FloatFunction::Div, F32),
        Divsd => scalar(FloatFunction::Div, F64),
        Divps => packed(FloatFunction::Div, F32),
        Divpd => packed(FloatFunction::Div, F64),
        Minss => scalar(Min, F32),
        Minsd => scalar(Min, F64),
        Minps => packed(Min, F32),
        Minpd => packed(Min, F64),
        Maxss => scalar(Max, F32),
        Maxsd => scalar(Max, F64),
        Maxps => packed(Max, F32),
        Maxpd => packed(Max, F64),
        Sqrtss => scalar(Sqrt, F32),
        Sqrtsd => scalar(Sqrt, F64),
        Sqrtps => packed(Sqrt, F32),
        Sqrtpd => packed(Sqrt, F64),
        Cmpss => scalar(compare(), F32),
        Cmpsd => scalar(compare(), F64),
        Cmpps => packed(compare(), F32),
        Cmppd => packed(compare(), F64),
        Ucomiss => Some(VectorOp::CompareFlags { width: F32, signalling: false }),
        Ucomisd => Some(VectorOp::CompareFlags { width: F64, signalling: false }),
        Comiss => Some(VectorOp::CompareFlags { width: F32, signalling: true }),
        Comisd => Some(VectorOp::CompareFlags { width: F64, signalling: true }),
        Rcpss => Some(VectorOp::Approximate { function: Approximation::Reciprocal, packed: false }),
        Rcpps => Some(VectorOp::Approximate { function: Approximation::Reciprocal, packed: true }),
        Rsqrtss => Some(VectorOp::Approximate { function: Approximation::ReciprocalSqrt, packed: false }),
        Rsqrtps => Some(VectorOp::Approximate { function: Approximation::ReciprocalSqrt, packed: true }),
        _ => None,
    }
}

/// Integer functions of SSSE3 to SSE4.2.
fn later_integer(mnemonic: Mnemonic) -> Option<VectorOp> {
    use LaneFunction::*;
    use Mnemonic::*;
    use Size::{B1, B2, B4, B8};
    let lanes = |function, size| Some(VectorOp::Lanes(function, size));
    let pairs = |function, size| Some(VectorOp::Pairs(function, size));
    let widen = |from, to, signedness: Signedness| Some(VectorOp::Widen { from, to, signedness });
    match mnemonic {
        Pcmpeqq => lanes(Equal, B8),
        Pcmpgtq => lanes(GreaterSigned, B8),
        Pminsb => lanes(Min(Signed), B1),
        Pminsd => lanes(Min(Signed), B4),
        Pminuw => lanes(Min(Unsigned), B2),
        Pminud => lanes(Min(Unsigned), B4),
        Pmaxsb => lanes(Max(Signed), B1),
        Pmaxsd => lanes(Max(Signed), B4),
        Pmaxuw => lanes(Max(Unsigned), B2),
        Pmaxud => lanes(Max(Unsigned), B4),
        Pmulld => lanes(MultiplyLow, B4),
        Pmulhrsw => lanes(MultiplyRounded, B2),
        Psignb => lanes(LaneFunction::Sign, B1),
        Psignw => lanes(LaneFunction::Sign, B2),
        Psignd => lanes(LaneFunction::Sign, B4),
        Phaddw => pairs(LaneFunction::Add, B2),
        Phaddd => pairs(LaneFunction::Add, B4),
        Phaddsw => pairs(AddSaturating(Signed), B2),
        Phsubw => pairs(LaneFunction::Sub, B2),
        Phsubd => pairs(LaneFunction::Sub, B4),
        Phsubsw => pairs(SubSaturating(Signed), B2),
        Pabsb => Some(VectorOp::Absolute(B1)),
        Pabsw => Some(VectorOp::Absolute(B2)),
        Pabsd => Some(VectorOp::Absolute(B4)),
        Pmuldq => Some(VectorOp::MultiplyEven(Signed)),
        Pmaddubsw => Some(VectorOp::MultiplyAddBytes),
        Mpsadbw => Some(VectorOp::SlidingDifferences),
        Phminposuw => Some(VectorOp::MinimumPosition),
        Packusdw => Some(VectorOp::Pack(PackFrom::Dwords, Unsigned)),
        Pshufb => Some(VectorOp::ShuffleBytes),
        Palignr => Some(VectorOp::Align),
        Pblendw => Some(VectorOp::Blend(B2)),
        Blendps => Some(VectorOp::Blend(B4)),
        Blendpd => Some(VectorOp::Blend(B8)),
        Ptest => Some(VectorOp::TestBits),
        Pmovsxbw => widen(B1, B2, Signed),
        Pmovsxbd => widen(B1, B4, Signed),
        Pmovsxbq => widen(B1, B8, Signed),
        Pmovsxwd => widen(B2, B4, Signed),
        Pmovsxwq => widen(B2, B8, Signed),
        Pmovsxdq => widen(B4, B8, Signed),
        Pmovzxbw => widen(B1, B2, Unsigned),
        Pmovzxbd => widen(B1, B4, Unsigned),
        Pmovzxbq => widen(B1, B8, Unsigned),
        Pmovzxwd => widen(B2, B4, Unsigned),
        Pmovzxwq => widen(B2, B8, Unsigned),
        Pmovzxdq => widen(B4, B8, Unsigned),
        _ => None,
    }
}

/// Float functions of SSE3 and SSE4.1.
fn later_float(instruction: &Instruction) -> Option<VectorOp> {
    use Mnemonic::*;
    let pairs = |function, width| Some(VectorOp::FloatPairs { function, width });
    let sub_add = |width| Some(VectorOp::Float { function: FloatFunction::SubAdd, width, packed: true });
    let round = |width, packed| {
        let imm = instruction.immediate8();
        let to = match imm & 7 {
            0 => Rounding::Nearest,
            1 => Rounding::Down,
            2 => Rounding::Up,
            3 => Rounding::Zero,
            _ => Rounding::Current,
        };
        let function = FloatFunction::Round { to, quiet: imm & 8 != 0 };
        Some(VectorOp::Float { function, width, packed })
    };
    match instruction.mnemonic() {
        Addsubps => sub_add(F32),
        Addsubpd => sub_add(F64),
        Haddps => pairs(PairFunction::Add, F32),
        Haddpd => pairs(PairFunction::Add, F64),
        Hsubps => pairs(PairFunction::Sub, F32),
        Hsubpd => pairs(PairFunction::Sub, F64),
        Roundss => round(F32, false),
        Roundsd => round(F64, false),
        Roundps => round(F32, true),
        Roundpd => round(F64, true),
        _ => None,
    }
}

fn conversion(instruction: &Instruction) -> Option<Conversion> {
    use Conversion::*;
    use Mnemonic::*;
    let from_integer = |to| Some(IntegerToScalar { from: integer_width(instruction, 1), to });
    let to_integer =
        |from, truncate| Some(ScalarToInteger { from, to: integer_width(instruction, 0), truncate });
    match instruction.mnemonic() {
        Cvtsi2ss => from_integer(F32),
        Cvtsi2sd => from_integer(F64),
        Cvtss2si => to_integer(F32, false),
        Cvttss2si => to_integer(F32, true),
        Cvtsd2si => to_integer(F64, false),
        Cvttsd2si => to_integer(F64, true),
        Cvtsd2ss => Some(ScalarTo(F32)),
        Cvtss2sd => Some(ScalarTo(F64)),
        Cvtpd2ps => Some(PackedTo(F32)),
        Cvtps2pd => Some(PackedTo(F64)),
        Cvtdq2ps => Some(IntegersToPacked(F32)),
        Cvtdq2pd => Some(IntegersToPacked(F64)),
        Cvtps2dq => Some(PackedToIntegers { from: F32, truncate: false }),
        Cvttps2dq => Some(PackedToIntegers { from: F32, truncate: true }),
        Cvtpd2dq => Some(PackedToIntegers { from: F64, truncate: false }),
        Cvttpd2dq => Some(PackedToIntegers { from: F64, truncate: true }),
        _ => None,
    }
}

fn integer_width(instruction: &Instruction, operand: u32) -> IntegerWidth {
    let bytes = match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand).size(),
        _ => instruction.memory_size().size(),
    };
    if bytes == 8 { IntegerWidth::I64 } else { IntegerWidth::I32 }
}
