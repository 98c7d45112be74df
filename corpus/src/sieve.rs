//! Mutants that mean the same are one mistake, however they are written.
//!
//! Whether two mean the same is asked of the compiler: it is the same if it makes the same instructions of both. What it
//! does not notice stays two.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::mutate::{Mutant, Source};
use crate::native::{self, SOURCE};

/// Where a function begins in the source.
type Function = usize;
/// What the compiler makes of a function, told by a hash.
type Code = u64;
/// What it makes of the functions that a mutant changes.
type Change = BTreeMap<Function, Code>;

/// What is to be done with a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    New,
    NotCompiled,
    /// It means what the program without a mistake does.
    Equivalent,
    /// It means what one before it does.
    Duplicate,
    /// It means what a mutant of the test set does.
    KeptBack,
}

/// Tells which of the mutants of a program are to be drawn.
pub struct Sieve<'a> {
    source: &'a Source,
    /// The bodies of all functions.
    bodies: BTreeMap<Function, Range<usize>>,
    /// Mutants of the test set, with which none that is drawn shall be one.
    kept_back: BTreeMap<Function, Vec<Mutant>>,
    /// Without a mistake.
    right: Change,
    seen: RefCell<HashSet<Change>>,
    /// Of mutants of the test set, by function.
    known: RefCell<HashMap<Function, HashSet<Code>>>,
    /// Where sources are compiled.
    directory: PathBuf,
}

