//! Memory calls: mapping, protecting, moving and growing.

use machine::{Backing, PAGE_SIZE, Permissions, Region};

use super::nr;
use crate::elf::{ADDRESS_SPACE_END, page_down, page_up};
use crate::errno::Errno;
use crate::fs::FileMapping;
use crate::kernel::{Args, Call, SysResult};
use crate::loader::{MMAP_BOTTOM, MMAP_TOP};
use crate::moved::Place;
use crate::stack::{STACK_SIZE, STACK_TOP};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    Some(match number {
        nr::mmap => call.mmap(args),
        nr::munmap => call.munmap(args),
        nr::mprotect => call.mprotect(args),
        nr::mremap => call.mremap(args),
        nr::brk => call.brk(args),
        nr::madvise => call.madvise(args),
        nr::msync => call.msync(args),
        nr::mincore => call.mincore(args),
        nr::mlock | nr::mlock2 | nr::munlock => call.mlock(args),
        nr::mlockall | nr::munlockall => Ok(0),
        _ => return None,
    })
}

const PROT_READ: u64 = 1;
const PROT_WRITE: u64 = 2;
const PROT_EXEC: u64 = 4;
const PROT_KNOWN: u64 = 0xf | 0x0300_0000;

const MAP_SHARED: u64 = 1;
const MAP_PRIVATE: u64 = 2;
const MAP_SHARED_VALIDATE: u64 = 3;
const MAP_TYPE: u64 = 0xf;
const MAP_FIXED: u64 = 0x10;
const MAP_ANONYMOUS: u64 = 0x20;
const MAP_32BIT: u64 = 0x40;
const MAP_NORESERVE: u64 = 0x4000;
const MAP_HUGETLB: u64 = 0x4_0000;
const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;

const MREMAP_MAYMOVE: u64 = 1;
const MREMAP_FIXED: u64 = 2;

/// As many mappings as Linux grants by default; each operation on the map takes time with their number.
const MAX_REGIONS: usize = 65_530;
/// Nothing is placed this close below the stack unless the guest insists.
const STACK_GUARD: u64 = 1 << 20;

