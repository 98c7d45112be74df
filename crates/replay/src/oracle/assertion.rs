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
    /// Why it is not certain that all of them held: a line was never reached, or an expression had no value.
    pub unknown: Option<String>,
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

/// Goes through the run from `start` on, and stops at the first instant at which an assertion is false.
/// `program` is the view of the run's end, when all of its libraries are there. A line is reached when execution comes to a statement of it; nothing of the statement has been executed then.
pub fn check_assertions(
    case: &Case,
    assertions: &Assertions,
    start: Process,
    program: &Program,
) -> Result<Checked, AssertionError> {
    let mut checked = Checked::default();
    if assertions.0.is_empty() {
        return Ok(checked);
    }
    let places = assertions.0.iter().map(|assertion| program.find_line(&assertion.file, assertion.line));
    let places: Vec<LinePlaces> = places.collect::<Result<_, _>>()?;
    let prepared = assertions.0.iter().map(|assertion| assertion.expression.prepared(program));
    let prepared: Vec<Prepared<'_>> = prepared.collect();
    let mut reached = vec![false; places.len()];
    let mut failed = None;
    visit(start, case.end(), &starts(&places), &mut |process| {
        let address = process.machine.cpu.rip;
        let here = assertions.0.iter().zip(&prepared).zip(&places).zip(&mut reached);
        for (((assertion, prepared), place), reached) in here {
            if place.starts.binary_search(&address).is_err() {
                continue;
            }
            *reached = true;
            match assertion.check(prepared, program, process) {
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
    if let Some(error) = failed {
        return Err(error);
    }
    let unreached = reached.iter().zip(&assertions.0).find(|(reached, _)| !**reached);
    if let (Some((_, assertion)), None) = (unreached, &checked.violation) {
        let reason = format!("line {} of {} was never executed", assertion.line, assertion.file);
        checked.unknown = Some(reason);
    }
    Ok(checked)
}

fn starts(places: &[LinePlaces]) -> BTreeSet<u64> {
    places.iter().flat_map(|place| place.starts.iter().copied()).collect()
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
fn visit(mut process: Process, end: Time, addresses: &BTreeSet<u64>, look: &mut dyn FnMut(&Process) -> bool) {
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
                look(&process);
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