impl<'a> Sieve<'a> {
    pub fn new(source: &'a Source, kept_back: Vec<Mutant>, directory: &Path) -> Result<Sieve<'a>> {
        fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
        let mut sieve = Sieve {
            source,
            bodies: source.bodies(),
            kept_back: BTreeMap::new(),
            right: Change::new(),
            seen: RefCell::default(),
            known: RefCell::default(),
            directory: directory.to_owned(),
        };
        for mutant in kept_back {
            if let Some(function) = source.function_around(mutant.range.start) {
                sieve.kept_back.entry(function).or_default().push(mutant);
            }
        }
        for function in sieve.bodies.keys() {
            let code = sieve.code(*function, None)?.context("gcc refuses a program without a mistake")?;
            sieve.right.insert(*function, code);
        }
        Ok(sieve)
    }

    /// Mutants are to be asked about in the order in which they are drawn: the first of several that mean the same is new.
    pub fn fate(&self, mutant: &Mutant) -> Result<Fate> {
        if !mutant.is_valid(self.source) {
            return Ok(Fate::NotCompiled);
        }
        let Some(change) = self.change(mutant)? else { return Ok(Fate::NotCompiled) };
        if change.is_empty() {
            return Ok(Fate::Equivalent);
        }
        if self.is_kept_back(&change)? {
            return Ok(Fate::KeptBack);
        }
        let is_new = self.seen.borrow_mut().insert(change);
        Ok(if is_new { Fate::New } else { Fate::Duplicate })
    }

    /// Mutants of the test set are each in one function.
    fn is_kept_back(&self, change: &Change) -> Result<bool> {
        let (Some((function, code)), 1) = (change.first_key_value(), change.len()) else { return Ok(false) };
        if let Some(known) = self.known.borrow().get(function) {
            return Ok(known.contains(code));
        }
        let mut codes = HashSet::new();
        for mutant in self.kept_back.get(function).into_iter().flatten() {
            codes.extend(self.code(*function, Some(mutant))?);
        }
        let is_kept_back = codes.contains(code);
        self.known.borrow_mut().insert(*function, codes);
        Ok(is_kept_back)
    }

    /// What becomes of the functions that a mutant changes; `None` if it is not compiled. What stands in no function may
    /// change any.
    fn change(&self, mutant: &Mutant) -> Result<Option<Change>> {
        let own = self.source.function_around(mutant.range.start);
        let mut change = Change::new();
        for (function, right) in
            self.right.iter().filter(|(function, _)| own.is_none_or(|own| own == **function))
        {
            let Some(code) = self.code(*function, Some(mutant))? else { return Ok(None) };
            if code != *right {
                change.insert(*function, code);
            }
        }
        Ok(Some(change))
    }

    /// The instructions and the data of a function; `None` if it is not compiled.
    fn code(&self, function: Function, mutant: Option<&Mutant>) -> Result<Option<Code>> {
        fs::write(self.directory.join(SOURCE), self.alone(function, mutant))
            .context("a source cannot be written")?;
        let output = Command::new("gcc")
            .args(["-O1", "-fkeep-static-functions", "-S", "-o", "-"])
            .args(native::errors())
            .arg(SOURCE)
            .current_dir(&self.directory)
            .stderr(Stdio::null())
            .output()
            .context("gcc cannot be run")?;
        let mut hasher = DefaultHasher::new();
        output.stdout.hash(&mut hasher);
        Ok(output.status.success().then(|| hasher.finish()))
    }

    /// The source with a single function and the declarations of all others: that is compiled ten times as fast, and what is
    /// wrong in another function is not taken for something in this one. Lines keep their numbers.
    fn alone(&self, function: Function, mutant: Option<&Mutant>) -> String {
        let declared = self.bodies.iter().filter(|(other, _)| **other != function).map(|(_, body)| {
            let lines = self.source.slice(body.clone()).matches('\n').count();
            (body.clone(), format!(";{}", "\n".repeat(lines)))
        });
        let mistake = mutant.map(|mutant| (mutant.range.clone(), mutant.replacement.clone()));
        let mut edits: Vec<(Range<usize>, String)> = declared.chain(mistake).collect();
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut text = self.source.whole().to_owned();
        edits.into_iter().for_each(|(range, replacement)| text.replace_range(range, &replacement));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::{self, Operator};

    const TEXT: &str = "#include <assert.h>\n#define STEP 2\nint g(int a);\nstatic int h(int a) { return a + STEP; }\nint f(int a, int b, int n)\n{\n  int i = 0;\n  if (a && !b)\n    i = n - 2;\n\
        while (i < n - 1)\n    i++;\n  if (!(a == b))\n    i = n * 1;\n  return g(i);\n}\n";

    /// The fates of mutants that replace a part of a program by something else.
    fn fates(kept_back: &[(&str, &str)], drawn: &[(&str, &str)]) -> Vec<Fate> {
        let source = Source::parse(TEXT).unwrap();
        let all = mutate::mutants(&source);
        let change = |(old, new): &(&str, &str)| {
            let start = TEXT.find(old).expect("a part of the program");
            let first = all.iter().find(|mutant| mutant.operator == Operator::Relational).expect("a mutant");
            Mutant { range: start..start + old.len(), replacement: (*new).to_owned(), ..first.clone() }
        };
        let place = tempfile::tempdir().unwrap();
        let kept_back = kept_back.iter().map(change).collect();
        let sieve = Sieve::new(&source, kept_back, place.path()).unwrap();
        drawn.iter().map(|drawn| sieve.fate(&change(drawn)).unwrap()).collect()
    }

    #[test]
    fn mutants_that_mean_the_same_are_one_however_they_are_written() {
        let drawn = [("i < n", "i <= n"), ("n - 1", "n - 1 + 1"), ("n - 2", "n - 2 - 1"), ("n - 2", "n - 3")];
        assert_eq!(fates(&[], &drawn), [Fate::New, Fate::Duplicate, Fate::New, Fate::Duplicate]);
        let drawn = [("a == b", "a != b"), ("!(a == b)", "a == b"), ("a &&", "a ||")];
        assert_eq!(fates(&[], &drawn), [Fate::New, Fate::Duplicate, Fate::New]);
    }

    #[test]
    fn what_means_the_same_as_the_program_or_as_a_mutant_of_the_test_set_is_not_drawn() {
        let drawn =
            [("n * 1", "n / 1"), ("i < n", "i <= n"), ("a &&", "b &&"), ("a &&", "c &&"), ("a &&", "a &&)")];
        let wanted = [Fate::Equivalent, Fate::KeptBack, Fate::New, Fate::NotCompiled, Fate::NotCompiled];
        assert_eq!(fates(&[("n - 1", "n")], &drawn), wanted);
    }

    #[test]
    fn a_wrong_macro_is_what_it_changes_in_functions() {
        let drawn =
            [("STEP 2", "STEP 3"), ("STEP 2", "STEP 1 + 1"), ("a + STEP", "a + 4"), ("STEP 2", "STEP 4")];
        assert_eq!(
            fates(&[("STEP; }", "3; }")], &drawn),
            [Fate::KeptBack, Fate::Equivalent, Fate::New, Fate::Duplicate]
        );
    }
}
