//! A file for pages that no longer fit into memory.
//!
//! It is nameless from the beginning, so nothing is left of it whatever happens. Pages are only ever appended; one that
//! several snapshots share is written once, which its mark tells.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use machine::{Image, PAGE_SIZE};

const PAGE: usize = PAGE_SIZE as usize;
/// Pages are written so many at a time.
const BATCH: usize = 256;
/// Bytes of an entry of a table: the page's address, whose lowest bit says whether it was written to, and its slot.
const ENTRY: usize = 12;

/// Tells the marks of one file from those of another.
static NEXT_FILE: AtomicU32 = AtomicU32::new(1);

pub struct SpillFile {
    file: File,
    number: u32,
    /// How many pages have been written.
    slots: u32,
    batch: Vec<u8>,
}

/// Where the pages of an image are: a list in the file.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    slot: u32,
    entries: usize,
}

impl SpillFile {
    pub fn create(directory: &Path) -> io::Result<SpillFile> {
        let number = NEXT_FILE.fetch_add(1, Relaxed);
        Ok(SpillFile { file: tempfile::tempfile_in(directory)?, number, slots: 0, batch: Vec::new() })
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        u64::from(self.slots) * PAGE_SIZE
    }

    /// Writes the pages of an image that are not there yet. After an error nothing more must be written: marks may lead to
    /// pages that are not there.
    pub fn write(&mut self, image: &Image) -> io::Result<Table> {
        let mut table = Vec::new();
        let mut result = Ok(());
        image.pages(&mut |page| {
            if result.is_err() {
                return;
            }
            let slot = match page.mark() {
                mark if mark >> 32 == u64::from(self.number) => mark as u32,
                _ => match self.append(page.bytes()) {
                    Ok(slot) => {
                        page.set_mark(u64::from(self.number) << 32 | u64::from(slot));
                        slot
                    }
                    Err(error) => {
                        result = Err(error);
                        return;
                    }
                },
            };
            table.extend((page.address | u64::from(page.was_written())).to_le_bytes());
            table.extend(slot.to_le_bytes());
        });
        result?;
        let entries = table.len() / ENTRY;
        table.resize(table.len().next_multiple_of(PAGE), 0);
        let mut first = None;
        for page in table.chunks(PAGE) {
            let slot = self.append(page)?;
            first.get_or_insert(slot);
        }
        self.flush()?;
        Ok(Table { slot: first.unwrap_or(self.slots), entries })
    }

    /// Gives an image that was stripped of its pages these back.
    pub fn read(&self, table: Table, mut image: Image) -> io::Result<Image> {
        let mut entries = vec![0; table.entries * ENTRY];
        self.file.read_exact_at(&mut entries, offset(table.slot))?;
        let mut bytes = [0; PAGE];
        let (entries, _) = entries.as_chunks::<ENTRY>();
        for entry in entries {
            let [a, b, c, d, e, f, g, h, slot @ ..] = *entry;
            let place = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
            self.file.read_exact_at(&mut bytes, offset(u32::from_le_bytes(slot)))?;
            image.put_page(place & !1, &bytes, place & 1 != 0);
        }
        Ok(image)
    }

    /// Takes a page's bytes; they are in the file after a [`SpillFile::flush`].
    fn append(&mut self, bytes: &[u8]) -> io::Result<u32> {
        let slot = self.slots;
        self.slots = slot.checked_add(1).ok_or(io::ErrorKind::FileTooLarge)?;
        self.batch.extend_from_slice(bytes);
        if self.batch.len() >= BATCH * PAGE {
            self.flush()?;
        }
        Ok(slot)
    }

    fn flush(&mut self) -> io::Result<()> {
        let begin = self.size() - self.batch.len() as u64;
        self.file.write_all_at(&self.batch, begin)?;
        self.batch.clear();
        Ok(())
    }
}

fn offset(slot: u32) -> u64 {
    u64::from(slot) * PAGE_SIZE
}
