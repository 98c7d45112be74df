//! The same run every time: equal instruction counts and equal final states, fifty times over, whatever the host is doing.

use std::ffi::OsString;
use std::time::Duration;

use tests::command::Program;
use tests::compile::{self, Linkage, PLAIN, Variant};
use tests::{inputs, place};

const RUNS: usize = 50;

/// What `--stats` says of one run.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    instructions: String,
    state: String,
    stdout: Vec<u8>,
}

fn runs_alike(name: &str, words: &[OsString]) {
    let scratch = place::scratch(&format!("determinism-{name}"));
    inputs::write_all(&scratch).expect("inputs can be written");
    let program =
        Program::new(words).directory(&scratch).timeout(Duration::from_secs(10)).under_whydunit(&["--stats"]);
    let run = || {
        let outcome = program.run().expect("whydunit ends");
        assert_eq!(outcome.status, 0, "{outcome:?}");
        let statistic = |name| {
            outcome.statistic(name).unwrap_or_else(|| panic!("--stats has no {name}: {outcome:?}")).to_owned()
        };
        Run {
            instructions: statistic("instructions"),
            state: statistic("state"),
            stdout: outcome.stdout.clone(),
        }
    };
    let first = run();
    assert!(
        first.instructions.parse::<u64>().is_ok_and(|count| count > 10_000),
        "too short a run to prove anything: {}",
        first.instructions
    );
    for number in 2..=RUNS {
        let again = run();
        assert!(
            again == first,
            "run {number} is another one: {} {}, not {} {}",
            again.instructions,
            again.state,
            first.instructions,
            first.state
        );
    }
}

fn guest(source: &str, variant: Variant) -> OsString {
    compile::compile(&place::guest(source), variant, &[]).expect("the guest compiles").into_os_string()
}

#[test]
fn sort_runs_alike() {
    runs_alike("sort", &["sort".into(), "-n".into(), "numbers.txt".into()]);
}

#[test]
fn gzip_runs_alike() {
    runs_alike("gzip", &["gzip".into(), "-c".into(), "short.txt".into()]);
}

#[test]
fn ls_runs_alike() {
    runs_alike("ls", &["ls".into(), "-lR".into()]);
}

#[test]
fn an_allocating_program_runs_alike() {
    runs_alike("allocation", &[guest("allocation.c", PLAIN)]);
}

#[test]
fn a_program_that_asks_for_time_and_randomness_runs_alike() {
    runs_alike("chance", &[guest("chance.c", Variant { linkage: Linkage::Static, ..PLAIN })]);
}
