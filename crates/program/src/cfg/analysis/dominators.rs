//! Dominators, by the algorithm of Lengauer and Tarjan with path compression: O(m log n), also for graphs that
//! were made to be slow.

use super::Digraph;
use crate::cfg::graph::BlockId;

/// Node `a` dominates `b` when every way from the entry to `b` passes through `a`.
#[derive(Clone, Debug)]
pub struct Dominators {
    tree: Tree,
}

impl Dominators {
    pub fn new(graph: &Digraph) -> Dominators {
        let successors = |node: u32| graph.successors(BlockId(node)).iter().map(|to| to.0);
        let predecessors = |node: u32| graph.predecessors(BlockId(node)).iter().map(|from| from.0);
        Dominators { tree: Tree::new(graph.len(), graph.entry().0, successors, predecessors) }
    }

    /// The nearest other dominator; `None` for the entry and for what cannot be reached from it.
    pub fn immediate(&self, node: BlockId) -> Option<BlockId> {
        self.tree.parent(node.0).map(BlockId)
    }

    /// Whether `a` dominates `b`; every node dominates itself.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.tree.is_ancestor(a.0, b.0)
    }

    /// Whether there is a way from the entry to this node.
    pub fn is_reachable(&self, node: BlockId) -> bool {
        self.tree.is_reachable(node.0)
    }
}

/// The tree of immediate dominators of one root.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    parents: Vec<u32>,
    /// When a walk over the tree enters and leaves each node, to tell ancestors at once; 0 is never.
    entered: Vec<u32>,
    left: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Tree {
    pub fn new<S, P>(
        count: usize,
        root: u32,
        successors: impl Fn(u32) -> S,
        predecessors: impl Fn(u32) -> P,
    ) -> Tree
    where
        S: Iterator<Item = u32>,
        P: Iterator<Item = u32>,
    {
        let mut parents = vec![NONE; count];
        if (root as usize) < count {
            Search::new(count, root, successors).dominators(predecessors, &mut parents);
        }
        Tree::from_parents(parents, root)
    }

    fn from_parents(parents: Vec<u32>, root: u32) -> Tree {
        let count = parents.len();
        let mut children = vec![Vec::new(); count];
        for (node, parent) in parents.iter().enumerate() {
            if *parent != NONE {
                children[*parent as usize].push(node as u32);
            }
        }
        let mut tree = Tree { parents, entered: vec![0; count], left: vec![0; count] };
        let mut clock = 0;
        let mut stack: Vec<(u32, usize)> = Vec::new();
        if (root as usize) < count {
            stack.push((root, 0));
        }
        while let Some((node, child)) = stack.last_mut() {
            let at = *node as usize;
            if *child == 0 {
                clock += 1;
                tree.entered[at] = clock;
            }
            if let Some(next) = children[at].get(*child) {
                *child += 1;
                stack.push((*next, 0));
            } else {
                tree.left[at] = clock;
                stack.pop();
            }
        }
        tree
    }

    pub fn parent(&self, node: u32) -> Option<u32> {
        self.parents.get(node as usize).copied().filter(|parent| *parent != NONE)
    }

    pub fn is_reachable(&self, node: u32) -> bool {
        self.entered.get(node as usize).is_some_and(|entered| *entered > 0)
    }

    pub fn is_ancestor(&self, ancestor: u32, node: u32) -> bool {
        let (Some(first), Some(last)) =
            (self.entered.get(ancestor as usize), self.left.get(ancestor as usize))
        else {
            return false;
        };
        *first > 0 && self.entered.get(node as usize).is_some_and(|entered| (first..=last).contains(&entered))
    }
}

/// The depth-first search that the algorithm stands on. Nodes are numbered in the order of their discovery;
/// all tables but `number` are by that number.
struct Search {
    number: Vec<u32>,
    node: Vec<u32>,
    parent: Vec<u32>,
    semi: Vec<u32>,
    ancestor: Vec<u32>,
    label: Vec<u32>,
}

impl Search {
    fn new<S: Iterator<Item = u32>>(count: usize, root: u32, successors: impl Fn(u32) -> S) -> Search {
        let mut number = vec![NONE; count];
        let (mut node, mut parent) = (vec![root], vec![NONE]);
        number[root as usize] = 0;
        let mut stack = vec![(0_u32, successors(root))];
        while let Some((from, edges)) = stack.last_mut() {
            let from = *from;
            let Some(to) = edges.next() else {
                stack.pop();
                continue;
            };
            if number[to as usize] == NONE {
                let new = node.len() as u32;
                number[to as usize] = new;
                node.push(to);
                parent.push(from);
                stack.push((new, successors(to)));
            }
        }
        let all: Vec<u32> = (0..node.len() as u32).collect();
        Search { number, ancestor: vec![NONE; node.len()], node, parent, semi: all.clone(), label: all }
    }

    fn dominators<P>(mut self, predecessors: impl Fn(u32) -> P, parents: &mut [u32])
    where
        P: Iterator<Item = u32>,
    {
        let count = self.node.len();
        let mut dominator = vec![0_u32; count];
        let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut path = Vec::new();
        for w in (1..count).rev() {
            for from in predecessors(self.node[w]) {
                let v = self.number[from as usize];
                if v != NONE {
                    let u = self.evaluate(v, &mut path);
                    self.semi[w] = self.semi[w].min(self.semi[u as usize]);
                }
            }
            buckets[self.semi[w] as usize].push(w as u32);
            let parent = self.parent[w];
            self.ancestor[w] = parent;
            for v in std::mem::take(&mut buckets[parent as usize]) {
                let u = self.evaluate(v, &mut path);
                dominator[v as usize] =
                    if self.semi[u as usize] < self.semi[v as usize] { u } else { parent };
            }
        }
        for w in 1..count {
            if dominator[w] != self.semi[w] {
                dominator[w] = dominator[dominator[w] as usize];
            }
            parents[self.node[w] as usize] = self.node[dominator[w] as usize];
        }
    }

    /// The node with the least semidominator on the way up the forest, which is compressed.
    fn evaluate(&mut self, v: u32, path: &mut Vec<u32>) -> u32 {
        if self.ancestor[v as usize] == NONE {
            return v;
        }
        path.clear();
        let mut at = v;
        while self.ancestor[self.ancestor[at as usize] as usize] != NONE {
            path.push(at);
            at = self.ancestor[at as usize];
        }
        for low in path.drain(..).rev() {
            let high = self.ancestor[low as usize];
            let (mine, above) = (self.label[low as usize], self.label[high as usize]);
            if self.semi[above as usize] < self.semi[mine as usize] {
                self.label[low as usize] = above;
            }
            self.ancestor[low as usize] = self.ancestor[high as usize];
        }
        self.label[v as usize]
    }
}
