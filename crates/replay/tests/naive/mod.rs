//! Dependences as one computes them who keeps everything: the run is watched op by op, the graph of all that each byte was
//! made from is built forwards, and a slice is what can be reached in it. It shares with the passes of the crate
//! what is known about code without running it, and the rules of what is a dependence, nothing else.

#![allow(dead_code)] // Each test file uses some of it.

mod activations;
pub mod alone;
pub mod csmith;
mod forward;
mod graph;
mod signals;
mod slice;
mod strings;
mod tracer;

use std::collections::{BTreeMap, BTreeSet};

use linux::fs::Stream;
use linux::{Place, SystemCall};
use machine::{Interruption, InterruptionKind, Time, Trace};
use replay::{Cell, Code, Follow, FunctionId, Question, Recording, Source};

use activations::{Activations, Fact, Function};
use graph::{Graph, Part};
use tracer::Tracer;

pub use forward::Seeds;
pub use graph::Kind;
pub use slice::{Answer, Roots, Visited};
#[allow(unused_imports)]
pub use tracer::{Byte, Definition};

pub struct Naive {
    graph: Graph,
    activations: Activations,
    begin: Time,
    pub questions: Vec<(Question, Roots)>,
    pub definitions: Vec<Definition>,
    /// When allocators returned, with the node of what they handed out.
    pub allocations: Vec<(u32, Time)>,
    pub calls: Vec<SystemCall>,
    /// Instructions of functions that have a frame pointer, and those that are trusted.
    pub frame_pointers: BTreeSet<u64>,
    pub trusted: BTreeSet<u64>,
    pub irregular: u64,
    pub most_activations: usize,
    pub most_regions: usize,
}

/// A sequence of numbers that look random.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}

impl Naive {
    /// Watches the whole run, and asks about so many random instants of it and bytes of its output.
    pub fn watch(recording: &mut Recording, code: &mut Code<'_>, seed: u64, samples: usize) -> Naive {
        let begin = recording.program_start();
        let (mut trace, mut calls) = (Trace::new(), Vec::new());
        let end = recording.end();
        recording.at(begin).run_followed(end, &mut trace, &mut calls);
        let (facts, mut functions) = facts(&trace, code);
        let faults = faults(&trace, code, begin, &mut functions);
        let mut random = Random::new(seed);
        let in_scope: Vec<u64> =
            (0..facts.len() as u64).filter(|at| functions[&facts[*at as usize].function].in_scope).collect();
        let mut times: Vec<Time> = (0..samples)
            .filter_map(|_| in_scope.get(random.below(in_scope.len() as u64) as usize))
            .map(|at| Time(begin.0 + at))
            .collect();
        // What an instruction made is asked about before the next, which a fault may keep from being that.
        let is_interrupted =
            |time: Time| trace.interruptions().iter().any(|found| found.time.0 == time.0 + 1);
        times.retain(|time| !is_interrupted(*time));
        times.sort_unstable();
        let mut tracer = Tracer::new(&facts, &functions, &calls, &faults, begin, &times);
        recording.at(begin).run(end, &mut tracer);
        let output = recording.last().kernel.output.contents(Stream::Stdout).len() as u64;
        for _ in 0..samples.div_ceil(4).min(output as usize) {
            let place = Place::Output { stream: Stream::Stdout, offset: random.below(output) };
            let cells = vec![Cell::Kernel { place, length: 1 }];
            let roots = tracer.roots(&cells);
            tracer.questions.push((Question { time: recording.end(), cells, why_here: false }, roots));
        }
        tracer.activations.number();
        let those = |is: fn(&Function) -> bool| {
            facts.iter().filter(|fact| is(&functions[&fact.function])).map(|fact| fact.address).collect()
        };
        Naive {
            frame_pointers: those(|function| function.has_frame_pointer),
            trusted: those(|function| !function.in_scope),
            graph: tracer.graph,
            activations: tracer.activations,
            begin,
            questions: tracer.questions,
            definitions: tracer.definitions,
            allocations: tracer.allocations,
            irregular: tracer.irregular,
            most_activations: tracer.most_activations,
            most_regions: tracer.most_regions,
            calls,
        }
    }

    pub fn slice(&self, code: &mut Code<'_>, roots: &Roots, follow: Follow) -> Answer {
        slice::slice(&self.graph, &self.activations, code, self.begin, roots, follow, None).0
    }

    /// What lies on a way to these from somewhere from where a forward slice came to these instants.
    pub fn chop(&self, code: &mut Code<'_>, roots: &Roots, carried: &BTreeSet<Time>) -> Answer {
        let (graph, activations) = (&self.graph, &self.activations);
        slice::slice(graph, activations, code, self.begin, roots, Follow::Full, Some(carried)).0
    }

