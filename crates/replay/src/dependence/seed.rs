//! What a forward slice begins with.

use machine::Time;
use program::State;

use super::code::Code;
use super::forward::Forward;
use super::slice::Slice;
use super::step::{Cell, Follow, Watch};
use crate::Recording;

/// Something at an instant, of which is asked what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Before the instruction at this time.
    pub time: Time,
    pub kind: SeedKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeedKind {
    /// What these hold then.
    Cells(Vec<Cell>),
    /// All that the statement instance makes which the instruction is part of, from there on.
    Statement,
    /// What the branch decides that is there.
    Decision,
}

/// So many instructions before the first criterion a pass begins: what statement code without a line belongs to is seen in
/// the whole of its block, and no block is longer.
const LEAD: u64 = 64;

impl Recording {
    /// What came of something. [`Follow::Relevant`] is no more here than [`Follow::Full`].
    pub fn forward_slice<W: Watch>(
        &mut self,
        code: &mut Code<'_>,
        seeds: &[Seed],
        follow: Follow,
        watch: &mut W,
    ) -> Slice {
        self.forward_slice_with(code, seeds, follow, watch).0
    }

    /// The same, with the numbers of the statement instances that were under way at the first of them.
    pub(super) fn forward_slice_with<W: Watch>(
        &mut self,
        code: &mut Code<'_>,
        seeds: &[Seed],
        follow: Follow,
        watch: &mut W,
    ) -> (Slice, Vec<Option<u32>>) {
        let Some(first) = seeds.iter().map(|seed| seed.time).min() else {
            return (Slice::default(), Vec::new());
        };
        let begin = Time(first.0.saturating_sub(LEAD)).max(self.program_start());
        let at = self.at(begin);
        let mut pass = Forward::new(code, &State::of(&at.machine), seeds.to_vec(), follow, watch);
        let (end, patience) = (self.end(), self.patience.clone());
        self.forward(begin..end, |segment| {
            pass.pass(segment);
            !pass.is_done() && !patience.is_over()
        });
        let under_way = pass.under_way();
        (pass.finish(), under_way)
    }
}
