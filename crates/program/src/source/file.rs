//! One source file: its lines, and pieces of its text made fit to be shown.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use crate::source::syntax::{Language, Syntax};

/// A longer text is cut; it is shown to people, in a line.
const LONGEST_TEXT: usize = 400;

pub(crate) struct SourceFile {
    content: Arc<Vec<u8>>,
    /// Where each line begins.
    line_starts: Vec<usize>,
    language: Option<Language>,
    syntax: OnceCell<Option<Syntax>>,
}

impl SourceFile {
    pub fn new(path: &str, content: Arc<Vec<u8>>) -> SourceFile {
        let after_breaks =
            content.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let line_starts = std::iter::once(0).chain(after_breaks).collect();
        SourceFile { content, line_starts, language: Language::of(path), syntax: OnceCell::new() }
    }

    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// How the text is built up; `None` for languages that are not known.
    pub fn syntax(&self) -> Option<&Syntax> {
        self.syntax.get_or_init(|| Syntax::new(self.language?, &self.content)).as_ref()
    }

    /// `None` for languages that are not known.
    pub fn language(&self) -> Option<Language> {
        self.language
    }

    /// Whether its statements and initialisers follow C's rules.
    pub fn is_c_or_cpp(&self) -> bool {
        matches!(self.language, Some(Language::C | Language::Cpp))
    }

    /// How many lines there are.
    pub fn lines(&self) -> u32 {
        let last_is_empty = self.content.is_empty() || self.content.ends_with(b"\n");
        let lines = self.line_starts.len() - usize::from(last_is_empty);
        u32::try_from(lines).unwrap_or(u32::MAX)
    }

    /// Where in the text a line is, without its line break. Lines count from 1.
    pub fn line(&self, line: u32) -> Option<Range<usize>> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let start = *self.line_starts.get(index)?;
        let end = self.line_starts.get(index + 1).map_or(self.content.len(), |next| next - 1);
        Some(start..end)
    }

    /// Where in the text a column is, which counts bytes from 1.
    pub fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let line = self.line(line)?;
        let offset = line.start.checked_add(usize::try_from(column).ok()?.checked_sub(1)?)?;
        (offset <= line.end).then_some(offset)
    }

    /// Line and column of a place in the text.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.line_starts.get(index)).copied().unwrap_or(0);
        let column = offset.saturating_sub(start).saturating_add(1);
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }

    /// A piece of the text in one line: without comments, line breaks and indentation.
    pub fn text(&self, range: Range<usize>) -> String {
        let comments = self.syntax().map_or(&[][..], Syntax::comments);
        let mut bytes = Vec::new();
        let mut at = range.start;
        let end = range.end.min(self.content.len());
        let first = comments.partition_point(|comment| comment.end <= at);
        for comment in comments.get(first..).unwrap_or_default() {
            if comment.start >= end || bytes.len() > LONGEST_TEXT {
                break;
            }
            bytes.extend_from_slice(self.content.get(at..comment.start).unwrap_or_default());
            at = comment.end;
            if bytes.last().is_some_and(|byte| !byte.is_ascii_whitespace()) {
                bytes.push(b' ');
            }
            at += self.content.get(at..).unwrap_or_default().iter().take_while(|byte| **byte == b' ').count();
        }
        let enough = end.min(at.saturating_add(4 * LONGEST_TEXT));
        bytes.extend_from_slice(self.content.get(at..enough).unwrap_or_default());
        in_one_line(&String::from_utf8_lossy(&bytes))
    }
}

fn in_one_line(text: &str) -> String {
    let mut joined = String::new();
    for line in text.lines() {
        // A backslash that continues a line is no part of what it says.
        let line = line.trim();
        let line = line.strip_suffix('\\').unwrap_or(line).trim();
        if !line.is_empty() {
            // Calls that are chained, and what closes; but a designator follows a brace or a comma.
            let is_chained = line.starts_with('.') && !joined.ends_with(['{', ',']);
            let clings = is_chained || line.starts_with([',', ';', ')', ']']) || joined.ends_with(['(', '[']);
            if !joined.is_empty() && !clings {
                joined.push(' ');
            }
            joined.push_str(line);
        }
    }
    if joined.chars().count() <= LONGEST_TEXT {
        return joined;
    }
    joined.chars().take(LONGEST_TEXT).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &[u8]) -> SourceFile {
        SourceFile::new(name, Arc::new(text.to_vec()))
    }

    #[test]
    fn lines_end_at_line_breaks_of_either_kind() {
        let file = file("a.txt", b"one\r\n  two\r\n\nfour");
        let line = |line| file.line(line).map(|range| file.text(range));
        assert_eq!(line(1).as_deref(), Some("one"));
        assert_eq!(line(2).as_deref(), Some("two"));
        assert_eq!(line(3).as_deref(), Some(""));
        assert_eq!(line(4).as_deref(), Some("four"));
        assert_eq!((line(0), line(5), line(u32::MAX)), (None, None, None));
    }

    #[test]
    fn columns_count_bytes_and_lead_back() {
        let file = file("a.txt", "x\nä = 1\n".as_bytes());
        let offset = file.offset(2, 4).unwrap();
        assert_eq!(&file.content()[offset..offset + 1], b"=");
        assert_eq!(file.position(offset), (2, 4));
        assert_eq!(file.offset(2, 0), None);
        assert_eq!(file.offset(2, 9), None, "a column after the end of its line is none");
    }

    #[test]
    fn text_has_no_comments_and_no_line_breaks() {
        let file = file("a.c", b"int f() {\n  g(1, /* one */\n    \"a  //b\", // two\n    2);\n}");
        let range = file.line(2).unwrap().start..file.line(4).unwrap().end;
        assert_eq!(file.text(range), "g(1, \"a  //b\", 2);");
    }

    #[test]
    fn text_of_other_encodings_and_without_end_is_shown_as_far_as_it_goes() {
        assert_eq!(file("a.txt", b"caf\xe9").text(0..4), "caf\u{fffd}");
        let long = file("a.txt", &[b'x'; 100_000]);
        assert_eq!(long.text(0..100_000).chars().count(), LONGEST_TEXT + 1);
        assert_eq!(long.text(5..usize::MAX).chars().count(), LONGEST_TEXT + 1);
    }
}
