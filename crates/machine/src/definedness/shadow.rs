//! What is undefined of the memory: a bit for each bit, in pages.
//!
//! Most pages are defined as a whole, and large fresh ones undefined as a whole; neither takes room. Of the others each byte has a
//! mask, and four bytes together the origin of what is undefined in them.

use super::registers::OriginCode;
use crate::PAGE_SIZE;
use std::collections::BTreeMap;

const SIZE: usize = PAGE_SIZE as usize;
/// Bytes that have one origin.
const GRANULE: usize = 4;

/// A page of which each byte is known.
struct Page {
    undefined: [u8; SIZE],
    /// Zero where the memory itself is what was never written.
    origins: [OriginCode; SIZE / GRANULE],
}

/// What is known of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Defined,
    /// Fresh, all of it.
    Undefined,
    /// By the page of this number.
    Mixed(u32),
}

/// Pages that were looked up last; a power of two.
const CACHED: usize = 1024;

pub struct Shadow {
    /// Pages that are not in it are defined.
    known: BTreeMap<u64, Known>,
    pages: Vec<Box<Page>>,
    /// Numbers of pages that are in use no more.
    free: Vec<u32>,
    /// By the low bits of their numbers; a number that no page has where there is none.
    cache: Box<[(u64, Known); CACHED]>,
}

/// Undefined bits that were found in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    pub undefined: u128,
    /// Zero where the memory itself is the origin.
    pub origin: OriginCode,
    /// The first byte with an undefined bit.
    pub first: u8,
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow {
            known: BTreeMap::new(),
            pages: Vec::new(),
            free: Vec::new(),
            cache: Box::new([(u64::MAX, Known::Defined); CACHED]),
        }
    }
}

impl Shadow {
    #[inline(always)]
    fn known(&mut self, page: u64) -> Known {
        let (cached, known) = self.cache[page as usize % CACHED];
        if cached == page { known } else { self.look_up(page) }
    }

    #[cold]
    fn look_up(&mut self, page: u64) -> Known {
        let known = self.known.get(&page).copied().unwrap_or(Known::Defined);
        self.cache[page as usize % CACHED] = (page, known);
        known
    }

    fn set_known(&mut self, page: u64, known: Known) {
        let before = match known {
            Known::Defined => self.known.remove(&page),
            _ => self.known.insert(page, known),
        };
        if let Some(Known::Mixed(number)) = before
            && known != Known::Mixed(number)
        {
            self.free.push(number);
        }
        self.cache[page as usize % CACHED] = (page, known);
    }

    /// The page with bytes of its own.
    fn mixed(&mut self, page: u64) -> Option<&mut Page> {
        let number = match self.known(page) {
            Known::Mixed(number) => number,
            known => {
                let byte = if known == Known::Undefined { 0xff } else { 0 };
                let number = self.unused(byte);
                self.set_known(page, Known::Mixed(number));
                number
            }
        };
        self.pages.get_mut(number as usize).map(|page| &mut **page)
    }

    /// The number of a page that is filled with this byte.
    fn unused(&mut self, byte: u8) -> u32 {
        if let Some(number) = self.free.pop() {
            if let Some(page) = self.pages.get_mut(number as usize) {
                page.undefined.fill(byte);
                page.origins.fill(0);
            }
            return number;
        }
        self.pages.push(Box::new(Page { undefined: [byte; SIZE], origins: [0; SIZE / GRANULE] }));
        (self.pages.len() - 1) as u32
    }

    /// What is undefined of at most 16 bytes.
    #[inline]
    pub fn load(&mut self, address: u64, length: u64) -> Loaded {
        let start = (address % PAGE_SIZE) as usize;
        if start + length as usize > SIZE {
            return self.load_across(address, length);
        }
        match self.known(address / PAGE_SIZE) {
            Known::Defined => Loaded::default(),
            Known::Undefined => {
                Loaded { undefined: u128::MAX >> (128 - 8 * length.clamp(1, 16)), origin: 0, first: 0 }
            }
            Known::Mixed(number) => self.load_mixed(number, start, length),
        }
    }

