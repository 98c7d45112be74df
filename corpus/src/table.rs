//! The tables of a measurement.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::answer::Reply;
use crate::cases::Fails;
use crate::contrast;
use crate::journal::Results;
use crate::measure::{Rank, Summary, mean, median, or_worst, told};
use crate::mutate::Kind;
use crate::papers;
use crate::question::{Question, Technique};
use crate::real::cases::REAL;
use crate::row::Row;
use crate::suites::{Drawn, Suite};

/// All tables, as Markdown.
pub fn tables(results: &Results, with_cases: bool) -> String {
    let rows: Vec<&Row> = results.rows.iter().collect();
    let mut text = format!("{}\n{}\n", accuracy(&rows), costs(&rows));
    let _ = writeln!(text, "{}\n{}", contrast::goals(&rows), contrast::by_kind(&rows));
    let _ = writeln!(
        text,
        "What the papers say of their own methods, on other programs:\n\n{}",
        papers::ranks_told()
    );
    for question in questions(&rows) {
        let asked: Vec<&Row> = rows.iter().copied().filter(|row| row.question == question).collect();
        let _ = writeln!(text, "{}, by what is wrong:\n\n{}", title(question), split(&asked));
        if with_cases && question.technique == Technique::Explain {
            let _ = writeln!(text, "{}, case by case:\n\n{}", title(question), cases(&asked));
        }
    }
    if let Some(drawn) = &results.drawn {
        let is_pairs = results.header.as_ref().is_some_and(|header| header.suite == Suite::Pairs);
        let _ = writeln!(text, "{}", became(drawn, is_pairs));
    }
    text
}

/// What became of all that was tried.
fn became(drawn: &Drawn, is_pairs: bool) -> String {
    let Drawn { mutants, tried, cases, not_compiled, equivalent, duplicates, kept_back, never_failing } =
        drawn;
    let left_out = format!(
        "{equivalent} are compiled to what the program without a mistake is, {duplicates} to what another one is, \
         {kept_back} to what one of the test set is"
    );
    match is_pairs {
        true => format!(
            "{tried} combinations of two of {mutants} mutants were tried: {cases} fail where neither does alone, {never_failing} do not. \
             {not_compiled} mutants or combinations do not compile; of the single mutants {left_out}."
        ),
        false => format!(
            "{tried} of {mutants} mutants were drawn: {cases} fail, {never_failing} never fail, {not_compiled} do not compile, {left_out}."
        ),
    }
}

pub fn title(question: Question) -> String {
    format!("{} ({})", question.technique.name(), question.with.name())
}

pub fn questions(rows: &[&Row]) -> BTreeSet<Question> {
    rows.iter().map(|row| row.question).collect()
}

