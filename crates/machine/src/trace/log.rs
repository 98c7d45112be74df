//! The words of one instruction, as it runs.

use super::plan::{Plan, STRING_WORDS, Words};
use crate::exec::effective;
use crate::observer::Observer;
use crate::{Cpu, Time};
use lift::Op;

/// No instruction has more: four accesses (cmpxchg16b), or a string instruction's own words.
pub const MOST_WORDS: usize = 4;

/// An observer of one instruction.
#[derive(Default)]
pub struct Log {
    plan: Plan,
    words: [u64; MOST_WORDS],
    count: usize,
}

impl Log {
    pub fn words(&self) -> &[u64] {
        self.words.get(..self.count).unwrap_or(&self.words)
    }

    fn push(&mut self, word: u64) {
        debug_assert!(self.count < MOST_WORDS, "an instruction with more words than any");
        if let Some(place) = self.words.get_mut(self.count) {
            *place = word;
            self.count += 1;
        }
    }
}

impl Observer for Log {
    const EACH_ELEMENT: bool = false;

    fn instruction(&mut self, _: Time, _: u64, _: &[Op], _: &Cpu) {
        *self = Log::default();
    }

    fn op(&mut self, op: &Op, cpu: &Cpu) {
        match (self.plan.next(op), op) {
            (Words::Address(address), _) => self.push(effective(cpu, &address)),
            (Words::Outcome, Op::Select { condition, .. }) => self.push(cpu.get(*condition)),
            _ => {}
        }
    }

    fn string(&mut self, source: u64, target: u64, elements: i64) {
        for word in [source, target, elements as u64] {
            self.push(word);
        }
    }
}

const _: () = assert!(STRING_WORDS <= MOST_WORDS);
