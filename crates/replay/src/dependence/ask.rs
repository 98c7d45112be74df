//! Questions about a recording, answered by passes over it.

use machine::{Cpu, Observer, Time};
use program::State;

use super::backward::Backward;
use super::code::Code;
use super::slice::Slice;
use super::step::{Cell, Follow, Watch};
use crate::Recording;

/// What is asked about: cells at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// They are looked at before the instruction at this time.
    pub time: Time,
    pub cells: Vec<Cell>,
    /// Also ask why control came there.
    pub why_here: bool,
}

impl Recording {
    /// What a criterion depends on.
    pub fn slice<W: Watch>(
        &mut self,
        code: &mut Code<'_>,
        question: &Question,
        follow: Follow,
        watch: &mut W,
    ) -> Slice {
        let begin = self.program_start();
        let at = self.at(question.time);
        let mut pass = Backward::new(code, &State::of(&at.machine), begin, follow, watch);
        if let Follow::Relevant(_) = follow {
            pass.remember(std::mem::take(&mut self.experiments), self.patience.clone());
        }
        question.cells.iter().for_each(|cell| pass.ask(*cell));
        if question.why_here {
            pass.ask_why_here();
        }
        let patience = self.patience.clone();
        self.backward(question.time, |segment| {
            let start = segment.start;
            pass.pass(segment);
            !pass.is_done() && start > begin && !patience.is_over()
        });
        self.experiments = pass.experiments().unwrap_or_else(|| std::mem::take(&mut self.experiments));
        pass.finish()
    }

    /// When the program itself begins: what ran before is the loader's work, and what it left is what the program found.
    pub fn program_start(&mut self) -> Time {
        if let Some(known) = self.program_start {
            return known;
        }
        let mut process = self.at(self.start());
        let entry = entry_point(&process.kernel.auxiliary_vector);
        let mut search = Search { entry, found: None };
        while search.found.is_none() && process.machine.time < self.end() {
            let next = Time(process.machine.time.0.saturating_add(STRETCH)).min(self.end());
            if !matches!(process.run(next, &mut search), linux::Exit::Until) {
                break;
            }
        }
        let found = search.found.unwrap_or(self.start());
        self.program_start = Some(found);
        self.keep_checkpoint(found);
        found
    }
}

/// Instructions between two looks at whether the program has begun.
const STRETCH: u64 = 1 << 16;
/// Of the auxiliary vector.
const AT_ENTRY: u64 = 9;

/// Where the program begins, by what the kernel told it.
fn entry_point(auxiliary_vector: &[u8]) -> Option<u64> {
    let word = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes);
    let mut entries = auxiliary_vector.chunks_exact(16).map(|entry| entry.split_at(8));
    entries.find_map(|(kind, value)| (word(kind) == Some(AT_ENTRY)).then(|| word(value)).flatten())
}

/// Looks for the first execution of an instruction.
struct Search {
    entry: Option<u64>,
    found: Option<Time>,
}

impl Observer for Search {
    const EACH_ELEMENT: bool = false;

    fn instruction(&mut self, time: Time, address: u64, _: &[lift::Op], _: &Cpu) {
        if Some(address) == self.entry {
            self.found.get_or_insert(time);
        }
    }
}
