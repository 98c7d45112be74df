//! pcmpistri and its kin: strings of bytes or words in registers.

use lift::StringResult;
use lift::flags::{CF, OF, SF, ZF};

/// What a string is: its elements, as numbers that compare as they should, and how many belong to it.
struct Text {
    elements: [i32; 16],
    length: usize,
}

/// How elements are matched.
#[derive(Clone, Copy)]
enum Matching {
    /// With any element of `a`.
    Any,
    /// With any range, which two elements of `a` are the ends of.
    Ranges,
    /// With the element of `a` at the same place.
    Each,
    /// Where `a` begins in `b`.
    Ordered,
}

/// The result of a comparison; a length of `None` is told by the first zero.
pub fn compare(
    result: StringResult,
    (a, a_length): (u128, Option<u64>),
    (b, b_length): (u128, Option<u64>),
    imm: u8,
) -> u128 {
    let count = if imm & 1 == 0 { 16 } else { 8 };
    let (a, b) = (text(a, a_length, imm), text(b, b_length, imm));
    let matching = match imm >> 2 & 3 {
        0 => Matching::Any,
        1 => Matching::Ranges,
        2 => Matching::Each,
        _ => Matching::Ordered,
    };
    let found =
        (0..count).filter(|&n| matches(matching, &a, &b, n, count)).fold(0u32, |bits, n| bits | 1 << n);
    let negated = match imm >> 4 & 3 {
        1 => (1u32 << count) - 1,
        3 => (1u32 << b.length) - 1,
        _ => 0,
    };
    let found = found ^ negated;
    match result {
        StringResult::Index => index(found, imm & 0x40 != 0, count).into(),
        StringResult::Mask => mask(found, imm & 0x40 != 0, count),
        StringResult::Flags => {
            let flag = |holds: bool, flag: u64| if holds { flag } else { 0 };
            let ends = flag(b.length < count, ZF) | flag(a.length < count, SF);
            u128::from(flag(found != 0, CF) | ends | flag(found & 1 != 0, OF))
        }
    }
}

fn text(vector: u128, length: Option<u64>, imm: u8) -> Text {
    let (words, signed) = (imm & 1 != 0, imm & 2 != 0);
    let count = if words { 8 } else { 16 };
    let elements = std::array::from_fn(|n| match (words, signed) {
        (false, false) => i32::from((vector >> (8 * n)) as u8),
        (false, true) => i32::from((vector >> (8 * n)) as i8),
        (true, false) => i32::from((vector >> (16 * (n % 8))) as u16),
        (true, true) => i32::from((vector >> (16 * (n % 8))) as i16),
    });
    let length = match length {
        Some(length) => (length as i64).unsigned_abs().min(count as u64) as usize,
        None => elements.iter().take(count).position(|&element| element == 0).unwrap_or(count),
    };
    Text { elements, length }
}

/// Whether element `n` of `b` matches.
fn matches(matching: Matching, a: &Text, b: &Text, n: usize, count: usize) -> bool {
    let element = b.elements[n];
    match matching {
        Matching::Any => n < b.length && a.elements[..a.length].contains(&element),
        Matching::Ranges => {
            let ranges = a.elements[..a.length].chunks_exact(2);
            n < b.length && ranges.into_iter().any(|ends| ends[0] <= element && element <= ends[1])
        }
        Matching::Each => match (n < a.length, n < b.length) {
            (true, true) => a.elements[n] == element,
            (false, false) => true,
            _ => false,
        },
        // What lies beyond the register may match, what lies beyond the end of `b` does not.
        Matching::Ordered => {
            (0..a.length.min(count - n)).all(|m| n + m < b.length && a.elements[m] == b.elements[n + m])
        }
    }
}

fn index(found: u32, last: bool, count: usize) -> u32 {
    match (found, last) {
        (0, _) => count as u32,
        (_, false) => found.trailing_zeros(),
        (_, true) => 31 - found.leading_zeros(),
    }
}

fn mask(found: u32, lanes: bool, count: usize) -> u128 {
    if !lanes {
        return found.into();
    }
    let bits = 128 / count;
    let ones = u128::MAX >> (128 - bits);
    (0..count).filter(|n| found >> n & 1 != 0).fold(0, |vector, n| vector | ones << (n * bits))
}
