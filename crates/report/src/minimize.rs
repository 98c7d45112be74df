//! A reduced input, as it is reported.

use replay::{Bytes, counted, grouped};
use serde::Serialize;

use crate::quote::{listed, plain, quoted};
use crate::{Colour, Paper};

/// So much of the bytes that make a difference is shown.
const LONGEST_QUOTE: usize = 60;

/// The answer of `whydunit minimize`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MinimizeReport {
    /// What kind of finding it is.
    pub kind: &'static str,
    /// How the program fails, as a sentence.
    #[serde(skip)]
    pub failure: String,
    pub arguments: ArgumentsReport,
    /// Standard input and files.
    pub parts: Vec<PartReport>,
    /// A command line of the shell that fails in the same way; `null` when nothing could be left out.
    pub command: Option<String>,
    /// Whether it was tried and failed in the same way; `null` when it cannot be tried.
    pub is_confirmed: Option<bool>,
    pub difference: Option<DifferenceReport>,
    pub runs: RunsReport,
    /// Why something was left untried.
    pub cut_short: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArgumentsReport {
    pub before: usize,
    pub after: usize,
    pub bytes_before: usize,
    pub bytes_after: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartReport {
    pub name: String,
    /// In bytes.
    pub before: usize,
    pub after: usize,
    /// Where it was written.
    pub file: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RunsReport {
    pub asked: u64,
    /// Those of them whose outcome was known from before.
    pub remembered: u64,
}

/// What makes an input fail that is very like one that passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DifferenceReport {
    pub part: String,
    /// The passing input was given, and not met while the input was reduced.
    pub is_to_given: bool,
    pub spans: Vec<SpanReport>,
    pub is_cut_short: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpanReport {
    /// In the failing input, from 0.
    pub offset: usize,
    pub length: usize,
    /// In the input as it was given.
    pub given_offset: Option<u64>,
    pub bytes: Bytes,
    /// What the passing input has instead.
    pub instead: Bytes,
}

impl MinimizeReport {
    pub fn text(&self, paper: Paper) -> String {
        let mut text = format!("{}\n\n", paper.paint(Colour::Headline, &plain(&self.failure)));
        text.push_str(&format!("{}\n", self.figures()));
        if let Some(reason) = self.cut_short {
            let line = format!("cut short by {reason}: perhaps more can be left out");
            text.push_str(&format!("{}\n", paper.paint(Colour::Warning, &line)));
        }
        match &self.command {
            Some(command) => text.push_str(&format!("\nfails in the same way:\n  {}\n", plain(command))),
            None if self.cut_short.is_some() => text.push_str("\nnothing was left out so far\n"),
            None => text.push_str("\nnothing can be left out\n"),
        }
        if self.is_confirmed == Some(false) {
            let line = "but not from there: where its files are matters to the program";
            text.push_str(&format!("{}\n", paper.paint(Colour::Warning, line)));
        }
        if let Some(difference) = &self.difference {
            text.push_str(&difference.text(paper));
        }
        text
    }

    /// How far it came, in one line.
    pub fn figures(&self) -> String {
        let mut parts = Vec::new();
        for part in &self.parts {
            parts.push(format!("{}: {}", plain(&part.name), bytes(part.before, part.after)));
        }
        let ArgumentsReport { before, after, bytes_before, bytes_after } = self.arguments;
        if before > 0 {
            let bytes = match bytes_before == bytes_after {
                true => String::new(),
                false => format!(" ({})", bytes(bytes_before, bytes_after)),
            };
            parts.push(format!("arguments: {}{bytes}", change(before, after)));
        }
        let RunsReport { asked, remembered } = self.runs;
        let runs = counted(asked, "run", "runs");
        parts.push(match remembered {
            0 => runs,
            remembered => format!("{runs}, {} of them remembered", grouped(remembered)),
        });
        parts.join("; ")
    }
}

impl DifferenceReport {
    fn text(&self, paper: Paper) -> String {
        let which = if self.is_to_given { "the passing input" } else { "an input that passes" };
        let part = plain(&self.part);
        let mut text = format!("\nthe difference to {which}, in {part}:\n");
        for span in &self.spans {
            text.push_str(&format!("  {}\n", span.text()));
        }
        if self.is_cut_short {
            let line = "it was cut short, and could perhaps be smaller";
            text.push_str(&format!("{}\n", paper.paint(Colour::Warning, line)));
        }
        text
    }
}

impl SpanReport {
    fn text(&self) -> String {
        if self.length == 0 {
            return format!(
                "before byte {}, {} is missing",
                grouped(self.offset as u64),
                shown(&self.instead)
            );
        }
        let range = |start: u64| match self.length {
            1 => format!("byte {}", grouped(start)),
            length => format!("bytes {} to {}", grouped(start), grouped(start + length as u64 - 1)),
        };
        let mut details = Vec::new();
        if let Some(given) = self.given_offset.filter(|given| *given != self.offset as u64) {
            details.push(format!("{} of what was given", range(given)));
        }
        if !self.instead.is_empty() {
            details.push(format!("where the other has {}", shown(&self.instead)));
        }
        let details = match details.is_empty() {
            true => String::new(),
            false => format!(" ({})", listed(&details)),
        };
        format!("{}, {}{details}", range(self.offset as u64), shown(&self.bytes))
    }
}

/// Bytes in quotation marks, cut if there are many.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    Paper::cut(&quoted(&text), LONGEST_QUOTE)
}

fn bytes(before: usize, after: usize) -> String {
    format!("{} {}", change(before, after), if after == 1 { "byte" } else { "bytes" })
}

fn change(before: usize, after: usize) -> String {
    match before == after {
        true => grouped(before as u64),
        false => format!("{} → {}", grouped(before as u64), grouped(after as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(offset: usize, given_offset: Option<u64>, bytes: &str, instead: &str) -> String {
        let (bytes, instead) = (Bytes::from(bytes), Bytes::from(instead));
        SpanReport { offset, length: bytes.len(), given_offset, bytes, instead }.text()
    }

    #[test]
    fn a_difference_is_told_by_place() {
        assert_eq!(span(5, Some(5), "[", ""), "byte 5, \"[\"");
        assert_eq!(
            span(5, Some(1042), "[[", "("),
            "bytes 5 to 6, \"[[\" (bytes 1,042 to 1,043 of what was given and where the other has \"(\")"
        );
        assert_eq!(span(3, None, "", "]\n"), "before byte 3, \"]\\n\" is missing");
    }

    #[test]
    fn how_far_it_came_is_one_line() {
        let report = MinimizeReport {
            kind: "minimized-input",
            failure: String::new(),
            arguments: ArgumentsReport { before: 4, after: 2, bytes_before: 9, bytes_after: 5 },
            parts: vec![PartReport { name: "stdin".to_owned(), before: 5120, after: 23, file: None }],
            command: None,
            is_confirmed: None,
            difference: None,
            runs: RunsReport { asked: 214, remembered: 180 },
            cut_short: None,
        };
        assert_eq!(
            report.figures(),
            "stdin: 5,120 → 23 bytes; arguments: 4 → 2 (9 → 5 bytes); 214 runs, 180 of them remembered"
        );
        let parts = vec![PartReport { name: "stdin".to_owned(), before: 34, after: 1, file: None }];
        let arguments = ArgumentsReport { before: 0, after: 0, bytes_before: 0, bytes_after: 0 };
        let runs = RunsReport { asked: 1, remembered: 0 };
        let report = MinimizeReport { parts, arguments, runs, ..report };
        assert_eq!(report.figures(), "stdin: 34 → 1 byte; 1 run");
    }
}
