//! Constants as they are written in C, and others that could stand in their place.

/// A number or a letter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Literal<'a> {
    value: Value,
    base: Base,
    /// As in `10u` and `1.5f`.
    suffix: &'a str,
}

/// How an integer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Decimal,
    Octal,
    /// With so many digits at the least.
    Hexadecimal(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    /// Wide enough for each integer of C.
    Integer(i128),
    Real(f64),
    Letter(u8),
}

impl<'a> Literal<'a> {
    /// `None` of anything else, and of what is rare: escaped letters, hexadecimal fractions.
    pub fn parse(text: &'a str) -> Option<Literal<'a>> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        if let [b'\'', letter, b'\''] = digits.as_bytes() {
            let is_plain = letter.is_ascii_graphic() || *letter == b' ';
            return is_plain.then_some(Literal {
                value: Value::Letter(*letter),
                base: Base::Decimal,
                suffix: "",
            });
        }
        integer(digits, sign).or_else(|| real(digits, sign))
    }

    /// One more, and one less.
    pub fn near(&self) -> Vec<String> {
        [1, -1].into_iter().filter_map(|step| self.written(self.value.plus(step))).collect()
    }

    pub fn ten_times(&self) -> Option<String> {
        let value = match self.value {
            Value::Integer(number) => Value::Integer(number.saturating_mul(10)),
            Value::Real(number) => Value::Real(number * 10.0),
            Value::Letter(_) => return None,
        };
        self.written(value)
    }

    /// What a function could return in its place: no for yes and yes for no, else one more or nothing.
    pub fn other_results(&self) -> Vec<String> {
        let nothing = match self.value {
            Value::Real(_) => Value::Real(0.0),
            Value::Integer(_) | Value::Letter(_) => Value::Integer(0),
        };
        let more = (self.value != nothing.plus(1)).then(|| self.value.plus(1));
        more.into_iter().chain([nothing]).filter_map(|value| self.written(value)).collect()
    }

    /// Another value in the same style, if it is another and the widest type has it.
    fn written(&self, value: Value) -> Option<String> {
        let suffix = self.suffix;
        match value {
            _ if value == self.value => None,
            Value::Integer(number) => {
                (number <= u64::MAX.into()).then(|| format!("{}{suffix}", self.base.digits(number)))
            }
            Value::Real(number) => number.is_finite().then(|| format!("{number:?}{suffix}")),
            Value::Letter(letter @ (b'\'' | b'\\' | 0..b' ' | 127..)) => Some(letter.to_string()),
            Value::Letter(letter) => Some(format!("'{}'", char::from(letter))),
        }
    }
}

impl Base {
    fn digits(self, number: i128) -> String {
        let sign = if number < 0 { "-" } else { "" };
        match (self, number.unsigned_abs()) {
            (Base::Hexadecimal(least), number) => format!("{sign}0x{number:0least$x}"),
            (Base::Octal, number) if number > 7 => format!("{sign}0{number:o}"),
            (Base::Octal | Base::Decimal, number) => format!("{sign}{number}"),
        }
    }
}

impl Value {
    fn plus(self, step: i8) -> Value {
        match self {
            Value::Integer(number) => Value::Integer(number.saturating_add(step.into())),
            Value::Real(number) => Value::Real(number + f64::from(step)),
            Value::Letter(letter) => Value::Letter(letter.saturating_add_signed(step)),
        }
    }
}

fn integer(text: &str, sign: i128) -> Option<Literal<'_>> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = text.get(digits.len()..)?;
    let (base, radix, digits) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => (Base::Hexadecimal(digits.len()), 16, digits),
        None if digits.len() > 1 && digits.starts_with('0') => (Base::Octal, 8, digits),
        None => (Base::Decimal, 10, digits),
    };
    let number = u64::from_str_radix(digits, radix).ok()?;
    Some(Literal { value: Value::Integer(sign * i128::from(number)), base, suffix })
}

fn real(text: &str, sign: i128) -> Option<Literal<'_>> {
    let digits = text.trim_end_matches(['f', 'F', 'l', 'L']);
    let suffix = text.get(digits.len()..)?;
    // An integer in a base that it does not fit, `inf` and `nan` are no fractions.
    let is_real = digits.contains(['.', 'e', 'E'])
        && digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let number = digits.parse::<f64>().ok().filter(|_| is_real)?;
    Some(Literal { value: Value::Real(if sign < 0 { -number } else { number }), base: Base::Decimal, suffix })
}
