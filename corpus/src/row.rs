//! One answer, measured: a line of a results file.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::cases::{Case, Fails, Fault};
use crate::measure::{Ranks, names};
use crate::question::{Answered, Inquiry, Question};
use crate::report::{Line, Part};
use crate::tool::Place;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub case: String,
    pub program: String,
    pub fails: Fails,
    pub faults: Vec<Fault>,
    #[serde(flatten)]
    pub question: Question,
    /// How many statements are read until a fault, by both rules, and until all of several; none is a miss.
    pub strict: Option<usize>,
    pub lenient: Option<usize>,
    pub all: Option<usize>,
    /// Where the first one stands in the report.
    pub part: Option<Part>,
    /// How many statements are told, and how many the program has.
    pub told: usize,
    pub statements: Option<usize>,
    /// What share of the executed statement instances belongs to statements that are told.
    pub share: Option<f64>,
    /// What was said as certain, and whether that is a fault by the lenient rule.
    pub is_certain: bool,
    pub is_right: bool,
    pub is_cut_short: bool,
    pub path: usize,
    pub path_starts_at_fault: bool,
    pub status: Option<i32>,
    /// Instructions of the failing run, and of all trials.
    pub length: u64,
    pub instructions: u64,
    pub conditions: u64,
    pub trials: u64,
    pub solver_calls: u64,
    pub milliseconds: u64,
    /// KiB
    pub peak: u64,
}

impl Row {
    pub fn new(inquiry: &Inquiry<'_>, case: &Case, question: Question, answered: &Answered) -> Result<Row> {
        let Ranks { strict, lenient, all } = Ranks::new(case, &answered.order);
        let report = answered.report.clone().unwrap_or_default();
        let is_fault =
            |place: &Place| case.faults.iter().any(|fault| names(fault, &fault.truth.lenient, place));
        let is_at_fault = |line: &Line| line.place.as_ref().is_some_and(is_fault);
        let cause = report.causes.first();
        Ok(Row {
            case: case.name.clone(),
            program: case.program.clone(),
            fails: case.fails,
            faults: case.faults.clone(),
            question,
            strict,
            lenient,
            all,
            part: answered.parts.iter().find(|(place, _)| is_fault(place)).map(|(_, part)| *part),
            told: answered.order.len(),
            statements: case.statements,
            share: share(inquiry, answered)?,
            is_certain: report.is_certain,
            is_right: cause.is_some_and(|cause| is_at_fault(&cause.condition)),
            is_cut_short: report.is_cut_short,
            path: cause.map_or(0, |cause| cause.path.len()),
            path_starts_at_fault: cause.and_then(|cause| cause.path.first()).is_some_and(is_at_fault),
            status: answered.status,
            length: answered.length,
            instructions: report.search.instructions,
            conditions: report.search.candidates,
            trials: report.search.trials(),
            solver_calls: 0,
            milliseconds: answered.milliseconds,
            peak: answered.peak,
        })
    }

    /// The share of the program that is read until the fault: all of it, if the fault is missed.
    pub fn exam(&self) -> Option<f64> {
        let statements = self.statements?.max(1);
        Some(self.strict.map_or(1.0, |rank| (rank as f64 / statements as f64).min(1.0)))
    }

    /// A cause was told as certain, and is not the fault.
    pub fn is_wrong_with_confidence(&self) -> bool {
        self.is_certain && !self.is_right
    }
}

fn share(inquiry: &Inquiry<'_>, answered: &Answered) -> Result<Option<f64>> {
    let executed = inquiry.executed()?;
    let total: u64 = executed.iter().map(|(_, count)| count).sum();
    let is_told = |place: &Place| answered.order.places().any(|told| told == place);
    let told: u64 = executed.iter().filter(|(place, _)| is_told(place)).map(|(_, count)| count).sum();
    Ok((total > 0).then(|| told as f64 / total as f64))
}
