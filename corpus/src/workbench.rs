//! A program with its tests and with what is right: what judges its mutants.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};

use crate::cases::{Case, Fails, Fault, Tested};
use crate::mutate::Mutant;
use crate::native::{self, Ending, Outcome};
use crate::programs::{Answer, Program};
use crate::statements::Statements;

/// A mutant that hangs more often is not run with the rest of the tests: each takes seconds.
const MOST_HANGS: usize = 2;

pub struct Workbench<'a> {
    pub program: &'a Program,
    right: Vec<Outcome>,
    /// Where the program without a mistake is.
    reference: PathBuf,
}

/// What a test says of a mutant; `None` if it was not asked.
pub type Verdict = Option<Judged>;

/// What a mutant did in a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub outcome: Outcome,
    /// `None` if it passes.
    pub fails: Option<Fails>,
}

impl Judged {
    fn new(right: &Outcome, outcome: Outcome) -> Judged {
        let fails = match outcome.ending {
            Ending::Killed(_) => Some(Fails::Crash),
            Ending::Hung => Some(Fails::Hang),
            Ending::Exited(_) if outcome.stdout != right.stdout => Some(Fails::Output),
            Ending::Exited(_) if outcome.ending != right.ending => Some(Fails::Status),
            Ending::Exited(_) => None,
        };
        Judged { outcome, fails }
    }

    pub fn fails(&self) -> bool {
        self.fails.is_some()
    }
}

impl<'a> Workbench<'a> {
    /// Compiles the program without a mistake in a directory, and finds out whether it still does what is right.
    pub fn new(program: &'a Program, directory: &Path) -> Result<Workbench<'a>> {
        let name = &program.name;
        let answers = answers(program, directory)?;
        ensure!(
            answers.len() == program.answers.len(),
            "{name} has {} tests and {} answers; {BLESS}",
            answers.len(),
            program.answers.len()
        );
        let is_other = |(given, kept): (&Answer, &Answer)| given != kept;
        if let Some(number) = answers.iter().zip(&program.answers).position(is_other) {
            bail!("{name} does not answer test {number} as is right; {BLESS}");
        }
        let right = answers.into_iter().map(Outcome::from).collect();
        Ok(Workbench { program, right, reference: directory.join(native::EXECUTABLE) })
    }

    /// Compiles the program with mistakes in it; false if that is no valid program.
    pub fn compile(&self, mutants: &[&Mutant], directory: &Path) -> Result<bool> {
        native::compile(&Mutant::apply_all(mutants, &self.program.source), directory)
    }

    /// What the tests say of what was compiled in a directory, as far as `is_asked` wants to know.
    pub fn judge(&self, directory: &Path, is_asked: impl Fn(usize) -> bool) -> Result<Vec<Verdict>> {
        let mut hangs = 0;
        let mut verdicts = Vec::with_capacity(self.right.len());
        for (number, (test, right)) in self.program.tests.iter().zip(&self.right).enumerate() {
            if !is_asked(number) || hangs > MOST_HANGS {
                verdicts.push(None);
                continue;
            }
            let judged = Judged::new(right, native::run(directory, test)?);
            hangs += usize::from(judged.fails == Some(Fails::Hang));
            verdicts.push(Some(judged));
        }
        Ok(verdicts)
    }

    /// The case of mistakes that were compiled in a directory and fail in a test.
    pub fn case(
        &self,
        mutants: &[&Mutant],
        verdicts: Vec<Verdict>,
        failing: usize,
        directory: &Path,
    ) -> Result<Case> {
        let judged = verdicts.get(failing).cloned().flatten().context("there is no such test")?;
        let test = self.program.tests.get(failing).context("there is no such test")?;
        let right = self.right.get(failing).context("there is no such test")?;
        native::lay_out(test, directory)?;
        fs::write(directory.join(native::EXPECTED), &right.stdout)
            .context("what is expected cannot be written")?;
        let tested = self.program.tests.iter().zip(verdicts).map(|(test, verdict)| Tested {
            test: test.clone(),
            passes: verdict.map(|judged| judged.fails.is_none()),
        });
        let fails = judged.fails.context("the test passes")?;
        let names: Vec<String> = mutants.iter().map(|mutant| mutant.name()).collect();
        Ok(Case {
            name: format!("{} {}", self.program.name, names.join(" + ")),
            program: self.program.name.clone(),
            faults: mutants.iter().map(|mutant| Fault::of(mutant)).collect(),
            fails,
            executable: Path::new(".").join(native::EXECUTABLE),
            arguments: test.arguments().map(OsString::from).collect(),
            environment: BTreeMap::new(),
            stdin: native::INPUT,
            expectations: expectations(right, &judged),
            criterion: criterion(fails, &right.stdout, &judged.outcome.stdout),
            reference: Some(self.reference.clone()),
            tests: Arc::new(tested.collect()),
            failing,
            statements: Some(Arc::new(Statements::of(&self.program.source))),
            right_status: right.status(),
            directory: directory.to_owned(),
        })
    }
}

/// What to do when a program was edited on purpose.
const BLESS: &str = "if what it does now is right, BLESS=1 with the test of the programs keeps that";

/// Compiles a program in a directory, and asks it all its tests.
pub fn answers(program: &Program, directory: &Path) -> Result<Vec<Answer>> {
    ensure!(native::compile(program.source.whole(), directory)?, "gcc refuses {}.c", program.name);
    let answer = |(number, test)| {
        Answer::try_from(native::run(directory, test)?)
            .with_context(|| format!("test {number} of {}", program.name))
    };
    program.tests.iter().enumerate().map(answer).collect()
}

impl TryFrom<Outcome> for Answer {
    type Error = anyhow::Error;

