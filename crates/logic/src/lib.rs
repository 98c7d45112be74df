//! The room where ops become formulas: terms over bits and floats, what each op means as a term, and runs whose values are terms.
//!
//! It is the third reader of the one semantics: the machine executes ops, dependences read off what they used, and here each has its formula.
//! Whatever is claimed by a formula can be checked by its value: a term evaluated on concrete inputs is what the machine computes, bit for bit.

pub mod concolic;
pub mod core;
pub mod format;
pub mod formula;
pub mod property;
#[cfg(test)]
mod random;
pub mod solver;
pub mod state;
pub mod term;
pub mod text;
pub mod transfer;

pub use term::{Assignment, Evaluation, Node, Sort, Term, Terms, Variable};
