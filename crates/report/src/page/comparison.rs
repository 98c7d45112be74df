//! What was expected of an output and what there was instead, line by line.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};
use replay::Bytes;
use replay::failure::WrongOutput;

/// Larger texts are not compared as a whole; then the first line that differs is shown.
const LARGEST: usize = 4 << 20;
/// Lines around a difference that are the same, and the most lines that are shown.
const CONTEXT: usize = 3;
const MOST_ROWS: usize = 48;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonReport {
    /// Where the text is.
    pub channel: String,
    pub rows: Vec<Row>,
    /// How many lines that differ are not shown.
    pub left_out: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub kind: RowKind,
    /// The line, from 1: of what was expected in a row of that kind, otherwise of what there was.
    pub number: usize,
    pub text: Vec<u8>,
    /// What of the text differs from its counterpart; nothing, or all of it, where there is none.
    pub changed: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    Same,
    Expected,
    Actual,
}

impl ComparisonReport {
    pub fn new(wrong: &WrongOutput, texts: Option<&(Vec<u8>, Bytes)>) -> ComparisonReport {
        let small = texts.filter(|(actual, expected)| actual.len().max(expected.len()) <= LARGEST);
        let rows = small.map(|(actual, expected)| rows(&lines(actual), &lines(expected))).unwrap_or_default();
        let rows = if rows.is_empty() { first_line(wrong) } else { rows };
        let is_different = |row: &&Row| row.kind != RowKind::Same;
        let left_out = rows.iter().skip(MOST_ROWS).filter(is_different).count();
        let rows = rows.into_iter().take(MOST_ROWS).collect();
        ComparisonReport { channel: wrong.channel.to_string(), rows, left_out }
    }
}

/// The first line that is wrong, which is always known.
fn first_line(wrong: &WrongOutput) -> Vec<Row> {
    let number = usize::try_from(wrong.line).unwrap_or(usize::MAX);
    let (expected, actual) = changed(&wrong.expected, &wrong.actual);
    vec![
        Row { kind: RowKind::Expected, number, text: wrong.expected.to_vec(), changed: expected },
        Row { kind: RowKind::Actual, number, text: wrong.actual.to_vec(), changed: actual },
    ]
}

/// Without the end of each.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    match text.is_empty() {
        true => Vec::new(),
        false => text.split(|byte| *byte == b'\n').collect(),
    }
}

