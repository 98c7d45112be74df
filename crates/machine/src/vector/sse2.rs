//! Integer functions by the host's own vector instructions. Every x86-64 processor has them, and
//! they give the same result on each. The compiler does not find them by itself in the plain
//! functions of `lanes`, which remain the meaning that these are tested against.

use super::PureCall;
use lift::vector::Signedness::{Signed, Unsigned};
use lift::vector::{Half, LaneFunction, PackFrom, ShiftCount, ShiftFunction};
use lift::{Size, VectorOp};
use std::arch::x86_64::*;

/// The function that computes `op`, where one instruction does.
pub fn function_for(op: VectorOp) -> Option<PureCall> {
    use Size::{B1, B2, B4, B8};
    /// An instruction of two vectors.
    macro_rules! binary {
        ($intrinsic:ident) => {
            // SAFETY: SSE2 is part of x86-64.
            |a, b, _| leave(unsafe { $intrinsic(enter(a), enter(b)) })
        };
    }
    Some(match op {
        VectorOp::Lanes(function, size) => match (function, size) {
            (LaneFunction::Add, B1) => binary!(_mm_add_epi8),
            (LaneFunction::Add, B2) => binary!(_mm_add_epi16),
            (LaneFunction::Add, B4) => binary!(_mm_add_epi32),
            (LaneFunction::Add, B8) => binary!(_mm_add_epi64),
            (LaneFunction::Sub, B1) => binary!(_mm_sub_epi8),
            (LaneFunction::Sub, B2) => binary!(_mm_sub_epi16),
            (LaneFunction::Sub, B4) => binary!(_mm_sub_epi32),
            (LaneFunction::Sub, B8) => binary!(_mm_sub_epi64),
            (LaneFunction::AddSaturating(Signed), B1) => binary!(_mm_adds_epi8),
            (LaneFunction::AddSaturating(Signed), B2) => binary!(_mm_adds_epi16),
            (LaneFunction::AddSaturating(Unsigned), B1) => binary!(_mm_adds_epu8),
            (LaneFunction::AddSaturating(Unsigned), B2) => binary!(_mm_adds_epu16),
            (LaneFunction::SubSaturating(Signed), B1) => binary!(_mm_subs_epi8),
            (LaneFunction::SubSaturating(Signed), B2) => binary!(_mm_subs_epi16),
            (LaneFunction::SubSaturating(Unsigned), B1) => binary!(_mm_subs_epu8),
            (LaneFunction::SubSaturating(Unsigned), B2) => binary!(_mm_subs_epu16),
            (LaneFunction::Equal, B1) => binary!(_mm_cmpeq_epi8),
            (LaneFunction::Equal, B2) => binary!(_mm_cmpeq_epi16),
            (LaneFunction::Equal, B4) => binary!(_mm_cmpeq_epi32),
            (LaneFunction::GreaterSigned, B1) => binary!(_mm_cmpgt_epi8),
            (LaneFunction::GreaterSigned, B2) => binary!(_mm_cmpgt_epi16),
            (LaneFunction::GreaterSigned, B4) => binary!(_mm_cmpgt_epi32),
            (LaneFunction::Min(Unsigned), B1) => binary!(_mm_min_epu8),
            (LaneFunction::Max(Unsigned), B1) => binary!(_mm_max_epu8),
            (LaneFunction::Min(Signed), B2) => binary!(_mm_min_epi16),
            (LaneFunction::Max(Signed), B2) => binary!(_mm_max_epi16),
            (LaneFunction::Average, B1) => binary!(_mm_avg_epu8),
            (LaneFunction::Average, B2) => binary!(_mm_avg_epu16),
            (LaneFunction::MultiplyLow, B2) => binary!(_mm_mullo_epi16),
            (LaneFunction::MultiplyHigh(Signed), B2) => binary!(_mm_mulhi_epi16),
            (LaneFunction::MultiplyHigh(Unsigned), B2) => binary!(_mm_mulhi_epu16),
            _ => return None,
        },
        VectorOp::Shift(function, size, count) => return shift(function, size, count),
        VectorOp::MultiplyEven(Unsigned) => binary!(_mm_mul_epu32),
        VectorOp::MultiplyAddPairs => binary!(_mm_madd_epi16),
        VectorOp::SumDifferences => binary!(_mm_sad_epu8),
        VectorOp::Unpack(half, size) => match (half, size) {
            (Half::Low, B1) => binary!(_mm_unpacklo_epi8),
            (Half::Low, B2) => binary!(_mm_unpacklo_epi16),
            (Half::Low, B4) => binary!(_mm_unpacklo_epi32),
            (Half::Low, B8) => binary!(_mm_unpacklo_epi64),
            (Half::High, B1) => binary!(_mm_unpackhi_epi8),
            (Half::High, B2) => binary!(_mm_unpackhi_epi16),
            (Half::High, B4) => binary!(_mm_unpackhi_epi32),
            (Half::High, B8) => binary!(_mm_unpackhi_epi64),
        },
        VectorOp::Pack(PackFrom::Words, Signed) => binary!(_mm_packs_epi16),
        VectorOp::Pack(PackFrom::Words, Unsigned) => binary!(_mm_packus_epi16),
        VectorOp::Pack(PackFrom::Dwords, Signed) => binary!(_mm_packs_epi32),
        // SAFETY: SSE2 is part of x86-64.
        VectorOp::SignMask(B1) => |_, b, _| unsafe { _mm_movemask_epi8(enter(b)) } as u128,
        _ => return None,
    })
}

fn shift(function: ShiftFunction, size: Size, count: ShiftCount) -> Option<PureCall> {
    use ShiftCount::{Immediate, Slot};
    macro_rules! shift {
        ($intrinsic:ident) => {
            match count {
                // SAFETY: SSE2 is part of x86-64.
                Immediate => |a, _, imm| leave(unsafe { $intrinsic(enter(a), enter(imm.into())) }),
                Slot => |a, b, _| leave(unsafe { $intrinsic(enter(a), enter(b)) }),
            }
        };
    }
    Some(match (function, size) {
        (ShiftFunction::Left, Size::B2) => shift!(_mm_sll_epi16),
        (ShiftFunction::Left, Size::B4) => shift!(_mm_sll_epi32),
        (ShiftFunction::Left, Size::B8) => shift!(_mm_sll_epi64),
        (ShiftFunction::Right, Size::B2) => shift!(_mm_srl_epi16),
        (ShiftFunction::Right, Size::B4) => shift!(_mm_srl_epi32),
        (ShiftFunction::Right, Size::B8) => shift!(_mm_srl_epi64),
        (ShiftFunction::RightSigned, Size::B2) => shift!(_mm_sra_epi16),
        (ShiftFunction::RightSigned, Size::B4) => shift!(_mm_sra_epi32),
        _ => return None,
    })
}

#[inline(always)]
fn enter(value: u128) -> __m128i {
    // SAFETY: both are 16 plain bytes.
    unsafe { std::mem::transmute::<u128, __m128i>(value) }
}

#[inline(always)]
fn leave(value: __m128i) -> u128 {
    // SAFETY: both are 16 plain bytes.
    unsafe { std::mem::transmute::<__m128i, u128>(value) }
}
