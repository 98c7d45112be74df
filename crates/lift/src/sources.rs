//! What a part of an op's result comes from, byte by byte: the reading of ops that dependences are made of.
//!
//! Derived from the op alone, so it holds for every value of its operands; constants are taken into account where
//! they decide (a mask that clears bytes, a shift by whole bytes).

use crate::vector::{VectorOperand, VectorResult};
use crate::x87::{X87Operand, X87Result};
use crate::{Binary, FlagKind, Op, Reg, Size, Turn, Unary, Value, X87Op};

/// Bytes of a slot: bit i is byte i.
pub type Bytes = u8;

/// All bytes of a slot.
pub const WHOLE: Bytes = 0xff;

/// What some bytes of a result come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    slots: [(Option<Reg>, Bytes); Sources::MOST],
    count: usize,
    /// Bytes of the memory that the op loads, from its address on.
    pub memory: u16,
    /// A constant of the instruction is among them.
    pub constant: bool,
}

impl Sources {
    /// Two vector operands and MXCSR, or the flags with three operands.
    const MOST: usize = 8;

    pub fn slots(&self) -> impl Iterator<Item = (Reg, Bytes)> + '_ {
        self.slots.iter().take(self.count).filter_map(|&(reg, bytes)| Some((reg?, bytes)))
    }

    fn slot(&mut self, reg: Reg, bytes: Bytes) {
        if bytes == 0 || reg == Reg::ZERO {
            return;
        }
        if let Some(place) = self.slots.get_mut(self.count) {
            *place = (Some(reg), bytes);
            self.count += 1;
        }
    }

    fn value(&mut self, value: Value, bytes: Bytes) {
        match value {
            Value::Reg(reg) => self.slot(reg, bytes),
            Value::Const(_) => self.constant |= bytes != 0,
        }
    }

    fn flags(&mut self) {
        for reg in [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C] {
            self.slot(reg, WHOLE);
        }
    }
}

impl Op {
    /// What these bytes of `slot`, which the op writes, come from. The address that a load goes by is not among it: whether it
    /// counts is for the reader to say. Nor is what decides whether a string instruction goes on, nor, of x87 registers, where the top
    /// of their stack is, whether they are empty, and how results are rounded: compilers change the control word around every
    /// conversion to an integer.
    pub fn sources(&self, slot: Reg, bytes: Bytes) -> Sources {
        let mut found = Sources::default();
        if bytes == 0 {
            return found;
        }
        match *self {
            Op::Move { src, .. } => found.value(src, bytes),
            Op::Binary { function, size, a, b, .. } => binary(function, size, a, b, bytes, &mut found),
            Op::Ternary { size, a, b, c, .. } => {
                let all = low(size);
                if bytes & all != 0 {
                    found.slot(a, all);
                    found.slot(b, WHOLE);
                    found.value(c, WHOLE);
                }
            }
            Op::Unary { function, size, src, .. } => {
                found.slot(src, unary(function, size, bytes & low(size)));
            }
            Op::ZeroExtend { size, src, .. } => found.slot(src, bytes & low(size)),
            Op::SignExtend { from, to, src, .. } => {
                let bytes = bytes & low(to);
                let sign = if bytes & !low(from) != 0 { top(from) } else { 0 };
                found.slot(src, bytes & low(from) | sign);
            }
            Op::Insert { size, at, dst, src } => {
                let inserted = shifted_left(low(size), at);
                found.slot(dst, bytes & !inserted);
                found.value(src, shifted_right(bytes & inserted, at));
            }
            Op::Extract { size, at, src, .. } => found.slot(src, shifted_left(bytes & low(size), at)),
            Op::Divide { size, high, low: low_half, divisor, .. } => {
                if bytes & low(size) != 0 {
                    for operand in [high, low_half, divisor] {
                        found.slot(operand, low(size));
                    }
                }
            }
            Op::Lea { size, address, .. } => {
                let bytes = up_to(bytes & low(size));
                found.slot(address.segment, bytes);
                found.slot(address.base, bytes);
                found.slot(address.index, bytes);
                found.constant |= bytes != 0 && address.displacement != 0;
            }
            Op::Load { size, .. } => found.memory = u16::from(bytes & low(size)),
            Op::LoadVector { dst, .. } => {
                found.memory = u16::from(bytes) << if slot == dst { 0 } else { 8 };
            }
            Op::LoadExtended { dst, .. } => {
                found.memory = if slot == dst { bytes.into() } else { u16::from(bytes & EXPONENT) << 8 };
            }
            Op::X87 { op, dst, a, b } => x87(op, dst, a, b, slot, bytes, &mut found),
            Op::Rotate { turn } => rotated(turn, slot, bytes, &mut found),
            Op::Flags { kind, size, a, b, c } => flag_record(kind, size, a, b, c, slot, &mut found),
            Op::ReadFlags { .. } | Op::Carry { .. } | Op::Test { .. } => found.flags(),
            Op::IsZero { size, src, .. } => found.slot(src, if bytes & 1 != 0 { low(size) } else { 0 }),
            Op::Select { size, condition, yes, no, .. } => {
                let bytes = bytes & low(size);
                if bytes != 0 {
                    found.slot(condition, 1);
                    found.slot(yes, bytes);
                    found.slot(no, bytes);
                }
            }
            Op::Vector { op, dst, a, b, imm } => {
                if slot == Reg::MXCSR {
                    found.slot(Reg::MXCSR, WHOLE);
                    operand(op.a(), a, u16::MAX, &mut found);
                    operand(op.b(), b, u16::MAX, &mut found);
                    return found;
                }
                let first =
                    if op.result() == VectorResult::Vector && slot == dst.high_half() { 8 } else { 0 };
                let (mut of_a, mut of_b) = (0, 0);
                for byte in (0..8).filter(|byte| bytes & 1 << byte != 0) {
                    let dependence = op.dependence(imm, first + byte);
                    of_a |= dependence.a;
                    of_b |= dependence.b;
                }
                operand(op.a(), a, of_a, &mut found);
                operand(op.b(), b, of_b, &mut found);
                found.constant |= op.reads_immediate();
                if op.uses_mxcsr() {
                    found.slot(Reg::MXCSR, WHOLE);
                }
            }
            Op::CompareStrings { .. } => {
                self.reads(|reg| found.slot(reg, WHOLE));
                found.constant = true;
            }
            Op::String { .. } | Op::Helper { .. } | Op::Syscall => {
                // Everything may come from everything.
                self.reads(|reg| found.slot(reg, WHOLE));
                found.memory = u16::MAX;
            }
            Op::Store { .. }
            | Op::StoreVector { .. }
            | Op::StoreExtended { .. }
            | Op::CheckMxcsr { .. }
            | Op::Jump { .. }
            | Op::Call { .. }
            | Op::Return { .. }
            | Op::Branch { .. }
            | Op::Trap(_)
            | Op::Unsupported => {}
        }
        found
    }
}

