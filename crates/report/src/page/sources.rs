//! The source around what a report tells of.

use std::collections::BTreeSet;

use locate::explain::{Cause, Explanation};
use locate::switching::Change;
use program::{Program, Span, Stmt, Warning};

use crate::explain::Explained;

/// A function of so many lines is shown whole if the failure came about in it; of others the lines near what is told.
const WHOLE_FUNCTION: u32 = 60;
const NEAR: u32 = 4;
/// Of a statement of more lines the first ones are shown.
const LONGEST_STATEMENT: usize = 16;
const LARGEST_GAP: u32 = 2;
/// More lines are not shown; what is told first comes first.
const MOST_LINES: usize = 2000;

/// A file, with the lines that are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceReport {
    /// As places name it.
    pub file: String,
    /// It could be read.
    pub is_there: bool,
    /// It was changed after the program was built.
    pub is_newer: bool,
    /// In order.
    pub lines: Vec<SourceLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    pub number: u32,
    pub text: Option<Vec<u8>>,
}

/// A file while its lines are chosen.
struct Chosen<'a> {
    file: String,
    stmt: &'a Stmt,
    lines: BTreeSet<u32>,
}

pub(super) fn sources(from: &Explained<'_>) -> Vec<SourceReport> {
    let mut chosen: Vec<Chosen<'_>> = Vec::new();
    let mut left = MOST_LINES;
    for (stmt, is_central) in told(from.explanation) {
        let file = (from.shorten)(&stmt.file);
        let at = chosen.iter().position(|known| known.file == file).unwrap_or_else(|| {
            chosen.push(Chosen { file, stmt, lines: BTreeSet::new() });
            chosen.len() - 1
        });
        let Some(known) = chosen.get_mut(at) else { continue };
        for line in around(from.program, stmt, is_central) {
            if left > 0 && known.lines.insert(line) {
                left -= 1;
            }
        }
    }
    chosen.into_iter().filter(|known| !known.lines.is_empty()).map(|known| known.read(from.program)).collect()
}

/// The statements that the report tells of, and whether the failure came about in them; in the order in which they matter.
fn told(explanation: &Explanation) -> Vec<(&Stmt, bool)> {
    let Explanation { causes, story, value, beside, further, computed, unset, .. } = explanation;
    let first = causes.first();
    let cause = first.and_then(|cause| cause.decided.stmt.as_ref());
    let second = first.and_then(|cause| match &cause.critical.change {
        Change::With(second) => second.decided.stmt.as_ref(),
        _ => None,
    });
    let path = first.map_or(&[][..], Cause::way).iter().filter_map(|step| step.stmt.as_ref());
    let before = first.map_or(&[][..], |cause| &cause.from).iter().filter_map(|step| step.stmt.as_ref());
    let unset = unset.as_ref().and_then(|unset| unset.stmt.as_ref());
    let failed = [unset, story.end.stmt.as_ref()].into_iter().flatten();
    let central = cause.into_iter().chain(second).chain(path).chain(failed);
    let central = central.chain(computed.iter().map(|(stmt, _)| stmt));
    let dependents = causes.iter().flat_map(|cause| &cause.steps).filter_map(|(_, step)| step.stmt.as_ref());
    let others = causes.iter().filter_map(|cause| cause.decided.stmt.as_ref());
    let reading = first.map_or(&[][..], |cause| &cause.reading).iter().map(|(stmt, _)| stmt);
    let value = value.iter().filter_map(|step| step.stmt.as_ref());
    let beside = beside.iter().chain(further).map(|(stmt, _)| stmt);
    let marginal = before.chain(value).chain(others).chain(dependents).chain(beside).chain(reading);
    central.map(|stmt| (stmt, true)).chain(marginal.map(|stmt| (stmt, false))).collect()
}

/// The lines that are shown with a statement, its own first.
fn around(program: &Program, stmt: &Stmt, is_central: bool) -> Vec<u32> {
    if program.source_bytes(stmt, 1).is_none() {
        return vec![stmt.line];
    }
    let own = [stmt.line].into_iter().chain(program.span_of(stmt).take(LONGEST_STATEMENT));
    let Some(function) = program.function_span_of(stmt) else {
        return own.chain(near(stmt.line, &(1..=u32::MAX))).collect();
    };
    let length = function.end().saturating_sub(*function.start()).saturating_add(1);
    if is_central && length <= WHOLE_FUNCTION {
        return own.chain(function).collect();
    }
    // Where it begins says what it is.
    let head = *function.start()..=function.start().saturating_add(1);
    own.chain(near(stmt.line, &function)).chain(head).collect()
}

fn near(line: u32, within: &Span) -> Span {
    let first = line.saturating_sub(NEAR).max(*within.start());
    first..=line.saturating_add(NEAR).min(*within.end())
}

/// To show a line or two takes as much room as to say that they are missing.
fn without_small_gaps(lines: &BTreeSet<u32>) -> BTreeSet<u32> {
    let pairs = lines.iter().zip(lines.iter().skip(1));
    let small = pairs.filter(|(one, next)| *next - *one <= LARGEST_GAP + 1);
    lines.iter().copied().chain(small.flat_map(|(one, next)| *one..*next)).collect()
}

impl Chosen<'_> {
    fn read(self, program: &Program) -> SourceReport {
        let Chosen { file, stmt, lines } = self;
        let text = |number: u32| program.source_bytes(stmt, number);
        let is_there = text(1).is_some();
        let lines = if is_there { without_small_gaps(&lines) } else { lines };
        let lines = lines.into_iter().map(|number| SourceLine { number, text: text(number) });
        // Behind the end of a file there is nothing.
        let lines = lines.filter(|line| !is_there || line.text.is_some());
        let is_about_it =
            |warning: &Warning| matches!(warning, Warning::SourceNewer { file, .. } if *file == stmt.file);
        SourceReport {
            file,
            is_there,
            is_newer: program.warnings().iter().any(is_about_it),
            lines: lines.collect(),
        }
    }
}
