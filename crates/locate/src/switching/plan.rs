//! How one decision is made to go the other way.

use linux::Process;
use machine::{Action, Intervention, Time};
use program::conditions::{Exit, MemberKind, Step};
use replay::{Diversion, Outcome, Scanner, Writes};

use crate::instances::{Instance, KnownCondition};

/// Instructions that the next part of a condition may take to be decided: it may call functions.
const LONGEST_PART: u64 = 1 << 20;

/// What has to be forced for a decision to go the other way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switch {
    /// The parts that are decided then and that were not before, in order: where each is, and which way it has to go.
    parts: Vec<(u64, bool)>,
    /// Where the ways meet again.
    pub join: Option<u64>,
}

impl Switch {
    pub fn of(known: &KnownCondition, instance: &Instance) -> Switch {
        let wanted = instance.exit.map(Exit::other);
        let parts = wanted.map_or(Vec::new(), |wanted| parts(known, instance, wanted));
        Switch { parts, join: known.join }
    }

    /// Goes the other way at `time`, which is when `from` is; and tells what was written until all is decided.
    pub fn divert(&self, from: &mut Process, time: Time, scanner: &mut Scanner) -> (Diversion, Writes) {
        let mut writes = Writes::default();
        let mut diversion = Diversion::new(from, &[Intervention::At(time, Action::FlipBranch)]);
        for (address, side) in &self.parts {
            let arrival = diversion.run_to(Some(*address), LONGEST_PART, scanner);
            writes.join(&arrival.writes);
            if arrival.outcome != Outcome::Reached {
                // It went somewhere else on the way; that is what comes of it.
                break;
            }
            let force = Intervention::At(arrival.time, Action::ForceCondition(*side));
            diversion = Diversion::new(diversion.process(), &[force]);
        }
        (diversion, writes)
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
        if member.kind != MemberKind::Jump {
            parts.push((member.address, member.holds == Step::Exit(wanted)));
            break;
        }
        let side = member.holds == Step::Exit(wanted)
            || member.fails != Step::Exit(wanted) && matches!(member.holds, Step::Member(_));
        parts.push((member.address, side));
        step = if side { member.holds } else { member.fails };
    }
    parts
}
