//! Trials that wait beside the spine: who is concerned by an access.

use std::collections::HashMap;
use std::ops::Range;

use lift::Reg;
use replay::RegisterSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::difference::{Change, Difference, Word, words_of};

/// A trial that waits.
pub struct Waiting {
    pub trial: usize,
    pub difference: Difference,
    /// By how much its own time is ahead of the spine's, round the end of numbers where it is behind.
    pub ahead: u64,
    pub wakes: u32,
    /// What it has taken so far, in instructions.
    pub spent: u64,
    /// The last step of the spine that was followed in its world.
    pub followed: u64,
}

/// All that wait, with an index of what they differ in.
#[derive(Default)]
pub struct Parked {
    waiting: HashMap<u32, Waiting, FxBuildHasher>,
    /// Who differs in a register, and which somebody differs in.
    by_register: HashMap<u8, Vec<u32>, FxBuildHasher>,
    pub registers: RegisterSet,
    by_word: HashMap<u64, SmallVec<[u32; 2]>, FxBuildHasher>,
}

impl Parked {
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn add(&mut self, waiting: Waiting) {
        let id = waiting.trial as u32;
        for (reg, _) in &waiting.difference.registers {
            self.by_register.entry(reg.0).or_default().push(id);
            self.registers.add(*reg);
        }
        for word in waiting.difference.memory() {
            self.by_word.entry(word.address).or_default().push(id);
        }
        self.waiting.insert(id, waiting);
    }

    pub fn get(&self, id: u32) -> Option<&Waiting> {
        self.waiting.get(&id)
    }

    pub fn get_mut(&mut self, id: u32) -> Option<&mut Waiting> {
        self.waiting.get_mut(&id)
    }

    /// Takes one out.
    pub fn take(&mut self, id: u32) -> Option<Waiting> {
        let waiting = self.waiting.remove(&id)?;
        waiting.difference.registers.iter().for_each(|(reg, _)| self.forget_register(*reg, id));
        waiting.difference.memory().iter().for_each(|word| self.forget_word(word.address, id));
        Some(waiting)
    }

    /// All of them, in order.
    pub fn all(&self) -> Vec<u32> {
        self.which(|_| true)
    }

    /// Those for whom it is true, in order.
    pub fn which(&self, is: impl Fn(&Waiting) -> bool) -> Vec<u32> {
        let mut ids: Vec<u32> =
            self.waiting.iter().filter(|(_, waiting)| is(waiting)).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }

    /// Who differs in one of these registers.
    pub fn readers(&self, reads: &RegisterSet, found: &mut Vec<u32>) {
        for reg in self.registers.common(reads).iter() {
            found.extend(self.by_register.get(&reg.0).into_iter().flatten());
        }
    }

    /// Who differs in a byte of the range.
    pub fn readers_of_memory(&self, range: &Range<u64>, found: &mut Vec<u32>) {
        for (address, mask) in words_of(range.clone()) {
            let ids = self.by_word.get(&address).into_iter().flatten();
            found.extend(ids.filter(|id| {
                let word = self.get(**id).and_then(|waiting| waiting.difference.word(address));
                word.is_some_and(|word| word.mask & mask != 0)
            }));
        }
    }

    /// Whether anybody may differ in a byte of the range.
    pub fn has_readers(&self, range: &Range<u64>) -> bool {
        words_of(range.clone()).any(|(address, _)| self.by_word.contains_key(&address))
    }

    /// One has `trial` in a register in which the spine has `spine`.
    pub fn set_register(&mut self, id: u32, reg: Reg, spine: u64, trial: u64) {
        let Some(waiting) = self.waiting.get_mut(&id) else { return };
        match waiting.difference.set_register(reg, spine, trial) {
            Change::Entered => {
                self.by_register.entry(reg.0).or_default().push(id);
                self.registers.add(reg);
            }
            Change::Left => self.forget_register(reg, id),
            Change::None => {}
        }
    }

    /// One has this word.
    pub fn set_word(&mut self, id: u32, word: Word) {
        let Some(waiting) = self.waiting.get_mut(&id) else { return };
        match waiting.difference.set_word(word) {
            Change::Entered => self.by_word.entry(word.address).or_default().push(id),
            Change::Left => self.forget_word(word.address, id),
            Change::None => {}
        }
    }

    /// The spine gives a register a new value, and so do all but those that were followed in this step. Tells who may not differ any more.
    pub fn write(&mut self, reg: Reg, step: u64, touched: &mut Vec<u32>) {
        if !self.registers.contains(reg) {
            return;
        }
        let Parked { waiting, by_register, .. } = self;
        let Some(ids) = by_register.get_mut(&reg.0) else { return };
        ids.retain(|id| {
            let Some(waiting) = waiting.get_mut(id) else { return false };
            if waiting.followed == step {
                return true;
            }
            waiting.difference.set_register(reg, 0, 0);
            touched.push(*id);
            false
        });
        if ids.is_empty() {
            by_register.remove(&reg.0);
            self.registers.remove(reg);
        }
    }

    /// The same of memory.
    pub fn write_memory(&mut self, range: &Range<u64>, step: u64, touched: &mut Vec<u32>) {
        let Parked { waiting, by_word, .. } = self;
        for (address, mask) in words_of(range.clone()) {
            let Some(ids) = by_word.get_mut(&address) else { continue };
            ids.retain(|id| {
                let Some(waiting) = waiting.get_mut(id) else { return false };
                if waiting.followed == step {
                    return true;
                }
                let left = waiting.difference.clear(address, mask) == Change::Left;
                if left {
                    touched.push(*id);
                }
                !left
            });
            if ids.is_empty() {
                by_word.remove(&address);
            }
        }
    }

    /// Takes out those of some that do not differ any more.
    pub fn finished(&mut self, touched: &[u32]) -> Vec<Waiting> {
        let is_same =
            |parked: &Parked, id: u32| parked.get(id).is_some_and(|waiting| waiting.difference.is_empty());
        touched.iter().filter_map(|id| if is_same(self, *id) { self.take(*id) } else { None }).collect()
    }

    fn forget_register(&mut self, reg: Reg, id: u32) {
        if let Some(ids) = self.by_register.get_mut(&reg.0) {
            if let Some(place) = ids.iter().position(|known| *known == id) {
                ids.swap_remove(place);
            }
            if ids.is_empty() {
                self.by_register.remove(&reg.0);
                self.registers.remove(reg);
            }
        }
    }

    fn forget_word(&mut self, address: u64, id: u32) {
        if let Some(ids) = self.by_word.get_mut(&address) {
            if let Some(place) = ids.iter().position(|known| *known == id) {
                ids.swap_remove(place);
            }
            if ids.is_empty() {
                self.by_word.remove(&address);
            }
        }
    }
}
