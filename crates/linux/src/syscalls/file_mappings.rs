//! Files mapped into memory.
//!
//! A private mapping is a snapshot of the file: pages come from its content and are the guest's own from then on.
//! A shared one has to stay the same as the file. The guest is the only one who changes files, so that need not
//! hold all the time, only when somebody could look: the two are reconciled before and after each call that
//! reads or changes a file's content, and when a mapping or the process ends. Two shared mappings of the same file
//! see each other's stores only then.

use std::collections::HashSet;
use std::sync::Arc;

use machine::{Backing, Memory, PAGE_SIZE, Permissions, Region};

use super::nr;
use crate::errno::Errno;
use crate::fs::{FileMapping, Inode};
use crate::kernel::Call;

/// A shared mapping of a file.
#[derive(Clone, Debug)]
pub struct SharedMapping {
    pub start: u64,
    pub end: u64,
    file: Inode,
    /// Where in the file `start` is.
    offset: u64,
    /// Whether stores go to the file.
    writable: bool,
}

impl SharedMapping {
    /// The part that lies in a range, if any.
    fn part(&self, start: u64, end: u64) -> Option<SharedMapping> {
        let (start, end) = (start.max(self.start), end.min(self.end));
        let offset = self.offset + start.saturating_sub(self.start);
        (start < end).then_some(SharedMapping { start, end, offset, ..*self })
    }
}

/// Every call that touches files looks at every such mapping, so there may not be too many.
pub(super) const MAX_SHARED: usize = 4096;

/// The copies of changed files that mappings were made of. A mapping keeps its copy when the file changes again,
/// so that a guest could fill the host's memory by turns of writing and mapping.
#[derive(Clone, Debug, Default)]
pub struct MappedCopies {
    list: Arc<Vec<Arc<Vec<u8>>>>,
    /// What those in the list take.
    bytes: u64,
}

impl MappedCopies {
    /// Counted for each copy, however small.
    const OVERHEAD: u64 = 4096;

    /// Takes note of a copy that is about to be mapped; ENOMEM if there is no room for it.
    fn admit(&mut self, copy: &Arc<Vec<u8>>, memory: &Memory, limit: u64) -> Result<(), Errno> {
        if self.list.last().is_some_and(|last| Arc::ptr_eq(last, copy)) {
            return Ok(());
        }
        let cost = cost(copy);
        if self.bytes.saturating_add(cost) > limit {
            self.forget_unmapped(memory);
        }
        let bytes = self.bytes.saturating_add(cost);
        if bytes > limit {
            return Err(Errno::ENOMEM);
        }
        self.bytes = bytes;
        Arc::make_mut(&mut self.list).push(copy.clone());
        Ok(())
    }

    fn forget_unmapped(&mut self, memory: &Memory) {
        let mut mapped: HashSet<*const Vec<u8>> = memory
            .regions()
            .iter()
            .filter_map(|region| match &region.backing {
                Backing::Bytes { content, .. } => Some(Arc::as_ptr(content)),
                Backing::Zero | Backing::Fresh => None,
            })
            .collect();
        // Each is kept once.
        Arc::make_mut(&mut self.list).retain(|copy| mapped.remove(&Arc::as_ptr(copy)));
        self.bytes = self.list.iter().map(cost).sum();
    }
}

fn cost(copy: &Arc<Vec<u8>>) -> u64 {
    copy.len() as u64 + MappedCopies::OVERHEAD
}

/// Whether a call may read or change the content of a file that is mapped.
pub fn touches_files(number: u64) -> bool {
    matches!(
        number,
        nr::read
            | nr::readv
            | nr::pread64
            | nr::preadv
            | nr::preadv2
            | nr::write
            | nr::writev
            | nr::pwrite64
            | nr::pwritev
            | nr::pwritev2
            | nr::open
            | nr::openat
            | nr::openat2
            | nr::creat
            | nr::truncate
            | nr::ftruncate
            | nr::fallocate
            | nr::sendfile
            | nr::copy_file_range
            | nr::splice
            | nr::fsync
            | nr::fdatasync
            | nr::sync
            | nr::mmap
    )
}

