//! The bytes of one file of the overlay, in chunks that clones share.
//!
//! A snapshot of the machine must cost nothing, and the first small write after it must not copy a whole file. So
//! a file is its base (what the host had, shared and never altered) plus the chunks that were written since.

use std::sync::Arc;

use super::Map;
use crate::errno::Errno;

/// The unit of sharing between clones.
pub const CHUNK_SIZE: u64 = 64 * 1024;
/// Files do not grow beyond this; it is ext4's limit with 4 KiB blocks.
pub const MAX_FILE_SIZE: u64 = (1 << 44) - 4096;
/// What a chunk takes besides its bytes: it may hold a single one.
const CHUNK_COST: u64 = 192;
/// A file of which somebody wants one contiguous copy may be this large.
pub const MAX_CONTIGUOUS: u64 = 1 << 30;

#[derive(Clone, Default, Hash)]
pub struct Content {
    base: Arc<Vec<u8>>,
    /// How much of the base still shows. A truncated and regrown file reads zeros there, not old bytes.
    base_length: u64,
    /// Chunks by number. A chunk covers all of its range: bytes past its end, within the file, are zero.
    chunks: Map<u64, Arc<Vec<u8>>>,
    length: u64,
    /// The base is none of the host's, but was copied together by [`Content::flatten`].
    copied: bool,
}

impl Content {
    pub fn from_bytes(base: Arc<Vec<u8>>) -> Content {
        let length = base.len() as u64;
        Content { base, base_length: length, length, ..Content::default() }
    }

