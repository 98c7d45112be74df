//! Real bugs as cases of a suite.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use super::build::{self, Built, STDIN};
use super::sources::Sources;
use super::{Case, Kind, load, names};
use crate::cases::{self, Fails, Fault};
use crate::mutate::Truth;
use crate::native::Outcome;
use crate::{native, workbench};

/// The origin of a fault that nobody made on purpose.
pub const REAL: &str = "real";

/// Fetches and builds the real bugs, or those that are named. Of all, those are left out that cannot be had: a mirror may have dropped one.
pub fn all(chosen: &[String], place: &Path) -> Result<Vec<cases::Case>> {
    let known = names()?;
    for name in chosen {
        ensure!(known.contains(name), "there is no real bug {name}; there are {}", known.join(", "));
    }
    let sources = Sources::open(&place.join("sources"))?;
    let mut found = Vec::new();
    for name in known.iter().filter(|name| chosen.is_empty() || chosen.contains(name)) {
        let case = load(name)?;
        match build::build(&case, &sources, place).and_then(|built| case_of(&case, built)) {
            Ok(case) => {
                eprintln!("{name}: built");
                found.push(case);
            }
            Err(error) if chosen.is_empty() => eprintln!("{name}: left out: {error:#}"),
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// What was built, as a case to ask about.
pub fn case_of(case: &Case, built: Built) -> Result<cases::Case> {
    let fails = match case.kind {
        Kind::Output => Fails::Output,
        Kind::Status => Fails::Status,
        Kind::Crash | Kind::Assertion | Kind::HeapFault => Fails::Crash,
        Kind::Hang => Fails::Hang,
    };
    let criterion = criterion(case, fails, &built)?;
    Ok(cases::Case {
        name: case.name.clone(),
        program: case.package.clone(),
        faults: faults(case),
        fails,
        directory: built.directory,
        executable: built.buggy,
        arguments: case.command(),
        environment: case.environment.clone(),
        stdin: STDIN,
        // How long a hang takes is said for all cases alike.
        expectations: if fails == Fails::Hang { Vec::new() } else { case.options() },
        criterion,
        reference: Some(built.fixed),
        tests: Arc::default(),
        failing: 0,
        statements: None,
        right_status: None,
    })
}

/// Only of output is the right one needed: where the two programs first print something else.
fn criterion(case: &Case, fails: Fails, built: &Built) -> Result<Option<String>> {
    if fails != Fails::Output {
        return Ok(workbench::criterion(fails, &[], &[]));
    }
    let (right, wrong) = (printed(case, &built.fixed)?, printed(case, &built.buggy)?);
    Ok(first_difference(&right, &wrong))
}

/// Standard error is looked at if standard output is as it should be.
fn first_difference(right: &Outcome, wrong: &Outcome) -> Option<String> {
    if right.stdout == wrong.stdout {
        let first = workbench::first_wrong(&right.stderr, &wrong.stderr);
        return first.map(|index| format!("stderr:{index}"));
    }
    workbench::criterion(Fails::Output, &right.stdout, &wrong.stdout)
}

/// What a program prints natively, in a new directory, for it may change its files.
fn printed(case: &Case, program: &Path) -> Result<Outcome> {
    let place = tempfile::tempdir().context("no directory can be made for a run")?;
    build::write_files(case, place.path())?;
    let mut command = native::limited(program);
    command.envs(&case.environment).args(case.command());
    native::outcome(&mut command, place.path(), STDIN)
}

/// The lines that the fix touches, file by file. They are one fault: to come to one of them is enough.
fn faults(case: &Case) -> Vec<Fault> {
    let mut files: BTreeMap<String, Truth> = BTreeMap::new();
    let mut add = |lines: &super::Lines, is_strict: bool| {
        let truth = files.entry(lines.file.to_string_lossy().into_owned()).or_default();
        truth.lenient.extend(lines.first..=lines.last);
        if is_strict {
            truth.strict.extend(lines.first..=lines.last);
        }
    };
    case.lines.iter().for_each(|lines| add(lines, case.uses.is_empty()));
    case.uses.iter().for_each(|lines| add(lines, true));
    case.lenient.iter().for_each(|lines| add(lines, false));
    let fault = |(file, truth): (String, Truth)| Fault {
        kind: case.fault,
        origin: REAL.to_owned(),
        file,
        line: truth.lenient.first().copied().unwrap_or(0),
        truth,
        change: case.why.clone(),
    };
    files.into_iter().map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Place;
    use crate::measure::Order;
    use crate::native::Ending;

    fn outcome(stdout: &str, stderr: &str) -> Outcome {
        Outcome { stdout: stdout.into(), stderr: stderr.into(), ending: Ending::Exited(0) }
    }

    #[test]
    fn what_is_wrong_on_standard_error_alone_is_asked_about_there() {
        let first = |right: (&str, &str), wrong: (&str, &str)| {
            first_difference(&outcome(right.0, right.1), &outcome(wrong.0, wrong.1))
        };
        assert_eq!(first(("a", "abc"), ("a", "abd")).as_deref(), Some("stderr:2"));
        assert_eq!(first(("a", "abc"), ("b", "abd")).as_deref(), Some("output:0"));
        assert_eq!(first(("ab", "abc"), ("a", "abd")), None);
    }

    #[test]
    fn both_rules_are_told_and_files_of_the_same_name_told_apart() {
        let case = super::super::load("patch-newline").unwrap();
        let faults = faults(&case);
        let fault = faults.iter().find(|fault| fault.file == "src/patch.c").expect("a file of the fix");
        let has = |line: usize| (fault.truth.strict.contains(&line), fault.truth.lenient.contains(&line));
        assert_eq!(
            [1429, 369, 1547, 1548].map(has),
            [(true, true), (false, true), (false, true), (false, false)]
        );
        assert!(fault.truth.strict.is_subset(&fault.truth.lenient));
        let order = |file: &str| Order::of([Place { file: file.to_owned(), line: 1547 }]);
        let is_found = |file: &str| {
            order(file).rank(|place| crate::measure::names(fault, &fault.truth.lenient, place)).is_some()
        };
        assert!(is_found("../buggy/src/patch.c") && is_found("/tmp/x/buggy/src/patch.c"));
        assert!(!is_found("../buggy/lib/patch.c") && !is_found("../buggy/src/mypatch.c"));
    }
}
