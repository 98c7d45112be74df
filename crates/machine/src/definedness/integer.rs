//! Which bits of an integer function's result depend on undefined bits of its operands.
//!
//! A rule may claim more than that, never less. Known bits help: what is anded with a known zero is zero.

use crate::values;
use lift::{Binary, Size, Ternary, Unary};

/// A value, and which of its bits are undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    pub value: u64,
    pub undefined: u64,
}

impl Bits {
    pub const fn defined(value: u64) -> Bits {
        Bits { value, undefined: 0 }
    }

    /// The low bytes of it.
    pub const fn low(self, size: Size) -> Bits {
        Bits { value: self.value & size.mask(), undefined: self.undefined & size.mask() }
    }

    pub const fn is_defined(self) -> bool {
        self.undefined == 0
    }

    /// The least and the greatest unsigned number that it may be.
    pub const fn least(self) -> u64 {
        self.value & !self.undefined
    }

    pub const fn greatest(self) -> u64 {
        self.value | self.undefined
    }

    /// Bits that are known to be one.
    pub const fn ones(self) -> u64 {
        self.value & !self.undefined
    }

    /// Whether it may be zero as well as not.
    pub const fn may_be_zero_or_not(self) -> bool {
        self.undefined != 0 && self.ones() == 0
    }

    pub const fn is_zero(self) -> bool {
        self.value | self.undefined == 0
    }

    /// The same with its sign bit flipped, so that signed numbers are in the order of unsigned ones.
    pub const fn biased(self, size: Size) -> Bits {
        Bits { value: self.value ^ size.sign(), undefined: self.undefined }
    }
}

/// All bits, if there is any undefined one.
pub const fn all_if(size: Size, is_undefined: bool) -> u64 {
    if is_undefined { size.mask() } else { 0 }
}

/// The bits from the lowest undefined one on: where a carry may come to.
const fn upwards(undefined: u64) -> u64 {
    undefined | undefined.wrapping_neg()
}

/// Of a sum with a carry: bits that a carry may or may not come to are those in which the least and the greatest sum differ.
pub fn sum(size: Size, a: Bits, b: Bits, carry: Bits) -> u64 {
    let least = a.least().wrapping_add(b.least()).wrapping_add(carry.least());
    let greatest = a.greatest().wrapping_add(b.greatest()).wrapping_add(carry.greatest());
    (a.undefined | b.undefined | carry.undefined | (least ^ greatest)) & size.mask()
}

/// Of a difference with a borrow.
pub fn difference(size: Size, a: Bits, b: Bits, borrow: Bits) -> u64 {
    let least = a.least().wrapping_sub(b.greatest()).wrapping_sub(borrow.greatest());
    let greatest = a.greatest().wrapping_sub(b.least()).wrapping_sub(borrow.least());
    (a.undefined | b.undefined | borrow.undefined | (least ^ greatest)) & size.mask()
}

/// Whether a shift count, as far as the processor looks at it, has an undefined bit.
pub fn undefined_count(size: Size, count: Bits) -> bool {
    values::count(size, count.undefined) != 0
}

pub fn binary(function: Binary, size: Size, a: Bits, b: Bits) -> u64 {
    if (a.undefined | b.undefined) & size.mask() == 0 {
        return 0;
    }
    let (low_a, low_b) = (a.low(size), b.low(size));
    let none = Bits::default();
    match function {
        Binary::Add => sum(size, low_a, low_b, none),
        Binary::Sub => difference(size, low_a, low_b, none),
        Binary::And => {
            low_a.undefined & low_b.undefined | low_a.undefined & low_b.value | low_b.undefined & low_a.value
        }
        Binary::Or => {
            low_a.undefined & low_b.undefined
                | low_a.undefined & !low_b.value
                | low_b.undefined & !low_a.value
        }
        Binary::Xor => low_a.undefined | low_b.undefined,
        // They move bits about, so that they do the same with what is known of them.
        Binary::Shl | Binary::Shr | Binary::Sar | Binary::Rol | Binary::Ror => {
            match undefined_count(size, b) {
                true => size.mask(),
                false => values::binary(function, size, a.undefined, b.value),
            }
        }
        Binary::Mul | Binary::MulHighUnsigned | Binary::MulHighSigned
            if low_a.is_zero() || low_b.is_zero() =>
        {
            0
        }
        Binary::Mul => upwards(low_a.undefined | low_b.undefined) & size.mask(),
        Binary::MulHighUnsigned | Binary::MulHighSigned => size.mask(),
    }
}

pub fn unary(function: Unary, size: Size, a: Bits) -> u64 {
    let a = a.low(size);
    if a.is_defined() {
        return 0;
    }
    match function {
        Unary::Not => a.undefined,
        Unary::Neg => difference(size, Bits::default(), a, Bits::default()),
        Unary::ByteSwap => values::unary(function, size, a.undefined),
        // A known one before all that is undefined decides.
        Unary::BitScanForward if a.ones().trailing_zeros() < a.undefined.trailing_zeros() => 0,
        Unary::BitScanReverse if a.ones().leading_zeros() < a.undefined.leading_zeros() => 0,
        Unary::BitScanForward | Unary::BitScanReverse => 0x3f,
        Unary::CountOnes => 0x7f,
    }
}

pub fn ternary(function: Ternary, size: Size, a: Bits, b: Bits, c: Bits) -> u64 {
    let count = match function {
        Ternary::ShiftDoubleLeft | Ternary::ShiftDoubleRight => c,
        Ternary::RotateCarryLeft | Ternary::RotateCarryRight => b,
    };
    if undefined_count(size, count) {
        return size.mask();
    }
    match function {
        Ternary::ShiftDoubleLeft | Ternary::ShiftDoubleRight => {
            values::ternary(function, size, a.undefined, b.undefined, c.value)
        }
        Ternary::RotateCarryLeft | Ternary::RotateCarryRight => {
            values::ternary(function, size, a.undefined, b.value, c.undefined)
        }
    }
}

/// Where a condition decides between two values: bits that are the same in both do not depend on it.
pub fn select(size: Size, condition: Bits, yes: Bits, no: Bits) -> u64 {
    let chosen = if condition.value != 0 { yes } else { no };
    let undefined = match condition.may_be_zero_or_not() {
        true => yes.undefined | no.undefined | (yes.value ^ no.value),
        false => chosen.undefined,
    };
    undefined & size.mask()
}
