//! Shifts, rotates, bit tests, bit scans.

use super::Lifter;
use crate::{Address, Binary, FlagKind, Op, Reg, Size, Ternary, Unary, Value};
use iced_x86::{Mnemonic, OpKind};

pub(super) fn lift(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    match l.instruction.mnemonic() {
        Shl | Sal => shift(l, Binary::Shl, FlagKind::Shl),
        Shr => shift(l, Binary::Shr, FlagKind::Shr),
        Sar => shift(l, Binary::Sar, FlagKind::Sar),
        Rol => shift(l, Binary::Rol, FlagKind::Rol),
        Ror => shift(l, Binary::Ror, FlagKind::Ror),
        Rcl => rotate_carry(l, Ternary::RotateCarryLeft, FlagKind::Rcl),
        Rcr => rotate_carry(l, Ternary::RotateCarryRight, FlagKind::Rcr),
        Shld => shift_double(l, Ternary::ShiftDoubleLeft, FlagKind::Shld),
        Shrd => shift_double(l, Ternary::ShiftDoubleRight, FlagKind::Shrd),
        Bt => bit_test(l, None),
        Bts => bit_test(l, Some(Binary::Or)),
        Btr => bit_test(l, Some(Binary::And)),
        Btc => bit_test(l, Some(Binary::Xor)),
        Bsf => bit_scan(l, Unary::BitScanForward),
        Bsr => bit_scan(l, Unary::BitScanReverse),
        Tzcnt => count_zeros(l, Unary::BitScanForward),
        Lzcnt => count_zeros(l, Unary::BitScanReverse),
        Popcnt => count_ones(l),
        _ => return false,
    }
    true
}

/// The count operand, masked as the processor does.
fn shift_count(l: &mut Lifter, operand: u32, size: Size) -> Value {
    let mask = if size == Size::B8 { 63 } else { 31 };
    match l.instruction.op_kind(operand) {
        OpKind::Register => Value::Reg(l.binary(Binary::And, Size::B1, Reg::RCX, Value::Const(mask))),
        _ => Value::Const(l.instruction.immediate(operand) & mask),
    }
}

/// Shifts and plain rotates. A count of zero keeps the flags, but a 32-bit register destination
/// is zero-extended all the same.
fn shift(l: &mut Lifter, function: Binary, kind: FlagKind) {
    let size = l.size(0);
    let a = l.read_reg(0);
    let b = shift_count(l, 1, size);
    let dst = l.target(0);
    let record = Op::Flags { kind, size, a, b, c: Reg::ZERO };
    if l.is_memory(0) {
        l.emit(Op::Binary { function, size, dst, a, b });
        l.write_back(0, dst);
        l.emit(record);
    } else {
        l.emit(record);
        l.emit(Op::Binary { function, size, dst, a, b });
        l.write_back(0, dst);
    }
}

fn rotate_carry(l: &mut Lifter, function: Ternary, kind: FlagKind) {
    let size = l.size(0);
    let a = l.read_reg(0);
    let count = shift_count(l, 1, size);
    let b = match count {
        Value::Reg(reg) => reg,
        constant => l.copy(constant),
    };
    let c = l.carry();
    let dst = l.temp();
    l.emit(Op::Ternary { function, size, dst, a, b, c: c.into() });
    finish_with_flags(l, dst, Op::Flags { kind, size, a, b: b.into(), c });
}

fn shift_double(l: &mut Lifter, function: Ternary, kind: FlagKind) {
    let size = l.size(0);
    let (a, b) = (l.read_reg(0), l.read_reg(1));
    let count = shift_count(l, 2, size);
    let dst = l.temp();
    l.emit(Op::Ternary { function, size, dst, a, b, c: count });
    finish_with_flags(l, dst, Op::Flags { kind, size, a, b: count, c: b });
}

/// Writes the result to operand 0 and records the flags, in the order that faults allow.
fn finish_with_flags(l: &mut Lifter, result: Reg, record: Op) {
    if l.is_memory(0) {
        l.write(0, result.into());
        l.emit(record);
    } else {
        l.emit(record);
        l.write(0, result.into());
    }
}

