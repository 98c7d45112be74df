//! The room where a run's past can be asked for: recordings, any instant of which can be had again, and what each
//! value came from. Nothing of the past is stored but a few checkpoints; the rest is run again when a question
//! leads there.

mod diversion;
mod events;
mod flow;
pub mod index;
mod recording;

pub use diversion::{Arrival, Diversion, Instance, Outcome, RunId, Scanner, Writes};
pub use events::{Ending, MemoryAccess, RegisterSet, Shape, Shapes, accesses};
pub use flow::{Flow, FunctionFlow};
pub use recording::{Options, Recording, Segment};
