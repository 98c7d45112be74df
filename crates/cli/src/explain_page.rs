//! What the page of an explanation needs that only the run knows, and where the page goes.

use std::io::{self, IsTerminal, Write as _};
use std::path::Path;

use replay::failure::{Failure as Failed, FailureKind};
use replay::oracle::contents;
use replay::{Bytes, Channel, Comparison, Expectation};
use report::Texts;

use crate::args::{ExplainArguments, PageFormat};
use crate::asking::{self, RecordedCase};
use crate::atomic_file::AtomicFile;
use crate::exit_code::{self, Failure};
use crate::streams::{printable, tell};

/// Whether the answer can be written to where it is to go: found out at once, so that a long search is not for nothing.
pub fn check(arguments: &ExplainArguments) -> Result<(), Failure> {
    let usage = |error: anyhow::Error| Failure::new(exit_code::USAGE, error);
    match &arguments.output {
        // The program is not to see a file of ours.
        Some(output) => AtomicFile::create(output).map(drop).map_err(usage),
        None if arguments.format == PageFormat::Html && io::stdout().is_terminal() => {
            let message = "a page is for a browser, not for a terminal: write it to a file with -o FILE, or redirect it";
            Err(usage(anyhow::anyhow!(message)))
        }
        None => Ok(()),
    }
}

/// Prints an answer, or writes it to a file.
pub fn write(text: &str, output: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = output else { return asking::print(text) };
    let written = AtomicFile::create(path).and_then(|mut file| {
        file.file.write_all(text.as_bytes())?;
        file.keep()
    });
    written.map_err(|error| Failure::new(exit_code::NO_ANSWER, error))?;
    tell(&format!("whydunit: the answer is in {}\n", printable(&path.to_string_lossy())));
    Ok(())
}

/// The texts that the run left behind.
pub fn texts(recorded: &RecordedCase, failure: &Failed) -> Texts {
    let last = recorded.recording.last();
    let text = |channel: &Channel| contents(&recorded.case, last, channel).unwrap_or_default();
    let printed = [Channel::Stdout, Channel::Stderr].map(|channel| (channel.to_string(), text(&channel)));
    let wrong = match &failure.kind {
        FailureKind::WrongOutput(wrong) => {
            expected_at(recorded, &wrong.channel).map(|expected| (text(&wrong.channel), expected))
        }
        _ => None,
    };
    Texts { printed: printed.to_vec(), wrong }
}

/// What was expected somewhere, if all of its bytes count.
fn expected_at(recorded: &RecordedCase, wrong: &Channel) -> Option<Bytes> {
    let oracle = &recorded.case.oracle;
    let expected = oracle.expectations.iter().find_map(|expectation| match expectation {
        Expectation::Exactly { channel, text } | Expectation::Text { channel, text } if channel == wrong => {
            Some(text.clone())
        }
        _ => None,
    });
    expected.filter(|_| oracle.comparison == Comparison::default())
}
