//! What nobody had given a value, and the run went by all the same.
//!
//! A history alone does not tell: routines load more than they go by, so what lies beside a text is among what their answer was made from. So
//! the run is followed once more, bit by bit, and only what a condition, an address or the output depended on is told.

use std::collections::{BTreeSet, VecDeque};

use linux::Exit;
use machine::{Time, UseKind};
use program::Stmt;
use replay::Question;
use replay::story::{Operand, Origin, Story, Told};

use super::rank::question_of;
use super::{made_from, step_of, story_of};
use crate::switching::{Found, Search};

/// So many instructions are followed before it is looked whether somebody still waits, and no more than so many of a run.
const PORTION: u64 = 1 << 22;
const MOST: u64 = 1 << 28;
/// So many places that went by something without a value are looked at.
const MOST_PLACES: usize = 64;
/// Of so many conditions that did it is told what that was.
const MOST_CONDITIONS: usize = 4;

/// A use of something that nobody had given a value.
#[derive(Clone, Debug)]
pub struct Unset {
    /// That the failure, or what the cause compared, comes of it by dependence.
    pub is_on_the_way: bool,
    pub stmt: Option<Stmt>,
    pub text: Option<String>,
    pub name: String,
}

/// What the run went by without a value, once that was asked for.
#[derive(Default)]
pub(super) struct Followed {
    loads: Option<Loads>,
}

#[derive(Default)]
struct Loads {
    /// The statements that loaded it.
    by: BTreeSet<Stmt>,
    /// When conditions went by it.
    conditions: Vec<Time>,
    /// Some of it was put out as it lay in memory: it is not known what that had been copied by.
    is_put_out: bool,
}

impl Followed {
    /// What has no value in a story: what is asked about itself, or what that was made from.
    pub fn unset(&mut self, search: &mut Search<'_, '_>, story: &Story) -> Option<Unset> {
        let mut seen = BTreeSet::from([0]);
        let mut queue = VecDeque::from([(0, None)]);
        while let Some((number, taken)) = queue.pop_front() {
            let Some(step) = step_of(story, number) else { continue };
            let is_own = step.stmt == story.end.stmt || step.library.is_none();
            let (own, taken) = (own_unset(step).filter(|_| is_own), taken.filter(|_| has_unset(step)));
            let mut found = own.into_iter().chain(taken);
            if let Some(unset) = found.find(|unset| self.went_by(search, unset.stmt.as_ref())) {
                return Some(unset);
            }
            let next = made_from(step).into_iter().filter(|next| seen.insert(*next));
            queue.extend(next.map(|next| (next, taken_from(step, next))));
        }
        None
    }

    /// What has no value and the earliest condition of the program's own went by that did so before the failure, and the question what that condition
    /// was decided by: where nothing else is known of a failure, all that comes after may come of that.
    pub fn first(&mut self, search: &mut Search<'_, '_>, found: &Found) -> Option<(Unset, Question)> {
        let Found { instances, emission, .. } = found;
        let times = self.loads(search).conditions.clone();
        let places = times.iter().filter(|time| **time < *emission).filter_map(|time| instances.at(*time));
        let decided = places.filter_map(|place| instances.list.get(place));
        decided.take(MOST_CONDITIONS).find_map(|instance| {
            let story = story_of(search, instances, instance)?;
            let unset = Unset { is_on_the_way: false, ..self.unset(search, &story)? };
            Some((unset, question_of(search, instances, instance)))
        })
    }

    /// Whether the run went by something without a value that a statement had loaded.
    fn went_by(&mut self, search: &mut Search<'_, '_>, stmt: Option<&Stmt>) -> bool {
        let loads = self.loads(search);
        loads.is_put_out || stmt.is_some_and(|stmt| loads.by.contains(stmt))
    }

    fn loads(&mut self, search: &mut Search<'_, '_>) -> &Loads {
        self.loads.get_or_insert_with(|| follow(search))
    }
}

/// What of a statement's own has no value, as its text names it.
fn own_unset(step: &Told) -> Option<Unset> {
    let is_own = |name: &String| step.text.as_deref().is_some_and(|text| text.contains(name.as_str()));
    let mut names = step.origins.iter().filter_map(|origin| match origin {
        Origin::Uninitialised { name } => name.clone(),
        _ => None,
    });
    let name = names.find(is_own)?;
    Some(Unset { is_on_the_way: true, stmt: step.stmt.clone(), text: step.text.clone(), name })
}

fn has_unset(step: &Told) -> bool {
    step.origins.iter().any(|origin| matches!(origin, Origin::Uninitialised { .. }))
}

/// What a statement calls the value that it took from an earlier step. Where a library handed on what nobody had set, as `realloc` does, that is its name.
fn taken_from(step: &Told, number: usize) -> Option<Unset> {
    let is_it = |operand: &&Operand| {
        !operand.is_address && operand.from.as_ref().is_some_and(|from| from.number == number)
    };
    let name = step.used.iter().find(is_it)?.known.name.clone();
    Some(Unset { is_on_the_way: true, stmt: step.stmt.clone(), text: step.text.clone(), name })
}

/// Follows what has no value from the beginning of the run to its end. Where nobody waits for that, nothing is known.
fn follow(search: &mut Search<'_, '_>) -> Loads {
    // What faults does so after the last instant, and before that it uses what has no value.
    let (start, end) = (search.recording.start(), Time(search.recording.end().0.saturating_add(1)));
    let mut process = search.recording.at(start);
    let is_known = process.kernel.checked_heap.is_checked() && end.0.saturating_sub(start.0) <= MOST;
    if !is_known {
        return Loads::default();
    }
    let mut definedness = process.definedness();
    while process.machine.time < end {
        if search.recording.patience().is_over() {
            return Loads::default();
        }
        let until = Time(process.machine.time.0.saturating_add(PORTION)).min(end);
        if !matches!(process.run_defining(until, &mut definedness), Exit::Until) {
            break;
        }
    }
    let mut loads = Loads::default();
    for place in definedness.uses().iter().take(MOST_PLACES) {
        loads.conditions.extend(Some(place.time).filter(|_| place.kind == UseKind::Condition));
        match place.origin {
            Some(machine::Origin::Load { time, .. }) => {
                loads.by.extend(search.recording.statement_under_way(search.code, time))
            }
            Some(machine::Origin::Memory(_)) if place.kind == UseKind::Output => loads.is_put_out = true,
            // A routine went by it, or the kernel, to which the statement gave it.
            Some(machine::Origin::Memory(_)) => {
                loads.by.extend(search.recording.statement_under_way(search.code, place.time))
            }
            None => {}
        }
    }
    loads
}
