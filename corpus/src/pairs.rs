//! Two mistakes at once: pairs of mutants with a test that each of them passes alone and both together fail.

use std::path::Path;

use anyhow::Result;

use crate::mutate::Mutant;
use crate::sieve::Sieve;
use crate::suites::Harvest;
use crate::workbench::{Judged, Verdict, Workbench};

/// So many mutants are combined with each other, for each pair that is wanted, and at the least.
const SINGLES: usize = 12;
const FEWEST_SINGLES: usize = 48;
/// So many combinations are tried, for each pair that is wanted.
const COMBINATIONS: usize = 60;

/// A mutant that compiles, and what the tests say of it.
struct Single {
    mutant: Mutant,
    verdicts: Vec<Verdict>,
}

impl Single {
    fn passes(&self, test: usize) -> bool {
        self.verdicts.get(test).is_some_and(|verdict| matches!(verdict, Some(Judged { fails: None, .. })))
    }

    /// Whether some test fails because of it and another does not: what no test notices adds to no other mistake, either.
    fn is_noticed_by_some(&self) -> bool {
        let is_noticed = self.verdicts.iter().flatten().any(Judged::fails);
        is_noticed && (0..self.verdicts.len()).any(|test| self.passes(test))
    }
}

/// Looks for as many pairs among the mutants that were drawn, the nearest to each other in one function first: they meet more often.
pub fn harvest(
    workbench: &Workbench<'_>,
    sieve: &Sieve<'_>,
    drawn: Vec<Mutant>,
    count: usize,
    place: &Path,
    harvest: &mut Harvest,
) -> Result<()> {
    let wanted = (count * SINGLES).max(FEWEST_SINGLES);
    let singles = singles(workbench, sieve, drawn, wanted, &place.join("single"), harvest)?;
    for (first, second) in combinations(&singles, workbench).into_iter().take(count * COMBINATIONS) {
        if harvest.cases.len() == count {
            break;
        }
        let directory = place.join(format!("{:03}", harvest.cases.len()));
        let mutants = [&first.mutant, &second.mutant];
        harvest.drawn.tried += 1;
        if !workbench.compile(&mutants, &directory)? {
            harvest.drawn.not_compiled += 1;
            continue;
        }
        let verdicts = workbench.judge(&directory, |test| first.passes(test) && second.passes(test))?;
        match verdicts.iter().position(|verdict| verdict.as_ref().is_some_and(Judged::fails)) {
            None => harvest.drawn.never_failing += 1,
            Some(failing) => {
                // What is asked about the case may use all tests.
                let verdicts = workbench.judge(&directory, |_| true)?;
                harvest.add(workbench.case(&mutants, verdicts, failing, &directory)?);
            }
        }
    }
    Ok(())
}

fn singles(
    workbench: &Workbench<'_>,
    sieve: &Sieve<'_>,
    drawn: Vec<Mutant>,
    count: usize,
    directory: &Path,
    harvest: &mut Harvest,
) -> Result<Vec<Single>> {
    let mut singles = Vec::new();
    for mutant in drawn {
        if singles.len() == count {
            break;
        }
        if harvest.takes(sieve, &mutant)? && workbench.compile(&[&mutant], directory)? {
            let verdicts = workbench.judge(directory, |_| true)?;
            singles.extend(Some(Single { mutant, verdicts }).filter(Single::is_noticed_by_some));
        }
    }
    Ok(singles)
}

/// All pairs that do not overlap, those within a function first, and the nearest of them.
fn combinations<'a>(singles: &'a [Single], workbench: &Workbench<'_>) -> Vec<(&'a Single, &'a Single)> {
    let mut pairs = Vec::new();
    for (number, second) in singles.iter().enumerate() {
        pairs.extend(singles.iter().take(number).map(|first| (first, second)));
    }
    let source = &workbench.program.source;
    pairs.retain(|(first, second)| {
        let (a, b) = (&first.mutant, &second.mutant);
        let is_apart = a.range.end <= b.range.start || b.range.end <= a.range.start;
        is_apart && a.line != b.line
    });
    let function = |single: &Single| source.function_around(single.mutant.range.start);
    pairs.sort_by_key(|(first, second)| {
        let is_apart = function(first) != function(second);
        (is_apart, first.mutant.line.abs_diff(second.mutant.line))
    });
    pairs
}
