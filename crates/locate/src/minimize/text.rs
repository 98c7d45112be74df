//! A text that shrinks, and still knows where each of its bytes came from.

use std::ops::Range;

/// The place of a byte that is not of the text that was given. Texts are never so long.
const ELSEWHERE: u32 = u32::MAX;

/// What a text is taken apart into, the coarsest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Lines,
    /// Words, stretches of white space, and all other bytes for themselves.
    Tokens,
    Bytes,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Lines, Level::Tokens, Level::Bytes];
}

/// Bytes, each with its place in the text that was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    bytes: Vec<u8>,
    places: Vec<u32>,
}

impl Text {
    /// Longer ones are not reduced, since places would not fit.
    pub const LONGEST: usize = 256 << 20;

    /// A text whose places are its own.
    pub fn given(bytes: &[u8]) -> Text {
        let places = (0..ELSEWHERE).take(bytes.len()).collect();
        Text { bytes: bytes.to_vec(), places }
    }

    /// A text that comes from elsewhere.
    pub fn other(bytes: &[u8]) -> Text {
        Text { bytes: bytes.to_vec(), places: vec![ELSEWHERE; bytes.len()] }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where a byte was in the text that was given.
    pub fn place(&self, offset: usize) -> Option<u64> {
        self.places.get(offset).filter(|place| **place != ELSEWHERE).map(|place| u64::from(*place))
    }

    /// Adds a part of another text at the end.
    pub fn push(&mut self, from: &Text, range: Range<usize>) {
        self.bytes.extend_from_slice(from.bytes.get(range.clone()).unwrap_or_default());
        self.places.extend_from_slice(from.places.get(range).unwrap_or_default());
    }

    /// The text without all but some of its units.
    pub fn keep(&self, units: &[Range<usize>], kept: &[usize]) -> Text {
        let mut text = Text::default();
        for range in kept.iter().filter_map(|unit| units.get(*unit)) {
            text.push(self, range.clone());
        }
        text
    }

    /// The units of the text, one behind the other.
    pub fn units(&self, level: Level) -> Vec<Range<usize>> {
        let mut units: Vec<Range<usize>> = Vec::new();
        for (at, pair) in self.bytes.windows(2).enumerate() {
            if let [before, after] = pair
                && is_border(level, *before, *after)
            {
                let start = units.last().map_or(0, |unit| unit.end);
                units.push(start..at + 1);
            }
        }
        let start = units.last().map_or(0, |unit| unit.end);
        if start < self.bytes.len() {
            units.push(start..self.bytes.len());
        }
        units
    }
}

fn is_border(level: Level, before: u8, after: u8) -> bool {
    // What is no ASCII belongs to words of other languages.
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    match level {
        Level::Lines => before == b'\n',
        Level::Tokens => {
            !(is_word(before) && is_word(after)
                || before.is_ascii_whitespace() && after.is_ascii_whitespace())
        }
        Level::Bytes => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str, level: Level) -> Vec<String> {
        let text = Text::given(text.as_bytes());
        let unit = |range: Range<usize>| String::from_utf8_lossy(&text.bytes()[range]).into_owned();
        text.units(level).into_iter().map(unit).collect()
    }

    #[test]
    fn texts_are_taken_apart_without_a_rest() {
        let text = "if (größe_2 >= 10)\n\n  x[1];";
        assert_eq!(units(text, Level::Lines), ["if (größe_2 >= 10)\n", "\n", "  x[1];"]);
        let tokens =
            ["if", " ", "(", "größe_2", " ", ">", "=", " ", "10", ")", "\n\n  ", "x", "[", "1", "]", ";"];
        assert_eq!(units(text, Level::Tokens), tokens);
        assert_eq!(units("ab", Level::Bytes), ["a", "b"]);
        for level in Level::ALL {
            let ranges = Text::given(text.as_bytes()).units(level);
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{level:?}");
            assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, text.len()), "{level:?}");
            assert!(units("", level).is_empty());
        }
    }

    #[test]
    fn what_is_kept_knows_where_it_was() {
        let text = Text::given(b"one\ntwo\nthree\n");
        let kept = text.keep(&text.units(Level::Lines), &[0, 2]);
        assert_eq!(kept.bytes(), b"one\nthree\n");
        assert_eq!((kept.place(3), kept.place(4), kept.place(10)), (Some(3), Some(8), None));
        let mut mixed = Text::other(b"x");
        mixed.push(&kept, 4..9);
        assert_eq!((mixed.bytes(), mixed.place(0), mixed.place(1)), (&b"xthree"[..], None, Some(8)));
    }
}
