//! The chain of causes of a value, as data: what a person would tell who has stepped through the run backwards.
//!
//! A [`Target`] says what is asked about; `ask` finds the instant and the cells. The backward pass then tells its steps to a
//! `Web`, which knows one knot for each statement in each context of calls, however often it was executed. `tell` takes the
//! nearest knots, and `describe` goes to the instants of their last executions to see names and values.

mod arrivals;
mod ask;
mod begin;
mod beside;
mod called;
mod crash;
mod decision;
mod describe;
mod edges;
mod fresh;
mod gather;
mod mentions;
mod origins;
mod overflow;
mod overread;
mod parameters;
mod returned;
mod suspect;
mod tell;
mod texts;
mod truth;
mod way;
mod web;

use machine::Time;
use program::Stmt;

pub use ask::{AskError, Asked, Hit, Subject, Target};
pub use begin::{Begun, BegunWith};
pub use beside::Beside;
pub use called::Called;
pub use crash::panic_entry;
pub use decision::Decided;
pub use edges::{DependentInstance, Edge, EdgeKind, Edges, Used};
pub use origins::Origin;
pub use truth::condition as condition_in;
pub use way::Beginning as WayBeginning;

use crate::Slice;

/// The answer to why something is as it is.
#[derive(Clone, Debug)]
pub struct Story {
    pub asked: Asked,
    /// What was asked about, told like a step; it has the number 0.
    pub end: Told,
    /// The newest first; numbered from 1.
    pub steps: Vec<Told>,
    /// How many statements are further back than the story goes.
    pub left_out: usize,
    /// How many steps back the furthest of them is.
    pub deepest: usize,
    /// Most of it happened in trusted code that has debug information: a pattern that brings that code into scope.
    pub suspect: Option<String>,
    /// What the statements have to do with it, in all.
    pub slice: Slice,
}

/// One step of a story: the last execution of a statement that had a part in it.
#[derive(Clone, Debug)]
pub struct Told {
    pub number: usize,
    /// How many steps it is from what was asked about.
    pub depth: usize,
    /// `None` for code of no statement.
    pub stmt: Option<Stmt>,
    /// In one line; `None` without the source.
    pub text: Option<String>,
    pub time: Time,
    pub role: Role,
    /// What it made, with the values after it.
    pub made: Vec<Known>,
    /// What it used, with the values before it.
    pub used: Vec<Operand>,
    /// What it used that has no name here.
    pub links: Vec<Link>,
    /// The conditions that chose it.
    pub chosen_by: Vec<Reference>,
    /// The calls that brought it about.
    pub called_by: Vec<Reference>,
    /// The functions that the statement's text calls.
    pub calls: Vec<String>,
    /// What it passed on to functions that it called, as they know it.
    pub passed: Vec<Passed>,
    /// The trusted function that did it for the statement.
    pub library: Option<String>,
    /// Where chains end that lead here.
    pub origins: Vec<Origin>,
    pub repeats: Option<Repeats>,
    pub overflows: Vec<Overflow>,
    /// How many statements that it depends on are not told.
    pub left_out: usize,
}

/// What a step did for the story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is what was asked about.
    Asked,
    /// It gave something its value.
    Makes,
    /// It decided what was executed; whether the condition held, if that is known.
    Decides { holds: Option<bool> },
    /// It called a function.
    Calls,
    /// It says what a variable holds from the beginning.
    Initialises,
}

/// A name and what it stood for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub name: String,
    /// `None` when it cannot be told.
    pub value: Option<String>,
}

/// Something that a step used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    pub known: Known,
    /// It was used to find something, as an index or a pointer.
    pub is_address: bool,
    /// It was passed to the function.
    pub is_parameter: bool,
    /// The step that made it.
    pub from: Option<Reference>,
}

/// Another step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    pub number: usize,
    /// It is not that step's last execution that is meant.
    pub is_earlier: bool,
}

/// Something that a step used and that has no name in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// What a function returned.
    Returned { function: Option<String>, by: Reference },
    /// An argument of a call.
    Passed { parameter: Option<Known>, by: Reference },
    /// Something else.
    Other { by: Reference, is_address: bool },
}

/// An argument, seen from the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    pub function: Option<String>,
    pub known: Known,
}

/// A step that happened more than once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// How many times, the one that is told included.
    pub times: u64,
    /// When it first did, and what it made then.
    pub first: Time,
    pub made: Vec<Known>,
    /// What the executions before used that the last did not.
    pub from: Vec<Reference>,
    /// Where chains end that lead to executions before, and not to the last.
    pub origins: Vec<Origin>,
}

/// An access that goes by one variable and lands in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// As the source has it, or the variable that was overrun.
    pub access: String,
    pub is_write: bool,
    /// The variable where it lands.
    pub lies_in: String,
}