fn binary(function: Binary, size: Size, a: Reg, b: Value, bytes: Bytes, found: &mut Sources) {
    let bytes = bytes & low(size);
    if bytes == 0 {
        return;
    }
    let same = b == Value::Reg(a);
    match (function, b) {
        // Zero, whatever the operand.
        (Binary::Xor | Binary::Sub, _) if same => {}
        (Binary::And, Value::Const(mask)) => {
            found.slot(a, bytes & nonzero(mask));
            found.constant = true;
        }
        (Binary::Or, Value::Const(mask)) => {
            found.slot(a, bytes & nonzero(!mask));
            found.constant = true;
        }
        (Binary::And | Binary::Or | Binary::Xor, _) => {
            found.slot(a, bytes);
            found.value(b, bytes);
        }
        (Binary::Add | Binary::Sub | Binary::Mul, _) => {
            found.slot(a, up_to(bytes));
            found.value(b, up_to(bytes));
        }
        (Binary::Shl, Value::Const(count)) => {
            let (whole, rest) = whole_bytes(count, size);
            let from = shifted_right(bytes, whole);
            found.slot(a, if rest { from | from >> 1 } else { from } & low(size));
            found.constant = true;
        }
        (Binary::Shr, Value::Const(count)) => {
            let (whole, rest) = whole_bytes(count, size);
            let from = shifted_left(bytes, whole);
            found.slot(a, if rest { from | from << 1 } else { from } & low(size));
            found.constant = true;
        }
        (Binary::Shl, Value::Reg(count)) => {
            found.slot(a, up_to(bytes));
            found.slot(count, 1);
        }
        (Binary::Sar | Binary::Shr | Binary::Rol | Binary::Ror, _) => {
            found.slot(a, low(size));
            found.value(b, 1);
        }
        (Binary::MulHighUnsigned | Binary::MulHighSigned, _) => {
            found.slot(a, low(size));
            found.value(b, low(size));
        }
    }
}

fn unary(function: Unary, size: Size, bytes: Bytes) -> Bytes {
    match function {
        Unary::Not => bytes,
        Unary::Neg => up_to(bytes),
        Unary::ByteSwap => bytes.reverse_bits() >> (8 - size.bytes()),
        Unary::BitScanForward | Unary::BitScanReverse | Unary::CountOnes => {
            if bytes & 1 != 0 {
                low(size)
            } else {
                0
            }
        }
    }
}

