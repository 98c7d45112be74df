//! rcpps and rsqrtps. Processors differ in which approximation they give, so a run would not
//! replay alike on another one; ours is the true value, rounded, which is within the
//! architecture's bound everywhere.

/// 1 / x
#[inline]
pub fn reciprocal(x: u32) -> u32 {
    let value = f32::from_bits(x);
    match special(x) {
        Some(Special::Nan(nan)) => nan,
        Some(Special::Zero) => x & SIGN | INFINITY,
        None => flushed(1.0 / f64::from(value)),
    }
}

/// 1 / √x
#[inline]
pub fn reciprocal_sqrt(x: u32) -> u32 {
    let value = f32::from_bits(x);
    match special(x) {
        Some(Special::Nan(nan)) => nan,
        Some(Special::Zero) => x & SIGN | INFINITY,
        None if x & SIGN != 0 => DEFAULT_NAN,
        None => flushed(1.0 / f64::from(value).sqrt()),
    }
}

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
const QUIET: u32 = 1 << 22;
const DEFAULT_NAN: u32 = 0xffc0_0000;

enum Special {
    /// A NaN operand, made quiet: the result.
    Nan(u32),
    /// Zero, or a denormal, which counts as zero.
    Zero,
}

#[inline(always)]
fn special(x: u32) -> Option<Special> {
    match x & !SIGN {
        magnitude if magnitude > INFINITY => Some(Special::Nan(x | QUIET)),
        magnitude if magnitude < f32::MIN_POSITIVE.to_bits() => Some(Special::Zero),
        _ => None,
    }
}

/// The value as a single, zero in place of a denormal.
#[inline(always)]
fn flushed(value: f64) -> u32 {
    let bits = (value as f32).to_bits();
    if bits & !SIGN < f32::MIN_POSITIVE.to_bits() { bits & SIGN } else { bits }
}
