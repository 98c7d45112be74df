//! What a backward pass is looking for: bytes of registers, of memory and of the kernel's places, each with the reason.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use lift::{Bytes, Reg, SLOTS};

use super::slot_set::{SlotSet, slot_bit};
use linux::Place;

use super::need::Need;

const PAGE: u64 = 4096;

/// The needs of one page, byte by byte.
struct Page {
    number: u64,
    count: u32,
    present: [u64; PAGE as usize / 64],
    needs: [Need; PAGE as usize],
}

impl Page {
    fn new(number: u64) -> Box<Page> {
        Box::new(Page { number, count: 0, present: [0; 64], needs: [Need::NONE; PAGE as usize] })
    }

    /// Whether the byte was not needed before.
    #[inline]
    fn add(&mut self, offset: usize, need: Need) -> bool {
        let bit = 1u64 << (offset % 64);
        let word = &mut self.present[offset / 64];
        let is_new = *word & bit == 0;
        let place = &mut self.needs[offset];
        *place = if is_new { need } else { place.joined(need) };
        *word |= bit;
        self.count += u32::from(is_new);
        is_new
    }

    /// Adds up to 8 bytes, none of which is on another page; how many were not needed before.
    fn add_some(&mut self, offset: usize, bytes: Bytes, need: Need) -> u32 {
        let shift = offset % 64;
        let bits = u64::from(bytes) << shift;
        let word = &mut self.present[offset / 64];
        if shift > 56 || *word & bits != 0 {
            let each = (0..8).filter(|byte| bytes & 1 << byte != 0);
            return each.map(|byte| u32::from(self.add(offset + byte, need))).sum();
        }
        *word |= bits;
        let mut left = bytes;
        while left != 0 {
            self.needs[offset + left.trailing_zeros() as usize] = need;
            left &= left - 1;
        }
        self.count += bytes.count_ones();
        bytes.count_ones()
    }

    /// Takes those of up to 8 bytes that are needed, none of which is on another page.
    fn take_some(&mut self, offset: usize, length: u32) -> Taken {
        let mut bytes: Bytes = 0;
        let shift = offset % 64;
        let all = (0xffu16 >> (8 - length)) as Bytes;
        bytes |= (self.present[offset / 64] >> shift) as Bytes & all;
        self.present[offset / 64] &= !(u64::from(all) << shift);
        if shift > 56
            && let Some(next) = self.present.get_mut(offset / 64 + 1)
        {
            bytes |= (*next << (64 - shift)) as Bytes & all;
            *next &= !(u64::from(all) >> (64 - shift));
        }
        self.count -= bytes.count_ones();
        if bytes == 0 {
            return Taken::one(0, Need::NONE);
        }
        let first = self.needs[offset + bytes.trailing_zeros() as usize];
        let (mut each, mut left, mut alike) = ([Need::NONE; 8], bytes, true);
        while left != 0 {
            let byte = left.trailing_zeros() as usize;
            each[byte] = self.needs[offset + byte];
            alike &= each[byte] == first;
            left &= left - 1;
        }
        if alike { Taken::one(bytes, first) } else { Taken::grouped(bytes, &each) }
    }

    #[inline]
    fn take(&mut self, offset: usize) -> Option<Need> {
        let bit = 1u64 << (offset % 64);
        let word = &mut self.present[offset / 64];
        if *word & bit == 0 {
            return None;
        }
        *word &= !bit;
        self.count -= 1;
        Some(self.needs[offset])
    }
}

/// Page numbers are their own hash, spread a little.
#[derive(Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

pub type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Pages that were looked up last, by the low bits of their number: most stores go to one of a few pages.
const RECENT: usize = 256;
const NO_PAGE: u32 = u32::MAX;

/// The needs of one slot. Nearly always its bytes are needed for one reason.
#[derive(Clone, Copy)]
struct Slot {
    bytes: Bytes,
    /// The bytes have different needs, which are in `each`; else `need` is that of all.
    is_mixed: bool,
    need: Need,
    each: [Need; 8],
}

impl Slot {
    const NONE: Slot = Slot { bytes: 0, is_mixed: false, need: Need::NONE, each: [Need::NONE; 8] };

