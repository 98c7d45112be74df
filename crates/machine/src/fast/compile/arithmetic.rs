//! Functions of two operands with their flags.

use super::super::Code;
use super::super::handlers as h;
use super::select::*;
use super::{at, code, on, with_const};
use crate::values;
use lift::{Address, Binary, FlagKind, Op, Reg, Size, Value};

pub(super) fn arithmetic(ops: &[Op]) -> Option<Code> {
    two_operand(ops)
        .or_else(|| with_memory(ops))
        .or_else(|| with_carry(ops))
        .or_else(|| other_arithmetic(ops))
}

/// Whether an instruction that computes `function` records its flags as `kind`.
fn records(function: Binary, kind: FlagKind) -> bool {
    matches!(
        (function, kind),
        (Binary::Add, FlagKind::Add)
            | (Binary::Sub, FlagKind::Sub)
            | (Binary::And | Binary::Or | Binary::Xor, FlagKind::Logic)
            | (Binary::Shl, FlagKind::Shl)
            | (Binary::Shr, FlagKind::Shr)
            | (Binary::Sar, FlagKind::Sar)
    )
}

fn is_shift(function: Binary) -> bool {
    matches!(function, Binary::Shl | Binary::Shr | Binary::Sar)
}

/// register = function(register, register or constant)
fn two_operand(ops: &[Op]) -> Option<Code> {
    // Addition and its like record the flags before the result, logic after it; either way both are there.
    let (kind, function, size, dst, a, b, inserted) = match *ops {
        [Op::Flags { kind, .. }, Op::Binary { function, size, dst, a, b }]
        | [Op::Binary { function, size, dst, a, b }, Op::Flags { kind, .. }] => {
            (kind, function, size, dst, a, b, None)
        }
        [
            Op::Flags { kind, .. },
            Op::Binary { function, size, dst, a, b },
            Op::Insert { at: 0, dst: into, .. },
        ]
        | [
            Op::Binary { function, size, dst, a, b },
            Op::Insert { at: 0, dst: into, .. },
            Op::Flags { kind, .. },
        ] => (kind, function, size, dst, a, b, Some(into)),
        _ => return None,
    };
    if !records(function, kind) || inserted.unwrap_or(dst) != a {
        return None;
    }
    match b {
        // A count of zero keeps the flags: not the pattern. Counts in registers are masked by an op before.
        Value::Const(b) if is_shift(function) && values::count(size, b) == 0 => None,
        Value::Reg(_) if is_shift(function) => None,
        Value::Reg(b) if inserted.is_some() => {
            Some(on(by_function!(function, F => by_width!(size, W => h::binary_part::<F, W>)), a, b))
        }
        Value::Const(b) if inserted.is_some() => Some(with_const(
            by_function!(function, F => by_width!(size, W => h::binary_part_const::<F, W>)),
            a,
            b,
        )),
        Value::Reg(b) => Some(on(by_function!(function, F => by_width!(size, W => h::binary::<F, W>)), a, b)),
        Value::Const(b) => {
            Some(with_const(by_function!(function, F => by_width!(size, W => h::binary_const::<F, W>)), a, b))
        }
    }
}

/// A function with a memory operand.
fn with_memory(ops: &[Op]) -> Option<Code> {
    match *ops {
        [
            Op::Load { dst: loaded, address, .. },
            Op::Flags { kind, .. },
            Op::Binary { function, size, dst, a, b },
        ]
        | [
            Op::Load { dst: loaded, address, .. },
            Op::Binary { function, size, dst, a, b },
            Op::Flags { kind, .. },
        ] if b == Value::Reg(loaded) && dst == a && records(function, kind) && !is_shift(function) => {
            let handler = by_function!(function, F => by_width!(size, W => by_mode!(&address, size, M => h::binary_load::<F, W, M>)));
            Some(at(&address, on(handler, a, a)))
        }
        [
            Op::Load { dst: loaded, address, .. },
            Op::Flags { kind, .. },
            Op::Binary { function, size, a, b, .. },
            Op::Insert { at: 0, dst, .. },
        ]
        | [
            Op::Load { dst: loaded, address, .. },
            Op::Binary { function, size, a, b, .. },
            Op::Insert { at: 0, dst, .. },
            Op::Flags { kind, .. },
        ] if b == Value::Reg(loaded) && dst == a && records(function, kind) && !is_shift(function) => {
            let handler = by_function!(function, F => by_width!(size, W => by_mode!(&address, size, M => h::binary_load_part::<F, W, M>)));
            Some(at(&address, on(handler, a, a)))
        }
        [
            Op::Load { dst: loaded, address, .. },
            Op::Binary { function, size, dst, a, b },
            Op::Store { src, address: stored, .. },
            Op::Flags { kind, .. },
        ] if a == loaded && src == Value::Reg(dst) && stored == address && records(function, kind) => {
            to_memory(function, size, &address, b)
        }
        _ => None,
    }
}

