//! The value of terms when the unknowns have values.

use super::{Node, Term, Terms, Variable};

/// Values for unknowns. One that was given none is zero.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    values: Vec<u128>,
}

impl Assignment {
    /// Bits beyond those of the variable's sort do not count.
    pub fn set(&mut self, variable: Variable, value: u128) {
        if self.values.len() <= variable.index() {
            self.values.resize(variable.index() + 1, 0);
        }
        self.values[variable.index()] = value;
    }

    pub fn get(&self, variable: Variable) -> u128 {
        self.values.get(variable.index()).copied().unwrap_or(0)
    }
}

/// The values of terms under one assignment, each computed once. Terms may be added to the arena between questions, and values may be given to
/// unknowns that were not asked for yet.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    assignment: Assignment,
    values: Vec<u128>,
    known: Vec<bool>,
    pending: Vec<Term>,
}

impl Evaluation {
    pub fn new(assignment: Assignment) -> Evaluation {
        Evaluation { assignment, ..Evaluation::default() }
    }

    /// Gives an unknown a value that nothing has been computed from yet.
    pub fn assign(&mut self, variable: Variable, value: u128) {
        self.assignment.set(variable, value);
    }

    /// The value of a term of this arena, which must be the same at every call. A value has no bits beyond those of the term's sort.
    pub fn value(&mut self, terms: &Terms, term: Term) -> u128 {
        if self.known.len() <= term.index() {
            self.values.resize(terms.len(), 0);
            self.known.resize(terms.len(), false);
        }
        self.pending.push(term);
        while let Some(&top) = self.pending.last() {
            if self.known[top.index()] {
                self.pending.pop();
                continue;
            }
            let node = terms.node(top);
            let waiting = self.pending.len();
            let known = &self.known;
            self.pending.extend(node.children().filter(|child| !known[child.index()]));
            if self.pending.len() == waiting {
                self.values[top.index()] = self.compute(terms, top, node);
                self.known[top.index()] = true;
                self.pending.pop();
            }
        }
        self.values[term.index()]
    }

    /// Whether a truth value is true.
    pub fn holds(&mut self, terms: &Terms, term: Term) -> bool {
        self.value(terms, term) != 0
    }

    fn compute(&self, terms: &Terms, term: Term, node: Node) -> u128 {
        if let Node::Variable(variable) = node {
            return self.assignment.get(variable) & terms.sort(term).mask();
        }
        let mut operands = [0; 3];
        for (operand, child) in operands.iter_mut().zip(node.children()) {
            *operand = self.values[child.index()];
        }
        terms.value_of(node, operands).unwrap_or(0)
    }
}
