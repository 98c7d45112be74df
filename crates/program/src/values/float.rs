//! Floating-point numbers as printf's %g writes them, exactly, for every size that the processor has.

/// A number as sign, integer and power of two.
enum Number {
    Finite { negative: bool, mantissa: u128, exponent: i32 },
    Infinite { negative: bool },
    Nan { negative: bool, payload: u128 },
    Invalid,
}

/// The text of a little-endian float of 4, 8, 10, 12 or 16 bytes; `None` for other sizes. Those of more than 8 bytes
/// are in the processor's 80-bit format, or all of their bits count when `is_quadruple`. So many digits are shown that
/// no two numbers look alike.
pub(crate) fn text(bytes: &[u8], is_quadruple: bool) -> Option<String> {
    let word = |range: std::ops::Range<usize>| {
        let part = bytes.get(range)?;
        Some(part.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte)))
    };
    let (number, digits) = match bytes.len() {
        4 => (ieee(u128::from(word(0..4)?), 8, 23), 9),
        8 => (ieee(u128::from(word(0..8)?), 11, 52), 17),
        16 if is_quadruple => (ieee(u128::from_le_bytes(bytes.try_into().ok()?), 15, 112), 36),
        10 | 12 | 16 => (extended(word(0..8)?, word(8..10)?), 21),
        _ => return None,
    };
    Some(match number {
        Number::Invalid => "<invalid float value>".to_owned(),
        Number::Infinite { negative } => if negative { "-inf" } else { "inf" }.to_owned(),
        Number::Nan { negative, payload } => {
            format!("{}nan({payload:#x})", if negative { "-" } else { "" })
        }
        Number::Finite { negative, mantissa, exponent } => {
            format!("{}{}", if negative { "-" } else { "" }, general(mantissa, exponent, digits))
        }
    })
}

fn ieee(bits: u128, exponent_bits: u32, mantissa_bits: u32) -> Number {
    let negative = bits >> (exponent_bits + mantissa_bits) & 1 == 1;
    let largest = (1u128 << exponent_bits) - 1;
    let exponent = bits >> mantissa_bits & largest;
    let fraction = bits & ((1 << mantissa_bits) - 1);
    let bias = (1i32 << (exponent_bits - 1)) - 1 + mantissa_bits as i32;
    match exponent {
        0 => Number::Finite { negative, mantissa: fraction, exponent: 1 - bias },
        _ if exponent == largest && fraction == 0 => Number::Infinite { negative },
        _ if exponent == largest => Number::Nan { negative, payload: fraction },
        _ => Number::Finite {
            negative,
            mantissa: fraction | 1 << mantissa_bits,
            exponent: exponent as i32 - bias,
        },
    }
}

/// The 80-bit format, whose leading one is written out.
fn extended(mantissa: u64, rest: u64) -> Number {
    let negative = rest >> 15 & 1 == 1;
    match (rest & 0x7fff, mantissa) {
        (0x7fff, 0x8000_0000_0000_0000) => Number::Infinite { negative },
        (0x7fff, _) => Number::Nan { negative, payload: u128::from(mantissa) },
        // Without its leading one it is no number, and the processor takes it for none.
        (1.., ..0x8000_0000_0000_0000) => Number::Invalid,
        (exponent, _) => Number::Finite {
            negative,
            mantissa: u128::from(mantissa),
            exponent: (exponent as i32).max(1) - 16383 - 63,
        },
    }
}

/// `mantissa` times a power of two, as %g with so many digits.
fn general(mantissa: u128, exponent: i32, digits: usize) -> String {
    if mantissa == 0 {
        return "0".to_owned();
    }
    let (text, point) = decimal(mantissa, exponent);
    let (rounded, point) = round(&text, point, digits);
    let scientific = point - 1;
    let rounded = rounded.trim_end_matches('0');
    if scientific < -4 || scientific >= digits as i32 {
        let (first, rest) = rounded.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        let sign = if scientific < 0 { '-' } else { '+' };
        return format!("{first}{dot}{rest}e{sign}{:02}", scientific.abs());
    }
    if point <= 0 {
        return format!("0.{}{rounded}", "0".repeat(point.unsigned_abs() as usize));
    }
    let point = point as usize;
    if rounded.len() <= point {
        return format!("{rounded}{}", "0".repeat(point - rounded.len()));
    }
    let (whole, fraction) = rounded.split_at(point);
    format!("{whole}.{fraction}")
}

