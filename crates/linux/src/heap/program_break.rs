//! The heap that brk moves the end of.

/// From where to where it reaches. Before [`Heap::start`] it is empty, at address 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Heap {
    pub start: u64,
    /// The break: the first address behind the heap; not always the start of a page.
    pub end: u64,
}

impl Heap {
    /// An empty heap behind the program.
    pub fn start(&mut self, start: u64) {
        *self = Heap { start, end: start };
    }
}
