//! What could not be followed: where something unknown went in, and something concrete came out.

use crate::transfer::Unmodelled;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fallback {
    /// An op whose meaning is not a term.
    Op(Unmodelled),
    /// A system call, by its number.
    SystemCall(u64),
    /// A function of the heap that was served.
    Served,
    /// A string instruction with short addresses.
    NarrowString,
    /// An access went where it went, and nothing was said of its address.
    Address,
    /// Flags that a signal handler interrupted.
    Interruption,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fallback::Op(reason) => reason.fmt(f),
            Fallback::SystemCall(number) => match linux::syscall_name(*number) {
                Some(name) => write!(f, "the system call {name}"),
                None => write!(f, "the system call number {number}"),
            },
            Fallback::Served => f.write_str("a function of the heap"),
            Fallback::NarrowString => f.write_str("a string instruction with short addresses"),
            Fallback::Address => f.write_str("an address"),
            Fallback::Interruption => f.write_str("a signal handler"),
        }
    }
}

/// How often each kind happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fallbacks {
    counts: BTreeMap<Fallback, u64>,
    total: u64,
}

impl Fallbacks {
    pub(super) fn add(&mut self, fallback: Fallback) {
        *self.counts.entry(fallback).or_default() += 1;
        self.total += 1;
    }

    /// In a fixed order.
    pub fn counts(&self) -> impl Iterator<Item = (Fallback, u64)> + '_ {
        self.counts.iter().map(|(fallback, count)| (*fallback, *count))
    }

    pub fn total(&self) -> u64 {
        self.total
    }
}
