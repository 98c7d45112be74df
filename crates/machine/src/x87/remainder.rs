//! Steps of fprem and fprem1 where the exponents are so far apart that one step does not reach the remainder. By how much a
//! step reduces the exponent, between 32 and 63, is left open by the architecture; this is what Intel's processors do.

use super::host::{self, Ten};
use super::{Computed, DENORMAL};
use lift::x87::{C2, CODES, X87Binary};

/// Exponents that differ by less are done in one step.
const FAR: i32 = 64;
/// Below this exponent a step might meet denormal numbers.
const SMALL: i32 = 256;

/// One step, if one step is not enough.
pub fn step(function: X87Binary, a: &Ten, b: &Ten, control: u16) -> Option<Computed> {
    if !matches!(function, X87Binary::Remainder | X87Binary::RemainderNearest) {
        return None;
    }
    let (a, b) = (Number::of(a)?, Number::of(b)?);
    let distance = a.exponent - b.exponent;
    if distance < FAR {
        return None;
    }
    let reduced = distance % 32 + 32;
    // A divisor that is larger by a power of two leaves the exponents less apart, and the step is a whole one. Where the
    // divisor is tiny, both are larger by yet another power, so that its significand stays whole.
    let scale = if a.exponent < SMALL { SMALL } else { 0 };
    let divisor = Ten { low: b.significand, high: (a.exponent - reduced + scale) as u16 };
    let dividend = Ten { low: a.significand, high: (a.exponent + scale) as u16 | a.sign };
    let (result, status) = host::binary(X87Binary::Remainder, &dividend, &divisor, control);
    let result = scaled_down(result, scale);
    let denormal = if a.is_denormal || b.is_denormal { DENORMAL } else { 0 };
    Some((result, status & !(CODES as u16) | C2 as u16 | denormal))
}

/// A remainder has no more digits than the divisor, so nothing is lost.
fn scaled_down(number: Ten, scale: i32) -> Ten {
    let exponent = i32::from(number.high & 0x7fff) - scale;
    let sign = number.high & 0x8000;
    if scale == 0 || number.low == 0 {
        return number;
    }
    match 1 - exponent {
        shift @ 1..64 => Ten { low: number.low >> shift, high: sign },
        _ => Ten { low: number.low, high: exponent as u16 | sign },
    }
}

/// A number other than zero, its significand normalised.
struct Number {
    sign: u16,
    exponent: i32,
    significand: u64,
    is_denormal: bool,
}

impl Number {
    fn of(ten: &Ten) -> Option<Number> {
        let (sign, exponent) = (ten.high & 0x8000, i32::from(ten.high & 0x7fff));
        let is_normal = ten.low >> 63 != 0;
        if ten.low == 0 || exponent == 0x7fff || exponent != 0 && !is_normal {
            return None;
        }
        let shift = ten.low.leading_zeros();
        let is_denormal = exponent == 0;
        let exponent = exponent.max(1) - shift as i32;
        Some(Number { sign, exponent, significand: ten.low << shift, is_denormal })
    }
}
