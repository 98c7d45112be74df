//! What the walk over a run has to know about code, found once for each function and each pass.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use machine::Pass;
use program::conditions::{Exit, MemberKind, Step};
use program::{Analysis, BlockId, Condition, ConditionKind, Program, Scope, Terminator, Trust};

use super::keys::{ConditionKey, Keys, PointKey};
use super::path::Side;
use crate::events::{Ending, Shape, Shapes};
use crate::flow::{Flow, FunctionFlow};

/// Bytes of a block that asks for one more type of an exception: a comparison with a number and a jump. What catches it is longer,
/// since it begins with a call.
const MOST_ASKING: u64 = 13;

/// A function in scope.
#[derive(Debug)]
pub struct FunctionPlan {
    pub entry: u64,
    pub name: Arc<str>,
    pub key: Option<PointKey>,
    pub conditions: Vec<PlannedCondition>,
    /// What the instructions do that decide, by address.
    deciders: HashMap<u64, Decision>,
    /// Where regions end, sorted.
    closes: Vec<u64>,
    /// Where exceptions are caught, with the places among `closes` that all ways from there lead to.
    pads: HashMap<u64, Vec<u64>>,
    /// Edges that go back in loops: address of the last instruction, start of the loop, and whether nothing
    /// ends this loop. Sorted.
    back: Vec<(u64, u64, bool)>,
}

#[derive(Debug)]
pub struct PlannedCondition {
    /// The first instruction that decides.
    pub address: u64,
    pub line: Option<u32>,
    /// The statement, and which of its conditions it is.
    pub key: Option<ConditionKey>,
    /// Where its regions end; `None` if that is where the function ends.
    pub close: Option<u64>,
    /// Which side is entered at which address, of a condition with more than two.
    targets: Vec<(u64, Side)>,
    /// The side of all other addresses.
    otherwise: Option<Side>,
}

/// What an instruction that decides leads to.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    /// The condition, by its place.
    condition: u32,
    holds: Next,
    fails: Next,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    /// Another instruction decides.
    Open,
    Side(Side),
    /// It depends on where control goes.
    Target,
}

/// A pass through a block, or a part of one.
#[derive(Debug)]
pub struct PassPlan {
    /// `None` in trusted code.
    pub function: Option<Rc<FunctionPlan>>,
    pub start: u64,
    pub last: u64,
    pub count: u16,
    pub ending: Ending,
    /// What begins or ends on the way, in order.
    pub marks: Box<[Mark]>,
    decision: Option<Decision>,
    /// It ends in a decision of which the graph does not know, since it does not know how control comes there.
    is_loose: bool,
    /// The starts of loops that the way from its end goes back to, and whether nothing ends this loop.
    back: Box<[(u64, bool)]>,
}

#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// Before which instruction of the pass.
    pub instruction: u16,
    pub kind: MarkKind,
}

#[derive(Clone, Copy, Debug)]
pub enum MarkKind {
    /// Regions that end at this address do.
    Close(u64),
    /// An exception is caught here.
    Landing(u64),
    Statement(PointKey),
}

/// All that is known, of one program.
pub struct Plans<'p> {
    flow: &'p Flow<'p>,
    scope: &'p Scope,
    keys: Keys<'p>,
    functions: RefCell<HashMap<u64, Option<Rc<FunctionPlan>>>>,
    shapes: Shapes,
    /// By the number of the shape.
    passes: Vec<Rc<PassPlan>>,
}

