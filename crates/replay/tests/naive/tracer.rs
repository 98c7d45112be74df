//! Watches a run and builds its graph, op by op, by who wrote each byte last.

use std::collections::BTreeMap;

use lift::{Address, Bytes, Op, Reg, Value, low};
use linux::{Place, SERVED, SystemCall};
use machine::{Cpu, Interruption, Observer, Time};
use program::BlockId;
use replay::{Cell, Question, Source, StmtId, Use};

use super::activations::{Activations, Fact, Function};
use super::graph::{Edge, Graph, Instruction, Kind, Part};
use super::slice::Roots;

pub(super) const WHOLE: Bytes = 0xff;
/// The function of what a signal handler returns to, until that is met.
pub(super) const SIGNAL: u32 = u32::MAX;

pub struct Tracer<'a> {
    pub graph: Graph,
    pub activations: Activations,
    facts: &'a [Fact],
    functions: &'a BTreeMap<u32, Function>,
    calls: BTreeMap<Time, &'a SystemCall>,
    /// Instructions that could not be executed, by when and where: something else ran then.
    faults: &'a BTreeMap<(Time, u64), Fact>,
    /// The last of them that was met.
    tried: Option<(Time, u64)>,
    begin: Time,
    /// Times whose instructions' results are asked about.
    samples: &'a [Time],
    pub questions: Vec<(Question, Roots)>,
    pub definitions: Vec<Definition>,
    /// When allocators returned, with the node of what they handed out.
    pub allocations: Vec<(u32, Time)>,
    /// How control came to the next instruction.
    pub(super) came_by: Came,
    /// The instruction at hand; `None` for those that are not looked at.
    now: Option<Fact>,
    has_frame_pointer: bool,
    last_access: u64,
    pub(super) string: Option<Op>,
    written: Vec<Cell>,
    pub most_activations: usize,
    pub most_regions: usize,
    /// Returns that no call belongs to.
    pub irregular: u64,
}

/// A byte that an instruction of the program has just made.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Of the next instruction.
    pub time: Time,
    pub place: Byte,
    pub part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Byte {
    Register(Reg, u8),
    Memory(u64),
}

#[derive(Clone, Copy)]
pub(super) enum Came {
    Otherwise,
    ByCall { slot: u64, entry: u32 },
    ByReturn,
}

