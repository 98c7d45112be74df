//! Where a program went by memory that nobody had written, and what memory that was.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use lift::{Address, Decoded, MAX_INSTRUCTION, Op, Reg, StringKind};
use linux::{Block, Process, Relation};
use machine::{Cpu, Definedness, Machine, Origin, Time, Use, UseKind};
use program::{NoAllocations, Program, State};

use super::{Past, trace};
use crate::streams::printable;
use crate::view;

/// So many places are told.
const MOST_PLACES: usize = 100;
/// How many frames are looked at for the one that a variable belongs to.
const MOST_FRAMES: usize = 256;

/// What is known of the memory that a value came from.
#[derive(Clone, Debug)]
enum Source {
    /// So many bytes after the start of a block.
    Heap { block: Block, offset: u64 },
    /// As the end of a sentence.
    Elsewhere(String),
}

/// All places, with how they got there and what memory it was, and how many there are.
pub fn uninitialised(
    definedness: &Definedness,
    process: &Process,
    name: &str,
    past: &mut dyn Past,
) -> String {
    let mut text = String::new();
    let uses = definedness.uses();
    let places = match uses.is_empty() {
        true => 0,
        false => tell(&mut text, uses, &view::program_of(process), name, past),
    };
    let times = definedness.times();
    let counted = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let _ = match times {
        0 => writeln!(text, "whydunit: nothing depended on memory that was never written"),
        _ => {
            let (times, places) = (counted(times, "use"), counted(places as u64, "place"));
            writeln!(text, "whydunit: {times} of memory that was never written, at {places}")
        }
    };
    text
}

/// The memory that a value came from, by what the run had to do with it at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// It is there.
    At(u64),
    /// So many bytes after the address that the instruction of that time loads from.
    Loaded(u8),
}

/// One place at which such a value was used.
struct Told {
    kind: UseKind,
    trace: String,
    origin: Option<(Time, Place)>,
}

/// Returns how many places there are.
fn tell(text: &mut String, uses: &[Use], program: &Program, name: &str, past: &mut dyn Past) -> usize {
    let told = places(uses, program, past);
    // The run is gone through once for each question, not once for each place.
    let origins: BTreeSet<(Time, Place)> = told.iter().filter_map(|told| told.origin).collect();
    let sources: BTreeMap<(Time, Place), Source> = origins
        .into_iter()
        .filter_map(|(time, place)| Some(((time, place), source(past.at(time)?, place, program)?)))
        .collect();
    let blocks: BTreeSet<Time> = sources.values().filter_map(Source::allocated).collect();
    let allocated: BTreeMap<Time, String> = blocks
        .into_iter()
        .filter_map(|time| Some((time, trace::print(&past.at(time)?.machine, program))))
        .collect();
    for Told { kind, trace, origin } in told.iter().take(MOST_PLACES) {
        let _ = writeln!(text, "whydunit: {}: {}", printable(name), headline(*kind));
        text.push_str(trace);
        match origin.and_then(|origin| sources.get(&origin)) {
            Some(Source::Heap { block, offset }) => {
                let size = block.size;
                let _ = writeln!(text, "  It comes from byte {offset} of a block of {size}, allocated:");
                text.push_str(allocated.get(&block.allocated).map_or("", String::as_str));
            }
            Some(Source::Elsewhere(what)) => {
                let _ = writeln!(text, "  It comes from {what}");
            }
            None => {}
        }
    }
    if told.len() > MOST_PLACES {
        let _ = writeln!(text, "whydunit: … and {} more places", told.len() - MOST_PLACES);
    }
    told.len()
}

fn headline(kind: UseKind) -> &'static str {
    match kind {
        UseKind::Condition => "a condition depends on memory that was never written",
        UseKind::Address => "an address depends on memory that was never written",
        UseKind::Target => "where it goes on depends on memory that was never written",
        UseKind::Output => "output depends on memory that was never written",
        UseKind::Call => "what it gives the kernel depends on memory that was never written",
    }
}

