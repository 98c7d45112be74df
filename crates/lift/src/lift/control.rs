//! Jumps, calls, returns, loops.

use super::Lifter;
use super::movement::{condition_of, move_stack, push_value};
use crate::{Address, Binary, Op, Reg, Size, Value};
use iced_x86::{Mnemonic, OpKind};

pub(super) fn lift(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    match l.instruction.mnemonic() {
        Jmp => return jump(l),
        Call => return call(l),
        Ret => return ret(l),
        Loop | Loope | Loopne => counted_loop(l),
        Jrcxz => jump_if_zero(l, Size::B8),
        Jecxz => jump_if_zero(l, Size::B4),
        _ if l.instruction.is_jcc_short_or_near() => return conditional_jump(l),
        _ => return false,
    }
    true
}

/// The target of a near jump or call, or `None` for a far one.
fn target(l: &mut Lifter) -> Option<Value> {
    match l.instruction.op0_kind() {
        OpKind::NearBranch64 => Some(Value::Const(l.instruction.near_branch64())),
        OpKind::Register if l.size(0) == Size::B8 => {
            let register = l.read_reg(0);
            Some(Value::Reg(register))
        }
        OpKind::Memory if l.memory_bytes() == 8 => Some(Value::Reg(l.load(Size::B8))),
        _ => None,
    }
}

fn jump(l: &mut Lifter) -> bool {
    let Some(target) = target(l) else { return false };
    l.emit(Op::Jump { target });
    true
}

fn call(l: &mut Lifter) -> bool {
    let Some(target) = target(l) else { return false };
    // `call rsp` goes where rsp pointed before the push.
    let target = if target == Value::Reg(Reg::RSP) { Value::Reg(l.copy(target)) } else { target };
    let return_address = l.next_address();
    push_value(l, Size::B8, Value::Const(return_address));
    l.emit(Op::Call { target, return_address });
    true
}

fn ret(l: &mut Lifter) -> bool {
    if l.instruction.stack_pointer_increment() < 8 {
        return false;
    }
    let target = l.load_from(Size::B8, Address::register(Reg::RSP));
    let popped = match l.instruction.op_count() {
        0 => 0,
        _ => l.instruction.immediate(0) & 0xffff,
    };
    move_stack(l, Binary::Add, 8 + popped);
    l.emit(Op::Return { target });
    true
}

fn conditional_jump(l: &mut Lifter) -> bool {
    let Some(condition) = condition_of(&l.instruction) else { return false };
    let bit = l.test(condition);
    branch(l, bit);
    true
}

fn branch(l: &mut Lifter, condition: Reg) {
    let (taken, not_taken) = (l.instruction.near_branch64(), l.next_address());
    l.emit(Op::Branch { condition, taken, not_taken });
}

fn jump_if_zero(l: &mut Lifter, size: Size) {
    let dst = l.temp();
    l.emit(Op::IsZero { size, dst, src: Reg::RCX });
    branch(l, dst);
}

fn counted_loop(l: &mut Lifter) {
    use iced_x86::Code::*;
    let size = match l.instruction.code() {
        Loop_rel8_64_ECX | Loope_rel8_64_ECX | Loopne_rel8_64_ECX => Size::B4,
        _ => Size::B8,
    };
    let (dst, one) = (Reg::RCX, Value::Const(1));
    l.emit(Op::Binary { function: Binary::Sub, size, dst, a: dst, b: one });
    let is_zero = l.temp();
    l.emit(Op::IsZero { size, dst: is_zero, src: Reg::RCX });
    let mut goes_on = l.binary(Binary::Xor, Size::B8, is_zero, one);
    if let Some(condition) = condition_of(&l.instruction) {
        let bit = l.test(condition);
        goes_on = l.binary(Binary::And, Size::B8, goes_on, bit);
    }
    branch(l, goes_on);
}
