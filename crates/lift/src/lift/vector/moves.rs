//! Vector instructions that only move data. An XMM register is two slots, so ordinary ops do it.

use super::super::{Lifter, slot_of};
use super::{destination, xmm};
use crate::vector::{BitwiseFunction, LaneFunction, Shuffle};
use crate::x87::SIGN_AND_EXPONENT;
use crate::{Address, Binary, Op, Reg, Size, Value, VectorOp};
use iced_x86::{Mnemonic, OpKind, Register};

pub(super) fn lift(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    match l.instruction.mnemonic() {
        Movaps | Movapd | Movdqa | Movntps | Movntpd | Movntdq => whole(l, true),
        Movntdqa => whole(l, true),
        Movups | Movupd | Movdqu | Lddqu => whole(l, false),
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
        Movddup => duplicate(l),
        Movsldup => duplicate_dwords(l, EVEN),
        Movshdup => duplicate_dwords(l, ODD),
        Pextrb => extract(l, Size::B1),
        Pextrw => extract(l, Size::B2),
        Pextrd | Extractps => extract(l, Size::B4),
        Pextrq => extract(l, Size::B8),
        Pinsrb => insert(l, Size::B1),
        Pinsrw => insert(l, Size::B2),
        Pinsrd => insert(l, Size::B4),
        Pinsrq => insert(l, Size::B8),
        Insertps => insert_single(l),
        Maskmovdqu => store_masked(l),
        // MMX registers are those of the x87 unit, which is free again.
        Emms => {
            for dst in (0..8).map(|n| Reg::st(n).high_half()) {
                let (function, b) = (Binary::And, Value::Const(SIGN_AND_EXPONENT));
                l.emit(Op::Binary { function, size: Size::B8, dst, a: dst, b });
            }
        }
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

/// Which 4-byte lanes make up a vector of even or of odd ones, each twice, as pshufd takes them.
const EVEN: u8 = 0b10_10_00_00;
const ODD: u8 = 0b11_11_01_01;

fn duplicate(l: &mut Lifter) {
    let dst = destination(l);
    let src = if l.is_memory(1) { l.load(Size::B8) } else { second(l) };
    l.emit(Op::Move { dst, src: src.into() });
    l.emit(Op::Move { dst: dst.high_half(), src: src.into() });
}

fn duplicate_dwords(l: &mut Lifter, imm: u8) {
    let op = VectorOp::Shuffle(Shuffle::Dwords);
    let b = super::source(l, op);
    l.emit(Op::Vector { op, dst: destination(l), a: Reg::ZERO, b, imm });
}

/// The slot with lane number `lane` of `reg`, and the byte in it where the lane begins.
fn lane_of(reg: Reg, size: Size, lane: u8) -> (Reg, u8) {
    let byte = lane % (16 / size.bytes() as u8) * size.bytes() as u8;
    (if byte < 8 { reg } else { reg.high_half() }, byte % 8)
}

fn extract(l: &mut Lifter, size: Size) {
    let (src, at) = lane_of(second(l), size, l.instruction.immediate8());
    if l.is_memory(0) {
        let (dst, address) = (l.temp(), l.address());
        l.emit(Op::Extract { size, at, dst, src });
        l.emit(Op::Store { size, src: dst.into(), address });
    } else {
        l.emit(Op::Extract { size, at, dst: destination(l), src });
    }
}

fn insert(l: &mut Lifter, size: Size) {
    let src = if l.is_memory(1) { l.load(size) } else { second(l) };
    let (dst, at) = lane_of(destination(l), size, l.instruction.immediate8());
    l.emit(Op::Insert { size, at, dst, src: src.into() });
}

/// insertps: one lane is replaced, and some are cleared.
fn insert_single(l: &mut Lifter) {
    let (size, imm) = (Size::B4, l.instruction.immediate8());
    let src = if l.is_memory(1) {
        l.load(size)
    } else {
        let (src, at) = lane_of(second(l), size, imm >> 6);
        let dst = l.temp();
        l.emit(Op::Extract { size, at, dst, src });
        dst
    };
    let (dst, at) = lane_of(destination(l), size, imm >> 4 & 3);
    l.emit(Op::Insert { size, at, dst, src: src.into() });
    for lane in (0..4).filter(|lane| imm >> lane & 1 != 0) {
        let (dst, at) = lane_of(destination(l), size, lane);
        l.emit(Op::Insert { size, at, dst, src: Value::Const(0) });
    }
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
