//! Programs that use memory which was never written, and programs that do not, under `--uninit=report` and under memcheck.
//!
//! The lines at which a use is to be told say `USED` in the source. `WHYDUNIT_LONG=1` asks memcheck about the same lines, and about
//! the programs of the system.

mod common;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use common::{Scratch, skip};

const SOURCE: &str = include_str!("programs/uninit.c");
const BUILDS: [(&str, &str); 4] = [("gcc", "-O0"), ("gcc", "-O1"), ("clang", "-O0"), ("clang", "-O1")];
const NOTHING: &str = "whydunit: nothing depended on memory that was never written\n";

struct Programs {
    scratch: Scratch,
}

impl Programs {
    fn new(name: &str) -> Programs {
        let scratch = Scratch::new(name);
        scratch.write("uninit.c", SOURCE);
        Programs { scratch }
    }

    /// The executable that a compiler makes; `None` if it is not here.
    fn compile(&self, (compiler, optimisation): (&str, &str)) -> Option<String> {
        let name = format!("uninit_{compiler}{optimisation}");
        let mut command = Command::new(compiler);
        let options =
            ["-g", "-w", "-fno-builtin", "-D_FORTIFY_SOURCE=0", optimisation, "-o", &name, "uninit.c"];
        let output = command.current_dir(self.scratch.path()).args(options).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(name)
    }

    fn ours(&self, program: &str, name: &str) -> BTreeSet<usize> {
        let ran = self.scratch.whydunit(&["run", "--uninit=report", "--", &format!("./{program}"), name]);
        assert_eq!(ran.status, 0, "{name}: {}", ran.stderr);
        let lines = lines_of_reports(&ran.stderr);
        assert_eq!(lines.is_empty(), ran.stderr.ends_with(NOTHING), "{name}: {}", ran.stderr);
        lines
    }

    fn memcheck(&self, program: &str, name: &str) -> BTreeSet<usize> {
        let mut command = Command::new("valgrind");
        command.current_dir(self.scratch.path()).args([
            "-q",
            "--leak-check=no",
            &format!("./{program}"),
            name,
        ]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        // Each error begins with what it is, and goes on with frames, the innermost first.
        let errors = text.split("uninitialised").skip(1);
        errors.filter_map(line_of_frame).collect()
    }
}

/// The line of the first frame in the program.
fn line_of_frame(text: &str) -> Option<usize> {
    let after = text.split_once("uninit.c:")?.1;
    after.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// The lines of the program at which uses are told.
fn lines_of_reports(text: &str) -> BTreeSet<usize> {
    let reports = text.split(" depends on memory that was never written\n").skip(1);
    let trace = |report: &str| report.split("  It comes from").next().unwrap_or_default().to_owned();
    reports.map(|report| line_of_frame(&trace(report)).expect("it is in the program")).collect()
}

/// All programs, in order, with the lines of their uses.
fn expected() -> Vec<(String, BTreeSet<usize>)> {
    let mut all: Vec<(String, BTreeSet<usize>)> = Vec::new();
    for (index, line) in SOURCE.lines().enumerate() {
        if let Some(name) = line.strip_prefix("CASE(") {
            all.push((name.split(')').next().unwrap().to_owned(), BTreeSet::new()));
        }
        if line.ends_with("/* USED */") {
            all.last_mut().unwrap().1.insert(index + 1);
        }
    }
    all
}

#[test]
fn uses_are_told_at_their_lines_and_nothing_else_is() {
    let programs = Programs::new("uninit");
    let expected = expected();
    let (used, fine): (Vec<_>, Vec<_>) = expected.iter().partition(|(_, lines)| !lines.is_empty());
    assert!(used.len() >= 30 && fine.len() >= 20);
    assert!(fine.iter().all(|(name, _)| name.starts_with("fine_")));
    for build in BUILDS {
        let Some(program) = programs.compile(build) else {
            skip("uninitialised values", &format!("there is no {}", build.0));
            continue;
        };
        for (name, lines) in &expected {
            assert_eq!(programs.ours(&program, name), *lines, "{program} {name}");
        }
    }
}

#[test]
fn memcheck_tells_the_same_lines() {
    if std::env::var_os("WHYDUNIT_LONG").is_none() {
        return;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        return skip("the comparison with memcheck", "there is no valgrind");
    }
    let programs = Programs::new("uninit-memcheck");
    for build in BUILDS {
        let Some(program) = programs.compile(build) else { continue };
        for (name, lines) in expected() {
            assert_eq!(programs.memcheck(&program, &name), lines, "{program} {name}");
        }
    }
}
