//! Whether a core is one, and minimal: asked anew.

use super::{Core, chosen};
use crate::solver::{Answer, Constraint, Name, Query, Solver, Wanted};
use crate::term::Terms;

/// What is wrong with a core.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    #[error("the constraints of a core were not found to contradict each other: {0:?}")]
    NoCore(Box<Answer>),
    #[error("a core holds without {0:?} just as well")]
    NotMinimal(Name),
    #[error(
        "for {found} constraints of a core it is not known whether they are needed, where {told} were told"
    )]
    Undecided { told: usize, found: usize },
}

/// Solves the core alone, and the core without each of its constraints, by a solver that has not seen them.
pub fn verify(
    solver: &mut Solver,
    terms: &Terms,
    constraints: &[Constraint],
    core: &Core,
) -> Result<(), Wrong> {
    let of_core = chosen(constraints, &core.names);
    match solver.check(terms, &Query { constraints: of_core.clone(), wanted: Wanted::Verdict }) {
        Answer::Unsat(_) => {}
        other => return Err(Wrong::NoCore(Box::new(other))),
    }
    let mut undecided = 0;
    for (place, left_out) in of_core.iter().enumerate() {
        let mut without = of_core.clone();
        without.remove(place);
        match solver.check(terms, &Query { constraints: without, wanted: Wanted::Verdict }) {
            Answer::Sat(_) => {}
            // To the first question this may have been the answer of a harder one.
            Answer::Unsat(_) if core.undecided > 0 => undecided += 1,
            Answer::Unsat(_) => return Err(Wrong::NotMinimal(left_out.name)),
            Answer::Unknown(_) => undecided += 1,
        }
    }
    if undecided > core.undecided {
        return Err(Wrong::Undecided { told: core.undecided, found: undecided });
    }
    Ok(())
}
