//! The integer functions of the op language, as pure functions. Both executors use these, so
//! there is one place that says what an addition is.

use lift::{Binary, Size, Ternary, Unary};

/// The result of a two-operand function, zero-extended from `size`.
#[inline(always)]
pub fn binary(function: Binary, size: Size, a: u64, b: u64) -> u64 {
    let mask = size.mask();
    let bits = size.bits();
    match function {
        Binary::Add => a.wrapping_add(b) & mask,
        Binary::Sub => a.wrapping_sub(b) & mask,
        Binary::And => a & b & mask,
        Binary::Or => (a | b) & mask,
        Binary::Xor => (a ^ b) & mask,
        Binary::Shl => shift_left(a & mask, count(size, b)) & mask,
        Binary::Shr => shift_right(a & mask, count(size, b)),
        Binary::Sar => ((sign_extend(size, a) as i64) >> count(size, b)) as u64 & mask,
        Binary::Rol => rotate_left(size, a & mask, count(size, b) % bits),
        Binary::Ror => rotate_left(size, a & mask, (bits - count(size, b) % bits) % bits),
        Binary::Mul => a.wrapping_mul(b) & mask,
        Binary::MulHighUnsigned => (((a & mask) as u128 * (b & mask) as u128) >> bits) as u64 & mask,
        Binary::MulHighSigned => {
            let (a, b) = (sign_extend(size, a) as i64 as i128, sign_extend(size, b) as i64 as i128);
            ((a * b) >> bits) as u64 & mask
        }
    }
}

/// A shift count as the processor masks it.
#[inline(always)]
pub fn count(size: Size, b: u64) -> u32 {
    (b & if size.bits() == 64 { 63 } else { 31 }) as u32
}

/// Counts reach 31 for 8- and 16-bit operands, which is still below 64.
#[inline(always)]
fn shift_left(a: u64, count: u32) -> u64 {
    a << count
}

#[inline(always)]
fn shift_right(a: u64, count: u32) -> u64 {
    a >> count
}

#[inline(always)]
fn rotate_left(size: Size, a: u64, count: u32) -> u64 {
    if count == 0 {
        return a;
    }
    (a << count | a >> (size.bits() - count)) & size.mask()
}

/// The low `size` bytes of `a`, sign-extended to 64 bits.
#[inline(always)]
pub fn sign_extend(size: Size, a: u64) -> u64 {
    let unused = 64 - size.bits();
    ((a << unused) as i64 >> unused) as u64
}

pub fn unary(function: Unary, size: Size, a: u64) -> u64 {
    let masked = a & size.mask();
    match function {
        Unary::Not => !a & size.mask(),
        Unary::Neg => a.wrapping_neg() & size.mask(),
        Unary::ByteSwap => match size {
            // bswap of a 16-bit register is undefined; processors give zero.
            Size::B1 | Size::B2 => 0,
            Size::B4 => (a as u32).swap_bytes() as u64,
            Size::B8 => a.swap_bytes(),
        },
        Unary::BitScanForward if masked == 0 => masked,
        Unary::BitScanForward => masked.trailing_zeros() as u64,
        Unary::BitScanReverse if masked == 0 => masked,
        Unary::BitScanReverse => 63 - masked.leading_zeros() as u64,
        Unary::CountOnes => masked.count_ones() as u64,
    }
}

pub fn ternary(function: Ternary, size: Size, a: u64, b: u64, c: u64) -> u64 {
    let bits = size.bits();
    let mask = size.mask();
    match function {
        Ternary::ShiftDoubleLeft => {
            let n = count(size, c);
            double_left(size, a & mask, b & mask, n)
        }
        Ternary::ShiftDoubleRight => {
            let n = count(size, c);
            double_right(size, a & mask, b & mask, n)
        }
        Ternary::RotateCarryLeft => rotate_carry_left(size, a & mask, count(size, b) % (bits + 1), c),
        Ternary::RotateCarryRight => {
            let n = (bits + 1 - count(size, b) % (bits + 1)) % (bits + 1);
            rotate_carry_left(size, a & mask, n, c)
        }
    }
}

