//! Snapshots of one run, in order, within a budget of memory.
//!
//! A page that was overwritten lives on in the snapshots before. What these take is known by comparing neighbours: a page of
//! one that the next does not share is in no later one either. When it is too much, the oldest snapshots give their
//! pages to a file and get them back when they are asked for.

use std::path::Path;

use linux::{Process, Snapshot};
use machine::{PAGE_SIZE, Time};

use super::spill::{SpillFile, Table};

/// Snapshots may take so many times what the process has in memory, whatever the budget allows: a long run of a small program is
/// not to take more than a short one.
const TIMES: u64 = 2;

pub struct Store {
    kept: Vec<Kept>,
    /// In pages: what they may take at most, and what they may take in any case.
    budget: u64,
    least: u64,
    directory: Box<Path>,
    file: Option<SpillFile>,
    /// The file cannot be made or written: all stays in memory.
    is_broken: bool,
}

struct Kept {
    snapshot: Snapshot,
    /// How many pages it has that the next one does not share.
    pages: u64,
    /// Where its pages are, if not in memory.
    table: Option<Table>,
}

impl Store {
    /// The first snapshot always stays in memory.
    pub fn new(first: Snapshot, budget: u64, least: u64, directory: &Path) -> Store {
        Store {
            kept: vec![Kept { snapshot: first, pages: 0, table: None }],
            budget: budget / PAGE_SIZE,
            least: least / PAGE_SIZE,
            directory: directory.into(),
            file: None,
            is_broken: false,
        }
    }

    pub fn len(&self) -> usize {
        self.kept.len()
    }

    pub fn time(&self, index: usize) -> Option<Time> {
        self.kept.get(index).map(|kept| kept.snapshot.time())
    }

    /// How many snapshots have their pages in the file.
    pub fn spilled(&self) -> usize {
        self.kept.iter().filter(|kept| kept.table.is_some()).count()
    }

    /// The last snapshot at or before a time; the first if there is none.
    pub fn before(&self, time: Time) -> usize {
        self.kept.partition_point(|kept| kept.snapshot.time() <= time).saturating_sub(1)
    }

    /// Adds a snapshot that comes after all others; how many pages were overwritten since the last one.
    pub fn push(&mut self, snapshot: Snapshot) -> u64 {
        let mut pages = 0;
        if let Some(last) = self.kept.last_mut() {
            pages = last.snapshot.machine.memory.pages_not_in(&snapshot.machine.memory);
            last.pages = pages;
        }
        self.kept.push(Kept { snapshot, pages: 0, table: None });
        pages
    }

    /// Adds a snapshot where it belongs in time.
    pub fn insert(&mut self, snapshot: Snapshot) {
        let place = self.before(snapshot.time()) + 1;
        self.kept.insert(place.min(self.kept.len()), Kept { snapshot, pages: 0, table: None });
    }

    /// Whether what is in memory is more than it may be, by what the process that runs on has there.
    pub fn is_over(&self, process: &Process) -> bool {
        self.pages() > self.allowed(process)
    }

    fn allowed(&self, process: &Process) -> u64 {
        let resident = process.machine.memory.resident_pages();
        resident.saturating_mul(TIMES).max(self.least).min(self.budget)
    }

    fn pages(&self) -> u64 {
        self.kept.iter().filter(|kept| kept.table.is_none()).map(|kept| kept.pages).sum()
    }

    /// Takes the last snapshot out.
    pub fn pop(&mut self) -> Option<Process> {
        let process = self.open(self.kept.len().checked_sub(1)?);
        self.kept.pop();
        process
    }

    /// A process in the state of a snapshot; `None` if its pages cannot be read back.
    pub fn open(&self, index: usize) -> Option<Process> {
        let kept = self.kept.get(index)?;
        let Some(table) = kept.table else { return Some(kept.snapshot.process()) };
        let memory = self.file.as_ref()?.read(table, kept.snapshot.machine.memory.clone()).ok()?;
        Some(kept.snapshot.process_with(memory))
    }

    /// Drops all snapshots but the first and those that `keep` says yes to.
    pub fn thin(&mut self, mut keep: impl FnMut(Time) -> bool) {
        let mut is_first = true;
        self.kept.retain(|kept| std::mem::take(&mut is_first) || keep(kept.snapshot.time()));
        for index in 1..self.kept.len() {
            if let [kept, next] = &mut self.kept[index - 1..=index]
                && kept.table.is_none()
                && next.table.is_none()
            {
                kept.pages = kept.snapshot.machine.memory.pages_not_in(&next.snapshot.machine.memory);
            }
        }
    }

    /// Gives pages to the file until the rest is what it may be.
    pub fn spill(&mut self, process: &Process) {
        let allowed = self.allowed(process);
        let mut total = self.pages();
        // The last one shares its pages with the process that runs on.
        let most = self.kept.len().saturating_sub(1);
        for index in 1..most {
            if total <= allowed || self.is_broken {
                return;
            }
            if self.kept.get(index).is_some_and(|kept| kept.table.is_none()) {
                total = total.saturating_sub(self.spill_one(index));
            }
        }
    }

    /// How many pages there are less.
    fn spill_one(&mut self, index: usize) -> u64 {
        if self.file.is_none() {
            self.file = SpillFile::create(&self.directory).ok();
        }
        let written = self.file.as_mut().zip(self.kept.get(index));
        let table = written.and_then(|(file, kept)| file.write(&kept.snapshot.machine.memory).ok());
        let Some(table) = table else {
            self.is_broken = true;
            return 0;
        };
        let kept = self.kept.remove(index);
        let pages = kept.pages;
        let snapshot = kept.snapshot.without_pages();
        self.kept.insert(index, Kept { snapshot, pages, table: Some(table) });
        pages
    }
}