/// bt and its kin. With a memory operand and a register offset, the bit may lie outside the
/// operand: the offset is a signed bit address.
fn bit_test(l: &mut Lifter, change: Option<Binary>) {
    let size = l.size(0);
    let bits = size.bits() as u64;
    let offset = l.read_reg(1);
    let address = match l.is_memory(0) {
        true => Some(bit_address(l, size, offset)),
        false => None,
    };
    let value = match address {
        Some(address) => l.load_from(size, address),
        None => l.read_reg(0),
    };
    let position = l.binary(Binary::And, Size::B8, offset, Value::Const(bits - 1));
    let bit = l.binary(Binary::Shr, Size::B8, value, position);
    // The bit is read from a wider register when the operand is 16 or 32 bits, which is harmless:
    // position is below the operand's width.
    let carry = l.binary(Binary::And, Size::B8, bit, Value::Const(1));
    if let Some(function) = change {
        let one = l.copy(Value::Const(1));
        let mut mask = l.binary(Binary::Shl, Size::B8, one, position);
        if function == Binary::And {
            let inverted = l.temp();
            l.emit(Op::Unary { function: Unary::Not, size: Size::B8, dst: inverted, src: mask });
            mask = inverted;
        }
        let result = l.binary(function, size, value, mask);
        match address {
            Some(address) => l.emit(Op::Store { size, src: result.into(), address }),
            None => l.write(0, result.into()),
        }
    }
    l.emit(Op::Flags { kind: FlagKind::SetCarry, size, a: carry, b: Value::Const(0), c: Reg::ZERO });
}

/// The address of the operand-sized unit that holds the bit at `offset`.
fn bit_address(l: &mut Lifter, size: Size, offset: Reg) -> Address {
    let address = l.address();
    if l.instruction.op_kind(1) != OpKind::Register {
        return address;
    }
    let wide = l.temp();
    l.emit(Op::SignExtend { from: size, to: Size::B8, dst: wide, src: offset });
    let unit = l.binary(Binary::Sar, Size::B8, wide, Value::Const(size.bits().trailing_zeros() as u64));
    let delta = l.binary(Binary::Shl, Size::B8, unit, Value::Const(size as u64));
    let effective = l.temp();
    let plain = Address { segment: Reg::ZERO, ..address };
    l.emit(Op::Lea { size: Size::B8, dst: effective, address: plain });
    Address { index: delta, narrow: address.narrow, segment: address.segment, ..Address::register(effective) }
}

/// bsf and bsr: a zero operand leaves the destination as it was, the whole 64 bits of it.
fn bit_scan(l: &mut Lifter, function: Unary) {
    let size = l.size(0);
    let src = l.read_reg(1);
    let (index, is_zero) = (l.temp(), l.temp());
    l.emit(Op::Unary { function, size, dst: index, src });
    l.emit(Op::IsZero { size, dst: is_zero, src });
    let old = l.read_reg(0);
    let whole = if size == Size::B2 { Size::B2 } else { Size::B8 };
    let result = l.select(whole, is_zero, old, index);
    l.emit(Op::Flags { kind: FlagKind::SetZero, size, a: src, b: Value::Const(0), c: Reg::ZERO });
    l.write(0, result.into());
}

/// tzcnt and lzcnt: a zero operand gives the operand's width; CF says that it was zero, ZF that
/// the result is.
fn count_zeros(l: &mut Lifter, scan: Unary) {
    let size = l.size(0);
    let src = l.read_reg(1);
    let (index, is_zero) = (l.temp(), l.temp());
    l.emit(Op::Unary { function: scan, size, dst: index, src });
    l.emit(Op::IsZero { size, dst: is_zero, src });
    let count = match scan {
        Unary::BitScanReverse => l.binary(Binary::Xor, size, index, Value::Const(size.bits() as u64 - 1)),
        _ => index,
    };
    let width = l.copy(Value::Const(size.bits() as u64));
    let result = l.select(size, is_zero, width, count);
    let (kind, b, c) = (FlagKind::SetZero, Value::Const(0), Reg::ZERO);
    l.emit(Op::Flags { kind, size, a: result, b, c });
    l.emit(Op::Flags { kind: FlagKind::SetCarry, size, a: is_zero, b, c });
    l.write(0, result.into());
}

/// popcnt: ZF says that the operand was zero, all other flags are cleared.
fn count_ones(l: &mut Lifter) {
    let size = l.size(0);
    let src = l.read_reg(1);
    let (dst, is_zero) = (l.temp(), l.temp());
    l.emit(Op::Unary { function: Unary::CountOnes, size, dst, src });
    l.emit(Op::IsZero { size, dst: is_zero, src });
    let zero_flag = l.binary(Binary::Shl, Size::B8, is_zero, Value::Const(6));
    let (b, c) = (Value::Const(0), Reg::ZERO);
    l.emit(Op::Flags { kind: FlagKind::Load, size: Size::B8, a: zero_flag, b, c });
    l.write(0, dst.into());
}
