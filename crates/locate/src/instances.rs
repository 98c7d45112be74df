//! The conditions that a run decided, one by one.
//!
//! What is decided is a condition of the source, however many branches it is made of: `a && b` is one decision, and it is made
//! by the branch that leaves the group.

use std::collections::HashMap;

use machine::{Pass, Time};
use program::conditions::{Exit, MemberKind, Step};
use program::{BlockId, Condition, ConditionKind, Program, Scope, Stmt, Trust};
use replay::events::Ending;
use replay::{Flow, FunctionFlow, Recording, Shape, Shapes};

/// So many decisions are looked at, the last ones of the run.
const MOST_INSTANCES: usize = 1 << 20;

/// A value that a condition became is put away within so many instructions.
const MOST_AFTER: usize = 8;

/// A condition of the program, as far as switching needs it.
pub struct KnownCondition {
    pub condition: Condition,
    pub stmt: Option<Stmt>,
    /// Where its ways meet again in the same activation.
    pub join: Option<u64>,
    /// It decides whether a loop goes on: which exit leads back to it, and which does not.
    pub goes_on: Option<Exit>,
    /// How often it was decided.
    pub count: u64,
    /// Of a switch statement: where it can lead to.
    pub targets: Vec<Target>,
}

/// A case of a switch statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Inclusive ranges; none for all other numbers.
    pub values: Vec<(i64, i64)>,
    pub block: BlockId,
    pub address: u64,
}

impl KnownCondition {
    /// One of several ways is taken, not one of two.
    pub fn is_switch(&self) -> bool {
        matches!(self.condition.kind, ConditionKind::Switch { .. })
    }

    /// Whether a decision let a loop go on, so that the other way would leave out all further rounds.
    pub fn leaves_out(&self, instance: &Instance) -> bool {
        self.goes_on.is_some() && self.goes_on == instance.exit
    }

    /// Its outcome becomes a number.
    pub fn becomes_value(&self) -> bool {
        matches!(self.condition.kind, ConditionKind::Value { .. } | ConditionKind::Select)
    }
}

/// One decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its place in [`Instances::conditions`].
    pub condition: u32,
    /// Which member made it.
    pub member: u16,
    /// The side that was taken; not known of a condition that is no jump.
    pub exit: Option<Exit>,
    /// Of a switch statement: the block that it led to.
    pub target: Option<BlockId>,
    pub time: Time,
    /// When its first member was executed.
    pub since: Time,
    /// The how manieth decision of the condition it is, from 1.
    pub number: u64,
}

/// The decisions of a stretch of a run, in order.
#[derive(Default)]
pub struct Instances {
    pub conditions: Vec<KnownCondition>,
    pub list: Vec<Instance>,
    /// Decisions before the first of the list.
    pub left_out: u64,
    /// When each member of a condition was executed, and which instance of the list, counted from the very first, it belongs to.
    members: Vec<(Time, u64)>,
    /// Where the ways from each instruction in scope meet again.
    pub joins: HashMap<u64, u64>,
}

/// What a pass through a block has to do with conditions.
struct Plan {
    /// The conditions that are decided without a jump.
    inner: Vec<Inner>,
    /// The condition that the jump at its end has a part in.
    last: Option<(u32, u16)>,
    count: u16,
    ending: Ending,
    /// The statement with which it begins, and how many instructions there are of it.
    opening: (Option<Stmt>, u16),
}

/// The rest of a statement in which a condition that is made of jumps has become a value.
struct Remainder {
    instance: u64,
    stmt: Option<Stmt>,
    /// So many more instructions may be of it.
    left: u16,
}

/// A condition that becomes a value.
#[derive(Clone, Copy)]
struct Inner {
    instruction: u16,
    condition: u32,
    member: u16,
    /// How many instructions after it are of the same statement: what they do with the value is told as one.
    more: u16,
}

struct Walk<'a, 'p> {
    flow: &'a Flow<'p>,
    scope: &'a Scope,
    found: Instances,
    shapes: Shapes,
    plans: Vec<Plan>,
    /// Who has a part in which condition, by address; functions that were looked at.
    deciders: HashMap<u64, (u32, u16)>,
    functions: HashMap<u64, bool>,
    /// The jump that was executed last: when, whose, and where it goes when it is taken.
    jump: Option<(Time, u32, u16, u64)>,
    /// Members of conditions that have not been decided yet.
    open: HashMap<u32, Vec<(Time, u16)>>,
    remainder: Option<Remainder>,
    total: u64,
}

