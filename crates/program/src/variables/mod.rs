//! Variables: which ones can be seen at an instruction, and where they are in a stopped guest.

mod describe;
mod entry_value;
mod evaluate;
mod fixed;
mod globals;
mod place;
mod scopes;
mod typed;

pub(crate) use describe::blocks;
pub use describe::{Block, Described};
pub(crate) use evaluate::Evaluator;
pub(crate) use fixed::{FixedVariable, fixed_variables};
pub(crate) use globals::global;
pub use place::{Piece, Place, Reason};
pub(crate) use scopes::calls;

use crate::entries::Die;
use crate::lines::Position;
use crate::types::TypeId;

/// A function that an instruction belongs to: the one whose code it is, or one that was inlined there.
#[derive(Clone, Debug)]
pub struct Call {
    /// As the source has it: with namespaces and template arguments, without parameters.
    pub function: Option<String>,
    pub position: Option<Position>,
    pub is_inlined: bool,
    /// The innermost first; the last one is the function's own.
    pub scopes: Vec<Scope>,
}

impl Call {
    /// In the order of the declaration.
    pub fn parameters(&self) -> impl Iterator<Item = &Variable> {
        self.variables().filter(|variable| variable.kind == VariableKind::Parameter)
    }

    /// Variables of the function other than parameters, those of inner scopes first. Some may be hidden by
    /// others of the same name that come before them.
    pub fn locals(&self) -> impl Iterator<Item = &Variable> {
        self.variables().filter(|variable| variable.kind != VariableKind::Parameter)
    }

    /// The variable that a name means here.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables().find(|variable| variable.name == name)
    }

    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.scopes.iter().flat_map(|scope| &scope.variables)
    }
}

/// A block of a function, or all of it.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// In the order of their declarations.
    pub variables: Vec<Variable>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    Parameter,
    Local,
    /// A static variable inside of a function.
    FunctionStatic,
    /// A variable of one file.
    FileStatic,
    Global,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Those outside of functions with namespaces.
    pub name: String,
    pub kind: VariableKind,
    pub of: Option<TypeId>,
    /// The line of its declaration.
    pub line: Option<u32>,
    /// Made by the compiler, as `this`.
    pub is_artificial: bool,
    pub(crate) object: u32,
    pub(crate) die: Die,
    /// The function whose frame base counts.
    pub(crate) function: Option<Die>,
}
