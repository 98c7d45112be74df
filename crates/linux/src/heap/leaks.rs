//! Blocks that nothing leads to any more.
//!
//! As memcheck sees it: what registers and the memory outside of the heap point to is reachable, and so is what reachable blocks point
//! to. A pointer to the inside of a block is not as good as one to its start, but for those that C++ makes (`heuristics`). Of what is not reachable, blocks that others of them lead
//! to are lost indirectly: who frees those can free these.

use lift::Reg;
use machine::PAGE_SIZE;

mod heuristics;

use super::{Block, HEAP};
use crate::process::Process;

/// How the program can still get at a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Leak {
    /// Not at all.
    Definite,
    /// By way of a block that is lost itself.
    Indirect,
    /// By pointers into its inside alone.
    Possible,
    Reachable,
}

/// How good a way to a block is; the better ones are greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    None,
    Inside,
    Start,
}

impl Process {
    /// All blocks that are allocated, in the order of their addresses, with how the program can get at them.
    pub fn leaks(&self) -> Vec<(Block, Leak)> {
        let blocks = self.kernel.checked_heap.live();
        let mut search =
            Search { process: self, ways: vec![Way::None; blocks.len()], blocks, open: Vec::new() };
        search.follow_roots();
        let reached = search.ways.clone();
        let indirect = search.lost_behind_others();
        let blocks = search.blocks.iter().zip(&reached).zip(indirect);
        blocks
            .map(|((block, way), is_indirect)| {
                let leak = match way {
                    Way::Start => Leak::Reachable,
                    Way::Inside => Leak::Possible,
                    Way::None if is_indirect => Leak::Indirect,
                    Way::None => Leak::Definite,
                };
                (*block, leak)
            })
            .collect()
    }
}

impl Process {
    /// Overwrites the stack below the stack pointer with zeros. At the entry of a function that belongs to nobody, and what the function
    /// and those that it calls find there is no pointer any more that another has left behind.
    pub fn clear_dead_stack(&mut self) {
        let machine = &mut self.machine;
        let top = machine.cpu.get(Reg::RSP);
        let Some(start) = machine.memory.region_at(top).map(|region| region.start) else { return };
        let pages: Vec<u64> = machine.memory.written_pages_in(start, top).collect();
        for page in pages {
            let length = (top - page).min(PAGE_SIZE) as usize;
            // The page is mapped and present, so that this cannot fail.
            let _ = machine.memory.poke(page, &[0; PAGE_SIZE as usize][..length]);
        }
    }
}

struct Search<'a> {
    process: &'a Process,
    blocks: Vec<Block>,
    ways: Vec<Way>,
    /// Blocks whose content is still to be followed.
    open: Vec<usize>,
}

impl Search<'_> {
    fn follow_roots(&mut self) {
        let machine = &self.process.machine;
        for number in 0..16 {
            self.follow(machine.cpu.get(Reg::general(number)), Way::Start);
        }
        let stack_pointer = machine.cpu.get(Reg::RSP);
        let regions = machine.memory.regions().iter();
        let roots: Vec<(u64, u64)> = regions
            .filter(|region| region.permissions.write && !HEAP.contains(&region.start))
            // What lies below the stack pointer belongs to nobody.
            .map(|region| match (region.start..region.end).contains(&stack_pointer) {
                true => (stack_pointer & !7, region.end),
                false => (region.start, region.end),
            })
            .collect();
        for (start, end) in roots {
            let pages: Vec<u64> = machine.memory.written_pages_in(start, end).collect();
            for page in pages {
                self.follow_words(page.max(start), (page + PAGE_SIZE).min(end), Way::Start);
            }
        }
        self.follow_open();
    }

    fn follow_open(&mut self) {
        while let Some(index) = self.open.pop() {
            let (Some(block), Some(&way)) = (self.blocks.get(index).copied(), self.ways.get(index)) else {
                return;
            };
            self.follow_words(block.address, block.address + block.size, way);
        }
    }

    /// Follows the words of a stretch of memory that can be got at so.
    fn follow_words(&mut self, start: u64, end: u64, way: Way) {
        let mut found = Vec::new();
        self.words(start, end, |word| found.push(word));
        found.into_iter().for_each(|word| self.follow(word, way));
    }

    /// The words of a stretch of memory that may be pointers into the heap.
    fn words(&self, start: u64, end: u64, mut visit: impl FnMut(u64)) {
        let mut at = start.next_multiple_of(8);
        let mut buffer = [0; PAGE_SIZE as usize];
        while at < end {
            let length = (end - at).min(PAGE_SIZE) as usize;
            let Some(piece) = buffer.get_mut(..length) else { return };
            let there = self.process.machine.memory.peek(at, piece);
            let words = piece.get(..there).unwrap_or_default().as_chunks::<8>().0.iter();
            words
                .map(|word| u64::from_le_bytes(*word))
                .filter(|word| HEAP.contains(word))
                .for_each(&mut visit);
            at += PAGE_SIZE;
        }
    }

    /// Follows a word that may be a pointer.
    fn follow(&mut self, word: u64, way: Way) {
        let Some((index, leads_to_start)) = self.block_at(word) else { return };
        let (Some(block), Some(&known)) = (self.blocks.get(index), self.ways.get(index)) else { return };
        if known >= way {
            return;
        }
        let memory = &self.process.machine.memory;
        let is_good = leads_to_start || heuristics::is_as_good_as_start(memory, block, word);
        let found = if is_good { way } else { way.min(Way::Inside) };
        if let Some(known) = self.ways.get_mut(index)
            && *known < found
        {
            *known = found;
            self.open.push(index);
        }
    }

    /// The block that a word points into, and whether to its start.
    fn block_at(&self, word: u64) -> Option<(usize, bool)> {
        let index = self.blocks.partition_point(|block| block.address <= word).checked_sub(1)?;
        let block = self.blocks.get(index)?;
        let leads_to_start = block.address == word;
        (leads_to_start || word < block.address + block.size).then_some((index, leads_to_start))
    }

    /// Which of the lost blocks can be got at by way of others. In the order of addresses each that none was found to lead to
    /// yet is looked at; it may lead to earlier ones, which lose their place then.
    fn lost_behind_others(&mut self) -> Vec<bool> {
        let mut indirect = vec![false; self.blocks.len()];
        let mut seen = vec![false; self.blocks.len()];
        for leader in 0..self.blocks.len() {
            if self.ways.get(leader) != Some(&Way::None) || seen[leader] {
                continue;
            }
            seen[leader] = true;
            let mut open = vec![leader];
            while let Some(index) = open.pop() {
                for target in self.targets(index) {
                    if target == leader || self.ways[target] != Way::None {
                        continue;
                    }
                    indirect[target] = true;
                    if !std::mem::replace(&mut seen[target], true) {
                        open.push(target);
                    }
                }
            }
        }
        indirect
    }

    /// The blocks that the content of one points into.
    fn targets(&self, index: usize) -> Vec<usize> {
        let Some(block) = self.blocks.get(index) else { return Vec::new() };
        let mut targets = Vec::new();
        self.words(block.address, block.address + block.size, |word| {
            targets.extend(self.block_at(word).map(|(target, _)| target));
        });
        targets
    }
}
