//! The tables of a measurement.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::cases::{Case, Fails};
use crate::measure::{Part, Summary, rank, reading_order};
use crate::mutate::Kind;
use crate::tool::{Answer, Place};

/// One case and what was said about it.
pub struct Row {
    pub case: Case,
    pub status: Option<i32>,
    pub is_certain: bool,
    pub is_cut_short: bool,
    pub strict: Option<(usize, Part)>,
    pub lenient: Option<(usize, Part)>,
    /// The lines that were read, in order, with the part of the report that they stand in.
    pub read: Vec<(usize, Part)>,
    /// The rank in other orders of statements, by the strict rule; as many for each row.
    pub baselines: Vec<(&'static str, Option<usize>)>,
    pub milliseconds: u128,
}

impl Row {
    pub fn new(case: Case, answer: &Answer) -> Row {
        let read = answer.report.as_ref().map(reading_order).unwrap_or_default();
        Row {
            strict: rank(&read, &case.mutant.truth.strict),
            lenient: rank(&read, &case.mutant.truth.lenient),
            read: read.into_iter().map(|(place, part)| (place.line, part)).collect(),
            status: answer.status,
            is_certain: answer.report.as_ref().is_some_and(|report| report.is_certain),
            is_cut_short: answer.report.as_ref().is_some_and(|report| report.is_cut_short),
            baselines: Vec::new(),
            milliseconds: answer.time.as_millis(),
            case,
        }
    }

    /// Adds the rank that another order of statements gives.
    pub fn compare(&mut self, name: &'static str, places: Vec<Place>) {
        let mut read: Vec<(Place, Part)> = Vec::new();
        for place in places {
            if read.iter().all(|(known, _)| *known != place) {
                read.push((place, Part::Computed));
            }
        }
        let rank = rank(&read, &self.case.mutant.truth.strict);
        self.baselines.push((name, rank.map(|(rank, _)| rank)));
    }

    pub fn json(&self, directory: Option<&str>) -> Value {
        let mutant = &self.case.mutant;
        let read: Vec<Value> = self.read.iter().map(|(line, part)| json!([line, part.name()])).collect();
        json!({
            "program": self.case.program,
            "operator": mutant.operator,
            "kind": mutant.kind,
            "line": mutant.line,
            "original": mutant.original,
            "replacement": mutant.replacement,
            "truth": mutant.truth,
            "test": self.case.test_number,
            "fails": self.case.fails.name(),
            "status": self.status,
            "is_certain": self.is_certain,
            "is_cut_short": self.is_cut_short,
            "strict": self.strict.map(|(rank, _)| rank),
            "lenient": self.lenient.map(|(rank, _)| rank),
            "part": self.lenient.map(|(_, part)| part.name()),
            "read": read,
            "baselines": self.baselines.iter().map(|(name, rank)| json!([name, rank])).collect::<Vec<_>>(),
            "milliseconds": self.milliseconds,
            "directory": directory,
        })
    }
}

/// A line for each case.
pub fn cases(rows: &[Row]) -> String {
    let names = rows.first().map(|row| row.baselines.as_slice()).unwrap_or_default();
    let names: String = names.iter().map(|(name, _)| format!(" {name} |")).collect();
    let ruler = "---:|".repeat(names.matches('|').count());
    let mut text = format!(
        "| program | line | operator | kind | what | fails by | status | strict | lenient | in |{names}\n\
         |---|---:|---|---|---|---|---:|---:|---:|---|{ruler}\n",
    );
    for row in rows {
        let mutant = &row.case.mutant;
        let rank = |rank: Option<usize>| rank.map_or("miss".to_owned(), |rank| rank.to_string());
        let status = row.status.map_or("killed".to_owned(), |status| status.to_string());
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {}{} | {} | {} | {} |{}",
            row.case.program,
            mutant.line,
            mutant.operator.name(),
            mutant.kind.name(),
            change(&mutant.original, &mutant.replacement),
            row.case.fails.name(),
            status,
            if row.is_cut_short { " (cut short)" } else { "" },
            rank(row.strict.map(|(rank, _)| rank)),
            rank(row.lenient.map(|(rank, _)| rank)),
            row.lenient.map_or("", |(_, part)| part.name()),
            row.baselines.iter().map(|(_, found)| format!(" {} |", rank(*found))).collect::<String>(),
        );
    }
    text
}

/// A mutation in a few words.
fn change(original: &str, replacement: &str) -> String {
    let tidy = |text: &str| {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = words.chars().take(40).collect();
        let end = if short.len() < words.len() { "…" } else { "" };
        format!("`{}{end}`", short.replace('|', "\\|"))
    };
    match replacement.trim() {
        "" | ";" => format!("no {}", tidy(original)),
        _ => format!("{} → {}", tidy(original), tidy(replacement)),
    }
}

/// Shares of ranks: all cases, each kind of fault and of failure, each program.
pub fn summary(rows: &[Row]) -> String {
    let mut text = String::from(
        "| cases | rule | number | first | ≤ 3 | ≤ 5 | ≤ 10 | miss | median |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut group = |name: &str, fits: &dyn Fn(&Row) -> bool| {
        let chosen: Vec<&Row> = rows.iter().filter(|row| fits(row)).collect();
        let strict: Vec<_> = chosen.iter().map(|row| row.strict.map(|(rank, _)| rank)).collect();
        let lenient: Vec<_> = chosen.iter().map(|row| row.lenient.map(|(rank, _)| rank)).collect();
        let Some(first) = chosen.first() else { return };
        text.push_str(&shares(name, "strict", &Summary::new(&strict)));
        if strict != lenient {
            text.push_str(&shares(name, "lenient", &Summary::new(&lenient)));
        }
        for (column, (baseline, _)) in first.baselines.iter().enumerate() {
            let ranks: Vec<_> =
                chosen.iter().map(|row| row.baselines.get(column).and_then(|(_, rank)| *rank)).collect();
            text.push_str(&shares(name, baseline, &Summary::new(&ranks)));
        }
    };
    group("all", &|_| true);
    for kind in Kind::ALL {
        group(kind.name(), &|row| row.case.mutant.kind == kind);
    }
    for fails in Fails::ALL {
        group(&format!("fails by {}", fails.name()), &|row| row.case.fails == fails);
    }
    let mut programs: Vec<&str> = rows.iter().map(|row| row.case.program.as_str()).collect();
    programs.dedup();
    for program in programs {
        group(program, &|row| row.case.program == program);
    }
    text
}

fn shares(name: &str, rule: &str, summary: &Summary) -> String {
    let share = |count: usize| format!("{} %", (count * 100 + summary.cases / 2) / summary.cases.max(1));
    let median = summary.median.map_or("miss".to_owned(), |rank| rank.to_string());
    format!(
        "| {name} | {rule} | {} | {} | {} | {} | {} | {} | {median} |\n",
        summary.cases,
        share(summary.first),
        share(summary.within_three),
        share(summary.within_five),
        share(summary.within_ten),
        share(summary.missed),
    )
}
