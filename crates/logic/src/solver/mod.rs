//! Who answers whether constraints can hold together.
//!
//! A [`Query`] is a list of named constraints. [`Solver`] answers it: by folding, from its cache, or by a [`Backend`], which is handed the query as a
//! [`Script`] of SMT-LIB: Z3 in this process ([`z3`]), or any other solver as a child process ([`child`]). There is one encoding, so that what a term
//! means is said in one place, and the text of a script is also the structure by which the cache knows a query again.
//!
//! What is claimed can be relied on: a model is evaluated on the terms before it is told, and where terms say more than SMT-LIB does (the bits of a
//! NaN), scripts allow all that terms allow, so that what is unsatisfiable there is so here. Everything else is [`Answer::Unknown`], with its reason.

mod cache;
pub mod child;
mod choice;
mod divisions;
mod script;
#[cfg(test)]
mod tests;
pub mod z3;

pub use choice::Choice;
pub use script::{Logic, Script};

use crate::term::{Assignment, Evaluation, Term, Terms, Variable};
use cache::Cache;
use rustc_hash::FxHashSet;

/// What a constraint is called in a query. What it stands for is known to whoever gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub u32);

/// A term that is a truth value, with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraint {
    pub name: Name,
    pub term: Term,
}

/// Can all of these hold?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pub constraints: Vec<Constraint>,
    pub wanted: Wanted,
}

/// How much is wanted of an answer that is no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// That it is no; the core is all constraints. This is often faster.
    #[default]
    Verdict,
    /// Some constraints that suffice for it.
    Core,
}

impl Query {
    pub fn new(wanted: Wanted) -> Query {
        Query { constraints: Vec::new(), wanted }
    }

    /// Names are distinct.
    pub fn assert(&mut self, name: Name, term: Term) {
        self.constraints.push(Constraint { name, term });
    }
}

/// What a query may cost. Only `units` can decide about an answer on a machine with enough memory; the others keep a solver that has gone astray in bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Steps of the solver, in its own unit. The same query takes the same number of them each time.
    pub units: u32,
    /// In MiB. For all queries of this process together, if the solver is in it.
    pub memory: u32,
    /// Of a child process: seconds of processor time, and of the clock.
    pub seconds: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { units: 50_000_000, memory: 4096, seconds: 120 }
    }
}

/// The answer to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// With these values all constraints hold; this was checked.
    Sat(Model),
    /// These constraints cannot hold together; in the order of the query.
    Unsat(Vec<Name>),
    /// Nobody knows.
    Unknown(Unknown),
}

/// Values for the unknowns of a query, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    pub values: Vec<(Variable, u128)>,
}

impl Model {
    pub fn assignment(&self) -> Assignment {
        let mut assignment = Assignment::default();
        for (variable, value) in &self.values {
            assignment.set(*variable, *value);
        }
        assignment
    }
}

/// Why a query has no answer. Each is one line that can be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    #[error("the solver gave up after {0} units of work; a higher limit may help")]
    ResourceLimit(u32),
    #[error("the solver gave up: {0}")]
    Incomplete(String),
    #[error("the solver needs more than {0} MiB of memory; a higher limit may help")]
    Memory(u32),
    #[error("{solver} did not answer within {seconds} seconds and was stopped; a higher limit may help")]
    Time { solver: String, seconds: u32 },
    /// It cannot be used at all.
    #[error("{0}")]
    Missing(String),
    #[error("{solver} {how} before it answered{}", after_words(.said))]
    Died { solver: String, how: String, said: String },
    #[error(
        "{solver} answered what is not SMT-LIB 2.6: {what}; is it an SMT solver that reads from its standard input?"
    )]
    Nonsense { solver: String, what: String },
    /// The solver's values do not satisfy the constraints, as when it depends on the bits of a NaN.
    #[error("the solver's model does not hold: a constraint depends on what SMT-LIB leaves open")]
    ModelFails,
    #[error("a product that was taken for a division could not be proved to be one: {0}")]
    Division(Box<Unknown>),
    #[error("a product that was taken for a division is none; please report this")]
    NoDivision,
    #[error("it is not linear")]
    NotLinear,
}

