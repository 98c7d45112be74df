//! The room where a run's past can be asked for: recordings, any instant of which can be had again, and what each
//! value came from. Nothing of the past is stored but a few checkpoints; the rest is run again when a question
//! leads there.

mod bundle;
mod case;
pub mod failure;
pub mod oracle;
mod recording;
mod statistics;

pub use bundle::{Bundle, BundleError, EndKind, Ending, files_of, is_bundle};
pub use case::{Bytes, Case, Channel, Comparison, Expectation, Files, Heap, Limits, Oracle, Stdin, User};
pub use failure::{Failure, FailureKind};
pub use recording::{Recording, Segment};
pub use statistics::Statistics;
