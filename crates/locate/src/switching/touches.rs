//! What a pass through a block reads and writes, read off its ops once and then known.

use std::collections::HashMap;
use std::ops::Range;

use lift::{Helper, Op, Reg};
use machine::{Pass, Plan, Words};
use replay::{RegisterSet, accesses};
use rustc_hash::FxBuildHasher;

/// What a pass touches.
#[derive(Default)]
pub struct Touched {
    reads: RegisterSet,
    writes: RegisterSet,
    /// It asks for the time.
    pub tells_time: bool,
    /// Its accesses, if they are all plain loads and stores.
    plain: Option<Box<[Access]>>,
}

struct Access {
    instruction: u16,
    /// Which word of the pass has the address.
    word: u16,
    bytes: u64,
    is_write: bool,
}

/// What functions that are served are given.
const ARGUMENTS: [Reg; 5] = [Reg::RDI, Reg::RSI, Reg::RDX, Reg::RCX, Reg::RSP];

/// What passes touch, by [`Pass::key`].
#[derive(Default)]
pub struct Touches {
    known: HashMap<u64, Touched, FxBuildHasher>,
}

impl Touches {
    pub fn of(&mut self, pass: &Pass<'_>) -> &Touched {
        self.known.entry(pass.key()).or_insert_with(|| Touched::new(pass))
    }
}

impl Touched {
    fn new(pass: &Pass<'_>) -> Touched {
        let mut found = Touched { plain: plain_accesses(pass), ..Touched::default() };
        for op in pass.forward().flat_map(|executed| executed.ops) {
            op.reads(|reg| found.reads.add(reg));
            op.writes(|reg| found.writes.add(reg));
            found.tells_time |= matches!(op, Op::Helper { helper: Helper::Rdtsc | Helper::Rdtscp, .. });
        }
        if pass.is_served() {
            ARGUMENTS.into_iter().for_each(|reg| found.reads.add(reg));
            found.writes.add(Reg::RAX);
        }
        found
    }

    /// What it reads and writes from its instruction of number `from` on.
    pub fn registers(&self, pass: &Pass<'_>, from: usize) -> (RegisterSet, RegisterSet) {
        if from == 0 {
            return (self.reads, self.writes);
        }
        let (mut reads, mut writes) = <(RegisterSet, RegisterSet)>::default();
        for op in pass.forward().skip(from).flat_map(|executed| executed.ops) {
            op.reads(|reg| reads.add(reg));
            op.writes(|reg| writes.add(reg));
        }
        (reads, writes)
    }

    /// Calls `each` with the memory that the pass accessed from its instruction of number `from` on, and whether it wrote.
    pub fn memory(&self, pass: &Pass<'_>, from: usize, mut each: impl FnMut(Range<u64>, bool)) {
        let Some(plain) = &self.plain else {
            for access in pass.forward().skip(from).flat_map(|executed| accesses(&executed)) {
                each(access.range, access.write);
            }
            return;
        };
        for access in plain.iter().filter(|access| usize::from(access.instruction) >= from) {
            let at = pass.words().get(usize::from(access.word)).copied().unwrap_or(0);
            each(at..at.saturating_add(access.bytes), access.is_write);
        }
    }
}

fn plain_accesses(pass: &Pass<'_>) -> Option<Box<[Access]>> {
    let mut found = Vec::new();
    let mut word = 0u16;
    for (instruction, executed) in (0..).zip(pass.forward()) {
        let mut plan = Plan::default();
        let mut last = word;
        for op in executed.ops {
            let words = plan.next(op);
            if matches!(words, Words::Address(_)) {
                last = word;
            }
            word = word.checked_add(words.count() as u16)?;
            let (bytes, is_write) = match op {
                Op::Load { size, .. } => (size.bytes(), false),
                Op::Store { size, .. } => (size.bytes(), true),
                Op::LoadVector { .. } => (16, false),
                Op::StoreVector { .. } => (16, true),
                Op::LoadExtended { .. } => (10, false),
                Op::StoreExtended { .. } => (10, true),
                Op::String { .. } | Op::Helper { .. } => return None,
                _ => continue,
            };
            found.push(Access { instruction, word: last, bytes, is_write });
        }
    }
    Some(found.into())
}
