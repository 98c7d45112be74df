//! What of the failing input makes the difference to one with which the program passes.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, anyhow};
use locate::inducing::{Basis, Inducing};
use locate::minimize::{Compared, Minimizer, Options};

use crate::args::ExplainArguments;
use crate::asking::RecordedCase;
use crate::exit_code::{self, Failure};

/// So many runs are made to find it.
const RUNS: u64 = 2_000;

/// What finding it may take.
#[derive(Clone, Copy)]
pub struct Limits {
    pub threads: usize,
    pub deadline: Option<Instant>,
}

/// `None` if nobody asked for it.
pub fn of(
    arguments: &ExplainArguments,
    limits: Limits,
    recorded: &mut RecordedCase,
) -> Result<Option<Inducing>, Failure> {
    let found = arguments.passing_input.as_ref().map(|path| to_given(path, limits, recorded));
    found.transpose().map_err(|error| Failure::new(exit_code::USAGE, error))
}

/// The difference to the input in a file: as little as runs can tell, where the oracle can judge other inputs, too.
fn to_given(path: &Path, limits: Limits, recorded: &mut RecordedCase) -> anyhow::Result<Inducing> {
    let passing = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let basis = match narrowed(&passing, limits, recorded) {
        Compared::Different(found, _) => {
            let given = found.spans.iter().map(|span| span.given.clone()).collect::<Option<Vec<_>>>();
            if let Some(ranges) = given.filter(|ranges| !ranges.is_empty()) {
                return Ok(Inducing { part: found.part, ranges, basis: Basis::Narrowed });
            }
            Basis::Texts
        }
        Compared::Fails { is_same: true } => {
            return Err(anyhow!("with {} the program fails as well", path.display()));
        }
        Compared::Fails { is_same: false } => {
            return Err(anyhow!("with {} the program fails as well, in another way", path.display()));
        }
        Compared::CutShort => Basis::Untried,
        Compared::CannotTell | Compared::NoPart => Basis::Unjudged,
    };
    Inducing::of(&recorded.case, &mut recorded.recording, &passing, basis).with_context(|| {
        format!(
            "it is not known what {} stands for: the program has no standard input, and not one file",
            path.display()
        )
    })
}

/// Nobody can tell either where the oracle judges this input alone.
fn narrowed(passing: &[u8], limits: Limits, recorded: &RecordedCase) -> Compared {
    let view = recorded.view();
    let Ok(minimizer) = Minimizer::new(&recorded.case, &view) else { return Compared::CannotTell };
    let stop = || limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
    minimizer
        .compare(passing, &Options { threads: limits.threads, budget: RUNS, stop: &stop, watch: &|_| {} })
}
