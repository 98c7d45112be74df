//! Terms: expressions over booleans, bit-vectors and floats, each distinct one held once.
//!
//! [`Terms`] is the arena; a [`Term`] is the number of a [`Node`] in it. Two terms of one arena are the same expression if and only if their
//! numbers are equal. A node's operands have smaller numbers than the node, so the order of numbers is an order in which operands come first:
//! every traversal is a loop over it, and no depth of an expression can overflow the host's stack.
//!
//! Terms are made by the builders of `build/`, which simplify locally: constants are folded, and what a compiler took apart is put together again,
//! so that what a person wrote can be recognised. A builder never makes a term that has another value than what was asked for.
//!
//! The meaning of a node is that of SMT-LIB's QF_BVFP, with three additions where that leaves something open (see [`Node`]).

mod build;
mod evaluate;
mod fold;
mod node;
mod print;
mod sort;
mod table;
mod walk;

pub use build::Equivalence;
pub use evaluate::{Assignment, Evaluation};
pub use node::{BitsBinary, BitsCompare, BitsUnary, FloatArithmetic, FloatCompare, Node};
pub use sort::{Format, Rounding, Sort};
pub use walk::Substitution;

use build::Kind;
use rustc_hash::FxHashSet;
use table::Table;

/// An expression: the number of a node in its [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(u32);

impl Term {
    /// Operands have smaller indices than what is made of them.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An unknown. What it stands for is known to whoever made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(u32);

impl Variable {
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The arena in which terms live.
pub struct Terms {
    nodes: Vec<Node>,
    sorts: Vec<Sort>,
    table: Table,
    variables: Vec<Sort>,
    /// How many simplifications are under way, one inside of the other, that go down into both operands of a function.
    nesting: u8,
    equivalences: Vec<Equivalence>,
    /// The kinds of them that there are.
    kinds: FxHashSet<Kind>,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms::new()
    }
}

impl Terms {
    pub fn new() -> Terms {
        Terms {
            nodes: Vec::new(),
            sorts: Vec::new(),
            table: Table::default(),
            variables: Vec::new(),
            nesting: 0,
            equivalences: Vec::new(),
            kinds: FxHashSet::default(),
        }
    }

    /// How many terms there are, those that nobody needs any more included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    #[inline]
    pub fn node(&self, term: Term) -> Node {
        self.nodes[term.index()]
    }

    #[inline]
    pub fn sort(&self, term: Term) -> Sort {
        self.sorts[term.index()]
    }

    /// The number of bits of a value of this term; a truth value has one.
    #[inline]
    pub fn width(&self, term: Term) -> u32 {
        self.sort(term).width()
    }

    /// The value of a constant.
    #[inline]
    pub fn constant(&self, term: Term) -> Option<u128> {
        match self.node(term) {
            Node::Constant(_, value) => Some(value),
            _ => None,
        }
    }

    /// A new unknown.
    pub fn variable(&mut self, sort: Sort) -> Variable {
        let variable =
            Variable(u32::try_from(self.variables.len()).expect("as many variables as fit memory"));
        self.variables.push(sort);
        variable
    }

    /// How many unknowns there are; they are numbered from 0 on.
    pub fn variable_count(&self) -> usize {
        self.variables.len()
    }

    pub fn variable_sort(&self, variable: Variable) -> Sort {
        self.variables[variable.index()]
    }

    /// The term that this unknown is.
    pub fn of_variable(&mut self, variable: Variable) -> Term {
        self.intern(Node::Variable(variable))
    }

    /// A new unknown, as a term.
    pub fn unknown(&mut self, sort: Sort) -> Term {
        let variable = self.variable(sort);
        self.of_variable(variable)
    }

    /// The one term with this node, which the builders have simplified as far as they can.
    fn intern(&mut self, node: Node) -> Term {
        let sort = self.sort_of(node);
        match self.table.find_or_insert(node, &self.nodes) {
            Ok(index) => Term(index),
            Err(index) => {
                self.nodes.push(node);
                self.sorts.push(sort);
                Term(index)
            }
        }
    }
}
