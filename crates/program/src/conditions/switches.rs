//! Switch statements: jump tables, and chains and trees of comparisons of one number with constants.
//!
//! With the text, all comparisons of a switch statement's head belong to it. Without, a tree of comparisons on
//! one line is taken for a switch when one number is compared with at least [`FEWEST_COMPARISONS`] constants and
//! control can go to at least three blocks: fewer are no different from an `if`.

use std::collections::{BTreeMap, BTreeSet};

use lift::Size;

use crate::cfg::{JumpTable, Terminator};

use super::bit_tests::Number;
use super::build::Builder;
use super::comparison::Operand;
use super::condition::{Case, Condition, ConditionKind, Member, MemberKind, Step};
use super::flow::Flow;
use super::numbers::NumberSet;

const FEWEST_COMPARISONS: usize = 3;
const FEWEST_TARGETS: usize = 3;

/// The switches of a function, and which blocks are part of one.
pub(super) fn find(builder: &mut Builder<'_>) -> (Vec<Condition>, Vec<bool>) {
    let mut taken = vec![false; builder.flow.cfg.blocks.len()];
    // Blocks of trees that are no switch: a part of such a tree is none, either.
    let mut tried = taken.clone();
    let mut found = Vec::new();
    let mut order: Vec<usize> = (0..taken.len()).collect();
    order.sort_by_key(|at| builder.rank.get(*at).copied());
    for root in order {
        if taken[root] || tried[root] || !(builder.flow.is_branch(root) || is_indirect(builder, root)) {
            continue;
        }
        let Some((tree, is_switch)) = Tree::gather(builder, root, &taken) else { continue };
        for block in &tree.blocks {
            tried[*block] = true;
        }
        if !is_switch {
            continue;
        }
        for block in &tree.blocks {
            taken[*block] = true;
            builder.use_branch(*block);
        }
        found.extend(tree.condition(builder));
    }
    (found, taken)
}

fn table<'a>(builder: &Builder<'a>, at: usize) -> Option<&'a JumpTable> {
    builder.flow.cfg.table_of(Flow::id(at))
}

fn is_indirect(builder: &Builder<'_>, at: usize) -> bool {
    let terminator = builder.flow.cfg.blocks.get(at).map(|block| &block.terminator);
    matches!(terminator, Some(Terminator::Switch { .. }))
}

/// Comparisons that hang together.
struct Tree {
    /// In the order in which they are reached; the root is the first.
    blocks: Vec<usize>,
    value: Option<Operand>,
    /// What reaches each of the blocks that control leaves the tree to.
    leaves: BTreeMap<usize, NumberSet>,
    /// Targets of which no number is known.
    unknown: Vec<usize>,
}

impl Tree {
    /// The tree from a block on, and whether it is that of a switch.
    fn gather(builder: &Builder<'_>, root: usize, taken: &[bool]) -> Option<(Tree, bool)> {
        let flow = builder.flow;
        let in_switch = is_switch(builder, root);
        let (operand, size) = match builder.against_constant(root) {
            Some((operand, _, size, _)) => (Some(operand), size),
            None if is_indirect(builder, root) => (None, Size::B8),
            None => return None,
        };
        let mut tree =
            Tree { blocks: Vec::new(), value: operand.clone(), leaves: BTreeMap::new(), unknown: Vec::new() };
        let mut seen = BTreeSet::new();
        let mut comparisons = 0;
        let mut tables = 0;
        let mut open = vec![(root, NumberSet::all(size))];
        while let Some((at, reach)) = open.pop() {
            let is_root = at == root;
            let alone = is_root || flow.incoming.get(at) == Some(&1);
            let free = taken.get(at) == Some(&false) && !seen.contains(&at);
            let continued = is_root || flow.is_continued(root, at);
            if alone
                && free
                && is_indirect(builder, at)
                && (continued || is_default_shared(builder, root, at))
            {
                seen.insert(at);
                tree.blocks.push(at);
                tables += 1;
                tree.table(builder, at, &reach);
                continue;
            }
            let belongs = alone && free && (continued || (in_switch && is_pure(builder, at)));
            let holds = operand.as_ref().filter(|_| belongs && flow.is_branch(at)).and_then(|operand| {
                let number = Number { flow, head: root, operand, size };
                compared(builder, &number, at).or_else(|| number.taken(at, &reach))
            });
            let Some(holds) = holds else {
                tree.leave(at, reach);
                continue;
            };
            let [taken_side, other_side] = flow.successors(at)[..] else { return None };
            seen.insert(at);
            tree.blocks.push(at);
            comparisons += 1;
            if reach.is_scattered() {
                return Some((tree, false));
            }
            open.push((other_side, reach.intersection(&holds.complement())));
            open.push((taken_side, reach.intersection(&holds)));
        }
        let by_text = flow.origin(root).is_some_and(|origin| flow.units.text_of(origin).is_some());
        let many = comparisons >= FEWEST_COMPARISONS && tree.leaves.len() >= FEWEST_TARGETS && !by_text;
        let is_switch = in_switch || tables > 0 || many;
        tree.leaves.values_mut().for_each(NumberSet::normalise);
        Some((tree, is_switch))
    }

