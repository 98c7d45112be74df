//! What a run is followed with.

use linux::Place;
use linux::fs::Inode;
use machine::Time;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Options {
    pub addresses: Addresses,
    pub inputs: Inputs,
    pub naming: Naming,
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
            most_terms: Options::DEFAULT_MOST_TERMS,
        }
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
    /// Every result of these instants, whether anything unknown is in it or not; what other instants make is concrete. At the end of each stretch, of
    /// which the starts are given, the registers that it wrote are named; what is stored is named at once. Both lists are sorted. A slice knows
    /// the instants; the stretches are best those of statements, so that there is one definition for what somebody wrote as one.
    Instants { instants: Arc<[Time]>, stretches: Arc<[Time]> },
}
