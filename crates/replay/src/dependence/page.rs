//! The needs of one page of memory.

use lift::Bytes;

use super::need::Need;
use super::pending::Taken;

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Bytes of a cell: most values have that size, or are made of such.
const CELL: usize = 4;

/// The needs of one page. Nearly always the bytes of a cell are needed for one reason, so there is one need for all of them.
pub struct Page {
    pub number: u64,
    /// How many bytes are needed.
    pub count: u32,
    /// Which ones.
    pub present: [u64; PAGE as usize / 64],
    /// Cells whose bytes have different needs, which are in `each`.
    mixed: [u64; PAGE as usize / CELL / 64],
    cells: [Need; PAGE as usize / CELL],
    each: Option<Box<[Need; PAGE as usize]>>,
}

impl Page {
    pub fn new(number: u64) -> Box<Page> {
        Box::new(Page {
            number,
            count: 0,
            present: [0; 64],
            mixed: [0; 16],
            cells: [Need::NONE; PAGE as usize / CELL],
            each: None,
        })
    }

    #[inline]
    fn is_mixed(&self, cell: usize) -> bool {
        self.mixed[cell / 64] >> (cell % 64) & 1 != 0
    }

    /// Which bytes of a cell are needed.
    #[inline]
    fn bytes(&self, cell: usize) -> Bytes {
        (self.present[cell / 16] >> (cell % 16 * CELL)) as Bytes & 0xf
    }

    /// Adds up to 8 bytes, none of which is on another page; how many were not needed before.
    #[inline]
    pub fn add(&mut self, offset: usize, bytes: Bytes, need: Need) -> u32 {
        let (mut cell, mut left) = (offset / CELL, u16::from(bytes) << (offset % CELL));
        let mut added = 0;
        while left != 0 {
            if left & 0xf != 0 {
                added += self.add_to_cell(cell, left as Bytes & 0xf, need);
            }
            left >>= CELL;
            cell += 1;
        }
        self.count += added;
        added
    }

    #[inline]
    fn add_to_cell(&mut self, cell: usize, bytes: Bytes, need: Need) -> u32 {
        let known = self.bytes(cell);
        self.present[cell / 16] |= u64::from(bytes) << (cell % 16 * CELL);
        let place = &mut self.cells[cell];
        if known == 0 {
            *place = need;
        } else if self.mixed[cell / 64] >> (cell % 64) & 1 == 0 && (*place == need || known == bytes) {
            // Most variables are used more than once before they are set.
            *place = place.joined(need);
        } else {
            self.mix(cell, known, bytes, need);
        }
        (bytes & !known).count_ones()
    }

    #[cold]
    fn mix(&mut self, cell: usize, known: Bytes, bytes: Bytes, need: Need) {
        let is_mixed = self.is_mixed(cell);
        let each = self.each.get_or_insert_with(|| Box::new([Need::NONE; PAGE as usize]));
        let own = &mut each[cell * CELL..(cell + 1) * CELL];
        if !is_mixed {
            own.fill(self.cells[cell]);
            self.mixed[cell / 64] |= 1 << (cell % 64);
        }
        for byte in bytes_of(bytes) {
            own[byte] = if known & 1 << byte != 0 { own[byte].joined(need) } else { need };
        }
    }

    /// The need of a byte, which stays.
    #[inline]
    pub fn need(&self, offset: usize) -> Option<Need> {
        let cell = offset / CELL;
        if self.bytes(cell) & 1 << (offset % CELL) == 0 {
            return None;
        }
        match &self.each {
            Some(each) if self.is_mixed(cell) => Some(each[offset]),
            _ => Some(self.cells[cell]),
        }
    }

    pub fn take(&mut self, offset: usize) -> Option<Need> {
        let need = self.need(offset)?;
        self.forget(offset / CELL, 1 << (offset % CELL));
        Some(need)
    }

    /// Some bytes of a cell, all needed until now, are needed no more.
    #[inline]
    fn forget(&mut self, cell: usize, bytes: Bytes) {
        self.present[cell / 16] &= !(u64::from(bytes) << (cell % 16 * CELL));
        self.count -= bytes.count_ones();
        if self.bytes(cell) == 0 {
            self.mixed[cell / 64] &= !(1 << (cell % 64));
        }
    }

    /// Takes those of up to 8 bytes that are needed, none of which is on another page.
    #[inline]
    pub fn take_some(&mut self, offset: usize, length: usize) -> Taken {
        let (cell, within) = (offset / CELL, offset % CELL);
        if within + length <= CELL && !self.is_mixed(cell) {
            let bytes = self.bytes(cell) & ((1 << length) - 1) << within;
            if bytes == 0 {
                return Taken::None;
            }
            self.forget(cell, bytes);
            return Taken::One(bytes >> within, self.cells[cell]);
        }
        if length == 2 * CELL && within == 0 && !self.is_mixed(cell) && !self.is_mixed(cell + 1) {
            let (low, high) = (self.bytes(cell), self.bytes(cell + 1));
            let need = if low == 0 { self.cells[cell + 1] } else { self.cells[cell] };
            if low == 0 || high == 0 || self.cells[cell + 1] == need {
                self.forget(cell, low);
                self.forget(cell + 1, high);
                return if low | high == 0 { Taken::None } else { Taken::One(low | high << CELL, need) };
            }
        }
        self.take_each(offset, length)
    }

    #[cold]
    fn take_each(&mut self, offset: usize, length: usize) -> Taken {
        let (mut bytes, mut each) = (0, [Need::NONE; 8]);
        for (byte, place) in each.iter_mut().enumerate().take(length) {
            if let Some(need) = self.take(offset + byte) {
                *place = need;
                bytes |= 1 << byte;
            }
        }
        Taken::grouped(bytes, &each)
    }
}

/// The bytes of a set, by their numbers.
#[inline]
pub fn bytes_of(mut bytes: Bytes) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let byte = bytes.trailing_zeros() as usize;
        (bytes != 0).then(|| {
            bytes &= bytes - 1;
            byte
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator of random numbers: the same each time.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % limit
        }
    }

    #[test]
    fn a_page_knows_the_same_as_a_list_of_its_bytes() {
        let (mut page, mut list) = (Page::new(0), [None; 96]);
        let mut random = Random(1);
        for _ in 0..20_000 {
            let (offset, length) = (random.below(88) as usize, [1, 2, 4, 8][random.below(4) as usize]);
            if random.below(2) == 0 {
                let (bytes, need) = (random.below(256) as Bytes, Need::at(random.below(3) as u32, 7));
                let before = list.iter().flatten().count();
                for byte in bytes_of(bytes) {
                    let known = &mut list[offset + byte];
                    *known = Some(known.map_or(need, |known: Need| known.joined(need)));
                }
                let added = list.iter().flatten().count() - before;
                assert_eq!(page.add(offset, bytes, need), added as u32);
            } else {
                let taken = page.take_some(offset, length);
                let mut found = [None; 8];
                for (bytes, need) in taken.iter() {
                    bytes_of(bytes).for_each(|byte| found[byte] = Some(need));
                }
                let expected =
                    (0..8).map(|byte| if byte < length { list[offset + byte].take() } else { None });
                assert!(expected.eq(found));
            }
            assert_eq!(page.count as usize, list.iter().flatten().count());
            assert!((0..96).all(|offset| page.need(offset) == list[offset]));
        }
    }
}
