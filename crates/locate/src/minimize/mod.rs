//! The smallest input with which a program still fails as it did, and what of it makes the difference to one with which it
//! passes.
//!
//! `ddmin` knows lists of items and nothing else; `trials` tests what it asks for, in parallel, and remembers. `input` is what a
//! case is given, in parts that `text` takes apart; `judging` says whether a run fails in the same way. `search` and
//! `difference` put it together.

mod ddmin;
mod difference;
mod input;
mod judging;
mod search;
mod text;
mod trials;

pub use ddmin::{Isolated, ddmin, isolate};
pub use difference::{Difference, Span, differing};
pub use input::{Input, Named, Part, PartName};
pub use judging::MinimizeError;
pub use search::{Compared, Minimized, Minimizer, Options, Progress};
pub use text::{Level, Text};
pub use trials::{Candidate, Counts, First, Key, Limits, Outcome, Trials};
