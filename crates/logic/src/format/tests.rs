//! The C library's own printing is the oracle.

use super::*;
use crate::random::{Random, rounds};
use crate::term::{Assignment, Evaluation, Format as FloatFormat, Sort, Terms};
use std::ffi::CString;

impl Random {
    /// Flags, width, precision.
    fn options(&mut self, most_precision: usize) -> String {
        let mut text = String::new();
        for flag in "-+ #0'".chars() {
            if self.below(4) == 0 {
                text.push(flag);
            }
        }
        if self.below(2) == 0 {
            text += &(1 + self.below(24)).to_string();
        }
        match self.below(5) {
            0 => text.push('.'),
            1 | 2 => text += &format!(".{}", self.below(most_precision)),
            _ => {}
        }
        text
    }

    fn integer(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(20) as u64,
            1 => self.any() >> self.below(64),
            2 => (self.below(200) as i64 - 100) as u64,
            _ => self.pick(&[0, u64::MAX, 1 << 31, 1 << 63, 0x7fff_ffff, 0xffff_ffff, 255, 128]),
        }
    }

    /// Round numbers, ties, and any.
    fn printed_float(&mut self, format: FloatFormat) -> FloatValue {
        let place = match self.below(6) {
            0 => {
                let number = (self.below(100_000) as f64) / self.pick(&[1.0, 2.0, 8.0, 10.0, 100.0, 1000.0]);
                return converted(format, number);
            }
            1 => return converted(format, 10f64.powi(self.below(40) as i32 - 20)),
            2 => self.pick(&[0, 1, FloatValue::infinity(format), FloatValue::infinity(format) - 1]),
            3 => FloatValue::infinity(format) + 1 + self.below(1000) as u128,
            // Moderate exponents.
            4 => return converted(format, f64::from_bits(0x3ff0_0000_0000_0000 + (self.any() >> 5))),
            _ => {
                let any = u128::from(self.any()) << 64 | u128::from(self.any());
                any % FloatValue::infinity(format)
            }
        };
        FloatValue::at_place(format, self.below(2) == 0, place)
    }
}

fn converted(format: FloatFormat, number: f64) -> FloatValue {
    let mut terms = Terms::new();
    let term = terms.float(FloatFormat::Double, number.to_bits().into());
    let term = terms.float_convert(format, crate::term::Rounding::Nearest, term);
    FloatValue { format, bits: terms.constant(term).expect("a constant") }
}

/// A long double as the C library's functions take it after a `...`: in memory, 16 bytes aligned. Larger than what registers hold, so that it is.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct LongDouble([u64; 4]);

/// What the C library prints.
fn c_prints(format: &str, value: &Value) -> Vec<u8> {
    let format = CString::new(format).expect("no NUL");
    let mut buffer = vec![0u8; 8192];
    let (start, size) = (buffer.as_mut_ptr().cast(), buffer.len());
    // SAFETY: the buffer has that size, the format has one conversion, and its argument is of the kind that the conversion takes.
    let count = unsafe {
        match value {
            Value::Integer(value) => libc::snprintf(start, size, format.as_ptr(), *value),
            Value::Text(text) => {
                let text = CString::new(text.clone()).expect("no NUL");
                libc::snprintf(start, size, format.as_ptr(), text.as_ptr())
            }
            Value::Float(FloatValue { format: FloatFormat::Double, bits }) => {
                libc::snprintf(start, size, format.as_ptr(), f64::from_bits(*bits as u64))
            }
            Value::Float(FloatValue { bits, .. }) => {
                let argument = LongDouble([*bits as u64, (*bits >> 64) as u64, 0, 0]);
                libc::snprintf(start, size, format.as_ptr(), argument)
            }
        }
    };
    buffer.truncate(usize::try_from(count).expect("it fits"));
    buffer
}

fn conversion(format: &str) -> Conversion {
    match Format::parse(format.as_bytes()).expect("a format").pieces.as_slice() {
        [Piece::Conversion(conversion)] => *conversion,
        other => panic!("{other:?}"),
    }
}

/// Whether the term of what is wanted is true of an argument.
fn holds(wanted: &Wanted, sort: Sort, bits: u128) -> bool {
    let mut terms = Terms::new();
    let variable = terms.variable(sort);
    let argument = terms.of_variable(variable);
    let term = wanted.term(&mut terms, argument).expect("the argument has that sort");
    let mut assignment = Assignment::default();
    assignment.set(variable, bits);
    Evaluation::new(assignment).holds(&terms, term)
}

