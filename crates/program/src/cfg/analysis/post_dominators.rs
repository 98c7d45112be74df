//! Post-dominators: the dominators of the reversed graph, from a virtual exit.

use super::Digraph;
use super::dominators::Tree;
use crate::cfg::graph::BlockId;

/// Node `a` post-dominates `b` when every way from `b` to the end passes through `a`. What can never end, a loop
/// without a way out, is taken to end in its last node (the one with the greatest number).
#[derive(Clone, Debug)]
pub struct PostDominators {
    tree: Tree,
    exit: u32,
    endless: Vec<BlockId>,
}

impl PostDominators {
    pub fn new(graph: &Digraph) -> PostDominators {
        let exit = graph.len() as u32;
        let endless = endless(graph);
        let mut ends: Vec<bool> = graph.nodes().map(|node| graph.is_exit(node)).collect();
        for node in &endless {
            ends[node.0 as usize] = true;
        }
        let exits: Vec<u32> = (0..exit).filter(|node| ends[*node as usize]).collect();
        // In the reversed graph, the exit's successors are the nodes that end.
        let backward = |node: u32| {
            let from = graph.predecessors(BlockId(node)).iter().map(|from| from.0);
            from.chain(if node == exit { exits.as_slice() } else { &[] }.iter().copied())
        };
        let forward = |node: u32| {
            let to = graph.successors(BlockId(node)).iter().map(|to| to.0);
            to.chain(ends.get(node as usize).is_some_and(|ends| *ends).then_some(exit))
        };
        let tree = Tree::new(graph.len() + 1, exit, backward, forward);
        PostDominators { tree, exit, endless }
    }

    /// The nearest other post-dominator; `None` when that is the end.
    pub fn immediate(&self, node: BlockId) -> Option<BlockId> {
        self.tree.parent(node.0).filter(|parent| *parent != self.exit).map(BlockId)
    }

    /// Whether `a` post-dominates `b`; every node post-dominates itself.
    pub fn post_dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.tree.is_ancestor(a.0, b.0)
    }

    /// The nodes at which a loop without a way out is taken to end, in order.
    pub fn endless(&self) -> &[BlockId] {
        &self.endless
    }
}

/// The last node of each strongly connected component that nothing leaves.
fn endless(graph: &Digraph) -> Vec<BlockId> {
    let component = components(graph);
    let count = component.iter().max().map_or(0, |last| *last as usize + 1);
    let mut is_left = vec![false; count];
    let mut last = vec![BlockId(0); count];
    for node in graph.nodes() {
        let mine = component[node.0 as usize];
        let leaves = graph.successors(node).iter().any(|to| component[to.0 as usize] != mine);
        is_left[mine as usize] |= leaves || graph.is_exit(node);
        last[mine as usize] = last[mine as usize].max(node);
    }
    let mut found: Vec<BlockId> =
        last.into_iter().zip(is_left).filter(|(_, is_left)| !is_left).map(|(node, _)| node).collect();
    found.sort();
    found
}

/// The number of each node's strongly connected component, by Tarjan's algorithm.
fn components(graph: &Digraph) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let count = graph.len();
    let (mut order, mut low, mut component) = (vec![NEW; count], vec![0_u32; count], vec![NEW; count]);
    let (mut clock, mut components) = (0, 0);
    let mut open: Vec<u32> = Vec::new();
    let mut stack: Vec<(u32, usize)> = Vec::new();
    for root in graph.nodes() {
        if order[root.0 as usize] == NEW {
            stack.push((root.0, 0));
        }
        while let Some((node, edge)) = stack.last_mut() {
            let (at, index) = (*node as usize, *edge);
            *edge += 1;
            if index == 0 {
                (order[at], low[at]) = (clock, clock);
                clock += 1;
                open.push(at as u32);
            }
            if let Some(to) = graph.successors(BlockId(at as u32)).get(index) {
                let to = to.0 as usize;
                if order[to] == NEW {
                    stack.push((to as u32, 0));
                } else if component[to] == NEW {
                    low[at] = low[at].min(order[to]);
                }
                continue;
            }
            stack.pop();
            if let Some((parent, _)) = stack.last() {
                let parent = *parent as usize;
                low[parent] = low[parent].min(low[at]);
            }
            if low[at] == order[at] {
                while let Some(member) = open.pop() {
                    component[member as usize] = components;
                    if member as usize == at {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    component
}
