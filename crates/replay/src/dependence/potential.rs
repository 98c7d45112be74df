//! Dependences on what did not happen: a condition that, had it gone the other way, would have given a needed byte
//! another value.
//!
//! Code alone cannot tell, since it is blind to which pointers meet; so it is tried. At a condition in scope the run is
//! diverted to the other side, up to where the two ways meet again, and what was written on that way is compared with
//! what is needed.

use linux::Process;
use machine::{Action, Intervention, Time, Unwatched};
use program::conditions::{MemberKind, Step};
use program::{Condition, ConditionKind};

use super::code::Code;
use crate::diversion::{Arrival, Diversion, Outcome, Scanner};

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Conditions that are made to go the other way.
    pub experiments: u64,
    /// Instructions that one of them may take to where the ways meet.
    pub instructions: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { experiments: 100_000, instructions: 100_000 }
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    pub experiments: u64,
    /// Of them, those in which something needed was written.
    pub telling: u64,
    /// Those that did not come to where the ways meet: too long, or the other side ends the program or the function.
    pub cut: u64,
    /// Conditions that were not tried, because there were too many.
    pub left_out: u64,
}

/// Instructions between two states that are kept of a segment.
const SPACING: u64 = 1 << 12;

pub struct Potential {
    bounds: Bounds,
    pub tried: Tried,
    scanner: Scanner,
    /// States of the segment at hand, in order.
    states: Vec<Process>,
}

impl Potential {
    pub fn new(bounds: Bounds) -> Potential {
        Potential { bounds, tried: Tried::default(), scanner: Scanner::default(), states: Vec::new() }
    }

    /// Another segment is at hand.
    pub fn turn(&mut self) {
        self.states.clear();
    }

    /// What the other side of the condition that the branch at `address` decided at `time` writes, up to where the
    /// two sides meet. `before` is a state before that in the segment.
    pub fn other_side(
        &mut self,
        code: &Code<'_>,
        before: &mut Process,
        time: Time,
        address: u64,
    ) -> Option<Arrival> {
        let members = deciding(code, address)?;
        if self.tried.experiments >= self.bounds.experiments {
            self.tried.left_out += 1;
            return None;
        }
        self.tried.experiments += 1;
        let meeting = code.flow.function(address)?.reconvergence(address);
        let mut state = self.state(before, time);
        let flip = Intervention::At(time, Action::FlipBranch);
        let mut diversion = Diversion::new(&mut state, &[flip]);
        // The parts that are asked after this one are made to agree.
        for (member, side) in members {
            let arrival = diversion.run_to(Some(member), self.bounds.instructions, &mut self.scanner);
            if arrival.outcome != Outcome::Reached {
                self.tried.cut += 1;
                return None;
            }
            let force = Intervention::At(diversion.time(), Action::ForceCondition(side));
            diversion = Diversion::new(diversion.process(), &[force]);
        }
        let arrival = diversion.run_to(meeting, self.bounds.instructions, &mut self.scanner);
        let met =
            arrival.outcome == Outcome::Reached || meeting.is_none() && arrival.outcome == Outcome::Left;
        self.tried.cut += u64::from(!met);
        Some(arrival)
    }

    fn state(&mut self, before: &mut Process, time: Time) -> Process {
        if self.states.is_empty() {
            let mut process = before.fork();
            loop {
                self.states.push(process.fork());
                let next = process.machine.time.0.saturating_add(SPACING);
                if next > time.0 || !matches!(process.run(Time(next), &mut Unwatched), linux::Exit::Until) {
                    break;
                }
            }
        }
        let after = self.states.partition_point(|state| state.machine.time <= time);
        let nearest = self.states.get_mut(after.saturating_sub(1));
        let mut process = nearest.map_or_else(|| before.fork(), Process::fork);
        process.run(time, &mut Unwatched);
        process
    }
}

/// If the branch is the last that was asked of its condition: the other branches that have to go a certain way for the
/// condition to come out differently, when this one is flipped. `None` if it is not what decided.
fn deciding(code: &Code<'_>, address: u64) -> Option<Vec<(u64, bool)>> {
    let conditions = code.program().conditions(address)?;
    let has_member = |condition: &&Condition| {
        matches!(condition.kind, ConditionKind::Branch { .. })
            && condition
                .members
                .iter()
                .any(|member| member.address == address && member.kind == MemberKind::Jump)
    };
    // A branch of which no more is known stands for itself.
    let Some(condition) = conditions.iter().find(has_member) else { return Some(Vec::new()) };
    let member = condition.members.iter().find(|member| member.address == address)?;
    let steps = [member.holds, member.fails];
    let (decided, other) = match steps {
        [Step::Exit(exit), other] if !matches!(other, Step::Exit(_)) => (exit, other),
        [other, Step::Exit(exit)] if !matches!(other, Step::Exit(_)) => (exit, other),
        _ => return Some(Vec::new()),
    };
    let mut forced = Vec::new();
    let mut next = other;
    while let Step::Member(number) = next {
        let member = condition.members.get(number)?;
        if forced.len() > condition.members.len() {
            return None;
        }
        let is_wanted = |step: Step| matches!(step, Step::Exit(exit) if exit != decided);
        let leads_on = |step: Step| matches!(step, Step::Member(_));
        let side = is_wanted(member.holds) || !is_wanted(member.fails) && leads_on(member.holds);
        forced.push((member.address, side));
        next = if side { member.holds } else { member.fails };
    }
    Some(forced)
}
