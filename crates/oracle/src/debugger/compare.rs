//! The two views side by side.
//!
//! Nothing may differ but for these normalisations, each with its reason:
//!
//! - [`RELATIVE`]: libraries of the distribution are built with a relative compilation directory, which gdb puts before names that
//!   have it already. Of relative names only the last part is compared.

use std::fmt;

use machine::Time;

use super::Report;
use super::answer::{FrameView, View};

const RELATIVE: &str = "the source file's name is relative";

/// One thing that the two do not agree on.
#[derive(Clone, Debug)]
pub struct Difference {
    pub time: Time,
    /// Which frame and what of it.
    pub what: String,
    pub ours: String,
    pub theirs: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "at {} {}:", self.time.0, self.what)?;
        writeln!(f, "    ours: {}", self.ours)?;
        writeln!(f, "    gdb:  {}", self.theirs)
    }
}

pub fn compare(time: Time, ours: &View, theirs: &View, report: &mut Report) {
    let mut comparison = Comparison { time, report };
    comparison.frames(&ours.frames, &theirs.frames);
}

struct Comparison<'a> {
    time: Time,
    report: &'a mut Report,
}

impl Comparison<'_> {
    fn frames(&mut self, ours: &[FrameView], theirs: &[FrameView]) {
        self.report.frames += theirs.len();
        for level in 0..ours.len().max(theirs.len()) {
            let (our, their) = (ours.get(level), theirs.get(level));
            let is_relative = |frame: &FrameView| !frame.file.is_empty() && !frame.file.starts_with('/');
            let names_only = our.is_some_and(is_relative) && their.is_some_and(is_relative);
            if names_only {
                self.normalised(RELATIVE);
            }
            let text = |frame: Option<&FrameView>| match frame {
                Some(frame) => describe(frame, names_only),
                None => "no frame".to_owned(),
            };
            self.equal(&format!("frame {level}"), &text(our), &text(their));
        }
    }

    fn equal(&mut self, what: &str, ours: &str, theirs: &str) {
        if ours != theirs {
            let what = what.to_owned();
            let (ours, theirs) = (ours.to_owned(), theirs.to_owned());
            self.report.differences.push(Difference { time: self.time, what, ours, theirs });
        }
    }

    fn normalised(&mut self, reason: &'static str) {
        match self.report.normalised.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, times)) => *times += 1,
            None => self.report.normalised.push((reason, 1)),
        }
    }
}

fn describe(frame: &FrameView, name_only: bool) -> String {
    let FrameView { address, function, file, line, is_inlined, .. } = frame;
    let form = if *is_inlined { " (inlined)" } else { "" };
    let file = if name_only { file.rsplit('/').next().unwrap_or_default().to_owned() } else { tidy(file) };
    format!("{address:#x} in {function} at {file}:{line}{form}")
}

/// Without `.` and `..`, which the two put together in different ways.
fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| *part != ".") {
        match (part, parts.last()) {
            ("..", Some(last)) if !last.is_empty() && *last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}
