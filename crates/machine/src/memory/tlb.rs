//! The software TLB: what makes a guest access cost a compare and an add.
//!
//! Walking the page tree and searching the regions for every load would dominate the run, so the pages in
//! use are remembered in a small direct-mapped array. An entry is trusted without any further check:
//! whoever moves, shares or protects a page must drop its entry first. Tags are atomic so that [`Tlb::clear`]
//! works through a shared reference; that is what lets a memory be forked and hashed without exclusive access.
//! An access has exclusive access and reads them plainly.

use super::shadow::{self, Bits};
use super::{PAGE_MASK, PAGE_SIZE};
use std::hint::cold_path;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// A reach of 4 MiB, in 32 KiB: larger tables cost more to clear at each fork than they save in misses.
const ENTRIES: usize = 1024;

/// No page address equals this, since page addresses are multiples of the page size.
const NO_PAGE: u64 = u64::MAX;

/// The tag of an entry that knows no page: a page that belongs to another entry, so that no address which
/// leads to this one lies in it. It is zero for all but one, so that zeroed memory is nearly an empty TLB.
const fn no_page(index: usize) -> u64 {
    if index == 0 { PAGE_SIZE } else { 0 }
}

/// The registers by which code reaches its stack frame.
#[derive(Clone, Copy)]
pub enum Frame {
    StackPointer = 0,
    FramePointer = 1,
}

#[repr(C)]
pub(super) struct Tlb {
    /// The pages last used by way of the stack pointer and of the frame pointer. Where such a page lies
    /// does not have to be looked up by address, which takes the look-up off the longest chain of
    /// dependences in code that keeps its variables on the stack.
    frames: [FrameEntry; 2],
    entries: [Entry; ENTRIES],
    /// Whether anything was remembered since it was last cleared; else there is nothing to clear.
    used: AtomicBool,
}

/// The page at guest address `tag` lies at `host`.
#[repr(C)]
struct FrameEntry {
    tag: AtomicU64,
    host: *mut u8,
}

/// The part of a page at guest address `tag` lies at `host`. Aligned to lie in one cache line.
#[repr(C, align(32))]
struct Entry {
    tag: AtomicU64,
    host: *mut u8,
    /// At how many places, from the tag on, an access of 1, 2, 4 and 8 bytes may begin.
    limits: [u16; 4],
    /// The bits that tell which bytes of the page are forbidden; null where it has none.
    shadow: *const Bits,
}

impl Entry {
    /// At how many places an access of so many bytes may begin. Which limit counts is known when this is compiled.
    #[inline(always)]
    fn limit(&self, size: u64) -> u64 {
        match size {
            1 => u64::from(self.limits[0]),
            2 => u64::from(self.limits[1]),
            4 => u64::from(self.limits[2]),
            8 => u64::from(self.limits[3]),
            _ => u64::from(self.limits[0]).saturating_sub(size - 1),
        }
    }

    /// Knows these bytes of a page that lies at `host` from now on.
    #[inline(always)]
    fn fit(&mut self, page: u64, host: *mut u8, extent: Range<u64>) {
        *self.tag.get_mut() = page + extent.start;
        self.host = host.wrapping_add(extent.start as usize);
        let length = extent.end - extent.start;
        self.limits = [0, 1, 3, 7].map(|more| length.saturating_sub(more) as u16);
    }
}

// SAFETY: the pointers lead to pages that the memory which owns this TLB keeps alive, so they are good
// wherever that memory is moved to. They change under `&mut self` only, and the tags are atomic.
unsafe impl Send for Tlb {}
// SAFETY: as above; through a shared reference an entry can only be read or invalidated atomically.
unsafe impl Sync for Tlb {}

impl Tlb {
    pub fn new() -> Tlb {
        let mut tlb = MaybeUninit::zeroed();
        // SAFETY: the place is zeroed, and `empty_zeroed` makes a TLB of it.
        unsafe {
            Tlb::empty_zeroed(tlb.as_mut_ptr());
            tlb.assume_init()
        }
    }

    /// Makes a TLB that knows no page of zeros: nearly all of it is that already.
    ///
    /// # Safety
    /// `zeroed` must be valid for writes, and all zero.
    pub unsafe fn empty_zeroed(zeroed: *mut Tlb) {
        // SAFETY: zeros are a valid TLB, whose tags are then made those of an empty one.
        let tlb = unsafe { &mut *zeroed };
        for frame in &mut tlb.frames {
            *frame.tag.get_mut() = NO_PAGE;
        }
        *tlb.entries[0].tag.get_mut() = no_page(0);
    }

