//! What the executor must know to keep lifted code up to date.
//!
//! Lifted code goes stale in two ways: the kernel side changes what is mapped, which is noted here until the
//! executor asks; or the guest stores into a page that is both writable and executable. Such pages are marked
//! when something on them is lifted, and a store to a marked page is refused until the mark is gone.

use super::{Memory, PAGE_MASK, PAGE_SIZE};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What happened to executable memory.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum CodeChange {
    #[default]
    None,
    /// Memory became executable that was not; what was lifted stays good.
    Added,
    /// Executable memory was unmapped, replaced, protected, moved or written.
    Changed,
}

/// The marks and the change that was not asked for yet.
#[derive(Clone, Default)]
pub(super) struct Code {
    marked: Arc<BTreeSet<u64>>,
    change: CodeChange,
}

impl Code {
    pub fn added(&mut self) {
        self.change = self.change.max(CodeChange::Added);
    }

    pub fn changed(&mut self) {
        self.change = CodeChange::Changed;
    }

    pub fn is_marked(&self, page: u64) -> bool {
        !self.marked.is_empty() && self.marked.contains(&page)
    }

    /// Whether the page was marked.
    pub fn unmark(&mut self, page: u64) -> bool {
        self.is_marked(page) && Arc::make_mut(&mut self.marked).remove(&page)
    }

    pub fn forget_marks(&mut self, start: u64, end: u64) {
        let inside: Vec<u64> = self.marked.range(start..end).copied().collect();
        for page in inside {
            self.unmark(page);
        }
    }
}

impl Memory {
    /// What happened to executable memory since this was last asked.
    pub fn take_code_change(&mut self) -> CodeChange {
        std::mem::take(&mut self.code.change)
    }

    /// Marks the page of `address` as one whose code was lifted. From now on [`Memory::store`] refuses it.
    pub fn mark_code(&mut self, address: u64) {
        let page = address & PAGE_MASK;
        if !self.code.is_marked(page) {
            Arc::make_mut(&mut self.code.marked).insert(page);
            self.write_tlb.forget(page, page.saturating_add(PAGE_SIZE));
        }
    }

    /// Takes the mark off the page of `address`; if there was one, code has changed.
    pub fn unmark_code(&mut self, address: u64) {
        if self.code.unmark(address & PAGE_MASK) {
            self.code.changed();
        }
    }
}
