//! Which bits of a vector function's result depend on undefined bits of its operands.

use crate::vector;
use lift::flags::{CF, OF, PF, SF, ZF};
use lift::vector::{BitwiseFunction, LaneFunction, ShiftCount, Signedness, VectorOperand, VectorResult};
use lift::{Size, StringResult, VectorOp};

/// A vector, and which of its bits are undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wide {
    pub value: u128,
    pub undefined: u128,
}

impl Wide {
    /// As much of it as an operand of this kind reads.
    pub fn read_as(self, operand: VectorOperand) -> Wide {
        let mask = match operand {
            VectorOperand::None => 0,
            VectorOperand::Slot(size) => u128::from(size.mask()),
            VectorOperand::Vector => u128::MAX,
        };
        Wide { value: self.value & mask, undefined: self.undefined & mask }
    }
}

/// The undefined bits of the result; `same` says that both operands are the same register.
pub fn function(op: VectorOp, a: Wide, b: Wide, imm: u8, same: bool) -> u128 {
    if a.undefined | b.undefined == 0 {
        return 0;
    }
    match op {
        VectorOp::Bitwise(BitwiseFunction::Xor | BitwiseFunction::AndNot) if same => 0,
        VectorOp::Lanes(LaneFunction::Sub | LaneFunction::Equal | LaneFunction::GreaterSigned, _) if same => {
            0
        }
        VectorOp::Bitwise(function) => bitwise(function, a, b),
        // They move bits about, so that they do the same with what is known of them.
        VectorOp::Shift(_, size, ShiftCount::Slot) if b.undefined != 0 => by_lanes(size, |_| true),
        VectorOp::Shift(..) => moved(op, a.undefined, b.value, imm),
        VectorOp::ShiftBytes(_)
        | VectorOp::Unpack(..)
        | VectorOp::Shuffle(_)
        | VectorOp::Align
        | VectorOp::Blend(_)
        | VectorOp::Widen { .. }
        | VectorOp::SignMask(_) => moved(op, a.undefined, b.undefined, imm),
        VectorOp::ShuffleBytes => {
            let unknown = by_lanes(Size::B1, |lane| lane_of(b.undefined, Size::B1, lane) != 0);
            moved(op, a.undefined, b.value, imm) | unknown
        }
        VectorOp::Lanes(function, size) => lanes(function, size, a, b),
        VectorOp::TestBits => {
            let in_common = Wide { value: b.value & a.value, undefined: and(a, b) };
            let not_a = Wide { value: !a.value, undefined: a.undefined };
            let beyond = Wide { value: b.value & !a.value, undefined: and(not_a, b) };
            u128::from(flag_if(ZF, in_common) | flag_if(CF, beyond))
        }
        VectorOp::Pairs(..)
        | VectorOp::Absolute(_)
        | VectorOp::MultiplyEven(_)
        | VectorOp::MultiplyAddBytes
        | VectorOp::MultiplyAddPairs
        | VectorOp::SumDifferences
        | VectorOp::SlidingDifferences
        | VectorOp::MinimumPosition
        | VectorOp::Pack(..)
        | VectorOp::Checksum(_)
        | VectorOp::Float { .. }
        | VectorOp::FloatPairs { .. }
        | VectorOp::CompareFlags { .. }
        | VectorOp::Convert(_)
        | VectorOp::Approximate { .. } => by_bytes(op, a.undefined, b.undefined, imm),
    }
}

/// A flag that tells whether there is no bit in what may have some.
fn flag_if(flag: u64, bits: Wide) -> u64 {
    if bits.undefined != 0 && bits.value & !bits.undefined == 0 { flag } else { 0 }
}

fn and(a: Wide, b: Wide) -> u128 {
    a.undefined & b.undefined | a.undefined & b.value | b.undefined & a.value
}

