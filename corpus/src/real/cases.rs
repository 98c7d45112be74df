//! Real bugs as cases of a suite.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, ensure};

use super::build::{self, Built, STDIN};
use super::sources::Sources;
use super::{Case, Kind, load, names};
use crate::cases::{self, Fails, Fault};
use crate::mutate::{self, Lines, Truth};

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
        match build::build(&case, &sources, place) {
            Ok(built) => {
                eprintln!("{name}: built");
                found.push(case_of(&case, built));
            }
            Err(error) if chosen.is_empty() => eprintln!("{name}: left out: {error:#}"),
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn case_of(case: &Case, built: Built) -> cases::Case {
    let fails = match case.kind {
        Kind::Output => Fails::Output,
        Kind::Status => Fails::Status,
        Kind::Crash | Kind::Assertion | Kind::HeapFault => Fails::Crash,
        Kind::Hang => Fails::Hang,
    };
    cases::Case {
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
        criterion: (fails == Fails::Crash).then(|| "crash".to_owned()),
        reference: Some(built.fixed),
        tests: Arc::default(),
        failing: 0,
        statements: None,
    }
}

/// The lines that the fix touches, file by file. They are one fault: to come to one of them is enough.
fn faults(case: &Case) -> Vec<Fault> {
    let mut files: BTreeMap<String, Lines> = BTreeMap::new();
    for lines in &case.lines {
        let file = lines.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.entry(file).or_default().extend(lines.first..=lines.last);
    }
    let fault = |(file, lines): (String, Lines)| Fault {
        kind: mutate::Kind::Other,
        origin: "real".to_owned(),
        file,
        line: lines.first().copied().unwrap_or(0),
        truth: Truth { strict: lines.clone(), lenient: lines },
        change: case.why.clone(),
    };
    files.into_iter().map(fault).collect()
}
