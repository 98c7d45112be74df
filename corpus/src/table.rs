//! The tables of a measurement.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::cases::Fails;
use crate::journal::{Drawn, Results};
use crate::measure::{Summary, mean, median};
use crate::mutate::Kind;
use crate::question::{Question, Technique};
use crate::row::Row;

/// All tables, as Markdown.
pub fn tables(results: &Results, with_cases: bool) -> String {
    let rows: Vec<&Row> = results.rows.iter().collect();
    let mut text = format!("{}\n{}\n", accuracy(&rows), costs(&rows));
    for question in questions(&rows).into_iter().filter(|question| question.technique == Technique::Explain) {
        let asked: Vec<&Row> = rows.iter().copied().filter(|row| row.question == question).collect();
        let _ = writeln!(text, "{}, by what is wrong:\n\n{}", title(question), split(&asked));
        if with_cases {
            let _ = writeln!(text, "{}, case by case:\n\n{}", title(question), cases(&asked));
        }
    }
    if let Some(drawn) = &results.drawn {
        let Drawn { mutants, tried, cases, not_compiled, never_failing } = drawn;
        let _ = writeln!(
            text,
            "{tried} of {mutants} mutants were drawn: {cases} fail, {never_failing} never fail, {not_compiled} do not compile."
        );
    }
    text
}

fn title(question: Question) -> String {
    format!("{} ({})", question.technique.name(), question.with.name())
}

pub fn questions(rows: &[&Row]) -> BTreeSet<Question> {
    rows.iter().map(|row| row.question).collect()
}

/// How good each technique is, with each kind of help.
fn accuracy(rows: &[&Row]) -> String {
    let mut text = String::from(
        "| technique | with | rule | cases | first | ≤ 3 | ≤ 5 | ≤ 10 | miss | median | read of the program | certain | certain and wrong | path starts at the fault |\n\
         |---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for question in questions(rows) {
        let asked: Vec<&Row> = rows.iter().copied().filter(|row| row.question == question).collect();
        let strict: Vec<_> = asked.iter().map(|row| row.strict).collect();
        let lenient: Vec<_> = asked.iter().map(|row| row.lenient).collect();
        let name = format!("{} | {}", question.technique.name(), question.with.name());
        let certain = asked.iter().filter(|row| row.is_certain).count();
        let wrong = asked.iter().filter(|row| row.is_wrong_with_confidence()).count();
        let with_path: Vec<&&Row> = asked.iter().filter(|row| row.path > 0).collect();
        let starts = with_path.iter().filter(|row| row.path_starts_at_fault).count();
        let exam: Vec<f64> = asked.iter().filter_map(|row| row.exam()).collect();
        let exam = match exam.is_empty() {
            true => "–".to_owned(),
            false => format!("{:.1} %", mean(exam.into_iter()) * 100.0),
        };
        let _ = writeln!(
            text,
            "| {name} | strict | {} {exam} | {certain} | {wrong} | {starts} of {} |",
            shares(&Summary::new(&strict)),
            with_path.len(),
        );
        if lenient != strict {
            let _ = writeln!(text, "| {name} | lenient | {} | | | |", shares(&Summary::new(&lenient)));
        }
        if asked.iter().any(|row| row.faults.len() > 1) {
            let all: Vec<_> = asked.iter().map(|row| row.all).collect();
            let _ = writeln!(text, "| {name} | strict, all faults | {} | | | |", shares(&Summary::new(&all)));
        }
    }
    text
}

