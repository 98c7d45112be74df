//! Where a text first differs from what was expected.

use crate::case::{Bytes, Comparison};
use crate::failure::Difference;

/// Lines that are longer are cut.
const LONGEST_LINE: usize = 200;

/// A difference, by places in both texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub difference: Difference,
    pub actual: usize,
    pub expected: usize,
}

/// The first difference, if there is one. `is_exact` says that an end of line at the end of the text counts.
pub(super) fn mismatch(
    actual: &[u8],
    expected: &[u8],
    is_exact: bool,
    comparison: Comparison,
) -> Option<Mismatch> {
    let expected = if is_exact { expected } else { expected.strip_suffix(b"\n").unwrap_or(expected) };
    let found = if comparison == Comparison::default() {
        bytes(actual, expected)
    } else {
        words(actual, expected, comparison)
    };
    let mut found = found?;
    // With an end of line the text would be as expected, too; what is too much comes after it.
    let is_break = actual.get(found.actual) == Some(&b'\n');
    if !is_exact && found.difference == Difference::Surplus && is_break {
        found.actual += 1;
        if found.actual == actual.len() {
            return None;
        }
    }
    Some(found)
}

fn bytes(actual: &[u8], expected: &[u8]) -> Option<Mismatch> {
    let same = actual.iter().zip(expected).take_while(|(a, b)| a == b).count();
    let difference = match (same == actual.len(), same == expected.len()) {
        (true, true) => return None,
        (true, false) => Difference::Missing,
        (false, true) => Difference::Surplus,
        (false, false) => Difference::Different,
    };
    Some(Mismatch { difference, actual: same, expected: same })
}

/// What a text is made of when bytes are not all that counts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Word {
    /// White space, with an end of line in it or without.
    Space {
        is_break: bool,
    },
    Number(f64),
    Byte(u8),
    End,
}

fn words(actual: &[u8], expected: &[u8], comparison: Comparison) -> Option<Mismatch> {
    let (mut a, mut b) = (0, 0);
    if comparison.ignore_space {
        (a, b) = (a + space(actual, a), b + space(expected, b));
    }
    loop {
        let ((one, one_length), (two, two_length)) =
            (word(actual, a, comparison), word(expected, b, comparison));
        let (one_bytes, two_bytes) = (piece(actual, a, one_length), piece(expected, b, two_length));
        let is_equal = match (one, two) {
            (Word::End, Word::End) => return None,
            (Word::Number(x), Word::Number(y)) => one_bytes == two_bytes || is_near(x, y, comparison),
            (one, two) => one == two,
        };
        if !is_equal {
            let difference = match (one, two) {
                (Word::End, _) => Difference::Missing,
                (_, Word::End) => Difference::Surplus,
                _ => Difference::Different,
            };
            // Within two numbers, the first digit that differs.
            let same = match (one, two) {
                (Word::Number(_), Word::Number(_)) => {
                    one_bytes.iter().zip(two_bytes).take_while(|(x, y)| x == y).count()
                }
                // White space before what is too much would not count alone.
                (Word::Space { .. }, Word::End) => one_length,
                _ => 0,
            };
            return Some(Mismatch { difference, actual: a + same, expected: (b + same).min(expected.len()) });
        }
        a += one_length;
        b += two_length;
    }
}

fn piece(text: &[u8], at: usize, length: usize) -> &[u8] {
    text.get(at..at.saturating_add(length)).unwrap_or_default()
}

/// The word at a place, and how long it is.
fn word(text: &[u8], at: usize, comparison: Comparison) -> (Word, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let Some(first) = rest.first() else { return (Word::End, 0) };
    if comparison.ignore_space && first.is_ascii_whitespace() {
        let length = space(text, at);
        if length == rest.len() {
            return (Word::End, length);
        }
        return (Word::Space { is_break: piece(text, at, length).contains(&b'\n') }, length);
    }
    if comparison.float_tolerance.is_some()
        && let Some((value, length)) = number(rest)
    {
        return (Word::Number(value), length);
    }
    (Word::Byte(*first), 1)
}