fn bitwise(function: BitwiseFunction, a: Wide, b: Wide) -> u128 {
    match function {
        BitwiseFunction::And => and(a, b),
        BitwiseFunction::AndNot => and(Wide { value: !a.value, undefined: a.undefined }, b),
        BitwiseFunction::Or => a.undefined & b.undefined | a.undefined & !b.value | b.undefined & !a.value,
        BitwiseFunction::Xor => a.undefined | b.undefined,
    }
}

/// What a function that only moves bits makes of these.
fn moved(op: VectorOp, a: u128, b: u128, imm: u8) -> u128 {
    // None of these looks at MXCSR, or faults.
    vector::execute(op, a, b, imm, &mut 0).unwrap_or(u128::MAX)
}

/// A lane, as a number.
fn lane_of(value: u128, size: Size, lane: u32) -> u64 {
    (value >> (lane * size.bits())) as u64 & size.mask()
}

/// All bits of the lanes for which `is_undefined`.
fn by_lanes(size: Size, is_undefined: impl Fn(u32) -> bool) -> u128 {
    let lanes = (0..128 / size.bits()).filter(|&lane| is_undefined(lane));
    lanes.fold(0, |mask, lane| mask | u128::from(size.mask()) << (lane * size.bits()))
}

fn lanes(function: LaneFunction, size: Size, a: Wide, b: Wide) -> u128 {
    use super::integer::{Bits, difference, sum};
    let bits = |wide: Wide, lane: u32| Bits {
        value: lane_of(wide.value, size, lane),
        undefined: lane_of(wide.undefined, size, lane),
    };
    let each = |rule: &dyn Fn(Bits, Bits) -> u64| {
        (0..128 / size.bits()).fold(0, |mask, lane| {
            let (a, b) = (bits(a, lane), bits(b, lane));
            let undefined = if a.undefined | b.undefined == 0 { 0 } else { rule(a, b) & size.mask() };
            mask | u128::from(undefined) << (lane * size.bits())
        })
    };
    let biased = |bits: Bits, signedness| match signedness {
        Signedness::Signed => bits.biased(size),
        Signedness::Unsigned => bits,
    };
    let is_above = |a: Bits, b: Bits| a.least() > b.greatest() || a.greatest() <= b.least();
    match function {
        LaneFunction::Add => each(&|a, b| sum(size, a, b, Bits::default())),
        LaneFunction::Sub => each(&|a, b| difference(size, a, b, Bits::default())),
        // A known difference decides.
        LaneFunction::Equal => each(&|a, b| {
            let undefined = a.undefined | b.undefined;
            if (a.value ^ b.value) & !undefined != 0 { 0 } else { size.mask() }
        }),
        LaneFunction::GreaterSigned => each(&|a, b| {
            if is_above(a.biased(size), b.biased(size)) { 0 } else { size.mask() }
        }),
        LaneFunction::Min(signedness) | LaneFunction::Max(signedness) => each(&|a, b| {
            let takes_a = matches!(function, LaneFunction::Max(_));
            let (above, below) = (biased(a, signedness), biased(b, signedness));
            match is_above(above, below) {
                true if (above.least() > below.greatest()) == takes_a => a.undefined,
                true => b.undefined,
                false => size.mask(),
            }
        }),
        LaneFunction::AddSaturating(_)
        | LaneFunction::SubSaturating(_)
        | LaneFunction::Average
        | LaneFunction::MultiplyLow
        | LaneFunction::MultiplyHigh(_)
        | LaneFunction::MultiplyRounded
        | LaneFunction::Sign => each(&|_, _| size.mask()),
    }
}

