//! Predicate switching: which condition, had it gone the other way, would have saved the run?

mod classify;
mod order;
mod parked;
mod plan;
mod search;
mod sweep;
mod touches;
mod trial;
mod verify;

pub use order::Order;
pub use search::{Found, Options, Progress, Search, Statistics};
pub use trial::{Ending, Trial};
pub use verify::{Critical, Effect};