    #[inline]
    fn add(&mut self, bytes: Bytes, need: Need) {
        if self.bytes == 0 {
            (self.bytes, self.need, self.is_mixed) = (bytes, need, false);
        } else if !self.is_mixed && (self.need == need || self.bytes == bytes) {
            self.need = self.need.joined(need);
            self.bytes |= bytes;
        } else {
            self.mix(bytes, need);
        }
    }

    fn mix(&mut self, bytes: Bytes, need: Need) {
        if !self.is_mixed {
            self.each = [self.need; 8];
            self.is_mixed = true;
        }
        for byte in (0..8).filter(|byte| bytes & 1 << byte != 0) {
            let known = self.bytes & 1 << byte != 0;
            self.each[byte] = if known { self.each[byte].joined(need) } else { need };
        }
        self.bytes |= bytes;
    }

    #[inline]
    fn take(&mut self) -> Taken {
        let bytes = std::mem::take(&mut self.bytes);
        if !self.is_mixed {
            return Taken::one(bytes, self.need);
        }
        Taken::grouped(bytes, &self.each)
    }
}

/// Everything that is looked for at one instant.
pub struct Pending {
    slots: Box<[Slot; SLOTS]>,
    /// Which slots that outlive an instruction have such bytes, see [`slot_bit`].
    wanted: SlotSet,
    pages: NumberMap<u64, u32>,
    store: Vec<Box<Page>>,
    free: Vec<u32>,
    recent: Box<[(u64, u32); RECENT]>,
    /// Bytes outside of registers and memory.
    places: BTreeMap<Place, Need>,
    memory_count: u64,
}

/// The needs of one slot.
pub struct Taken {
    groups: [(Bytes, Need); 8],
    count: usize,
}

impl Taken {
    #[inline]
    fn one(bytes: Bytes, need: Need) -> Taken {
        let mut groups = [(0, Need::NONE); 8];
        groups[0] = (bytes, need);
        Taken { groups, count: usize::from(bytes != 0) }
    }

    fn grouped(mut bytes: Bytes, each: &[Need; 8]) -> Taken {
        let mut taken = Taken { groups: [(0, Need::NONE); 8], count: 0 };
        while bytes != 0 {
            let need = each[bytes.trailing_zeros() as usize];
            let alike = (0..8).filter(|&byte| bytes & 1 << byte != 0 && each[byte] == need);
            let alike: Bytes = alike.map(|byte| 1 << byte).sum();
            taken.groups[taken.count] = (alike, need);
            taken.count += 1;
            bytes &= !alike;
        }
        taken
    }

    fn bytes(&self) -> Bytes {
        self.iter().fold(0, |all, (bytes, _)| all | bytes)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Bytes, Need)> + '_ {
        self.groups.iter().take(self.count).copied()
    }
}