/// The record keeps operands, so that each of its parts comes from one of them; kinds that are computed at once come
/// from all, and from the record before.
fn flag_record(kind: FlagKind, size: Size, a: Reg, b: Value, c: Reg, slot: Reg, found: &mut Sources) {
    if kind.keeps_flags() {
        found.flags();
    }
    let at_once = kind as u8 > FlagKind::Mul as u8;
    let all = low(size);
    if at_once || slot == Reg::FLAG_KIND {
        // Which kind it is, is a constant, unless a count of zero keeps the record.
        if at_once || kind.keeps_flags() {
            found.slot(a, WHOLE);
            found.value(b, WHOLE);
            found.slot(c, WHOLE);
        }
        return;
    }
    match slot {
        Reg::FLAG_A => found.slot(a, all),
        Reg::FLAG_B => found.value(b, all),
        Reg::FLAG_C => found.slot(c, WHOLE),
        _ => {}
    }
    if kind.keeps_flags() {
        // A count of zero keeps the record.
        found.value(b, 1);
    }
}

fn operand(operand: VectorOperand, reg: Reg, bytes: u16, found: &mut Sources) {
    match operand {
        VectorOperand::None => {}
        VectorOperand::Slot(size) => found.slot(reg, bytes as u8 & low(size)),
        VectorOperand::Vector => {
            found.slot(reg, bytes as u8);
            found.slot(reg.high_half(), (bytes >> 8) as u8);
        }
    }
}

/// The bytes of sign and exponent in the upper slot of an x87 register.
const EXPONENT: Bytes = 0b11;

fn x87(op: X87Op, dst: Reg, a: Reg, b: Reg, slot: Reg, bytes: Bytes, found: &mut Sources) {
    let is_status = slot == dst.high_half() && matches!(op.result(), X87Result::Number(_));
    if slot == Reg::X87_FLAGS || is_status {
        found.slot(Reg::X87_FLAGS, WHOLE);
    }
    if slot == Reg::X87_CODES && !op.defines_codes() || is_status {
        found.slot(Reg::X87_CODES, WHOLE);
    }
    match op.result() {
        X87Result::Register if op.is_copy() && slot == dst => found.slot(a, bytes),
        X87Result::Register if op.is_copy() && slot == dst.high_half() => {
            found.slot(a.high_half(), bytes & EXPONENT);
        }
        // That a register is in use is no property of the number in it.
        X87Result::Register if slot == dst.high_half() && bytes & EXPONENT == 0 => {}
        X87Result::Slot if op == X87Op::StatusWord => {
            found.slot(Reg::X87_FLAGS, bytes);
            found.slot(Reg::X87_CODES, bytes);
        }
        X87Result::Number(size) if slot == dst && bytes & low(size) == 0 => {}
        _ => {
            for (operand, reg) in [(op.a(), a), (op.b(), b)] {
                match operand {
                    X87Operand::None | X87Operand::Place => {}
                    X87Operand::Slot(size) => found.slot(reg, low(size)),
                    X87Operand::Register => {
                        found.slot(reg, WHOLE);
                        found.slot(reg.high_half(), EXPONENT);
                    }
                }
            }
            found.constant |= matches!(op, X87Op::Constant(_));
        }
    }
}

fn rotated(turn: Turn, slot: Reg, bytes: Bytes, found: &mut Sources) {
    if !slot.is_st() {
        found.slot(slot, bytes);
    } else if (slot.0 - Reg::st(0).0).is_multiple_of(2) {
        found.slot(turn.source(slot), bytes);
    } else {
        found.slot(turn.source(Reg(slot.0 - 1)).high_half(), bytes);
    }
}

/// The low bytes of a size.
pub const fn low(size: Size) -> Bytes {
    (0xffu16 >> (8 - size.bytes())) as u8
}

/// The highest byte of a size.
const fn top(size: Size) -> Bytes {
    1 << (size.bytes() - 1)
}

/// The highest of these bytes and all below it: what a carry can come from.
const fn up_to(bytes: Bytes) -> Bytes {
    if bytes == 0 { 0 } else { 0xff >> bytes.leading_zeros() }
}

const fn shifted_left(bytes: Bytes, count: u8) -> Bytes {
    if count < 8 { bytes << count } else { 0 }
}

const fn shifted_right(bytes: Bytes, count: u8) -> Bytes {
    if count < 8 { bytes >> count } else { 0 }
}

/// The bytes of a constant that are not zero.
fn nonzero(constant: u64) -> Bytes {
    (0..8).filter(|byte| constant >> (8 * byte) & 0xff != 0).map(|byte| 1 << byte).sum()
}

/// By how many whole bytes a shift by a constant goes, and whether by some bits more.
const fn whole_bytes(count: u64, size: Size) -> (u8, bool) {
    let count = count & if matches!(size, Size::B8) { 63 } else { 31 };
    ((count / 8) as u8, !count.is_multiple_of(8))
}
