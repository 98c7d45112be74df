//! Questions about whole expressions. None of them recurses: operands come before what is made of them.

use super::{Node, Term, Terms, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

impl Terms {
    /// All terms that these are made of, they themselves included, each once, operands first.
    pub fn cone(&self, roots: impl IntoIterator<Item = Term>) -> Vec<Term> {
        let mut found = FxHashSet::default();
        let mut pending: Vec<Term> = roots.into_iter().collect();
        while let Some(term) = pending.pop() {
            if found.insert(term) {
                pending.extend(self.node(term).children());
            }
        }
        let mut cone: Vec<Term> = found.into_iter().collect();
        cone.sort_unstable();
        cone
    }

    /// The unknowns that these terms depend on, in their order.
    pub fn variables(&self, roots: impl IntoIterator<Item = Term>) -> Vec<Variable> {
        let cone = self.cone(roots).into_iter();
        let mut found: Vec<Variable> = cone
            .filter_map(|term| match self.node(term) {
                Node::Variable(variable) => Some(variable),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        found
    }

    /// Whether a term depends on any unknown.
    pub fn is_constant(&self, term: Term) -> bool {
        matches!(self.node(term), Node::Constant(..))
    }

    /// How many distinct terms these are made of.
    pub fn size(&self, roots: impl IntoIterator<Item = Term>) -> usize {
        self.cone(roots).len()
    }

    /// The longest way from this term down to a constant or an unknown.
    pub fn depth(&self, root: Term) -> usize {
        let mut depths: FxHashMap<Term, usize> = FxHashMap::default();
        for term in self.cone([root]) {
            let below = self.node(term).children().map(|child| depths[&child] + 1).max();
            depths.insert(term, below.unwrap_or(0));
        }
        depths[&root]
    }
}

/// Terms put in place of others, in as many terms as are asked for.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    /// What becomes of a term; also of those that were met on the way.
    becomes: FxHashMap<Term, Term>,
}

impl Substitution {
    /// Before anything is asked for: `old`, which has the same sort, is to be `new`.
    pub fn replace(&mut self, old: Term, new: Term) {
        self.becomes.insert(old, new);
    }

    /// The term with everything replaced, and simplified anew. What was put in is not looked into.
    pub fn apply(&mut self, terms: &mut Terms, term: Term) -> Term {
        let mut pending = vec![term];
        while let Some(&top) = pending.last() {
            if self.becomes.contains_key(&top) {
                pending.pop();
                continue;
            }
            let node = terms.node(top);
            let waiting = pending.len();
            pending.extend(node.children().filter(|child| !self.becomes.contains_key(child)));
            if pending.len() == waiting {
                let new = node.map(|child| self.becomes[&child]);
                let new = if new == node { top } else { terms.build(new) };
                self.becomes.insert(top, new);
                pending.pop();
            }
        }
        self.becomes[&term]
    }
}
