//! Addition to division, logic, comparison, and the compare-and-exchange family.

use super::Lifter;
use crate::{Binary, FlagKind, Op, Reg, Size, Unary, Value};
use iced_x86::{Mnemonic, OpKind};

pub(super) fn lift(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    match l.instruction.mnemonic() {
        Add => two_operand(l, Binary::Add, FlagKind::Add),
        Sub => two_operand(l, Binary::Sub, FlagKind::Sub),
        And => logic(l, Binary::And),
        Or => logic(l, Binary::Or),
        Xor => exclusive_or(l),
        Adc => with_carry(l, Binary::Add, FlagKind::Adc),
        Sbb => with_carry(l, Binary::Sub, FlagKind::Sbb),
        Cmp => compare(l),
        Test => test(l),
        Inc => step(l, Binary::Add, FlagKind::Inc),
        Dec => step(l, Binary::Sub, FlagKind::Dec),
        Neg => negate(l),
        Not => invert(l),
        Mul => multiply_wide(l, Binary::MulHighUnsigned),
        Imul if l.instruction.op_count() == 1 => multiply_wide(l, Binary::MulHighSigned),
        Imul => multiply(l),
        Div => divide(l, false),
        Idiv => divide(l, true),
        Xadd => exchange_add(l),
        Cmpxchg => compare_exchange(l),
        Cmpxchg8b => compare_exchange_8(l),
        Cmpxchg16b => compare_exchange_16(l),
        _ => return false,
    }
    true
}

fn flags(l: &mut Lifter, kind: FlagKind, size: Size, a: Reg, b: impl Into<Value>) {
    l.emit(Op::Flags { kind, size, a, b: b.into(), c: Reg::ZERO });
}

/// add and sub: the flags are recorded from the operands, before a register destination changes
/// and after a memory destination is stored, because the store may fault.
fn two_operand(l: &mut Lifter, function: Binary, kind: FlagKind) {
    let size = l.size(0);
    let (a, b) = (l.read_reg(0), l.read(1));
    let dst = l.target(0);
    if l.is_memory(0) {
        l.emit(Op::Binary { function, size, dst, a, b });
        l.write_back(0, dst);
        flags(l, kind, size, a, b);
    } else {
        flags(l, kind, size, a, b);
        l.emit(Op::Binary { function, size, dst, a, b });
        l.write_back(0, dst);
    }
}

fn logic(l: &mut Lifter, function: Binary) {
    let size = l.size(0);
    let (a, b) = (l.read_reg(0), l.read(1));
    let dst = l.target(0);
    l.emit(Op::Binary { function, size, dst, a, b });
    l.write_back(0, dst);
    flags(l, FlagKind::Logic, size, dst, Value::Const(0));
}

/// `xor r,r` depends on nothing: it is the constant 0.
fn exclusive_or(l: &mut Lifter) {
    let same = l.instruction.op1_kind() == OpKind::Register
        && l.instruction.op0_kind() == OpKind::Register
        && l.instruction.op0_register() == l.instruction.op1_register();
    if !same {
        return logic(l, Binary::Xor);
    }
    let size = l.size(0);
    l.write(0, Value::Const(0));
    flags(l, FlagKind::Logic, size, Reg::ZERO, Value::Const(0));
}

fn with_carry(l: &mut Lifter, function: Binary, kind: FlagKind) {
    let size = l.size(0);
    let (a, b) = (l.read_reg(0), l.read(1));
    let carry = l.carry();
    let partial = l.binary(function, size, a, b);
    let dst = l.temp();
    l.emit(Op::Binary { function, size, dst, a: partial, b: carry.into() });
    let record = Op::Flags { kind, size, a, b, c: carry };
    if l.is_memory(0) {
        l.write(0, dst.into());
        l.emit(record);
    } else {
        l.emit(record);
        l.write(0, dst.into());
    }
}

fn compare(l: &mut Lifter) {
    let size = l.size(0);
    let (a, b) = (l.read_reg(0), l.read(1));
    flags(l, FlagKind::Sub, size, a, b);
}

fn test(l: &mut Lifter) {
    let size = l.size(0);
    let (a, b) = (l.read_reg(0), l.read(1));
    let result = if b == Value::Reg(a) { a } else { l.binary(Binary::And, size, a, b) };
    flags(l, FlagKind::Logic, size, result, Value::Const(0));
}

/// inc and dec keep the carry flag.
fn step(l: &mut Lifter, function: Binary, kind: FlagKind) {
    let size = l.size(0);
    let a = l.read_reg(0);
    let carry = l.carry();
    let one = Value::Const(1);
    let dst = l.target(0);
    let record = Op::Flags { kind, size, a, b: one, c: carry };
    if l.is_memory(0) {
        l.emit(Op::Binary { function, size, dst, a, b: one });
        l.write_back(0, dst);
        l.emit(record);
    } else {
        l.emit(record);
        l.emit(Op::Binary { function, size, dst, a, b: one });
        l.write_back(0, dst);
    }
}