#[test]
fn integers_satisfy_what_they_print_and_others_do_not() {
    let mut random = Random::new(1);
    for _ in 0..rounds(60_000, 5_000_000) {
        let length = random.pick(&["", "hh", "h", "l", "ll", "j", "z", "t"]);
        let letter = random.pick(&["d", "i", "u", "x", "X", "o", "p", "c"]);
        let length = if matches!(letter, "p" | "c") { "" } else { length };
        let format = format!("%{}{length}{letter}", random.options(24));
        let conversion = conversion(&format);
        let value = random.integer();
        let text = c_prints(&format, &Value::Integer(value));
        let shown = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(
            conversion.print(&Value::Integer(value)),
            Some(text.clone()),
            "{format} of {value}: {shown:?}"
        );
        let wanted = conversion.invert(&text).unwrap_or_else(|_| panic!("{format} of {value}: {shown:?}"));
        for other in [value, value ^ 1 << random.below(64), random.integer(), value.wrapping_add(1)] {
            let is_same = c_prints(&format, &Value::Integer(other)) == text;
            assert_eq!(
                holds(&wanted, Sort::Bits(64), other.into()),
                is_same,
                "{format}: {value} and {other}"
            );
        }
    }
}

/// glibc before 2.37 prints `%#.3g` of 999.5 as `1.e+03`: when rounding changes the style, it forgets zeroes that `#` keeps.
fn is_defect(conversion: &Conversion, text: &[u8]) -> bool {
    let is_general = matches!(conversion.kind, Kind::Float { style: FloatStyle::General, .. });
    let text = String::from_utf8_lossy(text).to_lowercase();
    let has_zeroes = conversion.known_precision().unwrap_or(6) > 1;
    is_general && conversion.flags.alternate && has_zeroes && text.contains("1.e")
}

/// Both ends of the set print so, and what is beyond them does not.
fn check_floats(seed: u64, count: usize, format: FloatFormat) {
    let mut random = Random::new(seed);
    let length = if format == FloatFormat::Extended { "L" } else { "" };
    for _ in 0..count {
        let letter = random.pick(&["f", "F", "e", "E", "g", "G", "a", "A"]);
        let most_precision = if random.below(10) == 0 { 60 } else { 20 };
        let text_format = format!("%{}{length}{letter}", random.options(most_precision));
        let conversion = conversion(&text_format);
        let value = random.printed_float(format);
        let prints = |value: FloatValue| {
            let value = Value::Float(value);
            let text = c_prints(&text_format, &value);
            if is_defect(&conversion, &text) { conversion.print(&value).unwrap_or_default() } else { text }
        };
        let text = prints(value);
        let shown = String::from_utf8_lossy(&text).into_owned();
        let own = conversion.print(&Value::Float(value)).unwrap_or_default();
        let told =
            format!("{text_format} of {value:x?}: {shown:?}, ours {:?}", String::from_utf8_lossy(&own));
        assert_eq!(own, text, "{told}");
        let wanted = conversion.invert(&text).unwrap_or_else(|_| panic!("{told}"));
        let Wanted::Float { set, .. } = &wanted else { panic!("{told}") };
        assert!(set.contains(value), "{told}: {set:x?}");
        assert!(holds(&wanted, Sort::Float(format), value.bits), "{told}: {set:x?}");
        let others = match set {
            FloatSet::Between(least, most) => {
                assert!(prints(*least) == text && prints(*most) == text, "{told}: {set:x?}");
                let at = |place| FloatValue::at_place(format, value.is_negative(), place);
                vec![at(most.place() + 1), at(least.place().saturating_sub(1)), random.printed_float(format)]
            }
            FloatSet::Nan { .. } => vec![random.printed_float(format)],
        };
        for other in others.into_iter().chain([FloatValue { format, bits: value.bits ^ format.sign() }]) {
            let is_same = prints(other) == text;
            assert_eq!(set.contains(other), is_same, "{told}: {set:x?} and {other:x?}");
            assert_eq!(holds(&wanted, Sort::Float(format), other.bits), is_same, "{told} and {other:x?}");
        }
    }
}

#[test]
fn doubles_satisfy_what_they_print_and_their_neighbours_do_not() {
    check_floats(2, rounds(4_000, 400_000), FloatFormat::Double);
}

#[test]
fn long_doubles_satisfy_what_they_print_and_their_neighbours_do_not() {
    check_floats(3, rounds(80, 20_000), FloatFormat::Extended);
}

#[test]
fn texts_satisfy_what_they_print_and_others_do_not() {
    let mut random = Random::new(4);
    let text =
        |random: &mut Random| -> Vec<u8> { (0..random.below(6)).map(|_| random.pick(b" ab")).collect() };
    for _ in 0..rounds(20_000, 1_000_000) {
        let format = format!("%{}s", random.options(7).replace(['0', '#', '+', '\''], ""));
        let conversion = conversion(&format);
        let value = text(&mut random);
        let printed = c_prints(&format, &Value::Text(value.clone()));
        assert_eq!(
            conversion.print(&Value::Text(value.clone())),
            Some(printed.clone()),
            "{format} of {value:?}"
        );
        let wanted = conversion.invert(&printed).unwrap_or_else(|_| panic!("{format} of {value:?}"));
        for other in [value.clone(), text(&mut random)] {
            let is_same = c_prints(&format, &Value::Text(other.clone())) == printed;
            let mut terms = Terms::new();
            let bytes: Vec<_> =
                other.iter().copied().chain([0; 40]).map(|byte| terms.bits(8, byte.into())).collect();
            let term = wanted.text_term(&mut terms, &bytes).expect("enough bytes");
            assert_eq!(terms.constant(term), Some(is_same.into()), "{format}: {value:?} and {other:?}");
        }
    }
}

