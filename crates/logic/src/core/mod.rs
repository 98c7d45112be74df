//! Minimal cores: constraints that cannot hold together, none of which can be left out.
//!
//! Constraints that share no unknown have nothing to do with each other, so each connected group is a query of its own. Of the group that cannot hold, the
//! solver's core is taken, and then one constraint after the other is tried without. What is needed stays needed when others go, so each is tried once.

#[cfg(test)]
mod tests;
mod verify;

pub use verify::{Wrong, verify};

use crate::solver::{Answer, Constraint, Model, Name, Query, Solver, Unknown, Wanted};
use crate::term::{Node, Terms, Variable};
use rustc_hash::FxHashMap;

/// What became of the question whether constraints can hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// They can.
    Sat(Model),
    /// They cannot.
    Unsat(Core),
    /// Nobody knows.
    Unknown(Unknown),
}

/// Constraints that cannot hold together, in the order in which they were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    pub names: Vec<Name>,
    /// How many of them are here only because the solver could not say whether the others hold without them.
    pub undecided: usize,
}

/// Whether these constraints, whose names are distinct, can hold together, and if not, a minimal core.
pub fn minimal_core(solver: &mut Solver, terms: &Terms, constraints: &[Constraint]) -> Outcome {
    let mut model = Model::default();
    let mut unknown = None;
    for group in connected(terms, constraints) {
        match solver.check(terms, &Query { constraints: group.clone(), wanted: Wanted::Core }) {
            Answer::Sat(found) => model.values.extend(found.values),
            Answer::Unsat(core) => return Outcome::Unsat(minimized(solver, terms, &group, core)),
            Answer::Unknown(reason) => unknown = unknown.or(Some(reason)),
        }
    }
    model.values.sort_unstable();
    match unknown {
        Some(reason) => Outcome::Unknown(reason),
        None => Outcome::Sat(model),
    }
}

fn chosen(constraints: &[Constraint], names: &[Name]) -> Vec<Constraint> {
    constraints.iter().filter(|constraint| names.contains(&constraint.name)).copied().collect()
}

fn minimized(solver: &mut Solver, terms: &Terms, group: &[Constraint], core: Vec<Name>) -> Core {
    let mut candidates = chosen(group, &core);
    // Those before this place are needed.
    let mut needed = 0;
    let mut undecided = 0;
    while needed < candidates.len() {
        let mut without = candidates.clone();
        without.remove(needed);
        match solver.check(terms, &Query { constraints: without.clone(), wanted: Wanted::Core }) {
            // Without others, too, maybe; those that are needed are among them.
            Answer::Unsat(core) => candidates = with_first(&without, needed, &core),
            Answer::Sat(_) => needed += 1,
            Answer::Unknown(_) => {
                undecided += 1;
                needed += 1;
            }
        }
    }
    Core { names: candidates.iter().map(|constraint| constraint.name).collect(), undecided }
}

/// The first so many, and of the others those in the core. Of the first, some are there because nobody knows, and a core may be without them; they stay,
/// so that places do not shift.
fn with_first(constraints: &[Constraint], first: usize, core: &[Name]) -> Vec<Constraint> {
    let (fixed, others) = constraints.split_at(first);
    fixed.iter().copied().chain(chosen(others, core)).collect()
}

/// Groups of constraints that are connected by unknowns that they share, in the order of their first ones. Those without an unknown are groups of their own,
/// and come first: they need no solver.
fn connected(terms: &Terms, constraints: &[Constraint]) -> Vec<Vec<Constraint>> {
    let mut owner: FxHashMap<Variable, usize> = FxHashMap::default();
    let mut parent: Vec<usize> = (0..constraints.len()).collect();
    for (place, constraint) in constraints.iter().enumerate() {
        for variable in terms.variables([constraint.term]) {
            let other = *owner.entry(variable).or_insert(place);
            let (a, b) = (root(&mut parent, place), root(&mut parent, other));
            // The first is the root, so that groups come in order.
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut groups: Vec<Vec<Constraint>> = vec![Vec::new(); constraints.len()];
    for (place, constraint) in constraints.iter().enumerate() {
        groups[root(&mut parent, place)].push(*constraint);
    }
    let is_constant = |group: &Vec<Constraint>| {
        group.first().is_some_and(|first| matches!(terms.node(first.term), Node::Constant(..)))
    };
    groups.retain(|group| !group.is_empty());
    groups.sort_by_key(|group| !is_constant(group));
    groups
}

fn root(parent: &mut [usize], mut place: usize) -> usize {
    while parent[place] != place {
        parent[place] = parent[parent[place]];
        place = parent[place];
    }
    place
}
