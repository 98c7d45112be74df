//! All who need a byte, for those who want to see more than the nearest of them.
//!
//! A pass knows one need of each byte; of two it keeps the nearer. Beside that, the users are noted here by place, as far as
//! they are near enough to be told. What only moves a value hands its users on.

use std::collections::BTreeMap;

use lift::Reg;

use super::backward::Backward;
use super::need::{Need, Use};
use super::slice::Source;
use super::step::{Made, Step, Watch};

/// So many users are noted at the same time; others are as if they were too far away.
const MOST_USERS: usize = 1 << 20;

/// A statement instance, and how it used something.
type Users = Vec<(u32, Use)>;

#[derive(Default)]
pub(super) struct Sharing {
    slots: BTreeMap<Reg, Users>,
    memory: BTreeMap<u64, Users>,
    /// Users of what the instruction at hand only moves.
    moved: Users,
    noted: usize,
}

impl Sharing {
    fn note(&mut self, place: Noted, need: Need) {
        let users = match place {
            Noted::Slot(reg) => self.slots.entry(reg).or_default(),
            Noted::Memory(address) => self.memory.entry(address).or_default(),
        };
        for user in self.moved.iter().copied().chain([(need.user(), need.how())]) {
            if self.noted < MOST_USERS && !users.contains(&user) {
                users.push(user);
                self.noted += 1;
            }
        }
    }

    /// The users of what was made, which is needed no longer.
    fn take(&mut self, made: Made) -> Users {
        let mut taken: Users = match made {
            Made::Register(reg) => self.slots.remove(&reg).unwrap_or_default(),
            Made::Memory { address, length } => {
                let bytes = (address..).take(length as usize).collect::<Vec<u64>>();
                bytes.iter().filter_map(|byte| self.memory.remove(byte)).flatten().collect()
            }
            Made::Kernel(_) | Made::Decision | Made::Omission(_) | Made::Call => Users::new(),
        };
        self.noted = self.noted.saturating_sub(taken.len());
        taken.sort_unstable();
        taken.dedup();
        taken
    }
}

enum Noted {
    Slot(Reg),
    Memory(u64),
}

impl<W: Watch> Backward<'_, '_, W> {
    const NOTES: bool = W::SHARES || W::SHARES_ENDS;

    #[inline]
    pub(super) fn note_slot(&mut self, reg: Reg, need: Need) {
        if Self::NOTES && self.watch.wants_user(need) {
            self.sharing.note(Noted::Slot(reg), need);
        }
    }

    #[inline]
    pub(super) fn note_bytes(&mut self, address: u64, bytes: lift::Bytes, need: Need) {
        if Self::NOTES && self.watch.wants_user(need) {
            for byte in (0..8).filter(|byte| bytes & 1 << byte != 0) {
                self.sharing.note(Noted::Memory(address.wrapping_add(byte)), need);
            }
        }
    }

    /// The instruction at hand only moves what it made: its users are those of what it used.
    #[inline]
    pub(super) fn hand_users_on(&mut self, made: Made) {
        if Self::NOTES {
            self.sharing.moved = self.sharing.take(made);
        }
    }

    /// What it used is noted.
    #[inline]
    pub(super) fn moved_on(&mut self) {
        if Self::NOTES {
            self.sharing.moved.clear();
        }
    }

    /// Tells the same step of all other users.
    #[inline]
    pub(super) fn tell_others(&mut self, step: Step) {
        if Self::NOTES {
            for (user, how) in self.sharing.take(step.made) {
                if W::SHARES && user != step.user && user != step.maker {
                    self.watch.step(Step { user, how, ..step });
                }
            }
        }
    }

    /// Tells all other users that a chain of theirs ends here as well.
    pub(super) fn end_others(&mut self, told: Need, source: &Source) {
        if !Self::NOTES {
            return;
        }
        let made = match *source {
            Source::Uninitialised { address } | Source::Initial { address } => {
                Made::Memory { address, length: 1 }
            }
            Source::InitialRegister(reg) => Made::Register(reg),
            _ => return,
        };
        for (user, _) in self.sharing.take(made) {
            if user != told.user() {
                self.watch.end_of_other(user, source);
            }
        }
    }
}
