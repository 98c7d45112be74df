//! One way from a decision to a criterion, instance by instance.

use std::collections::HashMap;

use machine::Time;
use program::{State, Stmt};
use rustc_hash::FxBuildHasher;

use super::describe::View;
use super::tell::blank;
use super::{Role, Told, gather, truth};
use crate::Recording;
use crate::dependence::{Code, Follow, Made, Question, Step, StmtId, Watch};

/// So many statement instances are remembered; what depends on more is so far away that no way is told.
const MOST_INSTANCES: usize = 1 << 19;
/// A way that is longer is told without its middle.
const MOST_TOLD: usize = 24;

/// Where a way begins.
pub struct Beginning<'a> {
    /// The statement that decided, and whether a time is that of the decision.
    pub stmt: Option<Stmt>,
    pub is_it: &'a dyn Fn(Time) -> bool,
    /// Whether the same execution of the statement is still under way at a time. What it makes then, it makes by that decision:
    /// `x = a ? b : c`.
    pub is_under_way: &'a dyn Fn(Time) -> bool,
}

/// Remembers for each instance the nearest one that used something of it.
struct Ways<'a> {
    beginning: &'a Beginning<'a>,
    stmt: Option<StmtId>,
    nearest: HashMap<u32, Step, FxBuildHasher>,
    /// The instance at which the way begins.
    found: Option<u32>,
}

impl Watch for Ways<'_> {
    fn step(&mut self, step: Step) {
        if self.nearest.len() < MOST_INSTANCES {
            let known = self.nearest.entry(step.maker).or_insert(step);
            if step.distance < known.distance {
                *known = step;
            }
        }
        let is_it = || (self.beginning.is_it)(step.time);
        let is_made_by_it = || self.stmt == Some(step.stmt) && (self.beginning.is_under_way)(step.time);
        if self.found.is_none() && (is_it() || is_made_by_it()) {
            self.found = Some(step.maker);
            // What it decided counts, not what else it did.
            self.nearest.insert(step.maker, step);
        }
    }
}

impl Recording {
    /// The steps from a decision to the criterion, in the order in which they happened, without the
    /// criterion itself; none if the criterion does not depend on it.
    pub fn way(
        &mut self,
        code: &mut Code<'_>,
        question: &Question,
        follow: Follow,
        beginning: &Beginning<'_>,
    ) -> Vec<Told> {
        let stmt = beginning.stmt.clone().map(|stmt| code.intern(stmt));
        let mut ways = Ways { beginning, stmt, nearest: HashMap::default(), found: None };
        self.slice(code, question, follow, &mut ways);
        let mut steps: Vec<Step> = Vec::new();
        let mut at = ways.found;
        while let Some(step) = at.and_then(|maker| ways.nearest.get(&maker)) {
            steps.push(*step);
            // Users are nearer than makers, so this ends; a pass may have told a maker once more at the same distance.
            at = (step.user != 0 && steps.len() <= ways.nearest.len()).then_some(step.user);
        }
        // What is not remembered any more would be missing in the middle.
        if steps.last().is_none_or(|step| step.user != 0) {
            return Vec::new();
        }
        let steps = shortened(steps);
        (1..).zip(&steps).map(|(number, step)| self.tell(code, number, step)).collect()
    }

    fn tell(&mut self, code: &mut Code<'_>, number: usize, step: &Step) -> Told {
        let stmt: Option<Stmt> = code.statement(step.stmt).cloned();
        let text = stmt.as_ref().and_then(|stmt| code.program().text_of(stmt));
        let process = self.at(Time(step.time.0.saturating_add(1)));
        let state = State::of(&process.machine);
        let program = code.program();
        let view = View::new(&state, code);
        let words = text.clone().unwrap_or_default();
        let role = match step.made {
            Made::Decision | Made::Omission(_) => {
                let next = state.registers().rip().unwrap_or(0);
                let holds = truth::by_branch(program, step.address, next);
                let by_text = truth::by_text(&view, truth::condition(&words));
                Role::Decides { holds: truth::known(holds, by_text) }
            }
            Made::Call => Role::Calls,
            Made::Register(_) | Made::Memory { .. } | Made::Kernel(_) => Role::Makes,
        };
        let made = if role == Role::Makes { gather::made(&[*step], &words, &view) } else { Vec::new() };
        drop(view);
        let process = self.at(step.time);
        let state = State::of(&process.machine);
        let used = gather::read(&words, &View::new(&state, code));
        Told { stmt, text, time: step.time, made, used, ..blank(number, step.distance as usize, role) }
    }
}

/// Of what happens again and again on a way, the first and the last time; and of what is still too long the beginning and
/// the end.
fn shortened(steps: Vec<Step>) -> Vec<Step> {
    let mut ends: HashMap<StmtId, (usize, usize)> = HashMap::new();
    for (place, step) in steps.iter().enumerate() {
        ends.entry(step.stmt).or_insert((place, place)).1 = place;
    }
    let is_end = |(place, step): &(usize, Step)| {
        ends.get(&step.stmt).is_some_and(|(first, last)| [first, last].contains(&place))
    };
    let mut kept: Vec<Step> = steps.into_iter().enumerate().filter(is_end).map(|(_, step)| step).collect();
    if kept.len() > MOST_TOLD {
        let end = kept.split_off(kept.len() - MOST_TOLD / 2);
        kept.truncate(MOST_TOLD / 2);
        kept.extend(end);
    }
    kept
}
