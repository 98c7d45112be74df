//! What a backward pass is looking for: bytes of registers, of memory and of the kernel's places, each with the reason.

mod look;

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use lift::{Bytes, Reg, SLOTS};
use linux::Place;
use smallvec::SmallVec;

use super::need::Need;
use super::page::{PAGE, Page, bytes_of};
use super::slot_set::{SlotSet, first_slot, has_x87, plain_slots_of, slot_bit, slots_of};

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
    need: Need,
    bytes: Bytes,
    /// The bytes have different needs, which are kept elsewhere; else `need` is that of all.
    is_mixed: bool,
}

impl Slot {
    const NONE: Slot = Slot { bytes: 0, is_mixed: false, need: Need::NONE };

    #[inline]
    fn add(&mut self, bytes: Bytes, need: Need, each: &mut [Need; 8]) {
        if self.bytes == 0 {
            *self = Slot { need, bytes, is_mixed: false };
        } else if !self.is_mixed && (self.need == need || self.bytes == bytes) {
            self.need = self.need.joined(need);
            self.bytes |= bytes;
        } else {
            self.mix(bytes, need, each);
        }
    }

    #[cold]
    fn mix(&mut self, bytes: Bytes, need: Need, each: &mut [Need; 8]) {
        if !self.is_mixed {
            *each = [self.need; 8];
            self.is_mixed = true;
        }
        for byte in bytes_of(bytes) {
            let known = self.bytes & 1 << byte != 0;
            each[byte] = if known { each[byte].joined(need) } else { need };
        }
        self.bytes |= bytes;
    }

    #[inline(always)]
    fn take(&mut self, each: &[Need; 8], mut taken: impl FnMut(Bytes, Need)) {
        match std::mem::take(&mut self.bytes) {
            0 => {}
            bytes if self.is_mixed => Taken::grouped(bytes, each).each(taken),
            bytes => taken(bytes, self.need),
        }
    }
}

/// Everything that is looked for at one instant.
pub struct Pending {
    slots: Box<[Slot; SLOTS]>,
    /// The needs of slots whose bytes have different ones.
    mixed: Box<[[Need; 8]; SLOTS]>,
    /// Which slots that outlive an instruction have such bytes, see [`slot_bit`].
    wanted: SlotSet,
    /// Where in `store` the pages with needed bytes are.
    pages: NumberMap<u64, u32>,
    store: Vec<Box<Page>>,
    free: Vec<u32>,
    recent: Box<[(u64, u32); RECENT]>,
    /// Bytes outside of registers and memory.
    places: BTreeMap<Place, Need>,
}

/// What is needed of up to eight bytes. It is small, so that it stays in registers of the host: what is stored in parts and moved as
/// a whole at once makes it wait.
#[derive(Clone, Copy)]
pub enum Alike {
    /// Nothing of them is needed.
    Nothing,
    /// All that is needed of them, for one reason.
    One(Bytes, Need),
    /// They are needed for different reasons.
    Different,
}

/// Some of up to eight bytes: each distinct need with its bytes.
#[derive(Default)]
pub struct Taken(SmallVec<[(Bytes, Need); 3]>);

impl Taken {
    /// Each of the bytes has its own.
    #[cold]
    pub fn grouped(mut bytes: Bytes, each: &[Need; 8]) -> Taken {
        let mut groups = SmallVec::new();
        while bytes != 0 {
            let need = each[bytes.trailing_zeros() as usize];
            let like_it =
                (0..8).zip(each).fold(0, |set, (byte, other)| set | Bytes::from(*other == need) << byte);
            let alike = bytes & like_it;
            groups.push((alike, need));
            bytes &= !alike;
        }
        Taken(groups)
    }

    pub fn each(&self, mut each: impl FnMut(Bytes, Need)) {
        self.iter().for_each(|(bytes, need)| each(bytes, need));
    }

    pub fn iter(&self) -> impl Iterator<Item = (Bytes, Need)> + '_ {
        self.0.iter().copied()
    }
}

