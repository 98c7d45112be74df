//! Natural loops and how they nest.

use super::{Digraph, Dominators};
use crate::cfg::graph::BlockId;

/// A natural loop: its header dominates all of it, and is where it is entered. Back edges to one header make
/// one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    pub header: BlockId,
    /// Where the back edges come from, in order.
    pub latches: Vec<BlockId>,
    /// The loop around this one, by its place in [`Loops::all`].
    pub parent: Option<u32>,
    /// 1 for a loop that is in no other.
    pub depth: u32,
}

#[derive(Clone, Debug)]
pub struct Loops {
    all: Vec<Loop>,
    innermost: Vec<Option<u32>>,
    irreducible: Vec<(BlockId, BlockId)>,
    /// While loops are collected: for each a loop around it, as far out as was found last.
    shortcuts: Vec<u32>,
}

impl Loops {
    pub fn new(graph: &Digraph, dominators: &Dominators) -> Loops {
        let search = Search::new(graph);
        let mut latches: Vec<Vec<BlockId>> = vec![Vec::new(); graph.len()];
        let mut irreducible = Vec::new();
        for (from, to) in &search.retreating {
            if dominators.dominates(*to, *from) {
                latches[to.0 as usize].push(*from);
            } else {
                irreducible.push((*from, *to));
            }
        }
        irreducible.sort();
        irreducible.dedup();
        let (all, innermost, shortcuts) = (Vec::new(), vec![None; graph.len()], Vec::new());
        let mut found = Loops { all, innermost, irreducible, shortcuts };
        // A header that dominates another is left later by the search, so inner loops come first.
        for header in search.finished {
            let mut latches = std::mem::take(&mut latches[header.0 as usize]);
            if !latches.is_empty() {
                latches.sort();
                latches.dedup();
                found.collect(graph, dominators, header, latches);
            }
        }
        found.order();
        found.shortcuts = Vec::new();
        found
    }

    /// Outer before inner, then by header.
    pub fn all(&self) -> &[Loop] {
        &self.all
    }

    /// The innermost loop around a block.
    pub fn innermost(&self, block: BlockId) -> Option<u32> {
        self.innermost.get(block.0 as usize).copied().flatten()
    }

    /// Whether the block is in this loop.
    pub fn contains(&self, index: u32, block: BlockId) -> bool {
        let mut at = self.innermost(block);
        while let Some(inner) = at {
            if inner == index {
                return true;
            }
            at = self.all.get(inner as usize).and_then(|inner| inner.parent);
        }
        false
    }

    /// Edges that go back to a block that does not dominate where they come from: ways around in loops with
    /// several entries, which are no natural loops.
    pub fn irreducible(&self) -> &[(BlockId, BlockId)] {
        &self.irreducible
    }

    /// Whether the edge goes back to the header of a loop around it.
    pub fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        let of_header = self.innermost(to).and_then(|index| self.all.get(index as usize));
        of_header.is_some_and(|found| found.header == to && found.latches.binary_search(&from).is_ok())
    }

    /// Walks back from the latches to the header. A loop that is met on the way is stepped over by its header.
    fn collect(&mut self, graph: &Digraph, dominators: &Dominators, header: BlockId, latches: Vec<BlockId>) {
        let index = self.all.len() as u32;
        let mut pending = latches.clone();
        self.all.push(Loop { header, latches, parent: None, depth: 0 });
        self.shortcuts.push(index);
        while let Some(node) = pending.pop() {
            if !dominators.is_reachable(node) {
                continue;
            }
            let Some(inner) = self.innermost[node.0 as usize] else {
                self.innermost[node.0 as usize] = Some(index);
                if node != header {
                    pending.extend(graph.predecessors(node));
                }
                continue;
            };
            let outermost = self.outermost(inner);
            if outermost != index {
                self.all[outermost as usize].parent = Some(index);
                self.shortcuts[outermost as usize] = index;
                pending.extend(graph.predecessors(self.all[outermost as usize].header));
            }
        }
        // A loop in which the header is its own latch, or whose header is a block of no inner loop.
        self.innermost[header.0 as usize] = Some(index);
    }

    /// The outermost loop so far around a loop. The way there is shortened for the next time.
    fn outermost(&mut self, mut index: u32) -> u32 {
        while self.shortcuts[index as usize] != index {
            let next = self.shortcuts[index as usize];
            self.shortcuts[index as usize] = self.shortcuts[next as usize];
            index = next;
        }
        index
    }

    /// Outer loops were found after inner ones; sorts them, and counts depths.
    fn order(&mut self) {
        for index in (0..self.all.len()).rev() {
            // Parents come later in the list, so they are done.
            let above = self.all[index].parent.map_or(0, |parent| self.all[parent as usize].depth);
            self.all[index].depth = above + 1;
        }
        let mut order: Vec<u32> = (0..self.all.len() as u32).collect();
        order.sort_by_key(|index| (self.all[*index as usize].depth, self.all[*index as usize].header));
        let mut place = vec![0; order.len()];
        for (new, old) in (0..).zip(&order) {
            place[*old as usize] = new;
        }
        let sorted = order.iter().map(|old| {
            let one = self.all[*old as usize].clone();
            Loop { parent: one.parent.map(|parent| place[parent as usize]), ..one }
        });
        self.all = sorted.collect();
        self.innermost.iter_mut().flatten().for_each(|index| *index = place[*index as usize]);
    }
}

/// A depth-first search: the edges that go back on its own path, and the nodes in the order in which it leaves
/// them.
struct Search {
    retreating: Vec<(BlockId, BlockId)>,
    finished: Vec<BlockId>,
}

impl Search {
    fn new(graph: &Digraph) -> Search {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut found = Search { retreating: Vec::new(), finished: Vec::new() };
        let mut state = vec![State::New; graph.len()];
        let mut stack = Vec::new();
        if (graph.entry().0 as usize) < graph.len() {
            state[graph.entry().0 as usize] = State::Open;
            stack.push((graph.entry(), 0));
        }
        while let Some((node, edge)) = stack.last_mut() {
            let (from, index) = (*node, *edge);
            *edge += 1;
            let Some(to) = graph.successors(from).get(index).copied() else {
                state[from.0 as usize] = State::Done;
                found.finished.push(from);
                stack.pop();
                continue;
            };
            match state[to.0 as usize] {
                State::New => {
                    state[to.0 as usize] = State::Open;
                    stack.push((to, 0));
                }
                State::Open => found.retreating.push((from, to)),
                State::Done => {}
            }
        }
        found
    }
}
