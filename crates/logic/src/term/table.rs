//! The index by which a node is found that exists already: open addressing over the numbers of nodes, so that each node is held once.

use super::Node;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// No node has this number.
const FREE: u32 = u32::MAX;

#[derive(Default)]
pub struct Table {
    /// A power of two of them, at most three quarters taken.
    places: Vec<u32>,
    taken: usize,
}

impl Table {
    /// The number of the node; in `Err` the number that it gets if it is new, which is how many there are.
    pub fn find_or_insert(&mut self, node: Node, nodes: &[Node]) -> Result<u32, u32> {
        if 4 * (self.taken + 1) > 3 * self.places.len() {
            self.grow(nodes);
        }
        let mask = self.places.len() - 1;
        let mut place = hash(node) & mask;
        loop {
            let number = self.places[place];
            if number == FREE {
                let new = u32::try_from(nodes.len()).ok().filter(|new| *new != FREE);
                let new = new.expect("fewer nodes than numbers, by the limit that callers keep");
                self.places[place] = new;
                self.taken += 1;
                return Err(new);
            }
            if nodes[number as usize] == node {
                return Ok(number);
            }
            place = (place + 1) & mask;
        }
    }

    fn grow(&mut self, nodes: &[Node]) {
        let size = (2 * self.places.len()).max(64);
        self.places = vec![FREE; size];
        for (number, node) in (0..).zip(nodes) {
            let mut place = hash(*node) & (size - 1);
            while self.places[place] != FREE {
                place = (place + 1) & (size - 1);
            }
            self.places[place] = number;
        }
    }
}

fn hash(node: Node) -> usize {
    let mut hasher = FxHasher::default();
    node.hash(&mut hasher);
    hasher.finish() as usize
}
