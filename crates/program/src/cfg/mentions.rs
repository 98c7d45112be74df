//! A quick look through all code for addresses of data. Mostly it tells where the next thing begins that code refers to; where it
//! does not, the [`Sweep`](super::sweep::Sweep) does, which takes ten times as long.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use lift::{Decoded, MAX_INSTRUCTION};

use super::extent;
use super::sweep::{constant, is_movable};
use crate::object_file::{ObjectFile, Segment};

/// An instruction that has an address has its four low bytes, or those of its distance from the instruction's end. So many bytes can
/// come after them.
const AFTER: u64 = 4;
/// An instruction that accesses several words has the address of the first.
const WIDE: u64 = 64;

/// By the segment that is mentioned.
#[derive(Default)]
pub(crate) struct Mentions(RefCell<BTreeMap<u64, Rc<[Mention]>>>);

/// Four bytes in the code that may be a part of an address.
struct Mention {
    /// The address, or up to [`AFTER`] bytes less.
    target: u32,
    place: u64,
}

/// The next thing that code refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// What is here.
    At(u64),
    /// Nothing before this address.
    NotBefore(u64),
}

impl Next {
    fn address(self) -> u64 {
        match self {
            Next::At(address) | Next::NotBefore(address) => address,
        }
    }

    fn or_nearer(self, constant: u64, is_certain: bool) -> Next {
        match (constant.cmp(&self.address()), is_certain) {
            (Ordering::Less | Ordering::Equal, true) => Next::At(constant),
            (Ordering::Less, false) => Next::NotBefore(constant),
            _ => self,
        }
    }
}

impl Mentions {
    /// What code refers to first after `address`, as far as the segment of data goes that this is in. `None` if it is in none.
    pub(super) fn next(&self, object: &ObjectFile, address: u64) -> Option<Next> {
        let segment = object.segments().iter().find(|segment| segment.contains(address))?;
        let end = segment.address.checked_add(segment.memory_size)?;
        if segment.executable || u32::try_from(end).is_err() {
            return None;
        }
        let mentions = self.of(object, segment);
        let low = u32::try_from(address.saturating_sub(WIDE + AFTER)).ok()?;
        let from = mentions.partition_point(|mention| mention.target < low);
        let mut next = Next::NotBefore(end);
        for mention in mentions.get(from..).unwrap_or_default() {
            if u64::from(mention.target) > next.address() {
                break;
            }
            for (start, constant) in constants(object, mention.place) {
                if constant > address && constant <= next.address() {
                    next = next.or_nearer(constant, is_instruction(object, start));
                }
            }
        }
        Some(next)
    }

    fn of(&self, object: &ObjectFile, segment: &Segment) -> Rc<[Mention]> {
        let mut known = self.0.borrow_mut();
        known.entry(segment.address).or_insert_with(|| find(object, segment).into()).clone()
    }
}

/// All that may be a part of an address in a segment, sorted by it. Addresses are taken without their high bytes.
fn find(object: &ObjectFile, segment: &Segment) -> Vec<Mention> {
    let low = segment.address.saturating_sub(WIDE + AFTER) as u32;
    let length = (segment.address + segment.memory_size) as u32 - low;
    let mut found = Vec::new();
    for code in object.segments().iter().filter(|segment| segment.executable) {
        let bytes = object.bytes_at(code.address).unwrap_or_default();
        for (place, four) in (code.address..).zip(bytes.windows(4)) {
            let &[a, b, c, d] = four else { continue };
            let absolute = u32::from_le_bytes([a, b, c, d]);
            let relative = absolute.wrapping_add(place as u32).wrapping_add(4);
            for target in [absolute, relative] {
                if target.wrapping_sub(low) < length {
                    found.push(Mention { target, place });
                }
            }
        }
    }
    found.sort_unstable_by_key(|mention| (mention.target, mention.place));
    found
}

/// What instructions refer to that have these bytes as their own, wherever they may begin, with where that is.
fn constants(object: &ObjectFile, place: u64) -> Vec<(u64, u64)> {
    let is_movable = is_movable(object);
    let (mut ops, mut found) = (Vec::new(), Vec::new());
    for start in place.saturating_sub(MAX_INSTRUCTION as u64 - AFTER)..place {
        let bytes = object.bytes_at(start).filter(|_| object.is_code(start)).unwrap_or_default();
        let Decoded::Instruction(instruction) = lift::decode(bytes, start) else { continue };
        if start.wrapping_add(instruction.len() as u64) < place.wrapping_add(AFTER) {
            continue;
        }
        ops.clear();
        lift::lift(&instruction, &mut ops);
        found.extend(ops.iter().filter_map(|op| constant(op, is_movable)).map(|constant| (start, constant)));
    }
    found
}

/// Whether an instruction begins here for certain: those of its function lead to it.
fn is_instruction(object: &ObjectFile, address: u64) -> bool {
    let Some(function) = extent::known_range(object, address) else { return false };
    let code = object.bytes_at(function.start).unwrap_or_default();
    let mut at = function.start;
    for instruction in lift::decode_all(code, function.start) {
        if at >= address {
            break;
        }
        at = at.wrapping_add(instruction.map_or(1, |instruction| instruction.len() as u64));
    }
    at == address
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many addresses are looked at, some apart.
    const SAMPLES: usize = 300;
    const STRIDE: u64 = 0x1f7;

    #[test]
    fn what_code_refers_to_is_never_passed_over_and_mostly_found() {
        let object = ObjectFile::new("/lib/x86_64-linux-gnu/libc.so.6".into(), None);
        let segment =
            *object.segments().iter().find(|segment| !segment.executable && segment.address != 0).unwrap();
        let end = segment.address + segment.memory_size;
        let mut found = 0;
        let addresses = (segment.address..end).step_by(STRIDE as usize).take(SAMPLES);
        let samples = addresses.clone().count();
        for address in addresses {
            let reference = object.sweep().next_reference(address).unwrap_or(end).min(end);
            match object.mentions().next(&object, address).unwrap() {
                Next::At(next) => {
                    assert_eq!(next, reference, "after {address:#x}");
                    found += 1;
                }
                Next::NotBefore(next) => assert!(next <= reference, "after {address:#x}"),
            }
        }
        assert!(found * 5 > samples * 4, "{found} of {samples}");
    }
}
