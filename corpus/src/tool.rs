//! Asks `whydunit` about a case, and reads its answers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cases::{Case, Fails};
use crate::limited::{self, Ran};
use crate::native;
use crate::programs::Test;
use crate::report::Report;

/// The answer of the tool, in the directory of the case.
const ANSWER: &str = "answer.json";
/// Where the other input is, with which the program passes.
const PASSING: &str = "passing";
/// Twenty times what the longest of the tests executes.
const HANG_AFTER: &str = "5M";
/// After the time that a case may take, the tool gets so many seconds to say what it found.
const GRACE: u64 = 60;

/// A line of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct Place {
    /// Without directories: answers are given in different ones.
    #[serde(deserialize_with = "file_name")]
    pub file: String,
    pub line: usize,
}

fn file_name<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(|path| without_directories(&path))
}

fn without_directories(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// The whydunit that is asked, and what a question may take.
#[derive(Clone, Debug)]
pub struct Tool {
    pub binary: PathBuf,
    pub seconds: u64,
    /// Instructions of all trials of an explanation.
    pub budget: u64,
}

/// What came of a question.
#[derive(Default)]
pub struct Answer<T> {
    /// The exit status; `None` if the tool had to be killed.
    pub status: Option<i32>,
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
    fn of(ran: &Ran) -> Cost {
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

/// How often each statement was executed.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    pub counts: Vec<(Place, u64)>,
    pub cost: Cost,
}

/// What helps to explain beside the failing run.
#[derive(Clone, Copy, Debug)]
pub enum Help<'a> {
    None,
    /// An input for the same command line with which the program passes.
    Passing(&'a Test),
    /// An executable that does it right.
    Reference(&'a Path),
}

/// The whydunit command: `WHYDUNIT_BIN`, or a fresh release build.
pub fn binary() -> Result<PathBuf> {
    if let Some(binary) = std::env::var_os("WHYDUNIT_BIN") {
        return Ok(binary.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let built = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--package", "cli", "--manifest-path"])
        .arg(root.join("Cargo.toml"))
        .status()
        .context("cargo cannot be run")?;
    ensure!(built.success(), "cargo could not build whydunit");
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Ok(root.join(target).join("release/whydunit"))
}

impl Tool {
    pub fn explain(&self, case: &Case, help: Help<'_>) -> Result<Answer<Report>> {
        let mut command = self.command("explain", self.seconds.saturating_add(GRACE), &case.directory);
        command.args(["--format", "json", "--jobs", "1"]);
        command.arg("--timeout").arg(self.seconds.to_string());
        command.arg("--budget").arg(self.budget.to_string());
        if case.fails == Fails::Hang {
            command.args(["--hang-after", HANG_AFTER]);
        }
        match help {
            Help::None => {
                command.args(&case.expectations);
            }
            Help::Passing(test) => {
                std::fs::write(case.directory.join(PASSING), &test.stdin)
                    .context("an input cannot be written")?;
                command.args(&case.expectations).args(["--passing-input", PASSING]);
            }
            Help::Reference(reference) => {
                command.arg("--reference").arg(reference);
            }
        }
        let ran = self.ask(command, case)?;
        Ok(answer(&ran, "switching"))
    }

    /// The statements of a slice from the failure, the nearest first: what a reader has without a technique. Nothing if
    /// there is nothing to ask about, as when output is missing.
    pub fn slice(&self, case: &Case, kind: &str) -> Result<Answer<Vec<Place>>> {
        let Some(criterion) = &case.criterion else { return Ok(Answer::default()) };
        let mut command = self.command("slice", self.seconds, &case.directory);
        command.args(["--format", "json", "--kind", kind, "--at", criterion]);
        let ran = self.ask(command, case)?;
        let Answer { status, found, length, cost } = answer::<Slice>(&ran, "slice");
        Ok(Answer { status, found: found.map(Slice::by_distance), length, cost })
    }

    /// How often each statement is executed in a test of the case's program, up to where it counts as hanging.
    pub fn coverage(&self, case: &Case, test: &Test) -> Result<Coverage> {
        let place = tempfile::tempdir_in(&case.directory).context("no directory can be made for a run")?;
        native::lay_out(test, place.path())?;
        let mut command = self.command("dump", self.seconds, place.path());
        let executable = native::bring(&case.directory.join(&case.executable), place.path())?;
        command.args(["coverage", "--to", HANG_AFTER, "--stdin", native::INPUT, "--"]);
        command.arg(executable).args(test.arguments());
        let ran = limited::run(command, &place.path().join(ANSWER))?;
        let counts = String::from_utf8_lossy(&ran.stdout).lines().filter_map(covered).collect();
        Ok(Coverage { counts, cost: Cost::of(&ran) })
    }

    fn command(&self, what: &str, seconds: u64, directory: &Path) -> Command {
        let mut command = limited::command(&self.binary, seconds);
        command.env_clear().envs(native::ENVIRONMENT).current_dir(directory).arg(what);
        command
    }

    fn ask(&self, mut command: Command, case: &Case) -> Result<Ran> {
        command.envs(&case.environment).args(["--stdin", case.stdin, "--"]);
        command.arg(&case.executable).args(&case.arguments);
        limited::run(command, &case.directory.join(ANSWER))
    }
}

/// A line of `whydunit dump coverage`: a count, and `file:line in function`.
fn covered(line: &str) -> Option<(Place, u64)> {
    let (count, place) = line.trim_start().split_once("  ")?;
    let place = place.split(" in ").next()?;
    let (file, line) = place.rsplit_once(':')?;
    Some((Place { file: without_directories(file), line: line.parse().ok()? }, count.parse().ok()?))
}

#[derive(Deserialize)]
struct Slice {
    statements: Vec<Sliced>,
}

#[derive(Deserialize)]
struct Sliced {
    place: Place,
    distance: u64,
    last_time: u64,
}

impl Slice {
    fn by_distance(mut self) -> Vec<Place> {
        self.statements.sort_by_key(|one| (one.distance, std::cmp::Reverse(one.last_time)));
        self.statements.into_iter().map(|one| one.place).collect()
    }
}

/// The finding of a kind in an answer.
fn answer<T: DeserializeOwned>(ran: &Ran, kind: &str) -> Answer<T> {
    #[derive(Default, Deserialize)]
    struct Envelope {
        findings: Vec<serde_json::Value>,
        failure: Option<Failure>,
        counts: Option<Counts>,
    }
    #[derive(Deserialize)]
    struct Counts {
        solver_calls: Option<u64>,
    }
    #[derive(Deserialize)]
    struct Failure {
        time: u64,
    }
    let envelope: Envelope = serde_json::from_slice(&ran.stdout).unwrap_or_default();
    let fits = |finding: &serde_json::Value| finding.get("kind").is_some_and(|name| name == kind);
    let finding = envelope.findings.into_iter().find(fits);
    Answer {
        status: ran.status,
        found: finding.and_then(|finding| serde_json::from_value(finding).ok()),
        length: envelope.failure.map_or(0, |failure| failure.time),
        cost: Cost { solver_calls: envelope.counts.and_then(|counts| counts.solver_calls), ..Cost::of(ran) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_coverage_is_read() {
        let place = |file: &str, line| Place { file: file.to_owned(), line };
        assert_eq!(covered("          41  /tmp/a/main.c:12 in add"), Some((place("main.c", 12), 41)));
        assert_eq!(covered("whydunit: something"), None);
    }
}
