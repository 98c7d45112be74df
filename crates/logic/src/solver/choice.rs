//! Which solver is to be used.

use super::child::Child;
use super::z3::Z3;
use super::{Backend, Limits, Script, Solved, Solver, Unknown, Verdict, Wanted};

/// What a user chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Z3 in this process.
    #[default]
    InProcess,
    /// A program with its arguments, which reads SMT-LIB from its standard input.
    Command(Vec<String>),
}

impl Choice {
    /// A command line, as `z3 -in`; its words are separated by blanks.
    pub fn command(text: &str) -> Choice {
        Choice::Command(text.split_whitespace().map(str::to_owned).collect())
    }

    /// That solver. One that cannot be used answers every query with the reason.
    pub fn open(&self, limits: Limits) -> Solver {
        let backend: Box<dyn Backend> = match self {
            Choice::InProcess => match Z3::open() {
                Ok(z3) => Box::new(z3),
                Err(reason) => Box::new(Unusable(reason)),
            },
            Choice::Command(words) => Box::new(Child::new(words.clone())),
        };
        Solver::new(backend, limits)
    }
}

/// Stands in for a solver that is not there, so that the rest of the tool goes on.
struct Unusable(Unknown);

impl Backend for Unusable {
    fn solve(&mut self, _: &Script, _: Wanted, _: Limits) -> Solved {
        Solved { verdict: Verdict::Unknown(self.0.clone()), units: 0 }
    }
}
