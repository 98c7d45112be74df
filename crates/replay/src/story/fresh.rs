//! Texts in blocks of the heap that nobody has written to the end.

use machine::FRESH;
use program::{State, TypedValue};

/// So much of a block is looked at.
const LONGEST: u64 = 1 << 16;
/// How a byte of fresh memory looks in a text.
const ESCAPED: &str = "\\245";

/// A value as it is told: of a text that goes on to the end of its block with what the allocator filled this with, only the
/// number of those bytes is; and a pointer to where no block is points to no text.
pub(super) fn without_fill(value: TypedValue, state: &State<'_>) -> TypedValue {
    let told = told(&value.text, state);
    TypedValue { text: told.unwrap_or(value.text), ..value }
}

fn told(text: &str, state: &State<'_>) -> Option<String> {
    let (pointer, _) = text.split_once(['"', '\''])?;
    if pointer.contains('{') {
        return None;
    }
    let digits = pointer.trim_end().rsplit_once("0x")?.1;
    let start = u64::from_str_radix(digits, 16).ok()?;
    if state.is_forbidden(start) {
        return Some("a pointer to where no block of the heap is".to_owned());
    }
    let at = text.find(ESCAPED)?;
    let filled = filled(start, state)?;
    let bytes = if filled == 1 { "byte" } else { "bytes" };
    let before = text.get(pointer.len()..at)?;
    let before = match before.strip_suffix(", '") {
        // The characters before, and those that repeat.
        Some(characters) => characters.to_owned(),
        // It has not become a text yet.
        None if ["'", "\""].contains(&before) => return Some(format!("{filled} {bytes} of fresh memory")),
        None => format!("{before}\""),
    };
    Some(format!("{pointer}{before} and {filled} {bytes} of fresh memory"))
}

/// How many bytes before the end of the block that a text without an end lies in are as they were handed out.
fn filled(start: u64, state: &State<'_>) -> Option<u64> {
    let mut filled = 0u64;
    let mut byte = [0];
    for address in (start..).take(LONGEST as usize) {
        if state.is_forbidden(address) {
            return (filled > 0).then_some(filled);
        }
        if !state.read(address, &mut byte) || byte == [0] || filled > 0 && byte != [FRESH] {
            return None;
        }
        filled += u64::from(byte == [FRESH]);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::Registers;

    const START: u64 = 0x1000;

    /// A value that points to a block with these bytes, beside others that belong to nobody.
    fn value(bytes: &[u8], text: &str) -> String {
        let end = START + bytes.len() as u64;
        let read = |address: u64, buffer: &mut [u8]| {
            for (place, at) in buffer.iter_mut().zip(address..) {
                *place = bytes.get((at - START) as usize).copied().unwrap_or(FRESH);
            }
            true
        };
        let state = State::new(Registers::new(0, [0; 16]), read).with_forbidden(|address| address >= end);
        let (of, place, size, truth) = (None, None, None, None);
        let text = text.to_owned();
        without_fill(TypedValue { of, type_name: String::new(), text, truth, place, size }, &state).text
    }

    #[test]
    fn a_text_without_an_end_is_told_up_to_where_its_block_is_fresh() {
        assert_eq!(value(&[FRESH; 2], r#"0x1000 "\245\245""#), "2 bytes of fresh memory");
        assert_eq!(value(b"ab\xa5", r#"0x1000 "ab\245""#), "0x1000 \"ab\" and 1 byte of fresh memory");
        let repeated = r#"0x1000 '\245' <repeats 16 times>"#;
        assert_eq!(value(&[FRESH; 16], repeated), "16 bytes of fresh memory");
        let text = [&b"ab"[..], &[FRESH; 16]].concat();
        let repeated = r#"0x1000 "ab", '\245' <repeats 16 times>"#;
        assert_eq!(value(&text, repeated), "0x1000 \"ab\" and 16 bytes of fresh memory");
    }

    #[test]
    fn a_pointer_that_has_left_its_block_points_to_no_text() {
        assert_eq!(value(b"", r#"0x1000 "\245""#), "a pointer to where no block of the heap is");
        assert_eq!(value(b"", r#"(char *) 0x1008 "ab""#), "a pointer to where no block of the heap is");
    }

    #[test]
    fn a_text_that_has_such_a_character_and_goes_on_is_told_as_it_is() {
        assert_eq!(value(b"\xa5b\0", r#"0x1000 "\245b""#), r#"0x1000 "\245b""#);
        assert_eq!(value(b"\xa5\0", r#"0x1000 "\245""#), r#"0x1000 "\245""#);
        assert_eq!(value(b"", "7"), "7");
    }
}
