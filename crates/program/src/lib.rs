//! The static view of a program: from an address to the function and source line it belongs to,
//! from a name to its address, and from a stopped guest to its chain of callers. It reads
//! symbol tables, line tables and unwind tables of the objects that a guest has mapped, each
//! only when an address in that object is asked for. Objects may be hostile: damaged tables
//! give less information, never an error that hides the rest.
//!
//! A stopped guest is a [`State`]. [`Program::backtrace_of`] gives its frames, [`Program::calls_at`] the functions
//! that a frame is in (several when calls were inlined) with the variables that can be seen there,
//! [`Program::print_variable`] and [`Program::value_of`] what a variable holds, [`Program::type_name`] and
//! [`Program::type_definition`] its type. Texts have the form that gdb gives them by default.

mod call_sites;
mod cfg;
mod cfi;
pub mod conditions;
mod debug_file;
mod debug_info;
mod demangle;
mod entries;
pub mod expressions;
mod inspect;
mod lines;
mod mapping;
mod names;
mod near;
mod object_file;
mod places;
mod program;
mod read_file;
mod relocations;
mod scope;
mod source;
mod stack_height;
mod state;
mod statements;
mod symbols;
mod tail_calls;
mod thread_locals;
mod types;
mod unwind;
mod values;
mod variables;

pub use cfg::{
    Analysis, BasicBlock, BlockId, Cfg, ControlDependence, Controller, Digraph, Dominators, Frozen, Hole,
    HoleKind, JumpTable, Loop, Loops, PostDominators, TableBound, Terminator, Transfer,
};
pub use conditions::{Condition, ConditionId, ConditionKind};
pub use demangle::demangle;
pub use expressions::{EvalError, EvalErrorKind, Expression, Prepared, SyntaxError, TypedValue};
pub use lines::{Position, SourceFrame};
pub use mapping::Mapping;
pub use names::{Allocation, Allocations, Elements, Names, NoAllocations};
pub use places::{LineError, LinePlaces};
pub use program::{Function, Location, Program};
pub use read_file::{FileReader, Files, HostFiles, read_file};
pub use scope::{Scope, ScopeError, Trust, TrustReason};
pub use source::{Clause, SourceMap, SourceMapError, Warning};
pub use state::State;
pub use statements::{Part, PlacedStmt, Span, Stmt};
pub use symbols::{FoundSymbol, SymbolError};
pub use types::{
    Access, Dimension, Encoding, Enumerator, Indirection, Keyword, Language, Member, Method, Qualifier,
    Record, Type, TypeId, TypeKind, Variant, VariantPart,
};
pub use unwind::{Backtrace, End, Frame, Registers, Rule};
pub use values::{Field, Limits, Value, ValueKind};
pub use variables::{
    Block, Call, Described, Piece, Place, Reason, Scope as LexicalScope, Variable, VariableKind,
};
