//! Mutants that mean the same are one mistake, however they are written.
//!
//! Whether two mean the same is asked of the compiler: it is the same if it makes the same instructions of both. What it
//! does not notice stays two.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::mutate::{Mutant, Source};
use crate::native::{self, SOURCE};

/// What the compiler makes of a source, told by a hash: two of the same are the same.
type Code = u64;

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
    /// Mutants of the test set, with which none that is drawn shall be one.
    kept_back: Vec<Mutant>,
    right: Code,
    seen: RefCell<HashSet<Code>>,
    /// Of mutants of the test set, by their number.
    known: RefCell<HashMap<usize, Option<Code>>>,
    /// Where sources are compiled.
    directory: PathBuf,
}

impl<'a> Sieve<'a> {
    pub fn new(source: &'a Source, kept_back: Vec<Mutant>, directory: &Path) -> Result<Sieve<'a>> {
        fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
        let right = code(source.whole(), directory)?.context("gcc refuses a program without a mistake")?;
        let (seen, known) = Default::default();
        Ok(Sieve { source, kept_back, right, seen, known, directory: directory.to_owned() })
    }

    /// Mutants are to be asked about in the order in which they are drawn: the first of several that mean the same is new.
    pub fn fate(&self, mutant: &Mutant) -> Result<Fate> {
        let Some(code) = self.code_of(mutant)? else { return Ok(Fate::NotCompiled) };
        if code == self.right {
            return Ok(Fate::Equivalent);
        }
        if self.is_kept_back(mutant, code)? {
            return Ok(Fate::KeptBack);
        }
        let is_new = self.seen.borrow_mut().insert(code);
        Ok(if is_new { Fate::New } else { Fate::Duplicate })
    }

    /// Only mutants of the same functions are asked about: one that changes another function makes other code.
    fn is_kept_back(&self, mutant: &Mutant, code: Code) -> Result<bool> {
        let functions = self.functions_of(mutant);
        for (number, other) in self.kept_back.iter().enumerate() {
            if functions.is_disjoint(&self.source.functions_at(&[other.line].into())) {
                continue;
            }
            if self.code_of_kept_back(number, other)? == Some(code) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Those that it is in or, as of a macro, may be noticed in.
    fn functions_of(&self, mutant: &Mutant) -> BTreeSet<usize> {
        let mut lines = mutant.truth.strict.clone();
        lines.insert(mutant.line);
        self.source.functions_at(&lines)
    }

    fn code_of_kept_back(&self, number: usize, mutant: &Mutant) -> Result<Option<Code>> {
        if let Some(known) = self.known.borrow().get(&number) {
            return Ok(*known);
        }
        let code = self.code_of(mutant)?;
        self.known.borrow_mut().insert(number, code);
        Ok(code)
    }

    fn code_of(&self, mutant: &Mutant) -> Result<Option<Code>> {
        match mutant.is_valid(self.source) {
            true => code(&mutant.apply(self.source), &self.directory),
            false => Ok(None),
        }
    }
}

/// The instructions and data of a source; `None` if it is not compiled. Each function stands for itself: it is not copied
/// into others, where another mistake could look like one in it.
fn code(text: &str, directory: &Path) -> Result<Option<Code>> {
    fs::write(directory.join(SOURCE), text).context("a source cannot be written")?;
    let output = Command::new("gcc")
        .args(["-O1", "-fno-inline", "-S", "-o", "-"])
        .args(native::errors())
        .arg(SOURCE)
        .current_dir(directory)
        .stderr(Stdio::null())
        .output()
        .context("gcc cannot be run")?;
    let mut hasher = DefaultHasher::new();
    output.stdout.hash(&mut hasher);
    Ok(output.status.success().then(|| hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::{self, Operator};

    const TEXT: &str = "int g(int a);\nint f(int a, int b, int n)\n{\n  int i = 0;\n  if (a && !b)\n    i = n - 2;\n\
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
}
