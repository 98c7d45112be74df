//! The mapped address ranges: who may do what where, and what an untouched page holds.
//!
//! A region costs the same however large it is; its pages come into being when they are touched.

use super::{PAGE_SIZE, Permissions};
use std::fmt;
use std::sync::Arc;

/// What a page holds before it is first written.
#[derive(Clone)]
pub enum Backing {
    Zero,
    /// Every byte is [`FRESH`].
    Fresh,
    /// The region's first byte is `content[offset]`; bytes past the content read as zero.
    Bytes {
        content: Arc<Vec<u8>>,
        offset: u64,
    },
}

/// What fresh memory of a heap is full of: no zeros, so that nobody is lucky to find some.
pub const FRESH: u8 = 0xa5;

static FRESH_PAGE: [u8; PAGE_SIZE as usize] = [FRESH; PAGE_SIZE as usize];

impl fmt::Debug for Backing {
    /// Without the content, which may be a whole library.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Backing::Zero => formatter.write_str("Zero"),
            Backing::Fresh => formatter.write_str("Fresh"),
            Backing::Bytes { content, offset } => {
                write!(formatter, "Bytes {offset:#x} of {:#x}", content.len())
            }
        }
    }
}

/// A mapped range of whole pages with one set of permissions.
#[derive(Clone, Debug)]
pub struct Region {
    pub start: u64,
    pub end: u64,
    pub permissions: Permissions,
    pub backing: Backing,
    /// The path of the mapped file, or `[stack]` and the like, or empty for anonymous memory.
    pub name: Arc<str>,
    /// Mapped as shared. For the kernel's eyes; memory makes no difference.
    pub shared: bool,
}

impl Region {
    /// The bytes of the backing from `address` on to the end of its page; what is missing is zero.
    pub(super) fn backing_at(&self, address: u64) -> &[u8] {
        let (content, offset) = match &self.backing {
            Backing::Zero => return &[],
            Backing::Fresh => return &FRESH_PAGE[(address % PAGE_SIZE) as usize..],
            Backing::Bytes { content, offset } => (content, offset),
        };
        let length = PAGE_SIZE - address % PAGE_SIZE;
        let first = offset.saturating_add(address.saturating_sub(self.start));
        let last = first.saturating_add(length).min(content.len() as u64);
        content.get(first as usize..last as usize).unwrap_or(&[])
    }

    /// The part of this region that lies in `start..end`.
    fn part(&self, start: u64, end: u64) -> Option<Region> {
        let (start, end) = (start.max(self.start), end.min(self.end));
        (start < end).then(|| self.moved(start, end, start))
    }

    /// The part `start..end` of this region, at `to`.
    fn moved(&self, start: u64, end: u64, to: u64) -> Region {
        let backing = match &self.backing {
            Backing::Zero => Backing::Zero,
            Backing::Fresh => Backing::Fresh,
            Backing::Bytes { content, offset } => Backing::Bytes {
                content: content.clone(),
                offset: offset.saturating_add(start.saturating_sub(self.start)),
            },
        };
        Region { start: to, end: to + (end - start), backing, name: self.name.clone(), ..*self }
    }

    /// Whether `next` goes on where this one ends, alike in all respects.
    fn continues_in(&self, next: &Region) -> bool {
        let same_backing = match (&self.backing, &next.backing) {
            (Backing::Zero, Backing::Zero) | (Backing::Fresh, Backing::Fresh) => true,
            (Backing::Bytes { content, offset }, Backing::Bytes { content: other, offset: next_offset }) => {
                Arc::ptr_eq(content, other) && offset.checked_add(self.end - self.start) == Some(*next_offset)
            }
            _ => false,
        };
        self.end == next.start
            && self.permissions == next.permissions
            && self.shared == next.shared
            && self.name == next.name
            && same_backing
    }
}

/// Disjoint regions in order of their addresses. Neighbours that are alike are one region, so that a guest
/// that maps or protects page by page does not end up with a region for each.
#[derive(Clone, Default)]
pub(super) struct Regions {
    sorted: Arc<Vec<Region>>,
}

impl Regions {
    pub fn as_slice(&self) -> &[Region] {
        &self.sorted
    }

    pub fn at(&self, address: u64) -> Option<&Region> {
        let after = self.sorted.partition_point(|region| region.start <= address);
        self.sorted[..after].last().filter(|region| address < region.end)
    }

    /// The regions with a byte in `start..end`.
    pub fn overlapping(&self, start: u64, end: u64) -> &[Region] {
        let first = self.sorted.partition_point(|region| region.end <= start);
        let after = self.sorted.partition_point(|region| region.start < end);
        self.sorted.get(first..after).unwrap_or(&[])
    }

    /// The first address in `start..end` that no region holds.
    pub fn first_gap(&self, start: u64, end: u64) -> Option<u64> {
        let mut reached = start;
        for region in self.overlapping(start, end) {
            if region.start > reached {
                break;
            }
            reached = region.end;
        }
        (reached < end).then_some(reached)
    }

    /// Puts `region` in place of whatever lies in its range.
    pub fn insert(&mut self, region: Region) {
        self.replace(region.start, region.end, vec![region]);
    }

    pub fn remove(&mut self, start: u64, end: u64) {
        if !self.overlapping(start, end).is_empty() {
            self.replace(start, end, Vec::new());
        }
    }

    pub fn protect(&mut self, start: u64, end: u64, permissions: Permissions) {
        let changed = self.parts(start, end).map(|part| Region { permissions, ..part }).collect();
        self.replace(start, end, changed);
    }

    /// Takes what lies in `start..end` to `to`, in place of what was there.
    pub fn relocate(&mut self, start: u64, end: u64, to: u64) {
        let moved: Vec<Region> = self
            .parts(start, end)
            .map(|part| part.moved(part.start, part.end, to + (part.start - start)))
            .collect();
        self.remove(start, end);
        self.replace(to, to + (end - start), moved);
    }

    fn parts(&self, start: u64, end: u64) -> impl Iterator<Item = Region> {
        self.overlapping(start, end).iter().filter_map(move |region| region.part(start, end))
    }

    /// Puts `inside`, whose regions lie in `start..end`, in place of what was there.
    fn replace(&mut self, start: u64, end: u64, inside: Vec<Region>) {
        let sorted = Arc::make_mut(&mut self.sorted);
        // The direct neighbours take part, so that what became alike is joined.
        let first = sorted.partition_point(|region| region.end < start);
        let after = sorted.partition_point(|region| region.start <= end);
        let old = &sorted[first..after.max(first)];
        let before = old.iter().filter_map(|region| region.part(0, start));
        let behind = old.iter().filter_map(|region| region.part(end, u64::MAX));
        let mut joined: Vec<Region> = Vec::with_capacity(old.len() + inside.len());
        for region in before.chain(inside).chain(behind) {
            match joined.last_mut() {
                Some(last) if last.continues_in(&region) => last.end = region.end,
                _ => joined.push(region),
            }
        }
        sorted.splice(first..after.max(first), joined);
    }
}
