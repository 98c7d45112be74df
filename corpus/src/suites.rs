//! The suites: which cases are drawn, and what is kept back.
//!
//! A third of the programs and a third of the operators are the test set. Nobody looks at their cases while a technique is
//! worked on; they are run for the final table alone. What has a program or an operator of the test set belongs to it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::cases::Case;
use crate::mutate::{self, Mutant, Operator};
use crate::pairs;
use crate::programs::{self, Program};
use crate::random::Random;
use crate::real;
use crate::sieve::{Fate, Sieve};
use crate::workbench::{Judged, Workbench};

const TEST_PROGRAMS: [&str; 5] = ["bytecode", "containers", "digits", "paragraphs", "settings"];
const TEST_OPERATORS: [Operator; 6] = [
    Operator::Logical,
    Operator::MissingReset,
    Operator::OffByOne,
    Operator::PointerStep,
    Operator::WrongReturn,
    Operator::WrongVariable,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    /// One mistake each, without the test set
    Mutants,
    /// Two mistakes each, both of which the failure needs, without the test set
    Pairs,
    /// One mistake each, of the test set: for final tables alone
    Test,
    /// Bugs of Debian's programs, fetched and built; --program names single ones
    Real,
}

impl Suite {
    /// Whether mutants of a program by an operator belong to it.
    fn has(self, program: &str, operator: Operator) -> bool {
        if self == Suite::Real {
            return false;
        }
        let is_kept_back = TEST_PROGRAMS.contains(&program) || TEST_OPERATORS.contains(&operator);
        is_kept_back == (self == Suite::Test)
    }
}

/// What is drawn, and from where.
#[derive(Clone, Debug)]
pub struct Draw {
    pub suite: Suite,
    pub count: usize,
    pub seed: u64,
    /// Only these; all if there are none.
    pub programs: Vec<String>,
    pub jobs: usize,
}

/// What became of the mutants that were drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    /// How many mutants there are in all.
    pub mutants: usize,
    pub tried: usize,
    pub cases: usize,
    pub not_compiled: usize,
    /// The compiler makes of them what it makes of the program without a mistake.
    pub equivalent: usize,
    /// It makes of them what it makes of one that was drawn before.
    pub duplicates: usize,
    /// It makes of them what it makes of a mutant of the test set.
    pub kept_back: usize,
    /// Not noticed by any test.
    pub never_failing: usize,
}

/// The cases of a suite, and what became of the mutants that are none.
#[derive(Default)]
pub struct Harvest {
    pub cases: Vec<Case>,
    pub drawn: Drawn,
}

impl Harvest {
    pub fn add(&mut self, case: Case) {
        self.cases.push(case);
        self.drawn.cases += 1;
    }

    /// Whether a mutant is to be tried; if not, why is counted.
    pub fn takes(&mut self, sieve: &Sieve<'_>, mutant: &Mutant) -> Result<bool> {
        let drawn = &mut self.drawn;
        let count = match sieve.fate(mutant)? {
            Fate::New => return Ok(true),
            Fate::NotCompiled => &mut drawn.not_compiled,
            Fate::Equivalent => &mut drawn.equivalent,
            Fate::Duplicate => &mut drawn.duplicates,
            Fate::KeptBack => &mut drawn.kept_back,
        };
        *count += 1;
        Ok(false)
    }

    fn append(&mut self, mut other: Harvest) {
        self.cases.append(&mut other.cases);
        let (sum, more) = (&mut self.drawn, other.drawn);
        sum.mutants += more.mutants;
        sum.tried += more.tried;
        sum.cases += more.cases;
        sum.not_compiled += more.not_compiled;
        sum.equivalent += more.equivalent;
        sum.duplicates += more.duplicates;
        sum.kept_back += more.kept_back;
        sum.never_failing += more.never_failing;
    }
}

/// Draws cases, as many from each program, in directories below `place`. The programs are taken several at a time.
pub fn draw(draw: &Draw, place: &Path) -> Result<Harvest> {
    if draw.suite == Suite::Real {
        let cases = real::cases::all(&draw.programs, place)?;
        return Ok(Harvest { cases, ..Harvest::default() });
    }
    let names = names(draw)?;
    ensure!(!names.is_empty(), "no program belongs to the suite");
    let waiting = Mutex::new(names.iter().enumerate());
    let done: Mutex<BTreeMap<usize, Harvest>> = Mutex::default();
    let work = || -> Result<()> {
        loop {
            let next = waiting.lock().ok().and_then(|mut waiting| waiting.next());
            let Some((number, name)) = next else { return Ok(()) };
            // The first programs get one more where the count cannot be divided.
            let share = draw.count / names.len() + usize::from(number < draw.count % names.len());
            let program = programs::load(name)?;
            let harvest = harvest(&program, share, draw, &place.join(format!("{number:02}")))?;
            eprintln!("{name}: {} cases, {} tried", harvest.cases.len(), harvest.drawn.tried);
            if let Ok(mut done) = done.lock() {
                done.insert(number, harvest);
            }
        }
    };
    in_parallel(draw.jobs, work)?;
    let mut all = Harvest::default();
    done.into_inner().unwrap_or_default().into_values().for_each(|harvest| all.append(harvest));
    Ok(all)
}

