//! What the targets share: objects made of fuzzed parts, and all questions that can be asked about an object.

pub mod ask;
pub mod bytes;
pub mod object;
