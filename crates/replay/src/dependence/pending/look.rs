//! What is known about bytes, looked at without being taken.

use lift::{Bytes, Reg};
use linux::Place;

use super::super::need::Need;
use super::{PAGE, Pending, bytes_of};

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
            each(self.mixed[reg.index()][left.trailing_zeros() as usize]);
            left &= left - 1;
        }
    }

    /// Whether the same is known about all of these bytes of a slot, or nothing about any.
    #[inline]
    pub fn is_slot_even(&self, reg: Reg, bytes: Bytes) -> bool {
        let slot = &self.slots[reg.index()];
        let known = slot.bytes & bytes;
        known == 0 || known == bytes && !slot.is_mixed
    }

    /// Calls `each` with what is known about some of eight bytes of memory; once, where it is the same of all.
    #[inline]
    pub fn look_at_bytes(&mut self, address: u64, bytes: Bytes, mut each: impl FnMut(Need)) {
        let mut last = None;
        self.each_byte(address, bytes, |need| {
            if last != Some(need) {
                each(need);
                last = Some(need);
            }
        });
    }

    /// Whether the same is known about all of these bytes of memory, or nothing about any.
    #[inline]
    pub fn are_bytes_even(&mut self, address: u64, bytes: Bytes) -> bool {
        let (mut first, mut count, mut is_even) = (None, 0, true);
        self.each_byte(address, bytes, |need| {
            is_even &= *first.get_or_insert(need) == need;
            count += 1;
        });
        is_even && (count == 0 || count == bytes.count_ones())
    }

    #[inline]
    fn each_byte(&mut self, address: u64, bytes: Bytes, mut each: impl FnMut(Need)) {
        let offset = (address % PAGE) as usize;
        if offset + 8 > PAGE as usize {
            for byte in (0..8).filter(|byte| bytes & 1 << byte != 0) {
                self.need_of_memory(address.wrapping_add(byte)).into_iter().for_each(&mut each);
            }
            return;
        }
        let Some(page) = self.page(address / PAGE) else { return };
        for byte in bytes_of(bytes) {
            page.need(offset + byte).into_iter().for_each(&mut each);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_seen_across_words_and_pages_as_they_are_one_by_one() {
        for address in [0x1000, 0x1038, 0x1039, 0x103c, 0x103f, 0x1ff8, 0x1ff9, 0x1fff] {
            for bytes in [0xff, 0x0f, 0x81, 0x3c] {
                let mut pending = Pending::new();
                let count = |pending: &mut Pending| {
                    let mut count = 0;
                    pending.each_byte(address, 0xff, |_| count += 1);
                    count
                };
                assert_eq!(count(&mut pending), 0);
                pending.need_bytes(address, bytes, Need::at(2, 1));
                assert_eq!(count(&mut pending), bytes.count_ones(), "{address:#x}");
                assert!(pending.are_bytes_even(address, bytes));
                assert_eq!(pending.are_bytes_even(address, 0xff), bytes == 0xff);
                pending.need_bytes(address, bytes & bytes.wrapping_neg(), Need::at(1, 7));
                assert!(!pending.are_bytes_even(address, bytes));
            }
        }
    }
}
