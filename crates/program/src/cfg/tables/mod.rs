//! Where indirect jumps go: jump tables, by evaluating the code before the jump on expressions.
//!
//! The ways that lead to the jump are followed backwards, branch by branch, until the branches on the way bound
//! a value on which alone the target depends. Then the target is computed for each value. No instruction
//! sequence is expected anywhere, so it does not matter how a compiler spells the check, the table or the sum.

mod constants;
mod expression;
mod symbolic;

use std::cell::OnceCell;

use lift::{Op, Reg, Size, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::descent::Code;
use super::extent::Extent;
use super::flow::{self, Flow};
use super::graph::TableBound;
use super::mentions::Next;
use crate::object_file::ObjectFile;
use expression::{Evaluation, Expressions, Id, Node};
use symbolic::{Constraint, State};

/// The largest switch that is taken for one.
const MOST_CASES: u64 = 1 << 14;

/// How many instructions, branches and ways before a jump are looked at. Compilers put the check right before the
/// jump.
const LONGEST_PATH: usize = 400;
const MOST_BRANCHES: usize = 8;
const MOST_PATHS: usize = 48;

/// How many steps all jumps of one function may take together.
const STEPS: usize = 400_000;

/// How many instructions before a call are looked at for its argument.
const LONGEST_ARGUMENT: usize = 64;

/// The jumps through one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// The value that is switched on, and where it leads.
    pub cases: Vec<(i64, u64)>,
    pub default: Option<u64>,
    pub bound: TableBound,
}

pub(super) enum Resolution {
    Table(Table),
    TailCall(Option<u64>),
    Unknown,
}

/// What may still be spent on one function, and what was found out so far.
pub(super) struct Budget {
    steps: usize,
    /// Registers that are known to hold a constant before an instruction.
    constants: FxHashMap<(Reg, u64), u64>,
}

impl Budget {
    pub fn new() -> Budget {
        Budget { steps: STEPS, constants: FxHashMap::default() }
    }

    /// More code was found, so that more ways may lead to a place.
    pub fn forget(&mut self) {
        self.constants.clear();
    }

    /// `None` when it is used up.
    fn spend(&mut self, steps: usize) -> Option<()> {
        self.steps = self.steps.checked_sub(steps)?;
        Some(())
    }
}

/// Finds out where the indirect jump at `jump` goes.
pub(super) fn resolve(
    object: &ObjectFile,
    extent: &Extent,
    code: &Code,
    jump: u64,
    budget: &mut Budget,
) -> Resolution {
    let mut resolver = Resolver { object, extent, code, jump, budget, constants: FxHashMap::default() };
    match resolver.table() {
        Some(table) if !table.cases.is_empty() => Resolution::Table(table),
        _ => resolver.without_table(),
    }
}

/// What a register holds before the instruction at `address`, when the code that always comes before it makes it
/// a constant.
pub(super) fn constant_before(object: &ObjectFile, code: &Code, address: u64, reg: Reg) -> Option<u64> {
    let mut path = Vec::new();
    let mut at = address;
    while path.len() < LONGEST_ARGUMENT {
        let mut before = code.predecessors(at);
        let (Some(from), None) = (before.next(), before.next()) else { break };
        path.push(from);
        at = from;
    }
    let mut state = State::default();
    let mut ops = Vec::new();
    for address in path.into_iter().rev() {
        flow::step(object.bytes_at(address)?, address, &mut ops)?;
        ops.iter().for_each(|op| state.run(op));
    }
    let value = state.register(reg);
    state.expressions.as_constant(value)
}

/// A way to the jump, backwards: the jump comes first.
#[derive(Clone)]
struct Path {
    addresses: Vec<u64>,
    branches: usize,
}

struct Resolver<'a, 'b> {
    object: &'a ObjectFile,
    extent: &'a Extent<'a>,
    code: &'a Code,
    jump: u64,
    budget: &'b mut Budget,
    /// Registers that were asked for at an address.
    constants: FxHashMap<(Reg, u64), Option<u64>>,
}

/// The state at the end of a path, and what the jump's target is there.
struct Reached {
    state: State,
    target: Id,
    /// What registers hold at the start of the path, where that is known.
    known: FxHashMap<Id, u64>,
}

