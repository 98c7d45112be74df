//! What the object has in memory once it is loaded, and what its linker stubs lead to.

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

/// A stub of the linker: it jumps to wherever the loader has put into a slot.
pub(super) struct Stub {
    pub slot: u64,
    /// Length in bytes.
    pub length: u64,
}

/// The linker's stub at an address.
pub(super) fn stub(object: &ObjectFile, address: u64) -> Option<Stub> {
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
                let is_linked = object.relocations().has(slot);
                return is_linked.then(|| Stub { slot, length: at.wrapping_sub(address) });
            }
            _ => return None,
        }
    }
    None
}
