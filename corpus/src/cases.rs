//! Cases: mutants that fail, each with a test that shows it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::mutate::{self, Mutant, Operator};
use crate::native::{self, Ending, Outcome};
use crate::programs::{Program, Test};
use crate::random::Random;

/// How a case fails, as its user sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    Output,
    Status,
    Crash,
    Hang,
}

impl Fails {
    pub const ALL: [Fails; 4] = [Fails::Output, Fails::Status, Fails::Crash, Fails::Hang];

    pub fn name(self) -> &'static str {
        match self {
            Fails::Output => "output",
            Fails::Status => "status",
            Fails::Crash => "crash",
            Fails::Hang => "hang",
        }
    }
}

/// A mutant and the first test that fails because of it. The executable, its source and the input are in `directory`.
pub struct Case {
    pub program: String,
    pub mutant: Mutant,
    pub test: Test,
    pub test_number: usize,
    pub fails: Fails,
    pub right: Outcome,
    pub wrong: Outcome,
    pub directory: PathBuf,
}

/// The cases of a program, and what became of the mutants that are none.
#[derive(Default)]
pub struct Harvest {
    pub cases: Vec<Case>,
    /// How many mutants there are in all.
    pub mutants: usize,
    pub tried: usize,
    pub not_compiled: usize,
    /// Equivalent, or not noticed by any test.
    pub never_failing: usize,
}

/// Makes that many cases of a program, each operator in turn, in directories under `place`.
pub fn harvest(program: &Program, count: usize, seed: u64, place: &Path) -> Result<Harvest> {
    let right = right_outcomes(program, &place.join("right"))?;
    let all = mutate::mutants(&program.source);
    let mut harvest = Harvest { mutants: all.len(), ..Harvest::default() };
    for mutant in in_turn(all, seed, &program.name) {
        if harvest.cases.len() == count {
            break;
        }
        let directory = place.join(format!("{:03}", harvest.cases.len()));
        harvest.tried += 1;
        if !native::compile(&mutant.apply(&program.source), &directory)? {
            harvest.not_compiled += 1;
            continue;
        }
        match first_failing(program, &right, &directory)? {
            None => harvest.never_failing += 1,
            Some((test_number, fails, wrong)) => {
                let (Some(test), Some(right)) = (program.tests.get(test_number), right.get(test_number))
                else {
                    continue;
                };
                fs::write(directory.join(native::EXPECTED), &right.stdout)
                    .context("what is expected cannot be written")?;
                harvest.cases.push(Case {
                    program: program.name.clone(),
                    mutant,
                    test: test.clone(),
                    test_number,
                    fails,
                    right: right.clone(),
                    wrong,
                    directory,
                });
            }
        }
    }
    Ok(harvest)
}

/// What the program does that has no mistake in it.
fn right_outcomes(program: &Program, directory: &Path) -> Result<Vec<Outcome>> {
    ensure!(native::compile(program.source.whole(), directory)?, "gcc refuses {}.c", program.name);
    let outcomes: Vec<Outcome> =
        program.tests.iter().map(|test| native::run(directory, test)).collect::<Result<_>>()?;
    for (number, outcome) in outcomes.iter().enumerate() {
        let is_fine = matches!(outcome.ending, Ending::Exited(_));
        ensure!(is_fine, "test {number} of {} ends with {:?}", program.name, outcome.ending);
    }
    Ok(outcomes)
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

fn first_failing(
    program: &Program,
    right: &[Outcome],
    directory: &Path,
) -> Result<Option<(usize, Fails, Outcome)>> {
    for (number, (test, right)) in program.tests.iter().zip(right).enumerate() {
        let outcome = native::run(directory, test)?;
        let fails = match outcome.ending {
            Ending::Killed(_) => Fails::Crash,
            Ending::Hung => Fails::Hang,
            Ending::Exited(_) if outcome.stdout != right.stdout => Fails::Output,
            Ending::Exited(_) if outcome.ending != right.ending => Fails::Status,
            Ending::Exited(_) => continue,
        };
        return Ok(Some((number, fails, outcome)));
    }
    Ok(None)
}
