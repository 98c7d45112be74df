//! The host's standard streams: the guest's output goes out as it is written, its input comes in as it is asked
//! for.

use std::fs::File;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::{Context, Result};
use linux::Output;
use linux::fs::{Pieces, Stream};

/// Writes a message of ours to standard error. When nobody listens there, nobody can be told.
pub fn tell(message: &str) {
    let _ = io::stderr().write_all(message.as_bytes());
}

/// A name that somebody else chose, without what would move a terminal's cursor.
pub fn printable(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).collect()
}

/// Whether messages may be coloured: only for people, and only if they have not said no.
pub fn coloured() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && io::stderr().is_terminal()
}

/// Why output could not be passed on.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Of which a native program dies, silently.
    #[error("the reader of the output has gone")]
    BrokenPipe,
    #[error("the program's output cannot be written: {0}")]
    Failed(io::Error),
}

/// Hands the guest's output on.
#[derive(Default)]
pub struct PassThrough {
    /// How many writes have been handed on.
    passed: u64,
}

impl PassThrough {
    /// Hands on what is new, in the order in which it was written.
    pub fn pass(&mut self, output: &Output) -> Result<(), OutputError> {
        if output.writes() == self.passed {
            return Ok(());
        }
        for write in output.since(self.passed) {
            let result = match write.stream {
                Stream::Stdout => io::stdout().write_all(write.bytes),
                Stream::Stderr => io::stdout().flush().and_then(|()| io::stderr().write_all(write.bytes)),
            };
            result.map_err(explain)?;
        }
        self.passed = output.writes();
        io::stdout().flush().map_err(explain)
    }
}

fn explain(error: io::Error) -> OutputError {
    match error.kind() {
        ErrorKind::BrokenPipe => OutputError::BrokenPipe,
        _ => OutputError::Failed(error),
    }
}

/// The host's standard input, or the file that stands for it.
pub struct Input {
    /// What is there from the beginning.
    pub bytes: Vec<u8>,
    pub kind: InputKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A regular file, which is read at once: the guest can seek in it.
    File,
    /// Nothing is read before the guest asks, since somebody may have to type it.
    Terminal,
    /// Likewise, but it does not come line by line.
    Pipe,
}

impl Input {
    /// `limit` is the most that is kept of it, in bytes.
    pub fn open(file: Option<&Path>, limit: u64) -> Result<Input> {
        if let Some(path) = file {
            let open = File::open(path).with_context(|| format!("{} cannot be opened", path.display()))?;
            let bytes =
                read_all(open, limit).with_context(|| format!("{} cannot be read", path.display()))?;
            return Ok(Input { bytes, kind: InputKind::File });
        }
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Ok(Input { bytes: Vec::new(), kind: InputKind::Terminal });
        }
        // A handle of its own, since only files can be asked what they are.
        let handle = stdin.as_fd().try_clone_to_owned().context("standard input cannot be opened")?;
        if !File::from(handle).metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Ok(Input { bytes: Vec::new(), kind: InputKind::Pipe });
        }
        let bytes = read_all(stdin.lock(), limit).context("standard input cannot be read")?;
        Ok(Input { bytes, kind: InputKind::File })
    }
}

fn read_all(from: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    anyhow::ensure!(bytes.len() as u64 <= limit, "it is larger than --max-memory");
    Ok(bytes)
}

/// The next piece of standard input; nothing at its end. From a terminal that is a line, which is passed on as soon as
/// it is typed. Everything else comes in whole chunks, however it trickles in.
pub fn next_input() -> Result<Vec<u8>> {
    let mut piece = Vec::new();
    let mut stdin = io::stdin().lock();
    let result = match stdin.is_terminal() {
        true => stdin.read_until(b'\n', &mut piece),
        false => stdin.take(Pieces::CHUNK as u64).read_to_end(&mut piece),
    };
    result.context("standard input cannot be read")?;
    Ok(piece)
}
