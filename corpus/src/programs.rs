//! The programs of the corpus and their tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::mutate::Source;

/// One C program.
pub struct Program {
    pub name: String,
    pub source: Source,
    pub tests: Vec<Test>,
    /// What is right, test by test. It is kept, so that an edit of the program does not change it unnoticed.
    pub answers: Vec<Answer>,
}

/// What the program without a mistake makes of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub status: i32,
    pub stdout: String,
}

/// One input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Test {
    /// Separated by spaces.
    args: String,
    pub stdin: String,
    /// What lies in the working directory, by name.
    pub files: BTreeMap<String, String>,
}

impl Test {
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.args.split_whitespace()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tests {
    tests: Vec<Test>,
}

const ANSWERS: &str = "answers.jsonl";

/// Where they are described.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// The names of all programs, in order.
pub fn names() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory()).context("the programs of the corpus cannot be listed")? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

pub fn load(name: &str) -> Result<Program> {
    let directory = directory().join(name);
    let read = |path: PathBuf| {
        fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
    };
    let text = read(directory.join(format!("{name}.c")))?;
    let source = Source::parse(&text).with_context(|| format!("{name}.c is not valid C"))?;
    let tests: Tests = toml::from_str(&read(directory.join("tests.toml"))?)
        .with_context(|| format!("the tests of {name} make no sense"))?;
    let answers = answers(&directory.join(ANSWERS))?;
    Ok(Program { name: name.to_owned(), source, tests: tests.tests, answers })
}

/// One in a line. A new program has none.
fn answers(path: &Path) -> Result<Vec<Answer>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let parsed: serde_json::Result<Vec<Answer>> = text.lines().map(serde_json::from_str).collect();
    parsed.with_context(|| format!("{} makes no sense", path.display()))
}

/// Keeps what is right from now on.
pub fn bless(name: &str, answers: &[Answer]) -> Result<()> {
    let path = directory().join(name).join(ANSWERS);
    let mut text = String::new();
    for answer in answers {
        text += &serde_json::to_string(answer).context("an answer cannot be written")?;
        text.push('\n');
    }
    fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
}
