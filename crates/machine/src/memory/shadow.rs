//! Bytes that are mapped but that nobody may access: the room around the blocks of a checked heap, and freed ones.
//!
//! One bit a byte tells. The bits of eight pages are a page of the tree themselves, at a number above those of a process's
//! pages, so that they are forked, hashed, counted and put aside as all pages are. Pages without bits are ordinary ones, and
//! only a range that somebody asked for has bits at all: what lies outside of it is never looked up.

use super::page::Page;
use super::tree::{Tree, is_unique};
use super::{Access, AccessFault, Cause, Memory, PAGE_MASK, PAGE_SIZE, USER_END};
use std::ops::Range;

/// The number of the page with the bits of the first pages.
const FIRST: u64 = USER_END / PAGE_SIZE;
const WORDS: usize = PAGE_SIZE as usize / 64;
/// The bits of a page, from the lowest address on.
pub(super) type Bits = [u64; WORDS];
/// Pages whose bits lie in one page.
const PAGES: u64 = 8;

/// A part of a page that can be accessed.
pub(super) struct Extent {
    pub range: Range<u64>,
    /// The bits of the page, or null if it has none.
    pub shadow: *const Bits,
}

impl Memory {
    /// From now on the bytes of this range can be forbidden.
    pub fn check_accesses(&mut self, range: Range<u64>) {
        self.checked = range;
        // What is known of pages was found out by the old range.
        self.read_tlb.clear();
        self.write_tlb.clear();
    }

    /// The range in which bytes can be forbidden.
    pub fn checked(&self) -> Range<u64> {
        self.checked.clone()
    }

    /// Forbids every access to these bytes, or permits it again. Nothing changes where the limit on pages is reached.
    pub fn set_forbidden(&mut self, range: Range<u64>, forbidden: bool) -> Result<(), AccessFault> {
        let Range { start, end } = range;
        let end = end.min(self.checked.end);
        let mut at = start.max(self.checked.start);
        while at < end {
            let after = ((at & PAGE_MASK) + PAGE_SIZE).min(end);
            let offset = (at & !PAGE_MASK) as usize;
            if let Some(bits) = self.bits_to_change(at & PAGE_MASK, forbidden)? {
                set_bits(bits, offset..offset + (after - at) as usize, forbidden);
            }
            at = after;
        }
        Ok(())
    }

    /// The first of these bytes that is forbidden.
    pub fn first_forbidden(&self, address: u64, length: u64) -> Option<u64> {
        let end = address.saturating_add(length).min(self.checked.end);
        let mut at = address.max(self.checked.start);
        while at < end {
            let after = ((at & PAGE_MASK) + PAGE_SIZE).min(end);
            let offset = (at & !PAGE_MASK) as usize;
            let bits = bits_of(&self.tree, at & PAGE_MASK);
            if let Some(found) = bits.and_then(|bits| first_set(bits, offset..offset + (after - at) as usize))
            {
                return Some((at & PAGE_MASK) + found as u64);
            }
            at = after;
        }
        None
    }

    /// Whether none of these bytes is forbidden to read.
    pub fn check_readable(&self, address: u64, length: u64) -> Result<(), AccessFault> {
        match self.first_forbidden(address, length) {
            Some(address) => Err(AccessFault { address, access: Access::Read, cause: Cause::Forbidden }),
            None => Ok(()),
        }
    }

    /// The bytes of a page around these, which lie in it, that can be accessed like them. `None` if what may be
    /// remembered is nothing: the access is one that is not checked.
    pub(super) fn extent(
        &self,
        address: u64,
        length: u64,
        access: Access,
    ) -> Result<Option<Extent>, AccessFault> {
        let whole = Some(Extent { range: 0..PAGE_SIZE, shadow: std::ptr::null() });
        if !self.checked.contains(&address) {
            return Ok(whole);
        }
        let page = address & PAGE_MASK;
        let Some(bits) = bits_of(&self.tree, page) else { return Ok(whole) };
        let offset = (address - page) as usize;
        if let Some(range) = stretch(bits, offset, length as usize) {
            return Ok(Some(Extent { range, shadow: bits }));
        }
        if self.unchecked && access == Access::Read {
            return Ok(None);
        }
        let found = first_set(bits, offset..PAGE_SIZE as usize).unwrap_or(offset);
        Err(AccessFault { address: page + found as u64, access, cause: Cause::Forbidden })
    }

    /// Whether a page has no forbidden byte.
    pub(super) fn is_ordinary(&self, address: u64) -> bool {
        !self.checked.contains(&address)
            || bits_of(&self.tree, address & PAGE_MASK)
                .is_none_or(|bits| first_set(bits, 0..PAGE_SIZE as usize).is_none())
    }

    /// Whether loads are let through from now on that touch forbidden bytes.
    pub fn leave_loads_unchecked(&mut self, unchecked: bool) {
        self.unchecked = unchecked;
    }

