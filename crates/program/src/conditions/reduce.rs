//! Puts branches together by reducing the graph, from the inside out.
//!
//! A node is a set of blocks that is entered at one block only. It ends in a fork, or goes straight on. Four rules
//! make larger nodes of smaller ones, as long as all of their code belongs to one expression of the source:
//!
//! - *short circuit*: a fork, one side of which is a fork that shares an exit with it, is one fork;
//! - *choice*: a fork into two forks with the same two exits (`a ? b : c`) is one fork;
//! - *rejoining*: a fork whose sides meet again goes straight on; if each side leaves a 0 or 1 in one place, the
//!   condition has become a value;
//! - *sequence*: a node that rejoined and the block where it did are one node. If that block asks about the
//!   value and nothing else, value and branch are one condition (`while (a && b)` by clang, `if (a ? b : c)` by gcc);
//!   otherwise the value is a condition of its own (`if (f(a && b))`).
//!
//! Successors are reduced before their predecessors, so each node is looked at once.

use std::collections::BTreeSet;

use super::boolean::Boolean;
use super::expression::Place;
use super::flow::Flow;
use super::groups::{Decider, GroupId, Groups, Outcome};

/// Paths that meet in one place with a 0 or 1. More is the work of no compiler, and each is looked at for every
/// condition around them.
const MOST_PATHS: usize = 64;
/// The most members of a condition that can become a value: its members are looked at for each condition around.
const MOST_DECIDERS: usize = 1024;

#[derive(Clone, Copy)]
struct Edge {
    to: usize,
    /// How many jumps this edge stands for.
    count: u32,
}

enum Ends {
    Fork([Edge; 2]),
    Straight(Edge),
    Elsewhere,
}

/// A value that the node leaves, and the condition that it is the outcome of.
struct Open {
    group: GroupId,
    places: Vec<Place>,
}

struct Node {
    ends: Ends,
    /// The blocks from which a straight end is reached.
    lasts: Vec<usize>,
    /// The condition of a fork.
    group: Option<GroupId>,
    values: Vec<Open>,
    /// The node is a condition whose sides met again.
    rejoined: bool,
}

pub(super) struct Reduction<'a> {
    flow: &'a Flow<'a>,
    nodes: Vec<Node>,
    groups: Groups,
    /// The group that the branch of a block started in.
    group_of: Vec<Option<GroupId>>,
}

/// Groups the branches of a function. Blocks that are `taken` are left alone.
pub(super) fn reduce(flow: &Flow<'_>, taken: &[bool]) -> Groups {
    let size = flow.cfg.blocks.len();
    let mut reduction = Reduction {
        flow,
        nodes: Vec::with_capacity(size),
        groups: Groups::default(),
        group_of: vec![None; size],
    };
    for at in 0..size {
        let node = reduction.single(at, taken.get(at) == Some(&true));
        reduction.nodes.push(node);
    }
    for at in flow.post_order() {
        while reduction.short_circuit(at)
            || reduction.choice(at)
            || reduction.rejoining(at)
            || reduction.sequence(at)
        {}
    }
    reduction.finish()
}