impl Pending {
    pub fn new() -> Pending {
        Pending {
            slots: Box::new([Slot::NONE; SLOTS]),
            wanted: 0,
            pages: NumberMap::default(),
            store: Vec::new(),
            free: Vec::new(),
            recent: Box::new([(u64::MAX, NO_PAGE); RECENT]),
            places: BTreeMap::new(),
            memory_count: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.wanted == 0 && self.memory_count == 0 && self.places.is_empty()
    }

    /// The slots that are needed between instructions, as a set.
    pub fn wanted_slots(&self) -> SlotSet {
        self.wanted
    }

    pub fn has_memory(&self) -> bool {
        self.memory_count > 0
    }

    pub fn need_slot(&mut self, reg: Reg, bytes: Bytes, need: Need) {
        if bytes == 0 || is_no_dependence(reg) {
            return;
        }
        let slot = &mut self.slots[reg.index()];
        slot.add(bytes, need);
        self.wanted |= slot_bit(reg);
    }

    /// The needed bytes of a slot, which are needed no more: each distinct need with its bytes.
    #[inline]
    pub fn take_slot(&mut self, reg: Reg) -> Taken {
        let taken = self.slots[reg.index()].take();
        self.wanted &= !slot_bit(reg);
        taken
    }

    /// The same, without a list of them.
    #[inline]
    pub fn take_slot_each(&mut self, reg: Reg, mut each: impl FnMut(Bytes, Need)) {
        self.wanted &= !slot_bit(reg);
        let slot = &mut self.slots[reg.index()];
        if slot.is_mixed {
            slot.take().iter().for_each(|(bytes, need)| each(bytes, need));
        } else if slot.bytes != 0 {
            each(std::mem::take(&mut slot.bytes), slot.need);
        }
    }

    /// Up to 8 bytes of memory are needed: those of the set.
    pub fn need_bytes(&mut self, address: u64, bytes: Bytes, need: Need) {
        let offset = (address % PAGE) as usize;
        if offset + 8 > PAGE as usize {
            let each = (0..8).filter(|byte| bytes & 1 << byte != 0);
            return each.for_each(|byte| self.need_memory(address.wrapping_add(byte), need));
        }
        let index = self.page_made(address / PAGE);
        let Some(page) = self.store.get_mut(index as usize) else { return };
        self.memory_count += u64::from(page.add_some(offset, bytes, need));
    }

    /// The needs of up to 8 bytes of memory, which are no more.
    pub fn take_bytes(&mut self, address: u64, length: u64) -> Taken {
        let offset = (address % PAGE) as usize;
        let (mut bytes, mut each) = (0, [Need::NONE; 8]);
        if offset + length as usize > PAGE as usize {
            for (byte, place) in (0..length).zip(&mut each) {
                if let Some(need) = self.take_memory(address.wrapping_add(byte)) {
                    *place = need;
                    bytes |= 1 << byte;
                }
            }
            return Taken::grouped(bytes, &each);
        }
        let Some(index) = self.page_index(address / PAGE) else { return Taken::one(0, Need::NONE) };
        let Some(page) = self.store.get_mut(index as usize) else { return Taken::one(0, Need::NONE) };
        let taken = page.take_some(offset, length as u32);
        self.memory_count -= u64::from(taken.bytes().count_ones());
        self.drop_if_empty(index);
        taken
    }

    /// Whether some byte from `start` up to `end` is needed. It may say yes for no reason where they are many pages.
    pub fn has_memory_within(&mut self, start: u64, end: u64) -> bool {
        let last = end.saturating_sub(1);
        if self.memory_count == 0 || end <= start {
            return false;
        }
        if last / PAGE != start / PAGE {
            return true;
        }
        let (first, last) = ((start % PAGE) as usize, (last % PAGE) as usize);
        let Some(page) = self.page(start / PAGE) else { return false };
        let words = first / 64..=last / 64;
        words.into_iter().any(|word| {
            let from = if word == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
            let to = if word == last / 64 { u64::MAX >> (63 - last % 64) } else { u64::MAX };
            page.present[word] & from & to != 0
        })
    }

    pub fn need_memory(&mut self, address: u64, need: Need) {
        let index = self.page_made(address / PAGE);
        if let Some(page) = self.store.get_mut(index as usize) {
            let added = page.add((address % PAGE) as usize, need);
            self.memory_count += u64::from(added);
        }
    }

    /// Whether some byte of these is needed.
    #[inline]
    pub fn needs_memory(&mut self, address: u64, length: u64) -> bool {
        let offset = (address % PAGE) as usize;
        if length > 16 || offset as u64 + length > PAGE {
            return (0..length).any(|byte| self.needs_byte(address.wrapping_add(byte)));
        }
        let Some(page) = self.page(address / PAGE) else { return false };
        let (word, shift) = (offset / 64, offset % 64);
        let mask = (1u64 << length) - 1;
        let first = page.present[word] >> shift & mask != 0;
        // A shift by the rest is 0 to 63, since `shift` is 49 or more here.
        first || shift + length as usize > 64 && page.present[word + 1] & (mask >> (64 - shift)) != 0
    }

    fn needs_byte(&mut self, address: u64) -> bool {
        let offset = (address % PAGE) as usize;
        self.page(address / PAGE).is_some_and(|page| page.present[offset / 64] >> (offset % 64) & 1 != 0)
    }

    /// The need of a byte of memory, which is no more.
    pub fn take_memory(&mut self, address: u64) -> Option<Need> {
        let index = self.page_index(address / PAGE)?;
        let need = self.store.get_mut(index as usize)?.take((address % PAGE) as usize)?;
        self.memory_count -= 1;
        self.drop_if_empty(index);
        Some(need)
    }

    #[inline]
    fn drop_if_empty(&mut self, index: u32) {
        let Some(page) = self.store.get(index as usize).filter(|page| page.count == 0) else { return };
        let number = page.number;
        self.pages.remove(&number);
        self.free.push(index);
        self.recent[number as usize % RECENT] = (u64::MAX, NO_PAGE);
    }

    /// The need of a byte of memory, which stays.
    pub fn need_of_memory(&mut self, address: u64) -> Option<Need> {
        let offset = (address % PAGE) as usize;
        let page = self.page(address / PAGE)?;
        (page.present[offset / 64] >> (offset % 64) & 1 != 0).then(|| page.needs[offset])
    }

    /// The nearest need of a byte of a slot, which stays.
    pub fn need_of_slot(&self, reg: Reg) -> Option<Need> {
        let mut slot = self.slots[reg.index()];
        slot.take().iter().map(|(_, need)| need).reduce(Need::joined)
    }

    pub fn need_place(&mut self, place: Place, need: Need) {
        match place {
            Place::Memory(address) => self.need_memory(address, need),
            _ => {
                self.places.entry(place).and_modify(|known| *known = known.joined(need)).or_insert(need);
            }
        }
    }

    pub fn take_place(&mut self, place: Place) -> Option<Need> {
        match place {
            Place::Memory(address) => self.take_memory(address),
            _ => self.places.remove(&place),
        }
    }

    /// The needed bytes among `length` bytes from a place on: their offsets, in order.
    pub fn offsets_needed(&mut self, place: Place, length: u64) -> Vec<u64> {
        match place {
            Place::Memory(address) => self.memory_within(address, length),
            _ => {
                let last = place.plus(length.saturating_sub(1));
                let found = self.places.range(place..=last).map(|(found, _)| offset_in(*found, place));
                found.filter(|offset| *offset < length).collect()
            }
        }
    }

    fn memory_within(&mut self, address: u64, length: u64) -> Vec<u64> {
        if self.memory_count == 0 || length == 0 {
            return Vec::new();
        }
        let last = address.saturating_add(length - 1);
        let mut numbers: Vec<u64> = if last / PAGE - address / PAGE < 64 {
            (address / PAGE..=last / PAGE).collect()
        } else {
            self.pages.keys().copied().filter(|page| (address / PAGE..=last / PAGE).contains(page)).collect()
        };
        numbers.sort_unstable();
        let mut found = Vec::new();
        for number in numbers {
            let Some(page) = self.page(number) else { continue };
            let bytes = bits(&page.present).map(|offset| number * PAGE + offset);
            found.extend(bytes.filter(|at| (address..=last).contains(at)).map(|at| at - address));
        }
        found
    }

    /// All bytes of memory that are needed, in order.
    pub fn memory(&mut self) -> Vec<(u64, Need)> {
        let all = self.memory_within(0, u64::MAX);
        let need = |pending: &mut Pending, address: u64| {
            let page = pending.page(address / PAGE)?;
            Some((address, page.needs[(address % PAGE) as usize]))
        };
        all.into_iter().filter_map(|address| need(self, address)).collect()
    }

    /// All other bytes that are needed outside of registers, in order.
    pub fn places(&self) -> impl Iterator<Item = (Place, Need)> + '_ {
        self.places.iter().map(|(place, need)| (*place, *need))
    }

