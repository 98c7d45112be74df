//! What a trial has that the spine has not, at the same point.

use std::ops::Range;

use lift::Reg;
use linux::Process;
use machine::{Memory, PAGE_SIZE, Patches, Region};
use smallvec::SmallVec;

/// More words that differ are not kept: the trial runs on.
pub const MOST_WORDS: usize = 512;
/// Bytes of a word.
pub const WORD: u64 = 8;

/// Eight bytes of memory, some of which differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub address: u64,
    /// All bits of the bytes that differ.
    pub mask: u64,
    /// The trial's.
    pub value: u64,
}

impl Word {
    /// The word in which one value is the spine's and the other the trial's.
    pub fn between(address: u64, spine: u64, trial: u64) -> Word {
        let differs = (spine ^ trial).to_le_bytes().map(|byte| if byte == 0 { 0 } else { u8::MAX });
        Word { address, mask: u64::from_le_bytes(differs), value: trial }
    }

    /// What the trial has where the spine has `spine`.
    pub fn over(&self, spine: u64) -> u64 {
        spine & !self.mask | self.value & self.mask
    }
}

/// All that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub registers: SmallVec<[(Reg, u64); 6]>,
    /// Sorted by address.
    memory: Vec<Word>,
}

/// What became of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Entered,
    Left,
    None,
}

impl Difference {
    /// What two runs of one origin differ in. `None` if it is too much, or is code.
    pub fn between(trial: &Process, spine: &Process) -> Option<Difference> {
        let (mine, theirs) = (&trial.machine.cpu, &spine.machine.cpu);
        let registers =
            (0..=u8::MAX).map(Reg).filter(|reg| !reg.is_temp() && mine.get(*reg) != theirs.get(*reg));
        let registers = registers.map(|reg| (reg, mine.get(reg))).collect();
        let (mine, theirs) = (&trial.machine.memory, &spine.machine.memory);
        let mut memory = Vec::new();
        for page in mine.pages_unshared_with(theirs) {
            let is_code = |region: &Region| region.permissions.execute;
            if !compare(mine, theirs, page, &mut memory) {
                continue;
            }
            if memory.len() > MOST_WORDS || theirs.region_at(page).is_none_or(is_code) {
                return None;
            }
        }
        Some(Difference { registers, memory })
    }

    pub fn is_empty(&self) -> bool {
        self.registers.is_empty() && self.memory.is_empty()
    }

    pub fn memory(&self) -> &[Word] {
        &self.memory
    }

    /// Makes the spine's state that of the trial. `false` if the memory is not there any more.
    pub fn apply(&self, process: &mut Process) -> bool {
        self.registers.iter().for_each(|(reg, value)| process.machine.cpu.set(*reg, *value));
        self.memory.iter().all(|word| {
            let value = word.over(word_at(process, word.address));
            process.machine.memory.poke(word.address, &value.to_le_bytes()).is_ok()
        })
    }

    /// The trial has `trial` in a register in which the spine has `spine`.
    pub fn set_register(&mut self, reg: Reg, spine: u64, trial: u64) -> Change {
        let place = self.registers.iter().position(|(known, _)| *known == reg);
        match place {
            Some(place) if spine == trial => {
                self.registers.swap_remove(place);
                Change::Left
            }
            Some(place) => {
                self.registers[place].1 = trial;
                Change::None
            }
            None if spine == trial => Change::None,
            None => {
                self.registers.push((reg, trial));
                Change::Entered
            }
        }
    }

    /// The trial has this word.
    pub fn set_word(&mut self, word: Word) -> Change {
        match (self.memory.binary_search_by_key(&word.address, |known| known.address), word.mask) {
            (Ok(place), 0) => {
                self.memory.remove(place);
                Change::Left
            }
            (Ok(place), _) => {
                self.memory[place] = word;
                Change::None
            }
            (Err(_), 0) => Change::None,
            (Err(place), _) => {
                self.memory.insert(place, word);
                Change::Entered
            }
        }
    }

