//! Asks `whydunit explain` about a case, and reads its answer.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::cases::{Case, Fails};
use crate::native::{self, Ending};

/// Twenty times what the longest of the tests executes.
const HANG_AFTER: &str = "5M";
/// After the time that a case may take, the tool gets so many seconds to say what it found.
const GRACE: u64 = 20;

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
    pub is_certain: bool,
    pub is_cut_short: bool,
    pub causes: Vec<Cause>,
    pub computed: Vec<Line>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Cause {
    pub condition: Line,
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
    /// Of a step: the values that it made.
    #[serde(default)]
    pub made: Vec<serde_json::Value>,
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

/// Asks about one case; `seconds` is what it may take.
pub fn explain(tool: &Path, case: &Case, seconds: u64) -> Result<Answer> {
    let start = Instant::now();
    let output = command(tool, case, seconds)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{} cannot be run", tool.display()))?;
    let status = output.status.code().filter(|code| *code != 124 && *code != 137);
    Ok(Answer { status, report: read(&output.stdout), time: start.elapsed() })
}

fn command(tool: &Path, case: &Case, seconds: u64) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-k", "1"]).arg((seconds.saturating_add(GRACE)).to_string()).arg(tool);
    // The environment is part of a run; this one is the same everywhere.
    command.env_clear().env("PATH", "/usr/bin:/bin").current_dir(&case.directory);
    command.args(["explain", "--format", "json", "--jobs", "1", "--timeout"]).arg(seconds.to_string());
    command.args(["--stdin", native::INPUT]);
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
    command.args(["--", &format!("./{}", native::EXECUTABLE)]).args(case.test.arguments());
    command
}

fn read(answer: &[u8]) -> Option<Report> {
    #[derive(Deserialize)]
    struct Envelope {
        findings: Vec<serde_json::Value>,
    }
    let envelope: Envelope = serde_json::from_slice(answer).ok()?;
    let is_switching =
        |finding: &serde_json::Value| finding.get("kind")?.as_str().map(|kind| kind == "switching");
    let finding = envelope.findings.into_iter().find(|finding| is_switching(finding) == Some(true))?;
    serde_json::from_value(finding).ok()
}
