//! One answer, measured: a line of a results file.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::answer::{Cost, Place, Reply};
use crate::cases::{Case, Fails, Fault};
use crate::measure::{Rank, Ranks, names};
use crate::question::{Answered, Question};
use crate::report::{Line, Part};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub case: String,
    pub program: String,
    pub fails: Fails,
    pub faults: Vec<Fault>,
    #[serde(flatten)]
    pub question: Question,
    /// How many statements are read until a fault, by both rules, and until all of several; none is a miss.
    pub strict: Option<Rank>,
    pub lenient: Option<Rank>,
    pub all: Option<Rank>,
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
    pub reply: Reply,
    /// Instructions of the failing run.
    pub length: u64,
    /// What a search took: instructions of all trials, decisions of the failing run, trials.
    pub search: Option<Searched>,
    pub cost: Cost,
}

/// What a search for conditions took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Searched {
    pub instructions: u64,
    pub conditions: u64,
    pub trials: u64,
}

impl Row {
    /// `executed` is how often the failing run executed each statement.
    pub fn new(case: &Case, executed: &[(Place, u64)], question: Question, answered: &Answered) -> Row {
        let Ranks { strict, lenient, all } = Ranks::new(case, &answered.order);
        let report = answered.report.clone().unwrap_or_default();
        let is_fault =
            |place: &Place| case.faults.iter().any(|fault| names(fault, &fault.truth.lenient, place));
        let is_at_fault = |line: &Line| line.place.as_ref().is_some_and(is_fault);
        let cause = report.causes.first();
        Row {
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
            statements: statements(case, executed),
            share: share(executed, answered),
            is_certain: report.is_certain,
            is_right: cause.is_some_and(|cause| is_at_fault(&cause.condition)),
            is_cut_short: report.is_cut_short || report.is_told_in_part,
            path: cause.map_or(0, |cause| cause.way().len()),
            path_starts_at_fault: cause.and_then(|cause| cause.way().first()).is_some_and(is_at_fault),
            reply: answered.reply,
            length: answered.length,
            search: answered.report.as_ref().map(|report| Searched {
                instructions: report.search.instructions,
                conditions: report.search.candidates,
                trials: report.search.trials(),
            }),
            cost: answered.cost,
        }
    }

    /// The share of the program that is read until the fault: all of it, if the fault is missed.
    pub fn exam(&self) -> Option<f64> {
        let statements = self.statements?.max(1);
        Some(self.strict.map_or(1.0, |rank| rank.expected() / statements as f64))
    }

    /// A cause was told as certain, and is not the fault.
    pub fn is_wrong_with_confidence(&self) -> bool {
        self.is_certain && !self.is_right
    }
}

/// How many statements there are to read: those of the program; if they are not known, those that the failing run executed.
fn statements(case: &Case, executed: &[(Place, u64)]) -> Option<usize> {
    match &case.statements {
        Some(statements) => Some(statements.count()),
        None => Some(executed.len()).filter(|count| *count > 0),
    }
}

