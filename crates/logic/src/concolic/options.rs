//! What a run is followed with.

use linux::Place;
use linux::fs::Inode;
use machine::Time;
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Options {
    pub addresses: Addresses,
    pub inputs: Inputs,
    pub naming: Naming,
    /// Code whose results are taken as they are: what it computes from unknowns is concrete, and not counted as a [`Fallback`](super::Fallback).
    pub given: Arc<[Range<u64>]>,
    /// Nothing is followed any more when there are so many terms.
    pub most_terms: usize,
}

impl Options {
    pub const DEFAULT_MOST_TERMS: usize = 10_000_000;
}

impl Default for Options {
    fn default() -> Options {
        Options {
            addresses: Addresses::Insensitive,
            inputs: Inputs::default(),
            naming: Naming::None,
            given: Arc::new([]),
            most_terms: Options::DEFAULT_MOST_TERMS,
        }
    }
}

impl Options {
    pub(super) fn is_given(&self, address: u64) -> bool {
        self.given.iter().any(|code| code.contains(&address))
    }
}

/// What is said of an access whose address is not concrete. It always goes where it went in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// That the address is the one that it was.
    Sensitive,
    /// Nothing.
    Insensitive,
}

/// Which bytes that the kernel gives are unknown, each by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    pub standard_input: bool,
    pub files: Vec<Inode>,
}

impl Inputs {
    pub(super) fn has(&self, place: Place) -> bool {
        match place {
            Place::Input { .. } => self.standard_input,
            Place::File { inode, .. } => self.files.contains(&inode),
            Place::Memory(_) | Place::Pipe { .. } | Place::Output { .. } | Place::Fresh | Place::Kernel => {
                false
            }
        }
    }
}

/// Which results get a name of their own.
#[derive(Clone, Debug, Default)]
pub enum Naming {
    /// None: terms are over inputs alone.
    #[default]
    None,
    /// What depends on inputs, at the end of each instruction.
    Instructions,
    /// Every result of the instructions of these times, whether anything unknown is in it or not; what all others make is concrete. What is stored is
    /// named at once, the registers that a stretch wrote at its end. The stretches are sorted and do not overlap. A slice knows which there
    /// are ([`replay::Watch::stretch`]), each of one statement, so that there is one definition for what somebody wrote as one.
    Stretches(Arc<[Range<Time>]>),
}
