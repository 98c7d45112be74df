//! Fetching what is known of blocks before a pass comes to them: together it does not fit into the nearest caches.

use machine::prefetch;

use super::code::{BlockCode, Code};
use super::stretch::Stretch;

/// Blocks that a pass is soon to come to: one whose place in the table is fetched, and one of which what is known is. Each step asks
/// only for what an earlier one has brought, so that nobody waits.
#[derive(Default)]
pub struct Coming {
    in_table: u64,
    known: u64,
}

impl Code<'_> {
    /// A pass over this block is soon to come: what is known of it is fetched, step by step, as those after it are announced.
    #[inline]
    pub fn announce(&self, block: u64, coming: &mut Coming) {
        let Coming { in_table, known } = *coming;
        if let Some(place) = self.blocks.get(block as usize) {
            prefetch(place);
        }
        if let Some(Some(code)) = self.blocks.get(in_table as usize) {
            prefetch::<BlockCode>(&**code);
        }
        if let Some(Some(code)) = self.blocks.get(known as usize)
            && let Some(last) = code.stretches.last()
        {
            prefetch::<Stretch>(last);
        }
        *coming = Coming { in_table: block, known: in_table };
    }
}
