//! From a printed text back to the arguments that print so.

use super::decimal::Decimal;
use super::float::{FloatSet, FloatValue};
use super::print::Value;
use super::wanted::{TextValue, Wanted};
use super::{Amount, Conversion, FloatStyle, Kind, Length};
use crate::term::Format;
use std::cmp::Ordering;

/// Longer texts are not read back.
const LONGEST: usize = 1 << 16;
/// Powers of ten and of two beyond all floats.
const HIGHEST_POWER: i32 = 20_000;

/// No argument of this conversion prints so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no argument is printed so by this conversion")]
pub struct Impossible;

impl Conversion {
    /// The arguments that print as this text.
    pub fn invert(&self, text: &[u8]) -> Result<Wanted, Impossible> {
        let is_known = !matches!(self.width, Some(Amount::Argument(_)))
            && !matches!(self.precision, Some(Amount::Argument(_)));
        if text.len() > LONGEST || !is_known {
            return Err(Impossible);
        }
        match self.kind {
            Kind::Text => self.invert_text(text),
            Kind::Float { style, .. } => self.invert_float(style, text),
            Kind::Character => {
                let byte = if self.flags.left { text.first() } else { text.last() };
                self.confirmed_integer(u64::from(*byte.ok_or(Impossible)?), text)
            }
            Kind::Signed => self.confirmed_integer(integer(text, 10)?, text),
            Kind::Unsigned => self.confirmed_integer(integer(text, 10)?, text),
            Kind::Octal => self.confirmed_integer(integer(text, 8)?, text),
            Kind::Hexadecimal { .. } => self.confirmed_integer(integer(text, 16)?, text),
            Kind::Pointer if text.trim_ascii() == b"(nil)" => self.confirmed_integer(0, text),
            Kind::Pointer => self.confirmed_integer(integer(text, 16)?, text),
        }
    }

    /// Whether any argument prints so; faster than to find them all.
    pub(super) fn can_print(&self, text: &[u8]) -> bool {
        match self.kind {
            Kind::Float { style, .. } if text.len() <= LONGEST => {
                self.float_printed_so(style, text).is_some()
            }
            _ => self.invert(text).is_ok(),
        }
    }

    fn prints(&self, value: &Value, text: &[u8]) -> bool {
        self.print(value).is_some_and(|printed| printed == text)
    }

    fn confirmed_integer(&self, value: u64, text: &[u8]) -> Result<Wanted, Impossible> {
        let mask = u64::MAX >> (64 - self.bits());
        match self.prints(&Value::Integer(value), text) {
            true => Ok(Wanted::Integer { bits: self.bits(), value: value & mask }),
            false => Err(Impossible),
        }
    }

    /// Blanks may be padding or the argument's own.
    fn invert_text(&self, text: &[u8]) -> Result<Wanted, Impossible> {
        let is_blank = |byte: &&u8| **byte == b' ';
        let blanks = match self.flags.left {
            true => text.iter().rev().take_while(is_blank).count(),
            false => text.iter().take_while(is_blank).count(),
        };
        let argument = |padding: usize| match self.flags.left {
            true => text[..text.len() - padding].to_vec(),
            false => text[padding..].to_vec(),
        };
        let precision = self.known_precision();
        let alternatives: Vec<TextValue> = (0..=blanks)
            .map(argument)
            .filter(|bytes| self.prints(&Value::Text(bytes.clone()), text) && !bytes.contains(&0))
            .map(|bytes| TextValue { ends: precision.is_none_or(|precision| bytes.len() < precision), bytes })
            .collect();
        if alternatives.is_empty() { Err(Impossible) } else { Ok(Wanted::Text(alternatives)) }
    }

