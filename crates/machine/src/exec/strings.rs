//! String instructions, element by element, in the order that the processor commits them, so
//! that a fault in the middle leaves the registers where the processor leaves them.
//!
//! When nobody watches, a stretch within a page is done at a time, which looks the same from outside; whatever
//! such a stretch cannot do without a fault, and what defines the flags, is left to the loop over elements.

use super::reference::{load_unwatched, store_unwatched};
use super::view::{GuestMemory, View};
use crate::fault::FaultKind;
use crate::observer::Observer;
use crate::{PAGE_SIZE, flags};
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

/// Where a string instruction is.
pub struct Ends {
    pub source: u64,
    pub target: u64,
}

impl Ends {
    pub fn of(core: &View<'_, impl GuestMemory>, i: Instruction) -> Ends {
        let source = pointer(core, i, Reg::RSI).wrapping_add(core.cpu.get(i.segment));
        Ends { source, target: pointer(core, i, Reg::RDI) }
    }

    /// How many elements were done since: negative if towards lower addresses.
    pub fn elements_until(&self, core: &View<'_, impl GuestMemory>, i: Instruction) -> i64 {
        let now = Ends::of(core, i);
        let moved = match i.kind {
            StringKind::Load => now.source.wrapping_sub(self.source),
            _ => now.target.wrapping_sub(self.target),
        };
        let moved = if i.narrow { moved as i32 as i64 } else { moved as i64 };
        moved / i.size.bytes() as i64
    }
}

/// A count register can ask for more elements than anybody can wait for. So many are done at a time; then the
/// instruction is interrupted, as the processor may do at any element, and begins again with what is left.
pub const MOST_ELEMENTS: u64 = 1 << 20;

/// Shorter stretches are not worth the preparation.
const SHORTEST_STRETCH: u64 = 16;
/// The first stretch is short, since a scan mostly ends soon; each further one may be longer.
const FIRST_STRETCH: u64 = 64;
/// Bytes of the longest stretch.
const LONGEST_STRETCH: usize = 2048;

