//! Code without a line of its own, as compilers leave it where they join the ends of two ways: which statement it goes with.

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
        let found = self.statement_before(address);
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

    fn statement_before(&mut self, call: u64) -> StmtId {
        let Some(flow) = self.flow.function(call) else { return StmtId::NONE };
        let mut last = call;
        for _ in 0..MOST_BLOCKS {
            let Some(block) = flow.block_at(last).and_then(|block| flow.cfg().block(block)) else { break };
            let (found, is_cut) = self.last_statement(block.start, last, call);
            if found != StmtId::NONE || is_cut {
                return found;
            }
            last = block.start.wrapping_sub(1);
        }
        StmtId::NONE
    }

    /// The statement of the last instruction from `start` to `last` that has one and runs straight on, and whether something
    /// there does not.
    fn last_statement(&mut self, start: u64, last: u64, call: u64) -> (StmtId, bool) {
        let (mut found, mut is_cut) = (StmtId::NONE, false);
        let (mut at, mut ops) = (start, Vec::new());
        while at <= last {
            let bytes = self.program().file_bytes(at).unwrap_or_default();
            let Decoded::Instruction(instruction) = lift::decode(bytes, at) else { break };
            let next = at.saturating_add(instruction.len() as u64);
            ops.clear();
            lift::lift(&instruction, &mut ops);
            if next <= call && ops.iter().any(Op::ends_block) {
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