impl<'p> Plans<'p> {
    pub fn new(flow: &'p Flow<'p>, scope: &'p Scope, keys: Keys<'p>) -> Plans<'p> {
        let (functions, shapes, passes) = Default::default();
        Plans { flow, scope, keys, functions, shapes, passes }
    }

    pub fn program(&self) -> &'p Program {
        self.flow.program()
    }

    pub fn keys(&self) -> &Keys<'p> {
        &self.keys
    }

    pub fn of(&mut self, pass: &Pass<'_>) -> Rc<PassPlan> {
        let place = self.shapes.place(pass) as usize;
        if let Some(known) = self.passes.get(place) {
            return known.clone();
        }
        let plan = Rc::new(self.plan(&Shape::new(pass)));
        self.passes.push(plan.clone());
        plan
    }

    /// What begins and ends at an instruction, of which nothing has happened yet.
    pub fn of_instruction(&self, address: u64) -> PassPlan {
        let function = self.function(address);
        let marks = function.as_ref().map_or_else(Vec::new, |function| self.marks(function, &[address]));
        PassPlan {
            function,
            start: address,
            last: address,
            count: 0,
            ending: Ending::Next,
            marks: marks.into(),
            decision: None,
            is_loose: false,
            back: Box::default(),
        }
    }

    fn marks(&self, function: &FunctionPlan, addresses: &[u64]) -> Vec<Mark> {
        let mut marks = Vec::new();
        let mut statement = None;
        for (instruction, address) in (0..).zip(addresses) {
            if function.closes.binary_search(address).is_ok() {
                marks.push(Mark { instruction, kind: MarkKind::Close(*address) });
            }
            if function.pads.contains_key(address) {
                marks.push(Mark { instruction, kind: MarkKind::Landing(*address) });
            }
            let here = (self.keys)(*address);
            if here.is_some() && here != statement {
                marks.extend(here.map(|key| Mark { instruction, kind: MarkKind::Statement(key) }));
                statement = here;
            }
        }
        marks
    }

    fn plan(&self, shape: &Shape) -> PassPlan {
        let function = self.function(shape.start());
        let (mut marks, mut decision, mut back, mut is_loose) = (Vec::new(), None, Vec::new(), false);
        if let Some(function) = &function {
            marks = self.marks(function, shape.addresses());
            decision = function.deciders.get(&shape.last()).copied();
            is_loose = decision.is_none()
                && matches!(shape.ending, Ending::Branch { .. } | Ending::Indirect { .. })
                && self.flow.function(shape.last()).is_none();
            let from = function.back.partition_point(|edge| edge.0 < shape.last());
            let edges = function.back.iter().skip(from).take_while(|edge| edge.0 == shape.last());
            back = edges.map(|(_, to, endless)| (*to, *endless)).collect();
        }
        PassPlan {
            function,
            start: shape.start(),
            last: shape.last(),
            count: shape.addresses().len() as u16,
            ending: shape.ending,
            marks: marks.into(),
            decision,
            is_loose,
            back: back.into(),
        }
    }

    /// The condition that an instruction decides.
    pub fn condition(&self, address: u64) -> Option<ConditionKey> {
        let function = self.function(address)?;
        let decision = function.deciders.get(&address)?;
        function.conditions.get(decision.condition as usize)?.key
    }

    /// The function in scope that has the instruction.
    fn function(&self, address: u64) -> Option<Rc<FunctionPlan>> {
        let start = self.program().function_at(address).map_or(address, |(start, _)| start);
        if let Some(known) = self.functions.borrow().get(&start) {
            return known.clone();
        }
        let plan = self.function_plan(start, address);
        self.functions.borrow_mut().insert(start, plan.clone());
        plan
    }

    fn function_plan(&self, start: u64, address: u64) -> Option<Rc<FunctionPlan>> {
        if self.scope.of(self.program(), start) != Trust::InScope {
            return None;
        }
        let flow = self.flow.function(address)?;
        // Parts that lie elsewhere belong to one function.
        if flow.entry() != start
            && let Some(known) = self.functions.borrow().get(&flow.entry())
        {
            return known.clone();
        }
        let plan = Rc::new(FunctionPlan::new(self.program(), &flow, &self.keys));
        self.functions.borrow_mut().insert(flow.entry(), Some(plan.clone()));
        Some(plan)
    }
}

impl PassPlan {
    /// Whether exceptions come here.
    pub fn is_landing(&self) -> bool {
        self.function.as_ref().is_some_and(|function| function.pads.contains_key(&self.start))
    }

    /// The condition that is decided when control goes on at `next`, and how.
    pub fn decided(&self, next: u64) -> Option<(u32, Side)> {
        let Decision { condition, holds, fails } = self.decision?;
        let chosen = match self.ending {
            Ending::Branch { taken } if taken == next => holds,
            Ending::Branch { .. } => fails,
            _ => Next::Target,
        };
        match chosen {
            Next::Open => None,
            Next::Side(side) => Some((condition, side)),
            Next::Target => {
                let planned = self.function.as_ref()?.conditions.get(condition as usize)?;
                Some((condition, planned.side_at(next)))
            }
        }
    }