    /// The bits of a page, to be changed; `None` if they are as they will be.
    fn bits_to_change(&mut self, page: u64, forbidden: bool) -> Result<Option<&mut Bits>, AccessFault> {
        let (number, place) = place_of(page);
        let slot = match self.tree.get(number) {
            Some(_) => self.tree.slot_for_written(number),
            None if !forbidden => return Ok(None),
            None if self.resident >= self.limit => {
                let cause = Cause::OutOfMemory;
                return Err(AccessFault { address: page, access: Access::Write, cause });
            }
            None => {
                self.resident += 1;
                self.tree.slot_for_written(number)
            }
        };
        let mut moved = slot.is_none();
        let shared = slot.get_or_insert_with(Page::zeroed);
        if !is_unique(shared) {
            *shared = shared.copy();
            moved = true;
        }
        // SAFETY: the page has this memory's tree as its only owner, and the memory is borrowed exclusively; the place
        // lies within it, and pages are aligned to more than a word.
        let bits = unsafe { &mut *shared.open().add(place).cast::<Bits>() };
        // The TLB knows where the bits of pages are.
        if moved {
            let first = page / (PAGES * PAGE_SIZE) * (PAGES * PAGE_SIZE);
            self.read_tlb.forget(first, first + PAGES * PAGE_SIZE);
            self.write_tlb.forget(first, first + PAGES * PAGE_SIZE);
        } else {
            self.read_tlb.narrow(page);
            self.write_tlb.narrow(page);
        }
        Ok(Some(bits))
    }
}

/// Where the bits of a page are: the number of a page, and an offset in it.
fn place_of(page: u64) -> (u64, usize) {
    let number = page / PAGE_SIZE;
    (FIRST + number / PAGES, (number % PAGES) as usize * size_of::<Bits>())
}

fn bits_of(tree: &Tree, page: u64) -> Option<&Bits> {
    let (number, place) = place_of(page);
    let bytes = tree.get(number)?.bytes().get(place..place + size_of::<Bits>())?;
    // SAFETY: so many bytes are there, any bytes are words, and pages are aligned to more than a word.
    Some(unsafe { &*bytes.as_ptr().cast::<Bits>() })
}

/// The bytes around these, which lie in a page with these bits, that can be accessed like them; `None` if they cannot.
#[inline(always)]
pub(super) fn stretch(bits: &Bits, offset: usize, length: usize) -> Option<Range<u64>> {
    let end = first_set(bits, offset..PAGE_SIZE as usize).unwrap_or(PAGE_SIZE as usize);
    if offset + length > end {
        return None;
    }
    let start = last_set(bits, offset).map_or(0, |last| last + 1);
    Some(start as u64..end as u64)
}

/// Whether none of these bytes is forbidden, and one word has the bits of all of them.
#[inline(always)]
pub(super) fn permits(bits: &Bits, offset: u64, length: u64) -> bool {
    if length >= 64 {
        return false;
    }
    let all = (1 << length) - 1;
    // What is shifted in from beyond the word counts as forbidden.
    let permitted = !word(bits, offset as usize / 64) >> (offset % 64);
    permitted & all == all
}

/// The word at an index of a page's bits.
#[inline(always)]
fn word(bits: &Bits, index: usize) -> u64 {
    u64::from_le(bits[index % WORDS])
}

/// The bits of a range within the word that `at` is in, and where the next word begins.
#[inline(always)]
fn mask(at: usize, end: usize) -> (u64, usize) {
    let next = (at / 64 + 1) * 64;
    let above = u64::MAX << (at % 64);
    let below = if end >= next { u64::MAX } else { !(u64::MAX << (end % 64)) };
    (above & below, next)
}

fn set_bits(bits: &mut Bits, range: Range<usize>, set: bool) {
    let mut at = range.start;
    while at < range.end {
        let (mask, next) = mask(at, range.end);
        let old = word(bits, at / 64);
        let new = if set { old | mask } else { old & !mask };
        bits[at / 64 % WORDS] = new.to_le();
        at = next;
    }
}

/// The first bit of a range that is set. Most words have none, so the loop over them does nothing else than look for one.
#[inline(always)]
fn first_set(bits: &Bits, range: Range<usize>) -> Option<usize> {
    let own = range.start / 64;
    let mut index = own;
    let mut found = word(bits, own) & u64::MAX << (range.start % 64);
    if found == 0 {
        index += 1 + bits.get(own + 1..range.end.div_ceil(64))?.iter().position(|&word| word != 0)?;
        found = word(bits, index);
    }
    let first = index * 64 + found.trailing_zeros() as usize;
    (first < range.end).then_some(first)
}

