//! The arithmetic flags from their lazy record, and conditions on them.

use crate::values::{binary, count, sign_extend};
use lift::flags::{AF, ARITHMETIC, CF, OF, PF, SF, ZF};
use lift::{Binary, Condition, FlagKind, Size, Ternary};

/// What the flags were last set by: a kind with its size, and operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagRecord {
    pub code: u64,
    pub a: u64,
    pub b: u64,
    pub c: u64,
}

/// Kind and size in one word, as slot `FLAG_KIND` holds them.
pub const fn code(kind: FlagKind, size: Size) -> u64 {
    (kind as u64) << 2 | size as u64
}

/// The kind of a record, as [`FlagRecord::code`] has it. Those that no record has are told as raw.
pub const fn kind_of(code: u64) -> FlagKind {
    const KINDS: [FlagKind; 12] = [
        FlagKind::Raw,
        FlagKind::Add,
        FlagKind::Adc,
        FlagKind::Sub,
        FlagKind::Sbb,
        FlagKind::Logic,
        FlagKind::Inc,
        FlagKind::Dec,
        FlagKind::Shl,
        FlagKind::Shr,
        FlagKind::Sar,
        FlagKind::Mul,
    ];
    let number = (code >> 2) as usize;
    if number < KINDS.len() { KINDS[number] } else { FlagKind::Raw }
}

pub const fn size_of(code: u64) -> Size {
    Size::ALL[(code & 3) as usize]
}

impl FlagRecord {
    pub const fn raw(flags: u64) -> FlagRecord {
        FlagRecord { code: code(FlagKind::Raw, Size::B8), a: flags & ARITHMETIC, b: 0, c: 0 }
    }

    /// The six flags at their places in RFLAGS.
    #[inline(always)]
    pub fn flags(&self) -> u64 {
        materialise(self.code, self.a, self.b, self.c)
    }

    /// Whether `condition` holds. The common records are answered from their operands.
    #[inline(always)]
    pub fn holds(&self, condition: Condition) -> bool {
        self.holds_at_once(condition).unwrap_or_else(|| holds(condition, self.flags()))
    }

    /// Whether `condition` holds, where the operands of a common record tell.
    #[inline(always)]
    pub fn holds_at_once(&self, condition: Condition) -> Option<bool> {
        const SUB4: u64 = code(FlagKind::Sub, Size::B4);
        const SUB8: u64 = code(FlagKind::Sub, Size::B8);
        const SUB1: u64 = code(FlagKind::Sub, Size::B1);
        const SUB2: u64 = code(FlagKind::Sub, Size::B2);
        const LOGIC1: u64 = code(FlagKind::Logic, Size::B1);
        const LOGIC4: u64 = code(FlagKind::Logic, Size::B4);
        const LOGIC8: u64 = code(FlagKind::Logic, Size::B8);
        match self.code {
            SUB4 => compare(condition, Size::B4, self.a, self.b),
            SUB8 => compare(condition, Size::B8, self.a, self.b),
            SUB1 => compare(condition, Size::B1, self.a, self.b),
            SUB2 => compare(condition, Size::B2, self.a, self.b),
            LOGIC4 => compare_zero(condition, Size::B4, self.a),
            LOGIC8 => compare_zero(condition, Size::B8, self.a),
            LOGIC1 => compare_zero(condition, Size::B1, self.a),
            _ => None,
        }
    }
}

/// The six flags of a record, given by its parts: through a reference, a handler would have to put together
/// a record in memory from parts that were just stored one by one, and wait for them.
#[inline(never)]
fn materialise(code: u64, a: u64, b: u64, c: u64) -> u64 {
    let size = size_of(code);
    let mask = size.mask();
    let (raw, count) = (a, b);
    let (a, b, c) = (a & mask, b & mask, c & 1);
    let kind = (code >> 2) as u8;
    match kind {
        k if k == FlagKind::Add as u8 => add(size, a, b, 0),
        k if k == FlagKind::Adc as u8 => add(size, a, b, c),
        k if k == FlagKind::Sub as u8 => subtract(size, a, b, 0),
        k if k == FlagKind::Sbb as u8 => subtract(size, a, b, c),
        k if k == FlagKind::Logic as u8 => sign_zero_parity(size, a),
        k if k == FlagKind::Inc as u8 => add(size, a, 1, 0) & !CF | c,
        k if k == FlagKind::Dec as u8 => subtract(size, a, 1, 0) & !CF | c,
        k if k == FlagKind::Shl as u8 => shift_left(size, a, count),
        k if k == FlagKind::Shr as u8 => shift_right(size, a, count),
        k if k == FlagKind::Sar as u8 => shift_right_signed(size, a, count),
        k if k == FlagKind::Mul as u8 => sign_zero_parity(size, a) | if b != 0 { CF | OF } else { 0 },
        _ => raw & ARITHMETIC,
    }
}

