//! What lies on one side of a branch, up to where both sides meet: read off the code, without running it.

use std::collections::{BTreeMap, BTreeSet};

use lift::{Address, Decoded, Op, Reg, Value};
use program::{BlockId, Program, Terminator};

use crate::flow::FunctionFlow;

/// A side with more blocks is not looked at as a whole.
const MOST_BLOCKS: usize = 1 << 12;

/// The blocks of a function that one side of a branch leads to before both sides meet.
#[derive(Debug, Default)]
pub struct Side {
    /// By their first address.
    blocks: BTreeMap<u64, BlockId>,
    /// Something else is decided on this side.
    pub decides: bool,
    /// What is written lies at fixed places in the frame or in global data, whichever way conditions fall: all that the side
    /// can write in an activation is the same each time.
    pub is_fixed: bool,
    /// Nothing in it can fault.
    pub is_safe: bool,
}

impl Side {
    /// The side that the branch did not take, whichever that is: `went` is where it led to.
    pub fn of(program: &Program, flow: &FunctionFlow, branch: u64, went: u64) -> Option<Side> {
        let cfg = flow.cfg();
        let block = cfg.block(flow.block_at(branch)?).filter(|block| block.last == branch)?;
        let Terminator::Branch { taken, not_taken } = block.terminator else { return None };
        let is_there = |id: &BlockId| cfg.block(*id).is_some_and(|block| block.start == went);
        let target = [taken, not_taken].into_iter().find(|id| !is_there(id))?;
        Side::beginning_with(program, flow, branch, target)
    }

    /// The side of a branch or jump that begins with a block.
    pub fn beginning_with(
        program: &Program,
        flow: &FunctionFlow,
        branch: u64,
        target: BlockId,
    ) -> Option<Side> {
        let meeting = flow.reconvergence(branch).and_then(|address| flow.block_at(address));
        Side::from(program, flow, target, meeting)
    }

    fn from(
        program: &Program,
        flow: &FunctionFlow,
        target: BlockId,
        meeting: Option<BlockId>,
    ) -> Option<Side> {
        let cfg = flow.cfg();
        let mut side = Side { is_fixed: cfg.is_complete(), is_safe: true, ..Side::default() };
        let mut seen = BTreeSet::new();
        let mut open = vec![target];
        while let Some(id) = open.pop() {
            if Some(id) == meeting || !seen.insert(id) {
                continue;
            }
            if seen.len() > MOST_BLOCKS {
                return None;
            }
            let block = cfg.block(id)?;
            side.blocks.insert(block.start, id);
            match &block.terminator {
                Terminator::Branch { .. } | Terminator::Switch { .. } => side.decides = true,
                Terminator::Next(_) | Terminator::Return => {}
                Terminator::TailCall { .. } | Terminator::Stop | Terminator::Unknown => side.is_fixed = false,
            }
            if side.is_fixed {
                side.read(program, block.start, block.end);
            }
            open.extend(block.terminator.successors());
        }
        Some(side)
    }

    /// Both sides meet at once: there is nothing on this one.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The block that begins at the address.
    pub fn beginning_at(&self, address: u64) -> Option<BlockId> {
        self.blocks.get(&address).copied()
    }

    pub fn contains(&self, block: BlockId) -> bool {
        self.blocks.values().any(|known| *known == block)
    }

    fn read(&mut self, program: &Program, start: u64, end: u64) {
        let mut at = start;
        let mut ops = Vec::new();
        while at < end && self.is_fixed {
            let bytes = program.file_bytes(at).unwrap_or_default();
            let Decoded::Instruction(instruction) = lift::decode(bytes, at) else {
                self.is_fixed = false;
                return;
            };
            ops.clear();
            lift::lift(&instruction, &mut ops);
            for op in &ops {
                let (is_fixed, is_safe) = effect(op);
                self.is_fixed &= is_fixed;
                self.is_safe &= is_safe;
            }
            at = at.wrapping_add(instruction.len() as u64);
        }
    }
}

/// Whether all that an op may write lies at a fixed place, and whether it cannot fault.
fn effect(op: &Op) -> (bool, bool) {
    // What is found by the frame pointer is elsewhere once that has moved.
    let mut keeps_frame = true;
    op.writes(|reg| keeps_frame &= reg != Reg::RBP);
    match op {
        _ if !keeps_frame => (false, false),
        Op::Load { address, .. } | Op::LoadVector { address, .. } | Op::LoadExtended { address, .. } => {
            (true, is_fixed(address))
        }
        Op::Store { address, .. } | Op::StoreVector { address, .. } | Op::StoreExtended { address, .. } => {
            (is_fixed(address), is_fixed(address))
        }
        Op::Divide { .. } | Op::Vector { .. } | Op::X87 { .. } | Op::CheckMxcsr { .. } => (true, false),
        Op::Jump { target } => (matches!(target, Value::Const(_)), true),
        Op::String { .. }
        | Op::Helper { .. }
        | Op::Call { .. }
        | Op::Return { .. }
        | Op::Syscall
        | Op::Trap(_)
        | Op::Unsupported => (false, false),
        // Others compute slots from slots.
        _ => (true, true),
    }
}

/// At a place that the frame pointer, or nothing, says.
fn is_fixed(address: &Address) -> bool {
    address.segment == Reg::ZERO
        && address.index == Reg::ZERO
        && [Reg::RBP, Reg::ZERO].contains(&address.base)
}
