//! Source files: where they are, what their lines say, and how their text is built up.
//!
//! Debug information names sources by where they were compiled. They may have moved, have changed since, or
//! not be on this machine at all; then less is known, and a [`Warning`] says so.

mod blocks;
mod enumerators;
mod file;
mod files;
mod loops;
mod map;
mod syntax;
mod warning;

pub(crate) use enumerators::literal;
pub(crate) use file::SourceFile;
pub(crate) use files::Sources;
pub use map::{SourceMap, SourceMapError};
pub use syntax::Clause;
pub(crate) use syntax::{Language, Loop};
pub use warning::Warning;
