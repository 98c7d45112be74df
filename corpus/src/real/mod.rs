//! Real bugs: programs of Debian with and without one of its patches, described by `real/*.toml`.
//!
//! A description holds facts and inputs of our own. The sources are fetched and built when they are asked for, see
//! [`sources`] and [`build`].

pub mod build;
pub mod cases;
pub mod changes;
pub mod sources;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::mutate;

/// One bug, its fix, and a run that shows it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The name of the file that describes it.
    #[serde(skip)]
    pub name: String,
    /// The source package of Debian, its version, and the upstream version in it.
    pub package: String,
    pub version: String,
    pub upstream: String,
    /// Patches of the package that the program is built with in any case, in this order.
    #[serde(default)]
    pub patches: Vec<String>,
    /// The patch of the package that repairs the bug.
    pub fix: String,
    /// Commands of a shell in the source directory: those that are needed once, and those that are needed again
    /// after the fix.
    #[serde(default)]
    pub configure: Vec<String>,
    pub build: Vec<String>,
    /// The executable, in the source directory.
    pub program: PathBuf,
    #[serde(default)]
    pub arguments: Vec<Bytes>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    #[serde(default)]
    pub stdin: Bytes,
    /// The files of the directory that the program is run in.
    #[serde(default)]
    pub files: BTreeMap<PathBuf, Bytes>,
    pub kind: Kind,
    /// What is wrong with the statements: what the fix does to them. A part that it adds to a condition is of the
    /// condition; a check of its own was missing.
    pub fault: mutate::Kind,
    /// What the program does, what it should do, and why it does not: a sentence each.
    pub wrong: String,
    pub right: String,
    pub why: String,
    #[serde(default)]
    pub expected: Expected,
    /// The statements that the fix changes; where it only inserts, the one before which it does.
    pub lines: Vec<Lines>,
    /// Of a missing assignment, where what it sets is read in other functions: by the strict rule it is there.
    #[serde(default)]
    pub uses: Vec<Lines>,
    /// Of an omission, what else names it by the lenient rule: the statements before and after, or the definition that
    /// should have been overwritten.
    #[serde(default)]
    pub lenient: Vec<Lines>,
    /// What else the fix changes.
    #[serde(default)]
    pub besides: Vec<Besides>,
}

/// Lines that the fix changes without being the bug, and why they are not.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Besides {
    pub lines: Lines,
    pub why: String,
}

/// How the bug shows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Wrong or missing text on standard output or standard error.
    Output,
    Status,
    Crash,
    Assertion,
    /// Memory of the heap is misused, which a native run may survive.
    HeapFault,
    Hang,
}

/// What a run without the bug does, as far as it matters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    pub stdout: Option<Bytes>,
    pub stderr: Option<Bytes>,
    pub exit: Option<i32>,
}

/// Lines of a file in the source directory as it is before the fix, the first and the last.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    pub file: PathBuf,
    pub first: usize,
    pub last: usize,
}

/// A text, or `{ bytes = "…" }`, where each character stands for the byte of its number: `"\xff\0"`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Bytes(pub Vec<u8>);

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Written {
    Text(String),
    Binary { bytes: String },
}

impl TryFrom<Written> for Bytes {
    type Error = std::char::TryFromCharError;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written::Text(text) => Ok(Bytes(text.into_bytes())),
            Written::Binary { bytes } => bytes.chars().map(u8::try_from).collect::<Result<_, _>>().map(Bytes),
        }
    }
}

impl Case {
    /// The options of `whydunit explain` that say what is expected, with texts in the directory of a [`build::Built`].
    pub fn options(&self) -> Vec<OsString> {
        const HANG_AFTER: &str = "--hang-after=5M";
        let text = |option: &str, name: &str| OsString::from(format!("--expect-{option}=@{name}"));
        match self.kind {
            Kind::Crash | Kind::Assertion | Kind::HeapFault => Vec::new(),
            Kind::Hang => vec![HANG_AFTER.into()],
            Kind::Output | Kind::Status => {
                let expected = &self.expected;
                let stdout = expected.stdout.as_ref().map(|_| text("stdout", build::STDOUT));
                let stderr = expected.stderr.as_ref().map(|_| text("stderr", build::STDERR));
                let exit = expected.exit.map(|status| format!("--expect-exit={status}").into());
                [stdout, stderr, exit].into_iter().flatten().collect()
            }
        }
    }

    pub fn command(&self) -> Vec<OsString> {
        self.arguments.iter().map(|argument| OsString::from_vec(argument.0.clone())).collect()
    }
}

/// Where they are described.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("real")
}

/// The names of all cases, in order.
pub fn names() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory()).context("the real bugs cannot be listed")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

pub fn load(name: &str) -> Result<Case> {
    let path = directory().join(format!("{name}.toml"));
    let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    parse(name, &text).with_context(|| format!("{} makes no sense", path.display()))
}

fn parse(name: &str, text: &str) -> Result<Case> {
    Ok(Case { name: name.to_owned(), ..toml::from_str(text)? })
}

#[cfg(test)]
mod tests;
