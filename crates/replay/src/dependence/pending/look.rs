//! What is known about bytes, looked at without being taken.

use lift::{Bytes, Reg};
use linux::Place;

use super::super::need::Need;
use super::{PAGE, Pending};

impl Pending {
    /// Calls `each` with what is known about some bytes of a slot; once, where it is the same of all.
    #[inline]
    pub fn look_at_slot(&self, reg: Reg, bytes: Bytes, mut each: impl FnMut(Need)) {
        let slot = &self.slots[reg.index()];
        let mut left = slot.bytes & bytes;
        if left == 0 {
            return;
        }
        if !slot.is_mixed {
            return each(slot.need);
        }
        while left != 0 {
            each(slot.each[left.trailing_zeros() as usize]);
            left &= left - 1;
        }
    }

    /// The same of some of eight bytes of memory.
    #[inline]
    pub fn look_at_bytes(&mut self, address: u64, bytes: Bytes, mut each: impl FnMut(Need)) {
        if address % PAGE <= PAGE - 8 && self.page(address / PAGE).is_none() {
            return;
        }
        for byte in (0..8).filter(|byte| bytes & 1 << byte != 0) {
            self.need_of_memory(address.wrapping_add(byte)).into_iter().for_each(&mut each);
        }
    }

    /// What is known about a byte anywhere.
    pub fn look_at_place(&mut self, place: Place) -> Option<Need> {
        match place {
            Place::Memory(address) => self.need_of_memory(address),
            _ => self.places.get(&place).copied(),
        }
    }

    /// All bytes from a place on are known about no more.
    pub fn forget(&mut self, place: Place, length: u64) {
        for offset in self.offsets_needed(place, length) {
            self.take_place(place.plus(offset));
        }
    }
}
