//! The formula of something that is asked about: what the statements of the program computed it from, each result by a name of its own.
//!
//! A data slice knows what had a part in it; that is followed with terms, as far as it is the program's own code, and all else is concrete:
//! what trusted libraries returned is given. So what is built is the cone of influence of the question and nothing else.

mod stretches;

use std::ops::Range;
use std::sync::Arc;

use linux::Exit;
use machine::{Memory, Time};
use replay::{Cell, Code, Follow, Question, Recording};

use crate::concolic::{Addresses, Concolic, Options};
use crate::term::Term;
use stretches::Stretches;

/// What is asked about, as a formula.
pub struct Formula {
    /// The run with its terms and definitions.
    pub run: Concolic,
    /// The cells that were asked about; those that are missing are concrete.
    pub asked: Vec<(Cell, Term)>,
    /// The numbers of the definitions that they depend on, in the order of the run.
    pub cone: Vec<usize>,
    /// More has a part in it than is followed; the earliest is left out.
    pub is_cut_short: bool,
}

/// The formula of what a question asks about; `None` if it asks about no value.
pub fn formula(
    recording: &mut Recording,
    code: &mut Code<'_>,
    question: &Question,
    addresses: Addresses,
) -> Option<Formula> {
    if question.cells.is_empty() {
        return None;
    }
    let mut stretches = Stretches::default();
    recording.slice(code, question, Follow::Data, &mut stretches);
    let stretches = stretches.sorted();
    let given = trusted(&recording.last().machine.memory, code);
    let options = Options { addresses, naming: stretches.naming(), given, ..Options::default() };
    let mut run = Concolic::new(options);
    let mut process = recording.at(stretches.first().unwrap_or(question.time));
    let exit = run.run(&mut process, question.time);
    let is_there = matches!(exit, Exit::Until) && process.machine.time == question.time;
    let is_cut_short = stretches.is_cut_short || run.is_stopped() || !is_there;
    let asked: Vec<(Cell, Term)> = question
        .cells
        .iter()
        .filter_map(|cell| Some((*cell, term_of(&mut run, &process.machine, *cell)?)))
        .collect();
    let cone = run.definitions().cone(run.terms(), asked.iter().map(|(_, term)| *term));
    Some(Formula { run, asked, cone, is_cut_short })
}

/// The code of objects that are trusted as a whole.
fn trusted(memory: &Memory, code: &Code<'_>) -> Arc<[Range<u64>]> {
    let regions = memory.regions().iter().filter(|region| region.permissions.execute);
    regions
        .map(|region| region.start..region.end)
        .filter(|range| code.trusts_object_at(range.start))
        .collect()
}

/// The term of a cell in the state that a run has come to, if it is not concrete.
fn term_of(run: &mut Concolic, machine: &machine::Machine, cell: Cell) -> Option<Term> {
    match cell {
        Cell::Memory { address, length } => {
            let mut bytes = [0; 16];
            let bytes = bytes.get_mut(..usize::try_from(length).ok()?)?;
            let read = machine.memory.peek(address, bytes);
            (read == bytes.len()).then(|| run.load(address, bytes)).flatten()
        }
        Cell::Register(reg, _) => run.register(reg),
        Cell::Kernel { .. } => None,
    }
}

/// When the state is to be looked at for the name of what an instruction made: after it.
pub fn after(time: Time) -> Time {
    Time(time.0.saturating_add(1))
}
