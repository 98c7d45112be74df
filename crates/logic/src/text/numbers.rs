//! Constants as C has them.

use super::Kind;
use crate::Sort;
use crate::term::Format;

/// A constant of a sort, read as a kind of value.
pub fn number(sort: Sort, value: u128, kind: Kind) -> String {
    match sort {
        Sort::Bool => (if value == 0 { "false" } else { "true" }).to_owned(),
        Sort::Float(format) => float(format, value),
        Sort::Bits(width) => match (kind, width) {
            (Kind::Float, 32) => float(Format::Single, value),
            (Kind::Float, 64) => float(Format::Double, value),
            (Kind::Float, 80) => float(Format::Extended, value),
            (Kind::Pointer, _) if value == 0 => "NULL".to_owned(),
            (Kind::Pointer, _) => format!("{value:#x}"),
            (Kind::Unsigned, _) => value.to_string(),
            (Kind::Signed | Kind::Float, _) => signed(width, value).to_string(),
        },
    }
}

/// Whether a constant is negative when it is read as a signed number.
pub fn is_negative(width: u32, value: u128) -> bool {
    width > 0 && value >> (width - 1) & 1 == 1
}

fn signed(width: u8, value: u128) -> i128 {
    let shift = 128 - u32::from(width);
    ((value << shift) as i128) >> shift
}

/// The shortest decimal number that is this float and no other.
fn float(format: Format, value: u128) -> String {
    match format {
        Format::Single => format!("{:?}f", f32::from_bits(value as u32)),
        Format::Double => format!("{:?}", f64::from_bits(value as u64)),
        Format::Extended => extended(value),
    }
}

/// An 80-bit float in hexadecimal, as `%La` has it: exact, and C reads it.
fn extended(value: u128) -> String {
    let sign = if value >> 79 & 1 == 1 { "-" } else { "" };
    let exponent = (value >> 64 & 0x7fff) as i32;
    let significand = value as u64;
    match (exponent, significand) {
        (0x7fff, significand) if significand << 1 == 0 => format!("{sign}inf"),
        (0x7fff, _) => format!("{sign}nan"),
        (_, 0) => format!("{sign}0.0L"),
        _ => {
            let zeros = significand.leading_zeros();
            let exponent = exponent.max(1) - 16383 - zeros as i32;
            let fraction = significand.checked_shl(zeros + 1).unwrap_or(0);
            match format!("{fraction:016x}").trim_end_matches('0') {
                "" => format!("{sign}0x1p{exponent:+}L"),
                digits => format!("{sign}0x1.{digits}p{exponent:+}L"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_as_its_kind_has_it() {
        assert_eq!(number(Sort::Bits(32), 0xffff_ffff, Kind::Signed), "-1");
        assert_eq!(number(Sort::Bits(32), 0xffff_ffff, Kind::Unsigned), "4294967295");
        assert_eq!(number(Sort::Bits(64), 0, Kind::Pointer), "NULL");
        assert_eq!(number(Sort::Bits(64), 0x4010, Kind::Pointer), "0x4010");
        assert_eq!(number(Sort::Bits(64), u128::from(9.915f64.to_bits()), Kind::Float), "9.915");
        assert_eq!(number(Sort::Float(Format::Single), u128::from(2.5f32.to_bits()), Kind::Signed), "2.5f");
        assert_eq!(number(Sort::Bool, 1, Kind::Signed), "true");
        assert_eq!(number(Sort::Bits(128), u128::MAX, Kind::Signed), "-1");
    }

    #[test]
    fn an_extended_float_is_written_exactly() {
        let one = 0x3fff_8000_0000_0000_0000u128;
        assert_eq!(number(Sort::Float(Format::Extended), one, Kind::Float), "0x1p+0L");
        let one_and_a_half = 0x3fff_c000_0000_0000_0000u128;
        assert_eq!(number(Sort::Float(Format::Extended), one_and_a_half, Kind::Float), "0x1.8p+0L");
        assert_eq!(number(Sort::Float(Format::Extended), 0, Kind::Float), "0.0L");
        let least = 1u128;
        assert_eq!(number(Sort::Float(Format::Extended), least, Kind::Float), "0x1p-16445L");
        let infinity = 0xffff_8000_0000_0000_0000u128;
        assert_eq!(number(Sort::Float(Format::Extended), infinity, Kind::Float), "-inf");
    }
}
