//! The index by which a node is found that exists already: open addressing over the numbers of nodes, so that each node is held once.

use super::Node;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// No node has this number.
const FREE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Place {
    /// Of the node: most others are told apart without looking at them.
    hash: u32,
    number: u32,
}

#[derive(Default)]
pub struct Table {
    /// A power of two of them, at most half of them taken.
    places: Vec<Place>,
    taken: usize,
}

impl Table {
    /// The number of the node; in `Err` the number that it gets if it is new, which is how many there are.
    pub fn find_or_insert(&mut self, node: Node, nodes: &[Node]) -> Result<u32, u32> {
        if 2 * (self.taken + 1) > self.places.len() {
            self.grow();
        }
        let hash = hash(node);
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let place = self.places[at];
            if place.number == FREE {
                let new = u32::try_from(nodes.len()).ok().filter(|new| *new != FREE);
                let new = new.expect("fewer nodes than numbers, by the limit that callers keep");
                self.places[at] = Place { hash, number: new };
                self.taken += 1;
                return Err(new);
            }
            if place.hash == hash && nodes[place.number as usize] == node {
                return Ok(place.number);
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = (2 * self.places.len()).max(64);
        let old = std::mem::replace(&mut self.places, vec![Place { hash: 0, number: FREE }; size]);
        for place in old.into_iter().filter(|place| place.number != FREE) {
            let mut at = place.hash as usize & (size - 1);
            while self.places[at].number != FREE {
                at = (at + 1) & (size - 1);
            }
            self.places[at] = place;
        }
    }
}

fn hash(node: Node) -> u32 {
    let mut hasher = FxHasher::default();
    node.hash(&mut hasher);
    let hash = hasher.finish();
    (hash ^ hash >> 32) as u32
}
