//! From instructions to basic blocks.

use std::collections::{BTreeMap, BTreeSet};

use super::descent::Code;
use super::extent::Extent;
use super::flow::Flow;
use super::graph::{BasicBlock, BlockId, Cfg, Hole, JumpTable, Terminator};
use super::tables::Table;

pub(super) fn assemble(code: &Code, extent: &Extent) -> Cfg {
    let stretches = stretches(code);
    let ids = number(code, &stretches);
    let blocks = ids.keys().map(|start| match stretches.get(start) {
        Some(stretch) => block(code, &ids, *start, stretch),
        None => empty(code, extent, *start),
    });
    let blocks = blocks.collect();
    let entry = ids.get(&extent.start).copied().unwrap_or(BlockId(0));
    let tables = code.tables.iter().filter_map(|(jump, table)| jump_table(&ids, &stretches, *jump, table));
    let tables = tables.collect();
    let holes = code.holes.iter().map(|(address, kind)| Hole { address: *address, kind: *kind });
    let landing_pads = code.landing_pads.iter().filter_map(|pad| ids.get(pad).copied()).collect();
    Cfg { landing_pads, tables, holes: holes.collect(), ..Cfg::new(extent.start, entry, blocks) }
}

/// The instructions of a block.
struct Stretch {
    last: u64,
    end: u64,
}

/// Cuts the instructions into blocks, by start.
fn stretches(code: &Code) -> BTreeMap<u64, Stretch> {
    let mut found: BTreeMap<u64, Stretch> = BTreeMap::new();
    let mut open: Option<(u64, Stretch)> = None;
    for (address, step) in &code.steps {
        let end = address.wrapping_add(u64::from(step.length));
        let fits = open.as_ref().is_some_and(|(_, stretch)| stretch.end == *address);
        if !fits || code.leaders.contains(address) {
            found.extend(open.take());
        }
        let (start, _) = open.take().unwrap_or((*address, Stretch { last: 0, end: 0 }));
        let stretch = Stretch { last: *address, end };
        let ends = !matches!(step.flow, Flow::On | Flow::Call(_)) || code.final_calls.contains(address);
        if ends {
            found.insert(start, stretch);
        } else {
            open = Some((start, stretch));
        }
    }
    found.extend(open);
    found
}

/// A number for each block, and for each place outside that a branch goes to or the code runs into.
fn number(code: &Code, stretches: &BTreeMap<u64, Stretch>) -> BTreeMap<u64, BlockId> {
    let mut starts: BTreeSet<u64> = stretches.keys().copied().collect();
    starts.extend(&code.leaders);
    for stretch in stretches.values() {
        match code.steps.get(&stretch.last).map(|step| step.flow) {
            Some(Flow::Branch(target)) => starts.extend([target, stretch.end]),
            Some(Flow::On) => _ = starts.insert(stretch.end),
            Some(Flow::Call(_)) if !code.final_calls.contains(&stretch.last) => {
                starts.insert(stretch.end);
            }
            _ => {}
        }
    }
    starts.into_iter().zip((0..).map(BlockId)).collect()
}

fn block(code: &Code, ids: &BTreeMap<u64, BlockId>, start: u64, stretch: &Stretch) -> BasicBlock {
    let to = |address: u64| ids.get(&address).copied();
    let next = || to(stretch.end).map_or(Terminator::Stop, Terminator::Next);
    let leaves = code.leaving.contains(&stretch.last);
    let terminator = match code.steps.get(&stretch.last).map(|step| step.flow) {
        Some(Flow::On) => next(),
        Some(Flow::Call(_)) if code.final_calls.contains(&stretch.last) => Terminator::Stop,
        Some(Flow::Call(_)) => next(),
        Some(Flow::Jump(target)) if leaves => Terminator::TailCall { target: Some(target) },
        Some(Flow::Jump(target)) => to(target).map_or(Terminator::Stop, Terminator::Next),
        Some(Flow::Branch(target)) => match (to(target), to(stretch.end)) {
            (Some(taken), Some(not_taken)) => Terminator::Branch { taken, not_taken },
            _ => Terminator::Stop,
        },
        Some(Flow::IndirectJump) => indirect(code, ids, stretch.last),
        Some(Flow::Return) => Terminator::Return,
        Some(Flow::Stop) | None => Terminator::Stop,
    };
    BasicBlock { start, end: stretch.end, last: stretch.last, terminator }
}

fn indirect(code: &Code, ids: &BTreeMap<u64, BlockId>, jump: u64) -> Terminator {
    let by_table =
        code.tables.get(&jump).into_iter().flat_map(|table| table.cases.iter().map(|(_, target)| target));
    let all = by_table.chain(code.seen.get(&jump).into_iter().flatten());
    let mut known = BTreeSet::new();
    let to = all.filter_map(|target| ids.get(target).copied());
    let targets: Vec<BlockId> = to.filter(|target| known.insert(*target)).collect();
    match code.tail_calls.get(&jump) {
        _ if !targets.is_empty() => Terminator::Switch { targets },
        Some(target) => Terminator::TailCall { target: *target },
        None => Terminator::Unknown,
    }
}

fn jump_table(
    ids: &BTreeMap<u64, BlockId>,
    stretches: &BTreeMap<u64, Stretch>,
    jump: u64,
    table: &Table,
) -> Option<JumpTable> {
    let to = |address: &u64| ids.get(address).copied();
    let (start, _) = stretches.range(..=jump).next_back()?;
    Some(JumpTable {
        block: to(start)?,
        jump,
        cases: table.cases.iter().filter_map(|(value, target)| Some((*value, to(target)?))).collect(),
        default: table.default.as_ref().and_then(to),
        bound: table.bound,
    })
}

/// What is outside of the function, or cannot be decoded.
fn empty(code: &Code, extent: &Extent, start: u64) -> BasicBlock {
    let is_hole = code.holes.contains_key(&start) || extent.contains(start);
    let terminator = if is_hole { Terminator::Stop } else { Terminator::TailCall { target: Some(start) } };
    BasicBlock { start, end: start, last: start, terminator }
}