    fn load_mixed(&self, number: u32, start: usize, length: u64) -> Loaded {
        let Some(page) = self.pages.get(number as usize) else { return Loaded::default() };
        let mut bytes = [0; 16];
        let length = length.min(16) as usize;
        let (Some(target), Some(source)) =
            (bytes.get_mut(..length), page.undefined.get(start..start + length))
        else {
            return Loaded::default();
        };
        target.copy_from_slice(source);
        let undefined = u128::from_le_bytes(bytes);
        if undefined == 0 {
            return Loaded::default();
        }
        let first = (undefined.trailing_zeros() / 8) as u8;
        let granule = (start + usize::from(first)) / GRANULE;
        Loaded { undefined, origin: page.origins.get(granule).copied().unwrap_or(0), first }
    }

    #[cold]
    fn load_across(&mut self, address: u64, length: u64) -> Loaded {
        let mut all = Loaded::default();
        for byte in (0..length.min(16)).rev() {
            let one = self.load(address.wrapping_add(byte), 1);
            all.undefined |= one.undefined << (8 * byte);
            if one.undefined != 0 {
                (all.origin, all.first) = (one.origin, byte as u8);
            }
        }
        all
    }

    /// At most 16 bytes were written, with these undefined bits.
    #[inline]
    pub fn store(&mut self, address: u64, length: u64, undefined: u128, origin: OriginCode) {
        let start = (address % PAGE_SIZE) as usize;
        let length = length.min(16) as usize;
        if start + length > SIZE {
            for byte in 0..length as u64 {
                self.store(address.wrapping_add(byte), 1, undefined >> (8 * byte) & 0xff, origin);
            }
            return;
        }
        let page = address / PAGE_SIZE;
        if undefined == 0 && self.known(page) == Known::Defined {
            return;
        }
        let Some(page) = self.mixed(page) else { return };
        if let Some(target) = page.undefined.get_mut(start..start + length) {
            target.copy_from_slice(undefined.to_le_bytes().get(..length).unwrap_or_default());
        }
        if undefined != 0 {
            let granules = start / GRANULE..=(start + length - 1) / GRANULE;
            page.origins.get_mut(granules).unwrap_or_default().fill(origin);
        }
    }

    pub fn define(&mut self, address: u64, length: u64) {
        self.fill(address, length, 0);
    }

    /// Nobody has written there.
    pub fn undefine(&mut self, address: u64, length: u64) {
        self.fill(address, length, 0xff);
    }

    fn fill(&mut self, address: u64, length: u64, byte: u8) {
        let whole = if byte == 0 { Known::Defined } else { Known::Undefined };
        let end = address.saturating_add(length);
        let mut at = address;
        if byte == 0 && length >= PAGE_SIZE {
            return self.define_much(address, end);
        }
        while at < end {
            let page = at / PAGE_SIZE;
            let start = (at % PAGE_SIZE) as usize;
            let piece = (SIZE - start).min(usize::try_from(end - at).unwrap_or(SIZE));
            match self.known(page) {
                known if known == whole => {}
                _ if piece == SIZE => self.set_known(page, whole),
                _ => self.fill_part(page, start, piece, byte),
            }
            at += piece as u64;
        }
    }

    fn fill_part(&mut self, page: u64, start: usize, length: usize, byte: u8) {
        let Some(page) = self.mixed(page) else { return };
        page.undefined.get_mut(start..start + length).unwrap_or_default().fill(byte);
        if byte != 0 {
            let granules = start / GRANULE..(start + length).div_ceil(GRANULE);
            page.origins.get_mut(granules).unwrap_or_default().fill(0);
        }
    }

    /// A range can be far larger than all memory that anything is known of.
    fn define_much(&mut self, address: u64, end: u64) {
        let first = address.div_ceil(PAGE_SIZE);
        let last = end / PAGE_SIZE;
        let inside: Vec<u64> = self.known.range(first..last.max(first)).map(|(page, _)| *page).collect();
        inside.into_iter().for_each(|page| self.set_known(page, Known::Defined));
        let tail = (last * PAGE_SIZE).max(address);
        self.fill(address, first.saturating_mul(PAGE_SIZE).saturating_sub(address), 0);
        self.fill(tail, end - tail, 0);
    }