impl Reduction<'_> {
    fn single(&mut self, at: usize, taken: bool) -> Node {
        let successors = self.flow.successors(at);
        let mut node = Node {
            ends: Ends::Elsewhere,
            lasts: Vec::new(),
            group: None,
            values: Vec::new(),
            rejoined: false,
        };
        match successors[..] {
            _ if taken || self.flow.is_empty(at) => {}
            [a, b] if self.flow.is_branch(at) => {
                let group = self.groups.add(at, vec![Decider { block: at, bit: None }]);
                node.ends = Ends::Fork([Edge { to: a, count: 1 }, Edge { to: b, count: 1 }]);
                node.group = Some(group);
                self.group_of[at] = Some(group);
            }
            [to] => {
                node.ends = Ends::Straight(Edge { to, count: 1 });
                node.lasts.push(at);
            }
            _ => {}
        }
        node
    }

    /// Whether all ways to the edge's end are the edge itself.
    fn is_only_way(&self, edge: Edge) -> bool {
        self.flow.incoming.get(edge.to) == Some(&edge.count)
    }

    fn fork(&self, at: usize) -> Option<[Edge; 2]> {
        match self.nodes.get(at)?.ends {
            Ends::Fork(edges) => Some(edges),
            _ => None,
        }
    }

    /// The fork that an edge leads to, if it can become part of `at`.
    fn inner_fork(&self, at: usize, edge: Edge) -> Option<[Edge; 2]> {
        let fits = edge.to != at && self.is_only_way(edge) && self.flow.is_continued(at, edge.to);
        if fits { self.fork(edge.to) } else { None }
    }

    fn short_circuit(&mut self, at: usize) -> bool {
        let Some([x, y]) = self.fork(at) else { return false };
        for (side, other) in [(x, y), (y, x)] {
            let Some(inner) = self.inner_fork(at, side) else { continue };
            if inner.iter().any(|edge| edge.to == side.to) || inner[0].to == inner[1].to {
                continue;
            }
            let Some(shared) = inner.iter().position(|edge| edge.to == other.to) else { continue };
            let mut edges = inner;
            edges[shared].count += other.count;
            self.join_forks(at, &[side.to], edges);
            return true;
        }
        false
    }

    fn choice(&mut self, at: usize) -> bool {
        let Some([x, y]) = self.fork(at) else { return false };
        if x.to == y.to {
            return false;
        }
        let (Some(a), Some(b)) = (self.inner_fork(at, x), self.inner_fork(at, y)) else { return false };
        let inside = |edge: &Edge| edge.to == x.to || edge.to == y.to;
        if a.iter().chain(&b).any(inside) || a[0].to == a[1].to {
            return false;
        }
        let crossed = a[0].to == b[1].to && a[1].to == b[0].to;
        if !crossed && (a[0].to != b[0].to || a[1].to != b[1].to) {
            return false;
        }
        let b = if crossed { [b[1], b[0]] } else { b };
        let edges = [0, 1].map(|n| Edge { to: a[n].to, count: a[n].count + b[n].count });
        self.join_forks(at, &[x.to, y.to], edges);
        true
    }

    fn join_forks(&mut self, at: usize, inner: &[usize], edges: [Edge; 2]) {
        for &next in inner {
            if let (Some(first), Some(second)) = (self.nodes[at].group, self.nodes[next].group.take()) {
                self.nodes[at].group = Some(self.groups.join(first, second));
            }
            self.nodes[next].ends = Ends::Elsewhere;
        }
        self.nodes[at].ends = Ends::Fork(edges);
    }

    /// Where a side of a fork goes straight on to, if nothing but the expression's code is on the way.
    fn arm(&self, at: usize, edge: Edge) -> Option<Edge> {
        let origin = self.flow.origin(at)?;
        let fits = edge.to != at && self.is_only_way(edge) && self.flow.is_within(edge.to, origin);
        match self.nodes.get(edge.to)?.ends {
            Ends::Straight(end) if fits => Some(end),
            _ => None,
        }
    }

    fn rejoining(&mut self, at: usize) -> bool {
        let Some([x, y]) = self.fork(at) else { return false };
        let (a, b) = (self.arm(at, x), self.arm(at, y));
        let (join, arms): (Edge, Vec<usize>) = match (a, b) {
            (Some(a), Some(b)) if a.to == b.to => {
                (Edge { to: a.to, count: a.count + b.count }, vec![x.to, y.to])
            }
            // Where others come in, too, `at` can be a part of their condition first: that of `if (a && b) c();`,
            // all of it from one macro.
            (Some(a), _) if a.to == y.to && a.count + y.count == self.flow.incoming[y.to] => {
                (Edge { to: y.to, count: a.count + y.count }, vec![x.to])
            }
            (_, Some(b)) if b.to == x.to && b.count + x.count == self.flow.incoming[x.to] => {
                (Edge { to: x.to, count: b.count + x.count }, vec![y.to])
            }
            _ => return false,
        };
        if join.to == at || arms.contains(&join.to) {
            return false;
        }
        let Some(group) = self.nodes[at].group.take() else { return false };
        self.groups.get(group).outcome = Some(Outcome::Exits([x.to, y.to]));
        let directly = self.directly(group, join.to);
        let few = directly.is_some();
        let mut lasts = directly.unwrap_or_default();
        let mut values = std::mem::take(&mut self.nodes[at].values);
        for &arm in &arms {
            lasts.append(&mut self.nodes[arm].lasts);
            values.append(&mut self.nodes[arm].values);
            self.nodes[arm].ends = Ends::Elsewhere;
        }
        let values = if few { self.value(group, &lasts, join.to, values) } else { Vec::new() };
        let node = &mut self.nodes[at];
        node.ends = Ends::Straight(join);
        node.lasts = lasts;
        node.values = values;
        node.rejoined = true;
        true
    }

    /// The blocks of a group's branches that go to `join` without anything in between; `None` for too many.
    fn directly(&mut self, group: GroupId, join: usize) -> Option<Vec<usize>> {
        let flow = self.flow;
        let deciders = &self.groups.get(group).deciders;
        let blocks = deciders.iter().filter(|decider| decider.bit.is_none()).map(|decider| decider.block);
        let few = deciders.len() <= MOST_DECIDERS;
        few.then(|| blocks.filter(|block| flow.successors(*block).contains(&join)).collect())
    }

    /// Finds the place in which each of the paths leaves a 0 or 1 that is used where they meet. The values of
    /// the sides become part of it, or end here.
    fn value(&mut self, group: GroupId, lasts: &[usize], join: usize, inner: Vec<Open>) -> Vec<Open> {
        let found = if lasts.len() > MOST_PATHS { None } else { self.common_place(lasts, join, &inner) };
        let Some(place) = found else { return Vec::new() };
        let mut whole = group;
        for open in inner.into_iter().filter(|open| open.places.contains(&place)) {
            whole = self.groups.join(whole, open.group);
        }
        let outcomes: Vec<Decider> = lasts
            .iter()
            .filter_map(|&block| self.flow.writer(block, place))
            .flat_map(|block| {
                let bits = self.flow.traces[block].end(place).map(|end| end.bits()).unwrap_or_default();
                bits.into_iter().map(move |bit| Decider { block, bit: Some(bit) })
            })
            .collect();
        let merged = self.groups.get(whole);
        for decider in outcomes {
            if !merged.deciders.contains(&decider) {
                merged.deciders.push(decider);
            }
        }
        merged.outcome = Some(Outcome::Value(join, place));
        vec![Open { group: whole, places: vec![place] }]
    }

    fn common_place(&self, lasts: &[usize], join: usize, inner: &[Open]) -> Option<Place> {
        let (first, rest) = lasts.split_first()?;
        let used = &self.flow.traces.get(join)?.values.reads;
        let left = |block: usize, place: Place| self.flow.traces[self.flow.writer(block, place)?].end(place);
        let leaves = |block: usize, place: Place| match left(block, place) {
            Some(Boolean::Copy { .. }) => inner.iter().any(|open| open.places.contains(&place)),
            Some(_) => true,
            None => false,
        };
        let written = self.flow.chain(*first).flat_map(|block| self.flow.traces[block].places());
        let places: BTreeSet<Place> = written.filter(|place| used.contains(place)).collect();
        places
            .into_iter()
            .find(|place| leaves(*first, *place) && rest.iter().all(|block| leaves(*block, *place)))
    }

    fn sequence(&mut self, at: usize) -> bool {
        let Ends::Straight(edge) = self.nodes[at].ends else { return false };
        let next = edge.to;
        let Some(origin) = self.flow.origin(at) else { return false };
        let fits = self.nodes[at].rejoined && next != at && self.is_only_way(edge);
        if !fits || !self.flow.is_within(next, origin) || self.flow.is_empty(next) {
            return false;
        }
        let values = std::mem::take(&mut self.nodes[at].values);
        let kept = self.hand_on(values, next);
        let inner = std::mem::replace(
            &mut self.nodes[next],
            Node {
                ends: Ends::Elsewhere,
                lasts: Vec::new(),
                group: None,
                values: Vec::new(),
                rejoined: false,
            },
        );
        let node = &mut self.nodes[at];
        node.ends = inner.ends;
        node.lasts = inner.lasts;
        node.group = inner.group;
        node.values = kept;
        node.values.extend(inner.values);
        // What ends in a fork again can be part of a condition; what goes elsewhere is at its end.
        node.rejoined = true;
        true
    }

    /// What becomes of values in the block where they meet: part of the branch that asks about them, another
    /// place, or an end.
    fn hand_on(&mut self, values: Vec<Open>, block: usize) -> Vec<Open> {
        let mut kept = Vec::new();
        let trace = &self.flow.traces[block];
        let asked = trace.branch_copies();
        for open in values {
            if let (Some((place, _)), Some(group)) = (asked, self.group_of[block])
                && open.places.contains(&place)
            {
                let outcome = self.groups.get(group).outcome.clone();
                let whole = self.groups.join(open.group, group);
                self.groups.get(whole).outcome = outcome;
                continue;
            }
            let places: Vec<Place> = open.places.iter().flat_map(|place| trace.hands_on(*place)).collect();
            if !places.is_empty() {
                kept.push(Open { group: open.group, places });
            }
        }
        kept
    }

    fn finish(mut self) -> Groups {
        for at in 0..self.nodes.len() {
            if let (Some(edges), Some(group)) = (self.fork(at), self.nodes[at].group) {
                self.groups.get(group).outcome = Some(Outcome::Exits(edges.map(|edge| edge.to)));
            }
        }
        self.groups
    }
}