/// The condition after `cmp a, b`, where it is a comparison of the operands.
#[inline(always)]
pub fn compare(condition: Condition, size: Size, a: u64, b: u64) -> Option<bool> {
    let (ua, ub) = (a & size.mask(), b & size.mask());
    let (sa, sb) = (sign_extend(size, a) as i64, sign_extend(size, b) as i64);
    Some(match condition {
        Condition::Below => ua < ub,
        Condition::AboveOrEqual => ua >= ub,
        Condition::Equal => ua == ub,
        Condition::NotEqual => ua != ub,
        Condition::BelowOrEqual => ua <= ub,
        Condition::Above => ua > ub,
        Condition::Sign => a.wrapping_sub(b) & size.sign() != 0,
        Condition::NotSign => a.wrapping_sub(b) & size.sign() == 0,
        Condition::Less => sa < sb,
        Condition::GreaterOrEqual => sa >= sb,
        Condition::LessOrEqual => sa <= sb,
        Condition::Greater => sa > sb,
        Condition::Overflow | Condition::NotOverflow | Condition::Parity | Condition::NotParity => {
            return None;
        }
    })
}

/// The condition after a logic op with result `a`.
#[inline(always)]
pub fn compare_zero(condition: Condition, size: Size, a: u64) -> Option<bool> {
    match condition {
        // CF and OF are clear: the same as a comparison with zero.
        Condition::Overflow => Some(false),
        Condition::NotOverflow => Some(true),
        _ => compare(condition, size, a, 0),
    }
}

/// Whether `condition` holds on materialised flags.
pub fn holds(condition: Condition, flags: u64) -> bool {
    let set = |flag: u64| flags & flag != 0;
    match condition {
        Condition::Overflow => set(OF),
        Condition::NotOverflow => !set(OF),
        Condition::Below => set(CF),
        Condition::AboveOrEqual => !set(CF),
        Condition::Equal => set(ZF),
        Condition::NotEqual => !set(ZF),
        Condition::BelowOrEqual => set(CF | ZF),
        Condition::Above => !set(CF | ZF),
        Condition::Sign => set(SF),
        Condition::NotSign => !set(SF),
        Condition::Parity => set(PF),
        Condition::NotParity => !set(PF),
        Condition::Less => set(SF) != set(OF),
        Condition::GreaterOrEqual => set(SF) == set(OF),
        Condition::LessOrEqual => set(ZF) || set(SF) != set(OF),
        Condition::Greater => !set(ZF) && set(SF) == set(OF),
    }
}

/// The record after a flag-defining op, given the one before it.
pub fn define(old: &FlagRecord, kind: FlagKind, size: Size, a: u64, b: u64, c: u64) -> FlagRecord {
    let keep = |mask: u64, new: u64| FlagRecord::raw(old.flags() & !mask | new & mask);
    let n = count(size, b);
    match kind {
        FlagKind::Shl | FlagKind::Shr | FlagKind::Sar if n == 0 => *old,
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
        | FlagKind::Mul => FlagRecord { code: code(kind, size), a, b, c },
        FlagKind::Rol | FlagKind::Ror if n == 0 => *old,
        FlagKind::Rol => {
            let result = binary(Binary::Rol, size, a, b);
            let carry = result & 1;
            keep(CF | OF, carry | overflow_if(carry != result >> (size.bits() - 1)))
        }
        FlagKind::Ror => {
            let result = binary(Binary::Ror, size, a, b);
            let top = result >> (size.bits() - 1);
            keep(CF | OF, top | overflow_if(top != (result >> (size.bits() - 2)) & 1))
        }
        FlagKind::Rcl | FlagKind::Rcr => rotate_carry(old, kind, size, a, n, c),
        FlagKind::Shld | FlagKind::Shrd if n == 0 => *old,
        FlagKind::Shld | FlagKind::Shrd => shift_double(kind, size, a, n, c),
        FlagKind::SetCarry => keep(CF, a & 1),
        FlagKind::SetZero => keep(ZF, if a & size.mask() == 0 { ZF } else { 0 }),
        FlagKind::Load => FlagRecord::raw(a),
        FlagKind::LoadLow => keep(ARITHMETIC & !OF, a),
        FlagKind::Compare => FlagRecord::raw(a & (CF | PF | ZF)),
    }
}

fn overflow_if(overflow: bool) -> u64 {
    if overflow { OF } else { 0 }
}

fn rotate_carry(old: &FlagRecord, kind: FlagKind, size: Size, a: u64, n: u32, c: u64) -> FlagRecord {
    let bits = size.bits();
    let steps = n % (bits + 1);
    if steps == 0 {
        return *old;
    }
    let a = a & size.mask();
    let top = a >> (bits - 1);
    let (carry, overflow) = if kind == FlagKind::Rcl {
        let carry = (a >> (bits - steps)) & 1;
        let result = crate::values::ternary(Ternary::RotateCarryLeft, size, a, n as u64, c);
        (carry, result >> (bits - 1) != carry)
    } else {
        // OF is defined for a count of 1 alone: the old top bit against the carry that enters.
        ((a >> (steps - 1)) & 1, top != c & 1)
    };
    FlagRecord::raw(old.flags() & !(CF | OF) | carry | overflow_if(overflow))
}