/// The last bit before `end` that is set, likewise.
#[inline(always)]
fn last_set(bits: &Bits, end: usize) -> Option<usize> {
    let last = end.checked_sub(1)?;
    let mut index = last / 64;
    let mut found = word(bits, index) & u64::MAX >> (63 - last % 64);
    if found == 0 {
        index = bits.get(..index)?.iter().rposition(|&word| word != 0)?;
        found = word(bits, index);
    }
    Some(index * 64 + 63 - found.leading_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backing, Permissions, Region};

    const START: u64 = 0x10_0000;

    #[test]
    fn bits_are_found_from_both_sides() {
        let set = [0, 1, 63, 64, 130, 2047, 4094, 4095];
        for chosen in 0..1 << set.len() {
            let chosen: Vec<usize> =
                (0..set.len()).filter(|bit| chosen >> bit & 1 != 0).map(|bit| set[bit]).collect();
            let mut bits = [0; WORDS];
            chosen.iter().for_each(|&at| set_bits(&mut bits, at..at + 1, true));
            for edge in [0, 1, 2, 62, 63, 64, 65, 130, 131, 192, 2047, 2048, 4095, 4096] {
                let last = chosen.iter().rfind(|&&at| at < edge).copied();
                assert_eq!(last_set(&bits, edge), last, "{chosen:?} before {edge}");
                for end in [edge, edge + 1, edge + 70, 4096].map(|end| end.min(4096)) {
                    let first = chosen.iter().find(|at| (edge..end).contains(at)).copied();
                    assert_eq!(first_set(&bits, edge..end), first, "{chosen:?} in {edge}..{end}");
                }
            }
        }
    }

    fn memory() -> Memory {
        let mut memory = Memory::new(1 << 20);
        memory.map(Region {
            start: START,
            end: START + 4 * PAGE_SIZE,
            permissions: Permissions::RW,
            backing: Backing::Zero,
            name: "".into(),
            shared: false,
        });
        memory.check_accesses(START..START + 4 * PAGE_SIZE);
        memory
    }

    fn forbidden(address: u64, access: Access) -> AccessFault {
        AccessFault { address, access, cause: Cause::Forbidden }
    }

    #[test]
    fn every_access_that_touches_a_forbidden_byte_is_refused_and_no_other() {
        for (start, end) in [(100, 140), (4090, 4100), (0, 1), (63, 65), (4095, 4096), (8192, 12288)] {
            let mut memory = memory();
            memory.set_forbidden(START + start..START + end, true).unwrap();
            for at in (0..4 * PAGE_SIZE - 16)
                .filter(|at| at % 37 == 0 || at.abs_diff(start) < 20 || at.abs_diff(end) < 20)
            {
                let touches = |size: u64| at < end && at + size > start;
                let first = forbidden(START + at.max(start), Access::Read);
                let address = START + at;
                // Twice, since the second may go by the TLB.
                for _ in 0..2 {
                    assert_eq!(memory.load::<u8>(address).err(), touches(1).then_some(first), "{at}");
                    assert_eq!(memory.load::<u64>(address).err(), touches(8).then_some(first), "{at}");
                    assert_eq!(memory.load::<u128>(address).err(), touches(16).then_some(first), "{at}");
                    assert_eq!(memory.store::<u32>(address, 1).is_err(), touches(4), "{at}");
                }
            }
        }
    }

    #[test]
    fn what_is_permitted_again_can_be_accessed_and_what_becomes_forbidden_cannot() {
        let mut memory = memory();
        memory.store::<u64>(START + 64, 7).unwrap();
        memory.set_forbidden(START..START + 4096, true).unwrap();
        let fault = forbidden(START + 64, Access::Write);
        assert_eq!(memory.store::<u64>(START + 64, 8), Err(fault));
        assert_eq!(memory.write(START + 60, &[0; 8]).map_err(|fault| fault.address), Err(START + 60));
        memory.set_forbidden(START + 64..START + 72, false).unwrap();
        assert_eq!(memory.load::<u64>(START + 64), Ok(7));
        assert_eq!(memory.load::<u64>(START + 65).err(), Some(forbidden(START + 72, Access::Read)));
        assert_eq!(memory.load::<u64>(START + 63).err(), Some(forbidden(START + 63, Access::Read)));
    }

    #[test]
    fn debuggers_and_unchecked_loads_see_forbidden_bytes() {
        let mut memory = memory();
        memory.set_forbidden(START..START + 32, true).unwrap();
        memory.poke(START, b"hidden").unwrap();
        let mut seen = [0; 6];
        assert_eq!((memory.peek(START, &mut seen), &seen), (6, b"hidden"));
        memory.leave_loads_unchecked(true);
        assert_eq!(memory.load::<u8>(START), Ok(b'h'));
        assert!(memory.store::<u8>(START, 0).is_err(), "stores are always checked");
        memory.leave_loads_unchecked(false);
        assert!(memory.load::<u8>(START).is_err(), "nothing of it is remembered");
    }

    #[test]
    fn forks_have_their_own_bits_and_the_hash_tells_them_apart() {
        let mut memory = memory();
        memory.set_forbidden(START..START + 32, true).unwrap();
        let mut fork = memory.fork();
        assert_eq!(fork.hash(), memory.hash());
        fork.set_forbidden(START..START + 16, false).unwrap();
        assert_ne!(fork.hash(), memory.hash());
        assert!(fork.load::<u8>(START).is_ok() && memory.load::<u8>(START).is_err());
        assert_eq!(fork.first_forbidden(START, 100), Some(START + 16));
        fork.set_forbidden(START..START + 16, true).unwrap();
        assert_eq!(fork.hash(), memory.hash());
    }
}
