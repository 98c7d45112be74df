//! What the kernel did at the end of a stretch of the spine, or whoever served a function.

use std::ops::Range;

use lift::Reg;
use linux::{Event, Place, Process, SERVED};

use super::parked::Parked;

const PAGE: u64 = 4096;

/// What it read and wrote.
pub struct Kernels {
    reads: Vec<Range<u64>>,
    pub writes: Vec<Range<u64>>,
    number: u64,
    result: u64,
    /// Where memory ends, in pieces.
    mapped: Vec<Range<u64>>,
}

/// System calls after which memory may be other memory.
mod nr {
    pub const MMAP: u64 = 9;
    pub const MUNMAP: u64 = 11;
    pub const BRK: u64 = 12;
    pub const MREMAP: u64 = 25;
    pub const MADVISE: u64 = 28;
}

impl Kernels {
    /// Nothing if nobody but the machine did something.
    pub fn of(event: &Event, after: &Process) -> Option<Kernels> {
        let Event::Called(number) = *event else { return None };
        let result = after.machine.cpu.get(Reg::RAX);
        let regions = if number == nr::BRK { after.machine.memory.regions() } else { &[] };
        let mapped = regions.iter().map(|region| region.start..region.end).collect();
        let (reads, writes) = Default::default();
        let mut kernels = Kernels { reads, writes, number, result, mapped };
        for access in &after.kernel.accesses {
            let range = access.address..access.address.saturating_add(access.length);
            if access.write { &mut kernels.writes } else { &mut kernels.reads }.push(range);
        }
        if number == SERVED {
            for moved in &after.kernel.moved {
                let range = |place: Place| match place {
                    Place::Memory(address) => Some(address..address.saturating_add(moved.length)),
                    _ => None,
                };
                kernels.reads.extend(range(moved.from));
                kernels.writes.extend(range(moved.to));
            }
        }
        Some(kernels)
    }

    /// Who differs in what it read, or in memory that was taken away or replaced. `before` is where the call was made.
    pub fn readers(&self, parked: &Parked, before: &Process, found: &mut Vec<u32>) {
        let argument = |reg: Reg| before.machine.cpu.get(reg);
        let pages = |start: u64, length: u64| start..start.saturating_add(length).saturating_add(PAGE - 1);
        let replaced =
            match self.number {
                nr::MMAP => vec![pages(self.result, argument(Reg::RSI))],
                nr::MUNMAP | nr::MADVISE => vec![pages(argument(Reg::RDI), argument(Reg::RSI))],
                nr::MREMAP => {
                    let target = pages(self.result, argument(Reg::RDX));
                    vec![pages(argument(Reg::RDI), argument(Reg::RSI)), target]
                }
                nr::BRK => {
                    let is_there = |address: u64| self.mapped.iter().any(|range| range.contains(&address));
                    found.extend(parked.which(|waiting| {
                        waiting.difference.memory().iter().any(|word| !is_there(word.address))
                    }));
                    Vec::new()
                }
                _ => Vec::new(),
            };
        for range in &self.reads {
            parked.readers_of_memory(range, found);
        }
        if !replaced.is_empty() {
            let lies_in = |address: u64| replaced.iter().any(|range| range.contains(&address));
            let differs = |word: &super::difference::Word| lies_in(word.address) || lies_in(word.address + 7);
            found.extend(parked.which(|waiting| waiting.difference.memory().iter().any(differs)));
        }
    }
}
