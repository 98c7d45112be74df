//! Trials that wait beside the spine: what each of them has that is different, and who is concerned by an access.

use std::collections::HashMap;
use std::ops::Range;

use lift::Reg;
use linux::Process;
use replay::{RegisterSet, Writes};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

/// More bytes that differ are not kept: the trial runs on.
const MOST_BYTES: u64 = 4096;
const PAGE: u64 = 4096;

/// What a trial has that the spine has not, at the same point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub registers: Vec<(Reg, u64)>,
    /// Sorted by address.
    pub memory: Vec<(u64, u8)>,
}

impl Difference {
    /// What two runs of one origin differ in, by what both have written since. `None` if it is too much, or is code.
    pub fn between(trial: (&mut Process, &Writes), spine: (&mut Process, &Writes)) -> Option<Difference> {
        let mut written = trial.1.registers;
        written.add_all(&spine.1.registers);
        let (mine, theirs) = (&trial.0.machine.cpu, &spine.0.machine.cpu);
        let registers = written.iter().filter(|reg| mine.get(*reg) != theirs.get(*reg));
        let registers = registers.map(|reg| (reg, mine.get(reg))).collect();
        let mut memory = Vec::new();
        let mut ranges: Vec<&Range<u64>> = trial.1.memory.iter().chain(&spine.1.memory).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let (mut done, mut looked_at) = (0, 0);
        for range in ranges {
            let (start, end) = (range.start.max(done), range.end);
            done = done.max(end);
            looked_at += end.saturating_sub(start);
            if looked_at > MOST_BYTES * 4 {
                return None;
            }
            compare(trial.0, spine.0, start..end, &mut memory);
        }
        let is_code = |address: u64| {
            spine.0.machine.memory.region_at(address).is_none_or(|region| region.permissions.execute)
        };
        if memory.len() as u64 > MOST_BYTES || memory.iter().any(|(address, _)| is_code(*address)) {
            return None;
        }
        Some(Difference { registers, memory })
    }

    pub fn is_empty(&self) -> bool {
        self.registers.is_empty() && self.memory.is_empty()
    }

    /// Its cells, as if they had just been written.
    pub fn as_writes(&self) -> Writes {
        let mut writes = Writes::default();
        self.registers.iter().for_each(|(reg, _)| writes.registers.add(*reg));
        writes.memory = self.memory.iter().map(|(address, _)| *address..address.saturating_add(1)).collect();
        writes
    }

    /// Makes the spine's state that of the trial. `false` if the memory is not there any more.
    pub fn apply(&self, process: &mut Process) -> bool {
        self.registers.iter().for_each(|(reg, value)| process.machine.cpu.set(*reg, *value));
        self.memory.iter().all(|(address, byte)| process.machine.memory.poke(*address, &[*byte]).is_ok())
    }
}

fn compare(trial: &Process, spine: &Process, range: Range<u64>, found: &mut Vec<(u64, u8)>) {
    let (mut mine, mut theirs) = ([0; 64], [0; 64]);
    let mut at = range.start;
    while at < range.end {
        let length = (range.end - at).min(64) as usize;
        let read = trial.machine.memory.peek(at, &mut mine[..length]);
        spine.machine.memory.peek(at, &mut theirs[..length]);
        for (offset, (mine, theirs)) in (0..).zip(mine.iter().zip(&theirs)).take(read) {
            if mine != theirs {
                found.push((at + offset, *mine));
            }
        }
        at += length as u64;
    }
}

/// A trial that waits.
pub struct Waiting {
    pub trial: usize,
    pub difference: Difference,
    /// By how much its own time is ahead of the spine's, round the end of numbers where it is behind.
    pub ahead: u64,
    pub wakes: u32,
}

/// All that wait, with an index of what they differ in.
#[derive(Default)]
pub struct Parked {
    waiting: HashMap<u32, Waiting, FxBuildHasher>,
    next: u32,
    /// Who differs in a register, and who may.
    by_register: HashMap<u8, Vec<u32>, FxBuildHasher>,
    pub registers: RegisterSet,
    by_byte: HashMap<u64, SmallVec<[u32; 2]>, FxBuildHasher>,
    /// Bytes that somebody differs in, a bit each, by page.
    pages: HashMap<u64, Box<[u64; 64]>, FxBuildHasher>,
}

impl Parked {
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn add(&mut self, waiting: Waiting) {
        let id = self.next;
        self.next += 1;
        for (reg, _) in &waiting.difference.registers {
            self.by_register.entry(reg.0).or_default().push(id);
            self.registers.add(*reg);
        }
        for (address, _) in &waiting.difference.memory {
            self.by_byte.entry(*address).or_default().push(id);
            let page = self.pages.entry(address / PAGE).or_insert_with(|| Box::new([0; 64]));
            page[(address % PAGE / 64) as usize] |= 1 << (address % 64);
        }
        self.waiting.insert(id, waiting);
    }