/// Does the same in several threads, and gives back the first error.
pub fn in_parallel(jobs: usize, work: impl Fn() -> Result<()> + Sync) -> Result<()> {
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(&work)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| bail!("a worker panicked")))
            .try_for_each(|end| end)
    })
}

fn names(draw: &Draw) -> Result<Vec<String>> {
    let mut names = programs::names()?;
    for name in &draw.programs {
        ensure!(names.contains(name), "there is no program {name}; there are {}", names.join(", "));
    }
    names.retain(|name| draw.programs.is_empty() || draw.programs.contains(name));
    names.retain(|name| Operator::ALL.iter().any(|operator| draw.suite.has(name, *operator)));
    Ok(names)
}

/// Makes that many cases of a program, in directories with numbers for names.
pub fn harvest(program: &Program, count: usize, draw: &Draw, place: &Path) -> Result<Harvest> {
    let workbench = Workbench::new(program, &place.join("right"))?;
    let (all, others): (Vec<Mutant>, Vec<Mutant>) = mutate::mutants(&program.source)
        .into_iter()
        .partition(|mutant| draw.suite.has(&program.name, mutant.operator));
    // What is in the test set is in no other suite, in whatever words; the test set has all of its own.
    let kept_back = if draw.suite == Suite::Test { Vec::new() } else { others };
    let sieve = Sieve::new(&program.source, kept_back, &place.join("code"))?;
    let mut harvest = Harvest::default();
    harvest.drawn.mutants = all.len();
    let drawn = in_turn(all, draw.seed, &program.name);
    if draw.suite == Suite::Pairs {
        pairs::harvest(&workbench, &sieve, drawn, count, place, &mut harvest)?;
        return Ok(harvest);
    }
    for mutant in drawn {
        if harvest.cases.len() == count {
            break;
        }
        let directory = place.join(format!("{:03}", harvest.cases.len()));
        harvest.drawn.tried += 1;
        if !harvest.takes(&sieve, &mutant)? {
            continue;
        }
        if !workbench.compile(&[&mutant], &directory)? {
            harvest.drawn.not_compiled += 1;
            continue;
        }
        let verdicts = workbench.judge(&directory, |_| true)?;
        match verdicts.iter().position(|verdict| verdict.as_ref().is_some_and(Judged::fails)) {
            None => harvest.drawn.never_failing += 1,
            Some(failing) => {
                harvest.add(workbench.case(&[&mutant], verdicts, failing, &directory)?);
            }
        }
    }
    Ok(harvest)
}

/// The mutants of each operator in a random order, one of each operator after the other.
fn in_turn(mutants: Vec<Mutant>, seed: u64, name: &str) -> Vec<Mutant> {
    let mut piles: BTreeMap<Operator, Vec<Mutant>> = BTreeMap::new();
    for mutant in mutants {
        piles.entry(mutant.operator).or_default().push(mutant);
    }
    let mut random = Random::new(seed, name);
    let mut piles: Vec<Vec<Mutant>> = piles.into_values().collect();
    piles.iter_mut().for_each(|pile| random.shuffle(pile));
    random.shuffle(&mut piles);
    let mut drawn = Vec::new();
    while piles.iter().any(|pile| !pile.is_empty()) {
        drawn.extend(piles.iter_mut().filter_map(Vec::pop));
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_programs_and_operators_is_the_test_set_and_no_other_suite_has_them() {
        let all = programs::names().unwrap();
        for name in TEST_PROGRAMS {
            assert!(all.iter().any(|known| known == name), "{name}");
        }
        assert_eq!(TEST_PROGRAMS.len(), all.len().div_ceil(3));
        assert_eq!(TEST_OPERATORS.len(), Operator::ALL.len().div_ceil(3));
        for name in &all {
            for operator in Operator::ALL {
                let is_test = Suite::Test.has(name, operator);
                assert_ne!(Suite::Mutants.has(name, operator), is_test);
                assert_ne!(Suite::Pairs.has(name, operator), is_test);
            }
        }
    }
}
