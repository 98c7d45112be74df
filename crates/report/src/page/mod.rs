//! What the page of an explanation shows beyond the report: the source around what is told, and what the program printed.

mod comparison;
mod sources;

use replay::Bytes;
use replay::failure::FailureKind;

pub use comparison::{ComparisonReport, Row, RowKind};
pub use sources::{SourceLine, SourceReport};

use crate::explain::Explained;

/// So many lines of what a program printed are shown, the last ones.
const MOST_PRINTED: usize = 12;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The file of the cause first.
    pub sources: Vec<SourceReport>,
    /// What was expected, and what there was instead.
    pub comparison: Option<ComparisonReport>,
    pub printed: Vec<PrintedReport>,
}

/// The end of what a program printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedReport {
    /// Where.
    pub channel: String,
    pub lines: Vec<Vec<u8>>,
    /// How many lines come before.
    pub left_out: usize,
}

/// The texts that a run left behind.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Where, and what.
    pub printed: Vec<(String, Vec<u8>)>,
    /// Of wrong output: the whole of it, and of what was expected, if that is a matter of bytes.
    pub wrong: Option<(Vec<u8>, Bytes)>,
}

impl Page {
    pub fn new(from: &Explained<'_>, texts: &Texts) -> Page {
        let comparison = match &from.failure.kind {
            FailureKind::WrongOutput(wrong) => Some(ComparisonReport::new(wrong, texts.wrong.as_ref())),
            _ => None,
        };
        let is_compared = |channel: &str| comparison.as_ref().is_some_and(|shown| shown.channel == channel);
        let printed =
            texts.printed.iter().filter(|(channel, text)| !is_compared(channel) && !text.is_empty());
        Page {
            sources: sources::sources(from),
            printed: printed.map(|(channel, text)| PrintedReport::new(channel, text)).collect(),
            comparison,
        }
    }
}

impl PrintedReport {
    fn new(channel: &str, text: &[u8]) -> PrintedReport {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let mut lines: Vec<Vec<u8>> =
            text.rsplit(|byte| *byte == b'\n').take(MOST_PRINTED).map(<[u8]>::to_vec).collect();
        lines.reverse();
        let all = text.iter().filter(|byte| **byte == b'\n').count() + 1;
        PrintedReport { channel: channel.to_owned(), left_out: all - lines.len(), lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_what_was_printed_is_shown() {
        let text: String = (1..=20).map(|line| format!("line {line}\n")).collect();
        let printed = PrintedReport::new("standard output", text.as_bytes());
        assert_eq!(printed.lines.len(), MOST_PRINTED);
        assert_eq!(printed.left_out, 8);
        assert_eq!(printed.lines.first().unwrap(), b"line 9");
        assert_eq!(PrintedReport::new("standard output", b"a").left_out, 0);
    }
}
