//! The guest's memory: a flat 64-bit space of 4 KiB pages, forked in constant time.
//!
//! Five parts make it: [`regions`] say what is mapped and with which permissions, the page [`tree`] holds the
//! pages that were touched, the [`tlb`] stands before both so that an access that was made before costs a
//! compare and an add, the marks on [`code`] pages tell the executor when what it lifted is out of date, and the
//! [`shadow`] says which bytes nobody may access.
//! Accesses are in [`access`]. Everything but the TLB is persistent and shared between forks.
//!
//! Invariants that the unsafe code rests on:
//! 1. A page that the TLB knows is in this memory's tree (or is the page of zeros), for as long as it is known.
//! 2. A page that the write side of the TLB knows has this memory's tree as its only owner; forking clears
//!    that side. Such a page counts as written, and no digest of it is remembered.

mod access;
mod code;
mod digest;
mod image;
mod page;
mod regions;
mod shadow;
mod tlb;
mod tree;

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;

pub use access::Scalar;
pub use code::CodeChange;
pub use image::{Image, ImagePage};
pub use page::PAGE_ALLOCATION;
pub use regions::{Backing, FRESH, Region};

use code::Code;
use regions::Regions;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;
pub use tlb::Frame;
use tlb::Tlb;
use tree::Tree;

pub const PAGE_SIZE: u64 = 4096;
const PAGE_MASK: u64 = !(PAGE_SIZE - 1);

/// The end of the addresses that a process can map.
const USER_END: u64 = 1 << 47;
/// The start of the canonical addresses that belong to the kernel.
const KERNEL_START: u64 = USER_END.wrapping_neg();
/// The lowest address that is ever found free: a null pointer with an offset must fault.
const LOWEST_FREE: u64 = 0x1_0000;

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Permissions {
    pub read: bool,
    pub write: bool,
    pub execute: bool,
}

impl Permissions {
    pub const NONE: Permissions = Permissions { read: false, write: false, execute: false };
    pub const R: Permissions = Permissions { read: true, ..Permissions::NONE };
    pub const RW: Permissions = Permissions { write: true, ..Permissions::R };
    pub const RX: Permissions = Permissions { execute: true, ..Permissions::R };
    pub const RWX: Permissions = Permissions { write: true, ..Permissions::RX };

    /// The processor's page tables cannot express a page that is written or executed but not read.
    fn readable(self) -> bool {
        self.read || self.write || self.execute
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    Read,
    Write,
    Execute,
}

/// Why an access was refused.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// Nothing is mapped there.
    Unmapped,
    /// The region does not permit it.
    Protected,
    /// No address at all: the processor raises a general protection fault, not a page fault.
    NonCanonical,
    /// The page would exceed the limit on materialised pages.
    OutOfMemory,
    /// The page holds lifted code ([`Memory::mark_code`]), see [`Memory::open_marked_code`].
    CodePage,
    /// Nobody may access it ([`Memory::set_forbidden`]).
    Forbidden,
}

/// An access that did not happen, in whole.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct AccessFault {
    /// The first byte that could not be accessed.
    pub address: u64,
    pub access: Access,
    pub cause: Cause,
}

impl fmt::Display for AccessFault {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let access = match self.access {
            Access::Read => "read from",
            Access::Write => "write to",
            Access::Execute => "execution of",
        };
        let cause = match self.cause {
            Cause::Unmapped => "nothing is mapped there",
            Cause::Protected => "its protection forbids it",
            Cause::NonCanonical => "not a canonical address",
            Cause::OutOfMemory => "the memory limit is reached",
            Cause::CodePage => "it holds lifted code",
            Cause::Forbidden => "it is in no block of the heap",
        };
        write!(formatter, "{access} {:#x}: {cause}", self.address)
    }
}

impl std::error::Error for AccessFault {}

/// See the module's documentation. The TLB comes first and inline, at fixed offsets.
#[repr(C)]
pub struct Memory {
    read_tlb: Tlb,
    write_tlb: Tlb,
    tree: Tree,
    regions: Regions,
    code: Code,
    /// How many pages the tree holds.
    resident: u64,
    /// How many it may hold.
    limit: u64,
    /// Where bytes can be forbidden.
    checked: Range<u64>,
    /// Loads of forbidden bytes are let through, see [`Memory::leave_loads_unchecked`].
    unchecked: bool,
}

