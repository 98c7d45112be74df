//! One pass over all code of an object, for what a function cannot tell about itself: who jumps into a piece
//! of code that was moved away, and which data addresses something refers to.

use std::collections::BTreeMap;

use lift::{Op, Reg, Value};

use super::extent;
use super::flow::{self, Flow};
use crate::object_file::ObjectFile;

/// Larger objects are swept only so far.
const MOST_BYTES: usize = 256 << 20;

pub(crate) struct Sweep {
    /// Addresses outside of the code that some instruction has as a constant, sorted.
    references: Vec<u64>,
    /// Who jumps into a fragment, by the fragment's start.
    jumps: BTreeMap<u64, u64>,
}

impl Sweep {
    pub fn new(object: &ObjectFile) -> Sweep {
        let mut sweep = Sweep { references: Vec::new(), jumps: BTreeMap::new() };
        let mut left = MOST_BYTES;
        for segment in object.segments().iter().filter(|segment| segment.executable) {
            let code = object.bytes_at(segment.address).unwrap_or_default();
            let code = &code[..code.len().min(left)];
            left -= code.len();
            sweep.segment(object, code, segment.address);
        }
        sweep.references.sort_unstable();
        sweep.references.dedup();
        sweep
    }

    /// The first address after `address` that something refers to.
    pub fn next_reference(&self, address: u64) -> Option<u64> {
        let after = self.references.partition_point(|reference| *reference <= address);
        self.references.get(after).copied()
    }

    /// An instruction that jumps into the fragment that begins at `start`.
    pub fn jump_into(&self, start: u64) -> Option<u64> {
        self.jumps.get(&start).copied()
    }

    fn segment(&mut self, object: &ObjectFile, code: &[u8], start: u64) {
        let mut ops = Vec::new();
        let mut at = 0;
        while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
            let address = start.wrapping_add(at as u64);
            let Some(step) = flow::step(rest, address, &mut ops) else {
                at += 1;
                continue;
            };
            at += usize::from(step.length);
            if let Flow::Jump(target) | Flow::Branch(target) = step.flow {
                self.jump(object, address, target);
            }
            let constants = ops.iter().filter_map(constant);
            self.references.extend(constants.filter(|constant| is_data(object, *constant)));
        }
    }

    fn jump(&mut self, object: &ObjectFile, from: u64, target: u64) {
        let Some(range) = extent::range(object, target) else { return };
        if !range.contains(&from) && extent::is_fragment(object, range.start) {
            self.jumps.entry(range.start).or_insert(from);
        }
    }
}

/// An address that an op has as a constant.
fn constant(op: &Op) -> Option<u64> {
    match op {
        Op::Move { src: Value::Const(value), .. } => Some(*value),
        Op::Store { src: Value::Const(value), address, .. } if address.base != Reg::ZERO => Some(*value),
        Op::Lea { address, .. }
        | Op::Load { address, .. }
        | Op::Store { address, .. }
        | Op::LoadVector { address, .. }
        | Op::StoreVector { address, .. } => Some(address.displacement as u64),
        _ => None,
    }
}

fn is_data(object: &ObjectFile, address: u64) -> bool {
    object.segments().iter().any(|segment| !segment.executable && segment.contains(address))
}
