//! The figures that five papers give of their own methods, to be printed beside ours.
//!
//! Only what could be read off the papers' tables with certainty is here. Where a paper's text and its table differ, the table
//! is kept and a comment says what the text has. What is derived from the rows (a median, a share) is computed, not copied.

pub mod cascade;
pub mod causal_paths;
pub mod fault_abstraction;
pub mod frontier_sets;
pub mod predicate_switching;

use std::fmt::{self, Display, Write};

use crate::measure::{Rank, Summary, mean, median, told};

/// Where figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// What the method is called here.
    pub name: &'static str,
    pub title: &'static str,
    pub authors: &'static str,
    pub venue: &'static str,
}

pub const SOURCES: [Source; 5] = [
    predicate_switching::SOURCE,
    causal_paths::SOURCE,
    cascade::SOURCE,
    frontier_sets::SOURCE,
    fault_abstraction::SOURCE,
];

/// A headline number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Share { part: usize, of: usize },
    Number(f64),
    Seconds(f64),
    Percent(f64),
    Range(f64, f64),
}

/// Whether a figure may stand beside one of ours. None is the same measurement: programs, machines and times are others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparable {
    /// The same thing is counted by the same rule, on other programs.
    InKind,
    /// Something near it is counted; the reason says what differs.
    Partly,
    No,
}

/// One of a paper's own figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    pub paper: &'static str,
    /// The table, or "text" for what only the text says.
    pub place: &'static str,
    pub what: &'static str,
    pub value: Value,
    pub comparable: Comparable,
    pub why: &'static str,
}

/// The headline numbers of all papers.
pub fn aggregates() -> Vec<Headline> {
    [
        predicate_switching::headlines(),
        causal_paths::headlines(),
        cascade::headlines(),
        frontier_sets::headlines(),
        fault_abstraction::headlines(),
    ]
    .concat()
}

/// The number of statements that are read until the fault, itself included, of each method that a paper says it of.
pub fn ranks() -> Vec<(&'static str, Summary)> {
    let some = |ranks: Vec<Option<usize>>| {
        Summary::new(&ranks.into_iter().map(|rank| rank.map(Rank::exactly)).collect::<Vec<_>>())
    };
    let all = |ranks: Vec<usize>| some(ranks.into_iter().map(Some).collect());
    vec![
        ("predicate switching, s-flex", some(predicate_switching::ranks())),
        ("frontier sets, real bugs", all(frontier_sets::BUGS.iter().map(|bug| bug.statements).collect())),
        ("cascade (CaFL), tcas", all(cascade::TCAS.iter().map(|version| version.lines).collect())),
        ("BugAssist as measured with CaFL, tcas", all(cascade::TCAS.iter().map(|v| v.bug_assist).collect())),
    ]
}

/// "The papers' own figures": the headline numbers, and what may be compared with ours.
pub fn aggregates_table() -> String {
    let rows = aggregates().into_iter().map(|line| {
        let comparable = format!("{}: {}", line.comparable.name(), line.why);
        vec![
            line.paper.to_owned(),
            line.place.to_owned(),
            line.what.to_owned(),
            line.value.to_string(),
            comparable,
        ]
    });
    markdown("| paper | where | what | value | comparable with ours? |\n|---|---|---|---:|---|", rows)
}

/// All tables in Markdown: the sources, the headline numbers, the ranks, and the rows of each paper.
pub fn tables() -> String {
    let mut text = String::from("## The papers' own figures\n\n");
    for source in SOURCES {
        let _ =
            writeln!(text, "- {}: {}, \"{}\", {}", source.name, source.authors, source.title, source.venue);
    }
    let _ = write!(text, "\n{}\n", aggregates_table());
    text.push_str("### Statements that are read until the fault, as the papers count them\n\n");
    text.push_str(&ranks_told());
    for part in [
        predicate_switching::table(),
        causal_paths::table(),
        cascade::table(),
        frontier_sets::table(),
        fault_abstraction::table(),
    ] {
        let _ = write!(text, "\n{part}");
    }
    text
}

const RANKS_NOTE: &str = "Numbers of faults. The median is the lower of two, a miss worse than any rank, as in our own tables. \
Frontier sets count no miss, though the text says that the search missed the fault of bug 2. \
The rows of tcas count lines that the tool had come to when the cause was identified; nothing says in which order those of one level are read.";

