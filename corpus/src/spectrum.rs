//! Spectrum-based fault localization: statements that failing tests execute and passing ones do not are suspicious. Needs many
//! tests, which a user with one failing run does not have; it is what they would use if they had.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::answer::{Cost, Coverage, Place, Reply};
use crate::cases::{Case, Tested};
use crate::measure::Order;
use crate::tool::Tool;

/// In how many failing and passing tests each statement was executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spectrum {
    executed: BTreeMap<Place, Counts>,
    /// Of all tests.
    total: Counts,
    /// What it took to run all tests.
    pub cost: Cost,
    /// Without the coverage of each test there is none.
    pub reply: Reply,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    failing: u32,
    passing: u32,
}

impl Counts {
    fn add(&mut self, passes: bool) {
        if passes {
            self.passing += 1;
        } else {
            self.failing += 1;
        }
    }
}

/// How suspicious a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    Ochiai,
    Tarantula,
    /// With the exponent 2.
    Dstar,
}

impl Spectrum {
    /// Of all tests of a case whose verdict is known.
    pub fn of(tool: &Tool, case: &Case) -> Result<Spectrum> {
        let mut spectrum = Spectrum::default();
        for Tested { test, passes } in case.tests.iter() {
            if let Some(passes) = passes {
                let Coverage { reply, counts, cost } = tool.coverage(case, test)?;
                if reply != Reply::Given {
                    return Ok(Spectrum { reply, ..Spectrum::default() });
                }
                spectrum.add(counts.into_iter().map(|(place, _)| place).collect(), *passes);
                spectrum.cost = spectrum.cost.and(cost);
            }
        }
        Ok(spectrum)
    }

    fn add(&mut self, covered: Vec<Place>, passes: bool) {
        self.total.add(passes);
        for place in covered {
            self.executed.entry(place).or_default().add(passes);
        }
    }

    /// All statements that were executed, the most suspicious first.
    pub fn order(&self, formula: Formula) -> Order {
        let scored =
            self.executed.iter().map(|(place, counts)| (place.clone(), self.score(*counts, formula)));
        Order::by_score(scored)
    }

    fn score(&self, counts: Counts, formula: Formula) -> f64 {
        let (failing, passing) = (f64::from(counts.failing), f64::from(counts.passing));
        let (all_failing, all_passing) = (f64::from(self.total.failing), f64::from(self.total.passing));
        // Where nothing is divided by nothing, nothing is suspicious.
        let share = |part: f64, whole: f64| if part == 0.0 { 0.0 } else { part / whole };
        match formula {
            Formula::Ochiai => share(failing, (all_failing * (failing + passing)).sqrt()),
            Formula::Tarantula => {
                let (fails, passes) = (share(failing, all_failing), share(passing, all_passing));
                share(fails, fails + passes)
            }
            Formula::Dstar => share(failing * failing, passing + (all_failing - failing)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: usize) -> Place {
        Place { file: "main.c".to_owned(), line }
    }

    /// Line 1 is in all tests, 2 in both failing ones and one passing, 3 in one failing one alone, 4 in passing ones alone.
    fn spectrum() -> Spectrum {
        let mut spectrum = Spectrum::default();
        spectrum.add([1, 2, 3].map(place).to_vec(), false);
        spectrum.add([1, 2].map(place).to_vec(), false);
        spectrum.add([1, 2, 4].map(place).to_vec(), true);
        spectrum.add([1, 4].map(place).to_vec(), true);
        spectrum
    }

    #[test]
    fn scores_are_those_of_the_formulas() {
        let spectrum = spectrum();
        let score = |line: usize, formula| spectrum.score(spectrum.executed[&place(line)], formula);
        let is = |score: f64, wanted: f64| assert!((score - wanted).abs() < 1e-12, "{score} {wanted}");
        is(score(2, Formula::Ochiai), 2.0 / 6.0_f64.sqrt());
        is(score(3, Formula::Ochiai), 1.0 / 2.0_f64.sqrt());
        is(score(2, Formula::Tarantula), 1.0 / 1.5);
        is(score(3, Formula::Tarantula), 1.0);
        is(score(2, Formula::Dstar), 4.0);
        is(score(3, Formula::Dstar), 1.0);
        is(score(4, Formula::Ochiai), 0.0);
        is(score(1, Formula::Dstar), 2.0);
    }

    #[test]
    fn the_most_suspicious_comes_first() {
        let first = |formula| spectrum().order(formula).places().next().map(|place| place.line);
        assert_eq!(first(Formula::Tarantula), Some(3));
        assert_eq!(first(Formula::Ochiai), Some(2));
        assert_eq!(first(Formula::Dstar), Some(2));
    }

    #[test]
    fn a_statement_of_all_failing_and_no_passing_tests_is_the_most_suspicious_of_all() {
        let mut spectrum = spectrum();
        spectrum.add([9].map(place).to_vec(), true);
        spectrum.executed.insert(place(7), Counts { failing: 2, passing: 0 });
        let first = spectrum.order(Formula::Dstar).places().next().map(|place| place.line);
        assert_eq!(first, Some(7));
    }
}
