//! The persistent page tree: page number → page, shared between forks.
//!
//! Six levels of 64-way nodes cover page numbers of 36 bits. A clone is one more reference to the root; the
//! first write below a shared node copies the nodes of that path and the page itself, nothing else. Nodes
//! this narrow keep that first write cheap: copying a node touches the reference count of each child. Nodes
//! remember the digest of what was written below them.

use super::digest;
use super::page::Page;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, fence};

const FANOUT: usize = 64;
const FANOUT_BITS: u32 = FANOUT.trailing_zeros();

type Root = Node<Node<Node<Node<Node<Node<Page>>>>>>;

/// A map from page numbers below 2^36 to pages. Cloning it costs one reference count.
#[derive(Clone, Default)]
pub(super) struct Tree {
    root: Option<Arc<Root>>,
}

impl Tree {
    pub fn get(&self, number: u64) -> Option<&Page> {
        Root::get(self.root.as_deref()?, number)
    }

    /// The place of a page that is about to be inserted as read from its backing: no part of the state
    /// changes, so the digests stay.
    pub fn slot_for_unwritten(&mut self, number: u64) -> &mut Option<Arc<Page>> {
        Root::slot(&mut self.root, number, false)
    }

    /// The place of a page that is about to be written; everything above it is no longer shared.
    pub fn slot_for_written(&mut self, number: u64) -> &mut Option<Arc<Page>> {
        Root::slot(&mut self.root, number, true)
    }

    /// Takes the pages with numbers in `first..=last` out and hands each to `sink`, in order.
    pub fn remove(&mut self, first: u64, last: u64, sink: &mut dyn FnMut(u64, Arc<Page>)) {
        Root::remove(&mut self.root, 0, first, last, sink);
    }

    /// Visits the pages with numbers in `first..=last`, in order.
    pub fn for_each<'a>(&'a self, first: u64, last: u64, visit: &mut dyn FnMut(u64, &'a Page)) {
        if let Some(root) = &self.root {
            root.for_each(0, first, last, visit);
        }
    }

    /// How many pages are here that `other` does not share at the same number.
    pub fn count_not_in(&self, other: &Tree) -> u64 {
        self.root.as_ref().map_or(0, |root| Root::count_not_in(root, other.root.as_ref()))
    }

    /// Visits the numbers of the pages that the two trees do not share, in order.
    pub fn for_each_unshared(&self, other: &Tree, visit: &mut dyn FnMut(u64)) {
        Root::for_each_unshared((self.root.as_ref(), other.root.as_ref()), 0, visit);
    }

    /// The digest of the numbers and contents of all written pages; adds to `computed` how many pages had to
    /// be looked at. No page may be open for writing without notice.
    pub fn digest(&self, computed: &mut u64) -> u64 {
        self.root.as_ref().map_or(digest::NOTHING, |root| root.digest(computed))
    }
}

/// Whether this is the only reference to `shared`. No weak reference is ever made in this module, so the count
/// alone tells; `Arc::get_mut` would pay for a locked instruction at each level of each walk. The exclusive
/// borrow keeps this reference itself from being cloned meanwhile.
pub(super) fn is_unique<T>(shared: &mut Arc<T>) -> bool {
    let unique = Arc::strong_count(shared) == 1;
    if unique {
        // Pairs with the release in the drop of the last other reference: its reads come before our writes.
        fence(Acquire);
    }
    unique
}