/// Each place once: what a library does belongs to the line that called it.
fn places(uses: &[Use], program: &Program, past: &mut dyn Past) -> Vec<Told> {
    let mut seen = BTreeSet::new();
    let mut told = Vec::new();
    for used in uses {
        let Some(process) = past.at(used.time) else { continue };
        let own = trace::own_address(&process.machine, program);
        if seen.insert(own.unwrap_or(used.address)) {
            let trace = trace::print(&process.machine, program);
            let origin = used.origin.map(|origin| match origin {
                Origin::Memory(address) => (used.time, Place::At(address)),
                Origin::Load { time, offset } => (time, Place::Loaded(offset)),
            });
            told.push(Told { kind: used.kind, trace, origin });
        }
    }
    told
}

impl Source {
    fn allocated(&self) -> Option<Time> {
        match self {
            Source::Heap { block, .. } => Some(block.allocated),
            Source::Elsewhere(_) => None,
        }
    }
}

fn source(process: &Process, place: Place, program: &Program) -> Option<Source> {
    let machine = &process.machine;
    let address = match place {
        Place::At(address) => address,
        Place::Loaded(offset) => loaded_from(machine)?.wrapping_add(u64::from(offset)),
    };
    if let Some(nearby) = process.kernel.checked_heap.nearby(address) {
        return match nearby.relation {
            Relation::Inside(offset) => Some(Source::Heap { block: nearby.block, offset }),
            Relation::Before(_) | Relation::After(_) => None,
        };
    }
    let read = trace::own_position(machine, program, 0);
    let read = read.map_or_else(String::new, |at| format!(", which was read at {}", trace::place(&at)));
    variable(machine, address, program)
        .or_else(|| frame(machine, address, program))
        .map(|what| Source::Elsewhere(format!("{what}{read}")))
}

/// The variable that an address belongs to.
fn variable(machine: &Machine, address: u64, program: &Program) -> Option<String> {
    let state = State::of(machine);
    let frames = program.backtrace_of(&state, MOST_FRAMES).frames;
    let names = program.names(&state, &frames, &NoAllocations);
    Some(printable(&names.of_memory(address, 1)?))
}

/// The frame on the stack that an address belongs to.
fn frame(machine: &Machine, address: u64, program: &Program) -> Option<String> {
    let stack_pointer = machine.cpu.get(Reg::RSP);
    let region = machine.memory.region_at(stack_pointer)?;
    if !(region.start..region.end).contains(&address) {
        return None;
    }
    let frames = program.backtrace_of(&State::of(machine), MOST_FRAMES).frames;
    // A frame ends where the stack pointer of its caller is.
    let owner = frames.windows(2).find_map(|pair| {
        let [inner, outer] = pair else { return None };
        let end = outer.registers.rsp()?;
        (address < end).then(|| program.locate(inner.lookup))
    });
    let function = owner.and_then(|location| location.function_name().map(printable));
    Some(function.map_or_else(|| "the stack".to_owned(), |function| format!("the stack frame of {function}")))
}

/// Where the instruction at hand loads from; `None` if that is known only when it is half done.
fn loaded_from(machine: &Machine) -> Option<u64> {
    let mut bytes = [0; MAX_INSTRUCTION];
    let available = machine.memory.peek(machine.cpu.rip, &mut bytes);
    let Decoded::Instruction(instruction) = lift::decode(bytes.get(..available)?, machine.cpu.rip) else {
        return None;
    };
    let mut ops = Vec::new();
    lift::lift(&instruction, &mut ops);
    let address = ops.iter().find_map(|op| match op {
        Op::Load { address, .. }
        | Op::LoadVector { address, .. }
        | Op::LoadExtended { address, .. }
        | Op::Helper { address, .. } => Some(effective(&machine.cpu, address)),
        Op::String { kind: StringKind::Scan, .. } => Some(Some(machine.cpu.get(Reg::RDI))),
        Op::String { .. } => Some(Some(machine.cpu.get(Reg::RSI))),
        _ => None,
    });
    address.flatten()
}

fn effective(cpu: &Cpu, address: &Address) -> Option<u64> {
    let parts = [address.base, address.index, address.segment];
    parts.iter().all(|reg| !reg.is_temp()).then(|| machine::effective(cpu, address))
}