impl<'a> Tracer<'a> {
    pub fn new(
        facts: &'a [Fact],
        functions: &'a BTreeMap<u32, Function>,
        calls: &'a [SystemCall],
        faults: &'a BTreeMap<(Time, u64), Fact>,
        begin: Time,
        samples: &'a [Time],
    ) -> Tracer<'a> {
        Tracer {
            graph: Graph::new(),
            activations: Activations::new(),
            facts,
            functions,
            calls: calls.iter().map(|call| (call.time, call)).collect(),
            faults,
            tried: None,
            begin,
            samples,
            questions: Vec::new(),
            definitions: Vec::new(),
            allocations: Vec::new(),
            came_by: Came::Otherwise,
            now: None,
            has_frame_pointer: false,
            last_access: 0,
            string: None,
            written: Vec::new(),
            most_activations: 0,
            most_regions: 0,
            irregular: 0,
        }
    }

    /// Bytes that are asked about, as they are now.
    pub fn roots(&mut self, cells: &[Cell]) -> Roots {
        let mut roots = Roots::default();
        for cell in cells {
            match *cell {
                Cell::Register(reg, bytes) => {
                    let bytes = (0..8).filter(|byte| bytes & 1 << byte != 0 && !is_ignored(reg));
                    roots.parts.extend(bytes.filter_map(|byte| self.graph.slot(reg, byte)));
                }
                Cell::Memory { address, length } => {
                    roots.parts.extend((0..length).map(|byte| self.graph.memory(address + byte)));
                }
                Cell::Kernel { place, length } => {
                    roots.parts.extend((0..length).map(|byte| self.graph.place(place.plus(byte))));
                }
            }
        }
        roots
    }

    /// Keeps account of activations as control comes to an instruction.
    fn transfer(&mut self, fact: &Fact, stack_pointer: u64) {
        let function = &self.functions[&fact.function];
        let came_by = std::mem::replace(&mut self.came_by, Came::Otherwise);
        let previous = self.graph.instructions.len().checked_sub(1);
        let (slot, entry) = match (came_by, self.activations.stack.last()) {
            (Came::ByCall { slot, entry: _ }, _) if function.pads => {
                let mut edges = Vec::new();
                self.uses(&mut edges, 1, Reg::RDX, 0x0f, Use::Control);
                let entry = previous.map(|previous| self.graph.add_to(previous as u32, Kind::Call, &edges));
                (Some(slot), entry)
            }
            (Came::ByCall { slot, entry }, _) => (Some(slot), Some(entry)),
            (Came::ByReturn, Some(top)) if top.function == SIGNAL => {
                self.activations.stack.last_mut().unwrap().function = fact.function;
                return;
            }
            (Came::Otherwise, Some(top)) if top.function != fact.function => {
                let is_gone = |slot: Option<u64>| slot.is_some_and(|slot| slot < stack_pointer);
                // A jump out of several activations is the last that is seen of them.
                self.activations.left(self.graph.instructions.last().unwrap().time);
                while self.activations.stack.last().is_some_and(|top| is_gone(top.slot)) {
                    self.activations.pop();
                }
                let slot = self.activations.pop().and_then(|replaced| replaced.slot);
                let entry = previous.map(|previous| self.graph.add_to(previous as u32, Kind::Call, &[]));
                (slot, entry)
            }
            (_, None) => (None, None),
            _ => return,
        };
        self.activations.push(slot, fact.function, function, entry);
        if let (Some(arguments), Some(previous)) = (function.allocator, previous) {
            let mut edges = Vec::new();
            for reg in [Reg::RDI, Reg::RSI, Reg::RDX, Reg::RCX].into_iter().take(arguments) {
                self.uses(&mut edges, 1, reg, WHOLE, Use::Value);
            }
            let node = self.graph.add_to(previous as u32, Kind::Allocation, &edges);
            self.activations.stack.last_mut().unwrap().allocation = Some(node);
        }
    }

    fn returned(&mut self, time: Time) {
        let slot = self.last_access;
        let mut found = false;
        while self.activations.stack.last().is_some_and(|top| top.slot.is_some_and(|own| own <= slot)) {
            let popped = self.activations.pop().unwrap();
            found |= popped.slot == Some(slot);
            if let Some(node) = popped.allocation {
                (0..8).for_each(|byte| self.graph.set_slot(Reg::RAX, byte, Part { node, byte: 0 }));
                self.allocations.push((node, time));
            }
        }
        self.irregular += u64::from(!found);
        self.activations.returned(time);
        self.came_by = Came::ByReturn;
    }

    /// An instruction is about to fault, so that it never ran. What comes of that is its doing, at the time before.
    fn tries(&mut self, fact: &Fact, time: Time, stack_pointer: u64) {
        let time = Time(time.0 - 1);
        self.transfer(fact, stack_pointer);
        let parent = self.activations.arrive(fact);
        let function = &self.functions[&fact.function];
        self.has_frame_pointer = function.has_frame_pointer;
        let in_scope = function.in_scope;
        let instance = self.activations.visit_tried(fact, time);
        self.graph.instructions.push(Instruction { time, instance, in_scope, is_transit: false, parent });
    }

    /// Asks about what the last instruction made.
    fn sample(&mut self, fact: &Fact, time: Time, parent: Option<u32>) {
        let is_asked = time > self.begin && self.samples.binary_search(&Time(time.0 - 1)).is_ok();
        if !is_asked || fact.stmt == StmtId::NONE || self.written.is_empty() {
            return;
        }
        let cells = std::mem::take(&mut self.written);
        let why_here = time.0.is_multiple_of(2);
        self.define(&cells, time);
        let mut roots = self.roots(&cells);
        roots.parent = parent.filter(|_| why_here);
        self.questions.push((Question { time, cells, why_here }, roots));
    }

    fn define(&mut self, cells: &[Cell], time: Time) {
        for cell in cells {
            match *cell {
                Cell::Register(reg, _) => {
                    for byte in 0..8 {
                        let part = self.graph.slot(reg, byte);
                        let place = Byte::Register(reg, byte);
                        self.definitions.extend(part.map(|part| Definition { time, place, part }));
                    }
                }
                Cell::Memory { address, length } => {
                    for address in (0..length).map(|byte| address + byte) {
                        let (part, place) = (self.graph.memory(address), Byte::Memory(address));
                        self.definitions.push(Definition { time, place, part });
                    }
                }
                Cell::Kernel { .. } => {}
            }
        }
    }

    /// Adds bytes of a slot to what some bytes are made from.
    pub(super) fn uses(&mut self, edges: &mut Vec<Edge>, made: Bytes, reg: Reg, bytes: Bytes, how: Use) {
        // What a function saves when it begins is its caller's, who may keep a value there.
        let is_saved = self.now.is_some_and(|now| now.is_transit);
        if is_ignored(reg) || reg == Reg::RBP && self.has_frame_pointer && !is_saved {
            return;
        }
        for byte in (0..8).filter(|byte| bytes & 1 << byte != 0) {
            if let Some(to) = self.graph.slot(reg, byte) {
                add(edges, made, how, to);
            }
        }
    }

    pub(super) fn uses_memory(&mut self, edges: &mut Vec<Edge>, made: Bytes, address: u64) {
        let to = self.graph.memory(address);
        add(edges, made, Use::Value, to);
    }

    fn uses_address(&mut self, edges: &mut Vec<Edge>, made: Bytes, address: &Address) {
        if self.now.is_some_and(|now| now.is_transit) {
            return;
        }
        self.uses(edges, made, address.base, WHOLE, Use::Address);
        self.uses(edges, made, address.index, WHOLE, Use::Address);
    }

    pub(super) fn make_slot(&mut self, reg: Reg, edges: &[Edge]) {
        let node = self.graph.add(Kind::Made, edges);
        self.graph.set_whole_slot(reg, node);
        if reg.is_temp() || is_ignored(reg) {
            self.graph.set_temp(node, true);
        } else {
            self.written.push(Cell::Register(reg, WHOLE));
        }
    }

    pub(super) fn make_memory(&mut self, address: u64, length: u64, edges: &[Edge]) {
        let on_stack = self.graph.is_on_stack(address);
        let node = self.graph.add(Kind::Store { on_stack }, edges);
        for byte in 0..length {
            self.graph.set_memory(address.wrapping_add(byte), Part { node, byte: byte as u8 });
        }
        self.written.push(Cell::Memory { address, length });
    }

    fn load(&mut self, dst: Reg, length: u64, address: &Address, at: u64) {
        let mut edges = Vec::new();
        let read = (0xffu16 >> (8 - length)) as Bytes;
        (0..length).for_each(|byte| self.uses_memory(&mut edges, 1 << byte, at.wrapping_add(byte)));
        self.uses_address(&mut edges, read, address);
        self.make_slot(dst, &edges);
    }

    fn store(&mut self, src: Value, length: u64, address: &Address, at: u64) {
        let mut edges = Vec::new();
        if let Value::Reg(src) = src {
            (0..length).for_each(|byte| self.uses(&mut edges, 1 << byte, src, 1 << byte, Use::Value));
        }
        self.uses_address(&mut edges, WHOLE, address);
        self.make_memory(at, length, &edges);
    }

    /// x87 registers change places: no step of the program. What was loaded for this instruction alone stays from here on.
    fn moved(&mut self, op: &Op) {
        let mut moved = Vec::new();
        op.writes(|slot| {
            if slot.is_x87() {
                let part = |byte: u8| {
                    let (reg, bytes) = op.sources(slot, 1 << byte).slots().next()?;
                    self.graph.slot(reg, bytes.trailing_zeros() as u8)
                };
                moved.push((slot, [0, 1, 2, 3, 4, 5, 6, 7].map(part)));
            }
        });
        for (slot, parts) in moved {
            self.graph.set_slot_to_nothing(slot);
            for (byte, part) in (0..).zip(parts).filter_map(|(byte, part)| Some((byte, part?))) {
                if slot.is_st() {
                    self.graph.set_temp(part.node, false);
                }
                self.graph.set_slot(slot, byte, part);
            }
        }
    }

    /// All results are computed from what was there before any of them is written.
    fn computed(&mut self, op: &Op) {
        let mut results = Vec::new();
        op.writes(|slot| {
            let is_by_the_way = match op {
                Op::Vector { .. } => slot == Reg::MXCSR,
                Op::X87 { op, .. } => slot == Reg::X87_FLAGS || slot == Reg::X87_CODES && !op.defines_codes(),
                _ => false,
            };
            if !is_by_the_way {
                results.push((slot, self.sources(op, slot)));
            }
        });
        for (slot, edges) in results {
            match edges {
                Some(edges) => self.make_slot(slot, &edges),
                None => self.graph.set_slot_to_nothing(slot),
            }
        }
    }

    /// What a result comes from; `None` of a frame pointer that is set up, which is no dependence.
    fn sources(&mut self, op: &Op, slot: Reg) -> Option<Vec<Edge>> {
        let mut from: Vec<Reg> = op.sources(slot, WHOLE).slots().map(|(reg, _)| reg).collect();
        from.dedup();
        if slot == Reg::RBP && from == [Reg::RSP] {
            return None;
        }
        let mut edges = Vec::new();
        for byte in 0..8 {
            for (reg, bytes) in op.sources(slot, 1 << byte).slots() {
                self.uses(&mut edges, 1 << byte, reg, bytes, Use::Value);
            }
        }
        Some(edges)
    }

    fn decision(&mut self, on: Reg, bytes: Bytes) {
        let Some(now) = self.now else { return };
        let mut edges = Vec::new();
        self.uses(&mut edges, 1, on, bytes, Use::Control);
        let node = self.graph.add(Kind::Decision, &edges);
        let flow = &self.functions[&now.function].flow;
        if let (Some(flow), Some(BlockId(_))) = (flow, now.block) {
            self.activations.open(node, flow.reconvergence(now.address));
        }
    }

    fn call(&mut self, target: Value) {
        let mut edges = Vec::new();
        if let Value::Reg(target) = target {
            self.uses(&mut edges, 1, target, WHOLE, Use::Control);
        }
        let entry = self.graph.add(Kind::Call, &edges);
        self.graph.forget_below(self.last_access);
        self.came_by = Came::ByCall { slot: self.last_access, entry };
    }

    fn system_call(&mut self) {
        let time = self.graph.instructions.last().unwrap().time;
        let Some(call) = self.calls.get(&time).copied() else { return };
        let said = |tracer: &mut Tracer| {
            let to = tracer.graph.end(Source::Kernel { call: call.number });
            [Edge { bytes: WHOLE, how: Use::Value, to }]
        };
        for byte in 0..8 {
            let edges = said(self);
            let node = self.graph.add(Kind::Made, &edges);
            self.graph.set_slot(Reg::RAX, byte, Part { node, byte });
        }
        [Reg::RCX, Reg::R11].into_iter().for_each(|reg| self.graph.set_slot_to_nothing(reg));
        self.carried_over(call);
    }

    /// The instruction may stand for a function of the heap.
    fn served(&mut self, time: Time) {
        if let Some(call) = self.calls.get(&time).copied() {
            self.carried_over(call);
        }
    }

    fn carried_over(&mut self, call: &SystemCall) {
        for moved in &call.moved {
            if let (Place::Fresh, Place::Memory(start)) = (moved.from, moved.to) {
                self.graph.hand_out(start..start.saturating_add(moved.length));
                continue;
            }
            for offset in 0..moved.length {
                let to = match moved.from {
                    Place::Kernel if call.number == SERVED => None,
                    Place::Kernel => Some(self.graph.end(Source::Kernel { call: call.number })),
                    from => Some(self.graph.place(from.plus(offset))),
                };
                let edges: Vec<Edge> =
                    to.into_iter().map(|to| Edge { bytes: WHOLE, how: Use::Value, to }).collect();
                let node = self.graph.add(Kind::Made, &edges);
                self.graph.set_place(moved.to.plus(offset), Part { node, byte: 0 });
            }
        }
    }
}