impl Call<'_> {
    pub(super) fn mapping(&mut self, descriptor: i32) -> Result<FileMapping, Errno> {
        self.kernel.files.mapping(descriptor)
    }

    /// Whether there is room for a mapping.
    pub(super) fn admit_mapping(&mut self, file: &FileMapping, shared: bool) -> Result<(), Errno> {
        if shared && self.kernel.shared.len() >= MAX_SHARED {
            return Err(Errno::ENOMEM);
        }
        match &file.content {
            Some(content) if file.copied => {
                let limit = self.kernel.limits.memory;
                self.kernel.copies.admit(content, self.guest.memory, limit)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn map_file(
        &mut self,
        start: u64,
        length: u64,
        permissions: Permissions,
        shared: bool,
        offset: u64,
        file: FileMapping,
    ) {
        let FileMapping { content, name, inode, writable, .. } = file;
        let Some(content) = content else {
            // The device of zeros is anonymous memory by another name.
            let (end, backing) = (start + length, Backing::Zero);
            self.guest.memory.map(Region { start, end, permissions, backing, name, shared });
            return;
        };
        self.map_content(start, start + length, permissions, shared, offset, content, name);
        if shared && self.kernel.files.hold_mapped(inode).is_ok() {
            let mapping = SharedMapping { start, end: start + length, file: inode, offset, writable };
            Arc::make_mut(&mut self.kernel.shared).push(mapping);
        }
    }

    /// Maps a file's content. Whole pages behind its end cannot be accessed; they are mapped so that nothing else
    /// is put there.
    #[allow(clippy::too_many_arguments)]
    fn map_content(
        &mut self,
        start: u64,
        end: u64,
        permissions: Permissions,
        shared: bool,
        offset: u64,
        content: Arc<Vec<u8>>,
        name: Arc<str>,
    ) {
        let available = (content.len() as u64).next_multiple_of(PAGE_SIZE).saturating_sub(offset);
        let middle = start + available.min(end - start);
        let mut map = |start: u64, end: u64, permissions, offset| {
            if start < end {
                let backing = Backing::Bytes { content: content.clone(), offset };
                let name = name.clone();
                self.guest.memory.map(Region { start, end, permissions, backing, name, shared });
            }
        };
        map(start, middle, permissions, offset);
        map(middle, end, Permissions::NONE, offset + (middle - start));
    }

    /// Brings shared mappings and their files together: stores go to the files, and what changed in the files
    /// shows in the mappings.
    pub fn synchronise_shared(&mut self) {
        for mapping in self.kernel.shared.clone().iter() {
            if mapping.writable {
                self.store_to_file(mapping);
            }
        }
        for mapping in self.kernel.shared.clone().iter() {
            self.refresh(mapping);
        }
    }

    /// Writes the pages that differ from what was mapped to the file, up to its end.
    fn store_to_file(&mut self, mapping: &SharedMapping) {
        let Ok(file_length) = self.kernel.files.mapped_content(mapping.file).map(|content| content.len())
        else {
            return;
        };
        let now = self.now();
        let mut page = [0u8; PAGE_SIZE as usize];
        for address in self.guest.memory.written_pages_in(mapping.start, mapping.end) {
            let offset = mapping.offset + (address - mapping.start);
            let Some(region) = self.guest.memory.region_at(address) else { break };
            let Backing::Bytes { content, offset: first } = &region.backing else { break };
            let from = (first + (address - region.start)) as usize;
            let original = content.get(from..).unwrap_or_default();
            let original = original.get(..page.len()).unwrap_or(original);
            let length = (file_length as u64).saturating_sub(offset).min(PAGE_SIZE) as usize;
            self.guest.memory.peek(address, &mut page);
            let current = page.get(..length).unwrap_or_default();
            for (start, end) in differences(original, current) {
                let stored = current.get(start..end).unwrap_or_default();
                // A full overlay refuses; Linux, too, may lose stores to a mapping when the disk is full.
                let _ = self.kernel.files.write_mapped(mapping.file, offset + start as u64, stored, now);
            }
        }
    }

    /// Shows the file's present content in a mapping.
    fn refresh(&mut self, mapping: &SharedMapping) {
        let Ok(content) = self.kernel.files.mapped_content(mapping.file) else { return };
        let regions = self.guest.memory.regions();
        let first = regions.partition_point(|region| region.end <= mapping.start);
        let stale: Vec<Region> = regions
            .iter()
            .skip(first)
            .take_while(|region| region.start < mapping.end)
            .filter(|region| match &region.backing {
                Backing::Bytes { content: old, .. } => !Arc::ptr_eq(old, &content),
                Backing::Zero | Backing::Fresh => false,
            })
            .cloned()
            .collect();
        for region in stale {
            let (start, end) = (region.start.max(mapping.start), region.end.min(mapping.end));
            let offset = mapping.offset + (start - mapping.start);
            // Pages that were behind the file's end had no permissions of their own; they take those of the first.
            let permissions = match self.guest.memory.region_at(mapping.start) {
                Some(first) if region.permissions == Permissions::NONE => first.permissions,
                _ => region.permissions,
            };
            self.map_content(start, end, permissions, true, offset, content.clone(), region.name.clone());
        }
    }

    /// To be called before a range is unmapped or mapped anew.
    pub(super) fn forget_shared(&mut self, start: u64, end: u64) {
        if !self.kernel.shared.iter().any(|mapping| mapping.start < end && start < mapping.end) {
            return;
        }
        self.synchronise_shared();
        self.replace_shared(start, end, |_| None);
    }

    /// To be called before a range is moved.
    pub(super) fn move_shared(&mut self, start: u64, end: u64, to: u64) {
        self.replace_shared(start, end, |part| {
            let distance = part.start - start;
            Some(SharedMapping { start: to + distance, end: to + distance + (part.end - part.start), ..part })
        });
    }

    /// The mapping that ends at `start` goes on up to `end`.
    pub(super) fn extend_shared(&mut self, start: u64, end: u64) {
        if self.kernel.shared.iter().any(|mapping| mapping.end == start) {
            let shared = Arc::make_mut(&mut self.kernel.shared);
            for mapping in shared.iter_mut().filter(|mapping| mapping.end == start) {
                mapping.end = end;
            }
        }
    }

    /// Whether nothing in a range is a shared mapping of a file that was opened for reading only.
    pub(super) fn shared_may_be_written(&self, start: u64, end: u64) -> bool {
        let mut overlapping =
            self.kernel.shared.iter().filter(|mapping| mapping.start < end && start < mapping.end);
        overlapping.all(|mapping| mapping.writable)
    }

    /// Gives the parts of mappings that lie in a range to `change`; the rest of them stays.
    fn replace_shared(
        &mut self,
        start: u64,
        end: u64,
        change: impl Fn(SharedMapping) -> Option<SharedMapping>,
    ) {
        if self.kernel.shared.is_empty() {
            return;
        }
        let mut result = Vec::new();
        for mapping in self.kernel.shared.iter() {
            result.extend(mapping.part(0, start));
            result.extend(mapping.part(start, end).and_then(&change));
            result.extend(mapping.part(end, u64::MAX));
        }
        let before = std::mem::replace(&mut self.kernel.shared, Arc::new(result));
        // A part more or less of a mapping is a holder more or less of its file.
        for mapping in self.kernel.shared.iter() {
            let _ = self.kernel.files.hold_mapped(mapping.file);
        }
        for mapping in before.iter() {
            self.kernel.files.release_mapped(mapping.file);
        }
    }
}

/// The stretches in which `new` differs from `old`, which counts as zeros where it is shorter. Only these are
/// written, since another mapping may have changed the bytes between them.
fn differences(old: &[u8], new: &[u8]) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    let old = old.iter().chain(std::iter::repeat(&0));
    for (index, _) in new.iter().zip(old).enumerate().filter(|(_, (new, old))| new != old) {
        match stretches.last_mut() {
            Some((_, end)) if *end == index => *end = index + 1,
            _ => stretches.push((index, index + 1)),
        }
    }
    stretches
}

#[cfg(test)]
mod tests;