#[test]
fn impossible_texts_are_said_to_be_so() {
    for (format, text) in [
        ("%d", "12x"),
        ("%d", "+12"),
        ("%d", "2147483648"),
        ("%hhd", "200"),
        ("%u", "-1"),
        ("%x", "FF"),
        ("%5d", "12"),
        ("%05d", "   12"),
        ("%.2f", "9.925"),
        ("%.2f", "9.9"),
        ("%g", "1.50"),
        ("%.3g", "1234"),
        ("%e", "12.0e+00"),
        ("%f", "1e5"),
        ("%c", "ab"),
        ("%.2s", "abc"),
        ("%p", "nil"),
        ("%a", "0x3p+0"),
        ("%f", "infinity"),
        ("%.20f", "0.30000000000000000000"),
    ] {
        assert_eq!(conversion(format).invert(text.as_bytes()), Err(Impossible), "{format} {text}");
    }
}

#[test]
fn the_interval_of_a_printed_double_is_exact() {
    let Ok(Wanted::Float { set: FloatSet::Between(least, most), .. }) = conversion("%.2f").invert(b"9.92")
    else {
        panic!("doubles print so");
    };
    assert_eq!(
        [least.bits, most.bits].map(|bits| f64::from_bits(bits as u64)),
        [9.915000000000001, 9.924999999999999]
    );
    // What people take for the ends is just outside: 9.915 is a little less than that, and 9.925 a little more.
    assert_eq!([9.915, 9.925].map(|end| format!("{end:.2}")), ["9.91", "9.93"]);
}

#[test]
fn formats_are_laid_beside_texts() {
    let align =
        |format: &str, text: &str| Format::parse(format.as_bytes()).expect("a format").align(text.as_bytes());
    let aligned = align("x=%d, y=%5.2f%%\n", "x=-3, y= 9.92%\n").expect("it fits");
    let ranges: Vec<_> = aligned.parts.iter().map(|part| part.at.clone()).collect();
    assert_eq!(ranges, [2..4, 8..13]);
    assert_eq!(aligned.parts[0].wanted, Wanted::Integer { bits: 32, value: 0xffff_fffd });
    assert_eq!(align("%d%d", "123"), Err(Misfit::Ambiguous));
    assert!(align("%d%d", "12").is_ok());
    assert!(align("%d%d", "1-2").is_ok());
    assert_eq!(align("%s %s", "a b c"), Err(Misfit::Ambiguous));
    assert!(align("%s: %d\n", "a: b: 7\n").is_ok());
    assert_eq!(align("area %f", "area ten"), Err(Misfit::Impossible));
    assert_eq!(align("no conversion", "no conversion at all"), Err(Misfit::Impossible));
    assert!(align("100%%", "100%").is_ok_and(|aligned| aligned.parts.is_empty()));
    let long = "1".repeat(3000);
    assert!(align("%s%s", &long).is_err());
}

#[test]
fn widths_that_are_arguments_are_filled_in() {
    let format = Format::parse(b"%*d %.*f").expect("a format");
    let [Piece::Conversion(first), _, Piece::Conversion(second)] = format.pieces.as_slice() else { panic!() };
    assert_eq!((first.width, first.argument), (Some(Amount::Argument(0)), 1));
    assert_eq!((second.precision, second.argument), (Some(Amount::Argument(2)), 3));
    assert_eq!(first.invert(b"5"), Err(Impossible));
    let known =
        format.clone().with_amounts(|argument| [Some(-4), None, Some(1)].get(argument).copied().flatten());
    assert!(known.expect("they are known").align(b"7    2.5").is_ok());
    assert_eq!(format.with_amounts(|_| None), Err(FormatError::AmountNotKnown));
}

#[test]
fn formats_that_are_none_are_told() {
    let error = |format: &str| Format::parse(format.as_bytes()).expect_err("it is none");
    assert_eq!(error("%"), FormatError::Unfinished);
    assert_eq!(error("%5"), FormatError::Unfinished);
    assert_eq!(error("%n"), FormatError::Unsupported(b'n'));
    assert_eq!(error("%ls"), FormatError::Unsupported(b's'));
    assert_eq!(error("%1$d"), FormatError::Positional);
    assert_eq!(error("%99999999999d"), FormatError::TooLarge);
    // Any bytes are a format or none.
    let mut random = Random::new(5);
    for _ in 0..100_000 {
        let bytes: Vec<u8> =
            (0..random.below(12)).map(|_| random.pick(b"%%%d.s*5lhLfgx$-+ #0a\xff")).collect();
        if let Ok(format) = Format::parse(&bytes) {
            let _ = format.align(b"12 -3.5e+10 abc");
        }
    }
}
