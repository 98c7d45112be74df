//! Which clause of a `for` a row of the line table belongs to, by the source.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::source::{Clause, Loop, SourceFile};
use crate::statements::code::Row;
use crate::statements::{Part, View};

/// A row in the header of a `for`.
pub(super) struct LoopPlace {
    file: Rc<SourceFile>,
    found: Loop,
    /// `None` at the keyword. Compilers put there the jumps that make the loop, clang also the branch of its
    /// condition, and g++ some steps.
    clause: Option<Clause>,
}

impl LoopPlace {
    /// The statement that the row belongs to: the line where its clause begins, and which one it is. What is
    /// at the keyword decides whether the loop goes on.
    pub fn part(self) -> (u32, Part) {
        let clause = self.clause.unwrap_or(Clause::Condition);
        let (line, column) = self.file.position(self.found.start_of(clause));
        (line, Part::Clause { column, clause: Some(clause) })
    }

    /// Which loop this is, among those of a function.
    fn key(&self) -> (*const SourceFile, usize) {
        (Rc::as_ptr(&self.file), self.found.header.start)
    }
}

/// Where in a `for` a row is, if it is in one. A clause is where it begins.
pub(super) fn place(view: &View<'_>, row: &Row) -> Option<LoopPlace> {
    let file = view.sources.file(&row.file, &view.object.path)?;
    let offset = file.offset(row.line, row.column?)?;
    let found = file.syntax()?.loop_at(offset)?.clone();
    let clause = found.clause_at(offset);
    Some(LoopPlace { file, found, clause })
}

/// Finds the steps that are at the keyword: of a loop that has a step, but no code there, what is between the
/// body and the condition. The jump to the condition, which is at the keyword as well, comes before the body.
pub(super) fn find_steps(places: &mut [Option<LoopPlace>]) {
    let with_step: BTreeSet<_> = places
        .iter()
        .flatten()
        .filter(|place| place.clause == Some(Clause::Step))
        .map(LoopPlace::key)
        .collect();
    for at in 1..places.len() {
        let Some([before, Some(place), Some(after)]) = places.get_mut(at - 1..=at + 1) else { continue };
        let key = place.key();
        let is_after_body = before.as_ref().is_none_or(|before| before.key() != key);
        let is_before_condition = after.key() == key && after.clause == Some(Clause::Condition);
        let is_missing = place.found.step.is_some() && !with_step.contains(&key);
        if place.clause.is_none() && is_missing && is_after_body && is_before_condition {
            place.clause = Some(Clause::Step);
        }
    }
}