impl Call<'_> {
    fn mmap(&mut self, [address, length, protection, flags, fd, offset]: Args) -> SysResult {
        if !offset.is_multiple_of(PAGE_SIZE) {
            return Err(Errno::EINVAL);
        }
        let anonymous = flags & MAP_ANONYMOUS != 0;
        let file = if anonymous { None } else { Some(self.mapping(fd as i32)?) };
        if length == 0 {
            return Err(Errno::EINVAL);
        }
        let length = round_up(length)?;
        // Signed, as offsets into files are; then nothing that is added to it later overflows.
        if offset.checked_add(length).is_none_or(|end| end > i64::MAX as u64) {
            return Err(Errno::EOVERFLOW);
        }
        let shared = match flags & MAP_TYPE {
            MAP_SHARED | MAP_SHARED_VALIDATE => true,
            MAP_PRIVATE => false,
            _ => return Err(Errno::EINVAL),
        };
        let wants_write = protection & PROT_WRITE != 0;
        if let Some(file) = &file {
            if !file.readable || (shared && wants_write && !file.writable) {
                return Err(Errno::EACCES);
            }
            self.admit_mapping(file, shared)?;
        } else if !shared && wants_write && flags & MAP_NORESERVE == 0 && length > self.kernel.limits.memory {
            // It could never be filled. Refused here, where programs expect it and can tell the user.
            return Err(Errno::ENOMEM);
        }
        // There are no pages of other sizes in reserve, which is the usual state of a Linux system.
        if flags & MAP_HUGETLB != 0 || self.too_many_regions() {
            return Err(Errno::ENOMEM);
        }
        let start = self.place(address, length, flags)?;
        let permissions = permissions(protection);
        self.forget_shared(start, start + length);
        let from = match &file {
            Some(FileMapping { content: Some(_), inode, .. }) => Place::File { inode: *inode, offset },
            _ => Place::Fresh,
        };
        self.note_move(Some(from), Some(Place::Memory(start)), length);
        match file {
            Some(file) => self.map_file(start, length, permissions, shared, offset, file),
            None => self.guest.memory.map(Region {
                start,
                end: start + length,
                permissions,
                backing: Backing::Zero,
                name: "".into(),
                shared,
            }),
        }
        Ok(start)
    }

    /// Where a new mapping goes.
    fn place(&self, address: u64, length: u64, flags: u64) -> SysResult {
        if flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0 {
            if !address.is_multiple_of(PAGE_SIZE) {
                return Err(Errno::EINVAL);
            }
            let end = address.checked_add(length).filter(|&end| end <= ADDRESS_SPACE_END);
            let end = end.ok_or(Errno::ENOMEM)?;
            if address < MMAP_BOTTOM {
                return Err(Errno::EPERM);
            }
            if flags & MAP_FIXED_NOREPLACE != 0 && !self.is_free(address, end) {
                return Err(Errno::EEXIST);
            }
            return Ok(address);
        }
        if flags & MAP_32BIT != 0 {
            let found = self.guest.memory.find_free(length, 1 << 31);
            return found.filter(|&start| start >= 1 << 30).ok_or(Errno::ENOMEM);
        }
        let hint = page_down(address);
        if hint >= MMAP_BOTTOM
            && let Some(end) = hint.checked_add(length)
            && (end <= STACK_TOP - STACK_SIZE - STACK_GUARD)
            && self.is_free(hint, end)
        {
            return Ok(hint);
        }
        self.guest.memory.find_free(length, MMAP_TOP).ok_or(Errno::ENOMEM)
    }

    fn munmap(&mut self, [address, length, ..]: Args) -> SysResult {
        let end = address.checked_add(length).filter(|&end| end <= ADDRESS_SPACE_END);
        let end = end.filter(|_| length > 0 && address.is_multiple_of(PAGE_SIZE)).ok_or(Errno::EINVAL)?;
        // Unmapping the middle of a region makes two of it.
        if self.too_many_regions() && self.splits_a_region(address, page_up(end)) {
            return Err(Errno::ENOMEM);
        }
        self.forget_shared(address, page_up(end));
        self.guest.memory.unmap(address, page_up(end));
        Ok(0)
    }

    fn mprotect(&mut self, [address, length, protection, ..]: Args) -> SysResult {
        if !address.is_multiple_of(PAGE_SIZE) || protection & !PROT_KNOWN != 0 {
            return Err(Errno::EINVAL);
        }
        if length == 0 {
            return Ok(0);
        }
        let end = address.checked_add(round_up(length)?).filter(|&end| end <= ADDRESS_SPACE_END);
        let end = end.ok_or(Errno::ENOMEM)?;
        if self.too_many_regions() && self.splits_a_region(address, end) {
            return Err(Errno::ENOMEM);
        }
        if protection & PROT_WRITE != 0 && !self.shared_may_be_written(address, end) {
            return Err(Errno::EACCES);
        }
        match self.guest.memory.protect(address, end, permissions(protection)) {
            Ok(()) => Ok(0),
            Err(_) => Err(Errno::ENOMEM),
        }
    }

    fn mremap(&mut self, [old, old_length, new_length, flags, new, _]: Args) -> SysResult {
        if !old.is_multiple_of(PAGE_SIZE) || flags & !(MREMAP_MAYMOVE | MREMAP_FIXED) != 0 {
            return Err(Errno::EINVAL);
        }
        let fixed = flags & MREMAP_FIXED != 0;
        if new_length == 0 || old_length == 0 || (fixed && flags & MREMAP_MAYMOVE == 0) {
            return Err(Errno::EINVAL);
        }
        let (old_length, new_length) = (round_up(old_length)?, round_up(new_length)?);
        let old_end = old.checked_add(old_length).ok_or(Errno::EINVAL)?;
        // All of it must be one mapping: what it is made of is what the new part will be made of.
        let region = self.guest.memory.region_at(old).cloned().ok_or(Errno::EFAULT)?;
        if region.end < old_end {
            return Err(Errno::EFAULT);
        }
        if self.too_many_regions() || new_length > old_length && new_length > ADDRESS_SPACE_END {
            return Err(Errno::ENOMEM);
        }
        if fixed {
            let new_end = new.checked_add(new_length).filter(|&end| end <= ADDRESS_SPACE_END);
            let new_end = new_end.filter(|_| new.is_multiple_of(PAGE_SIZE)).ok_or(Errno::EINVAL)?;
            if new < old_end && old < new_end {
                return Err(Errno::EINVAL);
            }
            if new < MMAP_BOTTOM {
                return Err(Errno::EPERM);
            }
            return Ok(self.move_mapping(&region, old, old_length, new, new_length));
        }
        if new_length <= old_length {
            self.forget_shared(old + new_length, old_end);
            self.guest.memory.unmap(old + new_length, old_end);
            return Ok(old);
        }
        let new_end = old + new_length;
        if region.end == old_end && new_end <= ADDRESS_SPACE_END && self.is_free(old_end, new_end) {
            self.extend(&region, old, old_length, new_length);
            return Ok(old);
        }
        if flags & MREMAP_MAYMOVE == 0 {
            return Err(Errno::ENOMEM);
        }
        let new = self.guest.memory.find_free(new_length, MMAP_TOP).ok_or(Errno::ENOMEM)?;
        Ok(self.move_mapping(&region, old, old_length, new, new_length))
    }

    fn move_mapping(&mut self, region: &Region, old: u64, old_length: u64, new: u64, new_length: u64) -> u64 {
        self.forget_shared(new, new + new_length);
        self.guest.memory.unmap(new, new + new_length);
        let kept = old_length.min(new_length);
        self.forget_shared(old + kept, old + old_length);
        self.guest.memory.unmap(old + kept, old + old_length);
        self.move_shared(old, old + kept, new);
        self.guest.memory.relocate(old, old + kept, new);
        self.note_move(Some(Place::Memory(old)), Some(Place::Memory(new)), kept);
        if new_length > old_length {
            let moved = Region {
                start: region.start.wrapping_sub(old).wrapping_add(new),
                end: region.end.wrapping_sub(old).wrapping_add(new),
                ..region.clone()
            };
            self.extend(&moved, new, old_length, new_length);
        }
        new
    }

    /// Lets a mapping at `start` go on after `old_length` bytes. `region` is what it is a part of.
    fn extend(&mut self, region: &Region, start: u64, old_length: u64, new_length: u64) {
        let backing = match &region.backing {
            Backing::Zero | Backing::Fresh => region.backing.clone(),
            Backing::Bytes { content, offset } => {
                let distance = start.wrapping_add(old_length).wrapping_sub(region.start);
                Backing::Bytes { content: content.clone(), offset: offset.saturating_add(distance) }
            }
        };
        self.guest.memory.map(Region {
            start: start + old_length,
            end: start + new_length,
            backing,
            ..region.clone()
        });
        self.extend_shared(start + old_length, start + new_length);
    }

    fn brk(&mut self, [wanted, ..]: Args) -> SysResult {
        let heap = self.kernel.heap;
        if wanted < heap.start || wanted > MMAP_TOP || wanted - heap.start > self.kernel.limits.memory {
            return Ok(heap.end);
        }
        let (old, new) = (page_up(heap.end), page_up(wanted));
        if new > old {
            if !self.is_free(old, new) || self.too_many_regions() {
                return Ok(heap.end);
            }
            self.note_move(Some(Place::Fresh), Some(Place::Memory(old)), new - old);
            self.guest.memory.map(Region {
                start: old,
                end: new,
                permissions: Permissions::RW,
                backing: Backing::Zero,
                name: "[heap]".into(),
                shared: false,
            });
        } else {
            self.forget_shared(new, old);
            self.guest.memory.unmap(new, old);
        }
        self.kernel.heap.end = wanted;
        Ok(wanted)
    }

    fn madvise(&mut self, [address, length, advice, ..]: Args) -> SysResult {
        const DONTNEED: u64 = 4;
        if !address.is_multiple_of(PAGE_SIZE) {
            return Err(Errno::EINVAL);
        }
        let length = round_up(length).map_err(|_| Errno::EINVAL)?;
        let end = address.checked_add(length).ok_or(Errno::EINVAL)?;
        match advice {
            DONTNEED => self.discard(address, end),
            // Only hints: access patterns, huge pages, what a fork or a core dump should leave out.
            0..=3 | 8 | 10..=21 => {}
            // Populate: pages come when they are touched.
            22 | 23 => {}
            _ => return Err(Errno::EINVAL),
        }
        if length > 0 { self.all_mapped(address, end).map(|()| 0) } else { Ok(0) }
    }

    /// Puts the pages of a range back to what they were when they were mapped: zero, or the file's bytes.
    fn discard(&mut self, start: u64, end: u64) {
        self.synchronise_shared();
        let overlapping = self.guest.memory.regions().iter();
        let overlapping = overlapping.filter(|region| region.start < end && start < region.end);
        let parts: Vec<Region> = overlapping
            .map(|region| {
                let from = start.max(region.start);
                let backing = match &region.backing {
                    Backing::Zero | Backing::Fresh => region.backing.clone(),
                    Backing::Bytes { content, offset } => Backing::Bytes {
                        content: content.clone(),
                        offset: offset.saturating_add(from - region.start),
                    },
                };
                Region { start: from, end: end.min(region.end), backing, ..region.clone() }
            })
            .collect();
        for part in parts {
            self.guest.memory.map(part);
        }
    }

    fn msync(&mut self, [address, length, flags, ..]: Args) -> SysResult {
        const ASYNC_AND_SYNC: u64 = 1 | 4;
        const KNOWN: u64 = 1 | 2 | 4;
        if !address.is_multiple_of(PAGE_SIZE)
            || flags & !KNOWN != 0
            || flags & ASYNC_AND_SYNC == ASYNC_AND_SYNC
        {
            return Err(Errno::EINVAL);
        }
        let end = address.checked_add(round_up(length)?).ok_or(Errno::ENOMEM)?;
        self.synchronise_shared();
        self.all_mapped(address, end).map(|()| 0)
    }

    fn mlock(&mut self, [address, length, ..]: Args) -> SysResult {
        let end = address.checked_add(length).ok_or(Errno::EINVAL)?;
        self.all_mapped(page_down(address), end).map(|()| 0)
    }

    /// Pages count as present: what is not there yet comes without the guest noticing.
    fn mincore(&mut self, [address, length, result, ..]: Args) -> SysResult {
        if !address.is_multiple_of(PAGE_SIZE) {
            return Err(Errno::EINVAL);
        }
        let length = round_up(length)?;
        let end = address.checked_add(length).ok_or(Errno::ENOMEM)?;
        self.all_mapped(address, end)?;
        let present = [1u8; 4096];
        let pages = length / PAGE_SIZE;
        let mut done = 0;
        while done < pages {
            let count = (pages - done).min(present.len() as u64);
            self.guest.write(result.wrapping_add(done), present.get(..count as usize).unwrap_or_default())?;
            done += count;
        }
        Ok(0)
    }

    fn all_mapped(&self, start: u64, end: u64) -> Result<(), Errno> {
        let mut at = start;
        while at < end {
            at = self.guest.memory.region_at(at).ok_or(Errno::ENOMEM)?.end;
        }
        Ok(())
    }

    fn is_free(&self, start: u64, end: u64) -> bool {
        let regions = self.guest.memory.regions();
        let after = regions.partition_point(|region| region.end <= start);
        regions.get(after).is_none_or(|region| region.start >= end)
    }

    fn too_many_regions(&self) -> bool {
        self.guest.memory.regions().len() >= MAX_REGIONS
    }

    fn splits_a_region(&self, start: u64, end: u64) -> bool {
        let splits = |at| self.guest.memory.region_at(at).is_some_and(|region| region.start < at);
        splits(start) || splits(end)
    }
}

fn permissions(protection: u64) -> Permissions {
    Permissions {
        read: protection & PROT_READ != 0,
        write: protection & PROT_WRITE != 0,
        execute: protection & PROT_EXEC != 0,
    }
}

/// A length in whole pages; ENOMEM if there can be no such mapping.
fn round_up(length: u64) -> Result<u64, Errno> {
    length
        .checked_next_multiple_of(PAGE_SIZE)
        .filter(|&length| length <= ADDRESS_SPACE_END)
        .ok_or(Errno::ENOMEM)
}

#[cfg(test)]
mod tests;
