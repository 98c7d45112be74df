//! Parking is exact: each trial leaves the same behind whether it was parked or ran to its end by itself; and while it is parked, it differs from
//! the spine in what is claimed and in nothing else.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use common::{Failing, Scratch, crashing, options, own};
use locate::switching::{Ending, Found, Options, Parking};
use replay::failure::Verdict;
use replay::oracle::{digest, judge};
use replay::{Bytes, Case, Expectation, Heap};

/// Programs that decide less say little, and those that decide more take long.
const DECISIONS: std::ops::RangeInclusive<usize> = 20..=150;
const PROGRAMS: usize = 10;
const MOST_SEEDS: u64 = 200;

/// Whether a run ended well as far as the machine can tell, and what it left behind then.
type Outcome = (bool, Option<[u8; 32]>);

/// What came of each trial, by its decision.
fn outcomes(found: &Found, spine: Outcome) -> BTreeMap<usize, Outcome> {
    let outcome = |ending: &Ending, leavings: Option<[u8; 32]>| match ending {
        Ending::AsTheSpine => spine,
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

/// A case in which all that the run leaves behind is wrong, so that no trial is given up for what it wrote.
fn all_wrong(mut case: Case) -> Option<Failing> {
    case.oracle.expectations.push(Expectation::Command(Bytes::from("exit 1")));
    Failing::try_new(case)
}

/// Compares trials with and without parking, and says how often a claim about one that waited was looked at. `None` if it cannot be told what the
/// run leaves behind.
fn check(failing: &mut Failing, name: &str) -> Option<u32> {
    let left = digest(failing.recording.last())?;
    let is_well = !matches!(judge(&failing.case, failing.recording.last()), Verdict::Failed(_));
    let spine = (is_well, is_well.then_some(left));
    let options = Options { goes_beyond: false, threads: 1, ..options() };
    let alone = failing.switch(&Options { parking: Parking::Never, ..options.clone() });
    let parked = failing.switch(&Options { parking: Parking::Always, checks: true, ..options });
    assert_eq!(outcomes(&alone, spine), outcomes(&parked, spine), "{name}");
    let refuted: Vec<usize> =
        parked.trials.iter().filter(|(_, trial)| trial.refuted > 0).map(|(place, _)| *place).collect();
    assert!(refuted.is_empty(), "{name}: {refuted:?}");
    Some(parked.trials.iter().map(|(_, trial)| trial.checked).sum())
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
        let Some(mut failing) = all_wrong(case) else { continue };
        if DECISIONS.contains(&failing.decisions()) && check(&mut failing, &format!("seed {seed}")).is_some()
        {
            checked += 1;
        }
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

/// Effects that go through library calls, floats, string instructions, the heap, signals, and system calls.
#[test]
fn trials_of_all_kinds_of_effects() {
    let scratch = Scratch::new("worlds");
    let mut checked = 0;
    for flags in ["-O0", "-O2"] {
        let program = scratch.compile(&own("worlds"), &[flags]);
        for heap in [Heap::Program, Heap::Checked] {
            let mut failing = all_wrong(Case { heap, ..crashing(&program, &[], "") }).unwrap();
            checked += check(&mut failing, &format!("{flags} {heap:?}")).unwrap();
        }
    }
    assert!(checked > 0, "nothing was checked");
}

/// How one of the repository's examples is built and run; what its answer has to be is for others to look at.
#[derive(serde::Deserialize)]
struct Example {
    source: String,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    arguments: Vec<String>,
    stdin: Option<String>,
}

#[test]
fn trials_of_all_examples() {
    let scratch = Scratch::new("examples-parked");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").canonicalize().unwrap();
    let mut folders: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("case.toml").exists());
    folders.sort();
    let mut left_out = Vec::new();
    for folder in &folders {
        let example = std::fs::read_to_string(folder.join("case.toml")).unwrap();
        let example: Example = toml::from_str(&example).unwrap();
        let flags: Vec<&str> = example.flags.iter().map(String::as_str).collect();
        let program = scratch.compile(&folder.join(&example.source), &flags);
        let arguments: Vec<&str> = example.arguments.iter().map(String::as_str).collect();
        let input = example.stdin.map(|name| std::fs::read_to_string(folder.join(name)).unwrap());
        let mut case = crashing(&program, &arguments, &input.unwrap_or_default());
        case.cwd = Bytes::from(folder.to_str().unwrap());
        case.limits.instructions = 2_000_000;
        let name = folder.display().to_string();
        if all_wrong(case).and_then(|mut failing| check(&mut failing, &name)).is_none() {
            left_out.push(name);
        }
    }
    // Of a run without end it cannot be told what it leaves behind.
    assert!(left_out.len() <= 1, "{left_out:?} cannot be compared");
}

/// Records are handled one after the other, so that effects are written over; and sums are kept, so that others stay.
#[test]
fn trials_of_records() {
    let scratch = Scratch::new("records-parked");
    let records: String = (0..40).map(|number| format!("{} n{}\n", number * 7 % 23, number)).collect();
    for flags in ["-O0", "-O2"] {
        let program = scratch.compile(&own("records"), &[flags]);
        let mut failing = all_wrong(crashing(&program, &[], &records)).unwrap();
        let checked = check(&mut failing, flags).unwrap();
        assert!(checked > 0, "nothing was checked");
    }
}