    /// The side that is taken when control goes on at `next`, of a decision that the graph does not know.
    pub fn loose(&self, next: u64) -> Option<Side> {
        let side = match self.ending {
            Ending::Branch { taken } if taken == next => Side::First,
            Ending::Branch { .. } => Side::Second,
            _ => Side::To(next),
        };
        self.is_loose.then_some(side)
    }

    /// Whether going on at `next` goes back in a loop; and if so, whether nothing ends this loop.
    pub fn goes_back(&self, next: u64) -> Option<bool> {
        if self.is_loose && next <= self.last {
            return Some(false);
        }
        self.back.iter().find(|(start, _)| *start == next).map(|(_, endless)| *endless)
    }
}

impl PlannedCondition {
    fn side_at(&self, address: u64) -> Side {
        let known = self.targets.iter().find(|(target, _)| *target == address).map(|(_, side)| *side);
        known.or(self.otherwise).unwrap_or(Side::To(address))
    }
}

impl FunctionPlan {
    fn new(program: &Program, flow: &FunctionFlow, keys: &Keys<'_>) -> FunctionPlan {
        let entry = flow.entry();
        let name = program.locate(entry).function_name().map_or_else(|| format!("{entry:#x}"), str::to_owned);
        let mut plan = FunctionPlan {
            entry,
            name: name.into(),
            key: keys(entry),
            conditions: Vec::new(),
            deciders: HashMap::new(),
            closes: Vec::new(),
            pads: HashMap::new(),
            back: back_edges(flow),
        };
        let found = program.conditions(entry);
        for condition in found.iter().flat_map(|found| found.iter()) {
            plan.add(program, flow, condition);
        }
        plan.add_others(program, flow);
        plan.number(keys);
        plan.closes = plan.conditions.iter().filter_map(|condition| condition.close).collect();
        plan.closes.sort_unstable();
        plan.closes.dedup();
        for pad in &flow.cfg().landing_pads {
            plan.add_pad(flow, *pad);
        }
        plan
    }

    /// Whether a region that ends at `close` is still to end there when an exception is caught at `pad`.
    pub fn ends_after(&self, pad: u64, close: u64) -> bool {
        self.pads.get(&pad).is_none_or(|met| met.contains(&close))
    }

    fn add(&mut self, program: &Program, flow: &FunctionFlow, condition: &Condition) {
        let jumps = |kind| matches!(kind, MemberKind::Jump | MemberKind::Table);
        if !condition.members.iter().any(|member| jumps(member.kind)) {
            return;
        }
        // Blocks are numbered as in the graph that conditions were found in.
        let graph = program.cfg(condition.id.address);
        let start_of = |block| Some(graph.as_ref()?.block(block)?.start);
        let (mut targets, mut otherwise) = (Vec::new(), None);
        if let ConditionKind::Switch { cases, default, .. } = &condition.kind {
            for case in cases {
                let side = case.values.first().map(|(low, _)| Side::Case(*low));
                targets.extend(start_of(case.target).zip(side));
            }
            otherwise = default.is_some().then_some(Side::Default);
        }
        let side = |exit: Exit| side_of(&condition.kind, exit);
        let next = |step: Step| match step {
            Step::Member(_) => Next::Open,
            Step::Exit(exit) => Next::Side(side(exit)),
            Step::Block(_) => Next::Target,
            Step::Unknown => Next::Target,
        };
        let number = self.conditions.len() as u32;
        for member in condition.members.iter().filter(|member| jumps(member.kind)) {
            let (holds, fails) = match (&condition.kind, member.kind) {
                (ConditionKind::Switch { .. }, _) | (_, MemberKind::Table) => {
                    let open = |step| if matches!(step, Step::Member(_)) { Next::Open } else { Next::Target };
                    (open(member.holds), open(member.fails))
                }
                _ => (next(member.holds), next(member.fails)),
            };
            self.deciders.insert(member.address, Decision { condition: number, holds, fails });
        }
        let first = condition.members.iter().find(|member| jumps(member.kind)).map(|member| member.address);
        let address = condition.id.address;
        let line = condition.position.as_ref().map(|position| position.line);
        let close = flow.reconvergence(first.unwrap_or(address));
        self.conditions.push(PlannedCondition { address, line, key: None, close, targets, otherwise });
    }

