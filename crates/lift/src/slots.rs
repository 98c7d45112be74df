//! Which slots an op reads and writes: the one listing for every reader that follows values through registers.
//!
//! Slots are named whole. What a vector function does byte by byte says [`crate::VectorOp::dependence`], and an op with a
//! size reads or writes that many low bytes.

use crate::vector::{VectorOperand, VectorResult};
use crate::x87::{X87Operand, X87Result};
use crate::{Address, FlagKind, Op, Reg, Repeat, StringKind, StringResult, Value, X87Op};

const FLAGS: [Reg; 4] = [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C];

/// The registers of a system call: its number and arguments.
const CALL_ARGUMENTS: [Reg; 7] = [Reg::RAX, Reg::RDI, Reg::RSI, Reg::RDX, Reg::R10, Reg::R8, Reg::R9];
/// What the processor and the kernel overwrite in a system call.
const CALL_RESULTS: [Reg; 3] = [Reg::RAX, Reg::RCX, Reg::R11];

impl Op {
    /// Calls `each` with every slot whose value this op uses. The slot that is always zero is none.
    pub fn reads(&self, mut each: impl FnMut(Reg)) {
        let mut read = |reg: Reg| {
            if reg != Reg::ZERO {
                each(reg);
            }
        };
        match *self {
            Op::Move { src, .. } => value(src, &mut read),
            Op::Binary { a, b, .. } => {
                read(a);
                value(b, &mut read);
            }
            Op::Ternary { a, b, c, .. } => {
                read(a);
                read(b);
                value(c, &mut read);
            }
            Op::Unary { src, .. }
            | Op::ZeroExtend { src, .. }
            | Op::SignExtend { src, .. }
            | Op::Extract { src, .. }
            | Op::IsZero { src, .. }
            | Op::CheckMxcsr { src } => read(src),
            Op::Insert { dst, src, .. } => {
                read(dst);
                value(src, &mut read);
            }
            Op::Divide { high, low, divisor, .. } => [high, low, divisor].into_iter().for_each(read),
            Op::Lea { address, .. }
            | Op::Load { address, .. }
            | Op::LoadVector { address, .. }
            | Op::LoadExtended { address, .. } => {
                parts(&address, &mut read);
            }
            Op::Store { src, address, .. } => {
                value(src, &mut read);
                parts(&address, &mut read);
            }
            Op::StoreVector { src, address, .. } | Op::StoreExtended { src, address } => {
                read(src);
                read(src.high_half());
                parts(&address, &mut read);
            }
            Op::Flags { kind, a, b, c, .. } => {
                read(a);
                value(b, &mut read);
                read(c);
                if kind.keeps_flags() {
                    FLAGS.into_iter().for_each(read);
                }
            }
            Op::ReadFlags { .. } | Op::Carry { .. } | Op::Test { .. } => FLAGS.into_iter().for_each(read),
            Op::Select { condition, yes, no, .. } => [condition, yes, no].into_iter().for_each(read),
            Op::Vector { op, a, b, .. } => {
                operand(op.a(), a, &mut read);
                operand(op.b(), b, &mut read);
                if op.uses_mxcsr() {
                    read(Reg::MXCSR);
                }
            }
            Op::X87 { op, a, b, .. } => {
                x87_operand(op.a(), a, &mut read);
                x87_operand(op.b(), b, &mut read);
                [Reg::X87_CONTROL, Reg::X87_FLAGS, Reg::X87_CODES].into_iter().for_each(&mut read);
                if op == X87Op::StatusWord {
                    read(Reg::X87_TOP);
                }
            }
            Op::Rotate { .. } => {
                read(Reg::X87_TOP);
                x87_registers(&mut read);
            }
            Op::CompareStrings { a, b, a_length, b_length, .. } => {
                [a, a.high_half(), b, b.high_half(), a_length, b_length].into_iter().for_each(read);
            }
            Op::String { kind, repeat, segment, .. } => {
                read(segment);
                string_reads(kind, repeat, &mut read);
            }
            Op::Helper { helper, address } => {
                parts(&address, &mut read);
                helper.effects().reads.into_iter().for_each(read);
            }
            Op::Jump { target } | Op::Call { target, .. } => value(target, &mut read),
            Op::Return { target } => read(target),
            Op::Branch { condition, .. } => read(condition),
            Op::Syscall => {
                // r11 gets RFLAGS.
                let flags = FLAGS.into_iter().chain([Reg::DIRECTION, Reg::SYSTEM_FLAGS]);
                CALL_ARGUMENTS.into_iter().chain(flags).for_each(read);
            }
            Op::Trap(_) | Op::Unsupported => {}
        }
    }

