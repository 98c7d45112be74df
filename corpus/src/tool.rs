//! Asks `whydunit` about a case, and reads its answers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::answer::{self, Answer, Cost, Coverage, Finding, Place, Reply, Slice, Witness};
use crate::cases::{Case, Fails};
use crate::limited::{self, Ran};
use crate::native;
use crate::programs::Test;
use crate::report::Report;
use crate::{statements, workbench};

/// The answer of the tool, in the directory of the case.
const ANSWER: &str = "answer.json";
/// Where the other input is, with which the program passes.
const PASSING: &str = "passing";
/// Twelve times what the longest of the tests executes.
const HANG_AFTER: &str = "5M";
/// After the time that a case may take, the tool gets so many seconds to say what it found.
const GRACE: u64 = 60;

/// The whydunit that is asked, and what a question may take.
#[derive(Clone, Debug)]
pub struct Tool {
    pub binary: PathBuf,
    pub seconds: u64,
    /// Instructions of all trials of an explanation.
    pub budget: u64,
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
        self.ask(command, case)
    }

    /// The statements of a slice from the failure, the nearest first: what a reader has without a technique. Nothing if
    /// there is nothing to ask about, as when output is missing.
    pub fn slice(&self, case: &Case, kind: &str) -> Result<Answer<Vec<Place>>> {
        let Some(criterion) = &case.criterion else {
            return Ok(Answer { reply: Reply::NotAsked, ..Answer::default() });
        };
        let mut command = self.command("slice", self.seconds, &case.directory);
        command.args(["--format", "json", "--kind", kind, "--at", criterion]);
        let Answer { reply, found, length, cost } = self.ask::<Slice>(command, case)?;
        Ok(Answer { reply, found: found.map(Slice::by_distance), length, cost })
    }

    /// How often each statement is executed in a test of the case's program, up to where it counts as hanging.
    pub fn coverage(&self, case: &Case, test: &Test) -> Result<Coverage> {
        covered(case, &self.run_test(case, test, &["dump", "coverage", "--to", HANG_AFTER])?)
    }

    /// Whether the case's program neither crashes nor hangs in the machine with a test.
    pub fn passes(&self, case: &Case, test: &Test) -> Result<bool> {
        let ran = self.run_test(case, test, &["stats", "--format", "json", "--hang-after", HANG_AFTER])?;
        Ok(match answer::reply(&ran)? {
            Reply::Given => answer::witness(&ran)?.is_none(),
            Reply::NotReproduced | Reply::NoAnswer | Reply::NotAsked => false,
        })
    }

    fn run_test(&self, case: &Case, test: &Test, words: &[&str]) -> Result<Ran> {
        let place = tempfile::tempdir_in(&case.directory).context("no directory can be made for a run")?;
        native::lay_out(test, place.path())?;
        let (what, options) = words.split_first().context("no command to be asked")?;
        let mut command = self.command(what, self.seconds, place.path());
        let executable = native::bring(&case.directory.join(&case.executable), place.path())?;
        command.args(options).args(["--stdin", native::INPUT, "--"]);
        command.arg(executable).args(test.arguments());
        limited::run(command, &place.path().join(ANSWER))
    }

    /// The same of the failing run.
    pub fn coverage_of_failure(&self, case: &Case) -> Result<Coverage> {
        let mut command = self.command("dump", self.seconds, &case.directory);
        command.arg("coverage");
        if case.fails == Fails::Hang {
            command.args(["--to", HANG_AFTER]);
        }
        covered(case, &self.run(command, case)?)
    }

    /// How the case fails in the machine, where it need not do what it does natively: it has other addresses, and notices
    /// what is done wrong with the heap. `None` if it does not fail, or cannot be run.
    pub fn witness(&self, case: &Case, right_status: i32) -> Result<Option<Witness>> {
        let mut command = self.command("stats", self.seconds, &case.directory);
        command.args(["--format", "json"]).args(workbench::expected(Some(right_status)));
        if case.fails == Fails::Hang {
            command.args(["--hang-after", HANG_AFTER]);
        }
        let ran = self.run(command, case)?;
        match answer::reply(&ran)? {
            Reply::Given => {
                answer::witness(&ran).with_context(|| format!("what whydunit says of {}", case.name))
            }
            Reply::NotReproduced | Reply::NoAnswer | Reply::NotAsked => Ok(None),
        }
    }

    /// How many instructions a program takes that does nothing, compiled and run as the others are: the loader's, and those
    /// of the C library's beginning and end.
    pub fn length_of_nothing(&self, place: &Path) -> Result<u64> {
        ensure!(
            native::compile("int main(void) { return 0; }\n", place)?,
            "gcc refuses a program that does nothing"
        );
        let mut command = self.command("stats", self.seconds, place);
        command.args(["--format", "json", "--"]).arg(Path::new(".").join(native::EXECUTABLE));
        answer::length(&limited::run(command, &place.join(ANSWER))?)
            .context("whydunit does not tell how long a program is that does nothing")
    }

    fn command(&self, what: &str, seconds: u64, directory: &Path) -> Command {
        let mut command = limited::command(&self.binary, seconds);
        command.env_clear().envs(native::ENVIRONMENT).current_dir(directory).arg(what);
        command
    }

    fn run(&self, mut command: Command, case: &Case) -> Result<Ran> {
        command.envs(&case.environment).args(["--stdin", case.stdin, "--"]);
        command.arg(&case.executable).args(&case.arguments);
        limited::run(command, &case.directory.join(ANSWER))
    }

    fn ask<T: Finding>(&self, command: Command, case: &Case) -> Result<Answer<T>> {
        let ran = self.run(command, case)?;
        answer::answer(&ran).with_context(|| {
            format!("what whydunit says of {} cannot be read, so nothing is measured: does it speak another schema?", case.name)
        })
    }
}

/// Reads what `whydunit dump coverage` prints of a run of a case.
fn covered(case: &Case, ran: &Ran) -> Result<Coverage> {
    let reply = answer::reply(ran)?;
    let text = String::from_utf8_lossy(&ran.stdout);
    let lines: Result<Vec<(Place, u64)>> = match reply {
        Reply::Given => text.lines().map(answer::covered).collect(),
        Reply::NotReproduced | Reply::NoAnswer | Reply::NotAsked => Ok(Vec::new()),
    };
    let lines = lines.with_context(|| format!("the coverage of {} cannot be read", case.name))?;
    let counts = match &case.statements {
        Some(statements) => statements.executed(lines),
        None => statements::lines_with_more_than_braces(lines, &case.directory),
    };
    Ok(Coverage { reply, counts, cost: Cost::of(ran) })
}
