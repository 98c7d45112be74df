//! Predicate switching: which condition, had it gone the other way, would have saved the run?
//!
//! `plan` says what is forced, `sweep` makes the trials of one pass along the run, `verify` looks at what saved it once more.
//! `tariff` knows whether it pays to
//! wait. `search` goes through all decisions, and `beyond` through what there is besides when no single one helps.

mod beyond;
mod classify;
mod difference;
mod follow;
mod judging;
mod kernels;
mod meeting;
mod order;
mod parked;
mod plan;
mod search;
mod statistics;
mod sweep;
mod tariff;
mod touches;
mod trial;
mod verify;
mod witnesses;

pub use judging::{Judge, Meter};
pub use order::Order;
pub use search::{Found, Options, Search};
pub use statistics::Statistics;
pub use tariff::Parking;
pub use trial::{Ending, Trial};
pub use verify::{Change, Critical, Effect, Second};
