//! Which of the six flags, and which conditions, depend on undefined bits of what the flags were set by.

use super::integer::{self, Bits, difference, sum, undefined_count};
use crate::flags::{FlagRecord, holds, kind_of, size_of};
use crate::values;
use lift::flags::{AF, ARITHMETIC, CF, OF, PF, SF, ZF};
use lift::{Binary, Condition, FlagKind, Size, Ternary};

/// A flag record with what is undefined of its operands.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub record: FlagRecord,
    /// Nothing is known of the flags, not even what they were set by.
    pub unknown: bool,
    pub a: u64,
    pub b: u64,
    pub c: u64,
}

impl Record {
    fn operands(&self) -> (Size, Bits, Bits, Bits) {
        let size = size_of(self.record.code);
        let a = Bits { value: self.record.a, undefined: self.a };
        let b = Bits { value: self.record.b, undefined: self.b };
        let c = Bits { value: self.record.c & 1, undefined: self.c & 1 };
        (size, a, b, c)
    }

    fn is_defined(&self) -> bool {
        !self.unknown && self.a | self.b | self.c == 0
    }

    /// The undefined ones of the six flags, at their places in RFLAGS.
    pub fn flags(&self) -> u64 {
        if self.unknown {
            return ARITHMETIC;
        }
        if self.is_defined() {
            return 0;
        }
        let (size, raw, count, c) = self.operands();
        let (a, b) = (raw.low(size), count.low(size));
        let (none, one) = (Bits::default(), Bits::defined(1));
        match kind_of(self.record.code) {
            FlagKind::Add => added(size, a, b, none),
            FlagKind::Adc => added(size, a, b, c),
            FlagKind::Sub => subtracted(size, a, b, none),
            FlagKind::Sbb => subtracted(size, a, b, c),
            FlagKind::Logic => sign_zero_parity(size, a),
            FlagKind::Inc => added(size, a, one, none) & !CF | carry_if(c.undefined != 0),
            FlagKind::Dec => subtracted(size, a, one, none) & !CF | carry_if(c.undefined != 0),
            FlagKind::Shl | FlagKind::Shr | FlagKind::Sar if undefined_count(size, count) => ARITHMETIC,
            FlagKind::Shl => shifted(Binary::Shl, size, a, count),
            FlagKind::Shr => shifted(Binary::Shr, size, a, count),
            FlagKind::Sar => shifted(Binary::Sar, size, a, count),
            FlagKind::Mul => {
                let overflow = if b.may_be_zero_or_not() { CF | OF } else { 0 };
                sign_zero_parity(size, a) | overflow
            }
            _ => raw.undefined & ARITHMETIC,
        }
    }

    /// Whether it is undefined if `condition` holds.
    pub fn condition(&self, condition: Condition) -> bool {
        if self.is_defined() {
            return false;
        }
        let undefined = self.flags() & condition.reads();
        if undefined == 0 || self.is_decided_by_order(condition) {
            return false;
        }
        let known = self.record.flags() & !undefined;
        let mut subset = undefined;
        let first = holds(condition, known | undefined);
        // All that the undefined flags together can be.
        while subset != 0 {
            subset = (subset - 1) & undefined;
            if holds(condition, known | subset) != first {
                return true;
            }
        }
        false
    }

    /// Whether a comparison of two numbers comes out the same for all that they may be.
    fn is_decided_by_order(&self, condition: Condition) -> bool {
        let (size, a, b, _) = self.operands();
        let (a, b) = match kind_of(self.record.code) {
            _ if self.unknown => return false,
            FlagKind::Sub => (a.low(size), b.low(size)),
            FlagKind::Logic => (a.low(size), Bits::default()),
            _ => return false,
        };
        let below = |a: Bits, b: Bits| a.greatest() < b.least() || a.least() >= b.greatest();
        let below_or_equal = |a: Bits, b: Bits| a.greatest() <= b.least() || a.least() > b.greatest();
        match condition {
            Condition::Below | Condition::AboveOrEqual => below(a, b),
            Condition::BelowOrEqual | Condition::Above => below_or_equal(a, b),
            Condition::Less | Condition::GreaterOrEqual => below(a.biased(size), b.biased(size)),
            Condition::LessOrEqual | Condition::Greater => below_or_equal(a.biased(size), b.biased(size)),
            _ => false,
        }
    }
}

const fn carry_if(is_undefined: bool) -> u64 {
    if is_undefined { CF } else { 0 }
}

fn sign_zero_parity(size: Size, result: Bits) -> u64 {
    let mut flags = 0;
    if result.may_be_zero_or_not() {
        flags |= ZF;
    }
    if result.undefined & size.sign() != 0 {
        flags |= SF;
    }
    if result.undefined & 0xff != 0 {
        flags |= PF;
    }
    flags
}

/// The adjust flag is the carry into bit 4.
fn adjust(a: Bits, b: Bits, result: Bits) -> u64 {
    if (a.undefined | b.undefined | result.undefined) & 0x10 != 0 { AF } else { 0 }
}

fn added(size: Size, a: Bits, b: Bits, c: Bits) -> u64 {
    let value = a.value.wrapping_add(b.value).wrapping_add(c.value) & size.mask();
    let result = Bits { value, undefined: sum(size, a, b, c) };
    let total = |parts: [u64; 3]| parts.into_iter().map(u128::from).sum::<u128>() >> size.bits();
    let least = total([a.least(), b.least(), c.least()]);
    let carry = carry_if(least != total([a.greatest(), b.greatest(), c.greatest()]));
    let (a_range, b_range) = (signed_range(size, a), signed_range(size, b));
    let overflow = overflow(
        size,
        a_range.0 + b_range.0 + i128::from(c.least()),
        a_range.1 + b_range.1 + i128::from(c.greatest()),
    );
    sign_zero_parity(size, result) | adjust(a, b, result) | carry | overflow
}

