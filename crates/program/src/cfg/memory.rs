//! What the object has in memory once it is loaded, and what its linker stubs lead to.

use std::ops::Range;

use super::flow::{self, Callee, Flow};
use crate::object_file::ObjectFile;
use lift::{Op, Value};

/// An endbr and the jump itself.
const MOST_STUB_INSTRUCTIONS: usize = 2;

/// A value of 1, 2, 4 or 8 bytes as it is before the program starts, in addresses of the object.
pub(super) fn read(object: &ObjectFile, address: u64, bytes: u64) -> Option<u64> {
    if bytes == 8 && object.relocations().has(address) {
        return object.relocations().own(address);
    }
    let data = object.bytes_at(address)?.get(..usize::try_from(bytes).ok()?)?;
    Some(data.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// The linker's stub that the code at an address belongs to, by the section it is in.
pub(super) fn stub(object: &ObjectFile, address: u64) -> Option<Range<u64>> {
    let section = object.stub_sections().iter().find(|section| section.range.contains(&address))?;
    let start = address - (address - section.range.start) % section.entry;
    Some(start..start.saturating_add(section.entry))
}

/// Whether the code at an address is a stub of the linker.
pub(super) fn is_stub(object: &ObjectFile, address: u64) -> bool {
    stub(object, address).is_some() || stub_slot(object, address).is_some()
}

/// The slot that a stub of the linker, if there is one at this address, jumps through.
pub(super) fn stub_slot(object: &ObjectFile, address: u64) -> Option<u64> {
    let mut ops = Vec::new();
    let mut at = address;
    for _ in 0..MOST_STUB_INSTRUCTIONS {
        let step = flow::step(object.bytes_at(at)?, at, &mut ops)?;
        at = at.wrapping_add(u64::from(step.length));
        match step.flow {
            Flow::On if ops.is_empty() => {}
            Flow::IndirectJump => {
                let Some(Op::Jump { target: Value::Reg(target) }) = ops.last() else { return None };
                let Callee::Slot(slot) = flow::slot(&ops, *target) else { return None };
                return object.relocations().has(slot).then_some(slot);
            }
            _ => return None,
        }
    }
    None
}