impl Instances {
    /// The decisions of code in scope from one instant to another.
    pub fn of(
        recording: &mut Recording,
        flow: &Flow<'_>,
        scope: &Scope,
        start: Time,
        end: Time,
    ) -> Instances {
        let mut walk = Walk {
            flow,
            scope,
            found: Instances::default(),
            shapes: Shapes::default(),
            plans: Vec::new(),
            deciders: HashMap::new(),
            functions: HashMap::new(),
            jump: None,
            open: HashMap::new(),
            remainder: None,
            total: 0,
        };
        // One more, to see where the last one went.
        recording.forward(start..Time(end.0.saturating_add(1)), |segment| {
            segment.trace.forward().for_each(|pass| walk.pass(&pass));
            true
        });
        walk.end_in_the_midst(end);
        let mut found = walk.found;
        found.members.sort_by_key(|(time, number)| (*time, std::cmp::Reverse(*number)));
        found.members.dedup_by_key(|(time, _)| *time);
        found.list.retain(|instance| instance.time < end);
        found
    }

    /// The instance that a member belongs to which was executed at `time`: its place in the list.
    pub fn at(&self, time: Time) -> Option<usize> {
        let place = self.members.partition_point(|(known, _)| *known < time);
        let (known, number) = self.members.get(place)?;
        if *known != time {
            return None;
        }
        let place = usize::try_from(number.checked_sub(self.left_out)?).ok()?;
        self.list.get(place).map(|_| place)
    }

    /// Whether a decision is the last of its condition up to a time.
    pub fn is_last_before(&self, instance: &Instance, time: Time) -> bool {
        let before = self.list.partition_point(|other| other.time <= time);
        let mut latest = self.list.iter().take(before).rev();
        latest.find(|other| other.condition == instance.condition) == Some(instance)
    }

    /// Whether the statement that made a decision is still at it at a later time, as far as decisions tell: none of its
    /// function has been made since by another statement, nor this one again.
    pub fn is_under_way(&self, instance: &Instance, time: Time) -> bool {
        let place = |instance: &Instance| {
            let known = self.known(instance)?;
            let stmt = known.stmt.as_ref().map(|stmt| (&stmt.file, stmt.line, &stmt.function));
            Some((known.condition.id.function, stmt))
        };
        let Some((function, stmt)) = place(instance).filter(|_| instance.time <= time) else { return false };
        let after = self.list.partition_point(|other| other.time <= instance.time);
        let since = self.list.iter().skip(after).take_while(|other| other.time <= time);
        since
            .filter_map(|other| Some((other, place(other)?)))
            .all(|(other, (of, at))| of != function || at == stmt && other.condition != instance.condition)
    }

    pub fn known(&self, instance: &Instance) -> Option<&KnownCondition> {
        self.conditions.get(instance.condition as usize)
    }
}

impl Walk<'_, '_> {
    fn program(&self) -> &Program {
        self.flow.program()
    }

    fn pass(&mut self, pass: &Pass<'_>) {
        let place = self.shapes.place(pass) as usize;
        if self.plans.len() <= place {
            let plan = self.plan(&Shape::new(pass));
            self.plans.push(plan);
        }
        if let Some((time, condition, member, taken)) = self.jump.take() {
            let next = self.shapes.get(place as u32).map_or(0, Shape::start);
            self.jumped(time, condition, member, next == taken, next);
        }
        let Some(plan) = self.plans.get(place) else { return };
        if let Some(remainder) = self.remainder.take().filter(|remainder| remainder.stmt == plan.opening.0) {
            let own = plan.opening.1.min(remainder.left);
            let times = (0..u64::from(own)).map(|after| (Time(pass.time.0 + after), remainder.instance));
            self.found.members.extend(times);
            let goes_on = own == plan.count;
            self.remainder = Some(Remainder { left: remainder.left - own, ..remainder }).filter(|_| goes_on);
        }
        let last = plan.last.zip(match plan.ending {
            Ending::Branch { taken } => Some(taken),
            Ending::Indirect { .. } => Some(0),
            _ => None,
        });
        let end = Time(pass.time.0 + u64::from(plan.count).saturating_sub(1));
        self.jump = last.map(|((condition, member), taken)| (end, condition, member, taken));
        for index in 0..plan.inner.len() {
            let Some(&inner) = self.plans.get(place).and_then(|plan| plan.inner.get(index)) else { break };
            let time = Time(pass.time.0 + u64::from(inner.instruction));
            let number = self.total;
            self.decided(time, inner.condition, inner.member, None, None);
            let after = (1..=u64::from(inner.more)).map(|more| (Time(time.0 + more), number));
            self.found.members.extend(after);
        }
    }

