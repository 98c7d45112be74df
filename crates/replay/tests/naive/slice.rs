//! Slices as what can be reached in the graph.
//!
//! Nodes are taken from the latest to the earliest, so that all uses of a node are known when it is its turn.

use std::collections::{BTreeMap, BTreeSet};

use machine::Time;
use program::Stmt;
use replay::{Code, Follow, Share, Source, StmtId, Use};

use super::activations::Activations;
use super::graph::{Graph, Instruction, Kind, Node, Part};

/// How a byte is reached from the criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    pub data: bool,
    pub select: bool,
    pub internal: bool,
    pub distance: u32,
    /// The number of the statement instance that used it.
    pub user: u32,
}

impl Reach {
    pub const CRITERION: Reach = Reach { data: true, select: false, internal: false, distance: 0, user: 0 };

    /// The nearest counts; of two that are equally near, the one that is met later going back.
    pub fn join(self, other: Reach) -> Reach {
        let nearer = (other.distance, u32::MAX - other.user) < (self.distance, u32::MAX - self.user);
        let near = if nearer { other } else { self };
        Reach {
            data: self.data || other.data,
            select: self.select || other.select,
            internal: self.internal && other.internal,
            ..near
        }
    }

    fn used(self, how: Use, in_scope: bool) -> Reach {
        match how {
            Use::Value => self,
            Use::Address => Reach { internal: self.internal || !in_scope, ..self },
            Use::Control if in_scope => Reach { data: false, select: true, ..self },
            Use::Control => Reach { data: false, select: false, internal: true, ..self },
        }
    }

    pub fn by(self, number: u32) -> Reach {
        let distance = self.distance + u32::from(self.user != number);
        Reach { distance, user: number, ..self }
    }
}

/// What is asked about, as bytes of nodes.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    pub parts: Vec<Part>,
    /// Why control came there.
    pub parent: Option<u32>,
}

#[derive(Debug, Default, PartialEq)]
pub struct Answer {
    pub statements: BTreeMap<Stmt, Share>,
    pub sources: BTreeMap<Source, u32>,
    pub decisions: u64,
}

struct Search<'a> {
    graph: &'a Graph,
    activations: &'a Activations,
    follow: Follow,
    /// Only what was made then is followed.
    only: Option<&'a BTreeSet<Time>>,
    reached: BTreeMap<u32, [Option<Reach>; 8]>,
    counts: BTreeMap<StmtId, Count>,
    decisions: u64,
    ends: Vec<(Source, Reach)>,
    visited: Visited,
}

/// The nodes of a slice, each with its bytes.
pub type Visited = BTreeMap<u32, lift::Bytes>;

pub(super) struct Count {
    all: BTreeSet<u32>,
    data: BTreeSet<u32>,
    select: BTreeSet<u32>,
    distance: u32,
    first: Time,
    last: Time,
    pub decisions: u64,
}

pub fn slice(
    graph: &Graph,
    activations: &Activations,
    code: &mut Code<'_>,
    begin: Time,
    roots: &Roots,
    follow: Follow,
    only: Option<&BTreeSet<Time>>,
) -> (Answer, Visited) {
    let mut search = Search {
        graph,
        activations,
        follow,
        only,
        reached: BTreeMap::new(),
        counts: BTreeMap::new(),
        decisions: 0,
        ends: Vec::new(),
        visited: Visited::new(),
    };
    roots.parts.iter().for_each(|part| search.reach(*part, Reach::CRITERION));
    if let (Some(node), Follow::Full) = (roots.parent, follow) {
        search.reach(Part { node, byte: 0 }, Reach::CRITERION.used(Use::Control, true));
    }
    while let Some((number, bytes)) = search.reached.pop_last() {
        let present = (0..8).filter(|byte| bytes[*byte].is_some()).map(|byte| 1 << byte).sum();
        search.visited.insert(number, present);
        search.visit(graph.node(number), &bytes);
    }
    let visited = std::mem::take(&mut search.visited);
    (search.answer(code, begin), visited)
}

