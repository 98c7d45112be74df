//! The graph as grouping sees it: blocks that only jump are left out.

use crate::cfg::{BlockId, Cfg, Terminator};

use super::comparison::{Numbers, Relation};
use super::expression::Place;
use super::trace::{FlagSource, Trace, trace};
use super::units::{Origin, Origins, Units};

/// How far back a value is looked for that is set before the last branch: by clang, before the two of a float
/// comparison.
const LONGEST_CHAIN: usize = 8;

pub(super) struct Flow<'a> {
    pub cfg: &'a Cfg,
    pub traces: Vec<Trace>,
    pub units: &'a Units,
    /// For each block the first one from there on that does something.
    landing: Vec<usize>,
    /// Blocks in an order in which the only predecessor of a block comes before it.
    pub order: Vec<usize>,
    /// The predecessor of each block that has no other.
    before: Vec<Option<usize>>,
    /// How many edges between blocks that do something lead to a block.
    pub incoming: Vec<u32>,
}

impl<'a> Flow<'a> {
    pub fn new<'c>(cfg: &'a Cfg, units: &'a Units, code: impl Fn(u64) -> Option<&'c [u8]>) -> Flow<'a> {
        let order = discovery(cfg);
        let predecessors = only_predecessors(cfg);
        let mut traces: Vec<Option<Trace>> = cfg.blocks.iter().map(|_| None).collect();
        for &at in &order {
            let Some(block) = cfg.blocks.get(at) else { continue };
            let size = usize::try_from(block.end.saturating_sub(block.start)).unwrap_or(0);
            let bytes = code(block.start).map(|bytes| bytes.get(..size).unwrap_or(bytes)).unwrap_or(&[]);
            let before = predecessors.get(at).copied().flatten();
            let flags = before.and_then(|before| traces.get(before)?.as_ref()?.flags.clone());
            traces[at] = Some(trace(bytes, block.start, flags));
        }
        let traces: Vec<Trace> = traces
            .into_iter()
            .map(|found| found.unwrap_or_else(|| trace(&[], 0, None::<FlagSource>)))
            .collect();
        let landing = landings(cfg, &traces);
        let mut flow = Flow {
            cfg,
            traces,
            units,
            landing,
            order,
            before: predecessors,
            incoming: vec![0; cfg.blocks.len()],
        };
        for at in 0..cfg.blocks.len() {
            for to in if flow.is_empty(at) { Vec::new() } else { flow.successors(at) } {
                if let Some(count) = flow.incoming.get_mut(to) {
                    *count += 1;
                }
            }
        }
        // The function's callers lead to its entry, too.
        let entry = flow.land(cfg.entry.0 as usize);
        if let Some(count) = flow.incoming.get_mut(entry) {
            *count += 1;
        }
        flow
    }

    pub fn id(at: usize) -> BlockId {
        BlockId(at as u32)
    }

    pub fn is_empty(&self, at: usize) -> bool {
        self.landing.get(at) != Some(&at)
    }

    pub fn land(&self, at: usize) -> usize {
        self.landing.get(at).copied().unwrap_or(at)
    }

    /// Taken first, for a branch.
    pub fn raw_successors(&self, at: usize) -> Vec<usize> {
        let terminator = self.cfg.blocks.get(at).map(|block| &block.terminator);
        terminator.into_iter().flat_map(Terminator::successors).map(|id| id.0 as usize).collect()
    }

    pub fn successors(&self, at: usize) -> Vec<usize> {
        self.raw_successors(at).into_iter().map(|to| self.land(to)).collect()
    }

    /// A block and those before it that always come first, the nearest first, to a bound.
    pub fn chain(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let before = |at: &usize| self.before.get(*at).copied().flatten();
        std::iter::successors(Some(at), before).take(LONGEST_CHAIN)
    }

    /// The block from which `at` has what it leaves in a place: itself, or one that always comes before.
    pub fn writer(&self, at: usize, place: Place) -> Option<usize> {
        self.chain(at)
            .find(|at| self.traces.get(*at).is_some_and(|trace| trace.values.at_end(place).is_some()))
    }

    pub fn is_branch(&self, at: usize) -> bool {
        matches!(self.cfg.blocks.get(at).map(|block| &block.terminator), Some(Terminator::Branch { .. }))
    }

    /// Successors first, where there are no loops.
    pub fn post_order(&self) -> Vec<usize> {
        let mut seen = vec![false; self.cfg.blocks.len()];
        let mut order = Vec::with_capacity(self.cfg.blocks.len());
        for &root in &self.order {
            let mut open = vec![(root, false)];
            while let Some((at, done)) = open.pop() {
                if done {
                    order.push(at);
                    continue;
                }
                let Some(mark @ false) = seen.get_mut(at) else { continue };
                *mark = true;
                open.push((at, true));
                open.extend(self.successors(at).into_iter().map(|to| (to, false)));
            }
        }
        order
    }

    /// The expression that the last instruction belongs to.
    pub fn origin(&self, at: usize) -> Option<Origin> {
        self.units.origin_at(self.cfg.blocks.get(at)?.last)
    }

    /// Whether all code of a block can belong to an expression.
    pub fn is_within(&self, at: usize, origin: Origin) -> bool {
        let Some(block) = self.cfg.blocks.get(at) else { return false };
        match self.units.origins(block.start, block.end) {
            Origins::Nowhere => true,
            Origins::One(found) => found == origin,
            Origins::Several => false,
        }
    }

    /// Whether the branch of `next` belongs to the same condition as that of `at`, and all of its block.
    pub fn is_continued(&self, at: usize, next: usize) -> bool {
        self.is_float_pair(at, next)
            || self
                .origin(at)
                .is_some_and(|origin| self.origin(next) == Some(origin) && self.is_within(next, origin))
    }

    /// Two branches that ask one comparison of floats: once whether there is a NaN.
    fn is_float_pair(&self, at: usize, next: usize) -> bool {
        let comparison = |at: usize| {
            let bit = self.traces.get(at)?.bits.last()?;
            bit.comparison.as_ref().filter(|comparison| comparison.numbers == Numbers::Float)
        };
        let (Some(a), Some(b)) = (comparison(at), comparison(next)) else { return false };
        let unordered = |relation| matches!(relation, Relation::Unordered | Relation::Ordered);
        a.left.same_place(&b.left)
            && a.right.same_place(&b.right)
            && (unordered(a.relation) != unordered(b.relation))
    }
}

