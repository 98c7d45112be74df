//! The needs of one page of memory.

use lift::Bytes;

use super::need::Need;
use super::pending::Alike;

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Bytes of a cell: most values have that size, or are made of such.
const CELL: usize = 4;

/// Cells of a page.
const CELLS: usize = PAGE as usize / CELL;
/// In what is known of a cell: the set of its needed bytes, and whether these have different needs.
const BYTES: u8 = 0xf;
const MIXED: u8 = 0x10;

/// The needs of one page. Nearly always the bytes of a cell are needed for one reason, so there is one need for all of them.
pub struct Page {
    pub number: u64,
    /// How many cells have bytes that are needed.
    pub count: u32,
    /// What is known of each cell.
    known: [u8; CELLS],
    /// The needs of cells, but for mixed ones, whose are in `each`.
    cells: [Need; CELLS],
    each: Option<Box<[Need; PAGE as usize]>>,
}

impl Page {
    pub fn new(number: u64) -> Box<Page> {
        Box::new(Page { number, count: 0, known: [0; CELLS], cells: [Need::NONE; CELLS], each: None })
    }

    #[inline]
    pub fn needs(&self, offset: usize) -> bool {
        self.known[offset / CELL] & 1 << (offset % CELL) != 0
    }

    /// Whether some byte from the first up to the last is needed.
    #[inline]
    pub fn needs_within(&self, first: usize, last: usize) -> bool {
        let (from, to) = (first / CELL, last / CELL);
        let (low, high) = (BYTES << (first % CELL), BYTES >> (CELL - 1 - last % CELL));
        if from == to {
            return self.known[from] & low & high != 0;
        }
        // All of them at once, which the host does many at a time.
        let between = self.known.get(from + 1..to).unwrap_or_default();
        self.known[from] & low | self.known[to] & high | between.iter().fold(0, |all, known| all | known) != 0
    }

