//! The reference executor, and what it shares with the fast one.

mod environment;
mod helpers;
pub mod reference;
mod strings;
mod view;

pub use reference::{Context, Flow, Force, effective, execute_instruction};
pub use strings::MOST_ELEMENTS;
pub use view::{GuestMemory, Peek, View};