    /// Branches and indirect jumps of the graph that belong to no condition.
    fn add_others(&mut self, program: &Program, flow: &FunctionFlow) {
        for block in &flow.cfg().blocks {
            let address = block.last;
            let decides = matches!(
                block.terminator,
                Terminator::Branch { .. } | Terminator::Switch { .. } | Terminator::Unknown
            );
            if !decides || self.deciders.contains_key(&address) {
                continue;
            }
            let condition = self.conditions.len() as u32;
            let decision =
                Decision { condition, holds: Next::Side(Side::First), fails: Next::Side(Side::Second) };
            self.deciders.insert(address, decision);
            let line = line_at(program, address);
            let close = flow.reconvergence(address);
            let targets = Vec::new();
            self.conditions.push(PlannedCondition {
                address,
                line,
                key: None,
                close,
                targets,
                otherwise: None,
            });
        }
    }

    /// A landing pad begins with the question of whether the exception is of a type that is caught here. If not, it goes on its
    /// way, so these ways never meet; for those who catch it, it is no condition.
    fn add_pad(&mut self, flow: &FunctionFlow, pad: BlockId) {
        let cfg = flow.cfg();
        let (mut asked, mut next) = (vec![pad], 0);
        while let Some(block) = asked.get(next).and_then(|id| cfg.block(*id)) {
            next += 1;
            let is_small = block.end.saturating_sub(block.start) <= MOST_ASKING;
            let asks = matches!(block.terminator, Terminator::Branch { .. }) && (next == 1 || is_small);
            if asks && flow.reconvergence(block.last).is_none() {
                self.deciders.remove(&block.last);
                let more: Vec<BlockId> =
                    block.terminator.successors().filter(|block| !asked.contains(block)).collect();
                asked.extend(more);
            }
        }
        let starts = || asked.iter().filter_map(|id| Some(cfg.block(*id)?.start));
        let is_met = |close: &u64| starts().any(|start| flow.leads_to(start, *close));
        let met = self.closes.iter().copied().filter(is_met).collect();
        self.pads.extend(cfg.block(pad).map(|pad| (pad.start, met)));
    }

    /// Tells the conditions of one statement apart by their order.
    fn number(&mut self, keys: &Keys<'_>) {
        let mut order: Vec<usize> = (0..self.conditions.len()).collect();
        order.sort_by_key(|place| self.conditions[*place].address);
        let mut counts: HashMap<PointKey, u32> = HashMap::new();
        for place in order {
            let condition = &mut self.conditions[place];
            condition.key = keys(condition.address).map(|key| {
                let count = counts.entry(key).or_default();
                *count += 1;
                (key, *count)
            });
        }
    }
}

/// The line that an instruction belongs to.
pub fn line_at(program: &Program, address: u64) -> Option<u32> {
    program.statement_at(address).map(|stmt| stmt.line)
}

fn side_of(kind: &ConditionKind, exit: Exit) -> Side {
    let truth = match kind {
        ConditionKind::Branch { true_exit, .. } => *true_exit,
        ConditionKind::Value { .. } | ConditionKind::Select => Some(Exit::First),
        ConditionKind::Switch { .. } => None,
    };
    match (truth, exit) {
        (Some(truth), exit) if truth == exit => Side::True,
        (Some(_), _) => Side::False,
        (None, Exit::First) => Side::First,
        (None, Exit::Second) => Side::Second,
    }
}

fn back_edges(flow: &FunctionFlow) -> Vec<(u64, u64, bool)> {
    let cfg = flow.cfg();
    let Analysis { loops, post_dominators, .. } = cfg.analyse();
    let mut edges = Vec::new();
    for found in loops.all() {
        let Some(header) = cfg.block(found.header) else { continue };
        // Control that is in such a loop never leaves it, as far as the graph tells.
        let endless = post_dominators.endless().iter().any(|end| {
            let mut around = loops.innermost(*end);
            while let Some(index) = around {
                let Some(outer) = loops.all().get(index as usize) else { break };
                if outer.header == found.header {
                    return true;
                }
                around = outer.parent;
            }
            false
        });
        edges.extend(
            found.latches.iter().filter_map(|latch| Some((cfg.block(*latch)?.last, header.start, endless))),
        );
    }
    edges.sort_unstable();
    edges
}