fn negate(l: &mut Lifter) {
    let size = l.size(0);
    let src = l.read_reg(0);
    let dst = l.temp();
    l.emit(Op::Unary { function: Unary::Neg, size, dst, src });
    if l.is_memory(0) {
        l.write(0, dst.into());
        flags(l, FlagKind::Sub, size, Reg::ZERO, src);
    } else {
        flags(l, FlagKind::Sub, size, Reg::ZERO, src);
        l.write(0, dst.into());
    }
}

fn invert(l: &mut Lifter) {
    let size = l.size(0);
    let src = l.read_reg(0);
    let dst = l.target(0);
    l.emit(Op::Unary { function: Unary::Not, size, dst, src });
    l.write_back(0, dst);
}

/// CF and OF say whether `high` is more than the extension of `low`.
fn product_flags(l: &mut Lifter, size: Size, low: Reg, high: Reg, signed: bool) {
    let overflow = if signed {
        let last_bit = Value::Const(size.bits() as u64 - 1);
        let sign = if size == Size::B1 {
            // A shift of a byte by 7 stays within the 5-bit count mask.
            l.binary(Binary::Sar, size, low, Value::Const(7))
        } else {
            l.binary(Binary::Sar, size, low, last_bit)
        };
        l.binary(Binary::Xor, size, high, sign)
    } else {
        high
    };
    flags(l, FlagKind::Mul, size, low, overflow);
}

/// mul and one-operand imul: rdx:rax (ax for bytes) = rax * operand.
fn multiply_wide(l: &mut Lifter, high_function: Binary) {
    let size = l.size(0);
    let signed = high_function == Binary::MulHighSigned;
    let b = l.read_reg(0);
    let low = l.binary(Binary::Mul, size, Reg::RAX, b);
    let high = l.binary(high_function, size, Reg::RAX, b);
    product_flags(l, size, low, high, signed);
    match size {
        Size::B1 => {
            l.emit(Op::Insert { size, at: 0, dst: Reg::RAX, src: low.into() });
            l.emit(Op::Insert { size, at: 1, dst: Reg::RAX, src: high.into() });
        }
        Size::B2 => {
            l.emit(Op::Insert { size, at: 0, dst: Reg::RAX, src: low.into() });
            l.emit(Op::Insert { size, at: 0, dst: Reg::RDX, src: high.into() });
        }
        _ => {
            l.emit(Op::Move { dst: Reg::RAX, src: low.into() });
            l.emit(Op::Move { dst: Reg::RDX, src: high.into() });
        }
    }
}

/// imul with two or three operands.
fn multiply(l: &mut Lifter) {
    let size = l.size(0);
    let (first, second) = if l.instruction.op_count() == 3 { (1, 2) } else { (0, 1) };
    let (a, b) = (l.read_reg(first), l.read(second));
    let low = l.binary(Binary::Mul, size, a, b);
    let high = l.binary(Binary::MulHighSigned, size, a, b);
    product_flags(l, size, low, high, true);
    l.write(0, low.into());
}

fn divide(l: &mut Lifter, signed: bool) {
    let size = l.size(0);
    let divisor = l.read_reg(0);
    let (quotient, remainder) = (l.temp(), l.temp());
    let (high, low) = if size == Size::B1 {
        let ah = l.temp();
        l.emit(Op::Extract { size, at: 1, dst: ah, src: Reg::RAX });
        (ah, Reg::RAX)
    } else {
        (Reg::RDX, Reg::RAX)
    };
    l.emit(Op::Divide { signed, size, quotient, remainder, high, low, divisor });
    match size {
        Size::B1 => {
            l.emit(Op::Insert { size, at: 0, dst: Reg::RAX, src: quotient.into() });
            l.emit(Op::Insert { size, at: 1, dst: Reg::RAX, src: remainder.into() });
        }
        Size::B2 => {
            l.emit(Op::Insert { size, at: 0, dst: Reg::RAX, src: quotient.into() });
            l.emit(Op::Insert { size, at: 0, dst: Reg::RDX, src: remainder.into() });
        }
        _ => {
            l.emit(Op::Move { dst: Reg::RAX, src: quotient.into() });
            l.emit(Op::Move { dst: Reg::RDX, src: remainder.into() });
        }
    }
}

fn exchange_add(l: &mut Lifter) {
    let size = l.size(0);
    let (old, addend) = (l.read_reg(0), l.read_reg(1));
    let sum = l.binary(Binary::Add, size, old, addend);
    let (old, addend) = (zero_extend(l, size, old), zero_extend(l, size, addend));
    if l.is_memory(0) {
        l.write(0, sum.into());
        flags(l, FlagKind::Add, size, old, addend);
        l.write(1, old.into());
    } else {
        flags(l, FlagKind::Add, size, old, addend);
        l.write(1, old.into());
        l.write(0, sum.into());
    }
}