/// What a program said on its standard error, for the end of a message.
fn after_words(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(", saying: {text}") }
}

/// What queries took so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub queries: u64,
    /// Answered by constants alone.
    pub folded: u64,
    /// Answered from the cache.
    pub cached: u64,
    /// Claims that a product is a division, which were proved before anything was answered that rests on them.
    pub proofs: u64,
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
    /// The work of all queries, in the solver's own unit; 0 if it does not tell.
    pub units: u64,
}

/// A backend's answer. Numbers are those of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A value for each variable.
    Sat(Vec<u128>),
    /// Which constraints.
    Unsat(Vec<usize>),
    Unknown(Unknown),
}

/// A verdict and the units that it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    pub verdict: Verdict,
    pub units: u64,
}

/// A program that decides scripts. The same script with the same limits gets the same answer.
pub trait Backend: Send {
    fn solve(&mut self, script: &Script, wanted: Wanted, limits: Limits) -> Solved;
}

/// Answers queries, none of them twice.
pub struct Solver {
    backend: Box<dyn Backend>,
    limits: Limits,
    cache: Cache,
    /// The claims about divisions that were proved.
    proved: FxHashSet<String>,
    statistics: Statistics,
}

impl Solver {
    pub fn new(backend: Box<dyn Backend>, limits: Limits) -> Solver {
        let (cache, proved, statistics) = Default::default();
        Solver { backend, limits, cache, proved, statistics }
    }

    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Whether all constraints, which are of this arena, can hold together.
    pub fn check(&mut self, terms: &Terms, query: &Query) -> Answer {
        self.statistics.queries += 1;
        let answer = match folded(terms, query) {
            Some(answer) => {
                self.statistics.folded += 1;
                answer
            }
            None => self.solve(terms, query),
        };
        *match answer {
            Answer::Sat(_) => &mut self.statistics.sat,
            Answer::Unsat(_) => &mut self.statistics.unsat,
            Answer::Unknown(_) => &mut self.statistics.unknown,
        } += 1;
        answer
    }

    fn solve(&mut self, terms: &Terms, query: &Query) -> Answer {
        let script = Script::new(terms, query.constraints.iter().map(|constraint| constraint.term));
        if script.has_division()
            && let Err(reason) = self.prove_divisions(terms)
        {
            return Answer::Unknown(reason);
        }
        let verdict = match self.cache.get(&script, query.wanted) {
            Some(known) => {
                self.statistics.cached += 1;
                known
            }
            None => {
                let solved = self.backend.solve(&script, query.wanted, self.limits);
                self.statistics.units += solved.units;
                self.cache.insert(&script, query.wanted, &solved.verdict);
                solved.verdict
            }
        };
        match verdict {
            Verdict::Sat(values) => {
                let mut values: Vec<(Variable, u128)> =
                    script.variables().iter().copied().zip(values).collect();
                values.sort_unstable();
                confirmed(terms, query, Model { values })
            }
            Verdict::Unsat(core) => {
                let name = |position: &usize| query.constraints.get(*position).map(|found| found.name);
                Answer::Unsat(core.iter().filter_map(name).collect())
            }
            Verdict::Unknown(reason) => Answer::Unknown(reason),
        }
    }
}

/// The answer, if it needs no solver.
fn folded(terms: &Terms, query: &Query) -> Option<Answer> {
    let mut is_true = true;
    for constraint in &query.constraints {
        match terms.constant(constraint.term) {
            Some(0) => return Some(Answer::Unsat(vec![constraint.name])),
            Some(_) => {}
            None => is_true = false,
        }
    }
    is_true.then(|| Answer::Sat(Model::default()))
}

/// The model, if the constraints are true with it.
fn confirmed(terms: &Terms, query: &Query, model: Model) -> Answer {
    let mut evaluation = Evaluation::new(model.assignment());
    let holds = query.constraints.iter().all(|constraint| evaluation.holds(terms, constraint.term));
    if holds { Answer::Sat(model) } else { Answer::Unknown(Unknown::ModelFails) }
}