impl Memory {
    /// An empty memory that materialises at most `limit_bytes`.
    pub fn new(limit_bytes: u64) -> Memory {
        Memory {
            read_tlb: Tlb::new(),
            write_tlb: Tlb::new(),
            tree: Tree::default(),
            regions: Regions::default(),
            code: Code::default(),
            resident: 0,
            limit: limit_bytes / PAGE_SIZE,
            checked: 0..0,
            unchecked: false,
        }
    }

    /// Materialises at most this much from now on, if that is less than before. What is there already stays.
    pub fn restrict(&mut self, limit_bytes: u64) {
        self.limit = self.limit.min(limit_bytes / PAGE_SIZE);
    }

    /// An independent copy, in constant time. Both sides copy a page when they first write to it. Only the write
    /// side of the TLB changes, so that several threads may fork one memory.
    pub fn fork(&self) -> Memory {
        let mut fork = MaybeUninit::zeroed();
        // SAFETY: the place is zeroed, and `open_into` makes a memory of it.
        unsafe {
            self.image().open_into(fork.as_mut_ptr());
            fork.assume_init()
        }
    }

    /// Maps a region, in place of what was there. Its bounds are multiples of the page size; what lies outside
    /// of a process's address space is cut off.
    pub fn map(&mut self, region: Region) {
        debug_assert!((region.start | region.end).is_multiple_of(PAGE_SIZE), "{region:x?}");
        let Some((start, end)) = whole_pages(region.start, region.end) else { return };
        if !self.clear_range(start, end) && region.permissions.execute {
            self.code.added();
        }
        self.regions.insert(Region { start, end, ..region });
    }

    /// Unmaps whatever is mapped in a range of pages.
    pub fn unmap(&mut self, start: u64, end: u64) {
        let Some((start, end)) = whole_pages(start, end) else { return };
        self.clear_range(start, end);
        self.regions.remove(start, end);
    }

    /// Gives a range of pages other permissions; if some page is not mapped, changes nothing.
    pub fn protect(&mut self, start: u64, end: u64, permissions: Permissions) -> Result<(), AccessFault> {
        let Some((first, after)) = whole_pages(start, end) else {
            return if start >= end { Ok(()) } else { Err(unmapped(start)) };
        };
        if let Some(gap) = self.regions.first_gap(first, after) {
            return Err(unmapped(gap));
        }
        if end > after {
            return Err(unmapped(after));
        }
        let differing =
            || self.regions.overlapping(first, after).iter().filter(|r| r.permissions != permissions);
        if differing().any(|region| region.permissions.execute) {
            self.code.changed();
            self.code.forget_marks(first, after);
        } else if permissions.execute && differing().next().is_some() {
            self.code.added();
        }
        self.forget_in_tlb(first, after);
        self.regions.protect(first, after, permissions);
        Ok(())
    }

    /// Moves what is mapped in a range of pages, with its content, to another place, in place of what was
    /// there. Does nothing if the destination is outside of a process's address space.
    pub fn relocate(&mut self, start: u64, end: u64, to: u64) {
        debug_assert!(to.is_multiple_of(PAGE_SIZE), "{to:#x}");
        let Some((start, end)) = whole_pages(start, end) else { return };
        let to = to & PAGE_MASK;
        let Some(to_end) = to.checked_add(end - start).filter(|&to_end| to_end <= USER_END) else { return };
        if to == start {
            return;
        }
        let executable = self.regions.overlapping(start, end).iter().any(|region| region.permissions.execute);
        let mut pages = Vec::new();
        self.tree
            .remove(start / PAGE_SIZE, end / PAGE_SIZE - 1, &mut |number, page| pages.push((number, page)));
        self.resident -= pages.len() as u64;
        self.clear_range(to, to_end);
        self.forget_in_tlb(start, end);
        self.code.forget_marks(start, end);
        if executable {
            self.code.changed();
        }
        self.resident += pages.len() as u64;
        for (number, page) in pages {
            *self.tree.slot_for_written(number - start / PAGE_SIZE + to / PAGE_SIZE) = Some(page);
        }
        self.regions.relocate(start, end, to);
    }

    /// All regions in order of their addresses; neighbours that are alike in all respects are one region.
    pub fn regions(&self) -> &[Region] {
        self.regions.as_slice()
    }

    pub fn region_at(&self, address: u64) -> Option<&Region> {
        self.regions.at(address)
    }

