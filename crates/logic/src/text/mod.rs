//! Formulas for people: C over the names of the source.
//!
//! A formula is printed as somebody would write it who knows the program: `kind == RIGHT && area < 9.925`, no widths, no reinterpretations of
//! bits, as few parentheses as C needs. Conversions are written where leaving them out would say something else. What has no short form
//! in C ends in `…`, so that a text is never longer than somebody reads.

mod c;
mod numbers;
mod source;

pub use c::in_c;
pub use source::{SourceNames, kind_of};

use crate::{Sort, Variable};

/// What unknowns are called in the source, and how their values are written there.
pub trait Names {
    fn name(&self, variable: Variable) -> String;

    fn kind(&self, variable: Variable) -> Kind;

    /// A value as the type of the unknown has it: an enumerator, a character. `None` if it is a plain number.
    fn spell(&self, variable: Variable, value: u128) -> Option<String>;

    /// A value of an unknown, as the source would have it.
    fn value(&self, sort: Sort, variable: Variable, value: u128) -> String {
        self.spell(variable, value).unwrap_or_else(|| numbers::number(sort, value, self.kind(variable)))
    }
}

/// How the bits of an unknown are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Signed,
    Unsigned,
    Float,
    Pointer,
}
