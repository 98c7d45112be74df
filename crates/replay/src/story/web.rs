//! The steps of a backward pass, put together so that their number does not grow with the run: a knot for each statement
//! in each context of calls, and a thread for each way in which one knot uses another.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use machine::Time;
use rustc_hash::FxBuildHasher;

use crate::dependence::{Context, Made, Need, Source, Step, StmtId, Use, Watch};

/// So many instances are known to which knot they belong, at least; of older ones steps are lost, not knots.
const MOST_INSTANCES: usize = 1 << 19;
/// So many ends of chains are kept for a knot.
const MOST_ENDS: usize = 4096;
/// So many different things that one instance made, or used of another, are kept.
const MOST_MADE: usize = 32;

/// Up to here from the criterion all are told that used what nobody had written, not only the nearest.
const NEAR: u32 = 8;

/// The knot of what was asked about.
pub(super) const CRITERION: usize = 0;

#[derive(Debug)]
pub(super) struct Knot {
    pub stmt: StmtId,
    /// What its last instance made, the latest first.
    pub made: Vec<Step>,
    /// The number of its last instance.
    pub newest: u32,
    /// The first thing that its first instance made.
    pub oldest: Option<Step>,
    pub instances: u64,
    pub threads: BTreeMap<(usize, Kind), Thread>,
    /// Sources that some instance used, and whether the last one did.
    pub ends: BTreeMap<Source, bool>,
}

/// What is used of another knot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Value,
    Address,
    Decision,
    Call,
}

#[derive(Debug, Default)]
pub(super) struct Thread {
    /// What the last instance of the user used, the latest first.
    pub used: Vec<Step>,
}

pub(super) struct Web {
    pub knots: Vec<Knot>,
    by_place: HashMap<(StmtId, Context), usize>,
    /// The knots of instances; what is old is forgotten, a half at a time.
    recent: HashMap<u32, usize, FxBuildHasher>,
    before: HashMap<u32, usize, FxBuildHasher>,
    /// How often code in scope had a part in it.
    pub own_work: u64,
    /// The same of trusted code, by the address.
    pub trusted_work: HashMap<u64, u64, FxBuildHasher>,
}

impl Web {
    pub fn new() -> Web {
        Web {
            knots: vec![Knot::new(StmtId::NONE, 0)],
            by_place: HashMap::new(),
            recent: [(0, CRITERION)].into_iter().collect(),
            before: HashMap::default(),
            own_work: 0,
            trusted_work: HashMap::default(),
        }
    }

    /// Lets those who use a knot use what this uses instead, if that is one value.
    pub fn fold(&mut self, folded: usize) {
        let Some(knot) = self.knots.get(folded) else { return };
        let mut values = knot.threads.iter().filter(|((_, kind), _)| *kind == Kind::Value);
        let (Some(((target, _), thread)), None) = (values.next(), values.next()) else { return };
        let (target, used) = (*target, thread.used.clone());
        if !knot.ends.is_empty() || target == folded {
            return;
        }
        for user in &mut self.knots {
            if let Some(thread) = user.threads.remove(&(folded, Kind::Value)) {
                let own = user.threads.entry((target, Kind::Value)).or_default();
                if !thread.used.is_empty() {
                    used.iter().for_each(|step| note(&mut own.used, *step));
                }
            }
        }
    }

    fn knot_of(&self, instance: u32) -> Option<usize> {
        self.recent.get(&instance).or_else(|| self.before.get(&instance)).copied()
    }

    fn enter(&mut self, step: &Step) -> usize {
        if let Some(known) = self.knot_of(step.maker) {
            return known;
        }
        let next = self.knots.len();
        let index = *self.by_place.entry((step.stmt, step.context)).or_insert(next);
        if index == next {
            self.knots.push(Knot::new(step.stmt, step.maker));
        }
        if self.recent.len() >= MOST_INSTANCES {
            self.before = std::mem::take(&mut self.recent);
        }
        self.recent.insert(step.maker, index);
        if let Some(knot) = self.knots.get_mut(index) {
            knot.instances += 1;
        }
        index
    }
}

impl Watch for Web {
    const CONTEXTS: bool = true;
    const SHARES_ENDS: bool = true;

    fn step(&mut self, step: Step) {
        let maker = self.enter(&step);
        if let Some(knot) = self.knots.get_mut(maker) {
            if knot.newest == step.maker {
                note(&mut knot.made, step);
            }
            knot.oldest = Some(step);
        }
        let Some(user) = self.knot_of(step.user).and_then(|user| self.knots.get_mut(user)) else { return };
        let is_newest = user.newest == step.user;
        let thread = user.threads.entry((maker, Kind::of(&step))).or_default();
        if is_newest {
            note(&mut thread.used, step);
        }
    }

    fn works(&mut self, address: u64, in_scope: bool) {
        if in_scope {
            self.own_work += 1;
        } else {
            *self.trusted_work.entry(address).or_default() += 1;
        }
    }

    fn wants_user(&self, user: Need) -> bool {
        user.is_data() && !user.is_internal() && user.distance() <= NEAR
    }

    fn end(&mut self, user: Need, source: &Source) {
        self.end_of_other(user.user(), source);
    }

    fn end_of_other(&mut self, user: u32, source: &Source) {
        let Some(knot) = self.knot_of(user).and_then(|user| self.knots.get_mut(user)) else { return };
        if knot.ends.len() < MOST_ENDS || knot.ends.contains_key(source) {
            *knot.ends.entry(source.clone()).or_default() |= knot.newest == user;
        }
    }
}

impl Knot {
    fn new(stmt: StmtId, newest: u32) -> Knot {
        let (made, threads, ends) = Default::default();
        Knot { stmt, made, newest, oldest: None, instances: 0, threads, ends }
    }

    /// The latest instant of its last instance that is known.
    pub fn time(&self) -> Time {
        self.made.first().map_or(Time(0), |step| step.time)
    }

    /// The last thing that it gave a value.
    pub fn last_value(&self) -> Option<&Step> {
        self.made.iter().find(|step| matches!(step.made, Made::Register(_) | Made::Memory { .. }))
    }

    /// The knots that it uses, each once.
    pub fn uses(&self) -> BTreeSet<usize> {
        self.threads.keys().map(|(knot, _)| *knot).collect()
    }
}

impl Kind {
    fn of(step: &Step) -> Kind {
        match (step.made, step.how) {
            (Made::Decision | Made::Omission(_), _) => Kind::Decision,
            (Made::Call, _) => Kind::Call,
            (_, Use::Address) => Kind::Address,
            (_, Use::Value | Use::Control) => Kind::Value,
        }
    }
}

/// Adds what is not there yet.
fn note(steps: &mut Vec<Step>, step: Step) {
    if steps.len() < MOST_MADE && steps.iter().all(|known| known.made != step.made) {
        steps.push(step);
    }
}
