//! The formula of something that is asked about: what the statements of the program computed it from, each result by a name of its own.
//!
//! A data slice knows the statements; their executions are followed with terms, and all else is concrete: what libraries returned, what no
//! statement of the slice made. So what is built is the cone of influence of the question and nothing else.

mod instants;

use linux::Exit;
use machine::Time;
use replay::{Cell, Code, Follow, Question, Recording, Unseen};

use crate::concolic::{Addresses, Concolic, Options};
use crate::term::Term;
use instants::Instants;

/// What is asked about, as a formula.
pub struct Formula {
    /// The run with its terms and definitions.
    pub run: Concolic,
    /// The cells that were asked about; those that are missing are concrete.
    pub asked: Vec<(Cell, Term)>,
    /// The numbers of the definitions that they depend on, in the order of the run.
    pub cone: Vec<usize>,
    /// The run has more executions of statements in the slice than are followed, or more terms; the earliest are left out.
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
    let slice = recording.slice(code, question, Follow::Data, &mut Unseen);
    let instants = Instants::of(recording, code, &slice, question.time);
    let options = Options { addresses, naming: instants.naming(), ..Options::default() };
    let mut run = Concolic::new(options);
    let mut process = recording.at(instants.first().unwrap_or(question.time));
    let exit = run.run(&mut process, question.time);
    let is_there = matches!(exit, Exit::Until) && process.machine.time == question.time;
    let is_cut_short = instants.is_cut_short || run.is_stopped() || !is_there;
    let asked: Vec<(Cell, Term)> = question
        .cells
        .iter()
        .filter_map(|cell| Some((*cell, term_of(&mut run, &process.machine, *cell)?)))
        .collect();
    let cone = run.definitions().cone(run.terms(), asked.iter().map(|(_, term)| *term));
    Some(Formula { run, asked, cone, is_cut_short })
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
