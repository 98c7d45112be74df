//! Activations, followed forwards: their open regions and their statement instances.
//!
//! A region is open from a branch to where its ways meet again. What runs is there because of the innermost open region's
//! branch, or of the call if none is open.

use std::rc::Rc;

use machine::Time;
use program::BlockId;
use replay::{FunctionFlow, StmtId};

/// What is known about an instruction that ran, without having run it.
#[derive(Clone, Copy)]
pub struct Fact {
    pub address: u64,
    pub stmt: StmtId,
    pub block: Option<BlockId>,
    pub function: u32,
    pub is_transit: bool,
}

#[derive(Clone)]
pub struct Function {
    pub flow: Option<Rc<FunctionFlow>>,
    pub in_scope: bool,
    pub has_frame_pointer: bool,
    pub is_output: bool,
    pub pads: bool,
    pub allocator: Option<usize>,
}

pub struct Activation {
    pub slot: Option<u64>,
    pub function: u32,
    pub in_scope: bool,
    only_calls_matter: bool,
    /// The node of the call.
    entry: Option<u32>,
    pub allocation: Option<u32>,
    /// Branches with the address where each region ends, if that is in the function.
    regions: Vec<(u32, Option<u64>)>,
    current: Option<u32>,
    /// Of code of no statement, which goes with what comes after it.
    unnamed: Option<u32>,
    last: u64,
    went_back: bool,
}

/// A maximal stretch of one statement in one activation.
#[derive(Clone, Copy)]
pub struct Instance {
    pub stmt: StmtId,
    /// When it was last there, and how deep.
    end: Time,
    depth: usize,
    /// It turned out to be a part of another.
    part_of: Option<u32>,
    /// Later ones have smaller numbers.
    pub number: u32,
}

pub struct Activations {
    pub stack: Vec<Activation>,
    pub instances: Vec<Instance>,
}

/// Code that no statement follows on in its activation.
const NAMELESS: u32 = 0;

impl Activations {
    pub fn new() -> Activations {
        let mut new = Activations { stack: Vec::new(), instances: Vec::new() };
        new.instance(StmtId::NONE);
        new
    }

    fn instance(&mut self, stmt: StmtId) -> u32 {
        let depth = self.stack.len();
        self.instances.push(Instance { stmt, end: Time(0), depth, part_of: None, number: 0 });
        self.instances.len() as u32 - 1
    }

    pub fn push(&mut self, slot: Option<u64>, id: u32, function: &Function, entry: Option<u32>) {
        let inherited = self.stack.last().is_some_and(|caller| caller.only_calls_matter);
        self.stack.push(Activation {
            slot,
            function: id,
            in_scope: function.in_scope,
            only_calls_matter: !function.in_scope && (inherited || function.is_output),
            entry,
            allocation: None,
            regions: Vec::new(),
            current: None,
            unnamed: None,
            last: 0,
            went_back: false,
        });
    }

    pub fn pop(&mut self) -> Option<Activation> {
        let popped = self.stack.pop()?;
        if let Some(unnamed) = popped.unnamed {
            self.instances[unnamed as usize].part_of = Some(NAMELESS);
        }
        Some(popped)
    }

    /// An instruction of the innermost activation is about to run; says what it ran because of.
    pub fn arrive(&mut self, fact: &Fact) -> Option<u32> {
        let top = self.stack.last_mut()?;
        if let Some(ended) = top.regions.iter().rposition(|region| region.1 == Some(fact.address)) {
            let mut first = ended;
            while first > 0 && top.regions[first - 1].1 == Some(fact.address) {
                first -= 1;
            }
            top.regions.truncate(first);
        }
        let open = top.regions.last().map(|region| region.0);
        let by_branch = open.filter(|_| fact.block.is_some() && !top.only_calls_matter);
        by_branch.or(top.entry)
    }

    /// Its statement instance.
    pub fn visit(&mut self, fact: &Fact, time: Time) -> Option<u32> {
        if self.stack.last()?.in_scope {
            let found = self.visit_in_scope(fact)?;
            self.touch(found, time);
            return Some(found);
        }
        let around = self.stack.iter().rev().find(|activation| activation.in_scope)?;
        around.unnamed.or(around.current)
    }

    /// The statement instance of an instruction that faults. That it may be executed afterwards is not to go back.
    pub fn visit_tried(&mut self, fact: &Fact, time: Time) -> Option<u32> {
        let last = self.stack.last()?.last;
        let found = self.visit(fact, time);
        self.stack.last_mut()?.last = last;
        found
    }

    fn visit_in_scope(&mut self, fact: &Fact) -> Option<u32> {
        let top = self.stack.last_mut()?;
        top.went_back |= fact.address <= top.last;
        top.last = fact.address;
        if fact.stmt == StmtId::NONE {
            if top.unnamed.is_none() {
                let new = self.instance(StmtId::NONE);
                self.stack.last_mut()?.unnamed = Some(new);
            }
            return self.stack.last()?.unnamed;
        }
        let goes_on = |known: &u32| self.instances[*known as usize].stmt == fact.stmt && !top.went_back;
        let current = top.current.filter(goes_on).unwrap_or_else(|| self.instance(fact.stmt));
        let top = self.stack.last_mut()?;
        top.current = Some(current);
        top.went_back = false;
        if let Some(unnamed) = top.unnamed.take() {
            self.instances[unnamed as usize].part_of = Some(current);
        }
        Some(current)
    }

    /// Control is back in the innermost activation.
    pub fn returned(&mut self, time: Time) {
        let Some(top) = self.stack.last().filter(|top| top.in_scope) else { return };
        if let Some(instance) = top.unnamed.or(top.current) {
            self.touch(instance, time);
        }
    }

    /// Control jumps out of the innermost activation, perhaps of others as well; those that stay are seen again later.
    pub fn left(&mut self, time: Time) {
        for instance in self.stack.iter().filter_map(|activation| activation.unnamed.or(activation.current)) {
            self.instances[instance as usize].end = time;
        }
    }

    fn touch(&mut self, instance: u32, time: Time) {
        self.instances[instance as usize].end = time;
    }

    /// A branch has decided.
    pub fn open(&mut self, decision: u32, ends: Option<u64>) {
        let Some(top) = self.stack.last_mut() else { return };
        if top.regions.last().is_some_and(|region| region.1 == ends) {
            // Both end together, so the outer one will not be the innermost again.
            top.regions.pop();
        }
        top.regions.push((decision, ends));
    }

    /// How many regions of the innermost activation are open.
    pub fn top_regions(&self) -> usize {
        self.stack.last().map_or(0, |top| top.regions.len())
    }

    /// Numbers the instances as somebody meets them who goes backwards in time.
    pub fn number(&mut self) {
        while self.pop().is_some() {}
        for index in 0..self.instances.len() {
            let of = self.whole(index as u32) as usize;
            self.instances[of].end = self.instances[of].end.max(self.instances[index].end);
        }
        let mut order: Vec<u32> = (1..self.instances.len() as u32).collect();
        order.sort_by_key(|index| {
            let instance = &self.instances[*index as usize];
            // Of two that end together, the later one is that of an instruction that faulted.
            (std::cmp::Reverse(instance.end), instance.depth, std::cmp::Reverse(*index))
        });
        for (number, index) in (1..).zip(order) {
            self.instances[index as usize].number = number;
        }
    }

    /// The instance that this one is a part of.
    pub fn whole(&self, mut instance: u32) -> u32 {
        while let Some(of) = self.instances[instance as usize].part_of {
            instance = of;
        }
        instance
    }
}