fn share(executed: &[(Place, u64)], answered: &Answered) -> Option<f64> {
    let total: u64 = executed.iter().map(|(_, count)| count).sum();
    let told: HashSet<&Place> = answered.order.places().collect();
    let of_told: u64 =
        executed.iter().filter(|(place, _)| told.contains(place)).map(|(_, count)| count).sum();
    (total > 0).then(|| of_told as f64 / total as f64)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::*;
    use crate::measure::Order;
    use crate::mutate::{Kind, Lines, Source, Truth};
    use crate::question::{Technique, With};
    use crate::report::{Cause, Report, Search};
    use crate::statements::Statements;

    pub const ALONE: Question = Question { technique: Technique::Explain, with: With::Alone };

    fn line(number: usize) -> Line {
        Line { place: Some(Place { file: "main.c".to_owned(), line: number }) }
    }

    fn forty_statements() -> Statements {
        let body = "a++;\n".repeat(40);
        Statements::of(&Source::parse(&format!("void f(int a) {{\n{body}}}\n")).expect("valid C"))
    }

    /// A case of a program of 40 statements without tests; the fault is in line 12, or by the lenient rule in line 11.
    pub fn case() -> Case {
        let truth = Truth { strict: Lines::from([12]), lenient: Lines::from([11, 12]) };
        let fault = Fault {
            kind: Kind::Branch,
            origin: "relational".to_owned(),
            file: "main.c".to_owned(),
            line: 12,
            truth,
            change: "`<` → `<=`".to_owned(),
        };
        Case {
            name: "small 1".to_owned(),
            program: "small".to_owned(),
            faults: vec![fault],
            fails: Fails::Output,
            directory: PathBuf::new(),
            executable: PathBuf::new(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            stdin: "",
            expectations: Vec::new(),
            criterion: None,
            reference: None,
            tests: Arc::default(),
            failing: 0,
            statements: Some(Arc::new(forty_statements())),
            right_status: None,
        }
    }

    /// The row of a report whose cause is in the first of these lines, with a path that leads over all.
    pub fn row(lines: &[usize], is_certain: bool) -> Row {
        let (case, path) = (case(), lines.iter().map(|number| line(*number)).collect());
        let cause = lines.first().map(|number| Cause { condition: line(*number), path, ..Cause::default() });
        let search = Search { candidates: 30, tried: 20, pairs: 5, instructions: 4000, ..Search::default() };
        let report = Report { is_certain, causes: cause.into_iter().collect(), search, ..Report::default() };
        let parts = report.reading_order();
        let order = Order::of(parts.iter().map(|(place, _)| place.clone()));
        let cost = Cost { milliseconds: Some(70), peak: Some(2048), solver_calls: None };
        let answered =
            Answered { order, parts, report: Some(report), reply: Reply::Given, length: 1000, cost };
        Row::new(&case, &[], ALONE, &answered)
    }

    #[test]
    fn a_report_is_measured_by_both_rules() {
        let (row, rank) = (row(&[11, 5, 12], true), |rank| Some(Rank::exactly(rank)));
        assert_eq!((row.strict, row.lenient, row.all), (rank(3), rank(1), rank(3)));
        assert_eq!((row.part, row.told, row.path), (Some(Part::Cause), 3, 3));
        assert_eq!(row.exam(), Some(3.0 / 40.0));
        assert!(row.is_right && row.path_starts_at_fault && !row.is_wrong_with_confidence());
        let search = row.search.expect("there was a search");
        assert_eq!((search.conditions, search.trials, search.instructions), (30, 25, 4000));
    }

    #[test]
    fn of_a_program_whose_statements_are_not_known_those_count_that_were_executed() {
        let case = Case { statements: None, ..case() };
        let place = |line| Place { file: "main.c".to_owned(), line };
        let executed = [(place(12), 3), (place(5), 1), (place(7), 4), (place(8), 2)];
        let answered = Answered { order: Order::of([place(5), place(12)]), ..Answered::default() };
        let row = Row::new(&case, &executed, ALONE, &answered);
        assert_eq!((row.exam(), row.share), (Some(2.0 / 4.0), Some(4.0 / 10.0)));
        assert_eq!(Row::new(&case, &[], ALONE, &answered).exam(), None);
    }

    #[test]
    fn what_is_certain_and_elsewhere_is_wrong_with_confidence() {
        let row = row(&[7, 8], true);
        assert_eq!((row.strict, row.lenient, row.part), (None, None, None));
        assert_eq!(row.exam(), Some(1.0), "all of the program is read for nothing");
        assert!(row.is_wrong_with_confidence() && !row.path_starts_at_fault);
        assert!(!super::tests::row(&[7], false).is_wrong_with_confidence());
        assert!(!super::tests::row(&[], false).is_right);
    }
}
