//! From plain ops to codes, instruction by instruction, by pattern.

mod arithmetic;
mod compare;
mod control;
mod movement;
mod select;
mod unary;
mod vector;

use select::*;

use super::handlers as h;
use super::sequences;
use super::{Code, Handler};
use crate::block::Block;
use crate::hooks::Hook;
use crate::observer::Unwatched;
use crate::trace::{self, Log, Note};
use lift::{Address, FlagKind, Op, Reg, Repeat, Size};

/// The codes of a block and, for each, the index of the instruction that it begins with. With `tracing`, they
/// write a trace.
pub fn compile(block: &Block, tracing: bool) -> (Vec<Code>, Vec<u16>) {
    let mut codes = Vec::with_capacity(block.instructions.len() + 1);
    let mut origins = Vec::with_capacity(block.instructions.len() + 1);
    let mut index = 0;
    let mut ended = false;
    let mut flags = None;
    let stops = match block.hook {
        Some(Hook::Check(check)) if !tracing => {
            codes.push(Code { imm: check as usize as u64, ..code(h::check) });
            origins.push(0);
            false
        }
        hook => hook.is_some(),
    };
    if tracing {
        codes.push(Code { imm: std::ptr::from_ref(block) as usize as u64, ..code(h::note_pass) });
        origins.push(0);
    }
    while let Some(instruction) = block.instructions.get(index) {
        let ops = block.ops_of(instruction);
        let next = block.instructions.get(index + 1).map(|next| block.ops_of(next));
        let notes = if tracing { notes(ops) } else { Some(Vec::new()) };
        let fused = next.filter(|_| index > 0 || !stops).and_then(|next| compare::with_branch(ops, next));
        let pattern = || {
            flags
                .and_then(|flags| control::branch_after(flags, ops))
                .or_else(|| control::control(ops))
                .or_else(|| straight(ops))
        };
        if let (Some(notes), Some(code)) = (&notes, fused) {
            origins.extend(std::iter::repeat_n(index as u16, notes.len() + 1));
            codes.extend(notes);
            codes.push(code);
            ended = true;
            break;
        }
        if index == 0 && stops {
            // The reference executor attends to the hook.
            origins.push(0);
            codes.push(code(h::refuse));
            ended = ops.last().is_some_and(Op::ends_block);
            index += 1;
            continue;
        }
        if !ops.is_empty() {
            let made = notes.zip(pattern());
            let (notes, code) = made.unwrap_or_else(|| (Vec::new(), plain(ops, block.unchecked, tracing)));
            origins.extend(std::iter::repeat_n(index as u16, notes.len() + 1));
            codes.extend(notes);
            codes.push(code);
            flags = ops.iter().fold(flags, flags_after);
            ended = ops.last().is_some_and(Op::ends_block);
        }
        index += 1;
    }
    if !ended {
        codes.push(code(h::fall_through));
        // If it ever bailed, it would be after the last instruction.
        origins.push(block.instructions.len() as u16);
    }
    // Those that write a trace have notes in between.
    if !tracing {
        sequences::fuse(&mut codes);
    }
    (codes, origins)
}

/// What the flags are known to be recorded by after an op, if they were by `before` it.
fn flags_after(before: Option<(FlagKind, Size)>, op: &Op) -> Option<(FlagKind, Size)> {
    match *op {
        Op::Flags { kind: kind @ (FlagKind::Add | FlagKind::Sub | FlagKind::Logic), size, .. } => {
            Some((kind, size))
        }
        Op::Flags { .. } | Op::String { .. } | Op::Helper { .. } => None,
        _ => before,
    }
}

fn code(handler: Handler) -> Code {
    Code::new(handler)
}

/// `a` and `f` in a fresh code.
fn on(handler: Handler, a: Reg, f: Reg) -> Code {
    Code { a: a.0, f: f.0, ..code(handler) }
}

fn with_const(handler: Handler, a: Reg, imm: u64) -> Code {
    Code { a: a.0, imm, ..code(handler) }
}

fn at(address: &Address, code: Code) -> Code {
    Code {
        b: address.base.0,
        c: address.index.0,
        d: address.shift,
        e: address.segment.0,
        displacement: address.displacement,
        ..code
    }
}

/// Codes that note the words of an instruction; `None` if it has to do that itself.
fn notes(ops: &[Op]) -> Option<Vec<Code>> {
    trace::notes(ops)?.iter().map(note).collect()
}

fn note(note: &Note) -> Option<Code> {
    Some(match note {
        Note::Address(address) => at(address, code(by_mode!(address, Size::B8, M => h::note_address::<M>))),
        Note::Outcome(condition) => code(by_condition!(*condition, D => h::note_outcome::<D>)),
    })
}

/// Makes a code that runs the ops themselves.
fn plain(ops: &[Op], unchecked: bool, tracing: bool) -> Code {
    let needs_machine =
        |op: &Op| matches!(op, Op::Syscall | Op::Trap(_) | Op::Unsupported | Op::Helper { .. });
    if ops.iter().any(needs_machine) {
        return code(h::refuse);
    }
    let repeats = |op: &Op| matches!(op, Op::String { repeat, .. } if *repeat != Repeat::Once);
    let handler = match (ops.iter().any(repeats), tracing) {
        (true, false) => h::repeated::<Unwatched>,
        (false, false) => h::plain::<Unwatched>,
        (true, true) => h::repeated::<Log>,
        (false, true) => h::plain::<Log>,
    };
    Code { a: unchecked as u8, imm: ops.as_ptr() as usize as u64, count: ops.len() as u16, ..code(handler) }
}

/// Instructions after which the next one follows.
fn straight(ops: &[Op]) -> Option<Code> {
    movement::movement(ops)
        .or_else(|| compare::compare(ops))
        .or_else(|| arithmetic::arithmetic(ops))
        .or_else(|| unary::unary(ops))
        .or_else(|| control::stack(ops))
        .or_else(|| vector::vector(ops))
}
