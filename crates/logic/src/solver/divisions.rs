//! Products that were taken for divisions are proved to be divisions before an answer rests on one.

use super::{Script, Solver, Unknown, Verdict, Wanted};
use crate::term::{Equivalence, Terms};

impl Solver {
    /// Proves every kind of form that became a division in this arena, unless it was proved before.
    pub fn prove_divisions(&mut self, terms: &Terms) -> Result<(), Unknown> {
        terms.equivalences().iter().try_for_each(|claim| self.prove_division(terms, claim))
    }

    pub(super) fn prove_division(&mut self, terms: &Terms, claim: &Equivalence) -> Result<(), Unknown> {
        for highest in [false, true] {
            let script = Script::other_than_division(terms, claim, highest);
            let script = script.ok_or_else(|| Unknown::Division(Box::new(Unknown::NotLinear)))?;
            if self.proved.contains(script.text()) {
                continue;
            }
            let solved = self.backend.solve(&script, Wanted::Verdict, self.limits);
            self.statistics.units += solved.units;
            match solved.verdict {
                Verdict::Unsat(_) => {
                    self.statistics.proofs += 1;
                    self.proved.insert(script.text().to_owned());
                }
                Verdict::Sat(_) => return Err(Unknown::NoDivision),
                // This solver answers nothing, whatever the question.
                Verdict::Unknown(
                    reason @ (Unknown::Missing(_) | Unknown::Died { .. } | Unknown::Nonsense { .. }),
                ) => return Err(reason),
                Verdict::Unknown(reason) => return Err(Unknown::Division(Box::new(reason))),
            }
        }
        Ok(())
    }
}
