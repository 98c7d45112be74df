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
pub struct Criterion {
    /// Before the instruction at this time.
    pub time: Time,
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// What these hold then.
    Cells(Vec<Cell>),
    /// All that the statement instance makes which the instruction is part of, from there on.
    Statement,
    /// What the branch decides that is there.
    Decision,
}

impl Recording {
    /// What came of some criteria. [`Follow::Relevant`] is no more here than [`Follow::Full`].
    pub fn forward_slice<W: Watch>(
        &mut self,
        code: &mut Code<'_>,
        criteria: &[Criterion],
        follow: Follow,
        watch: &mut W,
    ) -> Slice {
        let Some(first) = criteria.iter().map(|criterion| criterion.time).min() else {
            return Slice::default();
        };
        let begin = first.max(self.program_start());
        let at = self.at(begin);
        let mut pass = Forward::new(code, &State::of(&at.machine), criteria.to_vec(), follow, watch);
        let end = self.end();
        self.forward(begin..end, |segment| {
            pass.pass(segment);
            !pass.is_done()
        });
        pass.finish()
    }
}