impl Resolver<'_, '_> {
    fn table(&mut self) -> Option<Table> {
        let mut paths = vec![Path { addresses: vec![self.jump], branches: 0 }];
        let mut table: Option<Table> = None;
        let mut failed: Vec<Path> = Vec::new();
        let mut tried = 0;
        while let Some(path) = paths.pop() {
            if tried == MOST_PATHS {
                failed.push(path);
                break;
            }
            tried += 1;
            match self.follow(path) {
                Followed::Table(found) => merge(&mut table, found),
                Followed::Fork(forks) => paths.extend(forks),
                Followed::End(path) => failed.push(path),
            }
        }
        if failed.is_empty() {
            return table;
        }
        // Some way to the jump checks nothing: the table itself has to say where it ends.
        let unchecked = failed.iter().find_map(|path| self.unchecked(path));
        let whole = match (table, unchecked) {
            (Some(checked), Some(unchecked)) => {
                let mut table = Some(unchecked);
                let default = checked.default;
                merge(&mut table, checked);
                table.map(|table| Table { default, ..table })
            }
            (Some(checked), None) => Some(checked),
            (None, unchecked) => unchecked,
        };
        whole.map(|table| Table { bound: TableBound::Extent, ..table })
    }

    /// Goes back along a path until a check is found or the path forks.
    fn follow(&mut self, mut path: Path) -> Followed {
        loop {
            let Some(first) = path.addresses.last().copied() else { return Followed::End(path) };
            if let Some(found) = self.checked(&path) {
                return Followed::Table(found);
            }
            // Up to the branch before, or to where several ways meet.
            let mut at = first;
            loop {
                let mut before = self.code.predecessors(at);
                let (Some(from), None) = (before.next(), before.next()) else { break };
                if at == self.extent.start {
                    break;
                }
                if self.is_too_long(&path) {
                    return Followed::End(path);
                }
                path.push(self.code, from);
                at = from;
                if self.is_branch(from) {
                    break;
                }
            }
            if at != first {
                continue;
            }
            let forks: Vec<u64> = self.code.predecessors(at).take(MOST_PATHS).collect();
            if forks.is_empty() || at == self.extent.start || self.is_too_long(&path) {
                return Followed::End(path);
            }
            let extended = forks.into_iter().map(|from| {
                let mut longer = path.clone();
                longer.push(self.code, from);
                longer
            });
            return Followed::Fork(extended.collect());
        }
    }

    fn is_too_long(&self, path: &Path) -> bool {
        path.addresses.len() >= LONGEST_PATH || path.branches >= MOST_BRANCHES
    }

    fn is_branch(&self, address: u64) -> bool {
        self.code.steps.get(&address).is_some_and(|step| matches!(step.flow, Flow::Branch(_)))
    }

    /// Runs the path forwards.
    fn reach(&mut self, path: &Path) -> Option<Reached> {
        self.budget.spend(path.addresses.len())?;
        let mut state = State::default();
        let mut ops = Vec::new();
        let mut target = None;
        for (index, address) in path.addresses.iter().enumerate().rev() {
            flow::step(self.object.bytes_at(*address)?, *address, &mut ops)?;
            let next = index.checked_sub(1).and_then(|next| path.addresses.get(next));
            for op in &ops {
                match (op, next) {
                    (Op::Branch { condition, taken, not_taken }, Some(next)) if taken != not_taken => {
                        state.decide(*address, *condition, next == taken);
                    }
                    (Op::Jump { target: Value::Reg(reg) }, None) => target = Some(state.register(*reg)),
                    _ => state.run(op),
                }
            }
        }
        let target = target?;
        let known = self.known(&state.expressions, target, *path.addresses.last()?);
        Some(Reached { state, target, known })
    }

    fn known(&mut self, expressions: &Expressions, target: Id, start: u64) -> FxHashMap<Id, u64> {
        let mut known = FxHashMap::default();
        for part in expressions.parts(target) {
            if let Node::Start(reg) = expressions.node(part) {
                let value = match self.constants.get(&(reg, start)) {
                    Some(value) => *value,
                    None => {
                        constants::find(self.object, self.code, self.extent.start, (reg, start), self.budget)
                    }
                };
                self.constants.insert((reg, start), value);
                known.extend(value.map(|value| (part, value)));
            }
        }
        known
    }