    fn leave(&mut self, to: usize, reach: NumberSet) {
        match self.leaves.get_mut(&to) {
            Some(known) => known.extend(&reach),
            None => drop(self.leaves.insert(to, reach)),
        }
    }

    /// An indirect jump: the numbers that the table is for, as far as that is known.
    fn table(&mut self, builder: &Builder<'_>, at: usize, reach: &NumberSet) {
        let size = reach.size();
        let Some(table) = table(builder, at) else {
            self.unknown.extend(builder.flow.successors(at));
            return;
        };
        let mut rest = reach.clone();
        let mut by_target: BTreeMap<usize, NumberSet> = BTreeMap::new();
        for (value, target) in &table.cases {
            let target = builder.flow.land(target.0 as usize);
            let set = by_target.entry(target).or_insert_with(|| NumberSet::none(size));
            set.push(*value as u64);
        }
        let mut all = NumberSet::none(size);
        for (target, set) in by_target {
            all.extend(&set);
            self.leave(target, set);
        }
        all.normalise();
        rest = rest.intersection(&all.complement());
        match table.default {
            Some(default) if !rest.is_empty() => self.leave(builder.flow.land(default.0 as usize), rest),
            _ => {}
        }
    }

    fn condition(self, builder: &Builder<'_>) -> Option<Condition> {
        let flow = builder.flow;
        let numbers: BTreeMap<usize, usize> =
            self.blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect();
        let step = |to: Option<&usize>| match to {
            Some(to) => numbers.get(to).map_or(Step::Block(Flow::id(*to)), |number| Step::Member(*number)),
            None => Step::Unknown,
        };
        let member = |at: &usize| {
            let block = flow.cfg.blocks.get(*at)?;
            let (address, id) = (block.last, Flow::id(*at));
            if is_indirect(builder, *at) {
                let (holds, fails) = (Step::Unknown, Step::Unknown);
                return Some(Member {
                    address,
                    block: id,
                    kind: MemberKind::Table,
                    comparison: None,
                    holds,
                    fails,
                });
            }
            let successors = flow.successors(*at);
            let (holds, fails) = (step(successors.first()), step(successors.get(1)));
            let comparison = builder.branch_comparison(*at);
            Some(Member { address, block: id, kind: MemberKind::Jump, comparison, holds, fails })
        };
        let members: Vec<Member> = self.blocks.iter().filter_map(member).collect();
        let address = members.first()?.address;
        // All other numbers are more than those of any case.
        let default = self.leaves.iter().max_by_key(|(_, set)| set.count()).map(|(to, _)| *to);
        let default = default.filter(|_| self.unknown.is_empty());
        let mut cases: Vec<Case> = self
            .leaves
            .iter()
            .filter(|(to, set)| Some(**to) != default && !set.is_empty())
            .map(|(to, set)| Case { values: set.signed(), target: Flow::id(*to) })
            .collect();
        cases.extend(self.unknown.iter().map(|to| Case { values: Vec::new(), target: Flow::id(*to) }));
        cases.sort_by_key(|case| (case.values.first().copied(), case.target));
        let kind = ConditionKind::Switch { value: self.value, cases, default: default.map(Flow::id) };
        let position = flow.units.position(address).cloned();
        Some(Condition { id: builder.id(address), position, kind, members })
    }
}

/// The numbers for which a block's branch is taken, if it compares the number of the switch with a constant.
fn compared(builder: &Builder<'_>, number: &Number<'_>, at: usize) -> Option<NumberSet> {
    let (found, offset, size, comparison) = builder.against_constant(at)?;
    let same = at == number.head || number.operand.same_place(&found);
    if size != number.size || !(same || is_copy(builder, number.head, &found)) {
        return None;
    }
    let Operand::Constant(constant) = comparison.right else { return None };
    NumberSet::related(comparison.relation, comparison.numbers, constant, offset, size)
}

fn is_switch(builder: &Builder<'_>, at: usize) -> bool {
    let units = builder.flow.units;
    let text = builder.flow.origin(at).and_then(|origin| units.text_of(origin));
    text.is_some_and(|(text, unit)| text.is_switch(unit))
}

/// Whether a place holds a copy of the number that the root compares: compilers put one on the stack.
fn is_copy(builder: &Builder<'_>, root: usize, found: &Operand) -> bool {
    let Some(place) = found.place() else { return false };
    let Some(trace) = builder.flow.traces.get(root) else { return false };
    let Some((number, _, size, _)) = builder.against_constant(root) else { return false };
    trace.values.at_end(place).is_some_and(|copy| trace.operand(copy, size).same_place(&number))
}

/// Whether a comparison decides whether a table is used, by going where the table's default is.
fn is_default_shared(builder: &Builder<'_>, root: usize, at: usize) -> bool {
    let default = table(builder, at).and_then(|table| table.default);
    let default = default.map(|default| builder.flow.land(default.0 as usize));
    default.is_some_and(|default| builder.flow.successors(root).contains(&default))
}

/// Whether a block does nothing but compute what it compares.
fn is_pure(builder: &Builder<'_>, at: usize) -> bool {
    builder.flow.traces.get(at).is_some_and(|trace| trace.pure)
}
