//! Recursive descent: the instructions that can be reached from a function's entry.

use std::collections::{BTreeMap, BTreeSet};

use lift::{Op, Reg};
use rustc_hash::FxHashMap;

use super::extent::Extent;
use super::flow::{self, Callee, Flow, Step};
use super::graph::HoleKind;
use super::landing_pads;
use super::no_return;
use super::tables::{self, Budget, Resolution, Table};
use crate::object_file::ObjectFile;

/// Larger functions are cut; the largest that compilers make of real sources have some 100 000.
const MOST_INSTRUCTIONS: usize = 1 << 20;

/// How often all indirect jumps are looked at anew.
const ROUNDS: usize = 4;

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
    /// Indirect jumps to other functions, where it is known to which.
    pub tail_calls: BTreeMap<u64, Option<u64>>,
    /// Indirect jumps through tables.
    pub tables: BTreeMap<u64, Table>,
    /// Which jumps and branches lead to an address.
    pub incoming: FxHashMap<u64, Vec<u64>>,
    /// Where exceptions are caught.
    pub landing_pads: BTreeSet<u64>,
    /// Where indirect jumps were seen to go within the function.
    pub seen: BTreeMap<u64, BTreeSet<u64>>,
    pub holes: BTreeMap<u64, HoleKind>,
}

/// Transfers of control that a run made: from the address of an instruction to that of the next.
pub(crate) type Observed = BTreeMap<u64, BTreeSet<u64>>;

impl Code {
    /// The instructions after which the one at `address` can come.
    pub fn predecessors(&self, address: u64) -> impl Iterator<Item = u64> + '_ {
        let before = self.steps.range(..address).next_back().filter(|(start, step)| {
            let falls_through = match step.flow {
                Flow::On | Flow::Branch(_) => true,
                Flow::Call(_) => !self.final_calls.contains(start),
                Flow::Jump(_) | Flow::IndirectJump | Flow::Return | Flow::Stop => false,
            };
            falls_through && start.wrapping_add(u64::from(step.length)) == address
        });
        let jumps = self.incoming.get(&address).into_iter().flatten();
        before.map(|(start, _)| *start).into_iter().chain(jumps.copied())
    }

    /// Whether an instruction can begin at `address` as far as is known: not inside of another.
    pub fn is_free(&self, address: u64) -> bool {
        let before = self.steps.range(..address).next_back();
        before.is_none_or(|(start, step)| start.saturating_add(u64::from(step.length)) <= address)
    }
}

pub(super) fn descend<'a>(
    object: &'a ObjectFile,
    extent: Extent<'a>,
    observed: &Observed,
) -> (Code, Extent<'a>) {
    let mut descent = Descent {
        object,
        extent,
        observed,
        code: Code::default(),
        pending: Vec::new(),
        parts_done: 0,
        jumps: Vec::new(),
        ops: Vec::new(),
    };
    descent.lead(descent.extent.start);
    descent.run();
    descent.resolve_jumps();
    (descent.code, descent.extent)
}

struct Descent<'a, 'b> {
    object: &'a ObjectFile,
    extent: Extent<'a>,
    observed: &'b Observed,
    code: Code,
    /// Addresses from which to go on.
    pending: Vec<u64>,
    /// How many parts were looked at for landing pads.
    parts_done: usize,
    /// Indirect jumps that have not been looked at.
    jumps: Vec<u64>,
    ops: Vec<Op>,
}

impl Descent<'_, '_> {
    fn run(&mut self) {
        loop {
            while let Some(address) = self.pending.pop() {
                self.straight(address);
            }
            // Parts may have been added on the way.
            let Some(part) = self.extent.parts().get(self.parts_done).cloned() else { break };
            self.parts_done += 1;
            for pad in landing_pads::find(self.object, part.start) {
                if self.extent.takes(pad) {
                    self.code.landing_pads.insert(pad);
                    self.lead(pad);
                }
            }
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
                let goes_on = self.was_seen(address, next) || self.returns(address, callee, next);
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
                self.jumps.push(address);
                self.follow_seen(address);
                false
            }
            Flow::Return | Flow::Stop => false,
        }
    }

    fn returns(&self, call: u64, callee: Callee, next: u64) -> bool {
        // A compiler ends a function with a call only when it does not return.
        if !self.extent.contains(next) {
            return false;
        }
        if callee == Callee::Address(next) {
            return true;
        }
        let ends_by_status = no_return::imported(self.object, callee)
            .is_some_and(|name| no_return::EXITS_UNLESS_ZERO.contains(&name))
            && self.first_argument(call).is_some_and(|status| status as u32 != 0);
        !ends_by_status && no_return::call_returns(self.object, callee, call)
    }

    /// The first argument of a call, when it is a constant.
    fn first_argument(&self, call: u64) -> Option<u64> {
        tables::constant_before(self.object, &self.code, call, Reg::RDI)
    }

    fn was_seen(&self, from: u64, to: u64) -> bool {
        self.observed.get(&from).is_some_and(|seen| seen.contains(&to))
    }

    /// Adds the targets within the function that an indirect jump was seen to have.
    fn follow_seen(&mut self, jump: u64) {
        for target in self.observed.get(&jump).into_iter().flatten() {
            if self.code.is_free(*target) && self.extent.takes(*target) {
                self.lead(*target);
                self.code.incoming.entry(*target).or_default().push(jump);
                self.code.seen.entry(jump).or_default().insert(*target);
            }
        }
    }

    fn goes_on(&self, next: u64) -> bool {
        self.extent.contains(next)
    }

    /// Finds the targets of indirect jumps. Each is looked at when it is found, and once more when all code is
    /// known, since more ways may lead to it then.
    fn resolve_jumps(&mut self) {
        let mut budget = Budget::new();
        let mut all = Vec::new();
        for _ in 0..ROUNDS {
            let before = self.code.steps.len();
            while let Some(jump) = self.jumps.pop() {
                let found = tables::resolve(self.object, &self.extent, &self.code, jump, &mut budget);
                self.apply(jump, found);
                self.run();
                all.push(jump);
            }
            if self.code.steps.len() == before {
                break;
            }
            self.jumps = std::mem::take(&mut all);
            budget.forget();
        }
    }

    fn apply(&mut self, jump: u64, found: Resolution) {
        match found {
            Resolution::Table(table) => {
                for (_, target) in &table.cases {
                    if self.extent.takes(*target) {
                        self.lead(*target);
                        let incoming = self.code.incoming.entry(*target).or_default();
                        if incoming.last() != Some(&jump) {
                            incoming.push(jump);
                        }
                    }
                }
                self.code.holes.remove(&jump);
                self.code.tables.insert(jump, table);
            }
            Resolution::TailCall(target) => _ = self.code.tail_calls.insert(jump, target),
            Resolution::Unknown => _ = self.code.holes.insert(jump, HoleKind::IndirectJump),
        }
    }

    fn jump(&mut self, from: u64, target: u64) {
        if self.extent.takes(target) {
            self.code.incoming.entry(target).or_default().push(from);
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