impl Search<'_> {
    fn reach(&mut self, part: Part, reach: Reach) {
        let place = &mut self.reached.entry(part.node).or_default()[usize::from(part.byte)];
        *place = Some(place.map_or(reach, |known| known.join(reach)));
    }

    fn visit(&mut self, node: &Node, bytes: &[Option<Reach>; 8]) {
        let &Instruction { in_scope, time, .. } = &self.graph.instructions[node.instruction as usize];
        if self.only.is_some_and(|only| !only.contains(&time) || matches!(node.kind, Kind::End(_))) {
            return;
        }
        if let (Kind::End(source), Some(reach)) = (node.kind, bytes[0]) {
            self.ends.push((self.graph.sources[source as usize].clone(), reach));
            return;
        }
        for (byte, reach) in bytes.iter().enumerate() {
            let Some(reach) = *reach else { continue };
            // What trusted code keeps for itself.
            if node.kind == (Kind::Store { on_stack: false }) && reach.internal && !in_scope {
                continue;
            }
            let passed = self.serve(node, reach);
            for edge in self.graph.edges(node).iter().filter(|edge| edge.bytes & 1 << byte != 0) {
                if edge.how != Use::Control || self.follow == Follow::Full {
                    self.reach(edge.to, passed.used(edge.how, in_scope));
                }
            }
        }
    }

    /// A node is in the slice, with its statement instance and with what it ran because of.
    fn serve(&mut self, node: &Node, reach: Reach) -> Reach {
        let instruction = &self.graph.instructions[node.instruction as usize];
        self.decisions += u64::from(node.kind == Kind::Decision && instruction.in_scope);
        let is_step = matches!(node.kind, Kind::Decision | Kind::Call | Kind::Allocation);
        if node.kind == Kind::Copy || instruction.is_transit && !is_step {
            return reach;
        }
        let Some(instance) = instruction.instance else { return reach };
        let whole = self.activations.whole(instance);
        let known = self.activations.instances[whole as usize];
        let mut passed = reach.by(known.number);
        passed.internal &= !instruction.in_scope;
        if known.stmt != StmtId::NONE {
            let count = self.counts.entry(known.stmt).or_insert_with(Count::new);
            count.add(passed, whole, instruction.time);
            count.decisions += u64::from(node.kind == Kind::Decision && instruction.in_scope);
        }
        if let (Some(node), Follow::Full) = (instruction.parent, self.follow) {
            self.reach(Part { node, byte: 0 }, passed.used(Use::Control, instruction.in_scope));
        }
        passed
    }

    fn answer(mut self, code: &mut Code<'_>, begin: Time) -> Answer {
        let mut sources: BTreeMap<Source, u32> = BTreeMap::new();
        for (source, reach) in std::mem::take(&mut self.ends) {
            if let Source::Initial { address } = source
                && let Some(stmt) = code.program().statement_of_data(address)
                && code.is_in_scope(&stmt)
            {
                let stmt = code.intern(stmt);
                let count = self.counts.entry(stmt).or_insert_with(Count::new);
                // It is one instance, and none that can have used anything.
                count.add(Reach { distance: reach.distance + 1, ..reach }, u32::MAX, begin);
            }
            if !reach.internal {
                let nearest = sources.entry(source).or_insert(u32::MAX);
                *nearest = reach.distance.min(*nearest);
            }
        }
        Answer { statements: shares(self.counts, code), sources, decisions: self.decisions }
    }
}

pub(super) fn shares(counts: BTreeMap<StmtId, Count>, code: &Code<'_>) -> BTreeMap<Stmt, Share> {
    let share = |count: Count| Share {
        instances: count.all.len() as u64,
        data_instances: count.data.len() as u64,
        select_instances: count.select.len() as u64,
        distance: count.distance,
        first: count.first,
        last: count.last,
        decisions: count.decisions,
        omissions: 0,
        weak_omissions: 0,
    };
    counts.into_iter().map(|(id, count)| (code.statement(id).unwrap().clone(), share(count))).collect()
}

impl Count {
    pub fn new() -> Count {
        let (all, data, select) = Default::default();
        Count { all, data, select, distance: u32::MAX, first: Time(u64::MAX), last: Time(0), decisions: 0 }
    }

    pub fn add(&mut self, reach: Reach, instance: u32, time: Time) {
        self.all.insert(instance);
        if reach.data {
            self.data.insert(instance);
        }
        if reach.select {
            self.select.insert(instance);
        }
        self.distance = self.distance.min(reach.distance);
        self.first = self.first.min(time);
        self.last = self.last.max(time);
    }
}