    /// The host address of `size` bytes at `address`, if that is aligned and in the page that this frame
    /// was last seen in. Alignment keeps an access from crossing pages.
    #[inline(always)]
    pub fn hit_frame(&mut self, frame: Frame, address: u64, size: u64) -> Option<*mut u8> {
        let entry = &mut self.frames[frame as usize];
        if *entry.tag.get_mut() == address & (PAGE_MASK | (size - 1)) {
            Some(entry.host.wrapping_add((address & !PAGE_MASK) as usize))
        } else {
            None
        }
    }

    /// Remembers the page of `address`, which lies at `host`, for a frame.
    pub fn set_frame(&mut self, frame: Frame, address: u64, host: *mut u8) {
        let entry = &mut self.frames[frame as usize];
        *entry.tag.get_mut() = address & PAGE_MASK;
        entry.host = host.wrapping_sub((address & !PAGE_MASK) as usize);
        *self.used.get_mut() = true;
    }

    /// The host address of `size` bytes at `address`, if they lie in one known page, or the known part of one.
    ///
    /// The entry is chosen by the page of the first byte. An access that crosses into the next page has too
    /// large an offset, and so has one to any other page, or one that is larger than what is known. Where several blocks lie in
    /// one page, the known part is one of them, and the bits of the page tell of the others.
    #[inline(always)]
    #[allow(clippy::pointers_in_nomem_asm_block, reason = "nothing is accessed by the pointer")]
    pub fn hit(&mut self, address: u64, size: u64) -> Option<*mut u8> {
        let entry = &mut self.entries[index(address)];
        let mut host = entry.host;
        // SAFETY: the assembly is empty. It keeps the load of `host` before the comparison, which the compiler would else put
        // behind it, and compute the address of the entry a second time.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) host, options(nomem, nostack, preserves_flags)) };
        let mut offset = address.wrapping_sub(*entry.tag.get_mut());
        if offset >= entry.limit(size) {
            cold_path();
            (host, offset) = self.hit_by_bits(address, size)?;
        }
        Some(host.wrapping_add(offset as usize))
    }

    /// The same where the page is known and one word of its bits permits the access: where the known part lies, and how far from it.
    #[inline(always)]
    fn hit_by_bits(&mut self, mut address: u64, size: u64) -> Option<(*mut u8, u64)> {
        // SAFETY: the assembly is empty. It has the compiler compute the entry again instead of keeping all that it knows of it in registers, which
        // would be too many for a handler without a stack frame.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) address, options(nomem, nostack, preserves_flags)) };
        let entry = &mut self.entries[index(address)];
        let tag = *entry.tag.get_mut();
        let same_page = tag ^ address < PAGE_SIZE;
        // SAFETY: as long as an entry knows a page, the bits that it knows of it are alive and where they were.
        let bits = unsafe { entry.shadow.as_ref() }.filter(|_| same_page)?;
        let permitted = shadow::permits(bits, address & !PAGE_MASK, size);
        permitted.then(|| (entry.host, address.wrapping_sub(tag)))
    }

    /// Remembers that the page at guest address `page` lies at `host`, and that these bytes of it can be accessed. `shadow` are
    /// the bits of the page, or null; whoever moves them must drop the entry first.
    pub fn set(&mut self, page: u64, host: *mut u8, extent: Range<u64>, shadow: *const Bits) {
        let entry = &mut self.entries[index(page)];
        entry.shadow = shadow;
        entry.fit(page, host, extent);
        *self.used.get_mut() = true;
    }

    /// Where the page of `address` lies, if an entry knows it, and that entry.
    #[inline(always)]
    fn page(&mut self, address: u64) -> Option<(&mut Entry, *mut u8)> {
        let entry = &mut self.entries[index(address)];
        let tag = *entry.tag.get_mut();
        let page = address & PAGE_MASK;
        let host = entry.host.wrapping_sub((tag & !PAGE_MASK) as usize);
        (tag & PAGE_MASK == page).then_some((entry, host))
    }

    /// The same as [`Tlb::hit`] where the page is known, but another part of it: by the page's bits. From then on that
    /// part is the known one.
    #[inline(always)]
    pub fn refit(&mut self, address: u64, size: u64) -> Option<*mut u8> {
        let (entry, host) = self.page(address)?;
        // SAFETY: as long as an entry knows a page, the bits that it knows of it are alive and where they were.
        let bits = unsafe { entry.shadow.as_ref() }?;
        let offset = address & !PAGE_MASK;
        let extent = shadow::stretch(bits, offset as usize, size as usize)?;
        entry.fit(address & PAGE_MASK, host, extent);
        Some(host.wrapping_add(offset as usize))
    }

