//! Instructions that are more than one function of two operands: blends by a third register, dot products, comparisons of
//! strings, checksums.

use super::super::{Lifter, slot_of};
use super::{destination, source};
use crate::vector::{BitwiseFunction, FloatFunction, FloatWidth, ShiftCount, ShiftFunction, Shuffle};
use crate::{FlagKind, Op, Reg, Size, StringResult, Value, VectorOp};
use iced_x86::Mnemonic;

pub(super) fn lift(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    match l.instruction.mnemonic() {
        Pblendvb => blend_by_signs(l, Size::B1),
        Blendvps => blend_by_signs(l, Size::B4),
        Blendvpd => blend_by_signs(l, Size::B8),
        Dpps => dot_product(l, FloatWidth::F32),
        Dppd => dot_product(l, FloatWidth::F64),
        Pcmpistri | Pcmpestri | Pcmpestri64 => compare_strings(l, StringResult::Index, Reg::RCX),
        Pcmpistrm | Pcmpestrm | Pcmpestrm64 => compare_strings(l, StringResult::Mask, Reg::xmm(0)),
        Crc32 => checksum(l),
        _ => return false,
    }
    true
}

const AND: VectorOp = VectorOp::Bitwise(BitwiseFunction::And);
const AND_NOT: VectorOp = VectorOp::Bitwise(BitwiseFunction::AndNot);
const OR: VectorOp = VectorOp::Bitwise(BitwiseFunction::Or);

fn vector(l: &mut Lifter, op: VectorOp, dst: Reg, a: Reg, b: Reg) {
    l.emit(Op::Vector { op, dst, a, b, imm: 0 });
}

/// The lanes of the second operand where those of xmm0 are negative.
fn blend_by_signs(l: &mut Lifter, size: Size) {
    let dst = destination(l);
    let b = source(l, AND);
    let (mask, chosen) = (l.vector_temp(), l.vector_temp());
    let op = VectorOp::Shift(ShiftFunction::RightSigned, size, ShiftCount::Immediate);
    l.emit(Op::Vector { op, dst: mask, a: Reg::xmm(0), b: Reg::ZERO, imm: size.bits() as u8 - 1 });
    vector(l, AND, chosen, mask, b);
    vector(l, AND_NOT, mask, mask, dst);
    vector(l, OR, dst, mask, chosen);
}

/// Lanes that do not take part count as zero; each sum of two is rounded, and the sum goes to some lanes.
fn dot_product(l: &mut Lifter, width: FloatWidth) {
    let dst = destination(l);
    let b = source(l, AND);
    let (mask, x, y) = (l.vector_temp(), l.vector_temp(), l.vector_temp());
    let imm = l.instruction.immediate8();
    let multiply = VectorOp::Float { function: FloatFunction::Mul, width, packed: true };
    let add = VectorOp::Float { function: FloatFunction::Add, width, packed: true };
    set_lanes(l, mask, width.size(), imm >> 4);
    vector(l, AND, x, dst, mask);
    vector(l, AND, y, b, mask);
    vector(l, multiply, x, x, y);
    // Which one of several NaNs is the result is left open; this order of operands is that of processors.
    if width == FloatWidth::F32 {
        shuffle(l, y, x, NEIGHBOURS);
        vector(l, add, x, y, x);
    }
    shuffle(l, y, x, HALVES);
    vector(l, add, x, x, y);
    set_lanes(l, mask, width.size(), imm);
    vector(l, AND, dst, x, mask);
}

/// For a shuffle of 4-byte lanes: neighbours, and halves, in exchange.
const NEIGHBOURS: u8 = 0b10_11_00_01;
const HALVES: u8 = 0b01_00_11_10;

fn shuffle(l: &mut Lifter, dst: Reg, b: Reg, imm: u8) {
    l.emit(Op::Vector { op: VectorOp::Shuffle(Shuffle::Dwords), dst, a: Reg::ZERO, b, imm });
}

/// All ones in the lanes whose bits are set.
fn set_lanes(l: &mut Lifter, dst: Reg, size: Size, lanes: u8) {
    let in_half = 64 / size.bits();
    for (half, dst) in [(0, dst), (1, dst.high_half())] {
        let ones = (0..in_half).filter(|lane| lanes >> (half * in_half + lane) & 1 != 0);
        let value = ones.map(|lane| size.mask() << (lane * size.bits())).sum();
        l.emit(Op::Move { dst, src: Value::Const(value) });
    }
}

fn compare_strings(l: &mut Lifter, result: StringResult, dst: Reg) {
    use Mnemonic::*;
    let a = destination(l);
    // This memory operand, unlike those of all other functions, need not be aligned.
    let b = if l.is_memory(1) {
        let (dst, address) = (l.vector_temp(), l.address());
        l.emit(Op::LoadVector { dst, address, aligned: false });
        dst
    } else {
        slot_of(l.instruction.op1_register())
    };
    let (a_length, b_length) = match l.instruction.mnemonic() {
        Pcmpistri | Pcmpistrm => (Reg::ZERO, Reg::ZERO),
        Pcmpestri64 | Pcmpestrm64 => (Reg::RAX, Reg::RDX),
        _ => (extended(l, Reg::RAX), extended(l, Reg::RDX)),
    };
    let imm = l.instruction.immediate8();
    let flags = l.temp();
    // First, because the result may overwrite an operand.
    let (first, kind) = (StringResult::Flags, FlagKind::Load);
    l.emit(Op::CompareStrings { result: first, dst: flags, a, b, a_length, b_length, imm });
    l.emit(Op::CompareStrings { result, dst, a, b, a_length, b_length, imm });
    l.emit(Op::Flags { kind, size: Size::B8, a: flags, b: Value::Const(0), c: Reg::ZERO });
}

fn extended(l: &mut Lifter, src: Reg) -> Reg {
    let dst = l.temp();
    l.emit(Op::SignExtend { from: Size::B4, to: Size::B8, dst, src });
    dst
}

fn checksum(l: &mut Lifter) {
    let dst = destination(l);
    let op = VectorOp::Checksum(l.size(1));
    let b = l.read_reg(1);
    vector(l, op, dst, dst, b);
}
