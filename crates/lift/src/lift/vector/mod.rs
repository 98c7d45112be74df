//! SSE to SSE4.2. The forms of these instructions are regular: most apply one function of the table
//! to the first operand, which is also the destination, and the second. What only moves data is
//! in `moves`, what takes several functions in `composed`.
//!
//! MMX shares many of the names; its registers are not supported.

mod composed;
mod functions;
mod moves;

use super::{Lifter, slot_of};
use crate::vector::{LaneFunction, VectorOperand};
use crate::{FlagKind, Op, Reg, Size, Value, VectorOp};
use iced_x86::Register;

pub(super) fn lift(l: &mut Lifter) -> bool {
    if (0..l.instruction.op_count()).any(|n| l.is_register(n) && l.instruction.op_register(n).is_mm()) {
        return false;
    }
    if moves::lift(l) || composed::lift(l) {
        return true;
    }
    let Some(op) = functions::function_of(&l.instruction) else { return false };
    match (op, constant_of_equal_operands(op)) {
        (VectorOp::CompareFlags { .. } | VectorOp::TestBits, _) => compare(l, op),
        (_, Some(half))
            if l.is_register(1) && l.instruction.op_register(0) == l.instruction.op_register(1) =>
        {
            let dst = destination(l);
            l.emit(Op::Move { dst, src: Value::Const(half) });
            l.emit(Op::Move { dst: dst.high_half(), src: Value::Const(half) });
        }
        _ => apply(l, op),
    }
    true
}

/// What both halves of the result are when both operands are the same register: such an
/// instruction makes a constant and depends on nothing.
fn constant_of_equal_operands(op: VectorOp) -> Option<u64> {
    match op {
        VectorOp::Bitwise(crate::vector::BitwiseFunction::Xor) => Some(0),
        VectorOp::Lanes(LaneFunction::Sub | LaneFunction::GreaterSigned, _) => Some(0),
        VectorOp::Lanes(LaneFunction::Equal, _) => Some(u64::MAX),
        _ => None,
    }
}

/// The first operand becomes the function of itself and the second.
fn apply(l: &mut Lifter, op: VectorOp) {
    let dst = destination(l);
    let a = match op.a() {
        VectorOperand::None => Reg::ZERO,
        VectorOperand::Slot(_) | VectorOperand::Vector => dst,
    };
    let b = source(l, op);
    let imm = if op.reads_immediate() { l.instruction.immediate8() } else { 0 };
    l.emit(Op::Vector { op, dst, a, b, imm });
}

/// comis, ucomis and ptest
fn compare(l: &mut Lifter, op: VectorOp) {
    let (dst, a) = (l.temp(), destination(l));
    let b = source(l, op);
    l.emit(Op::Vector { op, dst, a, b, imm: 0 });
    let (kind, size) = (FlagKind::Compare, Size::B8);
    l.emit(Op::Flags { kind, size, a: dst, b: Value::Const(0), c: Reg::ZERO });
}

/// The second operand as the function's `b`.
fn source(l: &mut Lifter, op: VectorOp) -> Reg {
    match op.b() {
        VectorOperand::None => Reg::ZERO,
        // The count of a shift is a slot, but it is fetched as 16 aligned bytes.
        VectorOperand::Slot(size) if l.is_memory(1) && l.memory_bytes() != 16 => l.load(size),
        VectorOperand::Slot(_) | VectorOperand::Vector if l.is_memory(1) => {
            let (dst, address) = (l.vector_temp(), l.address());
            l.emit(Op::LoadVector { dst, address, aligned: true });
            dst
        }
        VectorOperand::Slot(_) | VectorOperand::Vector => slot_of(l.instruction.op1_register()),
    }
}

/// The slot of the first operand, a register.
fn destination(l: &Lifter) -> Reg {
    slot_of(l.instruction.op0_register())
}

/// The first slot of an operand that is an XMM register.
fn xmm(l: &Lifter, operand: u32) -> Option<Reg> {
    let register = if l.is_register(operand) { l.instruction.op_register(operand) } else { Register::None };
    register.is_xmm().then(|| slot_of(register))
}

#[cfg(test)]
mod tests;