fn subtracted(size: Size, a: Bits, b: Bits, c: Bits) -> u64 {
    let value = a.value.wrapping_sub(b.value).wrapping_sub(c.value) & size.mask();
    let result = Bits { value, undefined: difference(size, a, b, c) };
    let borrows = |a: u64, b: u64, c: u64| u128::from(a) < u128::from(b) + u128::from(c);
    let carry = carry_if(
        borrows(a.least(), b.greatest(), c.greatest()) != borrows(a.greatest(), b.least(), c.least()),
    );
    let (a_range, b_range) = (signed_range(size, a), signed_range(size, b));
    let overflow = overflow(
        size,
        a_range.0 - b_range.1 - i128::from(c.greatest()),
        a_range.1 - b_range.0 - i128::from(c.least()),
    );
    sign_zero_parity(size, result) | adjust(a, b, result) | carry | overflow
}

/// The least and the greatest signed number that it may be.
fn signed_range(size: Size, a: Bits) -> (i128, i128) {
    let biased = a.biased(size);
    let number = |biased: u64| i128::from(biased) - (1 << (size.bits() - 1));
    (number(biased.least()), number(biased.greatest()))
}

/// OF, if results between these may be within the range of signed numbers as well as not.
fn overflow(size: Size, least: i128, greatest: i128) -> u64 {
    let limit = 1i128 << (size.bits() - 1);
    let side = |number: i128| (number >= limit) as i8 - (number < -limit) as i8;
    // Too low and too high are both an overflow; but between them lies what is none.
    if side(least) == side(greatest) { 0 } else { OF }
}

/// After a shift by a known count, which is not zero.
fn shifted(function: Binary, size: Size, a: Bits, count: Bits) -> u64 {
    let n = values::count(size, count.value).max(1);
    let value = values::binary(function, size, a.value, u64::from(n));
    let undefined = integer::binary(function, size, a, Bits::defined(u64::from(n)));
    let (carry, overflow) = match function {
        Binary::Shl => {
            let carry = if n <= size.bits() { a.undefined >> (size.bits() - n) & 1 } else { 0 };
            (carry, carry != 0 || undefined & size.sign() != 0)
        }
        Binary::Sar => {
            let extended = values::sign_extend(size, a.undefined) as i64;
            ((extended >> (n - 1)) as u64 & 1, false)
        }
        _ => (a.undefined >> (n - 1) & 1, a.undefined & size.sign() != 0),
    };
    let overflow = if overflow { OF } else { 0 };
    sign_zero_parity(size, Bits { value, undefined }) | carry_if(carry != 0) | overflow
}

/// What is undefined of the record that an op makes.
pub fn define(old: &Record, kind: FlagKind, size: Size, a: Bits, b: Bits, c: Bits) -> Record {
    let n = values::count(size, b.value);
    let record = crate::flags::define(&old.record, kind, size, a.value, b.value, c.value);
    let raw = |flags: u64| Record { record, unknown: false, a: flags, b: 0, c: 0 };
    let unknown = Record { record, unknown: true, a: 0, b: 0, c: 0 };
    let keep = |mask: u64, new: u64| raw(old.flags() & !mask | new & mask);
    let undefined_count = undefined_count(size, b);
    match kind {
        FlagKind::Shl
        | FlagKind::Shr
        | FlagKind::Sar
        | FlagKind::Rol
        | FlagKind::Ror
        | FlagKind::Rcl
        | FlagKind::Rcr
        | FlagKind::Shld
        | FlagKind::Shrd
            if undefined_count =>
        {
            unknown
        }
        FlagKind::Shl
        | FlagKind::Shr
        | FlagKind::Sar
        | FlagKind::Rol
        | FlagKind::Ror
        | FlagKind::Shld
        | FlagKind::Shrd
            if n == 0 =>
        {
            *old
        }
        FlagKind::Rcl | FlagKind::Rcr if n.is_multiple_of(size.bits() + 1) => *old,
        FlagKind::Raw
        | FlagKind::Add
        | FlagKind::Adc
        | FlagKind::Sub
        | FlagKind::Sbb
        | FlagKind::Logic
        | FlagKind::Inc
        | FlagKind::Dec
        | FlagKind::Shl
        | FlagKind::Shr
        | FlagKind::Sar
        | FlagKind::Mul => Record { record, unknown: false, a: a.undefined, b: b.undefined, c: c.undefined },
        FlagKind::Rol | FlagKind::Ror | FlagKind::Rcl | FlagKind::Rcr => {
            let is_undefined = (a.undefined & size.mask()) | (c.undefined & 1) != 0;
            keep(CF | OF, if is_undefined { CF | OF } else { 0 })
        }
        FlagKind::Shld | FlagKind::Shrd => {
            let function = match kind {
                FlagKind::Shld => Ternary::ShiftDoubleLeft,
                _ => Ternary::ShiftDoubleRight,
            };
            let value = values::ternary(function, size, a.value, c.value, u64::from(n));
            let undefined = integer::ternary(function, size, a, c, b);
            let rest = if (a.undefined | c.undefined) & size.mask() != 0 { CF | OF } else { 0 };
            raw(sign_zero_parity(size, Bits { value, undefined }) | rest)
        }
        FlagKind::SetCarry => keep(CF, a.undefined & 1),
        FlagKind::SetZero => keep(ZF, if a.low(size).may_be_zero_or_not() { ZF } else { 0 }),
        FlagKind::Load => raw(a.undefined & ARITHMETIC),
        FlagKind::LoadLow => keep(ARITHMETIC & !OF, a.undefined),
        FlagKind::Compare => raw(a.undefined & (CF | PF | ZF)),
    }
}
