//! Puts the pages of guests into huge pages of the host.
//!
//! A guest's memory is thousands of pages of 4 KiB that are allocated one by one. Where a guest goes through more of them than the
//! host's processor has translations for, each access waits for a walk through the host's page tables, and in a virtual machine
//! for two. So allocations of just that size come from stretches of memory for which the kernel is asked to use huge pages; all others are the
//! system's. What is given back is kept for the next page.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// A page with what is beside it; pages lie side by side, as they do in the system's allocator.
const SLOT: usize = machine::PAGE_ALLOCATION;
const HUGE: usize = 2 << 20;
/// Address space only: what is not used takes no memory. Tests use all of it.
const STRETCH: usize = if cfg!(test) { 4 << 20 } else { 64 << 20 };

pub struct Allocator {
    pool: Mutex<Pool>,
}

struct Pool {
    /// Slots that were given back, each with the address of the next in its first word.
    free: *mut u8,
    /// Fresh memory, all zero.
    fresh: *mut u8,
    left: usize,
}

// SAFETY: the memory that it points to belongs to the pool alone.
unsafe impl Send for Pool {}

impl Allocator {
    pub const fn new() -> Allocator {
        Allocator { pool: Mutex::new(Pool { free: null_mut(), fresh: null_mut(), left: 0 }) }
    }

    /// A slot, and whether it is all zero. Null if there is no memory.
    fn take(&self) -> (*mut u8, bool) {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = pool.free;
        if !slot.is_null() {
            // SAFETY: a slot that was given back begins with the address of the next.
            pool.free = unsafe { slot.cast::<*mut u8>().read() };
            return (slot, false);
        }
        if pool.left < SLOT {
            let Some(stretch) = stretch() else { return (null_mut(), true) };
            (pool.fresh, pool.left) = (stretch, STRETCH);
        }
        let slot = pool.fresh;
        pool.fresh = slot.wrapping_add(SLOT);
        pool.left -= SLOT;
        (slot, true)
    }

    /// # Safety
    /// The slot was taken, and nobody uses it any more.
    unsafe fn give_back(&self, slot: *mut u8) {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the slot is writable, aligned, and ours.
        unsafe { slot.cast::<*mut u8>().write(pool.free) };
        pool.free = slot;
    }
}

/// Fresh memory that begins with a huge page.
fn stretch() -> Option<*mut u8> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping touches nothing that is there; the advice is for a part of it, and may be refused.
    unsafe {
        let mapped = libc::mmap(null_mut(), STRETCH + HUGE, access, kind, -1, 0);
        if mapped == libc::MAP_FAILED {
            return None;
        }
        let start = mapped.cast::<u8>();
        let start = start.wrapping_add(start.align_offset(HUGE));
        libc::madvise(start.cast(), STRETCH, libc::MADV_HUGEPAGE);
        Some(start)
    }
}

fn is_page(layout: Layout) -> bool {
    layout.size() == SLOT && layout.align() <= 16
}

// SAFETY: slots are as large and as aligned as what is put there, are handed out once, and go back by their size, which tells
// them from all else; the rest is the system's.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match is_page(layout) {
            true => self.take().0,
            // SAFETY: the caller's contract.
            false => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !is_page(layout) {
            // SAFETY: the caller's contract.
            return unsafe { System.alloc_zeroed(layout) };
        }
        let (slot, is_zero) = self.take();
        if !is_zero {
            // SAFETY: the slot is ours, and not null, since it is not fresh.
            unsafe { slot.write_bytes(0, SLOT) };
        }
        slot
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract; what has this size was taken from the pool.
        unsafe {
            match is_page(layout) {
                true => self.give_back(memory),
                false => System.dealloc(memory, layout),
            }
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract says that the new size is one for a layout.
        let resized = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the caller's contract; what goes to or from the pool is copied.
        unsafe {
            if !is_page(layout) && !is_page(resized) {
                return System.realloc(memory, layout, size);
            }
            let moved = self.alloc(resized);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(memory, layout.size().min(size));
                self.dealloc(memory, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Layout = Layout::new::<[u128; SLOT / 16]>();

    #[test]
    fn pages_are_apart_aligned_and_zero_when_asked_for() {
        let allocator = Allocator::new();
        let take = |_| {
            // SAFETY: the layout is not empty.
            let page = unsafe { allocator.alloc_zeroed(PAGE) };
            // SAFETY: as large as a page, and initialised.
            let bytes = unsafe { std::slice::from_raw_parts_mut(page, SLOT) };
            assert!(bytes.iter().all(|&byte| byte == 0) && page.align_offset(16) == 0);
            bytes.fill(0xff);
            page as usize
        };
        // More than a stretch holds, so that there is a second.
        let count = STRETCH / SLOT + 10;
        let mut first: Vec<usize> = (0..count).map(take).collect();
        for &page in &first {
            // SAFETY: taken above with this layout.
            unsafe { allocator.dealloc(page as *mut u8, PAGE) };
        }
        let mut second: Vec<usize> = (0..count).map(take).collect();
        first.sort_unstable();
        second.sort_unstable();
        assert_eq!(first, second);
        assert!(first.windows(2).all(|pair| pair[1] - pair[0] >= SLOT));
    }

    #[test]
    fn what_grows_or_shrinks_keeps_its_bytes() {
        let allocator = Allocator::new();
        for (from, to) in [(100, SLOT), (SLOT, 100), (SLOT, 2 * SLOT), (SLOT, SLOT), (40, 80)] {
            let [before, after] = [from, to].map(|size| Layout::from_size_align(size, 8).unwrap());
            // SAFETY: each layout is the one of the allocation, and the bytes looked at are within both.
            unsafe {
                let memory = allocator.alloc(before);
                memory.write_bytes(7, from);
                let moved = allocator.realloc(memory, before, to);
                assert!(std::slice::from_raw_parts(moved, from.min(to)).iter().all(|&byte| byte == 7));
                allocator.dealloc(moved, after);
            }
        }
    }
}
