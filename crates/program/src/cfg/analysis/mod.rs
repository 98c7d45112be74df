//! What follows from the shape of a graph alone: dominators, post-dominators, control dependence and loops.
//! These work on any graph, not only on that of a function. None of them recurses, and none takes time that is
//! quadratic in the size of the graph.

mod dependence;
mod digraph;
mod dominators;
mod loops;
mod post_dominators;

pub use dependence::{ControlDependence, Controller};
pub use digraph::Digraph;
pub use dominators::Dominators;
pub use loops::{Loop, Loops};
pub use post_dominators::PostDominators;

use super::graph::{Cfg, Terminator};

/// All analyses of one function's graph.
#[derive(Clone, Debug)]
pub struct Analysis {
    pub dominators: Dominators,
    pub post_dominators: PostDominators,
    pub control_dependence: ControlDependence,
    pub loops: Loops,
}

impl Analysis {
    pub fn new(graph: &Digraph) -> Analysis {
        let dominators = Dominators::new(graph);
        let post_dominators = PostDominators::new(graph);
        let control_dependence = ControlDependence::new(graph, &post_dominators);
        let loops = Loops::new(graph, &dominators);
        Analysis { dominators, post_dominators, control_dependence, loops }
    }
}

impl Cfg {
    /// Blocks and edges alone. The edges of a block are in the order of its [`Terminator::successors`].
    pub fn digraph(&self) -> Digraph {
        let edges = self.blocks.iter().map(|block| block.terminator.successors().collect()).collect();
        let mut graph = Digraph::new(self.entry, edges);
        for (index, block) in self.blocks.iter().enumerate() {
            // Where an indirect jump has holes, it can also leave.
            let is_hole = self.holes.binary_search_by_key(&block.last, |hole| hole.address).is_ok();
            if is_hole && matches!(block.terminator, Terminator::Switch { .. }) {
                graph.add_exit(super::BlockId(index as u32));
            }
        }
        graph
    }

    pub fn analyse(&self) -> Analysis {
        Analysis::new(&self.digraph())
    }
}
