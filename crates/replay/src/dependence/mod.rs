//! Dependences of a run, followed backwards.

mod ask;
mod backward;
mod code;
mod contexts;
mod frames;
mod need;
mod ops;
mod pending;
mod potential;
mod several;
mod slice;
mod slot_set;
mod step;
mod transfer;

pub use ask::Question;
pub use backward::Backward;
pub use code::{Code, StmtId};
pub use contexts::Context;
pub use need::{Need, Use};
pub use potential::{Bounds, Tried};
pub use slice::{Share, Slice, Source, Stacks};
pub use step::{Cell, Follow, Made, Step, Unseen, Watch};
