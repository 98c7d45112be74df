//! Graphs that were completed by what a run did, and do not change any more.

use std::ops::Deref;

use super::graph::{Cfg, Terminator};

/// Control went from one instruction to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transfer {
    /// Address of the instruction that control left. Of a call that returned, that of the call.
    pub from: u64,
    pub to: u64,
}

/// A graph to which the transfers of a run have been added. Nothing can be added any more, so what is computed from
/// it stays true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frozen {
    cfg: Cfg,
    added: Vec<Transfer>,
}

impl Frozen {
    pub(crate) fn new(before: &Cfg, cfg: Cfg, observed: &[Transfer]) -> Frozen {
        let is_new = |transfer: &&Transfer| !before.has_transfer(**transfer) && cfg.has_transfer(**transfer);
        let mut added: Vec<Transfer> = observed.iter().filter(is_new).copied().collect();
        added.sort();
        added.dedup();
        Frozen { cfg, added }
    }

    /// The transfers that the code alone did not tell, sorted.
    pub fn added(&self) -> &[Transfer] {
        &self.added
    }
}

impl Deref for Frozen {
    type Target = Cfg;

    fn deref(&self) -> &Cfg {
        &self.cfg
    }
}

impl Cfg {
    /// Whether control can go so within the function, or leave it so, as far as the graph knows.
    pub fn has_transfer(&self, Transfer { from, to }: Transfer) -> bool {
        let Some(block) = self.block_at(from).and_then(|id| self.block(id)) else { return false };
        if block.last != from {
            // Within a block, after a call.
            return block.start < to && to < block.end && from < to;
        }
        let mut successors = block.terminator.successors().filter_map(|id| self.block(id));
        let leaves = match block.terminator {
            Terminator::TailCall { target: Some(target) } => target == to,
            Terminator::TailCall { target: None } => self.block_at(to).is_none(),
            _ => false,
        };
        leaves || successors.any(|successor| successor.start == to)
    }
}
