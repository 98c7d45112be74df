//! What a statement is.

use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use crate::source::Clause;

/// A statement: what people point at when they say where a program is wrong.
///
/// It is a line of a function. Columns tell no statements apart, since line tables have a row for each
/// sub-expression, but for the clauses of a `for`, which are run at different times. Code that a macro stands
/// for belongs to the line that uses the macro; code of an inlined call to the line of the called function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stmt {
    /// Path of the object.
    pub object: Arc<str>,
    /// Path of the source file, as the debug information has it.
    pub file: Arc<str>,
    pub line: u32,
    pub part: Part,
    /// Demangled; `None` outside of functions, and where no name is known.
    pub function: Option<Arc<str>>,
}

/// Which of the statements of a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// All of it that is nothing else.
    Line,
    /// A clause of a `for`, by the column where it begins. Which one it is, is known by the source alone.
    Clause { column: u32, clause: Option<Clause> },
    /// What a variable, or an element of it, holds from the beginning.
    Initialiser {
        variable: Arc<str>,
        /// `[2].name`; empty when it is all of the variable.
        element: Arc<str>,
    },
}

impl Stmt {
    /// Where its text begins, when that is not the whole line.
    pub fn column(&self) -> Option<u32> {
        match self.part {
            Part::Clause { column, .. } => Some(column),
            Part::Line | Part::Initialiser { .. } => None,
        }
    }
}

/// `file:line`, and the column of a clause.
impl fmt::Display for Stmt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)?;
        match self.column() {
            Some(column) => write!(formatter, ":{column}"),
            None => Ok(()),
        }
    }
}

/// A statement and where it is in the guest's address space: code, or the data that it initialises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedStmt {
    pub stmt: Stmt,
    /// Sorted, without overlaps.
    pub ranges: Vec<Range<u64>>,
}

/// First and last line.
pub type Span = RangeInclusive<u32>;
