//! What `whydunit` answers, read.
//!
//! Whatever is not as it should be is an error: a member with another name would look like a bad answer.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cases::Fails;
use crate::limited::Ran;
use crate::report::Report;

/// A line of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct Place {
    /// Without steps that lead nowhere.
    #[serde(deserialize_with = "plain_path")]
    pub file: String,
    pub line: usize,
}

impl Place {
    /// Whether the file is told by a path that ends in this one: answers are given in different directories.
    pub fn is_in(&self, file: &str) -> bool {
        Path::new(&self.file).ends_with(file)
    }
}

fn plain_path<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(|path| written(&path))
}

fn written(path: &str) -> String {
    plain(Path::new(path)).to_string_lossy().into_owned()
}

/// Without steps up and down again, as in `build/../main.c`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// How a question ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// With an answer, be it that nothing is known.
    #[default]
    Given,
    /// The run did not fail in the machine.
    NotReproduced,
    /// The tool had to be killed, or broke down.
    NoAnswer,
    /// There is nothing that the technique can be asked about.
    NotAsked,
}

/// What came of a question.
#[derive(Default)]
pub struct Answer<T> {
    pub reply: Reply,
    pub found: Option<T>,
    /// Instructions of the failing run.
    pub length: u64,
    pub cost: Cost,
}

/// What an answer took; nothing if nobody was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    pub milliseconds: Option<u64>,
    /// The most memory at once, in KiB.
    pub peak: Option<u64>,
    /// Questions to a solver.
    pub solver_calls: Option<u64>,
}

impl Cost {
    pub fn of(ran: &Ran) -> Cost {
        let milliseconds = u64::try_from(ran.time.as_millis()).unwrap_or(u64::MAX);
        Cost { milliseconds: Some(milliseconds), peak: Some(ran.peak), solver_calls: None }
    }

    /// Of two runs, one after the other.
    pub fn and(self, next: Cost) -> Cost {
        let both = |one: Option<u64>, other: Option<u64>, join: fn(u64, u64) -> u64| match (one, other) {
            (Some(one), Some(other)) => Some(join(one, other)),
            _ => one.or(other),
        };
        Cost {
            milliseconds: both(self.milliseconds, next.milliseconds, u64::saturating_add),
            peak: both(self.peak, next.peak, u64::max),
            solver_calls: both(self.solver_calls, next.solver_calls, u64::saturating_add),
        }
    }
}

/// How often each statement was executed; of a program whose statements are not known, each line that has code.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    pub reply: Reply,
    pub counts: Vec<(Place, u64)>,
    pub cost: Cost,
}

/// What the exit status says; an error if the tool could make no sense of the question.
pub fn reply(ran: &Ran) -> Result<Reply> {
    match ran.status {
        Some(0 | 1) => Ok(Reply::Given),
        Some(2) => bail!(
            "whydunit makes no sense of a command line: {}",
            String::from_utf8_lossy(&ran.stderr).trim()
        ),
        Some(3) => Ok(Reply::NotReproduced),
        _ => Ok(Reply::NoAnswer),
    }
}

/// A line of `whydunit dump coverage`: a count, and `file:line in function`.
pub fn covered(text: &str) -> Result<(Place, u64)> {
    let parts = || {
        let (count, place) = text.trim_start().split_once("  ")?;
        let (file, line) = place.split(" in ").next()?.rsplit_once(':')?;
        Some((Place { file: written(file), line: line.parse().ok()? }, count.parse().ok()?))
    };
    parts().with_context(|| format!("{text:?} is no count of a line"))
}

/// The statements that something depends on.
#[derive(Deserialize)]
pub struct Slice {
    statements: Vec<Sliced>,
}

#[derive(Deserialize)]
struct Sliced {
    place: Place,
    distance: u64,
    last_time: u64,
}

impl Slice {
    /// The nearest first.
    pub fn by_distance(mut self) -> Vec<Place> {
        self.statements.sort_by_key(|one| (one.distance, std::cmp::Reverse(one.last_time)));
        self.statements.into_iter().map(|one| one.place).collect()
    }
}

/// A finding that is asked for.
pub trait Finding: DeserializeOwned {
    /// Its `kind` in JSON.
    const KIND: &'static str;
}

