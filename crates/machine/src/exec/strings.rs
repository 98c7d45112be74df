//! String instructions, element by element, in the order that the processor commits them, so
//! that a fault in the middle leaves the registers where the processor leaves them.

use super::reference::{load_unwatched, store_unwatched};
use crate::fault::FaultKind;
use crate::observer::Observer;
use crate::{Core, flags};
use lift::{FlagKind, Reg, Repeat, Size, StringKind};

#[derive(Clone, Copy)]
pub struct Instruction {
    pub kind: StringKind,
    pub size: Size,
    pub repeat: Repeat,
    /// Segment base of the rsi operand.
    pub segment: Reg,
    pub narrow: bool,
}

pub fn execute<O: Observer>(core: &mut Core, i: Instruction, observer: &mut O) -> Result<(), FaultKind> {
    if i.repeat == Repeat::Once {
        return element(core, i, observer).map(|_| ());
    }
    let flags = core.cpu.flag_record();
    while count(core, i) != 0 {
        let equal = match element(core, i, observer) {
            Ok(equal) => equal,
            Err(fault) => {
                // A fault keeps the elements that are done, but not the flags of their comparisons.
                core.cpu.set_flag_record(flags);
                return Err(fault);
            }
        };
        set_counter(core, i, Reg::RCX, count(core, i).wrapping_sub(1));
        let ends = match i.repeat {
            Repeat::WhileEqual => !equal,
            Repeat::WhileNotEqual => equal,
            Repeat::Once | Repeat::Count => false,
        };
        if ends {
            break;
        }
    }
    Ok(())
}

fn count(core: &Core, i: Instruction) -> u64 {
    pointer(core, i, Reg::RCX)
}

/// A pointer or counter register, at the address size.
fn pointer(core: &Core, i: Instruction, reg: Reg) -> u64 {
    let value = core.cpu.get(reg);
    if i.narrow { value as u32 as u64 } else { value }
}

fn set_counter(core: &mut Core, i: Instruction, reg: Reg, value: u64) {
    core.cpu.set(reg, if i.narrow { value as u32 as u64 } else { value });
}

fn advance(core: &mut Core, i: Instruction, reg: Reg) {
    let bytes = i.size.bytes();
    let step = if core.cpu.get(Reg::DIRECTION) != 0 { bytes.wrapping_neg() } else { bytes };
    let moved = pointer(core, i, reg).wrapping_add(step);
    set_counter(core, i, reg, moved);
}

/// Does one element; for scans and comparisons, whether the two sides were equal.
fn element<O: Observer>(core: &mut Core, i: Instruction, observer: &mut O) -> Result<bool, FaultKind> {
    let size = i.size;
    let source = pointer(core, i, Reg::RSI).wrapping_add(core.cpu.get(i.segment));
    let target = pointer(core, i, Reg::RDI);
    let mut equal = true;
    match i.kind {
        StringKind::Move => {
            let value = read(core, size, source, observer)?;
            write(core, size, target, value, observer)?;
            advance(core, i, Reg::RSI);
            advance(core, i, Reg::RDI);
        }
        StringKind::Store => {
            write(core, size, target, core.cpu.get(Reg::RAX), observer)?;
            advance(core, i, Reg::RDI);
        }
        StringKind::Load => {
            let value = read(core, size, source, observer)?;
            let old = core.cpu.get(Reg::RAX);
            let kept = if size >= Size::B4 { 0 } else { old & !size.mask() };
            core.cpu.set(Reg::RAX, kept | value);
            advance(core, i, Reg::RSI);
        }
        StringKind::Scan => {
            let value = read(core, size, target, observer)?;
            equal = compare(core, size, core.cpu.get(Reg::RAX), value);
            advance(core, i, Reg::RDI);
        }
        StringKind::Compare => {
            let a = read(core, size, source, observer)?;
            let b = read(core, size, target, observer)?;
            equal = compare(core, size, a, b);
            advance(core, i, Reg::RSI);
            advance(core, i, Reg::RDI);
        }
    }
    Ok(equal)
}

fn compare(core: &mut Core, size: Size, a: u64, b: u64) -> bool {
    let record = flags::define(&core.cpu.flag_record(), FlagKind::Sub, size, a, b, 0);
    core.cpu.set_flag_record(record);
    (a ^ b) & size.mask() == 0
}

fn read<O: Observer>(core: &mut Core, size: Size, at: u64, observer: &mut O) -> Result<u64, FaultKind> {
    let value = load_unwatched(core, size, at)?;
    if O::WATCHES {
        observer.load(at, size.bytes());
    }
    Ok(value)
}

fn write<O: Observer>(
    core: &mut Core,
    size: Size,
    at: u64,
    value: u64,
    observer: &mut O,
) -> Result<(), FaultKind> {
    store_unwatched(core, size, at, value)?;
    if O::WATCHES {
        observer.store(at, size.bytes());
    }
    Ok(())
}
