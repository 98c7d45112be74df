//! Expressions of C that people write about a stopped guest: `list->count == 3 && name[0] != 'x'`.
//!
//! They mean what they would mean at that place of the source: names are looked up from the innermost block out, integers are
//! promoted and converted as C does, and arithmetic wraps as the processor's does. Nothing is changed and nothing is
//! called. Beyond C, `text == "abc"` compares characters, and `.` works on pointers as `->` does.
//!
//! `token` cuts the text, `parse` builds a tree (`syntax`), `evaluate` walks it, with `names` and `places` for what is in the
//! guest, and `numbers` for arithmetic.

mod evaluate;
mod names;
mod numbers;
mod parse;
mod places;
mod result;
mod shape;
mod syntax;
mod token;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

pub use result::TypedValue;

/// What expressions are made of, for those who give them another meaning than a value: a formula.
pub mod tree {
    pub use super::numbers::{Basic, Number, binary, unary};
    pub use super::syntax::{BinaryOperator, Node, NodeKind, TypeBase, TypeText, UnaryOperator};
}

use crate::program::Program;
use crate::state::State;
use crate::unwind::Frame;
use crate::variables::Variable;
use syntax::{Node, NodeKind};

/// An expression that makes sense as a text; whether its names mean something depends on the place.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    root: Node,
}

/// What names mean, by the address of the code that they are visible from.
type Known = RefCell<BTreeMap<u64, Vec<(String, Option<Variable>)>>>;

/// An expression that is evaluated many times in the run of one program: what a name means at an instruction is looked up once.
pub struct Prepared<'a> {
    program: &'a Program,
    expression: &'a Expression,
    known: Known,
}

/// What is wrong with the text of an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}, at character {} of `{text}`", .at.start.saturating_add(1))]
pub struct SyntaxError {
    pub text: String,
    /// Bytes of the text.
    pub at: Range<usize>,
    pub message: String,
}

/// Why an expression has no value in a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct EvalError {
    /// Which bytes of the expression's text it is about.
    pub at: Range<usize>,
    pub kind: EvalErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalErrorKind {
    #[error("there is no variable `{name}` there{}", names::hint(.name, .close))]
    NoVariable { name: String, close: Vec<String> },
    #[error("`{of}` has no member `{name}`{}", crate::near::suggestion(.close))]
    NoMember { of: String, name: String, close: Vec<String> },
    #[error("there is no type `{name}`")]
    NoType { name: String },
    /// The expression can never have a value, in whatever state.
    #[error("{message}")]
    Senseless { message: String },
    /// It may have one at another time.
    #[error("`{what}` has no value there: {reason}")]
    Unavailable { what: String, reason: String },
}

impl EvalError {
    /// Whether the expression is wrong, and not only without a value at this instant.
    pub fn is_lasting(&self) -> bool {
        !matches!(self.kind, EvalErrorKind::Unavailable { .. })
    }
}

impl Expression {
    pub fn parse(text: &str) -> Result<Expression, SyntaxError> {
        let root = parse::parse(text)?;
        Ok(Expression { text: text.trim().to_owned(), root })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole of it; the ranges of its nodes are of its text.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// What it is worth in a frame of a stopped guest.
    pub fn evaluate(
        &self,
        program: &Program,
        state: &State<'_>,
        frame: &Frame,
    ) -> Result<TypedValue, EvalError> {
        self.prepared(program).evaluate(state, frame)
    }

    /// For many evaluations in one program.
    pub fn prepared<'a>(&'a self, program: &'a Program) -> Prepared<'a> {
        Prepared { program, expression: self, known: Known::default() }
    }

    /// The parts of it that are read from the guest, each once, in their order: of `a[i].x > n` these are `a[i].x`,
    /// `i` and `n`.
    pub fn operands(&self) -> Vec<Expression> {
        let mut found: Vec<Expression> = Vec::new();
        let mut pending = vec![(&self.root, false)];
        while let Some((node, is_part)) = pending.pop() {
            let is_place = matches!(
                node.kind,
                NodeKind::Name(_) | NodeKind::Member { .. } | NodeKind::Index { .. } | NodeKind::Deref(_)
            );
            let text = self.text.get(node.at.clone()).unwrap_or_default();
            if is_place && !is_part && found.iter().all(|other| other.text != text) {
                found.extend(Expression::parse(text).ok());
            }
            let children = node.children();
            for (index, child) in children.into_iter().enumerate().rev() {
                let continues = is_place && index == 0;
                pending.push((child, continues));
            }
        }
        found
    }
}

impl Prepared<'_> {
    /// As [`Expression::evaluate`].
    pub fn evaluate(&self, state: &State<'_>, frame: &Frame) -> Result<TypedValue, EvalError> {
        let Prepared { program, expression, known } = self;
        evaluate::Evaluation { program, state, frame, text: &expression.text, known }.result(&expression.root)
    }
}
