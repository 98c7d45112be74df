//! The whole of a run as a graph: who made each byte, and from what.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use lift::{Bytes, Reg, SLOTS};
use linux::Place;
use machine::Time;
use replay::{Source, Use};

/// An instruction that ran.
pub struct Instruction {
    pub time: Time,
    /// The statement instance that it is part of; none of it before the program has one.
    pub instance: Option<u32>,
    pub in_scope: bool,
    pub is_transit: bool,
    /// The decision or the call that it ran because of.
    pub parent: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes of a slot, or what the kernel moved.
    Made,
    Store {
        on_stack: bool,
    },
    Decision,
    /// The call, or the jump, that an activation began with.
    Call,
    /// What an allocator handed out.
    Allocation,
    /// No step of the program.
    Copy,
    /// A chain ends; the number is that of the source.
    End(u32),
}

pub struct Node {
    pub instruction: u32,
    /// Which op of the instruction.
    pub op: u8,
    pub kind: Kind,
    /// It lives within its instruction, or nobody can depend on it.
    pub is_temp: bool,
    edges: Range<u32>,
}

/// A byte of what a node made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub node: u32,
    pub byte: u8,
}

/// What some bytes of a node were made from.
#[derive(Clone, Copy)]
pub struct Edge {
    pub bytes: Bytes,
    pub how: Use,
    pub to: Part,
}

/// Who wrote a byte last.
#[derive(Clone, Copy)]
enum Writer {
    /// Nobody since the program began.
    Nobody,
    /// A value that comes from nothing.
    Nothing,
    Part(Part),
}

pub struct Graph {
    /// Which op of the instruction at hand comes next.
    pub op: u8,
    pub instructions: Vec<Instruction>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    pub sources: Vec<Source>,
    slots: Box<[[Writer; 8]; SLOTS]>,
    memory: HashMap<u64, Part>,
    stack: BTreeMap<u64, Part>,
    places: BTreeMap<Place, Part>,
    /// Below this address some call has been made.
    highest_call: u64,
    whole_stack: Range<u64>,
    /// Memory that the kernel handed out after the program began.
    fresh: Vec<Range<u64>>,
}

impl Graph {
    pub fn new() -> Graph {
        Graph {
            op: 0,
            instructions: Vec::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            sources: Vec::new(),
            slots: Box::new([[Writer::Nobody; 8]; SLOTS]),
            memory: HashMap::new(),
            stack: BTreeMap::new(),
            places: BTreeMap::new(),
            highest_call: 0,
            whole_stack: linux::STACK_TOP - linux::STACK_SIZE..linux::STACK_TOP,
            fresh: Vec::new(),
        }
    }

    /// The decision of the instruction that ran at a time.
    pub fn decision_at(&self, time: Time) -> Option<u32> {
        let instruction = self.instruction_at(time)? as u32;
        let start = self.nodes.partition_point(|node| node.instruction < instruction);
        let own = self.nodes[start..].iter().take_while(|node| node.instruction == instruction);
        let place = own.into_iter().position(|node| node.kind == Kind::Decision)?;
        Some((start + place) as u32)
    }

    /// The number of the instruction that ran at a time. One that was tried then comes after it.
    pub fn instruction_at(&self, time: Time) -> Option<usize> {
        let found = self.instructions.partition_point(|known| known.time < time);
        self.instructions.get(found).filter(|known| known.time == time).map(|_| found)
    }

    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// Whether what the node makes does not outlive its instruction.
    pub fn set_temp(&mut self, node: u32, is_temp: bool) {
        self.nodes[node as usize].is_temp = is_temp;
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn edges(&self, node: &Node) -> &[Edge] {
        &self.edges[node.edges.start as usize..node.edges.end as usize]
    }

    pub fn is_on_stack(&self, address: u64) -> bool {
        self.whole_stack.contains(&address)
    }

    /// A node of the instruction at hand.
    pub fn add(&mut self, kind: Kind, edges: &[Edge]) -> u32 {
        self.add_to(self.instructions.len() as u32 - 1, kind, edges)
    }

    pub fn add_to(&mut self, instruction: u32, kind: Kind, edges: &[Edge]) -> u32 {
        let start = self.edges.len() as u32;
        self.edges.extend_from_slice(edges);
        self.nodes.push(Node {
            instruction,
            op: self.op.saturating_sub(1),
            kind,
            is_temp: false,
            edges: start..self.edges.len() as u32,
        });
        self.nodes.len() as u32 - 1
    }

    pub fn end(&mut self, source: Source) -> Part {
        let instruction = self.instructions.len().saturating_sub(1) as u32;
        self.sources.push(source);
        let node = self.add_to(instruction, Kind::End(self.sources.len() as u32 - 1), &[]);
        Part { node, byte: 0 }
    }

    /// Who wrote this byte of a slot; `None` if it comes from nothing.
    pub fn slot(&mut self, reg: Reg, byte: u8) -> Option<Part> {
        match self.slots[reg.index()][usize::from(byte)] {
            Writer::Part(part) => Some(part),
            Writer::Nothing => None,
            Writer::Nobody => {
                let part = self.end(Source::InitialRegister(reg));
                for writer in &mut self.slots[reg.index()] {
                    if matches!(writer, Writer::Nobody) {
                        *writer = Writer::Part(part);
                    }
                }
                Some(part)
            }
        }
    }

    pub fn set_slot(&mut self, reg: Reg, byte: u8, part: Part) {
        self.slots[reg.index()][usize::from(byte)] = Writer::Part(part);
    }

    pub fn set_slot_to_nothing(&mut self, reg: Reg) {
        self.slots[reg.index()] = [Writer::Nothing; 8];
    }

    /// All bytes of the slot are those of one node.
    pub fn set_whole_slot(&mut self, reg: Reg, node: u32) {
        (0..8).for_each(|byte| self.set_slot(reg, byte, Part { node, byte }));
    }

    pub fn place(&mut self, place: Place) -> Part {
        let known = match place {
            Place::Memory(address) if self.is_on_stack(address) => self.stack.get(&address),
            Place::Memory(address) => self.memory.get(&address),
            _ => self.places.get(&place),
        };
        if let Some(part) = known {
            return *part;
        }
        let part = self.end(match place {
            Place::Memory(address) if self.is_on_stack(address) && address < self.highest_call => {
                Source::Uninitialised { address }
            }
            Place::Memory(address) if self.fresh.iter().any(|range| range.contains(&address)) => {
                Source::Uninitialised { address }
            }
            Place::Memory(address) => Source::Initial { address },
            _ => Source::Input(place),
        });
        self.set_place(place, part);
        part
    }

    pub fn memory(&mut self, address: u64) -> Part {
        self.place(Place::Memory(address))
    }

    pub fn set_place(&mut self, place: Place, part: Part) {
        match place {
            Place::Memory(address) if self.is_on_stack(address) => self.stack.insert(address, part),
            Place::Memory(address) => self.memory.insert(address, part),
            _ => self.places.insert(place, part),
        };
    }

    pub fn set_memory(&mut self, address: u64, part: Part) {
        self.set_place(Place::Memory(address), part);
    }

    /// The kernel hands out memory.
    pub fn hand_out(&mut self, range: Range<u64>) {
        self.memory.retain(|address, _| !range.contains(address));
        self.fresh.push(range);
    }

    /// A call is made: what lies below its return slot belongs to nobody any more.
    pub fn forget_below(&mut self, slot: u64) {
        if self.is_on_stack(slot) {
            self.highest_call = self.highest_call.max(slot);
            self.stack = self.stack.split_off(&slot);
        }
    }
}