    /// Bytes went from one place to another that does not overlap it.
    pub fn copy(&mut self, from: u64, to: u64, length: u64) {
        let mut done = 0;
        while done < length {
            let (source, target) = (from.wrapping_add(done), to.wrapping_add(done));
            let in_pages = (PAGE_SIZE - source % PAGE_SIZE).min(PAGE_SIZE - target % PAGE_SIZE);
            let piece = in_pages.min(length - done);
            if self.known(source / PAGE_SIZE) == Known::Defined {
                self.define(target, piece);
            } else {
                let mut at = 0;
                while at < piece {
                    // Granules of both sides begin at the same places where that is possible.
                    let step = (piece - at).min(GRANULE as u64 - (source + at) % GRANULE as u64);
                    let loaded = self.load(source + at, step);
                    self.store(target + at, step, loaded.undefined, loaded.origin);
                    at += step;
                }
            }
            done += piece;
        }
    }

    /// The first byte of a range with an undefined bit, and the origin of that.
    pub fn first_undefined(&mut self, address: u64, length: u64) -> Option<(u64, OriginCode)> {
        let end = address.saturating_add(length);
        let mut at = address;
        while at < end {
            let page = at / PAGE_SIZE;
            let piece = (PAGE_SIZE - at % PAGE_SIZE).min(end - at);
            match self.known(page) {
                Known::Defined => {}
                Known::Undefined => return Some((at, 0)),
                Known::Mixed(_) => {
                    let mut bytes = at..at + piece;
                    let found = bytes.find_map(|byte| {
                        let loaded = self.load(byte, 1);
                        (loaded.undefined != 0).then_some((byte, loaded.origin))
                    });
                    if found.is_some() {
                        return found;
                    }
                }
            }
            at += piece;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x7000_0000_0ff0;

    #[test]
    fn what_is_stored_is_loaded_also_across_pages() {
        let mut shadow = Shadow::default();
        shadow.undefine(AT, 32);
        shadow.store(AT + 14, 4, 0x00ff_00ff, 77);
        let loaded = shadow.load(AT + 12, 8);
        assert_eq!((loaded.undefined, loaded.first), (0xffff_00ff_00ff_ffff, 0));
        let loaded = shadow.load(AT + 14, 2);
        assert_eq!((loaded.undefined, loaded.origin), (0xff, 77));
        shadow.define(AT, 32);
        assert_eq!(shadow.load(AT + 12, 8), Loaded::default());
        assert_eq!(shadow.first_undefined(AT - 0x2000, 0x4000), None);
    }

    #[test]
    fn whole_pages_are_known_without_bytes_of_their_own() {
        let mut shadow = Shadow::default();
        shadow.undefine(0x10000, 1 << 24);
        assert!(shadow.pages.is_empty());
        shadow.store(0x10800, 8, 0, 0);
        assert_eq!((shadow.pages.len(), shadow.load(0x10800, 8)), (1, Loaded::default()));
        assert_eq!(shadow.first_undefined(0x10800, 9), Some((0x10808, 0)));
        shadow.define(0, u64::MAX);
        assert!(shadow.known.is_empty() && shadow.free.len() == 1);
        assert_eq!(shadow.first_undefined(0, u64::MAX >> 40), None);
    }

    #[test]
    fn a_copy_keeps_origins_and_what_is_defined() {
        let mut shadow = Shadow::default();
        shadow.undefine(0x5000, 64);
        shadow.store(0x5008, 8, 0xff, 5);
        shadow.copy(0x5000, AT, 64);
        assert_eq!(shadow.load(AT, 8).undefined, u128::from(u64::MAX));
        let loaded = shadow.load(AT + 8, 8);
        assert_eq!((loaded.undefined, loaded.origin), (0xff, 5));
        shadow.copy(0x9000, AT, 64);
        assert_eq!(shadow.load(AT, 16), Loaded::default());
    }
}
