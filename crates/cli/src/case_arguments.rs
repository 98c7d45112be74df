//! What can be typed about a case: the program, and what is expected of it. The commands that ask about failures share it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use linux::{Exit, Process};
use machine::{Time, Unwatched};
use replay::{Bytes, Case, Channel, Comparison, Expectation, Oracle, Recording, Stdin};

use crate::args::{GuestArguments, count};
use crate::exit_code::{self, Failure};
use crate::{backtraces, run, streams};

/// A program to run, and when its run counts as failed.
#[derive(Debug, Args)]
pub struct CaseArguments {
    /// Give up after so many instructions; K, M and G stand for thousands, millions, billions
    #[arg(long, value_name = "N", value_parser = count)]
    pub max_instructions: Option<u64>,

    #[command(flatten)]
    pub guest: GuestArguments,

    // The last, since its heading holds for all that follows.
    #[command(flatten)]
    pub oracle: OracleArguments,
}

/// What is expected of the run. A crash or a failed assertion needs none of it.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What is expected")]
pub struct OracleArguments {
    /// The program prints this text, or what FILE holds
    ///
    /// A text on the command line is compared with or without an end of line at its end, a
    /// file byte by byte. A text that begins with @ is written with @@.
    #[arg(long, verbatim_doc_comment, allow_negative_numbers = true, value_name = "TEXT|@FILE")]
    pub expect_stdout: Option<OsString>,

    /// The same for standard error
    #[arg(long, allow_negative_numbers = true, value_name = "TEXT|@FILE")]
    pub expect_stderr: Option<OsString>,

    /// The file PATH holds this text, or what FILE holds, at the end (repeatable)
    #[arg(long, value_name = "PATH=TEXT|@FILE", value_parser = OsStringValueParser::new().try_map(expected_file))]
    pub expect_file: Vec<ExpectedFile>,

    /// White space counts as one space or one end of line, and not at all around lines
    #[arg(long)]
    pub ignore_space: bool,

    /// Numbers in texts may differ by X, or by X times the larger of the two
    #[arg(long, allow_negative_numbers = true, value_name = "X", value_parser = tolerance)]
    pub float_tolerance: Option<f64>,

    /// The exit status is N; 128+S for a program that signal S kills
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..256))]
    pub expect_exit: Option<i32>,

    /// The program ends before it has executed N instructions; otherwise it hangs
    #[arg(long, value_name = "N", value_parser = count)]
    pub hang_after: Option<u64>,

    /// Whenever the line is reached, the expression is true (repeatable)
    ///
    /// EXPR is C over what is visible there: list->count == 3 && name == "x".
    #[arg(long = "assert", value_name = "FILE:LINE: EXPR")]
    pub assertions: Vec<String>,

    /// The program does as this executable does, with the same arguments and input
    #[arg(long, value_name = "BINARY")]
    pub reference: Option<OsString>,

    /// A shell command judges the run: 0 pass, 1 fail, 125 cannot tell
    ///
    /// It is run in a directory with the files stdout, stderr and exit, and those that the
    /// program changed under files/; WHYDUNIT_DIR names the directory, WHYDUNIT_CWD the
    /// one that the program was started in.
    #[arg(long = "oracle", verbatim_doc_comment, value_name = "COMMAND")]
    pub command_oracle: Option<OsString>,
}

/// A run that is to be explained and has not ended after so many instructions counts as a hang, unless something else is said.
const HANG_AFTER: u64 = 5_000_000_000;

/// So much is looked at of such a run after it has come to what it repeats: to follow the dependences of all its rounds would take hours.
const ROUNDS: u64 = 1 << 24;

/// `PATH=TEXT`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedFile {
    path: OsString,
    text: OsString,
}

/// A case and its process before the first instruction.
pub struct Opened {
    pub case: Case,
    pub process: Process,
}

impl CaseArguments {
    /// The case that was described, ready to run. All of its input is known.
    pub fn open(&self) -> Result<Opened, Failure> {
        self.open_with(|_| {})
    }

