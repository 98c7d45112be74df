//! The reference executor: runs ops one by one, in the open, for observers, for single steps and
//! for whatever the fast executor has no handler for. It is exhaustive over the op language.

use super::view::{GuestMemory, View};
use super::{helpers, strings};
use crate::fault::FaultKind;
use crate::observer::Observer;
use crate::values;
use crate::vector;
use crate::x87::{self, Pair, Refusal};
use crate::{AccessFault, Cpu, Time, flags};
use lift::vector::{VectorOperand, VectorResult};
use lift::x87::{CODES, FLAGS, IN_USE, X87Result};
use lift::{Address, Op, Reg, Size, StringResult, Trap, Turn, Value, VectorOp, X87Op};

/// Where control goes after an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next op.
    Next,
    Goto(u64),
    /// To the same instruction, which has done a part of its work.
    Again,
    Syscall,
    Unsupported,
}

/// One condition forced for one instruction: the experiment behind a switched predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    Flip,
    Side(bool),
}

impl Force {
    fn apply(self, holds: bool) -> bool {
        match self {
            Force::Flip => !holds,
            Force::Side(side) => side,
        }
    }
}

/// What an instruction's ops need to know besides the machine's state.
pub struct Context<'a, O> {
    pub observer: &'a mut O,
    pub time: Time,
    /// Address of the instruction.
    pub address: u64,
    pub force: Option<Force>,
}

/// Runs all ops of one instruction. On an error the guest's state is as before the instruction.
pub fn execute_instruction<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    ops: &[Op],
    cx: &mut Context<O>,
) -> Result<Flow, FaultKind> {
    let branches = ops.iter().any(|op| matches!(op, Op::Branch { .. }));
    for op in ops {
        if O::WATCHES {
            cx.observer.op(op, core.cpu);
        }
        match execute(core, op, branches, cx)? {
            Flow::Next => {}
            flow => return Ok(flow),
        }
    }
    Ok(Flow::Next)
}

impl From<AccessFault> for FaultKind {
    fn from(fault: AccessFault) -> FaultKind {
        FaultKind::Memory(fault)
    }
}

#[inline(always)]
fn value(core: &View<'_, impl GuestMemory>, value: Value) -> u64 {
    match value {
        Value::Reg(reg) => core.cpu.get(reg),
        Value::Const(constant) => constant,
    }
}

/// The effective address of a memory operand.
#[inline(always)]
pub fn effective(cpu: &Cpu, address: &Address) -> u64 {
    let offset = cpu
        .get(address.base)
        .wrapping_add(cpu.get(address.index) << address.shift)
        .wrapping_add(address.displacement as u64);
    let offset = if address.narrow { offset as u32 as u64 } else { offset };
    offset.wrapping_add(cpu.get(address.segment))
}

