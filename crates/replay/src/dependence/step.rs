//! What can be asked of a pass, and what it tells on its way.

use std::ops::Range;

use lift::Reg;
use linux::Place;
use machine::Time;

use super::code::StmtId;
use super::contexts::Context;
use super::need::{Need, Use};
use super::potential::{Bounds, Strength};
use super::slice::Source;

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The low bytes of a slot, as a set.
    Register(Reg, lift::Bytes),
    Memory {
        address: u64,
        length: u64,
    },
    /// Bytes of files, pipes and streams.
    Kernel {
        place: Place,
        length: u64,
    },
}

/// Which dependences are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Values and the addresses that they were found by.
    Data,
    /// Also the conditions that decided what was executed.
    Full,
    /// Also conditions that, had they gone the other way, would have changed what was used.
    Relevant(Bounds),
}

/// A step from a use to what it used, between two statement instances. In a forward slice they change places: what is
/// told is a step from what was made to a use, and the maker is that of what was made by using it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The instance that used something, which is nearer to the criterion; 0 is the criterion.
    pub user: u32,
    pub how: Use,
    /// The instance that made it, and its statement.
    pub maker: u32,
    pub stmt: StmtId,
    /// Which calls led to it; only for those who [want](Watch::CONTEXTS) to know.
    pub context: Context,
    /// When and where it was made.
    pub time: Time,
    pub address: u64,
    pub made: Made,
    /// Of the maker.
    pub distance: u32,
    /// Made by trusted code that the statement called.
    pub in_library: bool,
}

/// What a step leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    Register(Reg),
    Memory {
        address: u64,
        length: u64,
    },
    Kernel(Place),
    /// A branch that decided.
    Decision,
    /// A branch whose other side would, or could, have written what was used.
    Omission(Strength),
    /// A call that brought about what was executed.
    Call,
}

/// Somebody who wants to see the steps of a pass, not only what they come to.
pub trait Watch {
    /// Whether anything is told at all.
    const WATCHES: bool = true;
    /// Whether steps tell which calls led to their makers.
    const CONTEXTS: bool = false;
    /// Whether all near users of what was made are told, not only the nearest.
    const SHARES: bool = false;
    /// Whether all near users of what nobody made are told.
    const SHARES_ENDS: bool = false;
    /// Whether a backward pass follows only what is [on the way](Watch::is_on_the_way).
    const CHOOSES: bool = false;

    fn step(&mut self, _step: Step) {}
    /// A statement decided at this time what it does itself, as `a ? b : c` and `a && b()` do: that is no step.
    #[inline]
    fn decides_within(&mut self, _time: Time, _distance: u32) {}
    /// The instruction at an address has a part in it, also where that is no step; told by backward passes alone.
    #[inline]
    fn works(&mut self, _address: u64, _in_scope: bool) {}
    /// The instructions of these times, some of one statement one after the other, make or hand on something that is needed; told by backward passes
    /// alone, and as often as there is something.
    #[inline]
    fn stretch(&mut self, _times: Range<Time>) {}
    /// The instruction at this time makes something that came from the criterion; told by forward passes alone.
    #[inline]
    fn carried(&mut self, _time: Time) {}
    /// Whether a backward pass follows what was made at this time.
    fn is_on_the_way(&mut self, _time: Time) -> bool {
        true
    }
    /// Whether somebody who needs something is near enough to be told, for those who want to know all.
    fn wants_user(&self, _user: Need) -> bool {
        false
    }
    /// A chain ends.
    fn end(&mut self, _user: Need, _source: &Source) {}
    /// Another user, by its number, of that in which a chain has ended.
    fn end_of_other(&mut self, _user: u32, _source: &Source) {}
}

/// Nobody does.
pub struct Unseen;

impl Watch for Unseen {
    const WATCHES: bool = false;
}
