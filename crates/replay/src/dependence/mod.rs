//! Dependences of a run, followed backwards and forwards.

mod ask;
mod backward;
mod chop;
mod code;
mod contexts;
mod forward;
mod frames;
mod need;
mod ops;
mod pending;
mod potential;
mod seed;
mod several;
mod slice;
mod step;
mod transfer;

pub use ask::Question;
pub use backward::Backward;
pub use chop::Bidirectional;
pub use code::{Code, StmtId};
pub use contexts::Context;
pub use forward::Forward;
pub use need::{Need, Use};
pub use potential::{Bounds, Tried};
pub use seed::{Seed, SeedKind};
pub use slice::{Share, Slice, Source, Stacks};
pub use step::{Cell, Follow, Made, Step, Unseen, Watch};