/// Counts above the width (possible for 16 bits) are undefined by the architecture; processors
/// shift through a, b, a.
fn double_left(size: Size, a: u64, b: u64, n: u32) -> u64 {
    let bits = size.bits();
    if size == Size::B8 {
        let pair = (a as u128) << 64 | b as u128;
        return (pair << n >> 64) as u64;
    }
    let wide = (a as u128) << (2 * bits) | (b as u128) << bits | a as u128;
    (wide << n >> (2 * bits)) as u64 & size.mask()
}

fn double_right(size: Size, a: u64, b: u64, n: u32) -> u64 {
    let bits = size.bits();
    if size == Size::B8 {
        let pair = (b as u128) << 64 | a as u128;
        return (pair >> n) as u64;
    }
    let wide = (a as u128) << (2 * bits) | (b as u128) << bits | a as u128;
    (wide >> n) as u64 & size.mask()
}

/// Rotates the `bits + 1` wide value carry:a left by n, which is at most `bits`.
fn rotate_carry_left(size: Size, a: u64, n: u32, carry: u64) -> u64 {
    let width = size.bits() + 1;
    let value = ((carry & 1) as u128) << size.bits() | a as u128;
    let rotated = if n == 0 { value } else { value << n | value >> (width - n) };
    rotated as u64 & size.mask()
}

/// Quotient and remainder of high:low by divisor, or `None` for #DE.
pub fn divide(signed: bool, size: Size, high: u64, low: u64, divisor: u64) -> Option<(u64, u64)> {
    let mask = size.mask();
    let bits = size.bits();
    let dividend = ((high & mask) as u128) << bits | (low & mask) as u128;
    if !signed {
        let divisor = (divisor & mask) as u128;
        let quotient = dividend.checked_div(divisor)?;
        return (quotient <= mask as u128).then(|| (quotient as u64, (dividend % divisor) as u64));
    }
    let unused = 128 - 2 * bits;
    let dividend = (dividend << unused) as i128 >> unused;
    let divisor = sign_extend(size, divisor) as i64 as i128;
    let quotient = dividend.checked_div(divisor)?;
    let limit = 1i128 << (bits - 1);
    let fits = quotient >= -limit && quotient < limit;
    fits.then(|| (quotient as u64 & mask, (dividend % divisor) as u64 & mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotates_by_a_multiple_of_the_width_change_nothing() {
        for size in Size::ALL {
            assert_eq!(binary(Binary::Rol, size, 0x81, size.bits() as u64), 0x81);
            assert_eq!(binary(Binary::Ror, size, 0x81, 0), 0x81);
        }
    }

    #[test]
    fn division_overflow_and_zero_are_errors() {
        assert_eq!(divide(false, Size::B4, 1, 0, 1), None);
        assert_eq!(divide(true, Size::B4, 0xffff_ffff, 0x8000_0000, 0xffff_ffff), None);
        assert_eq!(divide(true, Size::B8, u64::MAX, i64::MIN as u64, u64::MAX), None);
        assert_eq!(divide(false, Size::B8, 0, 5, 0), None);
        assert_eq!(divide(true, Size::B1, 0xff, 0xf9, 2), Some((0xfd, 0xff)));
    }

    #[test]
    fn rotate_through_carry_goes_round_in_width_plus_one() {
        let mut value = 0x91;
        let mut carry = 1;
        for _ in 0..9 {
            let next = ternary(Ternary::RotateCarryLeft, Size::B1, value, 1, carry);
            carry = value >> 7;
            value = next;
        }
        assert_eq!((value, carry), (0x91, 1));
    }

    #[test]
    fn double_shifts_fill_from_the_other_operand_at_every_width() {
        let (a, b) = (0x1122_3344_5566_7788, 0x99aa_bbcc_ddee_ff00);
        let left = |size, n| ternary(Ternary::ShiftDoubleLeft, size, a, b, n);
        let right = |size, n| ternary(Ternary::ShiftDoubleRight, size, a, b, n);
        assert_eq!((left(Size::B8, 8), right(Size::B8, 8)), (0x2233_4455_6677_8899, 0x0011_2233_4455_6677));
        assert_eq!((left(Size::B4, 8), right(Size::B4, 8)), (0x6677_88dd, 0x0055_6677));
        assert_eq!((left(Size::B2, 8), right(Size::B2, 8)), (0x88ff, 0x0077));
        assert_eq!((left(Size::B8, 64), right(Size::B8, 0)), (a, a));
    }
}
