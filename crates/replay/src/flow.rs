//! The flow of control as a run sees it: from an address of the guest to the graph of its function and to what
//! follows from the graph, remembered for the next time.
//!
//! A pass over a run asks the same few thousand addresses millions of times. Graphs are made when they are first asked
//! for, with the transfers that were learned until then, and never change after that: what was answered
//! once stays true for the whole pass.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use program::{BlockId, Cfg, PostDominators, Program, Transfer};
use rustc_hash::FxHashMap;

use crate::events::{Ending, Shapes};
use crate::recording::Recording;

/// A cache over a program. See the module's documentation.
pub struct Flow<'p> {
    program: &'p Program,
    /// What was asked for, by address; a function is there under each address that was asked for in it.
    by_address: RefCell<FxHashMap<u64, Option<Rc<FunctionFlow>>>>,
    /// By the function's entry.
    functions: RefCell<FxHashMap<u64, Rc<FunctionFlow>>>,
    learned: RefCell<BTreeSet<Transfer>>,
}

/// One function's graph, frozen, with the answers that passes over a run need.
#[derive(Debug)]
pub struct FunctionFlow {
    cfg: Cfg,
    post_dominators: PostDominators,
    /// For each block, the addresses of the instructions that decide about it, sorted.
    controllers: Vec<Box<[u64]>>,
    is_cut: bool,
}

impl<'p> Flow<'p> {
    pub fn new(program: &'p Program) -> Flow<'p> {
        Flow {
            program,
            by_address: RefCell::default(),
            functions: RefCell::default(),
            learned: RefCell::default(),
        }
    }

    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The function that has the instruction at `address`; `None` for code of which there is no graph.
    pub fn function(&self, address: u64) -> Option<Rc<FunctionFlow>> {
        if let Some(known) = self.by_address.borrow().get(&address) {
            return known.clone();
        }
        let found = self.find(address);
        self.by_address.borrow_mut().insert(address, found.clone());
        found
    }

    /// Adds transfers that a run showed: where its indirect jumps went, and calls that returned. They complete the
    /// graphs of functions that nobody has asked for yet; those that were asked for stay as they are.
    pub fn learn(&self, transfers: &[Transfer]) {
        self.learned.borrow_mut().extend(transfers);
    }

    /// Adds where the indirect jumps of a recorded run went. That takes a traced run through all of it, and is worth
    /// it only for programs with jumps that the code alone does not tell enough about.
    pub fn learn_from(&self, recording: &mut Recording) {
        let mut shapes = Shapes::default();
        let mut seen = BTreeSet::new();
        let mut jump = None;
        recording.forward(recording.start()..recording.end(), |segment| {
            for pass in segment.trace.forward() {
                let shape = shapes.of(&pass);
                if let Some(from) = jump.take() {
                    seen.insert(Transfer { from, to: shape.start() });
                }
                if let Ending::Indirect { stack: false } = shape.ending {
                    jump = Some(shape.last());
                }
            }
            true
        });
        self.learned.borrow_mut().extend(seen);
    }

    fn find(&self, address: u64) -> Option<Rc<FunctionFlow>> {
        let graph = self.program.cfg(address)?;
        if let Some(known) = self.functions.borrow().get(&graph.start) {
            // An address that the graph lacks is none of this function, whatever symbols say.
            return known.block_at(address).map(|_| known.clone());
        }
        let function = Rc::new(FunctionFlow::new(self.completed(address, &graph)));
        self.functions.borrow_mut().insert(function.entry(), function.clone());
        function.block_at(address)?;
        Some(function)
    }

    /// The graph with what was learned about it. Most graphs need nothing.
    fn completed(&self, address: u64, graph: &Cfg) -> Cfg {
        let learned = self.learned.borrow();
        let lacks = |transfer: &&Transfer| !graph.has_transfer(**transfer);
        let is_complete = graph.is_complete()
            && graph
                .blocks
                .iter()
                .all(|block| within(&learned, block.start, block.end).find(lacks).is_none());
        if is_complete {
            return graph.clone();
        }
        let observed: Vec<Transfer> = learned.iter().copied().collect();
        let frozen = self.program.complete(address, &observed);
        frozen.map_or_else(|| graph.clone(), |frozen| Cfg::clone(&frozen))
    }
}

/// The transfers from instructions in a range.
fn within(learned: &BTreeSet<Transfer>, start: u64, end: u64) -> impl Iterator<Item = &Transfer> {
    learned.range(Transfer { from: start, to: 0 }..Transfer { from: end.max(start), to: 0 })
}

impl FunctionFlow {
    fn new(cfg: Cfg) -> FunctionFlow {
        let analysis = cfg.analyse();
        let ids = || (0..cfg.blocks.len() as u32).map(BlockId);
        let controllers = ids()
            .map(|id| {
                let deciding = analysis.control_dependence.controllers(id).iter();
                let mut addresses: Vec<u64> =
                    deciding.filter_map(|controller| Some(cfg.block(controller.block)?.last)).collect();
                addresses.sort_unstable();
                addresses.dedup();
                addresses.into_boxed_slice()
            })
            .collect();
        let is_cut = analysis.control_dependence.is_cut();
        FunctionFlow { cfg, post_dominators: analysis.post_dominators, controllers, is_cut }
    }

    /// The function's first instruction.
    pub fn entry(&self) -> u64 {
        self.cfg.start
    }

    pub fn cfg(&self) -> &Cfg {
        &self.cfg
    }

    /// The block that has the instruction at `address`.
    pub fn block_at(&self, address: u64) -> Option<BlockId> {
        self.cfg.block_at(address)
    }

    /// Where the ways from the branch or indirect jump that ends this instruction's block meet again: the first
    /// address of the immediate post-dominator; `None` if they only meet at the function's exit.
    pub fn reconvergence(&self, branch: u64) -> Option<u64> {
        let block = self.block_at(branch)?;
        Some(self.cfg.block(self.post_dominators.immediate(block)?)?.start)
    }

    /// Whether ways lead from a block to the instruction at an address.
    pub fn comes_back(&self, from: BlockId, address: u64) -> bool {
        self.block_at(address).is_some_and(|to| self.leads_back(from, to))
    }

    fn leads_back(&self, from: BlockId, to: BlockId) -> bool {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            if block == to {
                return true;
            }
            let next = self.cfg.block(block).map(|block| block.terminator.successors());
            open.extend(next.into_iter().flatten().filter(|next| seen.insert(*next)));
        }
        false
    }

    /// Whether all ways from one instruction to the end pass by the other, as far as the graph tells.
    pub fn leads_to(&self, from: u64, to: u64) -> bool {
        let blocks = self.block_at(from).zip(self.block_at(to));
        blocks.is_some_and(|(from, to)| self.post_dominators.post_dominates(to, from))
    }

    /// The branches and indirect jumps on which the execution of the instruction at `address` directly depends:
    /// addresses of instructions that end blocks, sorted.
    pub fn controllers(&self, address: u64) -> &[u64] {
        let of_block = self.block_at(address).and_then(|block| self.controllers.get(block.0 as usize));
        of_block.map_or(&[], |controllers| controllers)
    }

    /// The blocks whose execution directly depends on the branch or indirect jump at `address`, a bit each.
    pub fn controlled_by(&self, address: u64) -> Box<[u64]> {
        let mut set = vec![0; self.controllers.len().div_ceil(64)];
        for (block, controllers) in self.controllers.iter().enumerate() {
            set[block / 64] |= u64::from(controllers.binary_search(&address).is_ok()) << (block % 64);
        }
        set.into()
    }

    /// The graph is too large for its control dependences to be whole.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}
