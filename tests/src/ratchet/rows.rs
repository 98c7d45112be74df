//! The rows of `tests/ratchet.toml`, as they are written there.

use std::collections::HashSet;
use std::fs;

use serde::Deserialize;

use super::{Row, Status};
use crate::place;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratchet {
    #[serde(default)]
    program: Vec<Program>,
    #[serde(default)]
    guest: Vec<Guest>,
    #[serde(default)]
    instructions: Vec<Instructions>,
    #[serde(default)]
    syscall: Vec<Syscall>,
    #[serde(default)]
    example: Vec<Example>,
}

/// An installed program on the files of [`crate::inputs`]: same stdout, stderr and status as native.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The command; in its text form it is split at blanks, so anything that needs quotes is a list.
    pub run: Words,
    pub status: Status,
    /// The file that is standard input.
    pub stdin: Option<String>,
    /// Lines may come in any order: the order is that of directories on the disk.
    #[serde(default)]
    pub sorted: bool,
    /// The files that it makes or changes are compared as well, through `--write-back`.
    #[serde(default)]
    pub files: bool,
}

/// One of our own C programs under `tests/guests`, in every variant of compiler, optimisation and linkage.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guest {
    /// The source's name without `.c`, then the arguments.
    pub run: Words,
    pub status: Status,
    /// The status that the native run must have, so that a crash test cannot pass by not crashing.
    #[serde(default)]
    pub exit: i32,
    /// Text for standard input.
    #[serde(default)]
    pub stdin: String,
    /// Who serves its allocations, where that shows.
    pub heap: Option<String>,
    /// Further words for the compiler.
    #[serde(default)]
    pub flags: Vec<String>,
}

/// A group of instructions, fuzzed against the processor: every form is supported, and none differs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instructions {
    /// A name that `fuzz --group list` prints.
    pub group: String,
    pub status: Status,
}

/// One system call, exercised by the case of that name in `tests/guests/syscalls/AREA.c`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Syscall {
    pub name: String,
    pub area: String,
    pub status: Status,
    /// What the guest must print where it rightly differs from native.
    pub expect: Option<String>,
}

/// One of the programs under `examples/`, built as a user would: gcc -g -O0.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The example's name, then the arguments.
    pub run: Words,
    pub status: Status,
    /// Further words for the compiler.
    #[serde(default)]
    pub flags: Vec<String>,
}

/// A command, as one text or as a list of words.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Words {
    Text(String),
    List(Vec<String>),
}

impl Words {
    pub fn list(&self) -> Vec<String> {
        match self {
            Words::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
            Words::List(list) => list.clone(),
        }
    }

    /// The words on one line, which names the row.
    pub fn title(&self) -> String {
        self.list().join(" ").replace('\n', "\\n")
    }
}

impl Ratchet {
    /// Reads the file.
    pub fn read() -> Result<Ratchet, String> {
        let path = place::root().join("tests/ratchet.toml");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The installed programs that work.
    pub fn working_programs(&self) -> impl Iterator<Item = &Program> {
        self.program.iter().filter(|row| row.status == Status::Works)
    }

    /// All rows; makes sure that each has a name of its own, and that no instruction group was forgotten.
    pub fn into_rows(self) -> Result<Vec<Box<dyn Row>>, String> {
        let mut rows: Vec<Box<dyn Row>> = Vec::new();
        rows.extend(self.program.into_iter().map(|row| Box::new(row) as Box<dyn Row>));
        rows.extend(self.guest.into_iter().map(|row| Box::new(row) as Box<dyn Row>));
        let mut groups: Vec<&str> = self.instructions.iter().map(|row| row.group.as_str()).collect();
        groups.sort_unstable();
        if let Some(missing) =
            oracle::fuzz::groups().iter().find(|group| groups.binary_search(group).is_err())
        {
            return Err(format!("tests/ratchet.toml has no row for the instruction group {missing}"));
        }
        rows.extend(self.instructions.into_iter().map(|row| Box::new(row) as Box<dyn Row>));
        rows.extend(self.syscall.into_iter().map(|row| Box::new(row) as Box<dyn Row>));
        rows.extend(self.example.into_iter().map(|row| Box::new(row) as Box<dyn Row>));
        let mut names = HashSet::new();
        match rows.iter().map(|row| row.name()).find(|name| !names.insert(name.clone())) {
            Some(twice) => Err(format!("tests/ratchet.toml has two rows named {twice:?}")),
            None => Ok(rows),
        }
    }
}