impl Finding for Report {
    const KIND: &'static str = "switching";
}

impl Finding for Slice {
    const KIND: &'static str = "slice";
}

/// What all answers have.
#[derive(Deserialize)]
struct Envelope {
    schema: String,
    findings: Vec<serde_json::Value>,
    #[serde(deserialize_with = "Option::deserialize")]
    failure: Option<Failure>,
    verdict: Verdict,
    counts: Counts,
}

#[derive(Deserialize)]
struct Counts {
    solver_calls: Option<u64>,
    /// In the figures of `stats`: how the run ended, and how long it was.
    end: Option<String>,
    instructions: Option<u64>,
}

#[derive(Deserialize)]
struct Verdict {
    outcome: String,
}

#[derive(Deserialize)]
struct Failure {
    kind: FailureKind,
    time: u64,
    /// Of a wrong text: what is wrong with it, and the first byte that is.
    difference: Option<Difference>,
    offset: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FailureKind {
    Crash,
    StackOverflow,
    Abort,
    GuestFault,
    WrongOutput,
    WrongExit,
    Hang,
    AssertViolated,
    Oracle,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Difference {
    Missing,
    Surplus,
    Different,
}

impl Envelope {
    const SCHEMA: &'static str = "whydunit/1";

    fn read(ran: &Ran) -> Result<Envelope> {
        let envelope: Envelope = serde_json::from_slice(&ran.stdout).with_context(|| {
            format!("an answer makes no sense: {}", String::from_utf8_lossy(&ran.stderr).trim())
        })?;
        ensure!(envelope.schema == Self::SCHEMA, "an answer is of the schema {}", envelope.schema);
        Ok(envelope)
    }
}

/// Reads an answer. Whatever is not as it should be is an error: a member with another name would look like a bad answer.
pub fn answer<T: Finding>(ran: &Ran) -> Result<Answer<T>> {
    let cost = Cost::of(ran);
    let reply = reply(ran)?;
    // Where there is nothing to tell, nothing is printed.
    if reply != Reply::Given || ran.status == Some(1) && ran.stdout.is_empty() {
        return Ok(Answer { reply, found: None, length: 0, cost });
    }
    let envelope = Envelope::read(ran)?;
    let length = envelope.failure.as_ref().map_or(0, |failure| failure.time);
    let cost = Cost { solver_calls: envelope.counts.solver_calls, ..cost };
    let fits = |finding: &serde_json::Value| finding.get("kind").is_some_and(|name| name == T::KIND);
    let Some(finding) = envelope.findings.into_iter().find(fits) else {
        ensure!(envelope.verdict.outcome != "failed", "an answer has no finding of the kind {}", T::KIND);
        return Ok(Answer { reply: Reply::NotReproduced, found: None, length, cost });
    };
    let found =
        serde_json::from_value(finding).with_context(|| format!("a finding of the kind {}", T::KIND))?;
    Ok(Answer { reply, found: Some(found), length, cost })
}

/// How a run failed in the machine, as far as questions depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    pub fails: Fails,
    /// `None` of a run that did not end by itself.
    pub status: Option<i32>,
    /// What a slice of the failure begins with, if that can be said.
    pub criterion: Option<String>,
}

/// Reads how a run failed from the figures that `whydunit stats` prints; `None` if it did not.
pub fn witness(ran: &Ran) -> Result<Option<Witness>> {
    let envelope = Envelope::read(ran)?;
    let Some(failure) = envelope.failure else { return Ok(None) };
    let (fails, criterion) = match failure.kind {
        FailureKind::Crash | FailureKind::StackOverflow | FailureKind::Abort | FailureKind::GuestFault => {
            (Fails::Crash, Some("crash".to_owned()))
        }
        FailureKind::WrongOutput => (Fails::Output, first_wrong(&failure)?),
        FailureKind::WrongExit => (Fails::Status, Some("exit".to_owned())),
        FailureKind::Hang => (Fails::Hang, None),
        FailureKind::AssertViolated | FailureKind::Oracle => bail!("a run fails as nobody has asked it to"),
    };
    let end = envelope.counts.end.context("the figures of a run do not tell how it ended")?;
    let status = end.strip_prefix("exited with status ").and_then(|status| status.parse().ok());
    Ok(Some(Witness { fails, status, criterion }))
}

/// Reads how long a run was from the figures that `whydunit stats` prints.
pub fn length(ran: &Ran) -> Result<u64> {
    Envelope::read(ran)?.counts.instructions.context("the figures of a run do not tell how long it was")
}

/// Output that is missing cannot be asked about.
fn first_wrong(failure: &Failure) -> Result<Option<String>> {
    match failure.difference.as_ref().context("a wrong output has no difference")? {
        Difference::Missing => Ok(None),
        Difference::Surplus | Difference::Different => {
            let offset = failure.offset.context("a wrong output has no first byte")?;
            Ok(Some(format!("output:{offset}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(status: Option<i32>, stdout: &str) -> Ran {
        Ran { status, stdout: stdout.into(), ..Ran::default() }
    }

    const SLICE: &str = r#"{"schema": "whydunit/1", "failure": {"kind": "wrong-output", "time": 7, "difference": "surplus", "offset": 3},
        "findings": [{"kind": "slice", "statements": [{"place": {"file": "a/main.c", "line": 2}, "distance": 1, "last_time": 4}]}],
        "verdict": {"outcome": "failed"}, "counts": {"end": "exited with status 5", "instructions": 9}}"#;

    #[test]
    fn a_line_of_coverage_is_read_and_what_is_none_is_an_error() {
        let place = |file: &str, line| Place { file: file.to_owned(), line };
        assert_eq!(
            covered("          41  /tmp/a/b/.././main.c:12 in add").unwrap(),
            (place("/tmp/a/main.c", 12), 41)
        );
        assert!(covered("whydunit: something").is_err());
    }

    #[test]
    fn a_file_is_told_by_the_end_of_its_path() {
        let place = |file: &str| Place { file: written(file), line: 1 };
        assert!(place("../buggy/src/../src/a.c").is_in("src/a.c") && place("a.c").is_in("a.c"));
        assert!(!place("buggy/src/a.c").is_in("lib/a.c") && !place("ba.c").is_in("a.c"));
        assert_eq!(place("../../a/./b.c").file, "../../a/b.c");
    }

    #[test]
    fn an_answer_is_read() {
        let answer = answer::<Slice>(&ran(Some(0), SLICE)).unwrap();
        assert_eq!((answer.reply, answer.length), (Reply::Given, 7));
        assert_eq!(answer.found.unwrap().by_distance(), [Place { file: "a/main.c".to_owned(), line: 2 }]);
        let told = witness(&ran(Some(0), SLICE)).unwrap().unwrap();
        assert_eq!(
            (told.fails, told.status, told.criterion.as_deref()),
            (Fails::Output, Some(5), Some("output:3"))
        );
    }

    #[test]
    fn what_is_named_otherwise_is_an_error_and_no_bad_answer() {
        for (old, new) in [
            ("whydunit/1", "whydunit/2"),
            ("\"findings\"", "\"found\""),
            ("\"failure\"", "\"failed\""),
            ("\"slice\"", "\"slices\""),
            ("\"statements\"", "\"lines\""),
            ("\"place\"", "\"where\""),
            ("\"last_time\"", "\"last\""),
            ("\"outcome\"", "\"result\""),
        ] {
            let text = SLICE.replacen(old, new, 1);
            assert!(answer::<Slice>(&ran(Some(0), &text)).is_err(), "{new}");
        }
        assert!(answer::<Slice>(&ran(Some(0), "")).is_err());
        assert!(answer::<Slice>(&ran(Some(2), "")).is_err(), "a command line that makes no sense");
    }

    #[test]
    fn a_tool_that_breaks_down_gives_no_answer_and_one_that_sees_no_failure_says_so() {
        let reply = |status, text| answer::<Slice>(&ran(status, text)).unwrap().reply;
        assert_eq!(reply(None, "{"), Reply::NoAnswer);
        assert_eq!(reply(Some(101), ""), Reply::NoAnswer);
        assert_eq!(reply(Some(3), ""), Reply::NotReproduced);
        assert_eq!(reply(Some(1), ""), Reply::Given);
        let unknown = SLICE.replace("slice", "other").replace("\"failed\"", "\"unknown\"");
        assert_eq!(reply(Some(1), &unknown), Reply::NotReproduced);
    }
}