/// All decimal digits, and how many of them are before the point.
fn decimal(mantissa: u128, exponent: i32) -> (String, i32) {
    let mut number = Big((0..4).map(|part| (mantissa >> (32 * part)) as u32).collect());
    if exponent >= 0 {
        number.shift(exponent as u32);
        let text = number.text();
        let point = text.len() as i32;
        return (text, point);
    }
    // m / 2^k is m * 5^k / 10^k.
    for _ in 0..exponent.unsigned_abs() {
        number.multiply(5);
    }
    let text = number.text();
    let point = text.len() as i32 + exponent;
    (text, point)
}

/// To nearest, ties to even, as printf does it.
fn round(text: &str, point: i32, digits: usize) -> (String, i32) {
    let bytes = text.as_bytes();
    let (Some(kept), Some(next)) = (bytes.get(..digits), bytes.get(digits)) else {
        return (text.to_owned(), point);
    };
    let rest_is_zero = bytes.iter().skip(digits + 1).all(|digit| *digit == b'0');
    let last_is_odd = kept.last().is_some_and(|digit| digit % 2 == 1);
    let up = *next > b'5' || *next == b'5' && (!rest_is_zero || last_is_odd);
    let mut kept = kept.to_vec();
    if up {
        for digit in kept.iter_mut().rev() {
            if *digit == b'9' {
                *digit = b'0';
            } else {
                *digit += 1;
                return (String::from_utf8_lossy(&kept).into_owned(), point);
            }
        }
        kept.insert(0, b'1');
        kept.pop();
        return (String::from_utf8_lossy(&kept).into_owned(), point + 1);
    }
    (String::from_utf8_lossy(&kept).into_owned(), point)
}

/// A number of any size, least significant part first.
struct Big(Vec<u32>);

impl Big {
    fn multiply(&mut self, factor: u32) {
        let mut carry = 0u64;
        for part in &mut self.0 {
            let product = u64::from(*part) * u64::from(factor) + carry;
            *part = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn shift(&mut self, bits: u32) {
        for _ in 0..bits / 31 {
            self.multiply(1 << 31);
        }
        self.multiply(1 << (bits % 31));
    }

    /// In decimal, without leading zeros.
    fn text(mut self) -> String {
        let mut groups = Vec::new();
        while self.0.iter().any(|part| *part != 0) {
            let mut rest = 0u64;
            for part in self.0.iter_mut().rev() {
                let value = rest << 32 | u64::from(*part);
                *part = (value / 1_000_000_000) as u32;
                rest = value % 1_000_000_000;
            }
            while self.0.last() == Some(&0) {
                self.0.pop();
            }
            groups.push(rest);
        }
        let text: String = groups.iter().rev().map(|group| format!("{group:09}")).collect();
        text.trim_start_matches('0').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn numbers_print_as_printf_prints_them() {
        let double = |value: f64| text(&value.to_le_bytes(), false).unwrap();
        assert_eq!(double(0.1), "0.10000000000000001");
        assert_eq!(double(1.0), "1");
        assert_eq!(double(-2.5), "-2.5");
        assert_eq!(double(1e100), "1e+100");
        assert_eq!(double(1e16), "10000000000000000");
        assert_eq!(double(1e17), "1e+17");
        assert_eq!(double(123456789012345678.0), "1.2345678901234568e+17");
        assert_eq!(double(0.0001), "0.0001");
        assert_eq!(double(0.00001), "1.0000000000000001e-05");
        assert_eq!(double(5e-324), "4.9406564584124654e-324");
        assert_eq!(double(f64::MAX), "1.7976931348623157e+308");
        assert_eq!(double(0.5), "0.5");
        assert_eq!(double(-0.0), "-0");
        assert_eq!(double(f64::INFINITY), "inf");
        assert_eq!(double(f64::NAN), "nan(0x8000000000000)");
        assert_eq!(text(&0.1f32.to_le_bytes(), false).unwrap(), "0.100000001");
        assert_eq!(text(&16777216f32.to_le_bytes(), false).unwrap(), "16777216");
    }

    #[test]
    fn the_processors_long_format_is_read() {
        let mut one_and_a_half = [0u8; 16];
        one_and_a_half[7] = 0xc0;
        one_and_a_half[8] = 0xff;
        one_and_a_half[9] = 0x3f;
        assert_eq!(text(&one_and_a_half, false).unwrap(), "1.5");
        one_and_a_half[7] = 0x40;
        assert_eq!(text(&one_and_a_half, false).unwrap(), "<invalid float value>");
        let tenth = 0x3ffb_cccc_cccc_cccc_cccdu128.to_le_bytes();
        assert_eq!(text(&tenth, false).unwrap(), "0.100000000000000000001");
        let quadruple = 0x3fff_8000_0000_0000_0000_0000_0000_0001u128.to_le_bytes();
        assert_eq!(text(&quadruple, true).unwrap(), "1.50000000000000000000000000000000019");
    }
}