    /// Where `size` bytes at `address` are, if they lie in a known page, whether they are forbidden or not.
    pub fn find(&mut self, address: u64, size: u64) -> Option<*const u8> {
        let offset = address & !PAGE_MASK;
        let (_, host) = self.page(address).filter(|_| offset + size <= PAGE_SIZE)?;
        Some(host.wrapping_add(offset as usize))
    }

    /// Other bytes of this page are forbidden from now on.
    pub fn narrow(&mut self, page: u64) {
        self.forget_frames(page, page + PAGE_SIZE);
        let Some((entry, _)) = self.page(page) else { return };
        if entry.shadow.is_null() {
            *entry.tag.get_mut() = no_page(index(page));
        }
        entry.limits = [0; 4];
    }

    /// Like [`Tlb::set`], but only where the page is remembered already.
    pub fn replace(&mut self, page: u64, host: *mut u8) {
        for frame in &mut self.frames {
            if *frame.tag.get_mut() == page {
                frame.host = host;
            }
        }
        let entry = &mut self.entries[index(page)];
        let tag = *entry.tag.get_mut();
        if tag & PAGE_MASK == page {
            entry.host = host.wrapping_add((tag - page) as usize);
        }
    }

    /// Drops the pages of a page-aligned range.
    pub fn forget(&mut self, start: u64, end: u64) {
        self.forget_frames(start, end);
        if end.saturating_sub(start) / PAGE_SIZE >= ENTRIES as u64 {
            return self.clear();
        }
        let mut page = start;
        while page < end {
            let tag = self.entries[index(page)].tag.get_mut();
            if *tag & PAGE_MASK == page {
                *tag = no_page(index(page));
            }
            page += PAGE_SIZE;
        }
    }

    fn forget_frames(&mut self, start: u64, end: u64) {
        for frame in &mut self.frames {
            let tag = frame.tag.get_mut();
            if (start..end).contains(tag) {
                *tag = NO_PAGE;
            }
        }
    }

    /// Drops everything.
    pub fn clear(&self) {
        if self.used.load(Relaxed) {
            for frame in &self.frames {
                frame.tag.store(NO_PAGE, Relaxed);
            }
            for (index, entry) in self.entries.iter().enumerate() {
                entry.tag.store(no_page(index), Relaxed);
            }
            self.used.store(false, Relaxed);
        }
    }
}