    fn try_from(outcome: Outcome) -> Result<Answer> {
        let Ending::Exited(status) = outcome.ending else { bail!("it ends with {:?}", outcome.ending) };
        let stdout = String::from_utf8(outcome.stdout).context("it prints what is no text")?;
        Ok(Answer { status, stdout })
    }
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Outcome {
        Outcome {
            stdout: answer.stdout.into_bytes(),
            stderr: Vec::new(),
            ending: Ending::Exited(answer.status),
        }
    }
}

/// The options that say what output is right, and which status where it is wrong.
pub fn expected(status: Option<i32>) -> Vec<OsString> {
    let stdout = format!("--expect-stdout=@{}", native::EXPECTED).into();
    [stdout].into_iter().chain(status.map(|status| format!("--expect-exit={status}").into())).collect()
}

/// Says what is right, as the user of a failing run would.
fn expectations(right: &Outcome, judged: &Judged) -> Vec<OsString> {
    if !matches!(judged.fails, Some(Fails::Output | Fails::Status)) {
        return Vec::new();
    }
    expected(right.status().filter(|_| right.ending != judged.outcome.ending))
}

/// What a slice of a failure begins with: the crash, the exit status or the first wrong byte. What is missing has no slice.
pub fn criterion(fails: Fails, right: &[u8], wrong: &[u8]) -> Option<String> {
    match fails {
        Fails::Crash => Some("crash".to_owned()),
        Fails::Hang => None,
        Fails::Status => Some("exit".to_owned()),
        Fails::Output => first_wrong(right, wrong).map(|index| format!("output:{index}")),
    }
}

/// The first byte that is not as it should be.
pub fn first_wrong(right: &[u8], wrong: &[u8]) -> Option<usize> {
    (0..wrong.len()).find(|index| wrong.get(*index) != right.get(*index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_begins_with_what_is_wrong_first() {
        let output = |right: &str, wrong: &str| criterion(Fails::Output, right.as_bytes(), wrong.as_bytes());
        assert_eq!(output("same", "some").as_deref(), Some("output:1"));
        assert_eq!(output("more", "more than that").as_deref(), Some("output:4"));
        assert_eq!(output("less is missing", "less"), None);
        assert_eq!(output("the same", "the same"), None);
        assert_eq!(criterion(Fails::Status, b"", b"").as_deref(), Some("exit"));
        assert_eq!(criterion(Fails::Crash, b"", b"x").as_deref(), Some("crash"));
        assert_eq!(criterion(Fails::Hang, b"", b"x"), None);
    }
}
