//! Executes the ops of a data slice alone, on a state that holds the sources' values and nothing else.
//!
//! Beside the run itself, which gives what is no dependence: the way that control takes, the stack and frame pointers, and what the
//! kernel and allocators hand out. Everything else that is not in the slice is poisoned.

use std::collections::{BTreeMap, BTreeSet};

use lift::{Address, Op, Reg};
use linux::Process;
use machine::{Cpu, Machine, Observer, Stop, Time, Unwatched};
use replay::{Question, Recording, Source};

use super::{Answer, Kind, Naive, Visited};

const POISON: u8 = 0xa5;
const FLAGS: [Reg; 4] = [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C];

pub struct Alone {
    pub machine: Machine,
    /// The ops of the slice, by when their instructions ran.
    ops: BTreeMap<Time, BTreeSet<u8>>,
    /// What the kernel had written before the instruction at this time.
    kernel: BTreeMap<Time, Vec<(u64, u8)>>,
    /// The run's own accumulator is taken over before the instruction at this time.
    results: BTreeSet<Time>,
    frame_pointers: BTreeSet<u64>,
    trusted: BTreeSet<u64>,
    pub executed: u64,
    pub faults: Vec<String>,
}

impl Alone {
    /// `None` if the slice has sources whose values are nobody's.
    pub fn new(
        recording: &mut Recording,
        naive: &Naive,
        question: &Question,
        answer: &Answer,
        visited: &Visited,
    ) -> Option<Alone> {
        if answer.sources.keys().any(|source| matches!(source, Source::Uninitialised { .. })) {
            return None;
        }
        let mut ops: BTreeMap<Time, BTreeSet<u8>> = BTreeMap::new();
        let (mut results, mut sources) = (BTreeSet::new(), BTreeSet::new());
        for node in visited.keys() {
            let (time, op, kind) = naive.made(*node);
            match kind {
                Kind::Made | Kind::Store { .. } => {
                    ops.entry(time).or_default().insert(op);
                }
                Kind::End(source) => {
                    sources.insert(naive.source(source).clone());
                }
                _ => {}
            }
        }
        for (node, time) in &naive.allocations {
            if visited.contains_key(node) {
                results.insert(Time(time.0 + 1));
            }
        }
        let mut kernel = BTreeMap::new();
        for call in &naive.calls {
            let after = Time(call.time.0 + 1);
            if ops.remove(&call.time).is_none() {
                continue;
            }
            results.insert(after);
            let process = recording.at(after);
            let moved = call.moved.iter().flat_map(|moved| match moved.to {
                linux::Place::Memory(start) => start..start + moved.length,
                _ => 0..0,
            });
            kernel.insert(after, moved.map(|address| (address, byte_at(&process, address))).collect());
        }
        let machine = poisoned(recording.at(naive.begin()), recording.at(question.time), &sources);
        let (executed, faults) = (0, Vec::new());
        let (frame_pointers, trusted) = (naive.frame_pointers.clone(), naive.trusted.clone());
        Some(Alone { machine, ops, kernel, results, frame_pointers, trusted, executed, faults })
    }

    /// The last instruction of the slice is not executed.
    pub fn leave_out_last(&mut self) {
        self.ops.pop_last();
    }

    /// Gives a register the value that it has in the run.
    fn lend(&mut self, reg: Reg, run: &Cpu) {
        self.machine.cpu.set(reg, run.get(reg));
    }

    fn execute(&mut self, time: Time, address: u64, ops: &[Op], chosen: &BTreeSet<u8>, run: &Cpu) {
        let before = self.machine.cpu.clone();
        for reg in [Reg::RSP, Reg::FS_BASE, Reg::GS_BASE, Reg::DIRECTION] {
            self.lend(reg, run);
        }
        if self.frame_pointers.contains(&address) {
            self.lend(Reg::RBP, run);
        }
        let is_trusted = self.trusted.contains(&address);
        for (index, op) in (0..).zip(ops) {
            match op {
                Op::Load { address, .. }
                | Op::LoadVector { address, .. }
                | Op::Store { address, .. }
                | Op::StoreVector { address, .. }
                | Op::LoadExtended { address, .. }
                | Op::StoreExtended { address, .. }
                    // How trusted code finds its way is its own business.
                    if !chosen.contains(&index) || is_trusted =>
                {
                    let Address { base, index, .. } = *address;
                    let parts = [base, index].into_iter().filter(|reg| !reg.is_temp());
                    parts.for_each(|reg| self.lend(reg, run));
                }
                // How often, and which of two, is a matter of control.
                Op::String { .. } => {
                    [Reg::RSI, Reg::RDI, Reg::RCX].into_iter().for_each(|reg| self.lend(reg, run))
                }
                Op::Select { .. } => FLAGS.into_iter().for_each(|reg| self.lend(reg, run)),
                _ => {}
            }
        }
        self.machine.cpu.rip = address;
        self.machine.time = time;
        if !matches!(self.machine.run(Time(time.0 + 1), &mut Unwatched), Stop::Until) {
            self.faults.push(format!("{address:#x} at {time:?} does not go through"));
        }
        self.executed += 1;
        let made = self.machine.cpu.clone();
        self.machine.cpu = before;
        for (index, op) in (0..).zip(ops) {
            if chosen.contains(&index) {
                op.writes(|reg| self.machine.cpu.set(reg, made.get(reg)));
            }
        }
    }
}

impl Observer for Alone {
    const EACH_ELEMENT: bool = false;

    fn instruction(&mut self, time: Time, address: u64, ops: &[Op], run: &Cpu) {
        if self.results.contains(&time) {
            self.lend(Reg::RAX, run);
        }
        for (address, byte) in self.kernel.remove(&time).unwrap_or_default() {
            self.machine.memory.poke(address, &[byte]).unwrap();
        }
        if let Some(chosen) = self.ops.remove(&time) {
            self.execute(time, address, ops, &chosen, run);
        }
    }
}

fn byte_at(process: &Process, address: u64) -> u8 {
    let mut byte = [0];
    process.machine.memory.peek(address, &mut byte);
    byte[0]
}

/// How much of the stack below where the program begins is poisoned.
const STACK: u64 = 1 << 18;

/// A state with the memory that is mapped later, of which only the sources are left.
fn poisoned(begin: Process, mut later: Process, sources: &BTreeSet<Source>) -> Machine {
    let stack = begin.machine.cpu.get(Reg::RSP).saturating_sub(STACK);
    let writable = later.machine.memory.regions().iter().filter(|region| region.permissions.write);
    let ranges: Vec<(u64, u64)> = writable
        .map(|region| (if &*region.name == "[stack]" { stack } else { region.start }, region.end))
        .collect();
    for (start, end) in ranges {
        let mut bytes = vec![POISON; (end - start) as usize];
        for source in sources {
            if let Source::Initial { address } = source
                && (start..end).contains(address)
            {
                bytes[(address - start) as usize] = byte_at(&begin, *address);
            }
        }
        later.machine.memory.poke(start, &bytes).unwrap();
    }
    later.machine.cpu = begin.machine.cpu.clone();
    let vectors = (0..16).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()]);
    for reg in (0..16).map(Reg::general).chain(vectors) {
        if !sources.contains(&Source::InitialRegister(reg)) {
            later.machine.cpu.set(reg, u64::from_le_bytes([POISON; 8]));
        }
    }
    later.machine
}
