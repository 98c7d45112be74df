//! The host's standard streams: the guest's output goes out as it is written, its input comes in as it is asked
//! for.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::{Context, Result};
use linux::Output;
use linux::fs::Stream;

/// Writes a message of ours to standard error. When nobody listens there, nobody can be told.
pub fn tell(message: &str) {
    let _ = io::stderr().write_all(message.as_bytes());
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
    Failed(#[from] io::Error),
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

/// As much as a pipe of Linux holds.
const CHUNK: u64 = 65536;

/// Where the guest's standard input comes from.
pub enum Input {
    /// A regular file, which is read at once: the guest can seek in it.
    Whole(Vec<u8>),
    /// The rest; nothing is read before the guest asks, since somebody may have to type it.
    Live,
}

impl Input {
    pub fn open(file: Option<&Path>) -> Result<Input> {
        if let Some(path) = file {
            let content =
                std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
            return Ok(Input::Whole(content));
        }
        let host = io::stdin();
        // A second handle, since the metadata of a stream can be asked of files only.
        let Ok(handle) = host.as_fd().try_clone_to_owned() else { return Ok(Input::Whole(Vec::new())) };
        if !File::from(handle).metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Ok(Input::Live);
        }
        let mut content = Vec::new();
        host.lock().read_to_end(&mut content).context("standard input cannot be read")?;
        Ok(Input::Whole(content))
    }
}

/// The next piece of live input; empty at its end. From a terminal that is a line. Everything else comes in full
/// chunks, however it trickles in, because the sizes of the guest's reads decide how the run goes on.
pub fn next_input() -> Result<Vec<u8>> {
    let mut piece = Vec::new();
    let stdin = io::stdin();
    let result = if stdin.is_terminal() {
        io::BufRead::read_until(&mut stdin.lock(), b'\n', &mut piece).map(drop)
    } else {
        stdin.lock().take(CHUNK).read_to_end(&mut piece).map(drop)
    };
    result.context("standard input cannot be read")?;
    Ok(piece)
}
