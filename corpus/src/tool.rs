//! Asks `whydunit explain` about a case, and reads its answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::cases::{Case, Fails};
use crate::native::{self, Ending};

/// The answer of the tool, in the directory of the case.
const ANSWER: &str = "answer.json";
/// Twenty times what the longest of the tests executes.
const HANG_AFTER: &str = "5M";
/// After the time that a case may take, the tool gets so many seconds to say what it found.
const GRACE: u64 = 60;

/// What came of one question.
pub struct Answer {
    /// The exit status; `None` if the tool had to be killed.
    pub status: Option<i32>,
    pub report: Option<Report>,
    pub time: Duration,
}

/// The members of the answer in JSON that matter here.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Report {
    /// Where the run crashed, and the use of something without a value.
    pub failed_at: Option<Line>,
    pub unset: Option<Line>,
    pub is_certain: bool,
    pub is_cut_short: bool,
    pub causes: Vec<Cause>,
    pub computed: Vec<Line>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Cause {
    pub condition: Line,
    /// The other condition of a pair.
    #[serde(default)]
    pub second: Option<Line>,
    pub steps: Vec<Line>,
    pub path: Vec<Line>,
    pub before: Vec<Line>,
    pub reading: Vec<Line>,
}

/// A condition, a step or a line: something that is told with its place.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Line {
    pub place: Option<Place>,
    #[serde(default)]
    pub text: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Place {
    pub file: String,
    pub line: usize,
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

/// Asks about one case; `seconds` is what it may take. The answer itself stays in the case's directory.
pub fn explain(tool: &Path, case: &Case, seconds: u64) -> Result<Answer> {
    let start = Instant::now();
    let mut command = command(tool, "explain", case, seconds.saturating_add(GRACE));
    command.args(["--jobs", "1", "--timeout"]).arg(seconds.to_string());
    match case.fails {
        Fails::Crash => {}
        Fails::Hang => {
            command.args(["--hang-after", HANG_AFTER]);
        }
        Fails::Output | Fails::Status => {
            command.arg(format!("--expect-stdout=@{}", native::EXPECTED));
            if let (Ending::Exited(status), true) =
                (case.right.ending, case.right.ending != case.wrong.ending)
            {
                command.args(["--expect-exit", &status.to_string()]);
            }
        }
    }
    let (status, stdout) = answer(command, case)?;
    fs::write(case.directory.join(ANSWER), &stdout).context("an answer cannot be kept")?;
    Ok(Answer { status, report: finding(&stdout, "switching"), time: start.elapsed() })
}

/// The statements of a slice from the failure, the nearest first: what a reader has without a technique. Nothing if
/// there is nothing to ask about, as when output is missing.
pub fn slice(tool: &Path, case: &Case, kind: &str, seconds: u64) -> Result<Vec<Place>> {
    let asked = match case.fails {
        Fails::Crash => "crash".to_owned(),
        Fails::Hang => return Ok(Vec::new()),
        Fails::Status => "exit".to_owned(),
        Fails::Output => {
            let differs = |index: &usize| case.wrong.stdout.get(*index) != case.right.stdout.get(*index);
            match (0..case.wrong.stdout.len()).find(differs) {
                Some(index) => format!("output:{index}"),
                None => return Ok(Vec::new()),
            }
        }
    };
    let mut command = command(tool, "slice", case, seconds);
    command.args(["--kind", kind, "--at", &asked]);
    let (_, stdout) = answer(command, case)?;
    let mut found: Vec<Sliced> =
        finding(&stdout, "slice").map_or_else(Vec::new, |slice: Slice| slice.statements);
    found.sort_by_key(|one| (one.distance, std::cmp::Reverse(one.last_time)));
    Ok(found.into_iter().map(|one| one.place).collect())
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

fn command(tool: &Path, what: &str, case: &Case, seconds: u64) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-k", "1"]).arg(seconds.to_string()).arg(tool);
    // The environment is part of a run; this one is the same everywhere.
    command.env_clear().env("PATH", "/usr/bin:/bin").current_dir(&case.directory);
    command.args([what, "--format", "json", "--stdin", native::INPUT]);
    command
}

/// The exit status, or none if the command had to be killed, and what it printed.
fn answer(mut command: Command, case: &Case) -> Result<(Option<i32>, Vec<u8>)> {
    let output = command
        .args(["--", &format!("./{}", native::EXECUTABLE)])
        .args(case.test.arguments())
        .stdin(Stdio::null())
        .output()
        .context("timeout cannot be run")?;
    Ok((output.status.code().filter(|code| *code != 124 && *code != 137), output.stdout))
}

/// The finding of a kind in an answer.
fn finding<T: DeserializeOwned>(answer: &[u8], kind: &str) -> Option<T> {
    #[derive(Deserialize)]
    struct Envelope {
        findings: Vec<serde_json::Value>,
    }
    let envelope: Envelope = serde_json::from_slice(answer).ok()?;
    let fits = |finding: &serde_json::Value| finding.get("kind").is_some_and(|name| name == kind);
    serde_json::from_value(envelope.findings.into_iter().find(fits)?).ok()
}
