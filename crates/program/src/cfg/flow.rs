//! What one instruction does to the flow of control, as its ops say.

use lift::{Decoded, Instruction, Op, Reg, Value};

/// An instruction as the graph needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub length: u8,
    pub flow: Flow,
    /// The general registers that it writes, a bit each; of a call, those with its result.
    pub writes: u16,
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// To the next instruction.
    On,
    Jump(u64),
    Branch(u64),
    IndirectJump,
    /// To the next instruction when the callee returns; the target is known of direct calls and of calls
    /// through a slot in memory at a known address.
    Call(Callee),
    Return,
    /// Nowhere: a trap.
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callee {
    Address(u64),
    /// The function whose address is in memory here.
    Slot(u64),
    Unknown,
}

const ALL_BUT_STACK_POINTER: u16 = !(1 << Reg::RSP.0);

/// Decodes the instruction at the start of `bytes`; `None` when there is none. `ops` is left with its ops.
pub(super) fn step(bytes: &[u8], address: u64, ops: &mut Vec<Op>) -> Option<Step> {
    let Decoded::Instruction(instruction) = lift::decode(bytes, address) else { return None };
    let flow = flow(&instruction, ops);
    let length = u8::try_from(instruction.len()).ok().filter(|length| *length > 0)?;
    Some(Step { length, flow, writes: ops.iter().map(writes).fold(0, |all, one| all | one) })
}

/// Where control goes after an instruction. `ops` is left with its ops.
pub(super) fn flow(instruction: &Instruction, ops: &mut Vec<Op>) -> Flow {
    ops.clear();
    lift::lift(instruction, ops);
    match ops.last() {
        Some(Op::Jump { target: Value::Const(target) }) => Flow::Jump(*target),
        Some(Op::Jump { .. }) => Flow::IndirectJump,
        Some(Op::Branch { taken, .. }) => Flow::Branch(*taken),
        Some(Op::Call { target: Value::Const(target), .. }) => Flow::Call(Callee::Address(*target)),
        Some(Op::Call { target: Value::Reg(target), .. }) => Flow::Call(slot(ops, *target)),
        Some(Op::Return { .. }) => Flow::Return,
        Some(Op::Trap(_)) => Flow::Stop,
        Some(Op::Unsupported) if !lift::goes_on(instruction) => Flow::Stop,
        _ => Flow::On,
    }
}

/// The slot at a known address that `target` was loaded from, by the same instruction.
pub(super) fn slot(ops: &[Op], target: Reg) -> Callee {
    let loaded = ops.iter().rev().find_map(|op| match op {
        Op::Load { dst, address, .. } if *dst == target => Some(address),
        _ => None,
    });
    match loaded {
        Some(address) if [address.segment, address.base, address.index] == [Reg::ZERO; 3] => {
            Callee::Slot(address.displacement as u64)
        }
        _ => Callee::Unknown,
    }
}

/// The general registers that an op writes.
fn writes(op: &Op) -> u16 {
    match op {
        Op::Call { .. } => RESULTS,
        // What is not lifted may write anything.
        Op::Unsupported => ALL_BUT_STACK_POINTER,
        _ => {
            let mut written = 0;
            op.writes(|reg| written |= if reg.is_general() { 1 << reg.0 } else { 0 });
            written
        }
    }
}

/// Where a callee leaves its result. It may overwrite more, but then the code does not ask for those registers
/// afterwards: compilers know which registers a function of the same object leaves alone.
const RESULTS: u16 = 1 << Reg::RAX.0 | 1 << Reg::RDX.0;
