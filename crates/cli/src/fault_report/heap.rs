//! What a program did wrong with its heap, and where the block came from.

use std::collections::BTreeMap;
use std::fmt::Write;

use linux::{Block, BlockState, HeapFault, Leak, Mismatch, Process};
use machine::Time;
use program::Program;

use super::trace;

/// Who can say what the process was like at an earlier instant.
pub trait Past {
    /// For instants in any order; ascending ones cost less.
    fn at(&mut self, time: Time) -> Option<&Process>;
}

/// So many groups of lost blocks are told, and so many blocks looked at for them.
const MOST_GROUPS: usize = 100;
const MOST_LOST: usize = 20_000;
/// So many blocks that were freed by the wrong function are told.
const MOST_MISMATCHES: usize = 10;

/// A fault as the end of a sentence that begins with "it", and the traces of its block.
pub struct Told {
    pub doing: String,
    pub traces: String,
}

pub fn tell(fault: &HeapFault, program: &Program, past: &mut dyn Past) -> Told {
    let block = fault.block();
    let freed = block.filter(|block| block.state == BlockState::Freed).map(|block| block.freed);
    let allocated = block.map(|block| block.allocated);
    let mut traces = String::new();
    let mut look = |time: Option<Time>, title: &str| {
        let process = past.at(time?)?;
        let _ = writeln!(traces, "  {title}");
        traces.push_str(&trace::print(&process.machine, program));
        trace::own_place(&process.machine, program)
    };
    let allocated = look(allocated, "The block was allocated:");
    let freed = look(freed, "It was freed:");
    Told { doing: fault.tell(allocated.as_deref(), freed.as_deref()), traces }
}

/// Blocks that were freed by a function that does not belong to the one that allocated them.
pub fn mismatches(mismatches: &[Mismatch], program: &Program, past: &mut dyn Past) -> String {
    let mut text = String::new();
    let mut told: Vec<String> = Vec::new();
    for Mismatch { block, freed_as, time } in mismatches {
        let mut place = |time: Time| {
            let process = past.at(time)?;
            trace::own_place(&process.machine, program)
        };
        let at = |place: Option<String>| place.map_or_else(String::new, |place| format!(" at {place}"));
        let (allocated, freed) = (at(place(block.allocated)), at(place(*time)));
        let line = format!(
            "whydunit: warning: a block of {} that {} allocated{allocated} was freed by {}{freed}\n",
            block.size,
            block.kind.allocated_by(),
            freed_as.freed_by(),
        );
        if told.len() < MOST_MISMATCHES && !told.contains(&line) {
            text.push_str(&line);
            told.push(line);
        }
    }
    text
}

/// The blocks that a program has lost, by where they were allocated.
pub fn leaks(process: &Process, program: &Program, past: &mut dyn Past) -> String {
    let leaks = process.leaks();
    let sum = |wanted: Leak| {
        let blocks = leaks.iter().filter(|(_, leak)| *leak == wanted);
        blocks.fold((0u64, 0u64), |(bytes, count), (block, _)| (bytes + block.size, count + 1))
    };
    let mut text = String::from("whydunit: memory that was not freed:\n");
    for (leak, words) in [
        (Leak::Definite, "definitely lost"),
        (Leak::Indirect, "indirectly lost"),
        (Leak::Possible, "possibly lost"),
        (Leak::Reachable, "still reachable"),
    ] {
        let (bytes, blocks) = sum(leak);
        let _ = writeln!(text, "  {words}: {bytes} bytes in {blocks} {}", blocks_word(blocks));
    }
    let mut lost: Vec<(Block, Leak)> =
        leaks.iter().filter(|(_, leak)| !matches!(leak, Leak::Reachable | Leak::Indirect)).copied().collect();
    lost.sort_by_key(|(block, _)| block.allocated);
    let mut groups: BTreeMap<(Leak, String), (u64, u64)> = BTreeMap::new();
    for (block, leak) in lost.iter().take(MOST_LOST) {
        let trace = past.at(block.allocated).map(|process| trace::print(&process.machine, program));
        let (bytes, blocks) = groups.entry((*leak, trace.unwrap_or_default())).or_default();
        *bytes += block.size;
        *blocks += 1;
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|((leak, trace), (bytes, _))| (*leak, std::cmp::Reverse(*bytes), trace.clone()));
    for ((leak, trace), (bytes, blocks)) in groups.iter().take(MOST_GROUPS) {
        let how = if *leak == Leak::Definite { "definitely" } else { "possibly" };
        let _ =
            writeln!(text, "{bytes} bytes in {blocks} {} are {how} lost, allocated:", blocks_word(*blocks));
        text.push_str(trace);
    }
    let left_out = groups.len().saturating_sub(MOST_GROUPS);
    if left_out > 0 || lost.len() > MOST_LOST {
        let _ = writeln!(text, "… and more");
    }
    text
}

fn blocks_word(count: u64) -> &'static str {
    if count == 1 { "block" } else { "blocks" }
}
