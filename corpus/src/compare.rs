//! Two measurements of the same cases: what got better or worse, and whether that may be chance.

use std::collections::HashMap;
use std::fmt::Write;

use crate::journal::Results;
use crate::measure::{Rank, or_worst, told};
use crate::question::Question;
use crate::row::Row;

/// How the rank of one case changed, by the strict rule.
struct Change<'a> {
    row: &'a Row,
    old: Option<Rank>,
    new: Option<Rank>,
}

impl Change<'_> {
    fn ranks(&self) -> (f64, f64) {
        (or_worst(self.old), or_worst(self.new))
    }

    /// Whether the fault was, and is, among the first statements; among equals if that is at least as likely as not.
    fn hits(&self, most: usize) -> (bool, bool) {
        let is_hit = |rank: Option<Rank>| rank.is_some_and(|rank| rank.within(most) >= 0.5);
        (is_hit(self.old), is_hit(self.new))
    }
}

/// The comparison as text; cases that only one of the two has are counted and left out.
pub fn compare(old: &Results, new: &Results) -> String {
    let known: HashMap<(&str, Question), &Row> =
        old.rows.iter().map(|row| ((row.case.as_str(), row.question), row)).collect();
    let rows: Vec<&Row> = new.rows.iter().collect();
    let mut text = String::new();
    for question in crate::table::questions(&rows) {
        let asked = new.rows.iter().filter(|row| row.question == question);
        let changes: Vec<Change<'_>> = asked
            .filter_map(|row| {
                let before = known.get(&(row.case.as_str(), question))?;
                Some(Change { row, old: before.strict, new: row.strict })
            })
            .collect();
        let _ = writeln!(
            text,
            "{} ({}), {} cases in both:",
            question.technique.name(),
            question.with.name(),
            changes.len()
        );
        write_one(&mut text, &changes);
    }
    let both = new.rows.iter().filter(|row| known.contains_key(&(row.case.as_str(), row.question))).count();
    let (gone, added) = (old.rows.len().saturating_sub(both), new.rows.len() - both);
    if gone + added > 0 {
        let _ = writeln!(text, "{gone} answers are in the old file alone, {added} in the new one alone.");
    }
    text
}

fn write_one(text: &mut String, changes: &[Change<'_>]) {
    let count = |is: &dyn Fn(&Change<'_>) -> bool| changes.iter().filter(|change| is(change)).count();
    let better = count(&|change| change.ranks().1 < change.ranks().0);
    let worse = count(&|change| change.ranks().1 > change.ranks().0);
    let _ = writeln!(text, "  rank: {better} better, {worse} worse, p = {:.3}", sign_test(better, worse));
    for (name, most) in [("first", 1), ("within five", 5)] {
        let came = count(&|change| change.hits(most) == (false, true));
        let went = count(&|change| change.hits(most) == (true, false));
        let before = count(&|change| change.hits(most).0);
        let _ = writeln!(
            text,
            "  {name}: {before} before, {} now ({came} came, {went} went), p = {:.3}",
            before + came - went,
            sign_test(came, went)
        );
    }
    let rank = |rank: Option<Rank>| told(rank.map(Rank::expected));
    let mut changed: Vec<&Change<'_>> = changes.iter().filter(|change| change.old != change.new).collect();
    changed.sort_by_key(|change| (change.ranks().1 < change.ranks().0, change.row.case.clone()));
    for Change { row, old, new } in changed {
        let _ = writeln!(text, "    {:>5} → {:<5} {}", rank(*old), rank(*new), row.case);
    }
}

/// The probability that a fair coin falls so unequally, or more, one way or the other: the exact sign test of pairs, which for
/// hits and misses is McNemar's.
fn sign_test(one: usize, other: usize) -> f64 {
    let (total, less) = (one + other, one.min(other));
    // Logarithms: of many changes each probability is too small for a number.
    let mut term = total as f64 * 0.5_f64.ln();
    let mut tail = 0.0;
    for count in 0..=less {
        tail += term.exp();
        term += ((total - count) as f64).ln() - ((count + 1) as f64).ln();
    }
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_test_is_exact() {
        let is = |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-9, "{value} {wanted}");
        is(sign_test(0, 0), 1.0);
        is(sign_test(5, 0), 0.0625);
        is(sign_test(0, 5), 0.0625);
        is(sign_test(8, 2), 0.109375);
        is(sign_test(3, 3), 1.0);
    }

    #[test]
    fn the_sign_test_of_many_changes_is_no_zero() {
        // The binomial distribution is near a normal one: 2,000 throws, and 1.96 standard deviations.
        let value = sign_test(1000 - 44, 1000 + 44);
        assert!((0.049..0.055).contains(&value), "{value}");
        assert!(sign_test(0, 1000) > 0.0);
    }

    fn results(ranks: &[(&str, Option<usize>)]) -> Results {
        let named = |(case, rank): &(&str, Option<usize>)| {
            let strict = rank.map(Rank::exactly);
            Row { case: (*case).to_owned(), strict, ..crate::row::tests::row(&[12], false) }
        };
        Results { rows: ranks.iter().map(named).collect(), ..Results::default() }
    }

    #[test]
    fn what_got_better_and_worse_is_counted_and_told_case_by_case() {
        let old = results(&[("a", Some(1)), ("b", None), ("c", Some(6)), ("d", Some(2)), ("gone", Some(1))]);
        let new = results(&[("a", Some(3)), ("b", Some(1)), ("c", Some(5)), ("d", Some(2)), ("new", None)]);
        let text = compare(&old, &new);
        let lines = [
            "explain (alone), 4 cases in both:",
            "  rank: 2 better, 1 worse, p = 1.000",
            "  first: 1 before, 1 now (1 came, 1 went), p = 1.000",
            "  within five: 2 before, 4 now (2 came, 0 went), p = 0.500",
            "        1 → 3     a",
            "     miss → 1     b",
            "        6 → 5     c",
            "1 answers are in the old file alone, 1 in the new one alone.",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn the_same_measurement_differs_in_nothing() {
        let same = results(&[("a", Some(1)), ("b", None)]);
        let text = compare(&same, &same);
        assert!(text.contains("rank: 0 better, 0 worse, p = 1.000") && !text.contains('→'), "{text}");
    }

    #[test]
    fn a_tie_is_a_hit_if_that_is_as_likely_as_not() {
        let mut tied = results(&[("a", Some(1))]);
        let place = |line| crate::answer::Place { file: "main.c".to_owned(), line };
        let order = crate::measure::Order::by_score([(place(1), 1.0), (place(2), 1.0)]);
        tied.rows[0].strict = order.rank(|place| place.line == 2);
        let text = compare(&results(&[("a", None)]), &tied);
        assert!(text.contains("first: 0 before, 1 now") && text.contains("miss → 1.5"), "{text}");
    }
}
