//! Recursive descent: the instructions that can be reached from a function's entry.

use std::collections::{BTreeMap, BTreeSet};

use lift::Op;

use super::extent::Extent;
use super::flow::{self, Flow, Step};
use super::graph::HoleKind;
use super::no_return;
use crate::object_file::ObjectFile;

/// Larger functions are cut; the largest that compilers make of real sources have some 100 000.
const MOST_INSTRUCTIONS: usize = 1 << 20;

/// The instructions of a function, and how control goes between them.
#[derive(Default)]
pub(super) struct Code {
    pub steps: BTreeMap<u64, Step>,
    /// Where blocks begin.
    pub leaders: BTreeSet<u64>,
    /// Calls that do not return.
    pub final_calls: BTreeSet<u64>,
    /// Jumps, also conditional ones, that leave the function, by the address of the instruction.
    pub leaving: BTreeSet<u64>,
    pub holes: BTreeMap<u64, HoleKind>,
}

pub(super) fn descend<'a>(object: &'a ObjectFile, extent: Extent<'a>) -> (Code, Extent<'a>) {
    let mut descent = Descent { object, extent, code: Code::default(), pending: Vec::new(), ops: Vec::new() };
    descent.lead(descent.extent.start);
    descent.run();
    (descent.code, descent.extent)
}

struct Descent<'a> {
    object: &'a ObjectFile,
    extent: Extent<'a>,
    code: Code,
    /// Addresses from which to go on.
    pending: Vec<u64>,
    ops: Vec<Op>,
}

impl Descent<'_> {
    fn run(&mut self) {
        while let Some(address) = self.pending.pop() {
            self.straight(address);
        }
    }

    /// Makes `address` the start of a block.
    fn lead(&mut self, address: u64) {
        if self.code.leaders.insert(address) {
            self.pending.push(address);
        }
    }

    /// Follows the code from `address` on until it cannot just go on.
    fn straight(&mut self, mut address: u64) {
        while !self.code.steps.contains_key(&address) {
            if self.code.steps.len() >= MOST_INSTRUCTIONS {
                self.code.holes.insert(address, HoleKind::TooLarge);
                return;
            }
            let bytes = self.object.bytes_at(address).filter(|_| self.object.is_code(address));
            let step = bytes.and_then(|bytes| flow::step(bytes, address, &mut self.ops));
            let Some(mut step) = step.filter(|_| self.fits(address)) else {
                self.code.holes.insert(address, HoleKind::Undecodable);
                return;
            };
            step.length = self.shortened(address, step.length);
            self.code.steps.insert(address, step);
            let next = address.wrapping_add(u64::from(step.length));
            if !self.follow(address, step, next) {
                return;
            }
            address = next;
        }
    }

    /// Whether control goes on to the next instruction within the same block.
    fn follow(&mut self, address: u64, step: Step, next: u64) -> bool {
        match step.flow {
            Flow::On => self.goes_on(next),
            Flow::Call(callee) => {
                // A compiler ends a function with a call only when it does not return.
                let goes_on = self.extent.contains(next) && no_return::call_returns(self.object, callee);
                if !goes_on {
                    self.code.final_calls.insert(address);
                }
                goes_on
            }
            Flow::Jump(target) => {
                self.jump(address, target);
                false
            }
            Flow::Branch(target) => {
                self.jump(address, target);
                if self.goes_on(next) {
                    self.lead(next);
                }
                false
            }
            Flow::IndirectJump => {
                self.code.holes.insert(address, HoleKind::IndirectJump);
                false
            }
            Flow::Return | Flow::Stop => false,
        }
    }

    fn goes_on(&self, next: u64) -> bool {
        self.extent.contains(next)
    }

    fn jump(&mut self, from: u64, target: u64) {
        if self.extent.takes(target) {
            self.lead(target);
        } else {
            self.code.leaving.insert(from);
        }
    }

    /// Whether an instruction can begin here: not inside of another, or as what follows its prefixes, as in
    /// code that jumps over a lock prefix. The other then ends where this one begins.
    fn fits(&mut self, address: u64) -> bool {
        let Some((start, step)) = self.code.steps.range_mut(..address).next_back() else { return true };
        let Some(inside) = address.checked_sub(*start).filter(|inside| *inside < u64::from(step.length))
        else {
            return true;
        };
        let rest = self.object.bytes_at(address).and_then(|bytes| flow::step(bytes, address, &mut self.ops));
        let same_end = rest.is_some_and(|rest| inside + u64::from(rest.length) == u64::from(step.length));
        if same_end && step.flow == Flow::On {
            step.length = inside as u8;
        }
        same_end
    }

    /// The length of the instruction up to where another begins inside of it.
    fn shortened(&self, address: u64, length: u8) -> u8 {
        let end = address.saturating_add(u64::from(length));
        let inside = self.code.steps.range(address.saturating_add(1)..end).next();
        inside.map_or(length, |(start, _)| (start - address) as u8)
    }
}