    /// Bytes of a word do not differ any more: those that `mask` has.
    pub fn clear(&mut self, address: u64, mask: u64) -> Change {
        let Some(&known) = self.word(address) else { return Change::None };
        self.set_word(Word { mask: known.mask & !mask, ..known })
    }

    pub fn word(&self, address: u64) -> Option<&Word> {
        let place = self.memory.binary_search_by_key(&address, |known| known.address).ok()?;
        self.memory.get(place)
    }
}

impl Patches for Difference {
    fn patch(&self, address: u64, bytes: &mut [u8]) {
        let end = address.saturating_add(bytes.len() as u64);
        let first = self.memory.partition_point(|word| word.address.saturating_add(WORD) <= address);
        for word in self.memory.iter().skip(first).take_while(|word| word.address < end) {
            let (mask, value) = (word.mask.to_le_bytes(), word.value.to_le_bytes());
            for (place, (mask, value)) in (word.address..).zip(mask.into_iter().zip(value)) {
                if mask != 0
                    && let Some(byte) = place.checked_sub(address).and_then(|at| bytes.get_mut(at as usize))
                {
                    *byte = value;
                }
            }
        }
    }
}

/// Adds the words of a page that differ, and says whether there are some.
fn compare(trial: &Memory, spine: &Memory, page: u64, found: &mut Vec<Word>) -> bool {
    let (mut mine, mut theirs) = ([0; PAGE_SIZE as usize], [0; PAGE_SIZE as usize]);
    trial.peek(page, &mut mine);
    spine.peek(page, &mut theirs);
    if mine == theirs {
        return false;
    }
    let words = mine.as_chunks::<8>().0.iter().zip(theirs.as_chunks::<8>().0);
    for (address, (mine, theirs)) in (page..).step_by(WORD as usize).zip(words) {
        if mine != theirs {
            found.push(Word::between(address, u64::from_le_bytes(*theirs), u64::from_le_bytes(*mine)));
        }
    }
    true
}

/// The word at an address, which is a multiple of eight; zeroes where nothing is.
pub fn word_at(process: &mut Process, address: u64) -> u64 {
    let memory = &mut process.machine.memory;
    memory.load::<u64>(address).unwrap_or_else(|_| {
        let mut bytes = [0; WORD as usize];
        memory.peek(address, &mut bytes);
        u64::from_le_bytes(bytes)
    })
}

/// The words that a range of bytes lies in, each with the mask of its bytes.
pub fn words_of(range: Range<u64>) -> impl Iterator<Item = (u64, u64)> {
    let first = range.start & !(WORD - 1);
    (first..range.end).step_by(WORD as usize).map(move |address| {
        let skipped = range.start.saturating_sub(address);
        let above = address.saturating_add(WORD).saturating_sub(range.end).min(WORD);
        (address, (u64::MAX << (8 * skipped)) & (u64::MAX >> (8 * above)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_range_cover_its_bytes_and_no_others() {
        for (start, length) in (0..20).flat_map(|start| (1..40).map(move |length| (start, length))) {
            let bytes: Vec<u64> = words_of(start..start + length)
                .flat_map(|(address, mask)| {
                    let bytes = mask.to_le_bytes();
                    (address..)
                        .zip(bytes)
                        .filter(|(_, byte)| *byte != 0)
                        .map(|(at, _)| at)
                        .collect::<Vec<_>>()
                })
                .collect();
            assert_eq!(bytes, (start..start + length).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_patch_puts_in_what_differs_wherever_a_read_begins() {
        let mut difference = Difference::default();
        assert_eq!(difference.set_word(Word::between(16, 0, 0x11_0000_0022)), Change::Entered);
        let mut whole = [7; 24];
        difference.patch(8, &mut whole);
        assert_eq!((whole[8], whole[12], whole[9]), (0x22, 0x11, 7));
        let mut part = [7; 4];
        difference.patch(18, &mut part);
        assert_eq!(part, [7, 7, 0x11, 7]);
        assert_eq!(difference.clear(16, 0xff), Change::None);
        assert_eq!(difference.clear(16, 0xff << 32), Change::Left);
        assert!(difference.is_empty());
    }
}
