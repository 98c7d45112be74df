//! Dependences on what did not happen: a condition that, had it gone the other way, would have given a needed byte
//! another value.
//!
//! Code alone cannot tell, since it is blind to which pointers meet; so it is tried. At a condition in scope the run is
//! diverted to the other side, up to where the two ways meet again, and what was written on that way is compared with
//! what is needed: first with the conditions on that side as they fall, then with these forced, too.
//!
//! A jump by a table has a side for each other place that it can lead to; each is tried.
//!
//! What an experiment writes depends on the run alone, so no instance is tried twice; and where all that a side can write
//! lies at fixed places of its frame, the first experiment in a frame speaks for the others.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use linux::{Place, Process, Snapshot};
use machine::{Action, Intervention, Time, Unwatched};
use program::conditions::{MemberKind, Step};
use program::{BlockId, Condition, ConditionKind, Terminator};

use super::code::Code;
use super::forced::{Exploration, Forced};
use super::need::{Need, Use};
use super::pending::Pending;
use super::sides::Side;
use crate::diversion::{Diversion, Outcome, Scanner, Writes};
use crate::flow::FunctionFlow;
use crate::patience::Patience;

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Conditions that are made to go the other way, those apart of which an earlier experiment has told all.
    pub experiments: u64,
    /// Instructions that one of them may take to where the ways meet.
    pub instructions: u64,
    /// Ways with forced conditions, for one condition and in all; none is tried with 0.
    pub ways: u64,
    pub ways_in_all: u64,
    /// Instructions of one of those.
    pub forced_instructions: u64,
}

impl Bounds {
    pub const DEFAULT: Bounds = Bounds {
        experiments: 100_000,
        instructions: 100_000,
        ways: 16,
        ways_in_all: 50_000,
        forced_instructions: 10_000,
    };
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds::DEFAULT
    }
}

/// How sure it is that the other side of a condition would have changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// It does, as the conditions on it fall.
    Strong,
    /// It could: conditions on it had to be forced.
    Weak,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Executions of conditions that have something on their other side.
    pub experiments: u64,
    /// Of them, those in which something needed was written.
    pub telling: u64,
    /// Those that did not come to where the ways meet: too long, or the other side ends the program or the function.
    pub cut: u64,
    /// Conditions, and places that a jump by a table can lead to, that were not tried because there were too many.
    pub left_out: u64,
    /// Those that needed no run, since an earlier one had told all.
    pub known: u64,
    pub forced: Forced,
}

/// A branch that decided in the run.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    pub time: Time,
    pub address: u64,
    /// Where it led to.
    pub went: u64,
    /// The return slot of the activation, if what its code writes by the frame pointer follows from that.
    pub frame: Option<u64>,
}

/// What experiments with the conditions of a run wrote, kept from one pass over it to the next.
#[derive(Default)]
pub struct Experiments {
    bounds: Option<Bounds>,
    /// By when, and by where the other side begins if it is one of several.
    known: BTreeMap<(Time, Option<u64>), Known>,
    /// How many ranges that takes.
    ranges: usize,
}

#[derive(Clone)]
struct Known {
    /// As conditions fall; `None` where the condition's own parts could not be made to agree.
    strong: Option<Arc<Writes>>,
    has_met: bool,
    weak: Option<(Arc<Writes>, Forced)>,
}

/// The side that a condition did not take.
struct OtherSide {
    decision: Decision,
    /// Where it begins, if it is one of several that a jump by a table can lead to.
    target: Option<u64>,
    flow: Rc<FunctionFlow>,
    /// `None` if the graph does not tell.
    side: Option<Rc<Side>>,
    /// The other parts of the condition, and how they have to fall.
    members: Vec<(u64, bool)>,
    /// The branch, the target and the frame, if all that the side can write follows from them.
    frame: Option<SideInFrame>,
}

type SideInFrame = (u64, Option<u64>, u64);

impl OtherSide {
    fn meeting(&self) -> Option<u64> {
        self.flow.reconvergence(self.decision.address)
    }

