//! The room where a run's past can be asked for: recordings, any instant of which can be had again, and what each
//! value came from. Nothing of the past is stored but a few checkpoints; the rest is run again when a question
//! leads there.

mod bundle;
mod case;
mod coverage;
mod dependence;
mod diversion;
mod escaped;
pub mod events;
pub mod failure;
mod flow;
mod gauge;
pub mod index;
mod numbers;
pub mod oracle;
mod patience;
mod recording;
mod statistics;
pub mod story;

pub use bundle::{Bundle, BundleError, EndKind, Ending, files_of, is_bundle};
pub use case::{
    Bytes, Case, Channel, Comparison, Expectation, Files, Heap, Limits, Oracle, Sealed, Stdin, User,
};
pub use coverage::coverage;
pub use dependence::{
    Backward, Bidirectional, Bounds, Cell, Code, Context, Follow, Forced, Forward, FunctionId, Made, Need,
    Question, Seed, SeedKind, Share, Slice, Source, Stacks, Step, StmtId, Strength, Tried, Unseen, Use,
    Watch,
};
pub use diversion::{Arrival, Diversion, Instance, Outcome, RunId, Scanner, Writes};
pub use escaped::{escaped, without_wrong_bytes};
pub use events::{MemoryAccess, RegisterSet, Shape, Shapes, accesses};
pub use failure::{Failure, FailureKind};
pub use flow::{Flow, FunctionFlow};
pub use gauge::Gauge;
pub use numbers::{counted, grouped};
pub use patience::Patience;
pub use recording::{Options, Recording, Segment};
pub use statistics::Statistics;