    fn invert_float(&self, style: FloatStyle, text: &[u8]) -> Result<Wanted, Impossible> {
        let found = self.float_printed_so(style, text).ok_or(Impossible)?;
        let (format, is_negative) = (found.format, found.is_negative());
        let at = |place: u128| FloatValue::at_place(format, is_negative, place);
        let prints = |place: u128| self.prints(&Value::Float(at(place)), text);
        let (infinity, place) = (FloatValue::infinity(format), found.place());
        let set = if place > infinity {
            FloatSet::Nan { is_negative }
        } else {
            // Beyond infinity nothing prints as a number does, and below zero there is nothing.
            let least = first(0, place, prints);
            let most = infinity - first(0, infinity - place, |below| prints(infinity - below));
            FloatSet::Between(at(least), at(most))
        };
        Ok(Wanted::Float { format, set })
    }

    /// One of the floats that print as this text.
    fn float_printed_so(&self, style: FloatStyle, text: &[u8]) -> Option<FloatValue> {
        let format = if self.length == Length::LongDouble { Format::Extended } else { Format::Double };
        let (is_negative, digits) = match text.trim_ascii() {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] => (false, digits),
            digits => (false, digits),
        };
        let infinity = FloatValue::infinity(format);
        let place = match digits.to_ascii_lowercase().as_slice() {
            b"nan" => infinity + 1,
            b"inf" => infinity,
            number => nearest(format, &read(style, number)?),
        };
        // The nearest prints so if any does, unless it is on the wrong side of a power of ten.
        [place, place.saturating_sub(1), place.saturating_add(1)]
            .map(|place| FloatValue::at_place(format, is_negative, place))
            .into_iter()
            .find(|value| self.prints(&Value::Float(*value), text))
    }
}

/// The first place for which it is so; it is for the last, and from the first one on for all.
fn first(mut start: u128, mut last: u128, is_so: impl Fn(u128) -> bool) -> u128 {
    while start < last {
        let middle = start + (last - start) / 2;
        if is_so(middle) {
            last = middle;
        } else {
            start = middle + 1;
        }
    }
    start
}

/// The place of the first float that is not below a number. The nearest is that or the one before.
fn nearest(format: Format, number: &Decimal) -> u128 {
    let infinity = FloatValue::infinity(format);
    let is_at_least = |place: u128| {
        let value = FloatValue::at_place(format, false, place).decimal();
        value.is_none_or(|value| value.cmp(number) != Ordering::Less)
    };
    first(0, infinity, is_at_least)
}

/// The digits of an integer, modulo 2^64; none are zero.
fn integer(text: &[u8], radix: u32) -> Result<u64, Impossible> {
    let text = std::str::from_utf8(text).map_err(|_| Impossible)?.trim_matches(' ');
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = match radix {
        16 => digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")).unwrap_or(digits),
        _ => digits,
    };
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    let number = u64::from_str_radix(digits, radix).map_err(|_| Impossible)?;
    Ok(if is_negative { number.wrapping_neg() } else { number })
}

/// A number without a sign, in lower case.
fn read(style: FloatStyle, text: &[u8]) -> Option<Decimal> {
    let text = std::str::from_utf8(text).ok()?;
    if style == FloatStyle::Hexadecimal {
        return read_hexadecimal(text.strip_prefix("0x")?);
    }
    let (mantissa, power) = match text.split_once('e') {
        Some((mantissa, power)) => (mantissa, power_of(power)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Option<Vec<u8>> = whole
        .bytes()
        .chain(fraction.bytes())
        .map(|byte| byte.is_ascii_digit().then(|| byte - b'0'))
        .collect();
    let digits = digits.filter(|digits| !digits.is_empty())?;
    Some(Decimal::of_digits(&digits, whole.len(), power))
}

fn power_of(text: &str) -> Option<i32> {
    let power: i32 = text.parse().ok()?;
    (power.abs() <= HIGHEST_POWER).then_some(power)
}

fn read_hexadecimal(text: &str) -> Option<Decimal> {
    let (mantissa, power) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    // No float has more digits than fit.
    let mantissa = u64::from_str_radix(&digits, 16).ok()?;
    Some(Decimal::of_binary(mantissa, power_of(power)? - 4 * fraction.len() as i32))
}
