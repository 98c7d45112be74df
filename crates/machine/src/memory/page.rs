//! One page of guest memory, shared between the forks that have not written to it since they parted.

use super::PAGE_SIZE;
use super::digest;
use std::cell::UnsafeCell;
use std::ptr::addr_of_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

pub(super) type Bytes = [u8; PAGE_SIZE as usize];

/// Aligned so that an aligned guest access of up to 16 bytes never straddles two cache lines of the host.
/// Aligning to a whole page would make the allocation twice as large, since the reference counts go first.
#[repr(C, align(16))]
pub(super) struct Page {
    bytes: UnsafeCell<Bytes>,
    /// The digest of the bytes, or [`digest::UNKNOWN`].
    digest: AtomicU64,
    /// What somebody who keeps pages elsewhere knows these bytes by; 0 when nobody does.
    mark: AtomicU64,
    /// Was it ever stored to? If not, it is a copy of the region's backing and no part of the state.
    written: AtomicBool,
}

/// How many bytes are allocated for a page: its reference counts go first.
pub const PAGE_ALLOCATION: usize = size_of::<(u128, Page)>();

// SAFETY: the bytes are written only through `Page::open`'s pointer, by the one memory whose tree holds the
// only reference to the page and which itself is borrowed exclusively; shared pages are only read.
unsafe impl Sync for Page {}

/// Served for reads of untouched zero pages, so that these need not exist.
static ZERO: Page = Page {
    bytes: UnsafeCell::new([0; PAGE_SIZE as usize]),
    digest: AtomicU64::new(digest::UNKNOWN),
    mark: AtomicU64::new(0),
    written: AtomicBool::new(false),
};

/// The address of a page of zeros that must never be written to.
pub(super) fn zero_page() -> *mut u8 {
    ZERO.host()
}

impl Page {
    /// A page of zeros.
    pub fn zeroed() -> Arc<Page> {
        // SAFETY: all zero bytes are a valid page: bytes 0, digest UNKNOWN (0), no mark, not written.
        unsafe { Arc::new_zeroed().assume_init() }
    }

    /// A page of zeros that `fill` has been given to change.
    pub fn filled(fill: impl FnOnce(&mut Bytes)) -> Arc<Page> {
        let mut page = Page::zeroed();
        if let Some(page) = Arc::get_mut(&mut page) {
            fill(page.bytes.get_mut());
        }
        page
    }

    /// A page with the same bytes. The caller is about to write to it.
    pub fn copy(&self) -> Arc<Page> {
        let mut copy = Arc::<Page>::new_uninit();
        // `get_mut` succeeds, as nobody else knows the new page; built in place to copy the bytes only once.
        if let Some(slot) = Arc::get_mut(&mut copy) {
            let slot = slot.as_mut_ptr();
            // SAFETY: `slot` is valid for writes of a page and distinct from `self`; nobody writes to
            // `self` meanwhile, since that takes the exclusive borrow of a memory that solely owns it.
            unsafe {
                addr_of_mut!((*slot).bytes).cast::<Bytes>().copy_from_nonoverlapping(self.bytes.get(), 1);
                addr_of_mut!((*slot).digest).write(AtomicU64::new(digest::UNKNOWN));
                addr_of_mut!((*slot).mark).write(AtomicU64::new(0));
                addr_of_mut!((*slot).written).write(AtomicBool::new(self.was_written()));
            }
        }
        // SAFETY: all four fields were just written.
        unsafe { copy.assume_init() }
    }

    /// Where the bytes are. To be written through only after [`Page::open`].
    pub fn host(&self) -> *mut u8 {
        self.bytes.get().cast()
    }

    /// Notes that a write is about to happen, and says where the bytes are. The caller holds the only
    /// reference to the page.
    pub fn open(&self) -> *mut u8 {
        self.digest.store(digest::UNKNOWN, Relaxed);
        self.mark.store(0, Relaxed);
        self.written.store(true, Relaxed);
        self.host()
    }

    pub fn mark(&self) -> u64 {
        self.mark.load(Relaxed)
    }

    /// The page must be shared, or closed for writing otherwise, so that the mark goes when the bytes change.
    pub fn set_mark(&self, mark: u64) {
        self.mark.store(mark, Relaxed);
    }

    pub fn was_written(&self) -> bool {
        self.written.load(Relaxed)
    }

    pub fn bytes(&self) -> &Bytes {
        // SAFETY: writes need the exclusive borrow of the memory that owns this page, and everyone who
        // calls this holds that memory borrowed for as long as the result lives.
        unsafe { &*self.bytes.get() }
    }

    /// The digest of the content, [`digest::NOTHING`] for a page that was never written. Nobody may be able
    /// to write to the page without calling [`Page::open`] again, or the remembered digest goes stale.
    pub fn digest(&self, computed: &mut u64) -> u64 {
        if !self.was_written() {
            return digest::NOTHING;
        }
        let known = self.digest.load(Relaxed);
        if known != digest::UNKNOWN {
            return known;
        }
        *computed += 1;
        let fresh = digest::of_page(self.bytes());
        self.digest.store(fresh, Relaxed);
        fresh
    }
}
