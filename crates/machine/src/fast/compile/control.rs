//! Instructions that end a block, and those that keep the stack.

use super::super::handlers as h;
use super::super::parts::{Add, And, Based, InFrame, Indexed, Paired, Segmented, Sub};
use super::super::{Code, Handler};
use super::select::*;
use super::{at, code, on, with_const};
use lift::{Address, Binary, FlagKind, Op, Reg, Size, Value};

const STACK_TOP: Address = Address::register(Reg::RSP);
/// Where a push stores.
const NEW_TOP: Address = Address::offset(Reg::RSP, -8);
const FRAME: Address = Address::register(Reg::RBP);

/// Instructions that end a block.
pub(super) fn control(ops: &[Op]) -> Option<Code> {
    Some(match *ops {
        [Op::Jump { target: Value::Const(_) }] => code(h::jump),
        [Op::Jump { target: Value::Reg(f) }] => on(h::jump_reg, f, f),
        [Op::Load { dst, address, .. }, Op::Jump { target }] if target == Value::Reg(dst) => {
            at(&address, code(by_mode!(&address, Size::B8, M => h::jump_load::<M>)))
        }
        [
            Op::Store { src: Value::Const(imm), address: NEW_TOP, size: Size::B8 },
            Op::Binary { function: Binary::Sub, dst: Reg::RSP, a: Reg::RSP, b: Value::Const(8), .. },
            Op::Call { target, .. },
        ] => match target {
            Value::Const(_) => with_const(h::call, Reg::ZERO, imm),
            Value::Reg(f) => Code { f: f.0, ..with_const(h::call_reg, Reg::ZERO, imm) },
        },
        [
            Op::Load { dst, address, .. },
            Op::Store { src: Value::Const(imm), address: NEW_TOP, size: Size::B8 },
            Op::Binary { function: Binary::Sub, dst: Reg::RSP, a: Reg::RSP, b: Value::Const(8), .. },
            Op::Call { target, .. },
        ] if target == Value::Reg(dst) => at(&address, with_const(call_load(&address)?, Reg::ZERO, imm)),
        [
            Op::Load { size: Size::B8, dst, address: STACK_TOP },
            Op::Binary { function: Binary::Add, dst: Reg::RSP, a: Reg::RSP, b: Value::Const(imm), .. },
            Op::Return { target },
        ] if dst == target => with_const(h::ret, Reg::ZERO, imm),
        [Op::Test { condition, dst }, Op::Branch { condition: bit, .. }] if dst == bit => {
            code(by_condition!(condition, D => h::branch::<D>))
        }
        _ => return None,
    })
}

/// A branch by flags that are known to be recorded by an instruction of the same block.
pub(super) fn branch_after(flags: (FlagKind, Size), ops: &[Op]) -> Option<Code> {
    let &[Op::Test { condition, dst }, Op::Branch { condition: bit, .. }] = ops else { return None };
    if dst != bit {
        return None;
    }
    let (kind, size) = flags;
    Some(code(by_comparison!(condition, D => by_common_width!(size, W => match kind {
        FlagKind::Add => h::branch_after::<D, Add, W>,
        FlagKind::Sub => h::branch_after::<D, Sub, W>,
        FlagKind::Logic => h::branch_after::<D, And, W>,
        _ => return None,
    }))))
}

pub(super) fn stack(ops: &[Op]) -> Option<Code> {
    Some(match *ops {
        [
            Op::Store { size: Size::B8, src, address: NEW_TOP },
            Op::Binary { function: Binary::Sub, dst: Reg::RSP, a: Reg::RSP, b: Value::Const(8), .. },
        ] => match src {
            Value::Reg(src) => on(h::push, src, src),
            Value::Const(imm) => with_const(h::push_const, Reg::ZERO, imm),
        },
        [
            Op::Load { size: Size::B8, dst: loaded, address: STACK_TOP },
            Op::Binary { function: Binary::Add, dst: Reg::RSP, a: Reg::RSP, b: Value::Const(8), .. },
            Op::Move { dst, src },
        ] if src == Value::Reg(loaded) => on(h::pop, dst, dst),
        [
            Op::Load { size: Size::B8, dst: loaded, address: FRAME },
            Op::Binary { function: Binary::Add, dst: Reg::RSP, a: Reg::RBP, b: Value::Const(8), .. },
            Op::Move { dst: Reg::RBP, src },
        ] if src == Value::Reg(loaded) => code(h::leave_frame),
        _ => return None,
    })
}

/// The handler of a call through memory. It pushes, too, so the load must not go by the stack pointer's page:
/// each of two accesses would make the other's page unknown, and the code would start again without end.
fn call_load(address: &Address) -> Option<Handler> {
    Some(match mode(address, Size::B8)? {
        ModeKind::Based | ModeKind::OnStack => h::call_load::<Based>,
        ModeKind::InFrame => h::call_load::<InFrame>,
        ModeKind::Indexed => h::call_load::<Indexed>,
        ModeKind::Paired => h::call_load::<Paired>,
        ModeKind::Segmented => h::call_load::<Segmented>,
    })
}