    /// A member that is a jump went on, to `next`.
    fn jumped(&mut self, time: Time, condition: u32, member: u16, taken: bool, next: u64) {
        let Some(known) = self.found.conditions.get(condition as usize) else { return };
        let Some(jump) = known.condition.members.get(usize::from(member)) else { return };
        match if taken { jump.holds } else { jump.fails } {
            Step::Exit(exit) => {
                let stmt = known.becomes_value().then(|| known.stmt.clone());
                let instance = self.total;
                self.decided(time, condition, member, Some(exit), None);
                self.remainder = stmt.map(|stmt| Remainder { instance, stmt, left: MOST_AFTER as u16 });
            }
            Step::Block(block) => self.decided(time, condition, member, None, Some(block)),
            Step::Member(_) => self.open.entry(condition).or_default().push((time, member)),
            Step::Unknown => {
                let target = known.targets.iter().find(|target| target.address == next);
                let target = target.map(|target| target.block);
                self.decided(time, condition, member, None, target);
            }
        }
    }

    fn decided(
        &mut self,
        time: Time,
        condition: u32,
        member: u16,
        exit: Option<Exit>,
        target: Option<BlockId>,
    ) {
        let Some(known) = self.found.conditions.get_mut(condition as usize) else { return };
        known.count += 1;
        let number = known.count;
        let earlier = self.open.remove(&condition).unwrap_or_default();
        let since = earlier.first().map_or(time, |(first, _)| *first);
        self.found.members.extend(earlier.into_iter().map(|(earlier, _)| (earlier, self.total)));
        self.found.members.push((time, self.total));
        self.found.list.push(Instance { condition, member, exit, target, time, since, number });
        self.total += 1;
        if self.found.list.len() >= MOST_INSTANCES * 2 {
            self.forget_the_first();
        }
    }

    /// The run ended in the midst of some conditions, as where `a && f()` crashes in the call. What was decided last of each led there, and is a decision
    /// of its own.
    fn end_in_the_midst(&mut self, end: Time) {
        let open = std::mem::take(&mut self.open).into_iter();
        let last = |(condition, members): (u32, Vec<(Time, u16)>)| {
            let (time, member) = members.into_iter().rfind(|(time, _)| *time < end)?;
            Some((time, condition, member))
        };
        let mut open: Vec<_> = open.filter_map(last).collect();
        open.sort_unstable();
        let found = &mut self.found;
        for (time, condition, member) in open {
            let Some(known) = found.conditions.get_mut(condition as usize) else { continue };
            known.count += 1;
            let place = found.list.partition_point(|instance| instance.time < time);
            let (exit, target, number) = (None, None, known.count);
            found.list.insert(place, Instance { condition, member, exit, target, time, since: time, number });
            let place = found.left_out + place as u64;
            let after = found.members.iter_mut().filter(|(_, number)| *number >= place);
            after.for_each(|(_, number)| *number += 1);
            found.members.push((time, place));
        }
    }

    /// Only the last ones are kept.
    fn forget_the_first(&mut self) {
        let found = &mut self.found;
        let gone = found.list.len().saturating_sub(MOST_INSTANCES);
        found.list.drain(..gone);
        found.left_out += gone as u64;
        let left_out = found.left_out;
        found.members.retain(|(_, number)| *number >= left_out);
    }

