//! One decision of a run, seen by itself.

use machine::{Time, Unwatched};
use program::{State, Stmt};

use super::describe::{Seen, View};
use super::mentions::mentions;
use super::{Known, truth};
use crate::Recording;
use crate::dependence::Code;

/// So many of the values that were compared are told.
const MOST_TOLD: usize = 6;

/// What a condition decided, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    pub stmt: Option<Stmt>,
    /// The statement in one line; `None` without the source.
    pub text: Option<String>,
    /// The condition within it.
    pub condition: Option<String>,
    /// Whether it held, as far as that is known.
    pub holds: Option<bool>,
    /// What it was decided by.
    pub operands: Vec<Known>,
}

impl Recording {
    /// What the instruction that retires at `time` decided.
    pub fn decision(&mut self, code: &mut Code<'_>, time: Time) -> Decided {
        let mut process = self.at(time);
        let address = process.machine.cpu.rip;
        let stmt = code.program().statement_at(address);
        let text = stmt.as_ref().and_then(|stmt| code.program().text_of(stmt));
        let condition = text.as_deref().map(|text| truth::condition(text).to_owned());
        let (operands, by_text) = {
            let state = State::of(&process.machine);
            let view = View::new(&state, code);
            let mentioned = mentions(condition.as_deref().unwrap_or_default());
            let seen: Vec<Seen> = mentioned.iter().filter_map(|mention| view.see(mention)).collect();
            let is_told = |seen: &&Seen| {
                seen.mention.is_read && seen.value.place.is_some() && !view.is_array(&seen.value)
            };
            let operands = seen.iter().filter(is_told).map(Seen::known).take(MOST_TOLD).collect();
            (operands, truth::by_text(&view, condition.as_deref().unwrap_or_default()))
        };
        process.run(Time(time.0.saturating_add(1)), &mut Unwatched);
        let holds = truth::by_branch(code.program(), address, process.machine.cpu.rip).or(by_text);
        Decided { stmt, text, condition, holds, operands }
    }
}