#[inline(always)]
fn index(address: u64) -> usize {
    (address / PAGE_SIZE) as usize % ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::UnsafeCell;
    use std::ptr::null;

    fn host(value: usize) -> *mut u8 {
        std::ptr::without_provenance_mut(value)
    }

    #[test]
    fn an_access_that_crosses_into_a_known_page_misses() {
        let mut tlb = Tlb::new();
        tlb.set(0x5000, host(0x9_0000), 0..PAGE_SIZE, null());
        tlb.set(0x6000, host(0x8_0000), 0..PAGE_SIZE, null());
        assert_eq!(tlb.hit(0x5ff8, 8), Some(host(0x9_0ff8)));
        assert_eq!(tlb.hit(0x5ff9, 8), None);
        assert_eq!(tlb.hit(0x6000, 8), Some(host(0x8_0000)));
    }

    #[test]
    fn an_access_that_wraps_around_misses_even_if_page_zero_is_known() {
        let mut tlb = Tlb::new();
        assert_eq!(tlb.hit(0, 1), None);
        tlb.set(0, host(0x9_0000), 0..PAGE_SIZE, null());
        assert_eq!(tlb.hit(0, 1), Some(host(0x9_0000)));
        assert_eq!(tlb.hit(u64::MAX, 1), None);
        assert_eq!(tlb.hit(u64::MAX, 2), None);
        assert_eq!(tlb.hit(u64::MAX - 2, 16), None);
    }

    #[test]
    fn an_empty_tlb_knows_no_page() {
        let mut tlb = Tlb::new();
        for page in 0..2 * ENTRIES as u64 {
            assert_eq!(tlb.hit(page * PAGE_SIZE, 1), None);
            assert_eq!(tlb.hit(page * PAGE_SIZE + PAGE_SIZE - 1, 1), None);
        }
        for address in [0, 8, PAGE_SIZE, PAGE_MASK, PAGE_MASK | 0xff8] {
            assert_eq!(tlb.hit_frame(Frame::StackPointer, address, 8), None);
            assert_eq!(tlb.hit_frame(Frame::FramePointer, address, 8), None);
        }
    }

    #[test]
    fn a_page_that_moved_is_found_by_frames_too() {
        let mut tlb = Tlb::new();
        tlb.set_frame(Frame::StackPointer, 0x5010, host(0x9_0010));
        tlb.set_frame(Frame::FramePointer, 0x6010, host(0x8_0010));
        tlb.replace(0x5000, host(0x7_0000));
        assert_eq!(tlb.hit_frame(Frame::StackPointer, 0x5008, 8), Some(host(0x7_0008)));
        assert_eq!(tlb.hit_frame(Frame::FramePointer, 0x6008, 8), Some(host(0x8_0008)));
        assert_eq!(tlb.hit(0x5008, 8), None);
    }

    #[test]
    fn an_access_that_leaves_the_known_part_of_a_page_misses() {
        let mut tlb = Tlb::new();
        tlb.set(0x5000, host(0x9_0000), 0x10..0x14, null());
        assert_eq!(tlb.hit(0x5010, 4), Some(host(0x9_0010)));
        assert_eq!(tlb.hit(0x5013, 1), Some(host(0x9_0013)));
        for (address, size) in [(0x500f, 1), (0x500f, 2), (0x5010, 8), (0x5011, 4), (0x5014, 1), (0x5008, 16)]
        {
            assert_eq!(tlb.hit(address, size), None, "{address:#x}");
        }
        tlb.replace(0x5000, host(0x7_0000));
        assert_eq!(tlb.hit(0x5010, 4), Some(host(0x7_0010)));
        tlb.forget(0x5000, 0x6000);
        assert_eq!(tlb.hit(0x5010, 1), None);
    }

    #[test]
    fn another_part_of_a_known_page_is_found_by_its_bits() {
        let place = UnsafeCell::new([u64::MAX; 64]);
        let set = |index: usize, word: u64| {
            // SAFETY: nobody looks at the bits meanwhile.
            unsafe { (*place.get())[index] = word };
        };
        set(0, !0xff);
        set(1, !0xf0);
        let mut tlb = Tlb::new();
        tlb.set(0x5000, host(0x9_0000), 0..8, place.get());
        // A word of bits has all that are asked for.
        for (address, size) in [(0x5044, 4), (0x5047, 1), (0x5000, 8), (0x5006, 2)] {
            let at = address as usize - 0x5000;
            assert_eq!(tlb.hit(address, size), Some(host(0x9_0000 + at)), "{address:#x}");
        }
        for (address, size) in
            [(0x5045, 4), (0x5043, 1), (0x5008, 1), (0x5ff8, 16), (0x6044, 4), (0x5044, 64)]
        {
            assert_eq!((tlb.hit(address, size), tlb.refit(address, size)), (None, None), "{address:#x}");
        }
        assert_eq!(tlb.find(0x5043, 8), Some(host(0x9_0043).cast_const()));
        assert_eq!(tlb.find(0x5ff9, 8), None);
        // Two words have them.
        set(2, !0xff);
        set(1, !(0xf << 60));
        assert_eq!(tlb.hit(0x507e, 4), None);
        assert_eq!(tlb.refit(0x507e, 4), Some(host(0x9_007e)));
        assert_eq!(tlb.hit(0x507e, 4), Some(host(0x9_007e)));
        set(1, u64::MAX);
        tlb.narrow(0x5000);
        assert_eq!((tlb.hit(0x507e, 4), tlb.refit(0x507e, 4)), (None, None));
        assert_eq!(tlb.hit(0x5000, 8), Some(host(0x9_0000)));
        tlb.forget(0x5000, 0x6000);
        assert_eq!((tlb.hit(0x5000, 8), tlb.refit(0x5000, 8)), (None, None));
    }

    #[test]
    fn pages_that_share_an_entry_are_told_apart() {
        let mut tlb = Tlb::new();
        let (one, other) = (0x1000, 0x1000 + ENTRIES as u64 * PAGE_SIZE);
        tlb.set(one, host(0x9_0000), 0..PAGE_SIZE, null());
        assert_eq!(tlb.hit(other, 1), None);
        tlb.replace(other, host(0x7_0000));
        assert_eq!(tlb.hit(one, 1), Some(host(0x9_0000)));
        tlb.forget(other, other + PAGE_SIZE);
        assert_eq!(tlb.hit(one, 1), Some(host(0x9_0000)));
        tlb.forget(one, one + PAGE_SIZE);
        assert_eq!(tlb.hit(one, 1), None);
    }
}
