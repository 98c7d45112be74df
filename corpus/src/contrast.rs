//! What is set side by side: techniques on the same cases, kinds of faults, and what was aimed at.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::cases::Fails;
use crate::measure::Summary;
use crate::mutate::Kind;
use crate::question::{Question, Technique, With};
use crate::row::Row;
use crate::table::{has_kind, questions, title};

/// What share of the faults that are no omissions `explain` shall have first, and within five, in percent.
const GOALS: [(With, f64, f64); 3] =
    [(With::Alone, 50.0, 80.0), (With::Passing, 75.0, 92.0), (With::Reference, 90.0, 98.0)];

/// What `explain` comes to, beside what it shall.
pub fn goals(rows: &[&Row]) -> String {
    let mut text = String::from(
        "| explain, all but omissions | cases | first | goal | ≤ 5 | goal |\n|---|---:|---:|---:|---:|---:|\n",
    );
    for (with, first, within_five) in GOALS {
        let question = Question { technique: Technique::Explain, with };
        let summary = summary(rows, question, |row| !has_kind(row, Kind::Omission));
        if summary.cases > 0 {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {first} % | {} | {within_five} % |",
                with.name(),
                summary.cases,
                percent(summary.first, &summary),
                percent(summary.within_five, &summary),
            );
        }
    }
    text
}

/// How many are first and within five, of each kind of fault and of failure, for each technique.
pub fn by_kind(rows: &[&Row]) -> String {
    let questions = questions(rows);
    let titles: String = questions.iter().map(|question| format!(" {} |", title(*question))).collect();
    let mut text = format!("| first / ≤ 5, % |{titles}\n|---|{}\n", "---:|".repeat(questions.len()));
    let mut line = |name: &str, fits: &dyn Fn(&Row) -> bool| {
        if !rows.iter().any(|row| fits(row)) {
            return;
        }
        let _ = write!(text, "| {name} |");
        for question in &questions {
            let summary = summary(rows, *question, fits);
            let share = |hits: f64| (hits * 100.0 / summary.cases.max(1) as f64).round();
            let _ = match summary.cases {
                0 => write!(text, " – |"),
                _ => write!(text, " {} / {} |", share(summary.first), share(summary.within_five)),
            };
        }
        text.push('\n');
    };
    line("all", &|_| true);
    line("all but omissions", &|row| !has_kind(row, Kind::Omission));
    Kind::ALL.into_iter().for_each(|kind| line(kind.name(), &|row| has_kind(row, kind)));
    Fails::ALL
        .into_iter()
        .for_each(|fails| line(&format!("fails by {}", fails.name()), &|row| row.fails == fails));
    text
}

/// Other questions on the cases of one that not all cases allow: the technique without help, and spectra.
pub fn on_the_same_cases(question: Question, rows: &[&Row]) -> Vec<(String, Summary)> {
    let cases: BTreeSet<&str> =
        rows.iter().filter(|row| row.question == question).map(|row| row.case.as_str()).collect();
    let alone = Question { with: With::Alone, ..question };
    let spectra = [Technique::Ochiai, Technique::Tarantula, Technique::Dstar];
    let is_compared = |other: &Question| {
        *other == alone && *other != question
            || question.technique == Technique::Explain
                && other.with == question.with
                && spectra.contains(&other.technique)
    };
    let others = questions(rows).into_iter().filter(is_compared);
    let compared = others.filter_map(|other| {
        let all = rows.iter().filter(|row| row.question == other).count();
        let same = summary(rows, other, |row| cases.contains(row.case.as_str()));
        let name = match other == alone {
            true => format!("{} | alone, the same cases", other.technique.name()),
            false => format!("{} | {}, the same cases", other.technique.name(), other.with.name()),
        };
        (all > same.cases).then_some((name, same))
    });
    compared.collect()
}

fn summary(rows: &[&Row], question: Question, fits: impl Fn(&Row) -> bool) -> Summary {
    let fitting = rows.iter().filter(|row| row.question == question && fits(row));
    Summary::new(&fitting.map(|row| row.strict).collect::<Vec<_>>())
}

fn percent(hits: f64, summary: &Summary) -> String {
    format!("{} %", (hits * 100.0 / summary.cases.max(1) as f64).round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::{ALONE, row};

    const PASSING: Question = Question { technique: Technique::Explain, with: With::Passing };
    const OCHIAI: Question = Question { technique: Technique::Ochiai, with: With::Passing };

    /// Two cases; only one of them has a passing input.
    fn rows() -> Vec<Row> {
        let named = |case: &str, question, lines: &[usize]| Row {
            case: case.to_owned(),
            question,
            ..row(lines, false)
        };
        let mut rows = vec![
            named("a", ALONE, &[12]),
            named("b", ALONE, &[7]),
            named("a", PASSING, &[7, 12]),
            named("a", OCHIAI, &[12]),
            named("b", OCHIAI, &[7, 12]),
        ];
        let missing = rows.iter_mut().filter(|row| row.case == "b").flat_map(|row| &mut row.faults);
        missing.for_each(|fault| fault.kind = Kind::Omission);
        rows
    }

    #[test]
    fn techniques_are_compared_on_the_same_cases() {
        let rows = rows();
        let rows: Vec<&Row> = rows.iter().collect();
        let told: Vec<(String, usize, f64)> = on_the_same_cases(PASSING, &rows)
            .into_iter()
            .map(|(name, summary)| (name, summary.cases, summary.first))
            .collect();
        let wanted = [
            ("explain | alone, the same cases".to_owned(), 1, 1.0),
            ("Ochiai | passing, the same cases".to_owned(), 1, 1.0),
        ];
        assert_eq!(told, wanted);
        assert!(on_the_same_cases(ALONE, &rows).is_empty());
    }

    #[test]
    fn goals_are_of_what_is_no_omission_and_kinds_are_of_each_technique() {
        let rows = rows();
        let rows: Vec<&Row> = rows.iter().collect();
        let text = goals(&rows);
        assert!(text.contains("| alone | 1 | 100 % | 50 % | 100 % | 80 % |"), "{text}");
        assert!(text.contains("| passing | 1 | 0 % | 75 % | 100 % | 92 % |"), "{text}");
        let text = by_kind(&rows);
        assert!(
            text.starts_with("| first / ≤ 5, % | explain (alone) | explain (passing) | Ochiai (passing) |"),
            "{text}"
        );
        assert!(text.contains("| branch | 100 / 100 | 0 / 100 | 100 / 100 |"), "{text}");
        assert!(text.contains("| omission | 0 / 0 | – | 0 / 100 |"), "{text}");
    }
}
