//! From what a person asks about to what a forward slice begins with.

use linux::Place;
use machine::Time;
use program::{LinePlaces, Stmt};

use super::arrivals::pass_through;
use super::ask::{AskError, Asked, Hit, Subject, Target, arrival_at};
use super::origins::Beginning;
use crate::Recording;
use crate::dependence::{Cell, Code, Seed, SeedKind};

/// Something of which is asked what came of it.
#[derive(Clone, Debug)]
pub struct Begun {
    pub seed: Seed,
    pub what: BegunWith,
    /// Where that is, as far as there is such a place.
    pub stmt: Option<Stmt>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BegunWith {
    /// A value, as it is asked about elsewhere.
    Value(Subject),
    /// All that an execution of a line did.
    Statement,
    /// What the last branch of an execution of a line decided.
    Condition,
    /// A byte of standard input.
    Input { offset: u64 },
    /// An argument of the program; 0 is its name.
    Argument { number: usize, text: String },
}

impl Target {
    /// Finds what a forward slice begins with.
    pub fn begin(&self, recording: &mut Recording, code: &mut Code<'_>) -> Result<Begun, AskError> {
        match self {
            Target::Line { expression: Some(_), .. } => {
                let Asked { question, subject, stmt, .. } = self.ask(recording, code)?;
                let seed = Seed { time: question.time, kind: SeedKind::Cells(question.cells) };
                Ok(Begun { seed, what: BegunWith::Value(subject), stmt })
            }
            Target::Line { file, line, expression: None, hit } => {
                let places = code.program().find_line(file, *line)?;
                let (time, stmt) = came_to(recording, &places, *hit)?;
                let seed = Seed { time, kind: SeedKind::Statement };
                Ok(Begun { seed, what: BegunWith::Statement, stmt })
            }
            Target::Condition { file, line, hit } => {
                let places = code.program().find_line(file, *line)?;
                let (time, stmt) = came_to(recording, &places, *hit)?;
                let decided = pass_through(recording, &places, time, &[]).decided;
                let undecided = || AskError::NoCondition { file: places.file.to_string(), line: places.line };
                let seed = Seed { time: decided.ok_or_else(undecided)?, kind: SeedKind::Decision };
                Ok(Begun { seed, what: BegunWith::Condition, stmt })
            }
            Target::Input { offset } => input(recording, *offset),
            Target::Argument { number } => argument(recording, *number),
            Target::Crash | Target::Output { .. } | Target::Exit => Err(AskError::IsAnEnd),
        }
    }
}

fn came_to(
    recording: &mut Recording,
    places: &LinePlaces,
    hit: Hit,
) -> Result<(Time, Option<Stmt>), AskError> {
    let arrival = arrival_at(recording, places, hit)?;
    let address = recording.at(arrival.time).machine.cpu.rip;
    let is_there = |ranges: &[std::ops::Range<u64>]| ranges.iter().any(|range| range.contains(&address));
    let here = places.statements.iter().find(|placed| is_there(&placed.ranges));
    Ok((arrival.time, here.or(places.statements.first()).map(|placed| placed.stmt.clone())))
}

fn input(recording: &mut Recording, offset: u64) -> Result<Begun, AskError> {
    let begin = recording.program_start();
    let place = recording.at(begin).kernel.files.read_place(0, Some(offset));
    let length = recording.last().kernel.files.known_input().len() as u64;
    let place = place.filter(|place| !matches!(place, Place::Input { .. } if offset >= length));
    let place = place.ok_or(AskError::NoInput { offset, length })?;
    let kind = SeedKind::Cells(vec![Cell::Kernel { place, length: 1 }]);
    Ok(Begun { seed: Seed { time: begin, kind }, what: BegunWith::Input { offset }, stmt: None })
}

fn argument(recording: &mut Recording, number: usize) -> Result<Begun, AskError> {
    let beginning = Beginning::of(recording);
    let (range, count) = beginning.argument(number);
    let range = range.ok_or(AskError::NoArgument { number, count: count.saturating_sub(1) })?;
    let text = beginning.text(&range);
    let length = range.end.saturating_sub(range.start);
    let kind = SeedKind::Cells(vec![Cell::Memory { address: range.start, length }]);
    let seed = Seed { time: recording.program_start(), kind };
    Ok(Begun { seed, what: BegunWith::Argument { number, text }, stmt: None })
}
