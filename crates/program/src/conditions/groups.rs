//! Sets of deciding instructions that grow together while the graph is reduced.

use super::expression::Place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupId(usize);

/// An instruction that decides: the branch at the end of a block, or one of its other outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decider {
    pub block: usize,
    /// By its place in the trace's list; `None` for the branch.
    pub bit: Option<usize>,
}

/// What became of a group in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The blocks that control goes to.
    Exits([usize; 2]),
    /// The block where the paths meet, and the place that holds 1 or 0 there.
    Value(usize, Place),
}

pub(super) struct Group {
    /// Where its evaluation begins.
    pub entry: usize,
    pub deciders: Vec<Decider>,
    pub outcome: Option<Outcome>,
}

#[derive(Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    /// The group that a group has become part of.
    parents: Vec<usize>,
}

impl Groups {
    pub fn add(&mut self, entry: usize, deciders: Vec<Decider>) -> GroupId {
        self.groups.push(Group { entry, deciders, outcome: None });
        self.parents.push(self.groups.len() - 1);
        GroupId(self.groups.len() - 1)
    }

    fn find(&mut self, GroupId(mut at): GroupId) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    pub fn get(&mut self, id: GroupId) -> &mut Group {
        let at = self.find(id);
        &mut self.groups[at]
    }

    /// Puts two groups together, of which `first` is evaluated first.
    pub fn join(&mut self, first: GroupId, second: GroupId) -> GroupId {
        let (a, b) = (self.find(first), self.find(second));
        if a == b {
            return GroupId(a);
        }
        let entry = self.groups[a].entry;
        // The smaller one moves, so that a long chain is not copied again and again.
        let (kept, moved) =
            if self.groups[a].deciders.len() < self.groups[b].deciders.len() { (b, a) } else { (a, b) };
        let deciders = std::mem::take(&mut self.groups[moved].deciders);
        self.groups[kept].deciders.extend(deciders);
        self.groups[kept].entry = entry;
        self.parents[moved] = kept;
        GroupId(kept)
    }

    /// The groups that are part of no other.
    pub fn finished(self) -> impl Iterator<Item = Group> {
        self.groups
            .into_iter()
            .zip(self.parents)
            .enumerate()
            .filter(|(at, (_, parent))| at == parent)
            .map(|(_, (group, _))| group)
    }
}