fn zero_extend(l: &mut Lifter, size: Size, src: Reg) -> Reg {
    let dst = l.temp();
    l.emit(Op::ZeroExtend { size, dst, src });
    dst
}

/// Whether the low `size` bytes of a and b are equal, as a bit; leaves the flags alone, so that
/// it can come before a store that may fault.
fn equal(l: &mut Lifter, size: Size, a: Reg, b: Reg) -> Reg {
    let difference = l.binary(Binary::Xor, size, a, b);
    let dst = l.temp();
    l.emit(Op::IsZero { size, dst, src: difference });
    dst
}

fn compare_exchange(l: &mut Lifter) {
    let size = l.size(0);
    let (old, new) = (l.read_reg(0), l.read_reg(1));
    let equal = equal(l, size, Reg::RAX, old);
    let stored = l.select(size, equal, new, old);
    // The accumulator is written only on a mismatch: a match must not clear its upper half.
    let wide_old = zero_extend(l, size, old);
    let accumulator = match size {
        Size::B4 => l.select(Size::B8, equal, Reg::RAX, wide_old),
        _ => l.select(size, equal, Reg::RAX, wide_old),
    };
    // A register destination keeps its upper half on a mismatch, too.
    let whole = match size {
        Size::B4 if !l.is_memory(0) => l.select(Size::B8, equal, stored, old),
        _ => stored,
    };
    if l.is_memory(0) {
        l.write(0, whole.into());
    }
    flags(l, FlagKind::Sub, size, Reg::RAX, old);
    match size {
        Size::B1 | Size::B2 => l.emit(Op::Insert { size, at: 0, dst: Reg::RAX, src: accumulator.into() }),
        _ => l.emit(Op::Move { dst: Reg::RAX, src: accumulator.into() }),
    }
    // After the accumulator, which can be the destination itself.
    if !l.is_memory(0) {
        l.write(0, whole.into());
    }
}

fn compare_exchange_8(l: &mut Lifter) {
    let old = l.load(Size::B8);
    let expected = join(l, Reg::RDX, Reg::RAX);
    let desired = join(l, Reg::RCX, Reg::RBX);
    let equal = equal(l, Size::B8, expected, old);
    let stored = l.select(Size::B8, equal, desired, old);
    let low = zero_extend(l, Size::B4, old);
    let high = l.binary(Binary::Shr, Size::B8, old, Value::Const(32));
    let address = l.address();
    l.emit(Op::Store { size: Size::B8, src: stored.into(), address });
    l.emit(Op::Select { size: Size::B8, dst: Reg::RAX, condition: equal, yes: Reg::RAX, no: low });
    l.emit(Op::Select { size: Size::B8, dst: Reg::RDX, condition: equal, yes: Reg::RDX, no: high });
    set_zero_flag(l, equal);
}

/// high:low, 32 bits each
fn join(l: &mut Lifter, high: Reg, low: Reg) -> Reg {
    let upper = l.binary(Binary::Shl, Size::B8, high, Value::Const(32));
    l.emit(Op::Insert { size: Size::B4, at: 0, dst: upper, src: low.into() });
    upper
}

fn compare_exchange_16(l: &mut Lifter) {
    let (old, stored, address) = (l.vector_temp(), l.vector_temp(), l.address());
    l.emit(Op::LoadVector { dst: old, address, aligned: true });
    let low_equal = equal(l, Size::B8, Reg::RAX, old);
    let high_equal = equal(l, Size::B8, Reg::RDX, old.high_half());
    let equal = l.binary(Binary::And, Size::B8, low_equal, high_equal);
    let (size, condition) = (Size::B8, equal);
    l.emit(Op::Select { size, dst: stored, condition, yes: Reg::RBX, no: old });
    l.emit(Op::Select { size, dst: stored.high_half(), condition, yes: Reg::RCX, no: old.high_half() });
    l.emit(Op::StoreVector { src: stored, address, aligned: true });
    l.emit(Op::Select { size, dst: Reg::RAX, condition, yes: Reg::RAX, no: old });
    l.emit(Op::Select { size, dst: Reg::RDX, condition, yes: Reg::RDX, no: old.high_half() });
    set_zero_flag(l, equal);
}

/// ZF = the bit `equal`
fn set_zero_flag(l: &mut Lifter, equal: Reg) {
    let inverted = l.binary(Binary::Xor, Size::B8, equal, Value::Const(1));
    flags(l, FlagKind::SetZero, Size::B8, inverted, Value::Const(0));
}
