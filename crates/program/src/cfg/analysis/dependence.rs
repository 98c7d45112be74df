//! Control dependence after Ferrante, Ottenstein and Warren.

use super::{Digraph, PostDominators};
use crate::cfg::graph::BlockId;

/// The relation can be quadratic in the size of the graph (a long straight stretch that every block before may
/// jump into the middle of). Beyond this size it is cut, and says so.
const MOST_PAIRS: usize = 1 << 22;

/// One side of a decision that something depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Controller {
    /// The block that decides.
    pub block: BlockId,
    /// Which of its successors it has to choose, by its place among them.
    pub successor: u32,
}

/// What decides whether a block is executed. A block depends on one side of a decision when taking this side
/// leads to it for certain, and another side may not.
#[derive(Clone, Debug)]
pub struct ControlDependence {
    controllers: Vec<Vec<Controller>>,
    is_cut: bool,
}

impl ControlDependence {
    pub fn new(graph: &Digraph, post_dominators: &PostDominators) -> ControlDependence {
        let mut controllers: Vec<Vec<Controller>> = vec![Vec::new(); graph.len()];
        let mut pairs = 0;
        for block in graph.nodes() {
            let end = post_dominators.immediate(block);
            for (successor, to) in (0..).zip(graph.successors(block)) {
                let mut at = Some(*to);
                while let Some(node) = at.filter(|node| Some(*node) != end) {
                    if pairs == MOST_PAIRS {
                        return ControlDependence { controllers, is_cut: true };
                    }
                    controllers[node.0 as usize].push(Controller { block, successor });
                    pairs += 1;
                    at = post_dominators.immediate(node);
                }
            }
        }
        ControlDependence { controllers, is_cut: false }
    }

    /// The decisions that the block depends on, sorted.
    pub fn controllers(&self, block: BlockId) -> &[Controller] {
        self.controllers.get(block.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The relation was too large, and is not whole.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}
