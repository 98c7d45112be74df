//! What a memory holds, without the caches in front of it: small, and good for being kept.

use super::code::Code;
use super::page::{Bytes, Page};
use super::regions::Regions;
use super::tlb::Tlb;
use super::tree::Tree;
use super::{Memory, PAGE_SIZE};

/// The content of a memory at an instant. It shares its pages with the memory, which copies them when it writes.
#[derive(Clone)]
pub struct Image {
    tree: Tree,
    regions: Regions,
    code: Code,
    resident: u64,
    limit: u64,
}

/// A page of an image.
pub struct ImagePage<'a> {
    /// Its address.
    pub address: u64,
    page: &'a Page,
}

impl Memory {
    /// Only the write side of the TLB changes.
    pub fn image(&self) -> Image {
        self.write_tlb.clear();
        Image {
            tree: self.tree.clone(),
            regions: self.regions.clone(),
            code: self.code.clone(),
            resident: self.resident,
            limit: self.limit,
        }
    }
}

impl Image {
    /// Makes a memory of it, in place.
    ///
    /// # Safety
    /// `zeroed` must be valid for writes, and all zero.
    pub(crate) unsafe fn open_into(self, zeroed: *mut Memory) {
        // SAFETY: as above; all fields become valid.
        unsafe {
            Tlb::empty_zeroed(&raw mut (*zeroed).read_tlb);
            Tlb::empty_zeroed(&raw mut (*zeroed).write_tlb);
            (&raw mut (*zeroed).tree).write(self.tree);
            (&raw mut (*zeroed).regions).write(self.regions);
            (&raw mut (*zeroed).code).write(self.code);
            (&raw mut (*zeroed).resident).write(self.resident);
            (&raw mut (*zeroed).limit).write(self.limit);
        }
    }

    /// How many pages it has that `other` does not share. Costs as much as there are differences.
    pub fn pages_not_in(&self, other: &Image) -> u64 {
        self.tree.count_not_in(&other.tree)
    }

    /// Visits its pages in the order of their addresses.
    pub fn pages(&self, visit: &mut dyn FnMut(ImagePage<'_>)) {
        let last = super::USER_END / PAGE_SIZE - 1;
        self.tree
            .for_each(0, last, &mut |number, page| visit(ImagePage { address: number * PAGE_SIZE, page }));
    }

    /// The same without its pages. It must get them back before a memory is made of it.
    pub fn without_pages(self) -> Image {
        Image { tree: Tree::default(), ..self }
    }

    /// Puts in a page that [`Image::without_pages`] has dropped.
    pub fn put_page(&mut self, address: u64, bytes: &Bytes, was_written: bool) {
        let page = Page::filled(|fresh| fresh.copy_from_slice(bytes));
        let number = address / PAGE_SIZE;
        if was_written {
            page.open();
            *self.tree.slot_for_written(number) = Some(page);
        } else {
            *self.tree.slot_for_unwritten(number) = Some(page);
        }
    }
}

impl ImagePage<'_> {
    pub fn bytes(&self) -> &Bytes {
        self.page.bytes()
    }

    /// Was it ever stored to? If not, it is as the region's backing has it.
    pub fn was_written(&self) -> bool {
        self.page.was_written()
    }

    /// What was last put on it by [`ImagePage::set_mark`] since its bytes are what they are; else 0. All images and
    /// memories that share the page share the mark.
    pub fn mark(&self) -> u64 {
        self.page.mark()
    }

    pub fn set_mark(&self, mark: u64) {
        self.page.set_mark(mark);
    }
}
