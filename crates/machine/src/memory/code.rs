//! What the executor must know to keep lifted code up to date.
//!
//! Lifted code goes stale in two ways: the kernel side changes what is mapped, which is noted here until the
//! executor asks; or the guest stores into a page that is both writable and executable. Such pages are marked
//! when something on them is lifted, and a store to a marked page is refused unless somebody lets it through who
//! looks after the lifted code.

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
    /// Stores to marked pages are let through, see [`Memory::open_marked_code`].
    open: bool,
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

    /// Whether the guest's stores to a page have to wait.
    pub fn refuses(&self, page: u64) -> bool {
        !self.open && self.is_marked(page)
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

    /// What happened, without taking note.
    pub fn code_change(&self) -> CodeChange {
        self.code.change
    }

    /// Whether stores to marked pages are let through from now on. Such a store takes the mark off, and code has
    /// changed then: whoever lets it through looks for that after each instruction.
    pub fn open_marked_code(&mut self, open: bool) {
        self.code.open = open;
    }

    /// Marks the page of `address` as one whose code was lifted. From now on [`Memory::store`] refuses it.
    pub fn mark_code(&mut self, address: u64) {
        let page = address & PAGE_MASK;
        if !self.code.is_marked(page) {
            Arc::make_mut(&mut self.code.marked).insert(page);
            self.write_tlb.forget(page, page.saturating_add(PAGE_SIZE));
        }
    }
}