fn execute<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    op: &Op,
    branches: bool,
    cx: &mut Context<O>,
) -> Result<Flow, FaultKind> {
    match *op {
        Op::Move { dst, src } => core.cpu.set(dst, value(core, src)),
        Op::Binary { function, size, dst, a, b } => {
            let result = values::binary(function, size, core.cpu.get(a), value(core, b));
            core.cpu.set(dst, result);
        }
        Op::Ternary { function, size, dst, a, b, c } => {
            let (a, b) = (core.cpu.get(a), core.cpu.get(b));
            let result = values::ternary(function, size, a, b, value(core, c));
            core.cpu.set(dst, result);
        }
        Op::Unary { function, size, dst, src } => {
            core.cpu.set(dst, values::unary(function, size, core.cpu.get(src)));
        }
        Op::ZeroExtend { size, dst, src } => core.cpu.set(dst, core.cpu.get(src) & size.mask()),
        Op::SignExtend { from, to, dst, src } => {
            core.cpu.set(dst, values::sign_extend(from, core.cpu.get(src)) & to.mask());
        }
        Op::Insert { size, at, dst, src } => {
            let mask = size.mask() << (8 * at);
            let new = value(core, src) << (8 * at) & mask;
            core.cpu.set(dst, core.cpu.get(dst) & !mask | new);
        }
        Op::Extract { size, at, dst, src } => core.cpu.set(dst, core.cpu.get(src) >> (8 * at) & size.mask()),
        Op::Divide { signed, size, quotient, remainder, high, low, divisor } => {
            let (high, low) = (core.cpu.get(high), core.cpu.get(low));
            let (q, r) = values::divide(signed, size, high, low, core.cpu.get(divisor))
                .ok_or(FaultKind::DivideError)?;
            core.cpu.set(quotient, q);
            core.cpu.set(remainder, r);
        }
        Op::Lea { size, dst, address } => {
            let result = effective(core.cpu, &address) & size.mask();
            core.cpu.set(dst, result);
        }
        Op::Load { size, dst, address } => {
            let at = effective(core.cpu, &address);
            let loaded = load(core, size, at, cx)?;
            core.cpu.set(dst, loaded);
        }
        Op::Store { size, src, address } => {
            let at = effective(core.cpu, &address);
            let src = value(core, src);
            store(core, size, at, src, cx)?;
        }
        Op::LoadVector { dst, address, aligned } => {
            let at = aligned_address(core, &address, aligned)?;
            let loaded = core.memory.load::<u128>(at).map_err(fault_kind)?;
            if O::WATCHES {
                cx.observer.load_from(&*core.memory, at, 16);
            }
            core.cpu.set_pair(dst, loaded);
        }
        Op::StoreVector { src, address, aligned } => {
            let at = aligned_address(core, &address, aligned)?;
            let src = core.cpu.pair(src);
            core.memory.store::<u128>(at, src).map_err(fault_kind)?;
            if O::WATCHES {
                cx.observer.store(at, 16);
            }
        }
        Op::Flags { kind, size, a, b, c } => {
            let (a, b, c) = (core.cpu.get(a), value(core, b), core.cpu.get(c));
            let record = flags::define(&core.cpu.flag_record(), kind, size, a, b, c);
            core.cpu.set_flag_record(record);
        }
        Op::ReadFlags { dst } => core.cpu.set(dst, core.cpu.flag_record().flags()),
        Op::Carry { dst } => {
            let carry = core.cpu.flag_record().holds(lift::Condition::Below);
            core.cpu.set(dst, carry as u64);
        }
        Op::Test { condition, dst } => {
            let mut holds = core.cpu.flag_record().holds(condition);
            if !branches {
                holds = decide(holds, cx);
            }
            core.cpu.set(dst, holds as u64);
        }
        Op::IsZero { size, dst, src } => {
            let zero = core.cpu.get(src) & size.mask() == 0;
            core.cpu.set(dst, zero as u64);
        }
        Op::Select { size, dst, condition, yes, no } => {
            let chosen = if core.cpu.get(condition) != 0 { yes } else { no };
            core.cpu.set(dst, core.cpu.get(chosen) & size.mask());
        }
        Op::Vector { op, dst, a, b, imm } => vector_op(core, op, dst, a, b, imm)?,
        Op::LoadExtended { dst, address } => {
            let at = effective(core.cpu, &address);
            let mut bytes = [0; 10];
            core.memory.read(at, &mut bytes).map_err(fault_kind)?;
            if O::WATCHES {
                cx.observer.load_from(&*core.memory, at, 10);
            }
            core.cpu.set_pair(dst, extended(bytes) | u128::from(IN_USE) << 64);
        }
        Op::StoreExtended { src, address } => {
            let at = effective(core.cpu, &address);
            let (low, high) = x87::stored(pair(core, src));
            let mut bytes = [0; 10];
            bytes[..8].copy_from_slice(&low.to_le_bytes());
            bytes[8..].copy_from_slice(&high.to_le_bytes());
            core.memory.write(at, &bytes).map_err(fault_kind)?;
            if O::WATCHES {
                cx.observer.store(at, 10);
            }
        }
        Op::X87 { op, dst, a, b } => return x87_op(core, op, dst, a, b),
        Op::Rotate { turn } => rotate(core, turn),
        Op::CompareStrings { result, dst, a, b, a_length, b_length, imm } => {
            let length = |reg: Reg| (reg != Reg::ZERO).then(|| core.cpu.get(reg));
            let (a, b) = ((core.cpu.pair(a), length(a_length)), (core.cpu.pair(b), length(b_length)));
            let value = vector::strings::compare(result, a, b, imm);
            match result {
                StringResult::Mask => core.cpu.set_pair(dst, value),
                StringResult::Index | StringResult::Flags => core.cpu.set(dst, value as u64),
            }
        }
        Op::String { kind, size, repeat, segment, narrow } => {
            let instruction = strings::Instruction { kind, size, repeat, segment, narrow };
            let before = O::WATCHES.then(|| strings::Ends::of(core, instruction));
            let complete = strings::execute(core, instruction, cx.observer)?;
            if let Some(before) = before {
                cx.observer.string(before.source, before.target, before.elements_until(core, instruction));
            }
            if !complete {
                return Ok(Flow::Again);
            }
        }
        Op::Helper { helper, address } => {
            let at = effective(core.cpu, &address);
            helpers::execute(core, helper, at, cx)?;
        }
        Op::CheckMxcsr { src } => {
            if core.cpu.get(src) & !0xffff != 0 {
                return Err(FaultKind::GeneralProtection);
            }
        }
        Op::Jump { target } => return Ok(Flow::Goto(value(core, target))),
        Op::Call { target, return_address } => {
            let target = value(core, target);
            cx.observer.call(cx.time, target, return_address);
            return Ok(Flow::Goto(target));
        }
        Op::Return { target } => {
            let target = core.cpu.get(target);
            cx.observer.ret(cx.time, target);
            return Ok(Flow::Goto(target));
        }
        Op::Branch { condition, taken, not_taken } => {
            let holds = decide(core.cpu.get(condition) != 0, cx);
            return Ok(Flow::Goto(if holds { taken } else { not_taken }));
        }
        Op::Syscall => return Ok(Flow::Syscall),
        Op::Trap(Trap::InvalidOpcode) => return Err(FaultKind::InvalidOpcode),
        Op::Trap(Trap::Breakpoint) => return Err(FaultKind::Breakpoint),
        Op::Trap(Trap::Privileged) => return Err(FaultKind::Privileged),
        Op::Unsupported => return Ok(Flow::Unsupported),
    }
    Ok(Flow::Next)
}

