//! The statements of a program: what ranks count, and shares are shares of.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::answer::Place;
use crate::mutate::Source;
use crate::native::SOURCE;

/// The statements of a program that is one file.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// By each of its lines, the one that a statement begins in.
    begins: BTreeMap<usize, usize>,
}

impl Statements {
    pub fn of(source: &Source) -> Statements {
        Statements { begins: source.statements() }
    }

    /// Several in one line count once.
    pub fn count(&self) -> usize {
        self.begins.iter().filter(|(line, begin)| line == begin).count()
    }

    /// Where the statement begins that a place is in; `None` of braces, heads of functions and whatever else is no statement.
    pub fn of_place(&self, place: &Place) -> Option<Place> {
        let begin = self.begins.get(&place.line).filter(|_| place.is_in(SOURCE))?;
        Some(Place { file: SOURCE.to_owned(), line: *begin })
    }

    /// How often each was executed, by how often its lines were.
    pub fn executed(&self, lines: impl IntoIterator<Item = (Place, u64)>) -> Vec<(Place, u64)> {
        let mut counts: BTreeMap<Place, u64> = BTreeMap::new();
        for (place, count) in lines {
            if let Some(statement) = self.of_place(&place) {
                *counts.entry(statement).or_default() += count;
            }
        }
        counts.into_iter().collect()
    }
}

/// Of a program whose statements are not known: the lines that were executed, without those that hold a brace alone. Their
/// files are found from the directory that it ran in.
pub fn lines_with_more_than_braces(
    lines: impl IntoIterator<Item = (Place, u64)>,
    directory: &Path,
) -> Vec<(Place, u64)> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut counts: BTreeMap<Place, u64> = BTreeMap::new();
    for (place, count) in lines {
        let text = texts.entry(place.file.clone()).or_insert_with(|| lines_of(&directory.join(&place.file)));
        let line = text.get(place.line.saturating_sub(1)).map_or("", |line| line.trim());
        if !matches!(line, "{" | "}") {
            *counts.entry(place).or_default() += count;
        }
    }
    counts.into_iter().collect()
}

/// None of a file that cannot be read.
fn lines_of(path: &Path) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brace_alone_is_no_statement_of_any_program() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("a.c"), "int f()\n  {\n    g(); }\n}\n").unwrap();
        let line = |file: &str, line| (Place { file: file.to_owned(), line }, 1);
        let executed = (1..=4).map(|number| line("a.c", number)).chain([line("gone.c", 2), line("a.c", 3)]);
        let kept = lines_with_more_than_braces(executed, place.path());
        let told: Vec<(&str, usize, u64)> =
            kept.iter().map(|(place, count)| (place.file.as_str(), place.line, *count)).collect();
        assert_eq!(told, [("a.c", 1, 1), ("a.c", 3, 2), ("gone.c", 2, 1)]);
    }

    const TEXT: &str = "int f(int a)\n{\n  static int c = 1;\n  int b =\n    a;\n  do {\n    b++;\n  } while (b <\n    7); if (b\n    > 1) {\n    return b\n    + 1; }\n  return 0; }\n";

    #[test]
    fn each_line_of_a_statement_belongs_to_it_and_others_to_none() {
        let statements = Statements::of(&Source::parse(TEXT).unwrap());
        let place = |line| Place { file: SOURCE.to_owned(), line };
        let begins: Vec<usize> =
            (1..=13).map(|line| statements.of_place(&place(line)).map_or(0, |begin| begin.line)).collect();
        assert_eq!(begins, [0, 0, 0, 4, 4, 0, 7, 8, 9, 9, 11, 11, 13]);
        assert_eq!(statements.count(), 6);
        assert_eq!(statements.of_place(&Place { file: "stdio.h".to_owned(), line: 7 }), None);
        let executed = statements.executed([(place(2), 1), (place(5), 2), (place(4), 3), (place(7), 4)]);
        assert_eq!(executed, [(place(4), 5), (place(7), 4)]);
    }
}