/// How much white space begins at a place.
fn space(text: &[u8], at: usize) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// A number at the start of a text: a sign, digits with a point among them, and an exponent.
fn number(text: &[u8]) -> Option<(f64, usize)> {
    let digits = |from: usize| -> usize {
        text.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut at = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let whole = digits(at);
    at += whole;
    if text.get(at) == Some(&b'.') && (digits(at + 1) > 0 || whole > 0) {
        at += 1 + digits(at + 1);
    } else if whole == 0 {
        return None;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    let value = std::str::from_utf8(text.get(..at)?).ok()?.parse().ok()?;
    Some((value, at))
}

fn is_near(a: f64, b: f64, comparison: Comparison) -> bool {
    let tolerance = comparison.float_tolerance.unwrap_or(0.0);
    let distance = (a - b).abs();
    a == b || distance <= tolerance || distance <= tolerance * a.abs().max(b.abs())
}

/// The line of a text that a place is in, and its number from 1. If it is long, a part of it around the place.
pub(super) fn line_at(text: &[u8], at: usize) -> (u64, Bytes) {
    let before = text.get(..at.min(text.len())).unwrap_or_default();
    let number = before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    let rest = text.get(start..).unwrap_or_default();
    let end = start + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let start = start.max(before.len().saturating_sub(LONGEST_LINE / 2));
    let end = end.min(start.saturating_add(LONGEST_LINE));
    (number, Bytes::from(text.get(start..end).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Difference::{Different, Missing, Surplus};

    fn found(
        actual: &str,
        expected: &str,
        is_exact: bool,
        comparison: Comparison,
    ) -> Option<(Difference, usize)> {
        let found = mismatch(actual.as_bytes(), expected.as_bytes(), is_exact, comparison);
        found.map(|found| (found.difference, found.actual))
    }

    #[test]
    fn bytes_count_one_by_one() {
        let plain = Comparison::default();
        assert_eq!(found("abc", "abc", true, plain), None);
        assert_eq!(found("abd", "abc", true, plain), Some((Different, 2)));
        assert_eq!(found("ab", "abc", true, plain), Some((Missing, 2)));
        assert_eq!(found("abc\n", "abc", true, plain), Some((Surplus, 3)));
        assert_eq!(found("", "", true, plain), None);
    }

    #[test]
    fn an_inline_text_may_or_may_not_end_its_line() {
        let plain = Comparison::default();
        for actual in ["9.92", "9.92\n"] {
            assert_eq!(found(actual, "9.92", false, plain), None);
            assert_eq!(found(actual, "9.92\n", false, plain), None);
        }
        assert_eq!(found("9.92\n\n", "9.92", false, plain), Some((Surplus, 5)));
        assert_eq!(found("9.92\nx", "9.92", false, plain), Some((Surplus, 5)));
        assert_eq!(found("9.9\n", "9.92", false, plain), Some((Different, 3)));
        assert_eq!(found("\n", "", false, plain), None);
    }

    #[test]
    fn white_space_can_be_ignored() {
        let loose = Comparison { ignore_space: true, float_tolerance: None };
        assert_eq!(found("a  b \n\n c\t\n\n", "a b\nc", true, loose), None);
        assert_eq!(found("  a", "a\n", true, loose), None);
        assert_eq!(found("ab", "a b", true, loose), Some((Different, 1)));
        assert_eq!(found("a\nb", "a b", true, loose), Some((Different, 1)));
        assert_eq!(found("a b  ", "a b c", true, loose), Some((Missing, 3)));
        assert_eq!(found("a b\nc", "a  b\n", true, loose), Some((Surplus, 4)));
        assert_eq!(found("", " \n", true, loose), None);
    }

    #[test]
    fn numbers_may_differ_by_a_tolerance() {
        let near = |tolerance| Comparison { ignore_space: false, float_tolerance: Some(tolerance) };
        assert_eq!(found("x=1.001", "x=1.0", true, near(0.01)), None);
        assert_eq!(found("x=1.1", "x=1.0", true, near(0.01)), Some((Different, 4)));
        assert_eq!(found("1000000", "1000100", true, near(0.001)), None);
        assert_eq!(found("-0.0 1e-9", "0 0", true, near(0.001)), None);
        assert_eq!(found("1e3", "1000", true, near(0.0)), None);
        assert_eq!(found("12 a", "12 b", true, near(0.1)), Some((Different, 3)));
        assert_eq!(found("nan", "1", true, near(0.1)), Some((Different, 0)));
        assert_eq!(found("1..2", "1..2", true, near(0.1)), None);
        assert_eq!(found("1", "1 2", true, near(0.1)), Some((Missing, 1)));
    }

    #[test]
    fn the_line_of_a_difference_is_found() {
        assert_eq!(line_at(b"one\ntwo\nthree", 5), (2, Bytes::from("two")));
        assert_eq!(line_at(b"one\n", 4), (2, Bytes::default()));
        assert_eq!(line_at(b"", 0), (1, Bytes::default()));
        assert_eq!(line_at(&[b'x'; 1000], 500), (1, Bytes::from(vec![b'x'; 200])));
    }
}