    /// All bytes that are needed, in order.
    pub fn needed(&self) -> impl Iterator<Item = usize> + '_ {
        let of_cell =
            |(cell, known): (usize, &u8)| bytes_of(known & BYTES).map(move |byte| cell * CELL + byte);
        self.known.iter().enumerate().filter(|(_, known)| **known != 0).flat_map(of_cell)
    }

    /// Adds up to 8 bytes, none of which is on another page.
    #[inline]
    pub fn add(&mut self, offset: usize, bytes: Bytes, need: Need) {
        let (cell, spread) = (offset / CELL, u16::from(bytes) << (offset % CELL));
        let nibble = |number: usize| (spread >> (number * CELL)) as Bytes & 0xf;
        if nibble(0) != 0 {
            self.add_to_cell(cell, nibble(0), need);
        }
        if spread > 0xf {
            if nibble(1) != 0 {
                self.add_to_cell(cell + 1, nibble(1), need);
            }
            if nibble(2) != 0 {
                self.add_to_cell(cell + 2, nibble(2), need);
            }
        }
    }

    #[inline]
    fn add_to_cell(&mut self, cell: usize, bytes: Bytes, need: Need) {
        let (known, place) = (&mut self.known[cell], &mut self.cells[cell]);
        if *known == 0 {
            (*known, *place) = (bytes, need);
            self.count += 1;
        } else if *known == bytes || *known & MIXED == 0 && *place == need {
            // Most variables are used more than once before they are set.
            *place = place.joined(need);
            *known |= bytes;
        } else {
            self.mix(cell, bytes, need);
        }
    }

    #[cold]
    fn mix(&mut self, cell: usize, bytes: Bytes, need: Need) {
        let known = self.known[cell];
        self.known[cell] |= bytes | MIXED;
        let each = self.each.get_or_insert_with(|| Box::new([Need::NONE; PAGE as usize]));
        let own = &mut each[cell * CELL..(cell + 1) * CELL];
        if known & MIXED == 0 {
            own.fill(self.cells[cell]);
        }
        for byte in bytes_of(bytes) {
            own[byte] = if known & 1 << byte != 0 { own[byte].joined(need) } else { need };
        }
    }

    /// The need of a byte, which stays.
    #[inline]
    pub fn need(&self, offset: usize) -> Option<Need> {
        if !self.needs(offset) {
            return None;
        }
        let cell = offset / CELL;
        match &self.each {
            Some(each) if self.known[cell] & MIXED != 0 => Some(each[offset]),
            _ => Some(self.cells[cell]),
        }
    }

    pub fn take(&mut self, offset: usize) -> Option<Need> {
        let need = self.need(offset)?;
        self.forget(offset / CELL, 1 << (offset % CELL));
        Some(need)
    }

    /// Some bytes of a cell, at least one and all needed until now, are needed no more.
    #[inline]
    fn forget(&mut self, cell: usize, bytes: Bytes) {
        let known = &mut self.known[cell];
        *known &= !bytes;
        if *known & BYTES == 0 {
            *known = 0;
            self.count -= 1;
        }
    }

    /// Takes those of up to 8 bytes that are needed, none of which is on another page, if they are for one reason; else all stays.
    #[inline(always)]
    pub fn take_alike(&mut self, offset: usize, length: usize) -> Alike {
        let (cell, within) = (offset / CELL, offset % CELL);
        let known = self.known[cell];
        if within + length <= CELL && known & MIXED == 0 {
            let bytes = known & ((1 << length) - 1) << within;
            if bytes == 0 {
                return Alike::Nothing;
            }
            self.forget(cell, bytes);
            return Alike::One(bytes >> within, self.cells[cell]);
        }
        if length == 2 * CELL && within == 0 {
            let next = self.known[cell + 1];
            if known | next == 0 {
                return Alike::Nothing;
            }
            let need = if known == 0 { self.cells[cell + 1] } else { self.cells[cell] };
            let is_one = known == 0 || next == 0 || self.cells[cell + 1] == need;
            if is_one && (known | next) & MIXED == 0 {
                self.count -= u32::from(known != 0) + u32::from(next != 0);
                (self.known[cell], self.known[cell + 1]) = (0, 0);
                return Alike::One(known | next << CELL, need);
            }
        }
        Alike::Different
    }

    /// Takes those of up to 8 bytes that are needed, none of which is on another page, for whatever reasons. Says which, and puts
    /// the need of each in its place.
    pub fn take_each(&mut self, offset: usize, length: usize, each: &mut [Need; 8]) -> Bytes {
        let mut taken = 0;
        for cell in offset / CELL..(offset + length).div_ceil(CELL) {
            let known = self.known[cell];
            let (start, end) = ((cell * CELL).max(offset), ((cell + 1) * CELL).min(offset + length));
            let mut bytes = 0;
            for at in (start..end).filter(|at| known & 1 << (at % CELL) != 0) {
                each[at - offset] = match &self.each {
                    Some(own) if known & MIXED != 0 => own[at],
                    _ => self.cells[cell],
                };
                bytes |= 1 << (at % CELL);
                taken |= 1 << (at - offset);
            }
            if bytes != 0 {
                self.forget(cell, bytes);
            }
        }
        taken
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
                for byte in bytes_of(bytes) {
                    let known = &mut list[offset + byte];
                    *known = Some(known.map_or(need, |known: Need| known.joined(need)));
                }
                page.add(offset, bytes, need);
            } else {
                let mut found = [None; 8];
                match page.take_alike(offset, length) {
                    Alike::Nothing => {}
                    Alike::One(bytes, need) => bytes_of(bytes).for_each(|byte| found[byte] = Some(need)),
                    Alike::Different => {
                        let mut each = [Need::NONE; 8];
                        let taken = page.take_each(offset, length, &mut each);
                        bytes_of(taken).for_each(|byte| found[byte] = Some(each[byte]));
                    }
                }
                let expected =
                    (0..8).map(|byte| if byte < length { list[offset + byte].take() } else { None });
                assert!(expected.eq(found));
            }
            let cells = list.chunks(CELL).filter(|bytes| bytes.iter().any(Option::is_some));
            assert_eq!(page.count as usize, cells.count());
            assert!((0..96).all(|offset| page.need(offset) == list[offset]));
        }
    }
}
