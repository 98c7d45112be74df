//! From groups of branches to conditions.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use lift::Size;

use crate::cfg::{BlockId, Loops, Terminator};

use super::boolean::Boolean;
use super::comparison::{Comparison, Operand};
use super::condition::{Condition, ConditionId, ConditionKind, Exit, Member, MemberKind, Step};
use super::expression::Expr;
use super::flow::Flow;
use super::groups::{Decider, Group, Outcome};
use super::steps::Steps;
use super::text::{Text, Unit};
use super::units::Origin;

/// How far the end of an assertion's other side is looked for.
const LONGEST_FAILURE: usize = 4;

/// How far the next branch after an exit is looked for.
const LONGEST_WALK: usize = 8;

pub(super) struct Builder<'a> {
    pub flow: &'a Flow<'a>,
    /// Of each block, in an order in which a condition is evaluated.
    pub rank: Vec<usize>,
    /// Outcomes that are part of a condition: (block, place in the trace's list).
    pub used: BTreeSet<(usize, usize)>,
    loops: OnceCell<Loops>,
}

impl<'a> Builder<'a> {
    pub fn new(flow: &'a Flow<'a>) -> Builder<'a> {
        let mut rank = vec![0; flow.cfg.blocks.len()];
        for (number, at) in flow.post_order().into_iter().rev().enumerate() {
            rank[at] = number;
        }
        Builder { flow, rank, used: BTreeSet::new(), loops: OnceCell::new() }
    }

    pub fn id(&self, address: u64) -> ConditionId {
        ConditionId { function: self.flow.cfg.start, address }
    }

    /// The condition that a group is.
    pub fn group(&mut self, group: Group) -> Option<Condition> {
        let outcome = group.outcome?;
        let mut deciders = self.with_inner_bits(group.deciders);
        deciders.sort_by_key(|decider| (self.rank.get(decider.block).copied(), self.address(decider)));
        let inverted = match outcome {
            Outcome::Value(join, place) => {
                self.flow.traces.get(join).is_some_and(|trace| trace.turns_round(place))
            }
            Outcome::Exits(_) => false,
        };
        let steps = Steps::new(self.flow, &deciders, &outcome, inverted);
        let members: Vec<Member> = deciders
            .iter()
            .enumerate()
            .map(|(number, decider)| self.member(decider, number, &steps))
            .collect();
        let address = members.first()?.address;
        let kind = match outcome {
            Outcome::Exits(exits) => self.branch(exits, &deciders, group.entry),
            Outcome::Value(join, place) => ConditionKind::Value {
                join: Some(Flow::id(join)),
                inverted,
                place: self.flow.traces.get(join).map(|trace| trace.operand_of(place)),
            },
        };
        let position = self.flow.units.position(address).cloned();
        Some(Condition { id: self.id(address), position, kind, members })
    }

    /// Adds what branches decide by when that is more than one outcome, and marks all outcomes as used.
    fn with_inner_bits(&mut self, deciders: Vec<Decider>) -> Vec<Decider> {
        let mut all = Vec::with_capacity(deciders.len());
        for decider in deciders {
            if let Some(bit) = decider.bit {
                self.used.insert((decider.block, bit));
            } else {
                let bits = self.use_branch(decider.block);
                if bits.len() > 1 {
                    all.extend(bits.into_iter().map(|bit| Decider { block: decider.block, bit: Some(bit) }));
                }
            }
            all.push(decider);
        }
        all
    }

    /// Marks the outcomes that a block's branch decides by as used, and says which they are.
    pub fn use_branch(&mut self, block: usize) -> Vec<usize> {
        let Some(trace) = self.flow.traces.get(block) else { return Vec::new() };
        if let Some(Expr::Bit(bit)) = trace.branch.map(|id| trace.values.get(id)) {
            self.used.insert((block, *bit));
        }
        let bits = trace.branch_boolean().map(|boolean| boolean.bits()).unwrap_or_default();
        self.used.extend(bits.iter().map(|bit| (block, *bit)));
        bits
    }

    fn address(&self, decider: &Decider) -> u64 {
        let bit = decider.bit.and_then(|bit| self.flow.traces.get(decider.block)?.bits.get(bit));
        let last = || self.flow.cfg.blocks.get(decider.block).map_or(0, |block| block.last);
        bit.map_or_else(last, |bit| bit.address)
    }

    fn member(&self, decider: &Decider, number: usize, steps: &Steps<'_>) -> Member {
        let (kind, comparison) = match decider.bit {
            None => (MemberKind::Jump, self.branch_comparison(decider.block)),
            Some(bit) => {
                let bit = self.flow.traces.get(decider.block).and_then(|trace| trace.bits.get(bit));
                (bit.map_or(MemberKind::Set, |bit| bit.kind), bit.and_then(|bit| bit.comparison.clone()))
            }
        };
        Member {
            address: self.address(decider),
            block: Flow::id(decider.block),
            kind,
            comparison,
            holds: steps.step(number, true),
            fails: steps.step(number, false),
        }
    }

    /// What the branch at the end of a block compares.
    pub fn branch_comparison(&self, block: usize) -> Option<Comparison> {
        let trace = self.flow.traces.get(block)?;
        if let Expr::IsZero(size, of) = *trace.values.get(trace.branch?) {
            let operand = trace.operand(of, size);
            return Comparison::of_result(lift::Condition::Equal, size, operand);
        }
        match trace.branch_boolean()? {
            Boolean::Bit { bit, inverted } => {
                let comparison = trace.bits.get(bit)?.comparison.clone()?;
                Some(if inverted { comparison.negated() } else { comparison })
            }
            _ => None,
        }
    }

    fn branch(&self, exits: [usize; 2], deciders: &[Decider], entry: usize) -> ConditionKind {
        let reached = exits.map(|exit| self.reached(exit, deciders));
        let sides = [0, 1].map(|n| self.side(exits[n], &reached[n], entry));
        // What follows a statement is reached by both sides, so one of them can do without a position within it. The
        // sides of a choice within an expression each have theirs.
        let controls = self.controls(entry);
        let is_part = self.is_part(exits, entry);
        let true_exit = match sides {
            _ if is_part || controls && self.has_more(exits, entry) => None,
            [Some(true), Some(false)] => Some(Exit::First),
            [Some(false), Some(true)] => Some(Exit::Second),
            [Some(true), None] | [None, Some(false)] if controls => Some(Exit::First),
            [Some(false), None] | [None, Some(true)] if controls => Some(Exit::Second),
            _ => None,
        };
        let true_exit = true_exit.or_else(|| if is_part { None } else { self.goes_round(exits, entry) });
        let shown = [0, 1].map(|n| match reached[n][..] {
            [only] => Flow::id(only),
            _ => Flow::id(exits[n]),
        });
        ConditionKind::Branch { exits: shown, true_exit }
    }

    /// Whether an exit leads to another branch of the same condition: the group is less than the source's condition then.
    fn is_part(&self, exits: [usize; 2], entry: usize) -> bool {
        let Some(origin) = self.flow.origin(entry) else { return false };
        exits.into_iter().any(|exit| exit != entry && self.next_branch_is_of(exit, origin, entry))
    }

    /// Whether an exit leads to more code of the same condition: the group may be less than that.
    fn has_more(&self, exits: [usize; 2], entry: usize) -> bool {
        let Some(origin) = self.flow.origin(entry).filter(|_| !self.asserts(entry)) else { return false };
        let has_more = |exit: usize| {
            let Some(block) = self.flow.cfg.blocks.get(exit) else { return false };
            // The jump back to the condition of a loop has its position.
            let end = if matches!(block.terminator, Terminator::Next(_)) { block.last } else { block.end };
            self.flow.units.touches(block.start, end, origin)
        };
        exits.into_iter().any(|exit| exit != entry && has_more(exit))
    }

    /// Of the condition of a loop the exit that stays in the loop, where the other one leaves it: elements of a range are made at the
    /// place of the condition, so their text tells nothing.
    fn goes_round(&self, exits: [usize; 2], entry: usize) -> Option<Exit> {
        self.text(entry).filter(|(text, unit)| text.is_loop(*unit))?;
        let loops = self.loops.get_or_init(|| self.flow.cfg.analyse().loops);
        let own = loops.innermost(Flow::id(entry))?;
        match exits.map(|exit| loops.contains(own, Flow::id(exit))) {
            [true, false] => Some(Exit::First),
            [false, true] => Some(Exit::Second),
            _ => None,
        }
    }

    /// Whether the next branch from a block on is one of an expression. A branch of no line can be, too.
    fn next_branch_is_of(&self, start: usize, origin: Origin, entry: usize) -> bool {
        let mut at = start;
        for _ in 0..LONGEST_WALK {
            match self.flow.successors(at)[..] {
                // A loop came round.
                _ if at == entry => return false,
                [a, b] if self.flow.is_branch(at) => {
                    let is_of_it = self.flow.origin(at).is_none_or(|found| found == origin);
                    // Rust checks indices and sums within a condition, and ends the program.
                    match [a, b].map(|side| self.fails(side)) {
                        [true, false] if is_of_it => at = b,
                        [false, true] if is_of_it => at = a,
                        _ => return is_of_it,
                    }
                }
                [next] => at = next,
                _ => return false,
            }
        }
        true
    }

    /// Whether the expression that a block's branch belongs to is the condition of a statement.
    fn controls(&self, block: usize) -> bool {
        self.text(block).is_some_and(|(text, unit)| text.is_controlling(unit) || text.is_assertion(unit))
    }

    fn asserts(&self, block: usize) -> bool {
        self.text(block).is_some_and(|(text, unit)| text.is_assertion(unit))
    }

    fn text(&self, block: usize) -> Option<(&Text, Unit)> {
        self.flow.origin(block).and_then(|origin| self.flow.units.text_of(origin))
    }

    /// The blocks that members jump to on their way to an exit.
    fn reached(&self, exit: usize, deciders: &[Decider]) -> Vec<usize> {
        let branches = deciders.iter().filter(|decider| decider.bit.is_none());
        let all = branches.flat_map(|decider| self.flow.raw_successors(decider.block));
        let found: BTreeSet<usize> = all.filter(|to| self.flow.land(*to) == exit).collect();
        found.into_iter().collect()
    }

    /// The side of the source's condition that an exit is, by what the text says about the code there.
    fn side(&self, exit: usize, reached: &[usize], entry: usize) -> Option<bool> {
        let origin = self.flow.origin(entry)?;
        let (text, unit) = self.flow.units.text_of(origin)?;
        if text.is_assertion(unit) {
            return self.fails(exit).then_some(false);
        }
        if exit == entry && text.is_loop(unit) {
            return Some(true);
        }
        // A jump without a row of its own belongs to the branch before it.
        let side = |at: &usize| {
            let block = self.flow.cfg.blocks.get(*at)?;
            let own = !self.flow.is_empty(*at) || self.flow.units.begins(block.start);
            own.then(|| self.flow.units.side(origin, block.start, block.end)).flatten()
        };
        let sides = reached.iter().chain([&exit]).filter_map(side);
        let sides: BTreeSet<bool> = sides.collect();
        match sides.len() {
            1 => sides.first().copied(),
            _ => None,
        }
    }

    /// Whether a block ends the program.
    fn fails(&self, start: usize) -> bool {
        let mut at = start;
        for _ in 0..LONGEST_FAILURE {
            match self.flow.cfg.blocks.get(at).map(|block| &block.terminator) {
                Some(Terminator::Stop) => return true,
                Some(Terminator::Next(BlockId(next))) => at = *next as usize,
                _ => return false,
            }
        }
        false
    }

    /// The conditions of a block that are part of no branch.
    pub fn outcomes(&mut self, block: usize) -> Vec<Condition> {
        let Some(trace) = self.flow.traces.get(block) else { return Vec::new() };
        let mut free: BTreeSet<usize> =
            (0..trace.bits.len()).filter(|bit| !self.used.contains(&(block, *bit))).collect();
        let mut found = Vec::new();
        if !free.is_empty() {
            // What is made last is made of most.
            for id in trace.values.ids().rev() {
                let Some(boolean) = trace.boolean(id) else { continue };
                let bits = boolean.bits();
                if !bits.is_empty() && bits.iter().all(|bit| free.contains(bit)) {
                    free.retain(|bit| !bits.contains(bit));
                    found.extend(self.value(block, &boolean));
                }
            }
        }
        found.extend(
            free.into_iter().filter_map(|bit| self.value(block, &Boolean::Bit { bit, inverted: false })),
        );
        found
    }

    fn value(&self, block: usize, boolean: &Boolean) -> Option<Condition> {
        let trace = self.flow.traces.get(block)?;
        let mut bits = boolean.bits();
        bits.sort();
        bits.dedup();
        let step = |number: usize, bit: usize, holds: bool| {
            let known = |part: &Boolean| match part {
                Boolean::Bit { bit: other, .. } if *other == bit => Some(holds),
                _ => None,
            };
            match super::trace::Trace::decided(boolean, &known) {
                Some(true) => Step::Exit(Exit::First),
                Some(false) => Step::Exit(Exit::Second),
                None if number + 1 < bits.len() => Step::Member(number + 1),
                // What the members before it have decided is known by then.
                None => match boolean.when_last(bit, holds) {
                    true => Step::Exit(Exit::First),
                    false => Step::Exit(Exit::Second),
                },
            }
        };
        let members: Vec<Member> = bits
            .iter()
            .enumerate()
            .filter_map(|(number, &index)| {
                let bit = trace.bits.get(index)?;
                Some(Member {
                    address: bit.address,
                    block: Flow::id(block),
                    kind: bit.kind,
                    comparison: bit.comparison.clone(),
                    holds: step(number, index, true),
                    fails: step(number, index, false),
                })
            })
            .collect();
        let first = members.first()?;
        let chooses = members.len() == 1 && first.kind == MemberKind::Move && !self.is_number(block, boolean);
        let place = trace.places().find(|place| trace.end(*place).as_ref() == Some(boolean));
        let kind = match chooses {
            true => ConditionKind::Select,
            false => ConditionKind::Value {
                join: None,
                inverted: false,
                place: place.map(|place| trace.operand_of(place)),
            },
        };
        let position = self.flow.units.position(first.address).cloned();
        Some(Condition { id: self.id(first.address), position, kind, members })
    }

    /// Whether a conditional move makes a 0 or 1.
    fn is_number(&self, block: usize, boolean: &Boolean) -> bool {
        let Some(trace) = self.flow.traces.get(block) else { return false };
        trace.values.ids().any(|id| {
            matches!(trace.values.get(id), Expr::Select { .. }) && trace.boolean(id).as_ref() == Some(boolean)
        })
    }

    /// What a block's branch compares with a constant: (operand, offset, size, comparison).
    pub fn against_constant(&self, block: usize) -> Option<(Operand, u64, Size, Comparison)> {
        let comparison = self.branch_comparison(block)?;
        let size = comparison.size;
        let Operand::Constant(_) = comparison.right else { return None };
        let (operand, offset) = match &comparison.left {
            Operand::Computed(parts) => match &**parts {
                (operand, lift::Binary::Add, Operand::Constant(offset)) => (operand.clone(), *offset),
                (operand, lift::Binary::Sub, Operand::Constant(offset)) => {
                    (operand.clone(), offset.wrapping_neg())
                }
                _ => return None,
            },
            other => (other.clone(), 0),
        };
        Some((operand, offset & size.mask(), size, comparison))
    }
}