impl Pending {
    pub fn new() -> Pending {
        Pending {
            slots: Box::new([Slot::NONE; SLOTS]),
            mixed: Box::new([[Need::NONE; 8]; SLOTS]),
            wanted: 0,
            pages: NumberMap::default(),
            store: Vec::new(),
            free: Vec::new(),
            recent: Box::new([(u64::MAX, NO_PAGE); RECENT]),
            places: BTreeMap::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.wanted == 0 && self.pages.is_empty() && self.places.is_empty()
    }

    /// The slots that are needed between instructions, as a set.
    pub fn wanted_slots(&self) -> SlotSet {
        self.wanted
    }

    pub fn has_memory(&self) -> bool {
        !self.pages.is_empty()
    }

    pub fn need_slot(&mut self, reg: Reg, bytes: Bytes, need: Need) {
        if bytes != 0 && !is_no_dependence(reg) {
            self.add_slot(reg, bytes, need);
        }
    }

    /// The same of a slot that can be a dependence, and at least one byte.
    #[inline]
    pub fn add_slot(&mut self, reg: Reg, bytes: Bytes, need: Need) {
        let (slot, each) = (&mut self.slots[reg.index()], &mut self.mixed[reg.index()]);
        slot.add(bytes, need, each);
        self.wanted |= slot_bit(reg);
    }

    /// The needed bytes of a slot, which are needed no more: each distinct need with its bytes.
    pub fn take_slot(&mut self, reg: Reg) -> Taken {
        let mut taken = Taken::default();
        self.take_slot_to(reg, |bytes, need| taken.0.push((bytes, need)));
        taken
    }

    /// The same, told one by one.
    #[inline(always)]
    pub fn take_slot_to(&mut self, reg: Reg, taken: impl FnMut(Bytes, Need)) {
        self.slots[reg.index()].take(&self.mixed[reg.index()], taken);
        let bit = slot_bit(reg);
        if !has_x87(bit) || slots_of(bit).all(|other| self.slots[other.index()].bytes == 0) {
            self.wanted &= !bit;
        }
    }

    /// The needed bytes of some slots that are no x87 registers, if they are the same of all and are all needed for the same
    /// reason.
    #[inline]
    pub fn take_alike(&mut self, slots: SlotSet) -> Option<(Bytes, Need)> {
        let first = &self.slots[first_slot(slots).index()];
        let (bytes, need) = (first.bytes, first.need);
        let is_same = |reg: Reg| {
            let slot = &self.slots[reg.index()];
            slot.bytes == bytes && slot.need == need && !slot.is_mixed
        };
        if first.is_mixed || !plain_slots_of(slots & (slots - 1)).all(is_same) {
            return None;
        }
        plain_slots_of(slots).for_each(|reg| self.slots[reg.index()].bytes = 0);
        self.wanted &= !slots;
        Some((bytes, need))
    }

    /// Up to 8 bytes of memory are needed: those of the set, which has one at least.
    #[inline]
    pub fn need_bytes(&mut self, address: u64, bytes: Bytes, need: Need) {
        let offset = (address % PAGE) as usize;
        if offset + 8 > PAGE as usize {
            return bytes_of(bytes)
                .for_each(|byte| self.need_memory(address.wrapping_add(byte as u64), need));
        }
        let index = self.page_made(address / PAGE);
        let Some(page) = self.store.get_mut(index as usize) else { return };
        page.add(offset, bytes, need);
    }

    /// The needs of up to 8 bytes of memory, which are no more, told one by one.
    #[inline(always)]
    pub fn take_bytes_to(&mut self, address: u64, length: u64, mut taken: impl FnMut(Bytes, Need)) {
        match self.take_alike_bytes(address, length) {
            Alike::Nothing => {}
            Alike::One(bytes, need) => taken(bytes, need),
            Alike::Different => self.take_different_bytes(address, length).each(taken),
        }
    }

    /// Those of up to 8 bytes of memory that are needed, which they are no more, if they are for one reason; else all stays.
    #[inline(always)]
    pub fn take_alike_bytes(&mut self, address: u64, length: u64) -> Alike {
        let offset = (address % PAGE) as usize;
        if offset + length as usize > PAGE as usize {
            return Alike::Different;
        }
        let Some(index) = self.page_index(address / PAGE) else { return Alike::Nothing };
        let Some(page) = self.store.get_mut(index as usize) else { return Alike::Nothing };
        let taken = page.take_alike(offset, length as usize);
        if let Alike::One(..) = taken {
            self.drop_if_empty(index);
        }
        taken
    }

    /// Needs of up to 8 bytes of memory, which are no more.
    #[cold]
    fn take_different_bytes(&mut self, address: u64, length: u64) -> Taken {
        let (mut bytes, mut each) = (0, [Need::NONE; 8]);
        let offset = (address % PAGE) as usize;
        if offset + length as usize <= PAGE as usize {
            if let Some(index) = self.page_index(address / PAGE)
                && let Some(page) = self.store.get_mut(index as usize)
            {
                bytes = page.take_each(offset, length as usize, &mut each);
                self.drop_if_empty(index);
            }
            return Taken::grouped(bytes, &each);
        }
        for (byte, place) in (0..length).zip(&mut each) {
            if let Some(need) = self.take_memory(address.wrapping_add(byte)) {
                *place = need;
                bytes |= 1 << byte;
            }
        }
        Taken::grouped(bytes, &each)
    }

    /// Whether some byte from `start` up to `end` is needed. It may say yes for no reason where they are many pages.
    pub fn has_memory_within(&mut self, start: u64, end: u64) -> bool {
        let last = end.saturating_sub(1);
        if self.pages.is_empty() || end <= start {
            return false;
        }
        if last / PAGE != start / PAGE {
            return true;
        }
        let page = self.page(start / PAGE);
        page.is_some_and(|page| page.needs_within((start % PAGE) as usize, (last % PAGE) as usize))
    }

    pub fn need_memory(&mut self, address: u64, need: Need) {
        let index = self.page_made(address / PAGE);
        if let Some(page) = self.store.get_mut(index as usize) {
            page.add((address % PAGE) as usize, 1, need);
        }
    }

    /// Whether some byte of these is needed.
    #[inline]
    pub fn needs_memory(&mut self, address: u64, length: u64) -> bool {
        let offset = (address % PAGE) as usize;
        if length > 16 || offset as u64 + length > PAGE {
            return (0..length).any(|byte| self.needs_byte(address.wrapping_add(byte)));
        }
        let last = offset + length.saturating_sub(1) as usize;
        length > 0 && self.page(address / PAGE).is_some_and(|page| page.needs_within(offset, last))
    }

    fn needs_byte(&mut self, address: u64) -> bool {
        self.page(address / PAGE).is_some_and(|page| page.needs((address % PAGE) as usize))
    }

    /// The need of a byte of memory, which is no more.
    pub fn take_memory(&mut self, address: u64) -> Option<Need> {
        let index = self.page_index(address / PAGE)?;
        let need = self.store.get_mut(index as usize)?.take((address % PAGE) as usize)?;
        self.drop_if_empty(index);
        Some(need)
    }

    #[inline]
    fn drop_if_empty(&mut self, index: u32) {
        if let Some(page) = self.store.get(index as usize).filter(|page| page.count == 0) {
            self.drop_page(index, page.number);
        }
    }

    #[cold]
    fn drop_page(&mut self, index: u32, number: u64) {
        self.pages.remove(&number);
        self.free.push(index);
        self.recent[number as usize % RECENT] = (u64::MAX, NO_PAGE);
    }

    /// The need of a byte of memory, which stays.
    pub fn need_of_memory(&mut self, address: u64) -> Option<Need> {
        self.page(address / PAGE)?.need((address % PAGE) as usize)
    }

    /// The nearest need of a byte of a slot, which stays.
    pub fn need_of_slot(&self, reg: Reg) -> Option<Need> {
        let mut slot = self.slots[reg.index()];
        let mut nearest: Option<Need> = None;
        slot.take(&self.mixed[reg.index()], |_, need| {
            nearest = Some(nearest.map_or(need, |known| known.joined(need)));
        });
        nearest
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
        if self.pages.is_empty() || length == 0 {
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
            let bytes = page.needed().map(|offset| number * PAGE + offset as u64);
            found.extend(bytes.filter(|at| (address..=last).contains(at)).map(|at| at - address));
        }
        found
    }

    /// All bytes of memory that are needed, in order.
    pub fn memory(&mut self) -> Vec<(u64, Need)> {
        let all = self.memory_within(0, u64::MAX);
        all.into_iter().filter_map(|address| Some((address, self.need_of_memory(address)?))).collect()
    }

    /// All other bytes that are needed outside of registers, in order.
    pub fn places(&self) -> impl Iterator<Item = (Place, Need)> + '_ {
        self.places.iter().map(|(place, need)| (*place, *need))
    }

    #[inline]
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

    #[inline]
    fn page_made(&mut self, number: u64) -> u32 {
        self.page_index(number).unwrap_or_else(|| self.make_page(number))
    }

    #[cold]
    fn make_page(&mut self, number: u64) -> u32 {
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
pub fn is_no_dependence(reg: Reg) -> bool {
    matches!(reg, Reg::RSP | Reg::ZERO | Reg::FS_BASE | Reg::GS_BASE)
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
                let mut taken = Vec::new();
                pending.take_bytes_to(address, length, |bytes, need| taken.push((bytes, need)));
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
