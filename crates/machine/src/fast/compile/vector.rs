//! Vector functions: the function is looked up when the block is compiled.

use super::super::Code;
use super::super::handlers as h;
use super::movement::alignment_mask;
use super::select::*;
use super::{at, on};
use crate::vector::{Function, function_for};
use lift::vector::VectorResult;
use lift::{Address, Op, Reg, Size, VectorOp};

pub(super) fn vector(ops: &[Op]) -> Option<Code> {
    match *ops {
        [Op::Vector { op, dst, a, b, imm }] => {
            let handler = match (function_for(op), to_pair(op)) {
                (Function::Pure(_), true) => h::vector,
                (Function::Pure(_), false) => h::vector_to_slot,
                (Function::Float(_), true) => h::float,
                (Function::Float(_), false) => h::float_to_slot,
            };
            Some(Code { c: b.0, displacement: pointer(op), imm: imm as u64, ..on(handler, dst, a) })
        }
        [Op::LoadVector { dst: loaded, address, aligned }, Op::Vector { op, dst, a, b, imm }]
            if b == loaded && a == dst && to_pair(op) =>
        {
            with_memory(op, dst, imm, &address, aligned)
        }
        _ => None,
    }
}

/// An XMM register with 16 bytes of memory. The function's address goes where a displacement would be, so
/// only addresses whose displacement fits beside the immediate have a code of their own.
fn with_memory(op: VectorOp, dst: Reg, imm: u8, address: &Address, aligned: bool) -> Option<Code> {
    let Function::Pure(_) = function_for(op) else { return None };
    let displacement = i32::try_from(address.displacement).ok()?;
    let packed = (imm as u64) | alignment_mask(aligned) << 8 | (displacement as u32 as u64) << 32;
    let handler = by_mode!(address, Size::B8, M => h::vector_load::<M>);
    Some(Code { displacement: pointer(op), imm: packed, ..at(address, on(handler, dst, dst)) })
}

fn to_pair(op: VectorOp) -> bool {
    op.result() == VectorResult::Vector
}

/// The address of the host's function for `op`.
fn pointer(op: VectorOp) -> i64 {
    match function_for(op) {
        Function::Pure(function) => function as usize as i64,
        Function::Float(function) => function as usize as i64,
    }
}