/// shld and shrd; `c` is the other operand.
fn shift_double(kind: FlagKind, size: Size, a: u64, n: u32, c: u64) -> FlagRecord {
    let bits = size.bits();
    let a = a & size.mask();
    let n64 = n as u64;
    let (function, carry) = if kind == FlagKind::Shld {
        // A count above the width goes on into the other operand.
        let carry = if n <= bits { a >> (bits - n) } else { (c & size.mask()) >> (2 * bits - n) };
        (Ternary::ShiftDoubleLeft, carry & 1)
    } else {
        let carry = if n <= bits { a >> (n - 1) } else { (c & size.mask()) >> (n - 1 - bits) };
        (Ternary::ShiftDoubleRight, carry & 1)
    };
    let result = crate::values::ternary(function, size, a, c, n64);
    let overflow = overflow_if((result ^ a) & size.sign() != 0);
    FlagRecord::raw(sign_zero_parity(size, result) | carry | overflow)
}

fn sign_zero_parity(size: Size, result: u64) -> u64 {
    let result = result & size.mask();
    let mut flags = 0;
    if result == 0 {
        flags |= ZF;
    }
    if result & size.sign() != 0 {
        flags |= SF;
    }
    if (result as u8).count_ones() & 1 == 0 {
        flags |= PF;
    }
    flags
}

/// AF is the carry into bit 4.
fn adjust(a: u64, b: u64, result: u64) -> u64 {
    (a ^ b ^ result) & AF
}

fn add(size: Size, a: u64, b: u64, c: u64) -> u64 {
    let wide = a as u128 + b as u128 + c as u128;
    let result = wide as u64 & size.mask();
    let carry = if wide > size.mask() as u128 { CF } else { 0 };
    let overflow = overflow_if(!(a ^ b) & (a ^ result) & size.sign() != 0);
    sign_zero_parity(size, result) | adjust(a, b, result) | carry | overflow
}

fn subtract(size: Size, a: u64, b: u64, c: u64) -> u64 {
    let result = a.wrapping_sub(b).wrapping_sub(c) & size.mask();
    let carry = if (a as u128) < b as u128 + c as u128 { CF } else { 0 };
    let overflow = overflow_if((a ^ b) & (a ^ result) & size.sign() != 0);
    sign_zero_parity(size, result) | adjust(a, b, result) | carry | overflow
}

/// The counts of the shifts below are 1 to 63. OF is defined for a count of 1 alone.
fn shift_left(size: Size, a: u64, b: u64) -> u64 {
    let n = count(size, b);
    let result = binary(Binary::Shl, size, a, b);
    let carry = if n <= size.bits() { (a >> (size.bits() - n)) & 1 } else { 0 };
    let overflow = overflow_if(result >> (size.bits() - 1) != carry);
    sign_zero_parity(size, result) | carry | overflow
}

fn shift_right(size: Size, a: u64, b: u64) -> u64 {
    let n = count(size, b);
    let result = binary(Binary::Shr, size, a, b);
    let carry = (a >> (n - 1)) & 1;
    sign_zero_parity(size, result) | carry | overflow_if(a & size.sign() != 0)
}

fn shift_right_signed(size: Size, a: u64, b: u64) -> u64 {
    let n = count(size, b);
    let result = binary(Binary::Sar, size, a, b);
    let carry = (sign_extend(size, a) as i64 >> (n - 1)) as u64 & 1;
    sign_zero_parity(size, result) | carry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_record_is_read_from_its_code() {
        for kind in [FlagKind::Raw, FlagKind::Sub, FlagKind::Logic, FlagKind::Sar, FlagKind::Mul] {
            assert_eq!((kind_of(code(kind, Size::B2)), size_of(code(kind, Size::B2))), (kind, Size::B2));
        }
    }

    #[test]
    fn conditions_from_operands_agree_with_conditions_from_flags() {
        let corners = [0u64, 1, 2, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, u64::MAX, 1 << 63];
        for size in Size::ALL {
            for a in corners {
                for b in corners {
                    let record = FlagRecord { code: code(FlagKind::Sub, size), a, b, c: 0 };
                    for condition in Condition::ALL {
                        assert_eq!(record.holds(condition), holds(condition, record.flags()));
                    }
                }
                let record = FlagRecord { code: code(FlagKind::Logic, size), a, b: 0, c: 0 };
                for condition in Condition::ALL {
                    assert_eq!(record.holds(condition), holds(condition, record.flags()));
                }
            }
        }
    }

    #[test]
    fn a_shift_by_zero_keeps_the_record() {
        let old = FlagRecord::raw(CF | ZF);
        assert_eq!(define(&old, FlagKind::Shl, Size::B4, 7, 32, 0), old);
    }
}
