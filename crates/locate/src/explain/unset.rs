//! What nobody had given a value, and the run went by all the same.
//!
//! A history alone does not tell: routines load more than they go by, so what lies beside a text is among what their answer was made from. So
//! the run is followed once more, bit by bit, and only what a condition, an address or the output depended on is told.

use std::collections::{BTreeSet, VecDeque};

use linux::Exit;
use machine::Time;
use program::{State, Stmt};
use replay::StmtId;
use replay::story::{Origin, Story, Told};

use super::{made_from, step_of};
use crate::switching::Search;

/// So many instructions are followed before it is looked whether somebody still waits, and no more than so many of a run.
const PORTION: u64 = 1 << 22;
const MOST: u64 = 1 << 30;
/// So many places that went by something without a value are looked at.
const MOST_PLACES: usize = 64;
/// So many frames are looked at for a statement of the program's own.
const MOST_FRAMES: usize = 256;

/// A use of something that nobody had given a value.
#[derive(Clone, Debug)]
pub struct Unset {
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
    /// Some of it was put out as it lay in memory: it is not known what that had been copied by.
    is_put_out: bool,
}

impl Followed {
    /// What has no value in a story: what is asked about itself, or what that was made from.
    pub fn unset(&mut self, search: &mut Search<'_, '_>, story: &Story) -> Option<Unset> {
        let mut seen = BTreeSet::from([0]);
        let mut queue = VecDeque::from([0]);
        while let Some(step) = queue.pop_front().and_then(|number| step_of(story, number)) {
            let is_end = step.stmt == story.end.stmt;
            let name = without_value(step).filter(|_| is_end || step.library.is_none());
            if let Some(name) = name.filter(|_| self.went_by(search, step.stmt.as_ref())) {
                return Some(Unset { stmt: step.stmt.clone(), text: step.text.clone(), name });
            }
            queue.extend(made_from(step).into_iter().filter(|next| seen.insert(*next)));
        }
        None
    }

    /// Whether the run went by something without a value that a statement had loaded.
    fn went_by(&mut self, search: &mut Search<'_, '_>, stmt: Option<&Stmt>) -> bool {
        let loads = self.loads.get_or_insert_with(|| follow(search));
        loads.is_put_out || stmt.is_some_and(|stmt| loads.by.contains(stmt))
    }
}

/// What of a statement's own has no value, as its text names it.
fn without_value(step: &Told) -> Option<String> {
    let is_own = |name: &String| step.text.as_deref().is_some_and(|text| text.contains(name.as_str()));
    let names = step.origins.iter().filter_map(|origin| match origin {
        Origin::Uninitialised { name } => name.clone(),
        _ => None,
    });
    names.into_iter().find(is_own)
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
        match place.origin {
            Some(machine::Origin::Load { time, .. }) => loads.by.extend(statement_at(search, time)),
            Some(machine::Origin::Memory(_)) => loads.is_put_out = true,
            None => {}
        }
    }
    loads
}

/// The statement of the program's own that was under way.
fn statement_at(search: &mut Search<'_, '_>, time: Time) -> Option<Stmt> {
    let process = search.recording.at(time);
    let frames = search.code.program().backtrace_of(&State::of(&process.machine), MOST_FRAMES).frames;
    let mut statements = frames.iter().map(|frame| search.code.statement_of_frame(frame));
    let found = statements.find(|stmt| *stmt != StmtId::NONE)?;
    search.code.statement(found).cloned()
}
