//! One pass over all code of an object, for what a function cannot tell about itself: who jumps into a piece
//! of code that was moved away, and which data addresses something refers to.

use std::collections::BTreeMap;

use lift::{Op, Reg, Value};
use object::{Object, ObjectSection, SectionKind};

use super::extent;
use super::flow::{self, Callee, Flow};
use crate::object_file::{ObjectFile, parse};

/// Larger objects are swept only so far.
const MOST_BYTES: usize = 256 << 20;

pub(crate) struct Sweep {
    /// Addresses outside of the code that some instruction has as a constant, sorted.
    references: Vec<u64>,
    /// Who jumps into a fragment, by the fragment's start.
    jumps: BTreeMap<u64, u64>,
    /// Where functions seem to begin that no symbol and no call frame information knows: they are called, or an
    /// instruction or the loader has their address. Sorted.
    starts: Vec<u64>,
}

impl Sweep {
    pub fn new(object: &ObjectFile) -> Sweep {
        let mut sweep = Sweep { references: Vec::new(), jumps: BTreeMap::new(), starts: Vec::new() };
        let (mut called, mut barriers) = (Vec::new(), Vec::new());
        let mut left = MOST_BYTES;
        for segment in object.segments().iter().filter(|segment| segment.executable) {
            let code = object.bytes_at(segment.address).unwrap_or_default();
            let code = &code[..code.len().min(left)];
            left -= code.len();
            sweep.segment(object, (code, segment.address), &mut called, &mut barriers);
        }
        barriers.sort_unstable();
        sweep.starts.extend(object.relocations().own_values());
        sweep.starts.retain(|start| barriers.binary_search(start).is_ok());
        sweep.starts.append(&mut called);
        sweep.starts.extend(code_sections(object));
        sweep.starts.retain(|start| object.is_code(*start) && extent::known_range(object, *start).is_none());
        for list in [&mut sweep.references, &mut sweep.starts] {
            list.sort_unstable();
            list.dedup();
        }
        sweep
    }

    /// The first address after `address` that something refers to.
    pub fn next_reference(&self, address: u64) -> Option<u64> {
        let after = self.references.partition_point(|reference| *reference <= address);
        self.references.get(after).copied()
    }

    /// The last function start up to `address`, and the first after it.
    pub fn starts_around(&self, address: u64) -> (Option<u64>, Option<u64>) {
        let after = self.starts.partition_point(|start| *start <= address);
        (after.checked_sub(1).and_then(|at| self.starts.get(at)).copied(), self.starts.get(after).copied())
    }

    /// An instruction that jumps into the fragment that begins at `start`.
    pub fn jump_into(&self, start: u64) -> Option<u64> {
        self.jumps.get(&start).copied()
    }

    /// Adds to `called` what is called, and to `barriers` where an instruction begins that the one before does not
    /// lead to, so that a function may begin there.
    fn segment(
        &mut self,
        object: &ObjectFile,
        (code, start): (&[u8], u64),
        called: &mut Vec<u64>,
        barriers: &mut Vec<u64>,
    ) {
        let is_movable = is_movable(object);
        let mut ops = Vec::new();
        // What frames describe the code at hand.
        let mut around = 0..0;
        let mut address = start;
        let mut leads_on = false;
        for instruction in lift::decode_all(code, start) {
            let here = address;
            if !leads_on {
                barriers.push(here);
            }
            let Some(instruction) = instruction else {
                leads_on = false;
                address = here.wrapping_add(1);
                continue;
            };
            address = here.wrapping_add(instruction.len() as u64);
            if is_movable && lift::only_computes(&instruction) {
                leads_on = true;
                continue;
            }
            let flow = flow::flow(&instruction, &mut ops);
            // After a call, or something that does nothing, a function may begin all the same.
            leads_on = matches!(flow, Flow::On | Flow::Branch(_)) && !ops.is_empty();
            match flow {
                Flow::Jump(target) | Flow::Branch(target) => {
                    if !around.contains(&here) {
                        around = object.call_frames().range(here).unwrap_or(0..0);
                    }
                    // A part that was moved away has frames of its own.
                    if !around.contains(&target) {
                        self.jump(object, here, target);
                    }
                }
                Flow::Call(callee) => {
                    // Its return address is no reference.
                    called.extend(if let Callee::Address(target) = callee { Some(target) } else { None });
                    continue;
                }
                _ => {}
            }
            for constant in ops.iter().filter_map(|op| constant(op, is_movable)) {
                match object.segments().iter().find(|segment| segment.contains(constant)) {
                    Some(segment) if segment.executable => self.starts.push(constant),
                    Some(_) => self.references.push(constant),
                    None => {}
                }
            }
        }
    }

    fn jump(&mut self, object: &ObjectFile, from: u64, target: u64) {
        let Some(range) = extent::known_range(object, target) else { return };
        if !range.contains(&from) && extent::is_fragment(object, range.start) {
            self.jumps.entry(range.start).or_insert(from);
        }
    }
}

/// Whether the object can be loaded anywhere.
pub(super) fn is_movable(object: &ObjectFile) -> bool {
    object.segments().iter().any(|segment| segment.address == 0)
}

/// An address that an op has as a constant. In an object that can be loaded anywhere (`is_movable`) other constants
/// than those relative to the instruction are numbers.
pub(super) fn constant(op: &Op, is_movable: bool) -> Option<u64> {
    match op {
        Op::Move { src: Value::Const(value), .. } => (!is_movable).then_some(*value),
        Op::Store { src: Value::Const(value), address, .. } if address.base != Reg::ZERO => {
            (!is_movable).then_some(*value)
        }
        Op::Lea { address, .. }
        | Op::Load { address, .. }
        | Op::Store { address, .. }
        | Op::LoadVector { address, .. }
        | Op::StoreVector { address, .. }
        | Op::LoadExtended { address, .. }
        | Op::StoreExtended { address, .. } => {
            let is_alone = address.base == Reg::ZERO && address.index == Reg::ZERO;
            (is_alone || !is_movable).then_some(address.displacement as u64)
        }
        _ => None,
    }
}

fn code_sections(object: &ObjectFile) -> Vec<u64> {
    let Some(elf) = parse(object.content()) else { return Vec::new() };
    elf.sections()
        .filter(|section| section.kind() == SectionKind::Text)
        .map(|section| section.address())
        .collect()
}
