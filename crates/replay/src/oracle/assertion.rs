//! Properties at source lines: `list.c:20: count == 3`.

use std::collections::{BTreeMap, BTreeSet};

use linux::{Exit, Process};
use machine::{Time, Trace, Unwatched};
use program::{EvalError, Expression, LineError, LinePlaces, Prepared, Program, State, SyntaxError};

use crate::case::{Case, Expectation};
use crate::failure::{Criterion, Failure, FailureKind, Subject, Violation};

/// Instructions that are traced at a time.
const SEGMENT: u64 = 1 << 18;

#[derive(Debug, thiserror::Error)]
pub enum AssertionError {
    #[error("`{text}` is no assertion; it has the form FILE:LINE: EXPRESSION")]
    Form { text: String },
    #[error("the assertion makes no sense: {0}")]
    Syntax(#[from] SyntaxError),
    #[error(transparent)]
    Line(#[from] LineError),
    #[error("`{expression}` makes no sense at {file}:{line}: {error}")]
    Evaluation { expression: String, file: String, line: u32, error: Box<EvalError> },
}

/// The assertions of a case, understood.
#[derive(Debug, Default)]
pub struct Assertions(Vec<Assertion>);

#[derive(Debug)]
struct Assertion {
    file: String,
    line: u32,
    expression: Expression,
}

/// What came of checking assertions in a run.
#[derive(Debug, Default)]
pub struct Checked {
    pub violation: Option<Failure>,
    /// How often one was evaluated.
    pub evaluated: u64,
    /// Why one of them could not be evaluated.
    pub unknown: Option<String>,
    /// When the line of each was reached first.
    pub first: Vec<Option<Time>>,
}

impl Assertions {
    pub fn of(case: &Case) -> Result<Assertions, AssertionError> {
        let texts = case.oracle.expectations.iter().filter_map(|expectation| match expectation {
            Expectation::Holds(text) => Some(text),
            _ => None,
        });
        texts.map(|text| Assertion::parse(text)).collect::<Result<_, _>>().map(Assertions)
    }
}

impl Assertion {
    fn parse(text: &str) -> Result<Assertion, AssertionError> {
        let form = || AssertionError::Form { text: text.to_owned() };
        // A path can have colons; a line is a number between two.
        let mut parts = text.match_indices(':').filter_map(|(at, _)| {
            let (file, rest) = (text.get(..at)?, text.get(at + 1..)?);
            let (line, expression) = rest.split_once(':')?;
            Some((file, line.trim().parse::<u32>().ok()?, expression))
        });
        let (file, line, expression) = parts.next().ok_or_else(form)?;
        if file.is_empty() {
            return Err(form());
        }
        Ok(Assertion { file: file.to_owned(), line, expression: Expression::parse(expression)? })
    }
}

/// Assertions that are looked for in runs of a program.
pub struct Watched<'a> {
    program: &'a Program,
    watched: Vec<(&'a Assertion, Prepared<'a>, LinePlaces)>,
    /// All places together.
    starts: BTreeSet<u64>,
}

impl Assertions {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `program` is a view of the run when all of its libraries are there.
    pub fn watch<'a>(&'a self, program: &'a Program) -> Result<Watched<'a>, AssertionError> {
        let watch = |assertion: &'a Assertion| {
            let places = program.find_line(&assertion.file, assertion.line)?;
            Ok((assertion, assertion.expression.prepared(program), places))
        };
        let watched = self.0.iter().map(watch).collect::<Result<Vec<_>, AssertionError>>()?;
        let starts = watched.iter().flat_map(|(.., places)| places.starts.iter().copied()).collect();
        Ok(Watched { program, watched, starts })
    }
}