/// Each byte of the result is undefined as a whole if one that it depends on has an undefined bit.
fn by_bytes(op: VectorOp, a: u128, b: u128, imm: u8) -> u128 {
    let undefined_bytes = |value: u128| {
        (0..16).filter(|&byte| value >> (8 * byte) & 0xff != 0).fold(0u16, |mask, byte| mask | 1 << byte)
    };
    let (a, b) = (undefined_bytes(a), undefined_bytes(b));
    let bytes = (0..16u8).filter(|&byte| {
        let dependence = op.dependence(imm, byte);
        dependence.a & a | dependence.b & b != 0
    });
    let mask = bytes.fold(0u128, |mask, byte| mask | 0xff << (8 * u32::from(byte)));
    match op.result() {
        VectorResult::Flags if mask != 0 => u128::from(CF | PF | ZF),
        _ => mask,
    }
}

/// One string of a comparison: its elements, and its length if that is given.
#[derive(Clone, Copy)]
pub struct Text {
    pub elements: Wide,
    pub length: Option<super::integer::Bits>,
}

/// What is undefined of the result of [`lift::Op::CompareStrings`].
pub fn strings(result: StringResult, a: Text, b: Text, imm: u8) -> u128 {
    let is_given = |text: &Text| text.length.is_some();
    if [a, b].iter().any(|text| text.length.is_some_and(|length| !length.is_defined())) {
        return everything(result);
    }
    let size = if imm & 1 == 0 { Size::B1 } else { Size::B2 };
    let count = 128 / size.bits();
    let (unknown_a, unknown_b) = (relevant(&a, size), relevant(&b, size));
    if unknown_a | unknown_b == 0 {
        return 0;
    }
    let has_zero = |text: &Text| {
        let known_zero = |lane| {
            let of = |value| lane_of(value, size, lane);
            of(text.elements.value) == 0 && of(text.elements.undefined) == 0
        };
        (0..count).any(known_zero)
    };
    let length = |text: &Text| text.length.map(|length| length.value);
    let values = ((a.elements.value, length(&a)), (b.elements.value, length(&b)));
    let first = vector::strings::compare(StringResult::Index, values.0, values.1, imm & !0x40) as u32;
    // Bit k of the comparison depends on elements of `b` up to k; of `a` likewise, or on all of them; in a search for a
    // part of a text, on all of both.
    let (each, ordered) = (imm >> 2 & 3 == 2, imm >> 2 & 3 == 3);
    let up_to_first = |unknown: u32| unknown & (u32::MAX >> (31 - first.min(31))) == 0;
    let decided = first < count
        && !ordered
        && up_to_first(unknown_b)
        && if each { up_to_first(unknown_a) } else { unknown_a == 0 };
    match result {
        StringResult::Index if decided && imm & 0x40 == 0 => 0,
        StringResult::Flags => {
            let ends = |flag: u64, text: &Text, unknown: u32| {
                let is_known = is_given(text) || has_zero(text) || unknown == 0;
                if is_known { 0 } else { flag }
            };
            let found = if decided { 0 } else { CF | OF };
            u128::from(found | ends(ZF, &b, unknown_b) | ends(SF, &a, unknown_a))
        }
        StringResult::Index | StringResult::Mask => everything(result),
    }
}

fn everything(result: StringResult) -> u128 {
    match result {
        StringResult::Index => 0x1f,
        StringResult::Mask => u128::MAX,
        StringResult::Flags => u128::from(CF | ZF | SF | OF),
    }
}

/// The elements, as bits, that are undefined and lie before a known end of the string.
fn relevant(text: &Text, size: Size) -> u32 {
    let count = 128 / size.bits();
    let unknown = (0..count).filter(|&lane| lane_of(text.elements.undefined, size, lane) != 0);
    let unknown = unknown.fold(0u32, |mask, lane| mask | 1 << lane);
    let end = match text.length {
        Some(length) => (length.value as i64).unsigned_abs().min(u64::from(count)) as u32,
        None => {
            let is_zero = |lane: &u32| lane_of(text.elements.value, size, *lane) == 0;
            // An end that may be none is no end; what is undefined before it may be one itself.
            (0..count).find(|lane| is_zero(lane) && unknown >> lane & 1 == 0).unwrap_or(count)
        }
    };
    unknown & ((1u32 << end) - 1)
}
