//! gdb judges the static view: what `program` says about a stopped guest, against what gdb says about a core file of the same
//! instant.
//!
//! A program is run once. At sampled instants the machine is forked, a core file is written and our own view is
//! taken ([`ours`]). gdb then opens all cores in one process and answers by a script of ours ([`gdb`], [`answer`]). The two
//! views are compared field by field ([`compare`]); what may differ, and why, is a list there.

mod answer;
mod compare;
mod gdb;
mod ours;
mod sample;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use answer::{Form, FrameView, Variable, View, Whereabouts};
pub use compare::Difference;

/// A program, how to run it, and where to look.
#[derive(Clone, Debug)]
pub struct Case {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub stdin: Arc<Vec<u8>>,
    /// Two cases of the same seed are sampled alike.
    pub seed: u64,
    pub samples: usize,
    pub instants: Instants,
    /// Where cores are written; they are removed again.
    pub scratch: PathBuf,
}

/// Which instants of a run are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instants {
    /// Any, most of them in the code of the executable.
    Any,
    /// Those at lines of the program's own sources, all lines alike however often they are executed. For programs that run for a moment.
    Lines,
}

/// What was compared.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub samples: usize,
    pub frames: usize,
    pub variables: usize,
    pub types: usize,
    pub differences: Vec<Difference>,
    /// How often each normalisation was needed.
    pub normalised: Vec<(&'static str, usize)>,
}

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// gdb is not there.
    #[error("gdb cannot be run: {0}")]
    NoDebugger(std::io::Error),
    /// gdb itself fell over, as gdb 13 does at some values of Rust.
    #[error("{0}")]
    DebuggerFailed(String),
    #[error("{0}")]
    Setup(String),
}

/// Compares the two views at all instants of a case.
pub fn run(case: &Case) -> Result<Report, Failure> {
    gdb::check()?;
    let samples = sample::take(case)?;
    let cores: Vec<&Path> = samples.iter().map(|sample| sample.core.as_path()).collect();
    let theirs = gdb::ask(&case.program, &cores)?;
    if theirs.len() != samples.len() {
        return Err(Failure::Setup(format!("gdb opened {} of {} cores", theirs.len(), samples.len())));
    }
    let mut report = Report { samples: samples.len(), ..Report::default() };
    for (sample, theirs) in samples.iter().zip(&theirs) {
        let ours = sample.view(theirs);
        compare::compare(sample, &ours, theirs, &mut report);
    }
    Ok(report)
}

/// Each difference once, however often it was seen.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { samples, frames, variables, types, differences, normalised } = self;
        write!(f, "{samples} instants, {frames} frames, {variables} variables, {types} types: ")?;
        writeln!(f, "{} differences", differences.len())?;
        for (reason, times) in normalised {
            writeln!(f, "  {times} times: {reason}")?;
        }
        let mut told = std::collections::BTreeSet::new();
        for difference in differences {
            if told.insert((&difference.ours, &difference.theirs)) {
                write!(f, "{difference}")?;
            }
        }
        Ok(())
    }
}