/// memory = function(memory, register or constant)
fn to_memory(function: Binary, size: Size, address: &Address, b: Value) -> Option<Code> {
    match b {
        Value::Const(b) if is_shift(function) && values::count(size, b) == 0 => None,
        Value::Reg(_) if is_shift(function) => None,
        Value::Reg(b) => {
            let handler = by_function!(function, F => by_width!(size, W => by_mode!(address, size, M => h::binary_store::<F, W, M>)));
            Some(at(address, on(handler, b, b)))
        }
        Value::Const(b) => {
            let handler = by_function!(function, F => by_width!(size, W => by_mode!(address, size, M => h::binary_store_const::<F, W, M>)));
            Some(at(address, with_const(handler, Reg::ZERO, b)))
        }
    }
}

/// adc and sbb of registers
fn with_carry(ops: &[Op]) -> Option<Code> {
    let &[
        Op::Carry { dst: carry },
        Op::Binary { function, size, a, b, .. },
        Op::Binary { dst: result, b: second, .. },
        Op::Flags { kind: FlagKind::Adc | FlagKind::Sbb, .. },
        last,
    ] = ops
    else {
        return None;
    };
    if second != Value::Reg(carry) {
        return None;
    }
    match (last, b) {
        (Op::Move { dst, src }, Value::Reg(b)) if dst == a && src == Value::Reg(result) => {
            Some(on(by_function!(function, F => by_width!(size, W => h::with_carry::<F, W>)), a, b))
        }
        (Op::Move { dst, src }, Value::Const(b)) if dst == a && src == Value::Reg(result) => {
            let handler = by_function!(function, F => by_width!(size, W => h::with_carry_const::<F, W>));
            Some(with_const(handler, a, b))
        }
        (Op::Insert { at: 0, dst, src, .. }, Value::Reg(b)) if dst == a && src == Value::Reg(result) => {
            Some(on(by_function!(function, F => by_width!(size, W => h::with_carry_part::<F, W>)), a, b))
        }
        _ => None,
    }
}

fn other_arithmetic(ops: &[Op]) -> Option<Code> {
    match *ops {
        // cdq and cqo
        [Op::Binary { function, size, dst, a, b: Value::Const(b) }] => {
            let handler = by_function!(function, F => by_width!(size, W => h::plain_const::<F, W>));
            Some(Code { f: a.0, ..with_const(handler, dst, b) })
        }
        // A shift by cl.
        [
            Op::Binary { function: Binary::And, dst: count, a: Reg::RCX, .. },
            Op::Flags { kind, b: counted, .. },
            Op::Binary { function, size, dst, a, b },
        ] if b == Value::Reg(count) && counted == b && dst == a && records(function, kind) => {
            let handler = by_function!(function, F => by_width!(size, W => h::shift_by_reg::<F, W>));
            Some(on(handler, dst, Reg::RCX))
        }
        // inc and dec
        [Op::Carry { .. }, Op::Flags { .. }, Op::Binary { function, size, dst, a, b: Value::Const(1) }]
            if dst == a =>
        {
            let handler = by_function!(function, F => by_width!(size, W => h::step::<F, W>));
            Some(on(handler, dst, dst))
        }
        [
            Op::Load { dst: loaded, address, .. },
            Op::Carry { .. },
            Op::Binary { function, size, a, b: Value::Const(1), .. },
            Op::Store { .. },
            Op::Flags { kind: FlagKind::Inc | FlagKind::Dec, .. },
        ] if a == loaded => {
            let handler = by_function!(function, F => by_width!(size, W => by_mode!(&address, size, M => h::step_store::<F, W, M>)));
            Some(at(&address, code(handler)))
        }
        _ => multiply(ops),
    }
}

/// imul with two or three operands: product, its high half, and the flags from both.
fn multiply(ops: &[Op]) -> Option<Code> {
    let (loaded, ops) = match ops {
        [Op::Load { dst, address, .. }, rest @ ..] => (Some((*dst, *address)), rest),
        _ => (None, ops),
    };
    let [
        Op::Binary { function: Binary::Mul, size, dst: low, a, b },
        Op::Binary { function: Binary::MulHighSigned, .. },
        Op::Binary { function: Binary::Sar, .. },
        Op::Binary { function: Binary::Xor, .. },
        Op::Flags { kind: FlagKind::Mul, .. },
        Op::Move { dst, src },
    ] = *ops
    else {
        return None;
    };
    if src != Value::Reg(low) {
        return None;
    }
    match (loaded, b) {
        (None, Value::Reg(b)) => Some(Code { c: b.0, ..on(by_width!(size, W => h::multiply::<W>), dst, a) }),
        (None, Value::Const(b)) => {
            Some(Code { f: a.0, ..with_const(by_width!(size, W => h::multiply_const::<W>), dst, b) })
        }
        (Some((loaded, address)), Value::Reg(b)) if b == loaded && a == dst => {
            let handler = by_width!(size, W => by_mode!(&address, size, M => h::multiply_load::<W, M>));
            Some(at(&address, on(handler, dst, dst)))
        }
        _ => None,
    }
}
