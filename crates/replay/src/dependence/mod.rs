//! Dependences of a run, followed backwards and forwards.

mod ask;
mod backward;
mod chop;
mod code;
mod contexts;
mod ends;
mod forced;
mod forward;
mod frames;
mod need;
mod ops;
mod page;
mod pending;
mod potential;
mod ran;
mod seed;
mod several;
mod sides;
mod slice;
mod slot_set;
mod step;
mod stretch;
mod transfer;

pub use ask::Question;
pub use backward::Backward;
pub use chop::Bidirectional;
pub use code::{Code, StmtId};
pub use contexts::Context;
pub use forced::Forced;
pub use forward::Forward;
pub use need::{Need, Use};
pub(crate) use potential::Experiments;
pub use potential::{Bounds, Strength, Tried};
pub use seed::{Seed, SeedKind};
pub use slice::{Share, Slice, Source, Stacks};
pub use step::{Cell, Follow, Made, Step, Unseen, Watch};