    pub fn len(&self) -> u64 {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The bytes at `offset`, at most `count` of them; fewer at the end of the file.
    pub fn read(&self, offset: u64, count: usize) -> Vec<u8> {
        let end = offset.saturating_add(count as u64).min(self.length);
        if offset >= end {
            return Vec::new();
        }
        let mut bytes = Vec::with_capacity((end - offset) as usize);
        let mut at = offset;
        while at < end {
            let number = at / CHUNK_SIZE;
            let start = number * CHUNK_SIZE;
            let stop = end.min(start + CHUNK_SIZE);
            let (source, from) = match self.chunks.get(&number) {
                Some(chunk) => (chunk.as_slice(), start),
                None => (self.visible_base(), 0),
            };
            let first = ((at - from) as usize).min(source.len());
            let last = ((stop - from) as usize).min(source.len());
            bytes.extend_from_slice(&source[first..last]);
            bytes.resize((stop - offset) as usize, 0);
            at = stop;
        }
        bytes
    }

    /// How many bytes of memory a write would add to the overlay.
    pub fn cost_of_write(&self, offset: u64, count: u64) -> u64 {
        let Some(end) = offset.checked_add(count).filter(|_| count > 0) else { return 0 };
        let mut cost = 0;
        let mut number = offset / CHUNK_SIZE;
        while number * CHUNK_SIZE < end {
            let start = number * CHUNK_SIZE;
            let present = self.chunks.get(&number).map_or(0, |chunk| chunk.len() as u64);
            let wanted = (end - start).min(CHUNK_SIZE);
            let inherited = match present {
                0 => self.base_length.saturating_sub(start).min(CHUNK_SIZE),
                _ => 0,
            };
            cost += wanted.max(inherited).saturating_sub(present);
            cost += if self.chunks.contains_key(&number) { 0 } else { CHUNK_COST };
            number += 1;
        }
        cost
    }

    /// Overwrites or extends. The caller has checked the size limits.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        let mut at = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let number = at / CHUNK_SIZE;
            let within = (at % CHUNK_SIZE) as usize;
            let (now, later) = rest.split_at(rest.len().min(CHUNK_SIZE as usize - within));
            let chunk = self.chunk_mut(number);
            if chunk.len() < within {
                chunk.resize(within, 0);
            }
            let overlap = now.len().min(chunk.len() - within);
            let (over, beyond) = now.split_at(overlap);
            chunk[within..within + overlap].copy_from_slice(over);
            chunk.extend_from_slice(beyond);
            at += now.len() as u64;
            rest = later;
        }
        if !bytes.is_empty() {
            self.length = self.length.max(at);
        }
    }

    /// Cuts the file, or extends it by a hole.
    pub fn truncate(&mut self, length: u64) {
        if length < self.length {
            self.base_length = self.base_length.min(length);
            let first = length / CHUNK_SIZE;
            let affected: Vec<u64> = self.chunks.range(first..).map(|(number, _)| *number).collect();
            for number in affected {
                let keep = length.saturating_sub(number * CHUNK_SIZE);
                if keep == 0 {
                    self.chunks.remove_mut(&number);
                } else if let Some(chunk) = self.chunks.get_mut(&number)
                    && (chunk.len() as u64) > keep
                {
                    Arc::make_mut(chunk).truncate(keep as usize);
                }
            }
            if self.base_length == 0 {
                self.base = Arc::default();
                self.copied = false;
            }
        }
        self.length = length;
    }

    /// Bytes that this file holds in the overlay; a base that is the host's is not counted.
    pub fn memory(&self) -> u64 {
        let base = if self.copied { self.base.len() as u64 } else { 0 };
        base + self.chunk_memory()
    }

    fn chunk_memory(&self) -> u64 {
        self.chunks.values().map(|chunk| chunk.len() as u64 + CHUNK_COST).sum()
    }

    /// Whether it is all as it came from the base.
    pub fn is_base(&self) -> bool {
        self.chunks.is_empty() && self.length == self.base.len() as u64 && self.base_length == self.length
    }

    /// The first position from `offset` on that is data (or, with `data` false, a hole). The end is a hole.
    pub fn seek(&self, offset: u64, data: bool) -> Option<u64> {
        let mut at = offset;
        while at < self.length {
            let number = at / CHUNK_SIZE;
            let is_data = self.chunks.contains_key(&number) || at < self.base_length;
            if is_data == data {
                return Some(at);
            }
            at = match is_data {
                true => (number + 1) * CHUNK_SIZE,
                // Holes may be huge: go on at the next chunk that exists, not chunk by chunk.
                false => match self.chunks.range(number + 1..).next() {
                    Some((next, _)) => next * CHUNK_SIZE,
                    None => return None,
                },
            };
        }
        if data { None } else { Some(self.length) }
    }

    /// All of it in one piece: shared when nothing was written, otherwise copied together.
    pub fn contiguous(&self) -> Result<Arc<Vec<u8>>, Errno> {
        if self.is_base() {
            return Ok(self.base.clone());
        }
        if self.length > MAX_CONTIGUOUS {
            return Err(Errno::ENOMEM);
        }
        Ok(Arc::new(self.read(0, self.length as usize)))
    }

    /// How many bytes more [`Content::flatten`] takes, at most.
    pub fn cost_of_flattening(&self) -> u64 {
        if self.is_base() { 0 } else { self.length }
    }

    /// Makes one piece of it, which is the base from now on: who asks again before something is written gets the
    /// same. Whether it is a copy of ours, and not the host's file, is the second answer.
    pub fn flatten(&mut self) -> Result<(Arc<Vec<u8>>, bool), Errno> {
        if !self.is_base() {
            let base = self.contiguous()?;
            *self = Content { copied: true, ..Content::from_bytes(base) };
        }
        Ok((self.base.clone(), self.copied))
    }

    fn visible_base(&self) -> &[u8] {
        &self.base[..(self.base_length as usize).min(self.base.len())]
    }

    fn chunk_mut(&mut self, number: u64) -> &mut Vec<u8> {
        if !self.chunks.contains_key(&number) {
            let base = self.visible_base();
            let first = base.len().min((number * CHUNK_SIZE) as usize);
            let last = base.len().min((number * CHUNK_SIZE + CHUNK_SIZE) as usize);
            let inherited = base[first..last].to_vec();
            self.chunks.insert_mut(number, Arc::new(inherited));
        }
        let chunk = self.chunks.get_mut(&number).expect("the chunk was just put there");
        Arc::make_mut(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small deterministic generator; the tests need variety, not quality.
    fn next(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *state >> 33
    }

    #[test]
    fn random_writes_and_truncations_agree_with_a_plain_vector() {
        let mut state = 7;
        let base: Vec<u8> = (0..200_000).map(|_| next(&mut state) as u8).collect();
        let mut content = Content::from_bytes(Arc::new(base.clone()));
        let mut model = base;
        for step in 0..400 {
            let offset = (next(&mut state) % 300_000) as usize;
            let length = (next(&mut state) % 70_000) as usize;
            if step % 5 == 0 {
                content.truncate(offset as u64);
                model.resize(offset, 0);
            } else {
                let bytes: Vec<u8> = (0..length).map(|_| next(&mut state) as u8).collect();
                let before = content.memory();
                let cost = content.cost_of_write(offset as u64, length as u64);
                content.write(offset as u64, &bytes);
                assert_eq!(content.memory() - before, cost);
                if length > 0 {
                    model.resize(model.len().max(offset + length), 0);
                    model[offset..offset + length].copy_from_slice(&bytes);
                }
            }
            assert_eq!(content.len(), model.len() as u64);
            let from = (next(&mut state) % 300_000) as usize;
            let expected =
                &model[from.min(model.len())..(from + 100_000).min(model.len()).max(from.min(model.len()))];
            assert_eq!(content.read(from as u64, 100_000), expected);
        }
        assert_eq!(*content.contiguous().unwrap(), model);
    }

    #[test]
    fn a_chunk_costs_more_than_the_one_byte_that_it_holds() {
        let mut content = Content::default();
        for number in 0..1000 {
            assert!(content.cost_of_write(number * CHUNK_SIZE, 1) > 100);
            content.write(number * CHUNK_SIZE, b"x");
        }
        assert!(content.memory() > 100_000);
    }

    #[test]
    fn a_flattened_file_is_copied_once_and_paid_for() {
        let mut content = Content::from_bytes(Arc::new(vec![1; 300_000]));
        assert!(!content.flatten().unwrap().1);
        content.write(100_000, &[2; 10]);
        let expected = content.read(0, 300_000);
        let (copy, copied) = content.flatten().unwrap();
        assert!(copied && *copy == expected);
        assert_eq!((content.memory(), content.cost_of_flattening()), (300_000, 0));
        assert!(Arc::ptr_eq(&copy, &content.flatten().unwrap().0));
        content.write(0, &[3]);
        assert_eq!((content.read(0, 1), copy[0]), (vec![3], 1));
        assert!(content.memory() > 300_000);
        content.truncate(0);
        assert_eq!(content.memory(), 0);
    }

    #[test]
    fn a_clone_keeps_its_bytes_when_the_original_is_written() {
        let mut original = Content::from_bytes(Arc::new(vec![1; 100]));
        original.write(10, &[2; 10]);
        let clone = original.clone();
        original.write(0, &[3; 100]);
        assert_eq!(clone.read(0, 20), [&[1u8; 10][..], &[2; 10]].concat());
    }

    #[test]
    fn a_far_write_makes_a_hole_and_not_memory() {
        let mut content = Content::default();
        content.write(1 << 40, b"x");
        assert_eq!(content.len(), (1 << 40) + 1);
        assert!(content.memory() <= CHUNK_SIZE);
        assert_eq!(content.read((1 << 40) - 2, 10), b"\0\0x");
        assert_eq!(content.seek(5, true), Some(1 << 40));
        assert_eq!(content.seek(5, false), Some(5));
        assert_eq!(content.contiguous().unwrap_err(), Errno::ENOMEM);
    }

    #[test]
    fn a_million_appends_of_one_byte_are_linear() {
        let mut content = Content::default();
        let mut snapshots = Vec::new();
        for i in 0..1_000_000u64 {
            content.write(i, &[i as u8]);
            if i % 100_000 == 0 {
                snapshots.push(content.clone());
            }
        }
        assert_eq!(content.len(), 1_000_000);
        assert_eq!(content.read(999_999, 2), [999_999u64 as u8]);
        assert_eq!(snapshots[3].len(), 300_001);
    }

    #[test]
    fn an_unwritten_file_is_shared_and_not_copied() {
        let bytes = Arc::new(vec![7; 10]);
        let content = Content::from_bytes(bytes.clone());
        assert!(Arc::ptr_eq(&content.contiguous().unwrap(), &bytes));
    }
}