/// Whether two places hold the same.
fn are_shared<T>(both: (Option<&Arc<T>>, Option<&Arc<T>>)) -> bool {
    match both {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// A node or a page: what can hang below a node.
trait Level: Sized {
    /// How many bits of a page number are decided below here.
    const BITS: u32;
    fn get(&self, number: u64) -> Option<&Page>;
    fn slot(this: &mut Option<Arc<Self>>, number: u64, written: bool) -> &mut Option<Arc<Page>>;
    fn remove(
        this: &mut Option<Arc<Self>>,
        base: u64,
        first: u64,
        last: u64,
        sink: &mut dyn FnMut(u64, Arc<Page>),
    );
    fn for_each<'a>(&'a self, base: u64, first: u64, last: u64, visit: &mut dyn FnMut(u64, &'a Page));
    fn count_not_in(this: &Arc<Self>, other: Option<&Arc<Self>>) -> u64;
    fn for_each_unshared(
        both: (Option<&Arc<Self>>, Option<&Arc<Self>>),
        base: u64,
        visit: &mut dyn FnMut(u64),
    );
    fn digest(&self, computed: &mut u64) -> u64;
}

impl Level for Page {
    const BITS: u32 = 0;

    fn get(&self, _: u64) -> Option<&Page> {
        Some(self)
    }

    fn slot(this: &mut Option<Arc<Page>>, _: u64, _: bool) -> &mut Option<Arc<Page>> {
        this
    }

    fn remove(this: &mut Option<Arc<Page>>, base: u64, _: u64, _: u64, sink: &mut dyn FnMut(u64, Arc<Page>)) {
        if let Some(page) = this.take() {
            sink(base, page);
        }
    }

    fn for_each<'a>(&'a self, base: u64, _: u64, _: u64, visit: &mut dyn FnMut(u64, &'a Page)) {
        visit(base, self);
    }

    fn count_not_in(this: &Arc<Page>, other: Option<&Arc<Page>>) -> u64 {
        u64::from(!other.is_some_and(|other| Arc::ptr_eq(this, other)))
    }

    fn for_each_unshared(
        both: (Option<&Arc<Page>>, Option<&Arc<Page>>),
        base: u64,
        visit: &mut dyn FnMut(u64),
    ) {
        if !are_shared(both) {
            visit(base);
        }
    }

    fn digest(&self, computed: &mut u64) -> u64 {
        Page::digest(self, computed)
    }
}

struct Node<Child> {
    slots: [Option<Arc<Child>>; FANOUT],
    /// The digest of the written pages below, or [`digest::UNKNOWN`].
    digest: AtomicU64,
}

impl<Child: Level> Node<Child> {
    fn empty() -> Node<Child> {
        Node { slots: [const { None }; FANOUT], digest: AtomicU64::new(digest::NOTHING) }
    }

    fn index(number: u64) -> usize {
        (number >> Child::BITS) as usize % FANOUT
    }

    /// The node itself if nobody else sees it, else a copy put in its place.
    fn unshare(this: &mut Arc<Node<Child>>) -> &mut Node<Child> {
        if !is_unique(this) {
            *this = Arc::new(Node {
                slots: this.slots.clone(),
                digest: AtomicU64::new(this.digest.load(Relaxed)),
            });
        }
        // SAFETY: this is the only reference, there are no weak ones, and it stays borrowed exclusively.
        unsafe { &mut *Arc::as_ptr(this).cast_mut() }
    }
}

impl<Child: Level> Level for Node<Child> {
    const BITS: u32 = Child::BITS + FANOUT_BITS;

    fn get(&self, number: u64) -> Option<&Page> {
        self.slots[Self::index(number)].as_deref()?.get(number)
    }

    fn slot(this: &mut Option<Arc<Self>>, number: u64, written: bool) -> &mut Option<Arc<Page>> {
        let node = Self::unshare(this.get_or_insert_with(|| Arc::new(Node::empty())));
        if written {
            *node.digest.get_mut() = digest::UNKNOWN;
        }
        Child::slot(&mut node.slots[Self::index(number)], number, written)
    }

    fn remove(
        this: &mut Option<Arc<Self>>,
        base: u64,
        first: u64,
        last: u64,
        sink: &mut dyn FnMut(u64, Arc<Page>),
    ) {
        let Some(shared) = this else { return };
        let node = Self::unshare(shared);
        *node.digest.get_mut() = digest::UNKNOWN;
        for (index, slot) in node.slots.iter_mut().enumerate() {
            let from = base + ((index as u64) << Child::BITS);
            let to = from + ((1 << Child::BITS) - 1);
            if slot.is_some() && from <= last && first <= to {
                Child::remove(slot, from, first, last, sink);
            }
        }
        if node.slots.iter().all(Option::is_none) {
            *this = None;
        }
    }

    fn for_each<'a>(&'a self, base: u64, first: u64, last: u64, visit: &mut dyn FnMut(u64, &'a Page)) {
        for (index, slot) in self.slots.iter().enumerate() {
            let from = base + ((index as u64) << Child::BITS);
            let to = from + ((1 << Child::BITS) - 1);
            if let Some(child) = slot
                && from <= last
                && first <= to
            {
                child.for_each(from, first, last, visit);
            }
        }
    }

    fn count_not_in(this: &Arc<Self>, other: Option<&Arc<Self>>) -> u64 {
        if other.is_some_and(|other| Arc::ptr_eq(this, other)) {
            return 0;
        }
        let mine = this.slots.iter().enumerate().filter_map(|(index, slot)| Some((index, slot.as_ref()?)));
        mine.map(|(index, child)| {
            Child::count_not_in(child, other.and_then(|other| other.slots[index].as_ref()))
        })
        .sum()
    }

    fn for_each_unshared(
        both: (Option<&Arc<Self>>, Option<&Arc<Self>>),
        base: u64,
        visit: &mut dyn FnMut(u64),
    ) {
        if are_shared(both) {
            return;
        }
        for index in 0..FANOUT {
            let (one, other) = both;
            let children = (
                one.and_then(|node| node.slots[index].as_ref()),
                other.and_then(|node| node.slots[index].as_ref()),
            );
            if children.0.is_some() || children.1.is_some() {
                Child::for_each_unshared(children, base + ((index as u64) << Child::BITS), visit);
            }
        }
    }

    fn digest(&self, computed: &mut u64) -> u64 {
        let known = self.digest.load(Relaxed);
        if known != digest::UNKNOWN {
            return known;
        }
        let mut fresh = digest::NOTHING;
        for (index, slot) in self.slots.iter().enumerate() {
            let below = slot.as_ref().map_or(digest::NOTHING, |child| child.digest(computed));
            if below != digest::NOTHING {
                fresh = digest::combine(digest::combine(fresh, index as u64), below);
                fresh = digest::unmarked(fresh);
            }
        }
        self.digest.store(fresh, Relaxed);
        fresh
    }
}
