//! The real bugs, fetched, built and run: with `WHYDUNIT_LONG=1`, for it needs a mirror of Debian and some minutes.
//!
//! `WHYDUNIT_REAL` names the cases to try, separated by spaces, in place of all.

use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use corpus::native::ENVIRONMENT;
use corpus::real::build::{self, Built};
use corpus::real::changes;
use corpus::real::sources::Sources;
use corpus::real::{self, Case, Kind};
use corpus::tool;

/// A native run that takes longer hangs.
const SECONDS: &str = "20";
/// The exit status of valgrind where it found something, which no program here has.
const FAULT: i32 = 77;

struct Outcome {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: Option<i32>,
    signal: Option<i32>,
}

#[test]
fn every_real_bug_shows_itself_natively_and_in_the_machine_and_the_fix_repairs_it() {
    if std::env::var_os("WHYDUNIT_LONG").is_none() {
        skip("the real bugs", "they are built with WHYDUNIT_LONG=1 only");
        return;
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real");
    let sources = Sources::open(&place.join("sources")).unwrap();
    let tool = tool::binary().unwrap();
    let failures: Vec<String> = chosen()
        .iter()
        .filter_map(|name| {
            let case = real::load(name).unwrap();
            let said = try_case(&case, &sources, &place, &tool).err()?;
            Some(format!("{name}: {said}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Past the test runner's capture, and into a file that `./test` shows: a skip is no pass.
fn skip(what: &str, reason: &str) {
    let line = format!("SKIPPED {what}: {reason}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join("SKIPPED");
    if let Ok(mut list) = File::options().create(true).append(true).open(list) {
        let _ = list.write_all(line.as_bytes());
    }
}

fn chosen() -> Vec<String> {
    match std::env::var("WHYDUNIT_REAL") {
        Ok(names) => names.split_whitespace().map(str::to_owned).collect(),
        Err(_) => real::names().unwrap(),
    }
}

fn try_case(case: &Case, sources: &Sources, place: &Path, tool: &Path) -> Result<(), String> {
    let built = build::build(case, sources, place).map_err(|error| format!("{error:#}"))?;
    let [buggy, fixed] = ["buggy", "fixed"].map(|name| place.join(&case.name).join(name));
    let complaints = changes::complaints(case, &buggy, &fixed).map_err(|error| format!("{error:#}"))?;
    check(complaints.is_empty(), &complaints.join("; "))?;
    let (buggy, fixed) = (native(case, &built.buggy), native(case, &built.fixed));
    check(shows(case, &built.buggy, &buggy), "it does not show natively")?;
    check(!shows(case, &built.fixed, &fixed), "the fix does not repair it")?;
    check(is_as_expected(case, &fixed), "the fixed program does not do what is expected")?;
    let (buggy, fixed) =
        [&built.buggy, &built.fixed].map(|program| in_machine(case, &built, program, tool)).into();
    check(buggy == "failed", &format!("with the bug, it has {buggy} in the machine"))?;
    check(fixed == "passed", &format!("without the bug, it has {fixed} in the machine"))
}

fn check(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

fn shows(case: &Case, program: &Path, outcome: &Outcome) -> bool {
    match case.kind {
        Kind::Crash | Kind::Assertion => outcome.signal.is_some(),
        Kind::Hang => outcome.status == Some(124),
        Kind::Output | Kind::Status => !is_as_expected(case, outcome),
        Kind::HeapFault => {
            let memcheck = ["--quiet", "--undef-value-errors=no", &format!("--error-exitcode={FAULT}")];
            run(case, Command::new("valgrind").args(memcheck).arg(program)).status == Some(FAULT)
        }
    }
}

fn is_as_expected(case: &Case, outcome: &Outcome) -> bool {
    let expected = &case.expected;
    expected.stdout.as_ref().is_none_or(|text| text.0 == outcome.stdout)
        && expected.stderr.as_ref().is_none_or(|text| text.0 == outcome.stderr)
        && expected.exit == outcome.status
}

fn native(case: &Case, program: &Path) -> Outcome {
    run(case, Command::new("timeout").args(["--foreground", SECONDS]).arg(program))
}

/// Runs a program in a new directory, which it may change.
fn run(case: &Case, command: &mut Command) -> Outcome {
    let directory = tempfile::tempdir().unwrap();
    build::write_files(case, directory.path()).unwrap();
    let stdin = File::open(directory.path().join(build::STDIN)).unwrap();
    command.env_clear().envs(ENVIRONMENT).envs(&case.environment);
    let output = command.args(case.command()).current_dir(&directory).stdin(stdin).output().unwrap();
    // `timeout` ends as the program did: a status beyond 128 is one.
    let (status, signal) = (output.status.code(), output.status.signal());
    Outcome { stdout: output.stdout, stderr: output.stderr, status, signal }
}

/// What came of it, as `whydunit stats` says.
fn in_machine(case: &Case, built: &Built, program: &Path, tool: &Path) -> String {
    let mut command = Command::new(tool);
    command.env_clear().envs(ENVIRONMENT).envs(&case.environment).current_dir(&built.directory);
    command.args(["stats", "--format", "json", "--stdin", build::STDIN]).args(case.options());
    let output = command.arg("--").arg(program).args(case.command()).output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}: {}", case.name, String::from_utf8_lossy(&output.stderr)));
    said["verdict"]["outcome"].as_str().unwrap_or("no outcome").to_owned()
}
