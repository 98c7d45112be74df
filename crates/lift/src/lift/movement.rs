//! Moves, extensions, the stack, exchanges, conditional moves and sets.

use super::{Lifter, slot_of};
use crate::{Address, Binary, Condition, Op, Reg, Size, Value};
use iced_x86::{Code, ConditionCode, Instruction, Mnemonic, OpKind, Register};

pub(super) fn lift(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    match l.instruction.mnemonic() {
        Mov | Movnti => mov(l),
        Movzx => extend(l, false),
        Movsx | Movsxd => extend(l, true),
        Lea => lea(l),
        Push => push(l),
        Pop => pop(l),
        Leave => leave(l),
        Enter => return enter(l),
        Xchg => exchange(l),
        Bswap => byte_swap(l),
        Cbw => widen(l, Size::B1, Size::B2),
        Cwde => widen(l, Size::B2, Size::B4),
        Cdqe => widen(l, Size::B4, Size::B8),
        Cwd => spread_sign(l, Size::B2),
        Cdq => spread_sign(l, Size::B4),
        Cqo => spread_sign(l, Size::B8),
        Xlatb => table_lookup(l),
        _ => return conditional(l),
    }
    true
}

/// The condition of a jcc, setcc or cmovcc.
pub(super) fn condition_of(instruction: &Instruction) -> Option<Condition> {
    Some(match instruction.condition_code() {
        ConditionCode::None => return None,
        ConditionCode::o => Condition::Overflow,
        ConditionCode::no => Condition::NotOverflow,
        ConditionCode::b => Condition::Below,
        ConditionCode::ae => Condition::AboveOrEqual,
        ConditionCode::e => Condition::Equal,
        ConditionCode::ne => Condition::NotEqual,
        ConditionCode::be => Condition::BelowOrEqual,
        ConditionCode::a => Condition::Above,
        ConditionCode::s => Condition::Sign,
        ConditionCode::ns => Condition::NotSign,
        ConditionCode::p => Condition::Parity,
        ConditionCode::np => Condition::NotParity,
        ConditionCode::l => Condition::Less,
        ConditionCode::ge => Condition::GreaterOrEqual,
        ConditionCode::le => Condition::LessOrEqual,
        ConditionCode::g => Condition::Greater,
    })
}

fn mov(l: &mut Lifter) {
    let segment = [0, 1].into_iter().find(|&n| {
        l.instruction.op_kind(n) == OpKind::Register && l.instruction.op_register(n).is_segment_register()
    });
    match segment {
        Some(operand) => move_segment(l, operand),
        None if l.is_memory(1) && l.size(0) >= Size::B4 => {
            let (size, dst, address) = (l.size(0), l.target(0), l.address());
            l.emit(Op::Load { size, dst, address });
        }
        None => {
            let size = l.size(0);
            match l.read(1) {
                Value::Reg(src) if size == Size::B4 && !l.is_memory(0) => {
                    let dst = l.target(0);
                    l.emit(Op::ZeroExtend { size, dst, src });
                }
                value => l.write(0, value),
            }
        }
    }
}

/// In 64-bit user mode a segment register holds one fixed selector; storing to one is not
/// something a program does.
fn move_segment(l: &mut Lifter, operand: u32) {
    if operand == 0 {
        return l.emit(Op::Unsupported);
    }
    let selector = match l.instruction.op_register(1) {
        Register::CS => 0x33,
        Register::SS => 0x2b,
        _ => 0,
    };
    l.write(0, Value::Const(selector));
}

fn extend(l: &mut Lifter, signed: bool) {
    let (from, to) = (l.size(1), l.size(0));
    let src = if l.is_memory(1) && !signed && to >= Size::B4 {
        let (dst, address) = (l.target(0), l.address());
        return l.emit(Op::Load { size: from, dst, address });
    } else {
        l.read_reg(1)
    };
    let dst = l.target(0);
    l.emit(match signed {
        true => Op::SignExtend { from, to, dst, src },
        false => Op::ZeroExtend { size: from, dst, src },
    });
    l.write_back(0, dst);
}

fn lea(l: &mut Lifter) {
    let (size, address) = (l.size(0), Address { segment: Reg::ZERO, ..l.address() });
    let dst = l.target(0);
    l.emit(Op::Lea { size, dst, address });
    l.write_back(0, dst);
}

/// How many bytes a push or pop moves the stack pointer by.
fn stack_size(l: &Lifter) -> Size {
    match l.instruction.stack_pointer_increment().unsigned_abs() {
        2 => Size::B2,
        _ => Size::B8,
    }
}

pub(super) fn push_value(l: &mut Lifter, size: Size, src: Value) {
    let bytes = size.bytes();
    l.emit(Op::Store { size, src, address: Address::offset(Reg::RSP, -(bytes as i64)) });
    move_stack(l, Binary::Sub, bytes);
}

pub(super) fn move_stack(l: &mut Lifter, function: Binary, bytes: u64) {
    l.emit(Op::Binary { function, size: Size::B8, dst: Reg::RSP, a: Reg::RSP, b: Value::Const(bytes) });
}

fn push(l: &mut Lifter) {
    let size = stack_size(l);
    let value = match l.instruction.op_kind(0) {
        OpKind::Memory => Value::Reg(l.load(size)),
        OpKind::Register if l.instruction.op_register(0).is_segment_register() => Value::Const(0),
        OpKind::Register => Value::Reg(slot_of(l.instruction.op_register(0))),
        _ => Value::Const(l.instruction.immediate(0) & size.mask()),
    };
    push_value(l, size, value);
}

