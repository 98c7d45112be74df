//! The static view of a program: from an address to the function and source line it belongs to,
//! from a name to its address, and from a stopped guest to its chain of callers. It reads
//! symbol tables, line tables and unwind tables of the objects that a guest has mapped, each
//! only when an address in that object is asked for. Objects may be hostile: damaged tables
//! give less information, never an error that hides the rest.

mod cfg;
mod cfi;
mod conditions;
mod debug_file;
mod debug_info;
mod demangle;
mod lines;
mod mapping;
mod object_file;
mod program;
mod read_file;
mod relocations;
mod symbols;
mod unwind;

pub use cfg::{
    Analysis, BasicBlock, BlockId, Cfg, ControlDependence, Controller, Digraph, Dominators, Frozen, Hole,
    HoleKind, JumpTable, Loop, Loops, PostDominators, TableBound, Terminator, Transfer,
};
pub use conditions::{
    Case, Comparison, Condition, ConditionId, ConditionKind, Exit, Member, MemberKind, MemoryOperand,
    Numbers, Operand, Relation, Step,
};
pub use demangle::demangle;
pub use lines::{Position, SourceFrame};
pub use mapping::Mapping;
pub use program::{Function, Location, Program};
pub use read_file::read_file;
pub use symbols::{FoundSymbol, SymbolError};
pub use unwind::{Backtrace, End, Frame, Registers, Rule};
