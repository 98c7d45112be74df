//! How decisions are made to go another way.

use lift::{Decoded, Reg};
use linux::Process;
use machine::{Action, Edit, Intervention, Time};
use program::conditions::{Exit, Member, MemberKind, Step};
use program::{BlockId, ConditionKind, Program};
use replay::{Diversion, Outcome, Scanner};

use super::verify::Change;
use crate::instances::{Instance, KnownCondition};

/// Instructions that the next part of a condition may take to be decided: it may call functions.
const LONGEST_PART: u64 = 1 << 20;

/// What has to be forced for one decision to go another way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// What is done to the first part.
    first: Action,
    /// The parts that are decided then and that were not before, in order: where each is, and what is done to it.
    parts: Vec<(u64, Action)>,
    /// Where the ways meet again.
    pub join: Option<u64>,
}

/// A run in which a decision has gone another way.
pub struct Diverted {
    pub run: Diversion,
    /// Nothing has happened until all was decided but what the machine did itself.
    pub is_plain: bool,
    /// What was done.
    pub interventions: Vec<Intervention>,
}

impl Switch {
    /// The other side.
    pub fn of(known: &KnownCondition, instance: &Instance) -> Switch {
        let wanted = instance.exit.map(Exit::other);
        let parts = wanted.map_or(Vec::new(), |wanted| parts(known, instance, wanted));
        let parts =
            parts.into_iter().map(|(address, side)| (address, Action::ForceCondition(side))).collect();
        Switch { first: Action::FlipBranch, parts, join: known.join }
    }

    /// Another case of a switch statement, if there is a way to force it.
    pub fn to_case(
        program: &Program,
        known: &KnownCondition,
        target: BlockId,
        address: u64,
    ) -> Option<Switch> {
        let way = way_to(&known.condition.members, target)?;
        let force = |&(number, side): &(usize, Option<bool>)| {
            let member = known.condition.members.get(number)?;
            let action = match side {
                Some(side) => Action::ForceCondition(side),
                None => Action::SetValue { reg: register_of_jump(program, member.address)?, value: address },
            };
            Some((member.address, action))
        };
        let mut parts = way.iter().map(force).collect::<Option<Vec<_>>>()?.into_iter();
        let (_, first) = parts.next()?;
        Some(Switch { first, parts: parts.collect(), join: known.join })
    }

    /// Goes the other way at `time`, which is when `from` is.
    pub fn divert(&self, from: &mut Process, time: Time, scanner: &mut Scanner) -> Diverted {
        let mut is_plain = true;
        let mut interventions = vec![Intervention::At(time, self.first.clone())];
        let mut run = Diversion::new(from, &interventions);
        for (address, action) in &self.parts {
            let arrival = run.run_to(Some(*address), LONGEST_PART, scanner);
            is_plain &= arrival.last_event.is_none();
            if arrival.outcome != Outcome::Reached {
                // It went somewhere else on the way; that is what comes of it.
                break;
            }
            let force = Intervention::At(arrival.time, action.clone());
            run = Diversion::new(run.process(), std::slice::from_ref(&force));
            interventions.push(force);
        }
        Diverted { run, is_plain, interventions }
    }
}

/// The way from the part that decided, gone the other way, to the exit that is wanted.
fn parts(known: &KnownCondition, instance: &Instance, wanted: Exit) -> Vec<(u64, bool)> {
    let members = &known.condition.members;
    let Some(decided) = members.get(usize::from(instance.member)) else { return Vec::new() };
    let mut parts = Vec::new();
    let other = if decided.holds == Step::Exit(wanted.other()) { decided.fails } else { decided.holds };
    let mut step = other;
    // Each member comes after the one that leads to it, so this ends.
    while let Step::Member(number) = step {
        let Some(member) = members.get(number).filter(|_| parts.len() < members.len()) else { break };
        let side = side_to(member, wanted);
        parts.push((member.address, side));
        if member.kind != MemberKind::Jump {
            break;
        }
        step = if side { member.holds } else { member.fails };
    }
    parts
}

/// The side of a member that leads to an exit, at once if it can.
fn side_to(member: &Member, wanted: Exit) -> bool {
    let is_it = |step: Step| step == Step::Exit(wanted);
    is_it(member.holds)
        || member.kind == MemberKind::Jump && !is_it(member.fails) && matches!(member.holds, Step::Member(_))
}

/// How to come through the comparisons of a switch statement to a block: the members, and the sides that they go to; `None` for a
/// table, which can lead to any.
fn way_to(members: &[Member], target: BlockId) -> Option<Vec<(usize, Option<bool>)>> {
    let mut from: Vec<Option<(usize, bool)>> = vec![None; members.len()];
    let mut open = std::collections::VecDeque::from([0]);
    while let Some(number) = open.pop_front() {
        let member = members.get(number)?;
        let sides = [(member.holds, true), (member.fails, false)];
        let leads = sides.into_iter().find(|(step, _)| *step == Step::Block(target)).map(|(_, side)| side);
        if leads.is_some() || member.kind == MemberKind::Table {
            let mut way = vec![(number, leads)];
            let mut at = number;
            while let Some((before, side)) = from.get(at).copied().flatten() {
                way.push((before, Some(side)));
                at = before;
            }
            way.reverse();
            return Some(way);
        }
        for (step, side) in sides {
            if let Step::Member(next) = step
                && next != 0
                && let Some(place @ None) = from.get_mut(next)
            {
                *place = Some((number, side));
                open.push_back(next);
            }
        }
    }
    None
}

/// The register that the instruction at an address jumps by.
fn register_of_jump(program: &Program, address: u64) -> Option<Reg> {
    let Decoded::Instruction(instruction) = lift::decode(program.file_bytes(address)?, address) else {
        return None;
    };
    let mut ops = Vec::new();
    lift::lift(&instruction, &mut ops);
    lift::jump_register(&ops)
}

/// How all decisions of a condition are made to go another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Always {
    /// Each goes the other way.
    Inverted,
    /// All end so.
    Ends(Exit),
}

impl Always {
    /// The ways that there are for a condition.
    pub fn of(known: &KnownCondition) -> Vec<Always> {
        match *known.condition.members {
            [_] => vec![Always::Inverted, Always::Ends(Exit::First), Always::Ends(Exit::Second)],
            _ => Exit::BOTH.map(Always::Ends).to_vec(),
        }
    }

    /// The same in the words of the source.
    pub fn change(self, known: &KnownCondition) -> Change {
        match (self, &known.condition.kind) {
            (Always::Inverted, _) => Change::Inverted,
            (Always::Ends(exit), ConditionKind::Branch { true_exit, .. }) => {
                Change::Always(true_exit.map(|yes| yes == exit))
            }
            (Always::Ends(exit), ConditionKind::Value { .. }) => Change::Always(Some(exit == Exit::First)),
            (Always::Ends(_), _) => Change::Always(None),
        }
    }

    pub fn interventions(self, known: &KnownCondition) -> Vec<Intervention> {
        let edit = |member: &Member| match self {
            Always::Inverted => Edit::Inverted,
            Always::Ends(exit) => Edit::Side(side_to(member, exit)),
        };
        let members = known.condition.members.iter();
        members.map(|member| Intervention::Always(member.address, edit(member))).collect()
    }
}