    fn page_index(&mut self, number: u64) -> Option<u32> {
        let place = &mut self.recent[number as usize % RECENT];
        if place.0 != number {
            *place = (number, self.pages.get(&number).copied().unwrap_or(NO_PAGE));
        }
        (place.1 != NO_PAGE).then_some(place.1)
    }

    #[inline]
    fn page(&mut self, number: u64) -> Option<&Page> {
        let index = self.page_index(number)?;
        self.store.get(index as usize).map(|page| &**page)
    }

    fn page_made(&mut self, number: u64) -> u32 {
        if let Some(index) = self.page_index(number) {
            return index;
        }
        let index = self.free.pop().unwrap_or(self.store.len() as u32);
        match self.store.get_mut(index as usize) {
            Some(page) => page.number = number,
            None => self.store.push(Page::new(number)),
        }
        self.pages.insert(number, index);
        self.recent[number as usize % RECENT] = (number, index);
        index
    }
}

/// Registers whose values are no dependences: the stack pointer, and what threads' variables are found by.
fn is_no_dependence(reg: Reg) -> bool {
    matches!(reg, Reg::RSP | Reg::ZERO | Reg::FS_BASE | Reg::GS_BASE)
}

fn bits(words: &[u64; 64]) -> impl Iterator<Item = u64> + '_ {
    let in_word = |(index, word): (usize, &u64)| {
        let word = *word;
        (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| index as u64 * 64 + bit)
    };
    words.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(in_word)
}