/// All blocks: those that are reached first, depth first.
fn discovery(cfg: &Cfg) -> Vec<usize> {
    let mut seen = vec![false; cfg.blocks.len()];
    let mut order = Vec::with_capacity(cfg.blocks.len());
    let roots = [cfg.entry.0 as usize].into_iter().chain(0..cfg.blocks.len());
    for root in roots {
        let mut open = vec![root];
        while let Some(at) = open.pop() {
            let Some(mark @ false) = seen.get_mut(at) else { continue };
            *mark = true;
            order.push(at);
            let successors = cfg.blocks.get(at).map(|block| &block.terminator);
            open.extend(successors.into_iter().flat_map(Terminator::successors).map(|id| id.0 as usize));
        }
    }
    order
}

/// The predecessor of each block that has one only.
fn only_predecessors(cfg: &Cfg) -> Vec<Option<usize>> {
    let mut counts = vec![0u32; cfg.blocks.len()];
    let mut last = vec![None; cfg.blocks.len()];
    for (at, block) in cfg.blocks.iter().enumerate() {
        for to in block.terminator.successors() {
            if let (Some(count), Some(last)) = (counts.get_mut(to.0 as usize), last.get_mut(to.0 as usize)) {
                *count += 1;
                *last = Some(at);
            }
        }
    }
    let entry = cfg.entry.0 as usize;
    let only =
        |(at, last): (usize, Option<usize>)| last.filter(|_| counts.get(at) == Some(&1) && at != entry);
    last.into_iter().enumerate().map(only).collect()
}

/// Follows blocks that only jump. An endless loop of them stays where it is.
fn landings(cfg: &Cfg, traces: &[Trace]) -> Vec<usize> {
    let next = |at: usize| match cfg.blocks.get(at).map(|block| &block.terminator) {
        Some(Terminator::Next(next)) if traces.get(at).is_some_and(|trace| trace.empty) => {
            Some(next.0 as usize)
        }
        _ => None,
    };
    let mut landing: Vec<Option<usize>> = vec![None; cfg.blocks.len()];
    for start in 0..cfg.blocks.len() {
        let mut path = Vec::new();
        let mut at = start;
        let end = loop {
            match landing.get(at) {
                Some(Some(known)) => break *known,
                None => break at,
                Some(None) => {}
            }
            // Marked while the path is followed: who comes back here goes round in circles.
            landing[at] = Some(at);
            path.push(at);
            match next(at) {
                Some(to) => at = to,
                None => break at,
            }
        };
        for passed in path {
            landing[passed] = Some(end);
        }
    }
    landing.into_iter().enumerate().map(|(at, found)| found.unwrap_or(at)).collect()
}
