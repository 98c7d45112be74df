//! The room where causes are found: what failed, what could have gone another way, and what came of it when it did.
//!
//! A technique sees recordings, programs and formulas, and returns findings; it never prints. Here is predicate switching:
//! the conditions that a failing run decided are made to go the other way, one at a time, and those are told with which
//! the run does not fail.

pub mod criterion;
pub mod explain;
pub mod instances;
pub mod minimize;
pub mod switching;