    /// The same where a run that goes on for ever would keep somebody waiting: without a limit it has one, beyond which it hangs.
    pub fn open_to_an_end(&self) -> Result<Opened, Failure> {
        self.open_with(|case| {
            if case.end() == Time(u64::MAX) {
                case.oracle.expectations.push(Expectation::EndsWithin(HANG_AFTER));
            }
        })
    }

    fn open_with(&self, change: impl FnOnce(&mut Case)) -> Result<Opened, Failure> {
        // Here the statuses of `run` are none of the program's, and no answers.
        self.try_open(change).map_err(|failure| Failure { status: exit_code::USAGE, ..failure })
    }

    fn try_open(&self, change: impl FnOnce(&mut Case)) -> Result<Opened, Failure> {
        let usage = |error| Failure::new(exit_code::USAGE, error);
        if let Some(run::Opened { process, mut case, .. }) = run::open_bundle(&self.guest)? {
            self.add_to(&mut case, true).map_err(usage)?;
            change(&mut case);
            return Ok(Opened { case, process });
        }
        let (mut case, live) = run::case(&self.guest)?;
        self.add_to(&mut case, false).map_err(usage)?;
        change(&mut case);
        backtraces::keep_from(&mut case, &self.guest);
        if let Some(pieces) = live {
            // Nobody is asked to type what nobody reads.
            let mut probe = run::load_case(&case, Some(pieces))?;
            if let Exit::Input = probe.run(case.end(), &mut Unwatched) {
                let rest = streams::rest_of_input(case.limits.memory).map_err(usage)?;
                case.stdin = Stdin::Bytes(Bytes::from(rest));
            }
        }
        let process = run::load_case(&case, None)?;
        Ok(Opened { case, process })
    }
}

/// The case of which no more is looked at than the beginning of a loop without end, if its run was given up by the limit that it has when nothing is said, and has done nothing new for long.
pub fn cut_in_its_loop(case: &Case, recording: &Recording) -> Option<Case> {
    let is_given_up = *recording.exit() == Exit::Until && case.end() == Time(HANG_AFTER);
    let by_default = Expectation::EndsWithin(HANG_AFTER);
    if !is_given_up || case.oracle.expectations.last() != Some(&by_default) {
        return None;
    }
    let news = recording.last_news().0;
    let end = news.saturating_add(news.max(ROUNDS));
    let mut cut = case.clone();
    *cut.oracle.expectations.last_mut()? = Expectation::EndsWithin(end);
    (end < HANG_AFTER).then_some(cut)
}

impl CaseArguments {
    /// Adds what is expected, and the limit. A bundle has its own expectations, in whose place others can be given.
    pub fn add_to(&self, case: &mut Case, is_bundle: bool) -> Result<()> {
        if let Some(limit) = self.max_instructions {
            case.limits.instructions = case.limits.instructions.min(limit);
        }
        if is_bundle && self.oracle.reference.is_some() {
            return Err(anyhow!(
                "a reference would not see the files of the bundle; give it to `whydunit record`"
            ));
        }
        let oracle = self.oracle.oracle(&self.guest)?;
        if !is_bundle || oracle != Oracle::default() {
            case.oracle = oracle;
        }
        Ok(())
    }
}

impl OracleArguments {
    fn oracle(&self, guest: &GuestArguments) -> Result<Oracle> {
        let mut expectations = Vec::new();
        let streams = [(Channel::Stdout, &self.expect_stdout), (Channel::Stderr, &self.expect_stderr)];
        for (channel, text) in streams {
            if let Some(text) = text {
                expectations.push(expected_text(channel, text)?);
            }
        }
        for ExpectedFile { path, text } in &self.expect_file {
            expectations.push(expected_text(Channel::File(Bytes::from(path.as_os_str())), text)?);
        }
        expectations.extend(self.expect_exit.map(Expectation::Exit));
        expectations.extend(self.hang_after.map(Expectation::EndsWithin));
        expectations.extend(self.assertions.iter().cloned().map(Expectation::Holds));
        if let Some(reference) = &self.reference {
            let environment = run::environment(guest);
            let found = run::find(reference, &environment).map_err(|failure| failure.error);
            let found = found.context("the reference cannot be run")?;
            expectations.push(Expectation::LikeReference(Bytes::from(found.as_path())));
        }
        let command = self.command_oracle.as_ref();
        expectations.extend(command.map(|command| Expectation::Command(Bytes::from(command.as_os_str()))));
        let comparison =
            Comparison { ignore_space: self.ignore_space, float_tolerance: self.float_tolerance };
        if comparison != Comparison::default() && !expectations.iter().any(is_text) {
            return Err(anyhow!(
                "--ignore-space and --float-tolerance are about texts; say which is expected"
            ));
        }
        Ok(Oracle { expectations, comparison })
    }
}