impl Watched<'_> {
    /// Runs a process to its end, or until an assertion is false. A line is reached when execution
    /// comes to a statement of it; nothing of the statement has been executed then.
    pub fn check(&self, process: &mut Process, end: Time) -> Result<Checked, AssertionError> {
        let mut checked = Checked { first: vec![None; self.watched.len()], ..Checked::default() };
        if self.watched.is_empty() {
            process.run(end, &mut Unwatched);
            return Ok(checked);
        }
        let mut failed = None;
        visit(process, end, &self.starts, &mut |process| {
            let address = process.machine.cpu.rip;
            for ((assertion, prepared, places), first) in self.watched.iter().zip(&mut checked.first) {
                if places.starts.binary_search(&address).is_err() {
                    continue;
                }
                first.get_or_insert(process.machine.time);
                match assertion.check(prepared, self.program, process) {
                    Ok(violation) => {
                        checked.evaluated += 1;
                        checked.violation = violation;
                    }
                    Err(error) if error.is_lasting() => failed = Some(assertion.senseless(error)),
                    Err(error) => {
                        let reason =
                            || format!("{} could not be evaluated: {error}", assertion.expression.text());
                        checked.unknown.get_or_insert_with(reason);
                    }
                }
                if failed.is_some() || checked.violation.is_some() {
                    return false;
                }
            }
            true
        });
        failed.map_or(Ok(checked), Err)
    }

    /// Why it is not certain that all of them held in a run in which they were reached first at these times.
    pub fn unreached(&self, first: &[Option<Time>]) -> Option<String> {
        let (_, (assertion, ..)) = first.iter().zip(&self.watched).find(|(first, _)| first.is_none())?;
        Some(format!("line {} of {} was never executed", assertion.line, assertion.file))
    }
}

impl Assertion {
    /// The failure, if the assertion is false.
    fn check(
        &self,
        prepared: &Prepared<'_>,
        program: &Program,
        process: &Process,
    ) -> Result<Option<Failure>, EvalError> {
        let state = State::of(&process.machine);
        let Some(frame) = program.backtrace_of(&state, 1).frames.into_iter().next() else { return Ok(None) };
        let value = prepared.evaluate(&state, &frame)?;
        if value.truth != Some(false) {
            return Ok(None);
        }
        let time = process.machine.time;
        let mut values = Vec::new();
        let mut criterion = Vec::new();
        for operand in self.expression.operands() {
            let Ok(value) = operand.evaluate(program, &state, &frame) else { continue };
            if let (Some(place), Some(size)) = (value.place, value.size) {
                criterion.push(Criterion { subject: Subject::Value { place, size }, time });
            }
            values.push((operand.text().to_owned(), value.text));
        }
        let expression = self.expression.text().to_owned();
        let violation =
            Violation { file: self.file.clone(), line: self.line, expression: expression.clone(), values };
        let kind = FailureKind::AssertViolated(violation);
        Ok(Some(Failure { criterion, property: Some(expression), ..Failure::new(kind, time) }))
    }

    fn senseless(&self, error: EvalError) -> AssertionError {
        let (expression, file) = (self.expression.text().to_owned(), self.file.clone());
        AssertionError::Evaluation { expression, file, line: self.line, error: Box::new(error) }
    }
}

/// Shows the process each time when it is about to execute an instruction at one of some addresses, as long as `look` says
/// true. The run is traced, which costs little, and only the instants in question are run to once more.
fn visit(
    process: &mut Process,
    end: Time,
    addresses: &BTreeSet<u64>,
    look: &mut dyn FnMut(&Process) -> bool,
) {
    let mut trace = Trace::new();
    loop {
        let mut cursor = process.fork();
        trace.clear();
        let until = Time(process.machine.time.0.saturating_add(SEGMENT)).min(end);
        let exit = process.run_traced(until, &mut trace);
        for time in times(&trace, addresses) {
            cursor.run(time, &mut Unwatched);
            if !look(&cursor) {
                return;
            }
        }
        if !matches!(exit, Exit::Until) || process.machine.time >= end {
            // An instruction that faults has not been executed, and so is not in the trace.
            let has_faulted = matches!(exit, Exit::Killed { fault: Some(_), .. });
            if has_faulted && addresses.contains(&process.machine.cpu.rip) {
                look(process);
            }
            return;
        }
    }
}

/// When instructions at some addresses were executed, in order.
fn times(trace: &Trace, addresses: &BTreeSet<u64>) -> Vec<Time> {
    // Most blocks have none of the addresses, so each is looked at once.
    let mut known: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut times = Vec::new();
    for pass in trace.backward() {
        let offsets = known.entry(pass.key()).or_insert_with(|| {
            let executed = pass.backward().filter(|executed| addresses.contains(&executed.address));
            executed.map(|executed| executed.time.0 - pass.time.0).collect()
        });
        times.extend(offsets.iter().map(|offset| Time(pass.time.0 + offset)));
    }
    times.reverse();
    times
}