/// The ranks of the papers' methods, and how they were counted.
pub fn ranks_told() -> String {
    format!("{}\n{RANKS_NOTE}\n", ranks_table())
}

fn ranks_table() -> String {
    let rows = ranks().into_iter().map(|(name, summary)| {
        let hits = [summary.first, summary.within_three, summary.within_five, summary.within_ten];
        let mut row = vec![name.to_owned(), summary.cases.to_string()];
        row.extend(hits.iter().map(f64::to_string));
        row.extend([summary.missed.to_string(), told(summary.median)]);
        row
    });
    markdown(
        "| method | number | first | ≤ 3 | ≤ 5 | ≤ 10 | miss | median |\n|---|---:|---:|---:|---:|---:|---:|---:|",
        rows,
    )
}

impl Source {
    fn headline(
        &self,
        place: &'static str,
        what: &'static str,
        value: Value,
        comparable: Comparable,
        why: &'static str,
    ) -> Headline {
        Headline { paper: self.name, place, what, value, comparable, why }
    }
}

impl Comparable {
    pub fn name(self) -> &'static str {
        match self {
            Comparable::InKind => "in kind",
            Comparable::Partly => "partly",
            Comparable::No => "no",
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Share { part, of } => write!(f, "{part} of {of} ({})", whole_percent(part, of)),
            Value::Number(number) => f.write_str(&short(number)),
            Value::Seconds(seconds) => write!(f, "{} s", short(seconds)),
            Value::Percent(percent) => write!(f, "{} %", short(percent)),
            Value::Range(least, most) => write!(f, "{}–{}", short(least), short(most)),
        }
    }
}

/// A share that is not nothing is not printed as 0.
fn whole_percent(part: usize, of: usize) -> String {
    match (part * 100 + of / 2) / of.max(1) {
        0 if part > 0 => "< 1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

/// With at most two digits after the point, and none that say nothing.
fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or("–".to_owned(), |value| value.to_string())
}

/// A table with the given two lines of header.
fn markdown(header: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = format!("{header}\n");
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printed_short() {
        assert_eq!(Value::Share { part: 15, of: 20 }.to_string(), "15 of 20 (75 %)");
        assert_eq!(Value::Share { part: 4, of: 985 }.to_string(), "4 of 985 (< 1 %)");
        assert_eq!(Value::Share { part: 0, of: 3 }.to_string(), "0 of 3 (0 %)");
        assert_eq!(Value::Number(17.0).to_string(), "17");
        assert_eq!(Value::Number(2.875).to_string(), "2.88");
        assert_eq!(Value::Seconds(100.0).to_string(), "100 s");
        assert_eq!(Value::Range(4.21, 57.0).to_string(), "4.21–57");
    }

    #[test]
    fn each_row_of_a_table_has_the_columns_of_its_header() {
        let text = tables();
        let lines: Vec<&str> = text.lines().collect();
        let columns = |line: &str| line.matches('|').count();
        for pair in lines.windows(2) {
            if pair.iter().all(|line| line.starts_with('|')) {
                assert_eq!(columns(pair[0]), columns(pair[1]), "{pair:?}");
            }
        }
        assert!(lines.iter().filter(|line| line.starts_with("|---")).count() >= 7);
    }

    #[test]
    fn each_paper_has_headlines_and_each_headline_a_reason() {
        let lines = aggregates();
        for source in SOURCES {
            assert!(lines.iter().any(|line| line.paper == source.name), "{}", source.name);
        }
        assert!(
            lines.iter().all(|line| !line.why.is_empty() && SOURCES.iter().any(|s| s.name == line.paper))
        );
    }

    #[test]
    fn the_document_has_the_figures_that_may_be_compared_with_ours() {
        let document = include_str!("../../../docs/evaluation.md");
        assert!(document.contains(&ranks_table()), "{}", ranks_table());
        for line in aggregates_table().lines().filter(|line| !line.contains("| no: ")) {
            assert!(document.contains(line), "{line}");
        }
    }

    #[test]
    fn what_is_counted_as_we_count_it_is_said_to_be() {
        let in_kind: Vec<&str> = aggregates()
            .iter()
            .filter(|line| line.comparable == Comparable::InKind)
            .map(|l| l.paper)
            .collect();
        assert!(in_kind.contains(&frontier_sets::SOURCE.name));
        assert!(!in_kind.contains(&fault_abstraction::SOURCE.name));
    }
}
