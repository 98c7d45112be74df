//! `%a`: a hexadecimal mantissa and a power of two.

use super::Conversion;
use super::float::{Class, FloatValue};
use super::print::Number;
use crate::term::Format;

impl Conversion {
    /// Of a finite number. A double has one bit before the point, a long double has four.
    pub(super) fn hexadecimal(&self, value: FloatValue) -> Number {
        let (mantissa, power) = match value.class() {
            Class::Finite { mantissa, power } => (mantissa, power),
            Class::Infinite | Class::Nan => (0, 0),
        };
        let after_point: u32 = match value.format {
            Format::Single | Format::Double => value.format.digits() - 1,
            Format::Extended => 60,
        };
        // Hexadecimal digits have four bits.
        let places = after_point.div_ceil(4);
        let wide = u128::from(mantissa) << (4 * places - after_point);
        let kept = self.known_precision().map_or(places, |precision| (precision as u32).min(places));
        let mut rounded = round(wide, 4 * (places - kept));
        let mut power = if mantissa == 0 { 0 } else { power + after_point as i32 };
        // What overflowed its only digit before the point is written as 1 and a higher power.
        if rounded >> (4 * kept) > 0xf {
            rounded >>= 4;
            power += 4;
        }
        let mut fraction = format!("{:0width$x}", rounded & ((1 << (4 * kept)) - 1), width = kept as usize);
        if kept == 0 {
            fraction.clear();
        }
        match self.known_precision() {
            Some(precision) => fraction.push_str(&"0".repeat(precision.saturating_sub(fraction.len()))),
            None => fraction = fraction.trim_end_matches('0').to_owned(),
        }
        let point = if fraction.is_empty() && !self.flags.alternate { "" } else { "." };
        Number {
            prefix: format!("{}0x", self.sign(value.is_negative())),
            digits: format!("{:x}{point}{fraction}p{power:+}", rounded >> (4 * kept)),
            takes_zeroes: true,
        }
    }
}

/// Without the lowest bits, to the nearest, of two the even one.
fn round(number: u128, bits: u32) -> u128 {
    if bits == 0 {
        return number;
    }
    let (kept, rest, half) = (number >> bits, number & ((1 << bits) - 1), 1 << (bits - 1));
    let rounds_up = rest > half || rest == half && kept & 1 == 1;
    kept + u128::from(rounds_up)
}