/// The lines that differ, with some around them.
fn rows(actual: &[&[u8]], expected: &[&[u8]]) -> Vec<Row> {
    let mut input = InternedInput::default();
    input.update_before(expected.iter().copied());
    input.update_after(actual.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    let mut rows = Vec::new();
    let mut shown = 0;
    for hunk in diff.hunks() {
        let before = hunk.before.start as usize..hunk.before.end as usize;
        let after = hunk.after.start as usize..hunk.after.end as usize;
        // What follows the one before, and what comes before this one.
        let behind = if rows.is_empty() { 0 } else { CONTEXT };
        let first = after.start.saturating_sub(CONTEXT).max((shown + behind).min(after.start));
        same(actual, shown..(shown + behind).min(after.start), &mut rows);
        same(actual, first..after.start, &mut rows);
        different(expected, actual, &before, &after, &mut rows);
        shown = after.end;
        if rows.len() > 4 * MOST_ROWS {
            return rows;
        }
    }
    if !rows.is_empty() {
        same(actual, shown..(shown + CONTEXT).min(actual.len()), &mut rows);
    }
    rows
}

fn same(actual: &[&[u8]], range: Range<usize>, rows: &mut Vec<Row>) {
    let start = range.start;
    for (at, line) in actual.get(range).unwrap_or_default().iter().enumerate() {
        rows.push(Row { kind: RowKind::Same, number: start + at + 1, text: line.to_vec(), changed: 0..0 });
    }
}

/// Lines that stand for each other are shown one under the other.
fn different(
    expected: &[&[u8]],
    actual: &[&[u8]],
    before: &Range<usize>,
    after: &Range<usize>,
    rows: &mut Vec<Row>,
) {
    let are_pairs = before.len() == after.len();
    let missing = expected.get(before.clone()).unwrap_or_default().iter().enumerate();
    let surplus = actual.get(after.clone()).unwrap_or_default().iter().enumerate();
    let row = |kind, number, line: &[u8], changed| Row { kind, number, text: line.to_vec(), changed };
    if are_pairs {
        for ((at, wanted), (_, found)) in missing.zip(surplus) {
            let (of_wanted, of_found) = changed(wanted, found);
            rows.push(row(RowKind::Expected, before.start + at + 1, wanted, of_wanted));
            rows.push(row(RowKind::Actual, after.start + at + 1, found, of_found));
        }
        return;
    }
    rows.extend(missing.map(|(at, line)| row(RowKind::Expected, before.start + at + 1, line, 0..line.len())));
    rows.extend(surplus.map(|(at, line)| row(RowKind::Actual, after.start + at + 1, line, 0..line.len())));
}

/// What is left of two lines without what they begin and end with in common. Characters are not cut in two.
fn changed(one: &[u8], other: &[u8]) -> (Range<usize>, Range<usize>) {
    let is_start = |text: &[u8], at: usize| text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let mut start = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    while start > 0 && !(is_start(one, start) && is_start(other, start)) {
        start -= 1;
    }
    let most = one.len().min(other.len()) - start;
    let pairs = one.iter().rev().zip(other.iter().rev()).take(most);
    let mut end = pairs.take_while(|(one, other)| one == other).count();
    while end > 0 && !is_start(one, one.len() - end) {
        end -= 1;
    }
    (start..one.len() - end, start..other.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay::Channel;
    use replay::failure::Difference;

    /// Each row as `sign number text`, with what changed in brackets.
    fn shown(actual: &str, expected: &str) -> Vec<String> {
        let text = |row: Row| {
            let sign = match row.kind {
                RowKind::Same => '=',
                RowKind::Expected => '-',
                RowKind::Actual => '+',
            };
            let part = |range: Range<usize>| String::from_utf8_lossy(&row.text[range]).into_owned();
            let before = part(0..row.changed.start);
            let after = part(row.changed.end..row.text.len());
            format!("{sign}{} {before}[{}]{after}", row.number, part(row.changed.clone()))
        };
        rows(&lines(actual.as_bytes()), &lines(expected.as_bytes())).into_iter().map(text).collect()
    }

    #[test]
    fn lines_that_differ_are_shown_among_their_neighbours() {
        let actual = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n";
        let expected = "1\n2\n3\n4\nfire\n6\n7\n8\n9\n10\n11\n12\n13\nmore";
        assert_eq!(
            shown(actual, expected),
            [
                "=2 []2",
                "=3 []3",
                "=4 []4",
                "-5 fi[r]e",
                "+5 fi[v]e",
                "=6 []6",
                "=7 []7",
                "=8 []8",
                "=11 []11",
                "=12 []12",
                "=13 []13",
                "-14 [more]"
            ]
        );
    }

    #[test]
    fn near_differences_share_the_lines_between_them() {
        assert_eq!(
            shown("a\n1\n2\n3\n4\nb\n", "A\n1\n2\n3\n4\nB\n"),
            ["-1 [A]", "+1 [a]", "=2 []1", "=3 []2", "=4 []3", "=5 []4", "-6 [B]", "+6 [b]"]
        );
    }

    #[test]
    fn characters_are_not_cut_in_two() {
        assert_eq!(shown("xä", "xö"), ["-1 x[ö]", "+1 x[ä]"]);
        assert_eq!(shown("aa", "aaa"), ["-1 aa[a]", "+1 aa[]"]);
        assert_eq!(shown("", "a"), ["-1 [a]"]);
        assert_eq!(shown("same", "same\n"), Vec::<String>::new());
    }

    #[test]
    fn without_whole_texts_and_where_only_an_end_of_line_differs_the_first_line_is_shown() {
        let wrong = WrongOutput {
            channel: Channel::Stdout,
            offset: 1,
            difference: Difference::Missing,
            line: 1,
            actual: Bytes::from("a"),
            expected: Bytes::from("a"),
        };
        for texts in [None, Some((b"a".to_vec(), Bytes::from("a\n")))] {
            let comparison = ComparisonReport::new(&wrong, texts.as_ref());
            let kinds: Vec<RowKind> = comparison.rows.iter().map(|row| row.kind).collect();
            assert_eq!(kinds, [RowKind::Expected, RowKind::Actual]);
        }
    }

    #[test]
    fn a_page_of_differences_is_cut() {
        let wrong = WrongOutput {
            channel: Channel::Stdout,
            offset: 0,
            difference: Difference::Different,
            line: 1,
            actual: Bytes::from("a"),
            expected: Bytes::from("b"),
        };
        let texts = ("a\n".repeat(100).into_bytes(), Bytes::from("b\n".repeat(100).as_str()));
        let comparison = ComparisonReport::new(&wrong, Some(&texts));
        assert_eq!(comparison.rows.len(), MOST_ROWS);
        assert_eq!(comparison.left_out, 200 - MOST_ROWS);
    }
}
