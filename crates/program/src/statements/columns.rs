//! Without the source: which lines look like those of a `for`, by their columns alone.

use std::collections::{BTreeMap, BTreeSet};

/// The lines of a function whose code comes as that of a `for` does. `rows` are lines and columns, by
/// address.
///
/// Before the loop's body comes the initialiser and at last the keyword, which is to the left of it. After
/// the body the code is back on its line, first at the step, which is the rightmost column of all, then to
/// the left of it, at the condition or the keyword. A `for` without an initialiser looks like a `while` and
/// is not told apart; where a line is taken for a `for` by mistake, its sub-expressions count as statements
/// of their own.
pub(super) fn lines_like_loops(rows: &[(u32, u32)]) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    // The rightmost column of each line that may have begun a loop.
    let mut begun: BTreeMap<u32, u32> = BTreeMap::new();
    for run in rows.chunk_by(|a, b| a.0 == b.0) {
        let (Some((line, first)), Some((_, last))) = (run.first().copied(), run.last().copied()) else {
            continue;
        };
        let columns = || run.iter().map(|(_, column)| *column);
        let is_rightmost = columns().all(|column| column <= first);
        let is_leftmost = columns().all(|column| column >= last);
        if begun.get(&line).is_some_and(|before| first > *before) && is_rightmost && last < first {
            found.insert(line);
        }
        if is_leftmost && 0 < last && last < first {
            begun.insert(line, columns().max().unwrap_or(first));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_of_both_compilers_are_known_by_their_columns() {
        let gcc = [(13, 9), (14, 14), (14, 5), (15, 11), (14, 29), (14, 23), (16, 1)];
        assert_eq!(lines_like_loops(&gcc), BTreeSet::from([14]));
        let clang = [(14, 14), (14, 21), (14, 23), (14, 5), (15, 14), (15, 11), (14, 29), (14, 5), (16, 1)];
        assert_eq!(lines_like_loops(&clang), BTreeSet::from([14]));
    }

    #[test]
    fn other_statements_are_not_taken_for_loops() {
        let while_by_gcc = [(7, 11), (8, 9), (7, 14), (7, 20), (9, 1)];
        let while_by_clang = [(7, 12), (7, 14), (7, 5), (8, 9), (7, 5), (9, 1)];
        let while_of_increment = [(4, 11), (5, 9), (4, 17), (4, 12), (6, 11)];
        let call_over_lines = [(3, 5), (4, 12), (3, 5), (5, 1)];
        let no_columns = [(14, 0), (15, 0), (14, 0), (16, 0)];
        for rows in
            [&while_by_gcc[..], &while_by_clang, &while_of_increment, &call_over_lines, &no_columns, &[]]
        {
            assert!(lines_like_loops(rows).is_empty(), "{rows:?}");
        }
    }
}