    /// The table when the branches of the path bound the index.
    fn checked(&mut self, path: &Path) -> Option<Table> {
        let reached = self.reach(path)?;
        let expressions = &reached.state.expressions;
        let mut evaluation = Evaluation::new(self.object, expressions, reached.target);
        if !evaluation.parts().iter().any(|part| matches!(expressions.node(*part), Node::Load { .. })) {
            // The address of a label, put into a register.
            let target = evaluation.value(&|id| reached.known.get(&id).copied())?;
            return self.is_target(target).then(|| Table { cases: vec![(0, target)], ..Table::default() });
        }
        let constraints = reached.state.constraints.iter().rev();
        let bounded = constraints.filter_map(|constraint| Some((constraint, constraint.largest()?)));
        for (constraint, largest) in bounded.filter(|(_, largest)| *largest < MOST_CASES) {
            self.budget.spend(evaluation.parts().len().saturating_mul(largest as usize + 1))?;
            if let Some(table) = self.cases(&reached, &mut evaluation, constraint, largest) {
                return Some(table);
            }
        }
        None
    }

    fn cases(
        &self,
        reached: &Reached,
        evaluation: &mut Evaluation,
        constraint: &Constraint,
        largest: u64,
    ) -> Option<Table> {
        let expressions = &reached.state.expressions;
        let index = Index::new(expressions, constraint.value);
        if !evaluation.parts().iter().any(|part| index.value(*part, 0).is_some()) {
            return None;
        }
        let same = |other: &&Constraint| other.value == constraint.value;
        let all: Vec<&Constraint> = reached.state.constraints.iter().filter(same).collect();
        let mut cases = Vec::new();
        for value in (0..=largest).filter(|value| all.iter().all(|one| one.allows(*value))) {
            let given = |id: Id| index.value(id, value).or_else(|| reached.known.get(&id).copied());
            let target = evaluation.value(&given).filter(|target| self.is_target(*target))?;
            cases.push((switched(expressions, constraint.value, value), target));
        }
        Some(Table { cases, default: self.other_side(constraint), bound: TableBound::Checked })
    }

    /// Where the branch goes when its condition is the other way.
    fn other_side(&self, constraint: &Constraint) -> Option<u64> {
        let step = self.code.steps.get(&constraint.branch)?;
        match step.flow {
            Flow::Branch(target) if !constraint.holds => Some(target),
            _ => Some(constraint.branch.wrapping_add(u64::from(step.length))),
        }
    }

    /// The table as far as its entries lead into the function and nothing else begins.
    fn unchecked(&mut self, path: &Path) -> Option<Table> {
        let reached = self.reach(path)?;
        let expressions = &reached.state.expressions;
        let mut evaluation = Evaluation::new(self.object, expressions, reached.target);
        for part in evaluation.parts().to_vec() {
            let Node::Load { address, .. } = expressions.node(part) else { continue };
            let indices =
                expressions.parts(address).into_iter().filter_map(|part| match expressions.node(part) {
                    Node::Times(index, _) => Some(index),
                    _ => None,
                });
            for index in indices {
                let table = self.entries(&reached, &mut evaluation, address, index);
                if let Some(table) = table.filter(|table| !table.cases.is_empty()) {
                    return Some(table);
                }
            }
        }
        None
    }

    fn entries(
        &mut self,
        reached: &Reached,
        evaluation: &mut Evaluation,
        address: Id,
        index: Id,
    ) -> Option<Table> {
        let expressions = &reached.state.expressions;
        let largest = expressions.largest(index).unwrap_or(MOST_CASES).min(MOST_CASES);
        let mut cases = Vec::new();
        let mut end = None;
        for value in 0..=largest {
            self.budget.spend(evaluation.parts().len())?;
            let given = |id: Id| if id == index { Some(value) } else { reached.known.get(&id).copied() };
            let target = evaluation.value(&given);
            let entry = evaluation.value_of(address)?;
            let Some(target) = target.filter(|target| self.is_own_target(*target)) else { break };
            if end.get_or_insert_with(|| End::of_table(entry)).is_before(self.object, entry) {
                break;
            }
            cases.push((switched(expressions, index, value), target));
        }
        Some(Table { cases, default: None, bound: TableBound::Extent })
    }

    fn is_target(&self, target: u64) -> bool {
        self.extent.owns(target) && self.is_instruction(target)
    }