    /// Takes out those that are named, in the order in which they began to wait.
    pub fn take(&mut self, mut ids: Vec<u32>) -> Vec<Waiting> {
        ids.sort_unstable();
        ids.dedup();
        let taken: Vec<_> = ids.iter().filter_map(|id| Some((*id, self.waiting.remove(id)?))).collect();
        for (id, waiting) in &taken {
            waiting.difference.registers.iter().for_each(|(reg, _)| self.forget_register(*reg, *id));
            waiting.difference.memory.iter().for_each(|(address, _)| self.forget_byte(*address, *id));
        }
        taken.into_iter().map(|(_, waiting)| waiting).collect()
    }

    pub fn all(&self) -> Vec<u32> {
        self.waiting.keys().copied().collect()
    }

    /// Those for whom it is true.
    pub fn which(&self, is: impl Fn(&Waiting) -> bool) -> Vec<u32> {
        self.waiting.iter().filter(|(_, waiting)| is(waiting)).map(|(id, _)| *id).collect()
    }

    /// Who differs in one of these registers.
    pub fn readers(&self, reads: &RegisterSet, found: &mut Vec<u32>) {
        for reg in self.registers.common(reads).iter() {
            found.extend(self.by_register.get(&reg.0).into_iter().flatten());
        }
    }

    /// Who differs in a byte of the range.
    pub fn readers_of_memory(&self, range: &Range<u64>, found: &mut Vec<u32>) {
        self.each_byte(range, |address| found.extend(self.by_byte.get(&address).into_iter().flatten()));
    }

    /// The spine gives these registers new values. Those that do not differ any more come back.
    pub fn write(&mut self, writes: &RegisterSet) -> Vec<Waiting> {
        let mut touched = Vec::new();
        for reg in self.registers.common(writes).iter() {
            for id in self.by_register.remove(&reg.0).unwrap_or_default() {
                if let Some(waiting) = self.waiting.get_mut(&id) {
                    waiting.difference.registers.retain(|(known, _)| *known != reg);
                    touched.push(id);
                }
            }
            self.registers.remove(reg);
        }
        self.finished(touched)
    }

    /// The same of memory.
    pub fn write_memory(&mut self, range: &Range<u64>) -> Vec<Waiting> {
        let mut addresses = SmallVec::<[u64; 16]>::new();
        self.each_byte(range, |address| addresses.push(address));
        let mut touched = Vec::new();
        for address in addresses {
            for id in self.by_byte.remove(&address).unwrap_or_default() {
                if let Some(waiting) = self.waiting.get_mut(&id) {
                    waiting.difference.memory.retain(|(known, _)| *known != address);
                    touched.push(id);
                }
            }
            self.unmark(address);
        }
        self.finished(touched)
    }

    fn finished(&mut self, touched: Vec<u32>) -> Vec<Waiting> {
        let is_same = |id: &u32| self.waiting.get(id).is_some_and(|waiting| waiting.difference.is_empty());
        let done: Vec<u32> = touched.into_iter().filter(is_same).collect();
        self.take(done)
    }

    fn each_byte(&self, range: &Range<u64>, mut each: impl FnMut(u64)) {
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min((at / PAGE + 1).saturating_mul(PAGE));
            if let Some(page) = self.pages.get(&(at / PAGE)) {
                let is_marked =
                    |address: &u64| page[(address % PAGE / 64) as usize] >> (address % 64) & 1 != 0;
                (at..end).filter(is_marked).for_each(&mut each);
            }
            at = end;
        }
    }

    fn forget_register(&mut self, reg: Reg, id: u32) {
        if let Some(ids) = self.by_register.get_mut(&reg.0) {
            ids.retain(|known| *known != id);
            if ids.is_empty() {
                self.by_register.remove(&reg.0);
                self.registers.remove(reg);
            }
        }
    }

    fn forget_byte(&mut self, address: u64, id: u32) {
        if let Some(ids) = self.by_byte.get_mut(&address) {
            ids.retain(|known| *known != id);
            if ids.is_empty() {
                self.by_byte.remove(&address);
                self.unmark(address);
            }
        }
    }

    fn unmark(&mut self, address: u64) {
        if let Some(page) = self.pages.get_mut(&(address / PAGE)) {
            page[(address % PAGE / 64) as usize] &= !(1 << (address % 64));
        }
    }
}
