//! What a memory holds, without the caches in front of it: small, and good for being kept.

use super::code::Code;
use super::page::{Bytes, Page};
use super::regions::Regions;
use super::tlb::Tlb;
use super::tree::Tree;
use super::{Memory, PAGE_SIZE};
use std::ops::Range;

/// The content of a memory at an instant. It shares its pages with the memory, which copies them when it writes.
#[derive(Clone)]
pub struct Image {
    tree: Tree,
    regions: Regions,
    code: Code,
    resident: u64,
    limit: u64,
    checked: Range<u64>,
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
            checked: self.checked.clone(),
        }
    }
}

impl Image {
    /// Makes a memory of it, in place.
    ///
    /// # Safety
    /// `zeroed` must be valid for writes, and all zero.
    pub(crate) unsafe fn open_into(self, zeroed: *mut Memory) {
        // SAFETY: as above; all fields become valid, and `unchecked` is false by being zero.
        unsafe {
            Tlb::empty_zeroed(&raw mut (*zeroed).read_tlb);
            Tlb::empty_zeroed(&raw mut (*zeroed).write_tlb);
            (&raw mut (*zeroed).tree).write(self.tree);
            (&raw mut (*zeroed).regions).write(self.regions);
            (&raw mut (*zeroed).code).write(self.code);
            (&raw mut (*zeroed).resident).write(self.resident);
            (&raw mut (*zeroed).limit).write(self.limit);
            (&raw mut (*zeroed).checked).write(self.checked);
        }
    }

    /// How many pages it has that `other` does not share. Costs as much as there are differences.
    pub fn pages_not_in(&self, other: &Image) -> u64 {
        self.tree.count_not_in(&other.tree)
    }

    /// Visits its pages in the order of their addresses; those with what is known of others come last, at addresses that no
    /// process has.
    pub fn pages(&self, visit: &mut dyn FnMut(ImagePage<'_>)) {
        self.tree.for_each(0, u64::MAX, &mut |number, page| {
            visit(ImagePage { address: number * PAGE_SIZE, page })
        });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backing, Permissions, Region};
    use std::mem::MaybeUninit;

    fn memory() -> Memory {
        let mut memory = Memory::new(1 << 20);
        memory.map(Region {
            start: 0x1_0000,
            end: 0x2_0000,
            permissions: Permissions::RW,
            backing: Backing::Zero,
            name: "".into(),
            shared: false,
        });
        memory
    }

    fn open(image: Image) -> Memory {
        let mut place = MaybeUninit::zeroed();
        // SAFETY: the place is zeroed.
        unsafe {
            image.open_into(place.as_mut_ptr());
            place.assume_init()
        }
    }

    #[test]
    fn an_image_keeps_what_was_there_and_counts_what_was_overwritten() {
        let mut memory = memory();
        memory.write(0x1_0000, b"one").unwrap();
        memory.write(0x1_5000, b"two").unwrap();
        let first = memory.image();
        assert_eq!(first.pages_not_in(&memory.image()), 0);
        memory.write(0x1_5000, b"new").unwrap();
        memory.write(0x1_7000, b"more").unwrap();
        let second = memory.image();
        assert_eq!((first.pages_not_in(&second), second.pages_not_in(&first)), (1, 2));
        let mut there = [0; 3];
        assert_eq!((open(first).peek(0x1_5000, &mut there), &there), (3, b"two"));
        assert_eq!((open(second).peek(0x1_5000, &mut there), &there), (3, b"new"));
    }

    #[test]
    fn pages_that_were_taken_out_can_be_put_back() {
        let mut memory = memory();
        memory.write(0x1_0ffe, b"some").unwrap();
        let image = memory.image();
        let mut pages = Vec::new();
        image.pages(&mut |page| pages.push((page.address, *page.bytes(), page.was_written())));
        assert_eq!(pages.len(), 2);
        let mut stripped = image.clone().without_pages();
        for (address, bytes, was_written) in &pages {
            stripped.put_page(*address, bytes, *was_written);
        }
        let back = open(stripped);
        assert_eq!((back.hash(), back.resident_pages()), (memory.hash(), memory.resident_pages()));
    }

    #[test]
    fn a_mark_goes_when_the_bytes_change() {
        let mut memory = memory();
        memory.write(0x1_0000, b"one").unwrap();
        let marks = |image: &Image| {
            let mut marks = Vec::new();
            image.pages(&mut |page| marks.push(page.mark()));
            marks
        };
        let image = memory.image();
        image.pages(&mut |page| page.set_mark(7));
        assert_eq!(marks(&memory.image()), [7], "the page is shared");
        memory.write(0x1_0000, b"two").unwrap();
        assert_eq!((marks(&image), marks(&memory.image())), (vec![7], vec![0]), "it was copied");
        // The only owner writes to the page itself.
        let mut alone = open(image);
        alone.write(0x1_0000, b"new").unwrap();
        assert_eq!(marks(&alone.image()), [0]);
    }
}