    fn plan(&mut self, shape: &Shape) -> Plan {
        let start = shape.start();
        let mut plan = Plan {
            inner: Vec::new(),
            last: None,
            count: shape.addresses().len() as u16,
            ending: shape.ending,
            opening: (self.program().statement_at(start), 1 + self.same_statement(shape.addresses(), 0)),
        };
        if !self.is_in_scope(start) {
            return plan;
        }
        if let Some(function) = self.flow.function(start) {
            let joins = shape.addresses().iter().map(|address| (*address, function.reconvergence(*address)));
            self.found.joins.extend(joins.filter_map(|(address, join)| Some((address, join?))));
        }
        for (instruction, address) in (0..).zip(shape.addresses()) {
            let Some(&(condition, member)) = self.deciders.get(address) else { continue };
            match self.kind_of(condition, member) {
                Some(MemberKind::Jump | MemberKind::Table) if *address == shape.last() => {
                    plan.last = Some((condition, member));
                }
                Some(MemberKind::Set | MemberKind::Move) => {
                    let more = self.same_statement(shape.addresses(), usize::from(instruction));
                    plan.inner.push(Inner { instruction, condition, member, more });
                    let next = shape.addresses().get(usize::from(instruction) + 1).copied();
                    if let (Some(next), Some(known)) =
                        (next, self.found.conditions.get_mut(condition as usize))
                    {
                        known.join.get_or_insert(next);
                    }
                }
                _ => {}
            }
        }
        plan
    }

    /// How many instructions after one are of its statement.
    fn same_statement(&self, addresses: &[u64], from: usize) -> u16 {
        let own = addresses.get(from).and_then(|address| self.program().statement_at(*address));
        let after = addresses.iter().skip(from + 1).take(MOST_AFTER);
        after.take_while(|address| self.program().statement_at(**address) == own).count() as u16
    }

    fn kind_of(&self, condition: u32, member: u16) -> Option<MemberKind> {
        let known = self.found.conditions.get(condition as usize)?;
        Some(known.condition.members.get(usize::from(member))?.kind)
    }

    /// Whether the function is in scope; its conditions are known then.
    fn is_in_scope(&mut self, address: u64) -> bool {
        let entry = self.program().function_at(address).map_or(address, |(start, _)| start);
        if let Some(known) = self.functions.get(&entry) {
            return *known;
        }
        let is_in_scope = self.scope.of(self.program(), entry) == Trust::InScope;
        self.functions.insert(entry, is_in_scope);
        if is_in_scope {
            self.learn(address);
        }
        is_in_scope
    }

    fn learn(&mut self, address: u64) {
        let found = self.program().conditions(address);
        for condition in found.iter().flat_map(|found| found.iter()) {
            let stmt = self.program().statement_at(condition.id.address);
            // Code of others that the compiler has put here is not the program's own.
            let is_own = |stmt: &Stmt| self.scope.of_statement(self.program(), stmt) == Trust::InScope;
            if !stmt.as_ref().is_none_or(is_own) {
                continue;
            }
            let number = self.found.conditions.len() as u32;
            for (member, known) in (0..).zip(&condition.members) {
                self.deciders.insert(known.address, (number, member));
            }
            let jumps = |kind: MemberKind| matches!(kind, MemberKind::Jump | MemberKind::Table);
            let jump = condition.members.iter().find(|member| jumps(member.kind)).map(|jump| jump.address);
            let function = jump.and_then(|jump| Some((jump, self.flow.function(jump)?)));
            let targets = self.targets(condition);
            self.found.conditions.push(KnownCondition {
                stmt,
                condition: condition.clone(),
                goes_on: function.as_ref().and_then(|(jump, function)| goes_on(condition, function, *jump)),
                join: function.and_then(|(_, function)| function.reconvergence(condition.id.address)),
                count: 0,
                targets,
            });
        }
    }

    /// Where a switch statement can lead to.
    fn targets(&self, condition: &Condition) -> Vec<Target> {
        let ConditionKind::Switch { cases, default, .. } = &condition.kind else { return Vec::new() };
        let Some(cfg) = self.program().cfg(condition.id.address) else { return Vec::new() };
        let cases = cases.iter().map(|case| (case.values.clone(), case.target));
        let all = cases.chain(default.map(|block| (Vec::new(), block)));
        let target = |(values, block)| Some(Target { values, block, address: cfg.block(block)?.start });
        all.filter_map(target).collect()
    }
}

/// Which exit of a condition leads back to it, if the other one does not.
fn goes_on(condition: &Condition, function: &FunctionFlow, jump: u64) -> Option<Exit> {
    let ConditionKind::Branch { exits, .. } = &condition.kind else { return None };
    let [first, second] = exits.map(|exit| function.comes_back(exit, jump));
    match (first, second) {
        (true, false) => Some(Exit::First),
        (false, true) => Some(Exit::Second),
        _ => None,
    }
}