    /// Nothing is decided on it.
    fn is_straight(&self) -> bool {
        self.side.as_ref().is_some_and(|side| !side.decides)
    }

    fn is_safe(&self) -> bool {
        self.side.as_ref().is_some_and(|side| side.is_safe)
    }
}

/// So many ranges of memory are kept in all.
const MOST_RANGES: usize = 1 << 21;
/// So many of the other places that a jump by a table can lead to are tried; the others are counted.
const MOST_TARGETS: usize = 16;
/// Instructions between two states that are kept of a segment.
const SPACING: u64 = 1 << 12;

pub struct Potential {
    bounds: Bounds,
    pub tried: Tried,
    scanner: Scanner,
    /// States of the segment at hand, in order.
    states: Vec<Process>,
    /// By the branch and where it led to, or for a jump by a table where it could have led to.
    sides: HashMap<(u64, u64), Option<Rc<Side>>>,
    /// All that a side can write in a frame.
    all: HashMap<SideInFrame, Arc<Writes>>,
    pub experiments: Experiments,
    patience: Patience,
}

impl Potential {
    pub fn new(bounds: Bounds) -> Potential {
        Potential {
            bounds,
            tried: Tried::default(),
            scanner: Scanner::default(),
            states: Vec::new(),
            sides: HashMap::new(),
            all: HashMap::new(),
            experiments: Experiments::default(),
            patience: Patience::default(),
        }
    }

    /// Goes on with what is known from other passes over the same run, as long as somebody waits.
    pub fn remember(&mut self, experiments: Experiments, patience: Patience) {
        self.patience = patience;
        if experiments.bounds == Some(self.bounds) {
            self.experiments = experiments;
        }
        self.experiments.bounds = Some(self.bounds);
    }

    /// Another segment is at hand.
    pub fn turn(&mut self) {
        self.states.clear();
    }

    /// What is needed and would, or could, have been written had the condition that was decided there gone the other
    /// way. `before` is a state before that in the segment.
    pub fn omission(
        &mut self,
        code: &Code<'_>,
        before: &mut Process,
        decision: Decision,
        pending: &mut Pending,
    ) -> Option<(Need, Strength)> {
        let other = self.other_side(code, decision)?;
        self.try_side(before, &other, pending)
    }

    /// The same for a jump by a table, which could have gone several other ways.
    pub fn switch_omission(
        &mut self,
        code: &Code<'_>,
        before: &mut Process,
        decision: Decision,
        pending: &mut Pending,
    ) -> Option<(Need, Strength)> {
        let flow = code.flow.function(decision.address)?;
        let targets = other_targets(&flow, &decision);
        self.tried.left_out += targets.len().saturating_sub(MOST_TARGETS) as u64;
        let mut found: Option<(Need, Strength)> = None;
        for (start, target) in targets.into_iter().take(MOST_TARGETS) {
            let other = self.switch_side(code, decision, &flow, start, target);
            let one = self.try_side(before, &other, pending);
            found = found.into_iter().chain(one).reduce(|one, other| {
                // A side that does write it says more than one that could.
                (one.0.joined(other.0), one.1.min(other.1))
            });
        }
        found
    }

    fn switch_side(
        &mut self,
        code: &Code<'_>,
        decision: Decision,
        flow: &Rc<FunctionFlow>,
        start: u64,
        target: BlockId,
    ) -> OtherSide {
        let make_side = || Side::beginning_with(code.program(), flow, decision.address, target).map(Rc::new);
        let side = self.sides.entry((decision.address, start)).or_insert_with(make_side).clone();
        let is_fixed = side.as_ref().is_some_and(|side| side.is_fixed);
        let frame = decision.frame.filter(|_| is_fixed).map(|frame| (decision.address, Some(start), frame));
        let members = Vec::new();
        OtherSide { decision, target: Some(start), flow: flow.clone(), side, members, frame }
    }

