//! What of the failing input makes the difference to one with which the program passes.

use std::path::Path;

use anyhow::{Context, anyhow};
use locate::inducing::{Basis, Inducing};
use locate::minimize::{Compared, Minimizer};

use crate::args::ExplainArguments;
use crate::asking::RecordedCase;
use crate::exit_code::{self, Failure};
use crate::minimize::{Stopping, refused};
use crate::streams::tell;

/// So many runs are made to find it.
pub const RUNS: u64 = 2_000;

/// `None` if nobody asked for it, or if minimizing did not tell.
pub fn of(
    arguments: &ExplainArguments,
    limits: &Stopping,
    recorded: &mut RecordedCase,
) -> Result<Option<Inducing>, Failure> {
    if arguments.minimize {
        return to_minimized(limits, recorded);
    }
    let Some(path) = &arguments.passing_input else { return Ok(None) };
    if Inducing::has_none(&recorded.case, &mut recorded.recording) {
        tell(&format!(
            "whydunit: the failing run has no input besides its arguments, so it has nothing that {} has not\n",
            path.display()
        ));
        return Ok(None);
    }
    to_given(path, limits, recorded).map(Some).map_err(|error| Failure::new(exit_code::USAGE, error))
}

/// The difference to an input that minimizing finds.
fn to_minimized(limits: &Stopping, recorded: &RecordedCase) -> Result<Option<Inducing>, Failure> {
    let view = recorded.view();
    let given = recorded.as_given();
    let minimizer = Minimizer::new(&given, &view).map_err(refused)?;
    let minimized = limits.search("minimizing", &minimizer, |options| minimizer.minimize(options));
    let difference = minimized.difference.as_ref();
    let found = difference.and_then(|difference| Inducing::found(difference, Basis::Minimized));
    if found.is_none() {
        tell(
            "whydunit: minimizing came to no input that passes, so it is not known what of the input matters\n",
        );
    }
    Ok(found)
}

/// The difference to the input in a file: as little as runs can tell, where the oracle can judge other inputs, too.
fn to_given(path: &Path, limits: &Stopping, recorded: &mut RecordedCase) -> anyhow::Result<Inducing> {
    let passing = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let basis = match narrowed(&passing, limits, recorded) {
        Compared::Different(found, _) => {
            if let Some(found) = Inducing::found(&found, Basis::Narrowed) {
                return Ok(found);
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
            "it is not known what {} stands for: the program has no standard input, and more than one file",
            path.display()
        )
    })
}

/// Nobody can tell either where the oracle judges this input alone.
fn narrowed(passing: &[u8], limits: &Stopping, recorded: &RecordedCase) -> Compared {
    let (view, given) = (recorded.view(), recorded.as_given());
    let Ok(minimizer) = Minimizer::new(&given, &view) else { return Compared::CannotTell };
    limits.search("narrowing the difference", &minimizer, |options| minimizer.compare(passing, options))
}
