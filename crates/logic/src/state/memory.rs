//! The terms of bytes of memory, page by page.
//!
//! A byte is not a term of its own but a part of the one that was stored: so what is loaded as it was stored is the term that was stored, at no cost.

use crate::term::{Term, Terms};
use rustc_hash::FxHashMap;

const PAGE: u64 = 4096;

/// One byte of a value that was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    value: Term,
    byte: u8,
}

struct Page {
    parts: Box<[Option<Part>; PAGE as usize]>,
    /// How many there are.
    count: usize,
}

/// The bytes that are not concrete.
#[derive(Default)]
pub struct Memory {
    pages: FxHashMap<u64, Page>,
}

impl Memory {
    /// Whether nothing in memory is unknown.
    pub fn is_concrete(&self) -> bool {
        self.pages.is_empty()
    }

    /// How many bytes are not concrete.
    pub fn bytes(&self) -> usize {
        self.pages.values().map(|page| page.count).sum()
    }

    fn part(&self, address: u64) -> Option<Part> {
        self.pages.get(&(address / PAGE))?.parts[(address % PAGE) as usize]
    }

    fn put(&mut self, address: u64, part: Option<Part>) {
        let number = address / PAGE;
        if part.is_none() && !self.pages.contains_key(&number) {
            return;
        }
        let empty = || Page { parts: Box::new([None; PAGE as usize]), count: 0 };
        let page = self.pages.entry(number).or_insert_with(empty);
        let place = &mut page.parts[(address % PAGE) as usize];
        page.count += usize::from(part.is_some());
        page.count -= usize::from(place.is_some());
        *place = part;
        if page.count == 0 {
            self.pages.remove(&number);
        }
    }

    /// Whether any of these bytes is not concrete.
    pub fn any(&self, address: u64, length: u64) -> bool {
        if self.pages.is_empty() {
            return false;
        }
        // Whole pages without one are passed over.
        let mut at = address;
        let mut left = length;
        while left > 0 {
            let in_page = (PAGE - at % PAGE).min(left);
            if let Some(page) = self.pages.get(&(at / PAGE)) {
                let start = (at % PAGE) as usize;
                if page.parts[start..start + in_page as usize].iter().any(Option::is_some) {
                    return true;
                }
            }
            at = at.wrapping_add(in_page);
            left -= in_page;
        }
        false
    }

    /// Whether none of these bytes is concrete.
    pub fn all(&self, address: u64, length: u64) -> bool {
        (0..length).all(|n| self.part(address.wrapping_add(n)).is_some())
    }

    /// The bytes are concrete from now on.
    pub fn forget(&mut self, address: u64, length: u64) {
        if self.pages.is_empty() {
            return;
        }
        let mut at = address;
        let mut left = length;
        while left > 0 {
            let in_page = (PAGE - at % PAGE).min(left);
            if self.pages.contains_key(&(at / PAGE)) {
                (0..in_page).for_each(|byte| self.put(at + byte, None));
            }
            at = at.wrapping_add(in_page);
            left -= in_page;
        }
    }

    /// Stores a value, whose width is a whole number of bytes, or of which the low bits of the last byte count. A constant is concrete.
    pub fn store(&mut self, terms: &Terms, address: u64, value: Term) {
        let bytes = terms.width(value).div_ceil(8);
        for byte in 0..bytes as u8 {
            let part = (!terms.is_constant(value)).then_some(Part { value, byte });
            self.put(address.wrapping_add(byte.into()), part);
        }
    }

    /// The value of up to 16 bytes, if any of them is not concrete; `concrete` has what the machine has there.
    pub fn load(&self, terms: &mut Terms, address: u64, concrete: &[u8]) -> Option<Term> {
        let length = concrete.len() as u64;
        if length == 0 || !self.any(address, length) {
            return None;
        }
        let mut whole: Option<Term> = None;
        let mut at = 0;
        while at < length {
            let (piece, bytes) = match self.part(address.wrapping_add(at)) {
                Some(first) => self.piece(terms, address.wrapping_add(at), length - at, first),
                None => (terms.bits(8, u128::from(concrete[at as usize])), 1),
            };
            whole = Some(whole.map_or(piece, |low| terms.concat(piece, low)));
            at += bytes;
        }
        whole
    }

    /// The longest part of one value that begins at the address, and how many bytes it has.
    fn piece(&self, terms: &mut Terms, address: u64, most: u64, first: Part) -> (Term, u64) {
        let follows = |n: &u64| {
            let expected = Part { value: first.value, byte: first.byte.wrapping_add(*n as u8) };
            self.part(address.wrapping_add(*n)) == Some(expected)
        };
        let bytes = 1 + (1..most).take_while(follows).count() as u64;
        let low = 8 * u32::from(first.byte);
        (terms.extract(low + 8 * bytes as u32 - 1, low, first.value), bytes)
    }

    /// Copies bytes to a place that may overlap; the terms go with them.
    pub fn copy(&mut self, from: u64, to: u64, length: u64) {
        if self.is_concrete() {
            return;
        }
        let parts: Vec<Option<Part>> = (0..length).map(|n| self.part(from.wrapping_add(n))).collect();
        for (n, part) in (0..).zip(parts) {
            self.put(to.wrapping_add(n), part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Sort;

    #[test]
    fn what_was_stored_is_loaded_again() {
        let (mut terms, mut memory) = (Terms::new(), Memory::default());
        let value = terms.unknown(Sort::Bits(32));
        memory.store(&terms, PAGE - 2, value);
        assert_eq!(memory.load(&mut terms, PAGE - 2, &[0; 4]), Some(value));
        assert_eq!(memory.bytes(), 4);
        let upper = terms.extract(31, 16, value);
        assert_eq!(memory.load(&mut terms, PAGE, &[0; 2]), Some(upper));
        let wide = terms.zero_extend(64, value);
        assert_eq!(memory.load(&mut terms, PAGE - 2, &[0; 8]), Some(wide));
        assert_eq!(memory.load(&mut terms, PAGE + 2, &[0; 8]), None);
    }

    #[test]
    fn what_is_overwritten_is_gone() {
        let (mut terms, mut memory) = (Terms::new(), Memory::default());
        let value = terms.unknown(Sort::Bits(32));
        memory.store(&terms, 100, value);
        memory.copy(100, 102, 4);
        let half = terms.extract(15, 0, value);
        assert_eq!(memory.load(&mut terms, 100, &[0; 2]), Some(half));
        assert_eq!(memory.load(&mut terms, 102, &[0; 4]), Some(value));
        memory.forget(0, 4096);
        assert!(memory.is_concrete() && !memory.any(0, 10_000));
    }
}
