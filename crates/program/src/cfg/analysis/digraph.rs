//! Nodes and edges.

use crate::cfg::graph::BlockId;

/// A directed graph with an entry. A node without successors is an exit; others can be made one.
#[derive(Clone, Debug)]
pub struct Digraph {
    entry: BlockId,
    successors: Vec<Vec<BlockId>>,
    predecessors: Vec<Vec<BlockId>>,
    is_exit: Vec<bool>,
}

impl Digraph {
    /// From the successors of each node. Edges to nodes that do not exist are left out.
    pub fn new(entry: BlockId, mut successors: Vec<Vec<BlockId>>) -> Digraph {
        let count = successors.len();
        let mut predecessors = vec![Vec::new(); count];
        for (from, edges) in successors.iter_mut().enumerate() {
            edges.retain(|to| (to.0 as usize) < count);
            for to in edges.iter() {
                predecessors[to.0 as usize].push(BlockId(from as u32));
            }
        }
        let is_exit = successors.iter().map(Vec::is_empty).collect();
        Digraph { entry, successors, predecessors, is_exit }
    }

    /// Control can end at this node although it has successors.
    pub fn add_exit(&mut self, node: BlockId) {
        if let Some(is_exit) = self.is_exit.get_mut(node.0 as usize) {
            *is_exit = true;
        }
    }

    pub fn entry(&self) -> BlockId {
        self.entry
    }

    pub fn len(&self) -> usize {
        self.successors.len()
    }

    pub fn is_empty(&self) -> bool {
        self.successors.is_empty()
    }

    pub fn nodes(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.len() as u32).map(BlockId)
    }

    pub fn successors(&self, node: BlockId) -> &[BlockId] {
        self.successors.get(node.0 as usize).map_or(&[], Vec::as_slice)
    }

    pub fn predecessors(&self, node: BlockId) -> &[BlockId] {
        self.predecessors.get(node.0 as usize).map_or(&[], Vec::as_slice)
    }

    pub fn is_exit(&self, node: BlockId) -> bool {
        self.is_exit.get(node.0 as usize).copied().unwrap_or(false)
    }
}
