//! A case: all that a run depends on, and what is expected of it. It is plain data, so that it can be stored, sent to
//! another machine, and varied.

mod bytes;
mod expectation;

pub use bytes::Bytes;
pub use expectation::{Channel, Comparison, Expectation, Oracle};

use std::sync::Arc;
use std::time::Duration;

use linux::fs::{Capsule, Credentials, InputFile, Pieces, StandardStreams};
use linux::{Config, HeapMode, LoadError, Process};
use machine::Time;
use serde::{Deserialize, Serialize};

/// A run that can be had again, and the oracle that says whether it fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The executable's path. A relative one is relative to `cwd`; it is not looked up in PATH.
    pub program: Bytes,
    pub argv: Vec<Bytes>,
    pub env: Vec<Bytes>,
    /// Absolute.
    pub cwd: Bytes,
    pub stdin: Stdin,
    /// The standard streams look like a terminal to the program.
    pub terminal: bool,
    pub files: Files,
    /// Regular files, by absolute path, that have other bytes in this run than those that `files` says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<(Bytes, Bytes)>,
    /// What the virtual clock says at the start, as time since 1970.
    pub start: Duration,
    pub user: User,
    pub heap: Heap,
    pub limits: Limits,
    pub oracle: Oracle,
}

/// Where standard input comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stdin {
    Bytes(Bytes),
    /// A regular file, which the program can seek in.
    File {
        /// Absolute.
        path: Bytes,
        /// Where reading begins.
        offset: u64,
    },
}

/// Which files the program sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Files {
    /// Those of the host, as they are when they are read.
    Host,
    /// Those of the bundle that the case came in. It is the bundle that stores them, not the case.
    #[serde(skip)]
    Sealed(Sealed),
}

/// What a bundle knows of the machine that its run was recorded on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    pub capsule: Arc<Capsule>,
    /// Standard input was typed: reads end behind each line.
    pub input_by_lines: bool,
}

/// As whom the program runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub user: u32,
    pub group: u32,
    pub groups: Vec<u32>,
}

/// Who serves the program's allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Heap {
    /// The machine, which notices what is done wrong with memory.
    Checked,
    /// The program's own allocator.
    Program,
}

/// What the run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub instructions: u64,
    /// In bytes.
    pub memory: u64,
    /// In bytes, of both output streams together.
    pub output: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            instructions: u64::MAX,
            memory: Config::DEFAULT_MAX_MEMORY,
            output: Config::DEFAULT_MAX_OUTPUT,
        }
    }
}

impl Case {
    /// Runs `program` with itself as its only argument, an empty environment and no input, in the root directory,
    /// as the user that whydunit runs as. It fails by a crash alone.
    pub fn new(program: impl Into<Bytes>) -> Case {
        let program = program.into();
        let Config { start, credentials: Credentials { user, group, groups }, .. } =
            Config::new(program.to_path());
        Case {
            argv: vec![program.clone()],
            program,
            env: Vec::new(),
            cwd: Bytes::from(&b"/"[..]),
            stdin: Stdin::Bytes(Bytes::default()),
            terminal: false,
            files: Files::Host,
            replaced: Vec::new(),
            start,
            user: User { user, group, groups: groups.to_vec() },
            heap: Heap::Program,
            limits: Limits::default(),
            oracle: Oracle::default(),
        }
    }

    pub fn config(&self) -> Config {
        let lists = |list: &[Bytes]| list.iter().map(|bytes| bytes.to_vec()).collect();
        let mut config = Config {
            argv: lists(&self.argv),
            env: lists(&self.env),
            cwd: self.cwd.to_path(),
            stdin_pieces: if self.terminal { Pieces::Lines } else { Pieces::Chunks },
            streams: if self.terminal { StandardStreams::Terminal } else { StandardStreams::Pipes },
            max_memory: self.limits.memory,
            max_output: self.limits.output,
            heap: match self.heap {
                Heap::Checked => HeapMode::Checked,
                Heap::Program => HeapMode::Program,
            },
            start: self.start,
            credentials: Credentials {
                user: self.user.user,
                group: self.user.group,
                groups: self.user.groups.as_slice().into(),
            },
            replaced: self.replaced.iter().map(|(path, bytes)| (path.to_path(), bytes.shared())).collect(),
            ..Config::new(self.program.to_path())
        };
        match &self.stdin {
            Stdin::Bytes(bytes) => config.stdin = bytes.shared(),
            Stdin::File { path, offset } => {
                config.stdin_file = Some(InputFile { path: path.to_vec(), offset: *offset });
            }
        }
        config
    }

    /// The process before its first instruction, with the files that the case names: a case that came in a bundle looks at
    /// none of the host's.
    pub fn load(&self) -> Result<Process, LoadError> {
        let config = self.config();
        match &self.files {
            Files::Host => Process::load(&config),
            Files::Sealed(sealed) => {
                let stdin_pieces = if sealed.input_by_lines { Pieces::Lines } else { Pieces::Chunks };
                Process::load_in_capsule(&Config { stdin_pieces, ..config }, sealed.capsule.clone())
            }
        }
    }

    /// When the run is given up: at its limit, or when it counts as a hang.
    pub fn end(&self) -> Time {
        let hang = self.oracle.hang_after().unwrap_or(u64::MAX);
        Time(self.limits.instructions.min(hang))
    }
}

#[cfg(test)]
mod tests;
