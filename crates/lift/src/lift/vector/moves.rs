//! Vector instructions that only move data. An XMM register is two slots, so ordinary ops do it.

use super::super::{Lifter, slot_of};
use super::{destination, xmm};
use crate::vector::{BitwiseFunction, LaneFunction};
use crate::{Address, Op, Reg, Size, Value, VectorOp};
use iced_x86::{Code, Mnemonic, OpKind, Register};

pub(super) fn lift(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    match l.instruction.mnemonic() {
        Movaps | Movapd | Movdqa | Movntps | Movntpd | Movntdq => whole(l, true),
        Movups | Movupd | Movdqu => whole(l, false),
        Movss => scalar(l, Size::B4),
        Movsd if xmm(l, 0).or(xmm(l, 1)).is_some() => scalar(l, Size::B8),
        Movd => low(l, Size::B4),
        Movq => low(l, Size::B8),
        Movlps | Movlpd => half(l, Half::Low),
        Movhps | Movhpd => half(l, Half::High),
        Movhlps => {
            let src = second(l).high_half();
            l.emit(Op::Move { dst: destination(l), src: src.into() });
        }
        Movlhps => {
            let src = second(l);
            l.emit(Op::Move { dst: destination(l).high_half(), src: src.into() });
        }
        Pextrw => return extract_word(l),
        Pinsrw => insert_word(l),
        Maskmovdqu => store_masked(l),
        // It only tells the processor that MMX registers are free.
        Emms => {}
        _ => return false,
    }
    true
}

enum Half {
    Low,
    High,
}

/// The slot of the second operand, a register.
fn second(l: &Lifter) -> Reg {
    slot_of(l.instruction.op1_register())
}

/// All 16 bytes; `aligned` is about memory.
fn whole(l: &mut Lifter, aligned: bool) {
    let address = l.address();
    if l.is_memory(0) {
        l.emit(Op::StoreVector { src: second(l), address, aligned });
    } else if l.is_memory(1) {
        l.emit(Op::LoadVector { dst: destination(l), address, aligned });
    } else {
        let (dst, src) = (destination(l), second(l));
        l.emit(Op::Move { dst, src: src.into() });
        l.emit(Op::Move { dst: dst.high_half(), src: src.high_half().into() });
    }
}

/// movss and movsd: between registers the rest is kept, from memory it is cleared.
fn scalar(l: &mut Lifter, size: Size) {
    match (xmm(l, 0), xmm(l, 1)) {
        (Some(dst), Some(src)) if size == Size::B8 => l.emit(Op::Move { dst, src: src.into() }),
        (Some(dst), Some(src)) => l.emit(Op::Insert { size, at: 0, dst, src: src.into() }),
        _ => low(l, size),
    }
}

/// The low bytes to or from anywhere; what is above them in an XMM register is cleared.
fn low(l: &mut Lifter, size: Size) {
    let address = l.address();
    if l.is_memory(0) {
        l.emit(Op::Store { size, src: second(l).into(), address });
        return;
    }
    let dst = destination(l);
    if l.is_memory(1) {
        l.emit(Op::Load { size, dst, address });
    } else if size == Size::B8 {
        l.emit(Op::Move { dst, src: second(l).into() });
    } else {
        l.emit(Op::ZeroExtend { size, dst, src: second(l) });
    }
    if xmm(l, 0).is_some() {
        l.emit(Op::Move { dst: dst.high_half(), src: Value::Const(0) });
    }
}

/// One half to or from memory; the other half is kept.
fn half(l: &mut Lifter, half: Half) {
    let choose = |reg: Reg| match half {
        Half::Low => reg,
        Half::High => reg.high_half(),
    };
    let (size, address) = (Size::B8, l.address());
    if l.is_memory(0) {
        l.emit(Op::Store { size, src: choose(second(l)).into(), address });
    } else {
        l.emit(Op::Load { size, dst: choose(destination(l)), address });
    }
}

/// The slot of the word of `reg` that the immediate chooses, and the byte in it where it begins.
fn word_of(l: &Lifter, reg: Reg) -> (Reg, u8) {
    let word = l.instruction.immediate8() & 7;
    (if word < 4 { reg } else { reg.high_half() }, word % 4 * 2)
}

fn extract_word(l: &mut Lifter) -> bool {
    // SSE4.1 has another encoding, which can store to memory.
    if !matches!(l.instruction.code(), Code::Pextrw_r32_xmm_imm8 | Code::Pextrw_r64_xmm_imm8) {
        return false;
    }
    let (src, at) = word_of(l, second(l));
    l.emit(Op::Extract { size: Size::B2, at, dst: destination(l), src });
    true
}

fn insert_word(l: &mut Lifter) {
    let src = if l.is_memory(1) { l.load(Size::B2) } else { second(l) };
    let (dst, at) = word_of(l, destination(l));
    l.emit(Op::Insert { size: Size::B2, at, dst, src: src.into() });
}

/// maskmovdqu stores those bytes whose mask is negative. Here the other bytes are stored as well, as
/// they were: no difference to a program of one thread, and the processor too may fault on
/// bytes that it does not write.
fn store_masked(l: &mut Lifter) {
    let (src, mask) = (second(l), slot_of(l.instruction.op2_register()));
    let address = Address {
        segment: match l.instruction.memory_segment() {
            Register::FS => Reg::FS_BASE,
            Register::GS => Reg::GS_BASE,
            _ => Reg::ZERO,
        },
        narrow: l.instruction.op0_kind() == OpKind::MemorySegEDI,
        ..Address::register(Reg::RDI)
    };
    let (old, chosen) = (l.vector_temp(), l.vector_temp());
    l.emit(Op::LoadVector { dst: old, address, aligned: false });
    for dst in [chosen, chosen.high_half()] {
        l.emit(Op::Move { dst, src: Value::Const(0) });
    }
    let mut vector = |op, dst, a, b| l.emit(Op::Vector { op, dst, a, b, imm: 0 });
    // All ones in the chosen bytes: zero is greater than their mask.
    vector(VectorOp::Lanes(LaneFunction::GreaterSigned, Size::B1), chosen, chosen, mask);
    vector(VectorOp::Bitwise(BitwiseFunction::AndNot), old, chosen, old);
    vector(VectorOp::Bitwise(BitwiseFunction::And), chosen, chosen, src);
    vector(VectorOp::Bitwise(BitwiseFunction::Or), old, old, chosen);
    l.emit(Op::StoreVector { src: old, address, aligned: false });
}
