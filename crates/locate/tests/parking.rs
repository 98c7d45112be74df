//! Parking is exact: on random programs each trial leaves the same behind whether it was parked or ran to its end by itself.

mod common;

use std::collections::BTreeMap;
use std::process::Command;

use common::{Failing, Scratch, crashing, options};
use locate::switching::{Ending, Found, Options};
use replay::oracle::digest;
use replay::{Bytes, Expectation};

/// Programs that decide less say little, and those that decide more take long.
const DECISIONS: std::ops::RangeInclusive<usize> = 20..=150;
const PROGRAMS: usize = 10;
const MOST_SEEDS: u64 = 200;

/// What came of each trial, by its decision: what it left behind, or that it failed or was given up.
fn outcomes(found: &Found, spine: [u8; 32]) -> BTreeMap<usize, (bool, Option<[u8; 32]>)> {
    let outcome = |ending: &Ending, leavings: Option<[u8; 32]>| match ending {
        Ending::AsTheSpine => (true, Some(spine)),
        Ending::Passed => (true, leavings),
        Ending::Failed { .. } => (false, None),
        Ending::CutShort => (true, None),
    };
    found.trials.iter().map(|(place, trial)| (*place, outcome(&trial.ending, trial.leavings))).collect()
}

fn generate(scratch: &Scratch, seed: u64) -> std::path::PathBuf {
    let arguments = ["--max-funcs", "3", "--max-block-depth", "3", "--max-block-size", "3", "--no-argc"];
    let output = Command::new("csmith").args(["--seed", &seed.to_string()]).args(arguments).output().unwrap();
    let source = scratch.write(&format!("random{seed}"), &String::from_utf8_lossy(&output.stdout));
    let includes = std::fs::read_dir("/usr/include").unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.starts_with("csmith").then(|| format!("-I/usr/include/{name}"))
    });
    let flags: Vec<String> = includes.chain(["-O0".to_owned()]).collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    scratch.compile(&source, &flags)
}

/// Tries programs from a seed on until enough of them had a fitting number of decisions.
fn agree(first: u64) {
    let scratch = Scratch::new(&format!("parking-{first}"));
    let mut checked = 0;
    for seed in first..first + MOST_SEEDS {
        if checked == PROGRAMS {
            return;
        }
        let mut case = crashing(&generate(&scratch, seed), &[], "");
        case.limits.instructions = 2_000_000;
        // All that the run leaves behind is wrong, so that no trial is given up for what it wrote.
        case.oracle.expectations.push(Expectation::Command(Bytes::from("exit 1")));
        let Some(mut failing) = Failing::try_new(case) else { continue };
        let Some(spine) = digest(failing.recording.last()) else { continue };
        if !DECISIONS.contains(&failing.decisions()) {
            continue;
        }
        let options = Options { goes_beyond: false, threads: 1, ..options() };
        let alone = failing.switch(&Options { parks: false, ..options.clone() });
        let parked = failing.switch(&options);
        assert_eq!(outcomes(&alone, spine), outcomes(&parked, spine), "seed {seed}");
        checked += 1;
    }
    assert_eq!(checked, PROGRAMS, "too few programs had a fitting number of decisions");
}

#[test]
fn trials_of_random_programs_1() {
    agree(1);
}

#[test]
fn trials_of_random_programs_2() {
    agree(10_001);
}

#[test]
fn trials_of_random_programs_3() {
    agree(20_001);
}

#[test]
fn trials_of_random_programs_4() {
    agree(30_001);
}

#[test]
fn trials_of_random_programs_5() {
    agree(40_001);
}