fn pop(l: &mut Lifter) {
    let size = stack_size(l);
    let value = l.load_from(size, Address::register(Reg::RSP));
    if l.is_memory(0) {
        // The address is computed with the stack pointer after the pop.
        let mut address = l.address();
        if address.base == Reg::RSP {
            address.displacement = address.displacement.wrapping_add(size.bytes() as i64);
        }
        l.emit(Op::Store { size, src: value.into(), address });
        move_stack(l, Binary::Add, size.bytes());
    } else if l.instruction.op_register(0).is_segment_register() {
        move_stack(l, Binary::Add, size.bytes());
    } else {
        move_stack(l, Binary::Add, size.bytes());
        l.write_register(l.instruction.op_register(0), value.into());
    }
}

fn leave(l: &mut Lifter) {
    // The stack pointer comes from rbp, so the decoder's table has no increment for it.
    let size = if l.instruction.code() == Code::Leavew { Size::B2 } else { Size::B8 };
    let saved = l.load_from(size, Address::register(Reg::RBP));
    let bytes = Value::Const(size.bytes());
    l.emit(Op::Binary { function: Binary::Add, size: Size::B8, dst: Reg::RSP, a: Reg::RBP, b: bytes });
    match size {
        Size::B2 => l.emit(Op::Insert { size, at: 0, dst: Reg::RBP, src: saved.into() }),
        _ => l.emit(Op::Move { dst: Reg::RBP, src: saved.into() }),
    }
}

/// Only the flat form (nesting level 0), the one that compilers have ever emitted.
fn enter(l: &mut Lifter) -> bool {
    if l.instruction.immediate(1) != 0 || l.instruction.code() != Code::Enterq_imm16_imm8 {
        return false;
    }
    let locals = l.instruction.immediate(0);
    // It faults where the locals end if that place cannot be written; writing back what is there tries.
    let end = Address::offset(Reg::RSP, -8 - locals as i64);
    let there = l.load_from(Size::B1, end);
    l.emit(Op::Store { size: Size::B1, src: there.into(), address: end });
    push_value(l, Size::B8, Reg::RBP.into());
    l.emit(Op::Move { dst: Reg::RBP, src: Reg::RSP.into() });
    move_stack(l, Binary::Sub, locals);
    true
}

fn exchange(l: &mut Lifter) {
    let size = l.size(0);
    // With a memory operand iced may name it first or second; the store must come before the
    // register changes.
    let (first, second) = if l.is_memory(1) { (1, 0) } else { (0, 1) };
    let a = l.read_reg(first);
    let b = l.read_reg(second);
    let (a, b) = (zero_extended(l, size, a), zero_extended(l, size, b));
    l.write(first, b.into());
    l.write(second, a.into());
}

fn zero_extended(l: &mut Lifter, size: Size, src: Reg) -> Reg {
    let dst = l.temp();
    l.emit(Op::ZeroExtend { size, dst, src });
    dst
}

fn byte_swap(l: &mut Lifter) {
    let (size, dst) = (l.size(0), l.target(0));
    let src = l.read_reg(0);
    l.emit(Op::Unary { function: crate::Unary::ByteSwap, size, dst, src });
    l.write_back(0, dst);
}

/// cbw, cwde, cdqe
fn widen(l: &mut Lifter, from: Size, to: Size) {
    if to == Size::B2 {
        let dst = l.temp();
        l.emit(Op::SignExtend { from, to, dst, src: Reg::RAX });
        l.emit(Op::Insert { size: to, at: 0, dst: Reg::RAX, src: dst.into() });
    } else {
        l.emit(Op::SignExtend { from, to, dst: Reg::RAX, src: Reg::RAX });
    }
}

/// cwd, cdq, cqo: dx becomes all copies of ax's sign.
fn spread_sign(l: &mut Lifter, size: Size) {
    let shift = Value::Const(size.bits() as u64 - 1);
    if size == Size::B2 {
        // 16-bit shifts mask their count to 5 bits, so 15 is fine.
        let sign = l.binary(Binary::Sar, size, Reg::RAX, shift);
        l.emit(Op::Insert { size, at: 0, dst: Reg::RDX, src: sign.into() });
    } else {
        l.emit(Op::Binary { function: Binary::Sar, size, dst: Reg::RDX, a: Reg::RAX, b: shift });
    }
}

fn table_lookup(l: &mut Lifter) {
    let index = l.temp();
    l.emit(Op::ZeroExtend { size: Size::B1, dst: index, src: Reg::RAX });
    let address = Address { index, shift: 0, ..l.address() };
    let value = l.load_from(Size::B1, address);
    l.emit(Op::Insert { size: Size::B1, at: 0, dst: Reg::RAX, src: value.into() });
}

fn conditional(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    let Some(condition) = condition_of(&l.instruction) else { return false };
    match l.instruction.mnemonic() {
        Seto | Setno | Setb | Setae | Sete | Setne | Setbe | Seta | Sets | Setns | Setp | Setnp | Setl
        | Setge | Setle | Setg => {
            let bit = l.test(condition);
            l.write(0, bit.into());
        }
        Cmovo | Cmovno | Cmovb | Cmovae | Cmove | Cmovne | Cmovbe | Cmova | Cmovs | Cmovns | Cmovp
        | Cmovnp | Cmovl | Cmovge | Cmovle | Cmovg => conditional_move(l, condition),
        _ => return false,
    }
    true
}

fn conditional_move(l: &mut Lifter, condition: Condition) {
    let size = l.size(0);
    let (yes, no) = (l.read_reg(1), l.read_reg(0));
    let bit = l.test(condition);
    let dst = l.target(0);
    l.emit(Op::Select { size, dst, condition: bit, yes, no });
    l.write_back(0, dst);
}