fn is_text(expectation: &Expectation) -> bool {
    matches!(
        expectation,
        Expectation::Exactly { .. } | Expectation::Text { .. } | Expectation::LikeReference(_)
    )
}

/// A text, or the content of a file.
fn expected_text(channel: Channel, text: &OsStr) -> Result<Expectation> {
    match text.as_bytes() {
        [b'@', b'@', ..] => {
            let text = Bytes::from(text.as_bytes().get(1..).unwrap_or_default());
            Ok(Expectation::Text { channel, text })
        }
        [b'@', path @ ..] => {
            let path = Path::new(OsStr::from_bytes(path));
            let read = std::fs::read(path);
            let text =
                read.with_context(|| format!("what is expected cannot be read from {}", path.display()))?;
            Ok(Expectation::Exactly { channel, text: Bytes::from(text) })
        }
        text => Ok(Expectation::Text { channel, text: Bytes::from(text) }),
    }
}

fn expected_file(text: OsString) -> Result<ExpectedFile, &'static str> {
    let bytes = text.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) if at > 0 => {
            let part = |bytes: Option<&[u8]>| OsStr::from_bytes(bytes.unwrap_or_default()).to_owned();
            Ok(ExpectedFile { path: part(bytes.get(..at)), text: part(bytes.get(at + 1..)) })
        }
        _ => Err("it has the form PATH=TEXT or PATH=@FILE"),
    }
}

fn tolerance(text: &str) -> Result<f64, &'static str> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    value.ok_or("a tolerance is a number that is not negative, as in 0.01 or 1e-6")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(given: &str) -> Expectation {
        expected_text(Channel::Stdout, OsStr::new(given)).unwrap()
    }

    #[test]
    fn an_at_sign_means_a_file_and_two_mean_one() {
        let inline = |text: &str| Expectation::Text { channel: Channel::Stdout, text: Bytes::from(text) };
        assert_eq!(text("9.92"), inline("9.92"));
        assert_eq!(text("@@home"), inline("@home"));
        assert_eq!(text(""), inline(""));
        let path = std::env::temp_dir().join(format!("whydunit-expected-{}", std::process::id()));
        std::fs::write(&path, "from a file").unwrap();
        let found = text(&format!("@{}", path.display()));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            found,
            Expectation::Exactly { channel: Channel::Stdout, text: Bytes::from("from a file") }
        );
        let error = expected_text(Channel::Stdout, OsStr::new("@/no/such")).unwrap_err().to_string();
        assert_eq!(error, "what is expected cannot be read from /no/such");
    }

    #[test]
    fn a_file_and_its_text_are_told_apart_at_the_first_equals_sign() {
        let found = expected_file("out.txt=a=b".into()).unwrap();
        assert_eq!((found.path, found.text), ("out.txt".into(), "a=b".into()));
        assert!(expected_file("out.txt".into()).is_err());
        assert!(expected_file("=text".into()).is_err());
    }

    #[test]
    fn a_tolerance_is_a_number_that_is_not_negative() {
        assert_eq!(tolerance("1e-3"), Ok(0.001));
        for wrong in ["", "-1", "nan", "inf", "a"] {
            assert!(tolerance(wrong).is_err(), "{wrong}");
        }
    }
}
