//! Without the source: which lines look like those of a `for`, by their columns alone.

use std::collections::{BTreeMap, BTreeSet};

/// The lines of a function whose code comes as that of a `for` does. `rows` are lines and columns, by address.
///
/// After the loop's body the code is back on its line, first at the step, which is the rightmost column of all, then at a column to the left of
/// it: the condition, or the keyword. A `while` comes back at its condition, from left to right. Where this
/// is mistaken, sub-expressions of one line count as statements of their own; nothing is put together that is apart.
pub(super) fn lines_like_loops(rows: &[(u32, u32)]) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    // The rightmost column of each line so far.
    let mut rightmost: BTreeMap<u32, u32> = BTreeMap::new();
    for run in rows.chunk_by(|a, b| a.0 == b.0) {
        let Some((line, first)) = run.first().copied() else { continue };
        let most = run.iter().map(|(_, column)| *column).max().unwrap_or(0);
        let goes_left = run.iter().any(|(_, column)| *column < first && *column > 0);
        if rightmost.get(&line).is_some_and(|before| first > *before) && first == most && goes_left {
            found.insert(line);
        }
        let entry = rightmost.entry(line).or_insert(0);
        *entry = most.max(*entry);
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
        let call_over_lines = [(3, 5), (4, 12), (3, 5), (5, 1)];
        let no_columns = [(14, 0), (15, 0), (14, 0), (16, 0)];
        for rows in [&while_by_gcc[..], &while_by_clang, &call_over_lines, &no_columns, &[]] {
            assert!(lines_like_loops(rows).is_empty(), "{rows:?}");
        }
    }
}