impl Observer for Tracer<'_> {
    const EACH_ELEMENT: bool = false;

    fn interruption(&mut self, interruption: &Interruption) {
        if interruption.time > self.begin {
            self.interrupted(interruption);
        }
    }

    fn instruction(&mut self, time: Time, address: u64, _: &[Op], cpu: &Cpu) {
        self.now = None;
        let here = (time, address);
        if let Some(fact) = self.faults.get(&here).filter(|_| self.tried != Some(here)) {
            self.tried = Some(here);
            return self.tries(fact, time, cpu.get(Reg::RSP));
        }
        let Some(fact) = time.0.checked_sub(self.begin.0).and_then(|at| self.facts.get(at as usize)) else {
            return;
        };
        assert_eq!(address, fact.address, "trace and observer agree");
        self.transfer(fact, cpu.get(Reg::RSP));
        let parent = self.activations.arrive(fact);
        self.sample(fact, time, parent);
        self.written.clear();
        self.graph.op = 0;
        self.now = Some(*fact);
        let function = &self.functions[&fact.function];
        self.has_frame_pointer = function.has_frame_pointer;
        let instance = self.activations.visit(fact, time);
        let (in_scope, is_transit) = (function.in_scope, fact.is_transit);
        self.graph.instructions.push(Instruction { time, instance, in_scope, is_transit, parent });
        self.most_activations = self.most_activations.max(self.activations.stack.len());
        self.most_regions = self.most_regions.max(self.activations.top_regions());
    }

    fn op(&mut self, op: &Op, cpu: &Cpu) {
        if self.now.is_none() {
            return;
        }
        self.graph.op += 1;
        let mut place = |address: &Address| {
            let offset = cpu.get(address.base).wrapping_add(cpu.get(address.index) << address.shift);
            let offset = offset.wrapping_add(address.displacement as u64);
            let offset = if address.narrow { offset & 0xffff_ffff } else { offset };
            self.last_access = offset.wrapping_add(cpu.get(address.segment));
            self.last_access
        };
        match *op {
            Op::Load { size, dst, ref address } => {
                let at = place(address);
                self.load(dst, size.bytes(), address, at);
            }
            Op::LoadVector { dst, ref address, .. } => {
                let at = place(address);
                self.load(dst, 8, address, at);
                self.load(dst.high_half(), 8, address, at.wrapping_add(8));
            }
            Op::Store { size, src, ref address } => {
                let at = place(address);
                self.store(src, size.bytes(), address, at);
            }
            Op::StoreVector { src, ref address, .. } => {
                let at = place(address);
                self.store(src.into(), 8, address, at);
                self.store(src.high_half().into(), 8, address, at.wrapping_add(8));
            }
            Op::LoadExtended { dst, ref address } => {
                let at = place(address);
                self.load(dst, 8, address, at);
                self.load(dst.high_half(), 2, address, at.wrapping_add(8));
            }
            Op::StoreExtended { src, ref address } => {
                let at = place(address);
                self.store(src.into(), 8, address, at);
                self.store(src.high_half().into(), 2, address, at.wrapping_add(8));
            }
            _ if op.moves_x87() => self.moved(op),
            Op::Select { size, dst, condition, yes, no } => {
                let chosen = if cpu.get(condition) & 1 != 0 { yes } else { no };
                let mut edges = Vec::new();
                let bytes = low(size);
                for byte in (0..8).filter(|byte| bytes & 1 << byte != 0) {
                    self.uses(&mut edges, 1 << byte, chosen, 1 << byte, Use::Value);
                }
                self.uses(&mut edges, bytes, condition, 1, Use::Control);
                self.make_slot(dst, &edges);
            }
            Op::String { .. } => self.string = Some(*op),
            Op::Helper { helper, ref address } => {
                let at = place(address);
                self.helper(helper, at);
            }
            Op::Branch { condition, .. } => self.decision(condition, 1),
            Op::Jump { target: Value::Reg(target) } => self.decision(target, WHOLE),
            Op::Call { target, .. } => self.call(target),
            Op::Return { .. } => {
                let time = self.graph.instructions.last().unwrap().time;
                self.served(time);
                self.returned(time);
            }
            Op::Syscall => self.system_call(),
            _ => self.computed(op),
        }
    }

    fn string(&mut self, source: u64, target: u64, elements: i64) {
        if let (Some(op), true) = (self.string.take(), self.now.is_some()) {
            self.string_instruction(&op, source, target, elements);
        }
    }
}

fn add(edges: &mut Vec<Edge>, bytes: Bytes, how: Use, to: Part) {
    match edges.iter_mut().find(|edge| edge.how == how && edge.to == to) {
        Some(edge) => edge.bytes |= bytes,
        None => edges.push(Edge { bytes, how, to }),
    }
}

/// The stack pointer, and what threads' variables are found by, are no dependences.
fn is_ignored(reg: Reg) -> bool {
    [Reg::RSP, Reg::ZERO, Reg::FS_BASE, Reg::GS_BASE].contains(&reg)
}