fn offset_in(found: Place, start: Place) -> u64 {
    let offset = |place| match place {
        Place::Memory(offset)
        | Place::File { offset, .. }
        | Place::Pipe { offset, .. }
        | Place::Input { offset }
        | Place::Output { offset, .. } => offset,
        Place::Fresh | Place::Kernel => 0,
    };
    offset(found) - offset(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(distance: u32, user: u32) -> Need {
        Need::at(distance, user)
    }

    #[test]
    fn memory_across_words_and_pages_is_found() {
        let mut pending = Pending::new();
        for address in [64, 4096, 0x7fff_0000_0000] {
            pending.need_memory(address, need(1, 1));
            for length in [1, 2, 4, 8, 16] {
                for before in 0..20 {
                    let start = address - before;
                    let hit = before < length;
                    assert_eq!(pending.needs_memory(start, length), hit, "{start:#x} {length}");
                }
            }
            assert!(!pending.needs_memory(address + 1, 16));
            assert_eq!(pending.offsets_needed(Place::Memory(address - 3), 9), [3]);
            assert!(pending.take_memory(address).is_some());
            assert!(pending.take_memory(address).is_none());
            assert!(!pending.needs_memory(address, 1));
        }
        assert!(pending.is_empty());
    }

    #[test]
    fn bytes_across_words_and_pages_are_added_and_taken_together() {
        for address in [0x1000, 0x1039, 0x103c, 0x103f, 0x1ff9, 0x1ffc, 0x1fff] {
            for length in [1, 2, 4, 8] {
                let mut pending = Pending::new();
                let all = (0xffu16 >> (8 - length)) as Bytes;
                pending.need_bytes(address, all, need(2, 1));
                pending.need_bytes(address, 1, need(1, 7));
                assert!(pending.has_memory_within(address - 100, address + 1));
                assert_eq!(pending.memory().len(), length as usize);
                let taken: Vec<_> = pending.take_bytes(address, length).iter().collect();
                let expected = [(1, need(1, 7)), (all & !1, need(2, 1))];
                assert_eq!(taken, expected[..if length > 1 { 2 } else { 1 }], "{address:#x} {length}");
                assert!(pending.is_empty());
                assert!(!pending.has_memory_within(address & !0xfff, address + 1));
            }
        }
    }

    #[test]
    fn equal_needs_of_a_register_come_together() {
        let mut pending = Pending::new();
        pending.need_slot(Reg::RAX, 0x0f, need(1, 1));
        pending.need_slot(Reg::RAX, 0x3c, need(0, 2));
        pending.need_slot(Reg::RSP, 0xff, need(0, 2));
        let taken = pending.take_slot(Reg::RAX);
        let seen: Vec<_> = taken.iter().map(|(bytes, need)| (bytes, need.user())).collect();
        assert_eq!(seen, [(0x03, 1), (0x3c, 2)]);
        assert!(pending.is_empty());
    }

    #[test]
    fn places_of_the_kernel_are_kept_in_order() {
        let mut pending = Pending::new();
        let at = |offset| Place::Input { offset };
        for offset in [9, 3, 5] {
            pending.need_place(at(offset), need(1, offset as u32));
        }
        assert_eq!(pending.offsets_needed(at(3), 6), [0, 2]);
        assert!(pending.take_place(at(5)).is_some());
        assert_eq!(pending.places().map(|(place, _)| place).collect::<Vec<_>>(), [at(3), at(9)]);
    }
}
