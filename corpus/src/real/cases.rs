//! Real bugs as cases of a suite.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use super::build::{self, Built, STDIN};
use super::sources::Sources;
use super::{Case, Kind, load, names};
use crate::cases::{self, Fails, Fault};
use crate::mutate::{Lines, Truth};
use crate::{native, workbench};

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
    let (right, wrong) = match fails {
        Fails::Output => (printed(case, &built.fixed)?, printed(case, &built.buggy)?),
        Fails::Status | Fails::Crash | Fails::Hang => Default::default(),
    };
    Ok(workbench::criterion(fails, &right, &wrong))
}

/// What a program prints natively, in a new directory, for it may change its files.
fn printed(case: &Case, program: &Path) -> Result<Vec<u8>> {
    let place = tempfile::tempdir().context("no directory can be made for a run")?;
    build::write_files(case, place.path())?;
    let mut command = native::limited(program);
    command.envs(&case.environment).args(case.command());
    Ok(native::outcome(&mut command, place.path(), STDIN)?.stdout)
}

/// The lines that the fix touches, file by file. They are one fault: to come to one of them is enough.
fn faults(case: &Case) -> Vec<Fault> {
    let mut files: BTreeMap<String, Lines> = BTreeMap::new();
    for lines in &case.lines {
        let file = lines.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.entry(file).or_default().extend(lines.first..=lines.last);
    }
    let fault = |(file, lines): (String, Lines)| Fault {
        kind: case.fault,
        origin: "real".to_owned(),
        file,
        line: lines.first().copied().unwrap_or(0),
        truth: Truth { strict: lines.clone(), lenient: lines },
        change: case.why.clone(),
    };
    files.into_iter().map(fault).collect()
}
