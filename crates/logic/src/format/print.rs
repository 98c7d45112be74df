//! What conversions print.

use super::float::FloatValue;
use super::{Conversion, Kind};

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of an integer, a character or a pointer; bits that are not printed do not count.
    Integer(u64),
    Float(FloatValue),
    /// The bytes at the pointer, up to the NUL or as many as are looked at.
    Text(Vec<u8>),
}

/// A number before it is padded.
pub(super) struct Number {
    /// `-`, `+`, a blank, `0x`.
    pub prefix: String,
    pub digits: String,
    /// Whether the flag `0` pads it.
    pub takes_zeroes: bool,
}

impl Conversion {
    /// The bytes that this argument is printed as; `None` if it is of another kind. Widths and precisions are known.
    pub fn print(&self, value: &Value) -> Option<Vec<u8>> {
        match (self.kind, value) {
            (Kind::Character, Value::Integer(value)) => Some(self.padded(&[*value as u8])),
            (Kind::Text, Value::Text(text)) => {
                let shown = text.len().min(self.known_precision().unwrap_or(usize::MAX));
                Some(self.padded(text.get(..shown)?))
            }
            (Kind::Pointer, Value::Integer(0)) => Some(self.padded(b"(nil)")),
            (
                Kind::Signed | Kind::Unsigned | Kind::Octal | Kind::Hexadecimal { .. } | Kind::Pointer,
                Value::Integer(value),
            ) => Some(self.padded_number(&self.integer(*value))),
            (Kind::Float { style, upper }, Value::Float(value)) => {
                let number = self.float(style, *value);
                let number = if upper { upper_case(number) } else { number };
                Some(self.padded_number(&number))
            }
            (_, Value::Integer(_) | Value::Float(_) | Value::Text(_)) => None,
        }
    }

    /// The sign that a number is printed with.
    pub(super) fn sign(&self, is_negative: bool) -> &'static str {
        match is_negative {
            true => "-",
            false if self.flags.plus => "+",
            false if self.flags.blank => " ",
            false => "",
        }
    }

    fn integer(&self, value: u64) -> Number {
        let unused = 64 - self.bits();
        let unsigned = value << unused >> unused;
        let signed = (value << unused) as i64 >> unused;
        let (mut prefix, mut digits) = match self.kind {
            Kind::Signed => (self.sign(signed < 0).to_owned(), signed.unsigned_abs().to_string()),
            Kind::Octal => (String::new(), format!("{unsigned:o}")),
            Kind::Hexadecimal { upper: true } => ("0X".to_owned(), format!("{unsigned:X}")),
            Kind::Hexadecimal { upper: false } => ("0x".to_owned(), format!("{unsigned:x}")),
            Kind::Pointer => (format!("{}0x", self.sign(false)), format!("{unsigned:x}")),
            Kind::Unsigned | Kind::Character | Kind::Text | Kind::Float { .. } => {
                (String::new(), unsigned.to_string())
            }
        };
        if matches!(self.kind, Kind::Hexadecimal { .. }) && (!self.flags.alternate || unsigned == 0) {
            prefix.clear();
        }
        let precision = self.known_precision();
        if unsigned == 0 && precision == Some(0) {
            digits.clear();
        }
        let missing = precision.unwrap_or(1).saturating_sub(digits.len());
        digits.insert_str(0, &"0".repeat(missing));
        if self.kind == Kind::Octal && self.flags.alternate && !digits.starts_with('0') {
            digits.insert(0, '0');
        }
        Number { prefix, digits, takes_zeroes: precision.is_none() }
    }

    fn padded_number(&self, number: &Number) -> Vec<u8> {
        let Number { prefix, digits, takes_zeroes } = number;
        let missing = self.known_width().saturating_sub(prefix.len() + digits.len());
        let is_zero_padded = self.flags.zeroes && !self.flags.left && *takes_zeroes;
        let zeroes = if is_zero_padded { "0".repeat(missing) } else { String::new() };
        self.padded(format!("{prefix}{zeroes}{digits}").as_bytes())
    }

    fn padded(&self, text: &[u8]) -> Vec<u8> {
        let blanks = vec![b' '; self.known_width().saturating_sub(text.len())];
        match self.flags.left {
            true => [text, &blanks].concat(),
            false => [&blanks, text].concat(),
        }
    }
}

fn upper_case(number: Number) -> Number {
    Number {
        prefix: number.prefix.to_uppercase(),
        digits: number.digits.to_uppercase(),
        takes_zeroes: number.takes_zeroes,
    }
}