/// How good each technique is, with each kind of help.
fn accuracy(rows: &[&Row]) -> String {
    let mut text = String::from(
        "| technique | with | rule | cases | first | ≤ 3 | ≤ 5 | ≤ 10 | miss | median | read of the program, mean | certain | certain and wrong | path starts at the fault | not reproduced | no answer |\n\
         |---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
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
        let replied = |reply: Reply| asked.iter().filter(|row| row.reply == reply).count();
        let exam: Vec<f64> = asked.iter().filter_map(|row| row.exam()).collect();
        let exam = match exam.is_empty() {
            true => "–".to_owned(),
            false => format!("{:.1} %", mean(exam.into_iter()) * 100.0),
        };
        let _ = writeln!(
            text,
            "| {name} | strict | {} {exam} | {certain} | {wrong} | {starts} of {} | {} | {} |",
            shares(&Summary::new(&strict)),
            with_path.len(),
            replied(Reply::NotReproduced),
            replied(Reply::NoAnswer),
        );
        if lenient != strict {
            let _ = writeln!(text, "| {name} | lenient | {} | | | | | |", shares(&Summary::new(&lenient)));
        }
        for (others, alike) in contrast::on_the_same_cases(question, rows) {
            let _ = writeln!(text, "| {others} | strict | {} | | | | | |", shares(&alike));
        }
        // The files of a real bug are one fault.
        let has_several =
            |row: &&Row| row.faults.len() > 1 && row.faults.iter().all(|fault| fault.origin != REAL);
        if asked.iter().any(has_several) {
            let all: Vec<_> = asked.iter().map(|row| row.all).collect();
            let _ =
                writeln!(text, "| {name} | strict, all faults | {} | | | | | |", shares(&Summary::new(&all)));
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
        // What nobody measured is no zero.
        let number = |of: &dyn Fn(&Row) -> Option<f64>, digits: usize, unit: &str| {
            let known: Vec<f64> = asked.iter().filter_map(|row| of(row)).collect();
            if known.is_empty() { "–".to_owned() } else { format!("{:.digits$}{unit}", median(known)) }
        };
        let whole =
            |of: &dyn Fn(&Row) -> Option<u64>| number(&|row| of(row).map(|count| count as f64), 0, "");
        let ratio = |row: &Row| Some(row.search?.instructions as f64 / row.length.max(1) as f64);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            question.technique.name(),
            question.with.name(),
            whole(&|row| Some(row.told as u64)),
            number(&|row| Some(row.share? * 100.0), 0, " %"),
            whole(&|row| row.search.map(|_| row.path as u64)),
            whole(&|row| Some(row.search?.conditions)),
            whole(&|row| Some(row.search?.trials)),
            number(&ratio, 1, ""),
            whole(&|row| row.cost.solver_calls),
            whole(&|row| row.cost.milliseconds),
            number(&|row| Some(row.cost.peak? as f64 / 1024.0), 0, ""),
            asked.iter().filter(|row| row.is_cut_short).count(),
        );
    }
    text + "\nMedians; times are those of one core of the machine at hand, of spectra those of all tests.\n"
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

pub fn has_kind(row: &Row, kind: Kind) -> bool {
    row.faults.iter().any(|fault| fault.kind == kind)
}

/// A line for each case, the worst first.
fn cases(rows: &[&Row]) -> String {
    let mut text = String::from(
        "| program | line | origin | kind | what | fails by | strict | lenient | in | told |\n|---|---:|---|---|---|---|---:|---:|---|---:|\n",
    );
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| or_worst(b.strict).total_cmp(&or_worst(a.strict)));
    let rank = |rank: Option<Rank>| told(rank.map(Rank::expected));
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
    let share = |count: f64| format!("{} %", (count * 100.0 / summary.cases.max(1) as f64).round());
    format!(
        "{} | {} | {} | {} | {} | {} | {} |",
        summary.cases,
        share(summary.first),
        share(summary.within_three),
        share(summary.within_five),
        share(summary.within_ten),
        share(summary.missed as f64),
        told(summary.median),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::With;
    use crate::row::tests::row;

    fn results() -> Results {
        let rows = [row(&[12], true), row(&[7, 8, 12], false), row(&[7], true), row(&[], false)];
        let named = |(number, row): (usize, Row)| Row { case: format!("small {number}"), ..row };
        Results { rows: rows.into_iter().enumerate().map(named).collect(), ..Results::default() }
    }

    #[test]
    fn shares_are_counted_of_all_cases_and_what_was_not_measured_is_no_zero() {
        let text = tables(&results(), true);
        let has = |line: &str| assert!(text.contains(line), "{line}\n{text}");
        has(
            "| explain | alone | strict | 4 | 25 % | 50 % | 50 % | 50 % | 50 % | 3 | 52.5 % | 2 | 1 | 1 of 3 | 0 | 0 |",
        );
        has("| explain | alone | 1 | – | 1 | 30 | 25 | 4.0 | – | 70 | 2 | 0 |");
        has("| branch | 4 | 25 % |");
        has("| small | 12 | relational | branch | `<` → `<=` | output | miss | miss |  | 1 |");
    }

    #[test]
    fn a_technique_that_not_all_cases_allow_is_set_beside_itself_without_help_on_the_same_cases() {
        let mut results = results();
        let helped = Question { with: With::Passing, ..crate::row::tests::ALONE };
        results.rows.push(Row { question: helped, case: "small 1".to_owned(), ..row(&[12], false) });
        let text = tables(&results, false);
        let line = "| explain | alone, the same cases | strict | 1 | 0 % | 100 % | 100 % | 100 % | 0 % | 3 |";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn what_was_not_answered_is_told_apart_from_a_miss() {
        let mut results = results();
        results.rows[3].reply = Reply::NoAnswer;
        results.rows[2].reply = Reply::NotReproduced;
        let text = tables(&results, false);
        assert!(text.contains("| 2 | 1 | 1 of 3 | 1 | 1 |"), "{text}");
    }
}
