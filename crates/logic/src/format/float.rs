//! Floats: what they are, in which order they come, and how they are printed in decimal.

use super::decimal::Decimal;
use super::print::Number;
use super::{Conversion, FloatStyle};
use crate::term::Format;

/// A float by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatValue {
    pub format: Format,
    pub bits: u128,
}

/// The floats that print as a text. All have the same sign, since it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatSet {
    /// From one to the other, both included, the one nearer to zero first.
    Between(FloatValue, FloatValue),
    /// All NaNs of a sign.
    Nan { is_negative: bool },
}

pub(super) enum Class {
    Nan,
    Infinite,
    /// The mantissa times two to the power.
    Finite {
        mantissa: u64,
        power: i32,
    },
}

impl FloatValue {
    pub fn is_negative(self) -> bool {
        self.bits & self.format.sign() != 0
    }

    /// Its place among the floats without a sign, 0 the first, infinity the last; those after that are NaNs. A format's first digit does not count,
    /// as it follows from the exponent.
    pub(super) fn place(self) -> u128 {
        let magnitude = self.bits & (self.format.sign() - 1);
        match self.format {
            Format::Single | Format::Double => magnitude,
            Format::Extended => magnitude >> 64 << 63 | magnitude & (u128::MAX >> 65),
        }
    }

    pub(super) fn at_place(format: Format, is_negative: bool, place: u128) -> FloatValue {
        let magnitude = match format {
            Format::Single | Format::Double => place,
            Format::Extended => {
                let (exponent, fraction) = (place >> 63, place & (u128::MAX >> 65));
                exponent << 64 | u128::from(exponent != 0) << 63 | fraction
            }
        };
        FloatValue { format, bits: magnitude | if is_negative { format.sign() } else { 0 } }
    }

    /// The place of infinity.
    pub(super) fn infinity(format: Format) -> u128 {
        ((1 << format.exponent_bits()) - 1) << (format.digits() - 1)
    }

    pub(super) fn class(self) -> Class {
        let fraction_bits = self.format.digits() - 1;
        let (place, infinity) = (self.place(), FloatValue::infinity(self.format));
        if place >= infinity {
            return if place == infinity { Class::Infinite } else { Class::Nan };
        }
        let exponent = place >> fraction_bits;
        let fraction = place & ((1 << fraction_bits) - 1);
        let first_digit = u128::from(exponent != 0) << fraction_bits;
        let bias = (1 << (self.format.exponent_bits() - 1)) - 1;
        let power = exponent.max(1) as i32 - bias - fraction_bits as i32;
        Class::Finite { mantissa: (fraction | first_digit) as u64, power }
    }

    /// Its exact value without its sign; `None` if it is no number.
    pub(super) fn decimal(self) -> Option<Decimal> {
        match self.class() {
            Class::Finite { mantissa, power } => Some(Decimal::of_binary(mantissa, power)),
            Class::Infinite | Class::Nan => None,
        }
    }
}

impl Conversion {
    /// In lower case.
    pub(super) fn float(&self, style: FloatStyle, value: FloatValue) -> Number {
        let word = |word: &str| Number {
            prefix: self.sign(value.is_negative()).to_owned(),
            digits: word.to_owned(),
            takes_zeroes: false,
        };
        match value.class() {
            Class::Nan => word("nan"),
            Class::Infinite => word("inf"),
            Class::Finite { .. } if style == FloatStyle::Hexadecimal => self.hexadecimal(value),
            Class::Finite { mantissa, power } => {
                let digits = self.decimal(style, Decimal::of_binary(mantissa, power));
                Number { prefix: self.sign(value.is_negative()).to_owned(), digits, takes_zeroes: true }
            }
        }
    }

    fn decimal(&self, style: FloatStyle, value: Decimal) -> String {
        let point = self.flags.alternate;
        let precision = self.known_precision().unwrap_or(6);
        match style {
            FloatStyle::Fixed | FloatStyle::Hexadecimal => value.fixed(precision, point),
            FloatStyle::Exponent => {
                let (mantissa, power, _) = value.scientific(precision, point);
                mantissa + &power
            }
            FloatStyle::General => {
                let precision = precision.max(1);
                let (mantissa, text, power) = value.clone().scientific(precision - 1, point);
                if (-4..precision as i64).contains(&i64::from(power)) {
                    let after_point = (precision as i64 - 1 - i64::from(power)) as usize;
                    self.without_zeroes(value.fixed(after_point, point))
                } else {
                    self.without_zeroes(mantissa) + &text
                }
            }
        }
    }

    /// `%g` leaves out zeroes at the end, and a point that nothing follows, unless `#` is there.
    fn without_zeroes(&self, digits: String) -> String {
        if self.flags.alternate || !digits.contains('.') {
            return digits;
        }
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}
