//! When something was executed that has a part in a slice.

use std::ops::Range;
use std::sync::Arc;

use machine::Time;
use replay::Watch;

use crate::concolic::Naming;

/// So many stretches are followed with terms; of longer runs the last ones.
const MOST: usize = 1 << 20;

/// The stretches that a backward pass tells, the last first.
#[derive(Default)]
pub struct Stretches {
    found: Vec<Range<Time>>,
    pub is_cut_short: bool,
}

impl Watch for Stretches {
    fn stretch(&mut self, times: Range<Time>) {
        // Each is told as often as it made something.
        let is_known = self.found.iter().rev().take(4).any(|known| *known == times);
        match self.found.len() < MOST {
            true if is_known => {}
            true => self.found.push(times),
            false => self.is_cut_short = true,
        }
    }
}

impl Stretches {
    /// Their order is that of the run, and none overlaps another.
    pub fn sorted(mut self) -> Stretches {
        self.found.sort_unstable_by_key(|stretch| (stretch.start, stretch.end));
        self.found.dedup();
        self
    }

    pub fn first(&self) -> Option<Time> {
        self.found.first().map(|stretch| stretch.start)
    }

    pub fn naming(&self) -> Naming {
        Naming::Stretches(Arc::from(self.found.as_slice()))
    }
}