    /// The start of the highest gap of `length` bytes (rounded up to whole pages) that ends at or below
    /// `from_top`.
    pub fn find_free(&self, length: u64, from_top: u64) -> Option<u64> {
        let length = length.checked_next_multiple_of(PAGE_SIZE).filter(|&length| length > 0)?;
        let mut top = from_top.min(USER_END) & PAGE_MASK;
        for region in self.regions().iter().rev() {
            if region.end <= top && top - region.end >= length {
                break;
            }
            top = top.min(region.start);
        }
        top.checked_sub(length).filter(|&start| start >= LOWEST_FREE)
    }

    /// The addresses of the pages that were ever stored to and are still mapped, in order.
    pub fn written_pages(&self) -> impl Iterator<Item = u64> + use<> {
        self.written_pages_in(0, USER_END)
    }

    /// Those of them in a range. Costs as much as there are pages in it.
    pub fn written_pages_in(&self, start: u64, end: u64) -> impl Iterator<Item = u64> + use<> {
        let mut written = Vec::new();
        if let Some((start, end)) = whole_pages(start, end) {
            self.tree.for_each(start / PAGE_SIZE, end / PAGE_SIZE - 1, &mut |number, page| {
                if page.was_written() {
                    written.push(number * PAGE_SIZE);
                }
            });
        }
        written.into_iter()
    }

    /// The addresses of the guest's pages that this memory and one of the same origin do not share: only there can their bytes differ, unless
    /// one of them was mapped anew. Costs as much as there are such pages.
    pub fn pages_unshared_with(&self, other: &Memory) -> Vec<u64> {
        let mut unshared = Vec::new();
        self.tree.for_each_unshared(&other.tree, &mut |number| unshared.push(number * PAGE_SIZE));
        unshared.retain(|page| *page < USER_END);
        unshared
    }

    /// How many pages are materialised, shared with forks or not.
    pub fn resident_pages(&self) -> u64 {
        self.resident
    }

    /// A hash of the regions' bounds and permissions and of the address and content of every written page. It
    /// does not depend on what was read, on how often this was asked, or on the host. Only pages that were
    /// opened for writing since the last call are looked at; to notice further writes, the write side of the
    /// TLB is cleared.
    pub fn hash(&self) -> u64 {
        self.hash_and_effort().0
    }

    /// The hash, and how many pages had to be looked at for it.
    fn hash_and_effort(&self) -> (u64, u64) {
        self.write_tlb.clear();
        let mut looked_at = 0;
        let mut hash = self.tree.digest(&mut looked_at);
        for region in self.regions() {
            let Permissions { read, write, execute } = region.permissions;
            let permissions = u64::from(read) | u64::from(write) << 1 | u64::from(execute) << 2;
            hash = [region.start, region.end, permissions].into_iter().fold(hash, digest::combine);
        }
        (hash, looked_at)
    }

    /// Drops the pages of a range that is about to be mapped anew or unmapped. Whether code was among them.
    fn clear_range(&mut self, start: u64, end: u64) -> bool {
        let replaced = self.regions.overlapping(start, end);
        let executable = replaced.iter().any(|region| region.permissions.execute);
        if !replaced.is_empty() {
            let mut removed = 0;
            self.tree.remove(start / PAGE_SIZE, end / PAGE_SIZE - 1, &mut |_, _| removed += 1);
            self.resident -= removed;
            self.forget_in_tlb(start, end);
            self.code.forget_marks(start, end);
        }
        if executable {
            self.code.changed();
        }
        executable
    }

    fn forget_in_tlb(&mut self, start: u64, end: u64) {
        self.read_tlb.forget(start, end);
        self.write_tlb.forget(start, end);
    }
}

/// The pages of `start..end` that a process can map, if any.
fn whole_pages(start: u64, end: u64) -> Option<(u64, u64)> {
    let start = start & PAGE_MASK;
    let end = end.min(USER_END).next_multiple_of(PAGE_SIZE);
    (start < end).then_some((start, end))
}

/// The fault of changing the protection where nothing is mapped.
fn unmapped(address: u64) -> AccessFault {
    AccessFault { address, access: Access::Write, cause: absence(address) }
}

/// Why nothing is at an address.
fn absence(address: u64) -> Cause {
    if (USER_END..KERNEL_START).contains(&address) { Cause::NonCanonical } else { Cause::Unmapped }
}
