//! Forward slices as what can be reached in the graph against its edges.
//!
//! Nodes are taken from the earliest to the latest, so that all that a node was made from is known when it is its turn.

use std::collections::{BTreeMap, BTreeSet};

use machine::Time;
use replay::{Code, Follow, StmtId, Use};

use super::activations::Activations;
use super::graph::{Graph, Kind, Node, Part};
use super::slice::{Answer, Count, Reach, shares};

/// What is asked about.
#[derive(Clone, Debug)]
pub struct Seeds {
    /// Nothing that ran before this is looked at.
    pub time: Time,
    pub parts: Vec<Part>,
    /// A statement instance, all of whose results are asked about.
    pub instance: Option<u32>,
    /// The node of a branch.
    pub decision: Option<u32>,
}

type Bytes = [Option<Reach>; 8];

struct Search<'a> {
    graph: &'a Graph,
    activations: &'a Activations,
    seeds: &'a Seeds,
    follow: Follow,
    /// For each node, where what it carries is; 0 for nothing.
    places: Vec<u32>,
    reached: Vec<Bytes>,
    counts: BTreeMap<StmtId, Count>,
    decisions: u64,
    carried: BTreeSet<Time>,
}

pub fn forward(
    graph: &Graph,
    activations: &Activations,
    code: &Code<'_>,
    seeds: &Seeds,
    follow: Follow,
) -> (Answer, BTreeSet<Time>) {
    let mut search = Search {
        graph,
        activations,
        seeds,
        follow,
        places: vec![0; graph.nodes().len()],
        reached: vec![[None; 8]],
        counts: BTreeMap::new(),
        decisions: 0,
        carried: BTreeSet::new(),
    };
    for part in &seeds.parts {
        search.reach(part.node)[usize::from(part.byte)] = Some(Reach::CRITERION);
    }
    for (number, node) in (0..).zip(graph.nodes()) {
        if graph.instructions.get(node.instruction as usize).is_some_and(|there| there.time >= seeds.time) {
            search.visit(number, node);
        }
    }
    let statements = shares(search.counts, code);
    (Answer { statements, sources: BTreeMap::new(), decisions: search.decisions }, search.carried)
}

impl Reach {
    /// What trusted code has put where it keeps its own and then goes by leads nowhere.
    fn used_later(self, how: Use, in_scope: bool) -> Option<Reach> {
        match how {
            Use::Value => Some(self),
            Use::Address if in_scope => Some(self),
            Use::Control if in_scope => Some(Reach { data: false, select: true, ..self }),
            Use::Address | Use::Control if self.internal => None,
            Use::Address => Some(self),
            Use::Control => Some(Reach { data: false, select: false, ..self }),
        }
    }
}

impl Search<'_> {
    fn reach(&mut self, node: u32) -> &mut Bytes {
        let place = &mut self.places[node as usize];
        if *place == 0 {
            *place = self.reached.len() as u32;
            self.reached.push([None; 8]);
        }
        &mut self.reached[*place as usize]
    }

    fn of(&self, part: Part) -> Option<Reach> {
        self.reached[self.places[part.node as usize] as usize][usize::from(part.byte)]
    }

    fn visit(&mut self, number: u32, node: &Node) {
        if matches!(node.kind, Kind::End(_)) {
            return;
        }
        let graph = self.graph;
        let instruction = &graph.instructions[node.instruction as usize];
        let in_scope = instruction.in_scope;
        let is_step = matches!(node.kind, Kind::Decision | Kind::Call | Kind::Allocation);
        let is_copy = node.kind == Kind::Copy || instruction.is_transit && !is_step;
        let instance = instruction.instance.filter(|_| !is_copy).map(|part| self.activations.whole(part));
        let pass = |reach: Reach| match instance {
            Some(instance) => Reach { internal: reach.internal && !in_scope, ..reach.by(instance) },
            None => reach,
        };
        let own = instance.map(|user| Reach { user, ..Reach::CRITERION });
        let mut anyway =
            own.filter(|_| instance == self.seeds.instance || self.seeds.decision == Some(number));
        if let (Some(parent), Follow::Full, Some(_)) = (instruction.parent, self.follow, instance)
            && let Some(reach) = self.of(Part { node: parent, byte: 0 })
        {
            let ran = reach.used_later(Use::Control, in_scope).map(pass);
            anyway = anyway.into_iter().chain(ran).reduce(Reach::join);
        }
        // What is made for this instruction alone carries it when it is used.
        let mut bytes: Bytes = [anyway.filter(|_| !node.is_temp); 8];
        for edge in graph.edges(node) {
            let Some(reach) = self.of(edge.to) else { continue };
            if edge.how == Use::Control && self.follow == Follow::Data {
                continue;
            }
            let Some(passed) = reach.used_later(edge.how, in_scope).map(pass) else { continue };
            for byte in (0..8).filter(|byte| edge.bytes & 1 << byte != 0) {
                bytes[byte] = bytes[byte].into_iter().chain([passed]).reduce(Reach::join);
            }
        }
        let Some(whole) = bytes.iter().flatten().copied().reduce(Reach::join) else { return };
        if node.kind == (Kind::Store { on_stack: false }) && !in_scope {
            bytes.iter_mut().flatten().for_each(|reach| reach.internal = true);
        }
        for (known, new) in self.reach(number).iter_mut().zip(bytes) {
            *known = known.iter().copied().chain(new).reduce(Reach::join);
        }
        if !node.is_temp {
            self.count(node, whole, instance);
        }
    }

    fn count(&mut self, node: &Node, reach: Reach, instance: Option<u32>) {
        let instruction = &self.graph.instructions[node.instruction as usize];
        self.carried.insert(instruction.time);
        let decisions = u64::from(node.kind == Kind::Decision && instruction.in_scope);
        self.decisions += decisions;
        let Some(instance) = instance else { return };
        let stmt = self.activations.instances[instance as usize].stmt;
        if stmt != StmtId::NONE {
            let count = self.counts.entry(stmt).or_insert_with(Count::new);
            count.add(reach, instance, instruction.time);
            count.decisions += decisions;
        }
    }
}