    /// Calls `each` with every slot that this op gives a value.
    pub fn writes(&self, mut each: impl FnMut(Reg)) {
        match *self {
            Op::Move { dst, .. }
            | Op::Binary { dst, .. }
            | Op::Ternary { dst, .. }
            | Op::Unary { dst, .. }
            | Op::ZeroExtend { dst, .. }
            | Op::SignExtend { dst, .. }
            | Op::Insert { dst, .. }
            | Op::Extract { dst, .. }
            | Op::Lea { dst, .. }
            | Op::Load { dst, .. }
            | Op::ReadFlags { dst }
            | Op::Carry { dst }
            | Op::Test { dst, .. }
            | Op::IsZero { dst, .. }
            | Op::Select { dst, .. } => each(dst),
            Op::Divide { quotient, remainder, .. } => [quotient, remainder].into_iter().for_each(each),
            Op::LoadVector { dst, .. } | Op::LoadExtended { dst, .. } => {
                [dst, dst.high_half()].into_iter().for_each(each);
            }
            Op::X87 { op, dst, .. } => {
                match op.result() {
                    X87Result::None => {}
                    X87Result::Slot => each(dst),
                    X87Result::Register | X87Result::Number(_) => {
                        each(dst);
                        each(dst.high_half());
                    }
                }
                if op.tells() {
                    each(Reg::X87_FLAGS);
                    each(Reg::X87_CODES);
                }
            }
            Op::Rotate { .. } => {
                each(Reg::X87_TOP);
                x87_registers(&mut each);
            }
            Op::Flags { .. } => FLAGS.into_iter().for_each(each),
            Op::Vector { op, dst, .. } => {
                each(dst);
                if op.result() == VectorResult::Vector {
                    each(dst.high_half());
                }
                if op.uses_mxcsr() {
                    each(Reg::MXCSR);
                }
            }
            Op::CompareStrings { result, dst, .. } => {
                each(dst);
                if result == StringResult::Mask {
                    each(dst.high_half());
                }
            }
            Op::String { kind, repeat, .. } => string_writes(kind, repeat, &mut each),
            Op::Helper { helper, .. } => helper.effects().writes.into_iter().for_each(each),
            Op::Syscall => CALL_RESULTS.into_iter().for_each(each),
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
    }
}

impl FlagKind {
    /// Whether flags of this kind can be partly, or for a count of zero wholly, those from before.
    pub const fn keeps_flags(self) -> bool {
        match self {
            FlagKind::Shl
            | FlagKind::Shr
            | FlagKind::Sar
            | FlagKind::Rol
            | FlagKind::Ror
            | FlagKind::Rcl
            | FlagKind::Rcr
            | FlagKind::Shld
            | FlagKind::Shrd
            | FlagKind::SetCarry
            | FlagKind::SetZero
            | FlagKind::LoadLow => true,
            FlagKind::Raw
            | FlagKind::Add
            | FlagKind::Adc
            | FlagKind::Sub
            | FlagKind::Sbb
            | FlagKind::Logic
            | FlagKind::Inc
            | FlagKind::Dec
            | FlagKind::Mul
            | FlagKind::Load
            | FlagKind::Compare => false,
        }
    }
}

fn value(value: Value, read: &mut impl FnMut(Reg)) {
    match value {
        Value::Reg(reg) => read(reg),
        Value::Const(_) => {}
    }
}

fn parts(address: &Address, read: &mut impl FnMut(Reg)) {
    read(address.segment);
    read(address.base);
    read(address.index);
}

fn operand(operand: VectorOperand, reg: Reg, read: &mut impl FnMut(Reg)) {
    match operand {
        VectorOperand::None => {}
        VectorOperand::Slot(_) => read(reg),
        VectorOperand::Vector => {
            read(reg);
            read(reg.high_half());
        }
    }
}

fn x87_operand(operand: X87Operand, reg: Reg, read: &mut impl FnMut(Reg)) {
    match operand {
        X87Operand::None => {}
        X87Operand::Slot(_) => read(reg),
        X87Operand::Place if reg == Reg::ZERO => {}
        X87Operand::Place => read(reg.high_half()),
        X87Operand::Register => {
            read(reg);
            read(reg.high_half());
        }
    }
}

fn x87_registers(each: &mut impl FnMut(Reg)) {
    (0..8).flat_map(|n| [Reg::st(n), Reg::st(n).high_half()]).for_each(each);
}

fn string_reads(kind: StringKind, repeat: Repeat, read: &mut impl FnMut(Reg)) {
    read(Reg::DIRECTION);
    pointers(kind).iter().copied().for_each(&mut *read);
    match kind {
        // A load into a part of rax keeps the rest, and no load at all keeps all of it.
        StringKind::Store | StringKind::Scan | StringKind::Load => read(Reg::RAX),
        StringKind::Move | StringKind::Compare => {}
    }
    if repeat != Repeat::Once {
        read(Reg::RCX);
        // With a count of zero the flags stay as they were.
        if matches!(kind, StringKind::Scan | StringKind::Compare) {
            FLAGS.into_iter().for_each(read);
        }
    }
}

fn string_writes(kind: StringKind, repeat: Repeat, write: &mut impl FnMut(Reg)) {
    pointers(kind).iter().copied().for_each(&mut *write);
    match kind {
        StringKind::Load => write(Reg::RAX),
        StringKind::Scan | StringKind::Compare => FLAGS.into_iter().for_each(&mut *write),
        StringKind::Move | StringKind::Store => {}
    }
    if repeat != Repeat::Once {
        write(Reg::RCX);
    }
}

/// The registers that a string instruction walks through memory with.
const fn pointers(kind: StringKind) -> &'static [Reg] {
    match kind {
        StringKind::Move | StringKind::Compare => &[Reg::RSI, Reg::RDI],
        StringKind::Load => &[Reg::RSI],
        StringKind::Store | StringKind::Scan => &[Reg::RDI],
    }
}
