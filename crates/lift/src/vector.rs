//! The table of vector and float functions.

/// A function on 128-bit values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorOp {}
