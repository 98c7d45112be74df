//! The programs of the corpus and their tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::mutate::Source;

/// One C program.
pub struct Program {
    pub name: String,
    pub source: Source,
    pub tests: Vec<Test>,
}

/// One input. What is right is what the program without a mistake makes of it.
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

fn directory() -> PathBuf {
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
    Ok(Program { name: name.to_owned(), source, tests: tests.tests })
}