/// A decision of the program, forced where an experiment asks for it.
fn decide<O: Observer>(holds: bool, cx: &mut Context<O>) -> bool {
    let holds = cx.force.map_or(holds, |force| force.apply(holds));
    if O::WATCHES {
        cx.observer.condition(cx.time, cx.address, holds);
    }
    holds
}

/// The processor reports a non-canonical address as #GP, without the address.
pub fn fault_kind(fault: AccessFault) -> FaultKind {
    match fault.cause {
        crate::Cause::NonCanonical => FaultKind::GeneralProtection,
        _ => FaultKind::Memory(fault),
    }
}

fn aligned_address(
    core: &View<'_, impl GuestMemory>,
    address: &Address,
    aligned: bool,
) -> Result<u64, FaultKind> {
    let at = effective(core.cpu, address);
    if aligned && !at.is_multiple_of(16) {
        return Err(FaultKind::GeneralProtection);
    }
    Ok(at)
}

#[inline(always)]
pub fn load<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    size: Size,
    at: u64,
    cx: &mut Context<O>,
) -> Result<u64, FaultKind> {
    let loaded = load_unwatched(core, size, at)?;
    if O::WATCHES {
        cx.observer.load_from(&*core.memory, at, size.bytes());
    }
    Ok(loaded)
}

#[inline(always)]
pub fn load_unwatched(core: &mut View<'_, impl GuestMemory>, size: Size, at: u64) -> Result<u64, FaultKind> {
    let memory = &mut *core.memory;
    match size {
        Size::B1 => memory.load::<u8>(at).map(u64::from),
        Size::B2 => memory.load::<u16>(at).map(u64::from),
        Size::B4 => memory.load::<u32>(at).map(u64::from),
        Size::B8 => memory.load::<u64>(at),
    }
    .map_err(fault_kind)
}

#[inline(always)]
pub fn store<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    size: Size,
    at: u64,
    value: u64,
    cx: &mut Context<O>,
) -> Result<(), FaultKind> {
    store_unwatched(core, size, at, value)?;
    if O::WATCHES {
        cx.observer.store(at, size.bytes());
    }
    Ok(())
}

