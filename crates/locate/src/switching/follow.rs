//! Instructions of the spine in the worlds of trials that wait: each is executed once more on what the trial has, and what differs then is
//! what the two have written.

use lift::Reg;
use linux::Process;
use machine::{Apart, Pass, Stores, Unpatched};
use smallvec::SmallVec;

use super::difference::{MOST_WORDS, Word, word_at, words_of};
use super::parked::Parked;

/// What an instruction did for the spine, and what it does for one trial after the other.
#[derive(Default)]
pub struct Follower {
    /// Counts the instructions that were followed.
    step: u64,
    /// One is being followed.
    is_at_it: bool,
    spine: Apart,
    /// Where control goes for the spine.
    next: u64,
    trial: Apart,
}

impl Follower {
    /// The instruction that is being followed, as trials that were followed in it note it; a number that none has if there is none.
    pub fn step(&self) -> u64 {
        if self.is_at_it { self.step } else { u64::MAX }
    }

    /// An instruction of the spine, which is about to execute it. `false` if it cannot be followed.
    pub fn begin(&mut self, pass: &Pass<'_>, index: usize, before: &mut Process) -> bool {
        self.step += 1;
        self.is_at_it = true;
        self.spine.cpu.clone_from(&before.machine.cpu);
        self.trial.cpu.clone_from(&before.machine.cpu);
        match before.machine.execute_apart(pass, index, &Unpatched, &mut self.spine) {
            Some(next) => {
                self.next = next;
                true
            }
            None => false,
        }
    }

    /// Executes the instruction in the world of a trial. `false`, and nothing is done, if it would go another way than the spine. `writes` are the
    /// registers that the instruction writes.
    pub fn follow(
        &mut self,
        id: u32,
        parked: &mut Parked,
        instruction: (&Pass<'_>, usize, &[Reg]),
        before: &mut Process,
    ) -> bool {
        let (pass, index, writes) = instruction;
        let Some(waiting) = parked.get_mut(id) else { return false };
        let differing: SmallVec<[Reg; 8]> =
            waiting.difference.registers.iter().map(|(reg, _)| *reg).collect();
        waiting.difference.registers.iter().for_each(|(reg, value)| self.trial.cpu.set(*reg, *value));
        let next = before.machine.execute_apart(pass, index, &waiting.difference, &mut self.trial);
        let words = words_of_both(&self.spine.stores, &self.trial.stores);
        if next != Some(self.next) || waiting.difference.memory().len() + words.len() > MOST_WORDS {
            self.trial.cpu.clone_from(&before.machine.cpu);
            return false;
        }
        waiting.followed = self.step;
        for reg in writes {
            parked.set_register(id, *reg, self.spine.cpu.get(*reg), self.trial.cpu.get(*reg));
        }
        for address in words {
            let now = word_at(before, address);
            let known = parked.get(id).and_then(|waiting| waiting.difference.word(address));
            let own = known.map_or(now, |word| word.over(now));
            let [spine, trial] = [(&self.spine, now), (&self.trial, own)].map(|(apart, word)| {
                let mut bytes = word.to_le_bytes();
                apart.stores.patch(address, &mut bytes);
                u64::from_le_bytes(bytes)
            });
            parked.set_word(id, Word::between(address, spine, trial));
        }
        for reg in differing.iter().chain(writes) {
            self.trial.cpu.set(*reg, before.machine.cpu.get(*reg));
        }
        true
    }

    /// The instruction is over.
    pub fn end(&mut self) {
        self.is_at_it = false;
    }
}

/// The words that somebody stored to.
fn words_of_both(spine: &Stores, trial: &Stores) -> SmallVec<[u64; 8]> {
    let ranges = spine.iter().chain(trial.iter());
    let ranges = ranges.map(|(address, bytes)| address..address.saturating_add(bytes.len() as u64));
    let mut words: SmallVec<[u64; 8]> =
        ranges.flat_map(|range| words_of(range).map(|(address, _)| address)).collect();
    words.sort_unstable();
    words.dedup();
    words
}