/// Whether the instruction is complete; if not, it must be executed again.
pub fn execute<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    i: Instruction,
    observer: &mut O,
) -> Result<bool, FaultKind> {
    if i.repeat == Repeat::Once {
        return element(core, i, observer).map(|_| true);
    }
    let flags = core.cpu.flag_record();
    let mut left = MOST_ELEMENTS;
    let mut reach = FIRST_STRETCH;
    while count(core, i) != 0 {
        if left == 0 {
            // As for a fault: a comparison of what is left will define them anew.
            core.cpu.set_flag_record(flags);
            return Ok(false);
        }
        if !(O::WATCHES && O::EACH_ELEMENT)
            && let Some(done) = stretch(core, i, count(core, i).min(left).min(reach))
        {
            left -= done;
            reach = reach.saturating_mul(4);
            continue;
        }
        left -= 1;
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
    Ok(true)
}

/// Does up to `most` elements at once, and says how many; `None`, with nothing done, where that is not the same as
/// one by one.
fn stretch(core: &mut View<'_, impl GuestMemory>, i: Instruction, most: u64) -> Option<u64> {
    if i.narrow || core.cpu.get(Reg::DIRECTION) != 0 {
        return None;
    }
    let size = i.size.bytes();
    let target = core.cpu.get(Reg::RDI);
    let source = core.cpu.get(Reg::RSI).wrapping_add(core.cpu.get(i.segment));
    let in_page = |address: u64| (PAGE_SIZE - address % PAGE_SIZE) / size;
    let reads_source = matches!(i.kind, StringKind::Move | StringKind::Compare);
    let mut elements = most.min(in_page(target)).min(LONGEST_STRETCH as u64 / size);
    if reads_source {
        elements = elements.min(in_page(source));
    }
    let distance = target.wrapping_sub(source);
    if i.kind == StringKind::Move && distance != 0 {
        // Elements that this very instruction has written must be there before they are read.
        elements = elements.min(distance / size);
    }
    if elements < SHORTEST_STRETCH {
        return None;
    }
    let (mut one, mut other) = ([0; LONGEST_STRETCH], [0; LONGEST_STRETCH]);
    let one = one.get_mut(..(elements * size) as usize)?;
    match i.kind {
        StringKind::Move => {
            core.memory.read(source, one).ok()?;
            core.memory.store_in_page(target, one)?;
        }
        StringKind::Store => {
            fill(one, core.cpu.get(Reg::RAX), size);
            core.memory.store_in_page(target, one)?;
        }
        StringKind::Scan | StringKind::Compare => {
            let other = other.get_mut(..one.len())?;
            match i.kind {
                StringKind::Compare => core.memory.read(source, one).ok()?,
                _ => fill(one, core.cpu.get(Reg::RAX), size),
            }
            core.memory.read(target, other).ok()?;
            let while_equal = i.repeat == Repeat::WhileEqual;
            let pairs = one.chunks_exact(size as usize).zip(other.chunks_exact(size as usize));
            let alike = match while_equal && one == other {
                true => elements,
                false => pairs.take_while(|(one, other)| (one == other) == while_equal).count() as u64,
            };
            // The last one defines the flags.
            elements = alike.min(elements - 1);
            if elements == 0 {
                return None;
            }
        }
        StringKind::Load => return None,
    }
    core.cpu.set(Reg::RDI, target.wrapping_add(elements * size));
    if reads_source {
        core.cpu.set(Reg::RSI, core.cpu.get(Reg::RSI).wrapping_add(elements * size));
    }
    core.cpu.set(Reg::RCX, core.cpu.get(Reg::RCX).wrapping_sub(elements));
    Some(elements)
}

/// Fills `bytes` with the lower `size` bytes of `value`, over and over; they are at least as many.
fn fill(bytes: &mut [u8], value: u64, size: u64) {
    let mut filled = size as usize;
    bytes[..filled].copy_from_slice(&value.to_le_bytes()[..filled]);
    while filled < bytes.len() {
        let more = filled.min(bytes.len() - filled);
        bytes.copy_within(..more, filled);
        filled += more;
    }
}

fn count(core: &View<'_, impl GuestMemory>, i: Instruction) -> u64 {
    pointer(core, i, Reg::RCX)
}

/// A pointer or counter register, at the address size.
fn pointer(core: &View<'_, impl GuestMemory>, i: Instruction, reg: Reg) -> u64 {
    let value = core.cpu.get(reg);
    if i.narrow { value as u32 as u64 } else { value }
}

fn set_counter(core: &mut View<'_, impl GuestMemory>, i: Instruction, reg: Reg, value: u64) {
    core.cpu.set(reg, if i.narrow { value as u32 as u64 } else { value });
}

fn advance(core: &mut View<'_, impl GuestMemory>, i: Instruction, reg: Reg) {
    let bytes = i.size.bytes();
    let step = if core.cpu.get(Reg::DIRECTION) != 0 { bytes.wrapping_neg() } else { bytes };
    let moved = pointer(core, i, reg).wrapping_add(step);
    set_counter(core, i, reg, moved);
}

/// Does one element; for scans and comparisons, whether the two sides were equal.
fn element<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    i: Instruction,
    observer: &mut O,
) -> Result<bool, FaultKind> {
    let size = i.size;
    let Ends { source, target } = Ends::of(core, i);
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

fn compare(core: &mut View<'_, impl GuestMemory>, size: Size, a: u64, b: u64) -> bool {
    let record = flags::define(&core.cpu.flag_record(), FlagKind::Sub, size, a, b, 0);
    core.cpu.set_flag_record(record);
    (a ^ b) & size.mask() == 0
}

fn read<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    size: Size,
    at: u64,
    observer: &mut O,
) -> Result<u64, FaultKind> {
    let value = load_unwatched(core, size, at)?;
    if O::WATCHES && O::EACH_ELEMENT {
        observer.load_from(&*core.memory, at, size.bytes());
    }
    Ok(value)
}

fn write<O: Observer>(
    core: &mut View<'_, impl GuestMemory>,
    size: Size,
    at: u64,
    value: u64,
    observer: &mut O,
) -> Result<(), FaultKind> {
    store_unwatched(core, size, at, value)?;
    if O::WATCHES && O::EACH_ELEMENT {
        observer.store(at, size.bytes());
    }
    Ok(())
}