#[inline(always)]
pub fn store_unwatched(
    core: &mut View<'_, impl GuestMemory>,
    size: Size,
    at: u64,
    value: u64,
) -> Result<(), FaultKind> {
    let memory = &mut *core.memory;
    match size {
        Size::B1 => memory.store::<u8>(at, value as u8),
        Size::B2 => memory.store::<u16>(at, value as u16),
        Size::B4 => memory.store::<u32>(at, value as u32),
        Size::B8 => memory.store::<u64>(at, value),
    }
    .map_err(fault_kind)
}

fn vector_op(
    core: &mut View<'_, impl GuestMemory>,
    op: VectorOp,
    dst: Reg,
    a: Reg,
    b: Reg,
    imm: u8,
) -> Result<(), FaultKind> {
    let mut mxcsr = core.cpu.get(Reg::MXCSR) as u32;
    let (a, b) = (vector_operand(core, op.a(), a), vector_operand(core, op.b(), b));
    let outcome = vector::execute(op, a, b, imm, &mut mxcsr);
    // An unmasked exception leaves its flag behind.
    core.cpu.set(Reg::MXCSR, mxcsr as u64);
    let result = outcome.map_err(|_| FaultKind::FloatException)?;
    match op.result() {
        VectorResult::Slot(_) | VectorResult::Flags => core.cpu.set(dst, result as u64),
        VectorResult::Vector => core.cpu.set_pair(dst, result),
    }
    Ok(())
}

/// Ten bytes as the low part of a pair of slots.
pub fn extended(bytes: [u8; 10]) -> u128 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u128::from(byte))
}

fn pair(core: &View<'_, impl GuestMemory>, reg: Reg) -> Pair {
    Pair { low: core.cpu.get(reg), high: core.cpu.get(reg.high_half()) }
}

fn x87_op(
    core: &mut View<'_, impl GuestMemory>,
    op: X87Op,
    dst: Reg,
    a: Reg,
    b: Reg,
) -> Result<Flow, FaultKind> {
    let control = core.cpu.get(Reg::X87_CONTROL) as u16;
    let mut status = (core.cpu.get(Reg::X87_FLAGS) | core.cpu.get(Reg::X87_CODES)) as u16;
    if op == X87Op::StatusWord {
        let word = x87::status_word(status, control, core.cpu.get(Reg::X87_TOP));
        core.cpu.set(dst, word.into());
        return Ok(Flow::Next);
    }
    let result =
        x87::execute(op, pair(core, a), (b != Reg::ZERO).then(|| pair(core, b)), control, &mut status);
    // An unmasked exception leaves its flag behind.
    if op.tells() || result == Err(Refusal::Exception) {
        core.cpu.set(Reg::X87_FLAGS, u64::from(status) & FLAGS);
        core.cpu.set(Reg::X87_CODES, u64::from(status) & CODES);
    }
    let Pair { low, high } = match result {
        Ok(pair) => pair,
        Err(Refusal::Exception) => return Err(FaultKind::FloatException),
        Err(Refusal::OutOfRange) => return Ok(Flow::Unsupported),
    };
    match op.result() {
        X87Result::None => {}
        X87Result::Slot => core.cpu.set(dst, low),
        X87Result::Register | X87Result::Number(_) => {
            core.cpu.set(dst, low);
            core.cpu.set(dst.high_half(), high);
        }
    }
    Ok(Flow::Next)
}

/// Moves the registers of the x87 unit by one place.
pub fn rotate(core: &mut View<'_, impl GuestMemory>, turn: Turn) {
    let first = Reg::st(0).index();
    let registers = &mut core.cpu.regs[first..first + 16];
    let top = match turn {
        Turn::Push => {
            registers.rotate_right(2);
            core.cpu.get(Reg::X87_TOP).wrapping_sub(1)
        }
        Turn::Pop => {
            registers.rotate_left(2);
            core.cpu.get(Reg::X87_TOP).wrapping_add(1)
        }
    };
    core.cpu.set(Reg::X87_TOP, top & 7);
}

fn vector_operand(core: &View<'_, impl GuestMemory>, operand: VectorOperand, reg: Reg) -> u128 {
    match operand {
        VectorOperand::None => 0,
        VectorOperand::Slot(_) => core.cpu.get(reg) as u128,
        VectorOperand::Vector => core.cpu.pair(reg),
    }
}