/// What each technique takes.
fn costs(rows: &[&Row]) -> String {
    let mut text = String::from(
        "| technique | with | statements told | share of executed instances | steps of the path | conditions | trials | instructions ÷ run | solver calls | time, ms | peak, MB | cut short |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for question in questions(rows) {
        let asked: Vec<&Row> = rows.iter().copied().filter(|row| row.question == question).collect();
        let number = |of: &dyn Fn(&Row) -> f64| median(asked.iter().map(|row| of(row)));
        let ratio = |row: &Row| row.instructions as f64 / row.length.max(1) as f64;
        let _ = writeln!(
            text,
            "| {} | {} | {:.0} | {:.0} % | {:.0} | {:.0} | {:.0} | {:.1} | {:.0} | {:.0} | {:.0} | {} |",
            question.technique.name(),
            question.with.name(),
            number(&|row| row.told as f64),
            number(&|row| row.share.unwrap_or(0.0) * 100.0),
            number(&|row| row.path as f64),
            number(&|row| row.conditions as f64),
            number(&|row| row.trials as f64),
            number(&ratio),
            number(&|row| row.solver_calls as f64),
            number(&|row| row.milliseconds as f64),
            number(&|row| row.peak as f64 / 1024.0),
            asked.iter().filter(|row| row.is_cut_short).count(),
        );
    }
    text + "\nMedians; times are those of one core of the machine at hand.\n"
}

/// Shares of ranks by the strict rule: each kind of fault and of failure, each operator, each program.
fn split(rows: &[&Row]) -> String {
    let mut text = String::from(
        "| cases | number | first | ≤ 3 | ≤ 5 | ≤ 10 | miss | median |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut group = |name: &str, fits: &dyn Fn(&Row) -> bool| {
        let ranks: Vec<_> = rows.iter().filter(|row| fits(row)).map(|row| row.strict).collect();
        if !ranks.is_empty() {
            let _ = writeln!(text, "| {name} | {}", shares(&Summary::new(&ranks)));
        }
    };
    group("all", &|_| true);
    group("all but omissions", &|row| !has_kind(row, Kind::Omission));
    for kind in Kind::ALL {
        group(kind.name(), &|row| has_kind(row, kind));
    }
    for fails in Fails::ALL {
        group(&format!("fails by {}", fails.name()), &|row| row.fails == fails);
    }
    let origins: BTreeSet<&str> =
        rows.iter().flat_map(|row| &row.faults).map(|fault| fault.origin.as_str()).collect();
    for origin in origins {
        group(origin, &|row| row.faults.iter().any(|fault| fault.origin == origin));
    }
    for program in rows.iter().map(|row| row.program.as_str()).collect::<BTreeSet<_>>() {
        group(&format!("in {program}"), &|row| row.program == program);
    }
    text
}

fn has_kind(row: &Row, kind: Kind) -> bool {
    row.faults.iter().any(|fault| fault.kind == kind)
}

/// A line for each case, the worst first.
fn cases(rows: &[&Row]) -> String {
    let mut text = String::from(
        "| program | line | origin | kind | what | fails by | strict | lenient | in | told |\n|---|---:|---|---|---|---|---:|---:|---|---:|\n",
    );
    let mut sorted = rows.to_vec();
    sorted.sort_by_key(|row| std::cmp::Reverse(row.strict.unwrap_or(usize::MAX)));
    let rank = |rank: Option<usize>| rank.map_or("miss".to_owned(), |rank| rank.to_string());
    for row in sorted {
        let each = |tell: &dyn Fn(&crate::cases::Fault) -> String| {
            row.faults.iter().map(tell).collect::<Vec<_>>().join(", ")
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {}{} | {} | {} | {} | {} |",
            row.program,
            each(&|fault| fault.line.to_string()),
            each(&|fault| fault.origin.clone()),
            each(&|fault| fault.kind.name().to_owned()),
            each(&|fault| fault.change.replace('|', "\\|")),
            row.fails.name(),
            if row.is_cut_short { " (cut short)" } else { "" },
            rank(row.strict),
            rank(row.lenient),
            row.part.map_or("", |part| part.name()),
            row.told,
        );
    }
    text
}

fn shares(summary: &Summary) -> String {
    let share = |count: usize| format!("{} %", (count * 100 + summary.cases / 2) / summary.cases.max(1));
    let median = summary.median.map_or("miss".to_owned(), |rank| rank.to_string());
    format!(
        "{} | {} | {} | {} | {} | {} | {median} |",
        summary.cases,
        share(summary.first),
        share(summary.within_three),
        share(summary.within_five),
        share(summary.within_ten),
        share(summary.missed),
    )
}
