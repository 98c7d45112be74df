//! Values, printed as their types say.

mod aggregate;
mod contents;
mod float;
mod print;
mod rust;
mod scalar;
mod string;
mod tree;

pub(crate) use contents::{Contents, Missing, NoContents};
pub(crate) use float::text as float_text;
pub(crate) use print::Printer;
pub(crate) use scalar::integer;
pub(crate) use tree::Builder;
pub use tree::{Field, Value, ValueKind};

/// How much of a value is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Elements of an array or characters of a string.
    pub elements: usize,
    /// From so many equal elements on, they are printed once with their number.
    pub repeats: usize,
    /// Of the whole text, in bytes; what is longer ends with an ellipsis.
    pub length: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { elements: 200, repeats: 10, length: 1 << 20 }
    }
}