    /// As [`Self::is_target`], for what may not be an entry of the table at all.
    fn is_own_target(&self, target: u64) -> bool {
        target != self.extent.start && self.extent.contains(target) && self.is_instruction(target)
    }

    fn is_instruction(&self, address: u64) -> bool {
        let bytes = self.object.bytes_at(address);
        self.code.is_free(address)
            && bytes
                .is_some_and(|bytes| matches!(lift::decode(bytes, address), lift::Decoded::Instruction(_)))
    }

    /// A jump that goes through no table: to another function, when the stack is as it was at the start.
    fn without_table(&mut self) -> Resolution {
        let path = Path { addresses: vec![self.jump], branches: 0 };
        let Some(reached) = self.reach(&path) else { return Resolution::Unknown };
        if let Node::Load { size: Size::B8, address, .. } = reached.state.expressions.node(reached.target)
            && let Some(slot) = reached.state.expressions.as_constant(address)
        {
            return Resolution::TailCall(self.object.relocations().linked(slot));
        }
        match self.object.call_frames().is_entry_height(self.jump) {
            Some(true) | None => Resolution::TailCall(None),
            Some(false) => Resolution::Unknown,
        }
    }
}

/// Where a table ends because something else begins, to which code refers.
struct End {
    first: u64,
    next: OnceCell<Option<Next>>,
}

impl End {
    fn of_table(first: u64) -> End {
        End { first, next: OnceCell::new() }
    }

    /// Whether the table has ended before this entry.
    fn is_before(&self, object: &ObjectFile, entry: u64) -> bool {
        if entry <= self.first {
            return false;
        }
        match *self.next.get_or_init(|| object.mentions().next(object, self.first)) {
            Some(Next::NotBefore(next)) if entry < next => false,
            Some(Next::At(next)) => entry >= next,
            _ => object.sweep().next_reference(self.first).is_some_and(|next| entry >= next),
        }
    }
}

enum Followed {
    Table(Table),
    Fork(Vec<Path>),
    End(Path),
}

impl Path {
    fn push(&mut self, code: &Code, address: u64) {
        let is_branch = code.steps.get(&address).is_some_and(|step| matches!(step.flow, Flow::Branch(_)));
        self.branches += usize::from(is_branch);
        self.addresses.push(address);
    }
}

/// Adds the cases of another way to the jump.
fn merge(table: &mut Option<Table>, found: Table) {
    let Some(table) = table else {
        *table = Some(found);
        return;
    };
    let known: FxHashSet<(i64, u64)> = table.cases.iter().copied().collect();
    table.cases.extend(found.cases.into_iter().filter(|case| !known.contains(case)));
    table.default = table.default.or(found.default);
}

/// The expressions that have a known value when an index has.
struct Index {
    /// The index itself, and what it is the low bytes of.
    same: [Id; 2],
    /// What the index is the sum of with a constant, and the constant. An address that is computed from the
    /// index has no other trace of it.
    base: Option<(Id, u64)>,
}

impl Index {
    fn new(expressions: &Expressions, index: Id) -> Index {
        let (base, offset) = expressions.split(index);
        Index { same: [index, whole_of(expressions, index)], base: (base != index).then_some((base, offset)) }
    }

    fn value(&self, id: Id, index: u64) -> Option<u64> {
        match self.base {
            _ if self.same.contains(&id) => Some(index),
            Some((base, offset)) if base == id => Some(index.wrapping_sub(offset)),
            _ => None,
        }
    }
}

/// What an expression is the low bytes of. An index whose low half was compared is used as a whole where the
/// compiler knows that the rest is zero.
fn whole_of(expressions: &Expressions, id: Id) -> Id {
    match expressions.node(id) {
        Node::Low(_, of) => of,
        _ => id,
    }
}

/// The value that was switched on when the index is `index`: what the index had been before a constant was
/// subtracted from it.
fn switched(expressions: &Expressions, id: Id, index: u64) -> i64 {
    let size = match expressions.node(id) {
        Node::Low(size, _) => size,
        _ => Size::B8,
    };
    let (_, offset) = expressions.split(whole_of(expressions, id));
    let value = index.wrapping_sub(offset) & size.mask();
    match size {
        Size::B1 | Size::B2 => value as i64,
        Size::B4 | Size::B8 => expression::sign_extended(size, value) as i64,
    }
}
