//! Finds the `for` loops of a C or C++ file and their clauses, word by word.
//!
//! A parser that does not know a file's macros loses its way in `EACH(a) for (i = 0; i < a; i++)`; the words
//! are the same whatever stands before them.

use std::ops::Range;

use crate::source::syntax::Loop;

/// A longer header is none: a parenthesis is missing.
const LONGEST_HEADER: usize = 1 << 14;

/// Headers that do not end are read again and again, as often as they are begun; so much of that, in lengths
/// of the text.
const MOST_READ: usize = 16;

/// Sorted by their beginnings. `comments` are sorted.
pub(super) fn loops(content: &[u8], comments: &[Range<usize>]) -> Vec<Loop> {
    let words = Words { content, comments };
    let mut found = Vec::new();
    let (mut at, mut read) = (0, 0usize);
    while let Some(word) = words.next(at) {
        at = word.end;
        if content.get(word.clone()) == Some(b"for") && read / MOST_READ <= content.len() {
            let mut end = word.end;
            found.extend(words.header(&word, &mut end));
            read = read.saturating_add(end - word.start);
        }
    }
    found
}

struct Words<'a> {
    content: &'a [u8],
    comments: &'a [Range<usize>],
}

impl Words<'_> {
    /// The next word, literal or single character from `at` on, after blanks and comments.
    fn next(&self, at: usize) -> Option<Range<usize>> {
        let start = self.after_blanks(at);
        let first = *self.content.get(start)?;
        let rest = self.content.get(start..)?;
        let length = match first {
            b'"' | b'\'' => literal_length(rest, first),
            _ if is_word(first) => word_length(rest),
            _ => 1,
        };
        Some(start..start + length)
    }

    fn after_blanks(&self, mut at: usize) -> usize {
        loop {
            let rest = self.content.get(at..).unwrap_or_default();
            at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let after = self.comments.partition_point(|comment| comment.end <= at);
            match self.comments.get(after) {
                Some(comment) if comment.start <= at => at = comment.end,
                _ => return at,
            }
        }
    }

    /// The loop that a keyword begins: a parenthesis with two semicolons in it. `at` is where it was read up
    /// to.
    fn header(&self, keyword: &Range<usize>, at: &mut usize) -> Option<Loop> {
        let open = self.next(keyword.end).filter(|word| self.content.get(word.clone()) == Some(b"("))?;
        let mut clauses: Vec<Range<usize>> = Vec::new();
        let (mut depth, mut start, mut end) = (1usize, None, open.end);
        *at = open.end;
        loop {
            let word = self.next(*at).filter(|word| word.end - open.start < LONGEST_HEADER)?;
            *at = word.end;
            match self.content.get(word.clone())? {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_end = depth == 0;
            if is_end || (depth == 1 && self.content.get(word.clone()) == Some(b";")) {
                clauses.push(start.take().unwrap_or(end)..end);
                end = word.end;
            } else {
                start.get_or_insert(word.start);
                end = word.end;
            }
            if is_end {
                break;
            }
        }
        let [initialiser, condition, step] = <[_; 3]>::try_from(clauses).ok()?;
        let said = |clause: Range<usize>| (clause.start < clause.end).then_some(clause);
        let header = keyword.start..*at;
        Some(Loop { header, initialiser: said(initialiser), condition: said(condition), step: said(step) })
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// With the quotes that separate the digits of a number.
fn word_length(text: &[u8]) -> usize {
    let is_number = text.first().is_some_and(u8::is_ascii_digit);
    let mut length = 0;
    while let Some(byte) = text.get(length) {
        let is_separator =
            is_number && *byte == b'\'' && text.get(length + 1).is_some_and(|next| is_word(*next));
        if !is_word(*byte) && !is_separator {
            break;
        }
        length += 1;
    }
    length
}

/// Up to the closing quote; one that is not closed ends with its line.
fn literal_length(text: &[u8], quote: u8) -> usize {
    let mut length = 1;
    while let Some(byte) = text.get(length) {
        match *byte {
            b'\\' => length += 2,
            b'\n' => break,
            byte if byte == quote => return length + 1,
            _ => length += 1,
        }
    }
    length.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clauses(text: &str) -> Vec<[&str; 4]> {
        let comment = text.find("/*").map(|start| start..text.find("*/").unwrap() + 2);
        let comments: Vec<_> = comment.into_iter().collect();
        let part = |range: &Option<Range<usize>>| range.clone().map_or("", |range| &text[range]);
        let found = loops(text.as_bytes(), &comments);
        found
            .iter()
            .map(|found| {
                [
                    &text[found.header.clone()],
                    part(&found.initialiser),
                    part(&found.condition),
                    part(&found.step),
                ]
            })
            .collect()
    }

    #[test]
    fn loops_are_found_whatever_stands_before_them() {
        assert_eq!(
            clauses("EACH(a) for (i = 0 ; i < n; i++) s"),
            [["for (i = 0 ; i < n; i++)", "i = 0", "i < n", "i++"]]
        );
        assert_eq!(
            clauses("for(;;)for( ;a[(1)]; )"),
            [["for(;;)", "", "", ""], ["for( ;a[(1)]; )", "", "a[(1)]", ""]]
        );
        let text = "for (a = ({ b; c; }); /* for (;;) ; */ d == ';'; e(\")\", 1'0))";
        assert_eq!(clauses(text), [[text, "a = ({ b; c; })", "d == ';'", "e(\")\", 1'0)"]]);
    }

    #[test]
    fn other_words_are_no_loops() {
        for text in [
            "for (int x : v) s;",
            "before (;;)",
            "for (;;",
            "for (a; b)",
            "for",
            "\"for (;;)\"",
            "f.for_each(a;b;c)",
            "for )",
        ] {
            assert_eq!(clauses(text), Vec::<[&str; 4]>::new(), "{text}");
        }
    }

    #[test]
    fn headers_without_end_take_bounded_time() {
        let started = std::time::Instant::now();
        assert_eq!(clauses(&"for (".repeat(1_000_000)).len(), 0);
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }
}