    /// What came of something, and when.
    pub fn forward(&self, code: &mut Code<'_>, seeds: &Seeds, follow: Follow) -> (Answer, BTreeSet<Time>) {
        forward::forward(&self.graph, &self.activations, code, seeds, follow)
    }

    /// The bytes that these sources gave.
    pub fn parts_of(&self, is_asked: impl Fn(&Source) -> bool) -> Vec<Part> {
        let nodes = (0..).zip(self.graph.nodes());
        let asked =
            nodes.filter(|(_, node)| matches!(node.kind, Kind::End(source) if is_asked(self.source(source))));
        asked.map(|(node, _)| Part { node, byte: 0 }).collect()
    }

    /// The statement instance that ran then, and when it began.
    pub fn instance_at(&self, time: Time) -> Option<(u32, Time)> {
        let whole = |instance: u32| self.activations.whole(instance);
        let instance = self.graph.instructions[self.graph.instruction_at(time)?].instance.map(whole)?;
        let mut all = self.graph.instructions.iter();
        let first = all.find(|instruction| instruction.instance.map(whole) == Some(instance))?;
        Some((instance, first.time))
    }

    /// Branches of the program that decided, with their times.
    pub fn decisions(&self) -> Vec<(Time, u32)> {
        let of = |node: &graph::Node| &self.graph.instructions[node.instruction as usize];
        let nodes = (0..).zip(self.graph.nodes());
        let decided = nodes.filter(|(_, node)| node.kind == Kind::Decision && of(node).in_scope);
        decided.map(|(number, node)| (of(node).time, number)).collect()
    }

    /// The nodes of a slice, with the answer.
    pub fn visited(&self, code: &mut Code<'_>, roots: &Roots, follow: Follow) -> (Answer, Visited) {
        slice::slice(&self.graph, &self.activations, code, self.begin, roots, follow, None)
    }

    /// What is asked about together with the decisions at some times.
    pub fn with_decisions(&self, roots: &Roots, times: &BTreeSet<Time>) -> Roots {
        let decisions = times.iter().filter_map(|time| self.graph.decision_at(*time));
        let mut roots = roots.clone();
        roots.parts.extend(decisions.map(|node| graph::Part { node, byte: 0 }));
        roots
    }

    /// When a node's instruction ran, which op of it made it, and what it is.
    pub fn made(&self, node: u32) -> (Time, u8, Kind) {
        let node = self.graph.node(node);
        (self.graph.instructions[node.instruction as usize].time, node.op, node.kind)
    }

    pub fn source(&self, number: u32) -> &Source {
        &self.graph.sources[number as usize]
    }

    pub fn begin(&self) -> Time {
        self.begin
    }

    pub fn instructions(&self) -> usize {
        self.graph.instructions.len()
    }
}

/// What is known about each instruction that ran, and about the functions that they belong to.
fn facts(trace: &Trace, code: &mut Code<'_>) -> (Vec<Fact>, BTreeMap<u32, Function>) {
    let (mut facts, mut functions) = (Vec::new(), BTreeMap::new());
    for pass in trace.forward() {
        let block = code.block(&pass);
        meet(&mut functions, code, block.function);
        for index in pass.instructions() {
            let known = &block.instructions[index];
            facts.push(Fact {
                address: known.at.address,
                stmt: known.at.stmt,
                block: known.at.block,
                function: block.function.0,
                is_transit: known.is_transit,
            });
        }
    }
    (facts, functions)
}

/// The same about instructions that faulted, by when and where.
fn faults(
    trace: &Trace,
    code: &mut Code<'_>,
    begin: Time,
    functions: &mut BTreeMap<u32, Function>,
) -> BTreeMap<(Time, u64), Fact> {
    let is_fault = |found: &&Interruption| {
        found.time > begin && matches!(found.kind, InterruptionKind::Entered { fault: true, .. })
    };
    let mut faults = BTreeMap::new();
    for fault in trace.interruptions().iter().filter(is_fault) {
        let (address, function) = (fault.from, code.function_at(fault.from));
        meet(functions, code, function);
        let block = functions[&function.0].flow.as_ref().and_then(|flow| flow.block_at(address));
        let stmt = code.statement_at(address);
        let fact = Fact { address, stmt, block, function: function.0, is_transit: false };
        faults.insert((fault.time, address), fact);
    }
    faults
}

fn meet(functions: &mut BTreeMap<u32, Function>, code: &Code<'_>, id: FunctionId) {
    let known = code.function(id);
    functions.entry(id.0).or_insert_with(|| Function {
        flow: known.flow.clone(),
        in_scope: known.in_scope,
        has_frame_pointer: known.has_frame_pointer,
        is_output: known.is_output,
        pads: known.pads,
        allocator: known.allocator,
    });
}