    fn try_side(
        &mut self,
        before: &mut Process,
        other: &OtherSide,
        pending: &mut Pending,
    ) -> Option<(Need, Strength)> {
        if let Some(all) = other.frame.and_then(|frame| self.all.get(&frame)) {
            let need = needed(pending, all);
            if need.is_none() || other.is_straight() && other.is_safe() {
                self.tried.experiments += 1;
                self.tried.known += 1;
                self.tried.telling += u64::from(need.is_some());
                return need.map(|need| (need, Strength::Strong));
            }
        }
        let is_enough = self.tried.experiments - self.tried.known >= self.bounds.experiments;
        if is_enough || self.patience.is_over() {
            self.tried.left_out += 1;
            return None;
        }
        self.tried.experiments += 1;
        let key = (other.decision.time, other.target);
        let (mut known, origin) = match self.experiments.known.get(&key) {
            Some(known) => (known.clone(), None),
            None => self.strong(before, other),
        };
        self.tried.cut += u64::from(!known.has_met);
        if let (Some(frame), Some(writes), true, true) =
            (other.frame, &known.strong, known.has_met, other.is_straight())
        {
            self.all.insert(frame, writes.clone());
        }
        let strong = known.strong.as_ref().and_then(|writes| needed(pending, writes));
        self.tried.telling += u64::from(strong.is_some());
        let found = match strong {
            Some(need) => Some((need, Strength::Strong)),
            None if known.strong.is_some() && other.side.is_some() && !other.is_straight() => {
                self.force(before, other, &mut known, origin);
                self.weak_need(&known, pending)
            }
            None => None,
        };
        self.experiments.keep(key, known);
        found
    }

    /// What is known of the other side without running it; `None` if there is nothing on it, or nothing was decided.
    fn other_side(&mut self, code: &Code<'_>, decision: Decision) -> Option<OtherSide> {
        let Decision { address, went, frame, .. } = decision;
        let members = deciding(code, address)?;
        let flow = code.flow.function(address)?;
        let make_side = || Side::of(code.program(), &flow, address, went).map(Rc::new);
        let side = self.sides.entry((address, went)).or_insert_with(make_side).clone();
        if side.as_ref().is_some_and(|side| side.is_empty()) {
            return None;
        }
        let is_fixed = side.as_ref().is_some_and(|side| side.is_fixed && members.is_empty());
        let frame = frame.filter(|_| is_fixed).map(|frame| (address, None, frame));
        Some(OtherSide { decision, target: None, flow, side, members, frame })
    }

    /// Finds out what can be written with conditions forced, unless that is known or too much has been tried.
    fn force(
        &mut self,
        before: &mut Process,
        other: &OtherSide,
        known: &mut Known,
        origin: Option<Snapshot>,
    ) {
        let left = self.bounds.ways_in_all.saturating_sub(self.tried.forced.ways);
        let most_ways = self.bounds.ways.min(left);
        if known.weak.is_none() && most_ways > 0 {
            let origin = origin.or_else(|| self.strong(before, other).1);
            known.weak = origin.and_then(|origin| self.weak(origin, other, most_ways));
        }
        if let (Some(frame), Some((writes, forced))) = (other.frame, &known.weak)
            && forced.is_complete()
        {
            self.all.insert(frame, writes.clone());
        }
    }

    fn weak_need(&mut self, known: &Known, pending: &mut Pending) -> Option<(Need, Strength)> {
        let Some((writes, forced)) = &known.weak else {
            self.tried.forced.left_out += 1;
            return None;
        };
        self.tried.forced.add(forced);
        let need = needed(pending, writes);
        self.tried.forced.telling += u64::from(need.is_some());
        need.map(|need| (need, Strength::Weak))
    }

