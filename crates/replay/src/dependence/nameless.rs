//! Code without a line of its own, as compilers leave it where they join the ends of two ways: which statement it goes with.

use std::ops::RangeInclusive;

use lift::{Decoded, Op};
use program::Frame;

use super::code::{Code, InstructionCode, StmtId};

/// Code of no line goes with what comes after it in the block, or else before it, so that it does not cut statements apart.
pub(super) fn spread_statements(instructions: &mut [InstructionCode]) {
    let last = instructions.iter().rev().find(|instruction| instruction.at.stmt != StmtId::NONE);
    let mut next = last.map_or(StmtId::NONE, |last| last.at.stmt);
    for instruction in instructions.iter_mut().rev() {
        if instruction.at.stmt == StmtId::NONE {
            instruction.at.stmt = next;
        }
        next = instruction.at.stmt;
    }
}

/// So many blocks of a graph that run on into one another are looked at.
const MOST_BLOCKS: usize = 16;

impl Code<'_> {
    /// The statement that a call belongs to, by an address within its instruction. One of no line goes with the code that runs
    /// straight on to it; that is read off the code, since a pass that goes backwards comes to the return first.
    pub fn statement_of_call(&mut self, address: u64) -> StmtId {
        let own = self.statement_at(address);
        if own != StmtId::NONE {
            return own;
        }
        if let Some(known) = self.nameless_calls.get(&address) {
            return *known;
        }
        let found = self.statement_before(address, |op| op.ends_block());
        self.nameless_calls.insert(address, found);
        found
    }

    /// The statement that a frame of a stopped guest is in.
    pub fn statement_of_frame(&mut self, frame: &Frame) -> StmtId {
        // Others than the innermost, and what a signal interrupted, are looked up by their calls.
        if frame.lookup == frame.address {
            self.statement_at(frame.lookup)
        } else {
            self.statement_of_call(frame.lookup)
        }
    }

    /// The statement of a jump by a table that has no line. What asks whether the table has an entry is of the same statement.
    pub(super) fn statement_of_jump(&mut self, address: u64) -> StmtId {
        match self.statement_at(address) {
            StmtId::NONE => {
                self.statement_before(address, |op| op.ends_block() && !matches!(op, Op::Branch { .. }))
            }
            own => own,
        }
    }

    /// The statement of the last code before an instruction that has one, as far back as no op `cuts` what runs on to it.
    fn statement_before(&mut self, address: u64, cuts: fn(&Op) -> bool) -> StmtId {
        let Some(flow) = self.flow.function(address) else { return StmtId::NONE };
        let mut last = address;
        for _ in 0..MOST_BLOCKS {
            let Some(block) = flow.block_at(last).and_then(|block| flow.cfg().block(block)) else { break };
            let (found, is_cut) = self.last_statement(block.start..=last, address, cuts);
            if found != StmtId::NONE || is_cut {
                return found;
            }
            last = block.start.wrapping_sub(1);
        }
        StmtId::NONE
    }

    /// The statement of the last instruction of a range that has one and is not cut off, and whether some are.
    fn last_statement(
        &mut self,
        range: RangeInclusive<u64>,
        until: u64,
        cuts: fn(&Op) -> bool,
    ) -> (StmtId, bool) {
        let (mut found, mut is_cut) = (StmtId::NONE, false);
        let (mut at, mut ops) = (*range.start(), Vec::new());
        while range.contains(&at) {
            let bytes = self.program().file_bytes(at).unwrap_or_default();
            let Decoded::Instruction(instruction) = lift::decode(bytes, at) else { break };
            let next = at.saturating_add(instruction.len() as u64);
            ops.clear();
            lift::lift(&instruction, &mut ops);
            if next <= until && ops.iter().any(cuts) {
                (found, is_cut) = (StmtId::NONE, true);
            } else {
                let stmt = self.statement_at(at);
                found = if stmt == StmtId::NONE { found } else { stmt };
            }
            at = next;
        }
        (found, is_cut)
    }
}