    /// The other side as its conditions fall, and the state with which it begins.
    fn strong(&mut self, before: &mut Process, other: &OtherSide) -> (Known, Option<Snapshot>) {
        let time = other.decision.time;
        let mut state = self.state(before, time);
        let mut diversion = match other.target {
            None => Diversion::new(&mut state, &[Intervention::At(time, Action::FlipBranch)]),
            // A jump does nothing but lead there.
            Some(target) => {
                state.machine.cpu.rip = target;
                Diversion::new(&mut state, &[])
            }
        };
        // The parts that are asked after this one are made to agree.
        for (member, side) in &other.members {
            let arrival = diversion.run_to(Some(*member), self.bounds.instructions, &mut self.scanner);
            if arrival.outcome != Outcome::Reached {
                return (Known { strong: None, has_met: false, weak: None }, None);
            }
            let force = Intervention::At(diversion.time(), Action::ForceCondition(*side));
            diversion = Diversion::new(diversion.process(), &[force]);
        }
        let meeting = other.meeting();
        let arrival = diversion.run_to(meeting, self.bounds.instructions, &mut self.scanner);
        let has_met =
            arrival.outcome == Outcome::Reached || meeting.is_none() && arrival.outcome == Outcome::Left;
        let known = Known { strong: Some(Arc::new(arrival.writes)), has_met, weak: None };
        (known, Some(diversion.into_origin()))
    }

    /// The same with conditions forced.
    fn weak(&mut self, origin: Snapshot, other: &OtherSide, most_ways: u64) -> Option<(Arc<Writes>, Forced)> {
        let flow = &*other.flow;
        let members = other.members.iter();
        let own: BTreeSet<_> = members.filter_map(|(member, _)| flow.block_at(*member)).collect();
        let (side, meeting) = (other.side.as_deref()?, other.meeting());
        let is_inside = other.target.is_some();
        let exploration = Exploration { flow, side, meeting, bounds: self.bounds, most_ways, is_inside };
        let (writes, forced) = exploration.run(origin, own, &mut self.scanner);
        Some((Arc::new(writes), forced))
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

impl Experiments {
    fn keep(&mut self, key: (Time, Option<u64>), known: Known) {
        let ranges = known.ranges();
        if self.ranges.saturating_add(ranges) <= MOST_RANGES {
            self.ranges += ranges;
            let before = self.known.insert(key, known);
            self.ranges -= before.map_or(0, |before| before.ranges());
        }
    }
}

impl Known {
    /// How many ranges it keeps, and one for itself.
    fn ranges(&self) -> usize {
        let weak = self.weak.as_ref().map(|(writes, _)| writes);
        1 + self.strong.iter().chain(weak).map(|writes| writes.memory.len()).sum::<usize>()
    }
}

impl Tried {
    pub(super) fn add(&mut self, other: Tried) {
        self.experiments += other.experiments;
        self.telling += other.telling;
        self.cut += other.cut;
        self.left_out += other.left_out;
        self.known += other.known;
        self.forced.add(&other.forced);
    }
}

/// Where else a jump by a table can lead to before the ways meet, in the order of addresses.
fn other_targets(flow: &FunctionFlow, decision: &Decision) -> BTreeMap<u64, BlockId> {
    let cfg = flow.cfg();
    let block = flow.block_at(decision.address).and_then(|block| cfg.block(block));
    let Some(Terminator::Switch { targets }) = block.map(|block| &block.terminator) else {
        return BTreeMap::new();
    };
    let meeting = flow.reconvergence(decision.address);
    let starts = targets.iter().filter_map(|target| Some((cfg.block(*target)?.start, *target)));
    starts.filter(|(start, _)| *start != decision.went && Some(*start) != meeting).collect()
}

/// The nearest need of something that was written.
fn needed(pending: &mut Pending, writes: &Writes) -> Option<Need> {
    let mut found: Option<Need> = None;
    let mut join = |need: Need| found = Some(found.map_or(need, |known| known.joined(need)));
    for range in &writes.memory {
        for offset in pending.offsets_needed(Place::Memory(range.start), range.end - range.start) {
            pending.need_of_memory(range.start + offset).into_iter().for_each(&mut join);
        }
    }
    for reg in writes.registers.iter() {
        pending.need_of_slot(reg).into_iter().for_each(&mut join);
    }
    found.map(|need| need.used_as(Use::Control))
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
