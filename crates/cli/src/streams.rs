//! The host's standard streams: the guest's output goes out as it is written, its input comes in as it is asked
//! for.

use std::fs::File;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result};
use linux::Output;
use linux::fs::{InputFile, Pieces, Stream};

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
    !refuses_colour() && io::stderr().is_terminal()
}

/// Whether the user has said that there are to be no colours.
pub fn refuses_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
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

/// Where the guest's standard input comes from.
pub enum Input {
    /// A regular file of the host.
    File(InputFile),
    /// All of it is known.
    Bytes(Vec<u8>),
    /// Nothing is read before the guest asks, since somebody may have to type it.
    Live(Pieces),
}

impl Input {
    /// The file that was given, or whydunit's own standard input. At most `limit` bytes are read ahead; a terminal's
    /// input is not a file in the guest's eyes.
    pub fn open(file: Option<&Path>, is_terminal: bool, limit: u64) -> Result<Input> {
        let Some(path) = file else { return Input::open_own(is_terminal, limit) };
        let told = || format!("{} cannot be read", path.display());
        let file = File::open(path).with_context(told)?;
        let path = std::path::absolute(path)?;
        if file.metadata().with_context(told)?.is_file() && !is_terminal && !is_virtual(&path) {
            return Ok(Input::File(InputFile { path: path.into_os_string().into_vec(), offset: 0 }));
        }
        Ok(Input::Bytes(read_all(file, limit).with_context(told)?))
    }

    fn open_own(is_terminal: bool, limit: u64) -> Result<Input> {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Ok(Input::Live(Pieces::Lines));
        }
        // A handle of its own, since only files can be asked what they are.
        let handle = stdin.as_fd().try_clone_to_owned().context("standard input cannot be opened")?;
        let mut file = File::from(handle);
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Ok(Input::Live(Pieces::Chunks));
        }
        match named_file(&mut file) {
            Some(input) if !is_terminal => Ok(Input::File(input)),
            _ => Ok(Input::Bytes(read_all(file, limit).context("standard input cannot be read")?)),
        }
    }
}

/// The name by which an open file can be opened again; `None` when it has none any more.
fn named_file(file: &mut File) -> Option<InputFile> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let again = File::open(&path).ok()?.metadata().ok()?;
    let own = file.metadata().ok()?;
    let offset = file.stream_position().ok()?;
    if is_virtual(&path) {
        return None;
    }
    let path = path.into_os_string().into_vec();
    ((own.dev(), own.ino()) == (again.dev(), again.ino())).then_some(InputFile { path, offset })
}

/// The guest has files of its own there.
fn is_virtual(path: &Path) -> bool {
    ["/dev", "/proc", "/sys"].iter().any(|directory| path.starts_with(directory))
}

/// All of standard input that is still to come. Whoever is to type it is told so.
pub fn rest_of_input(limit: u64) -> Result<Vec<u8>> {
    let stdin = io::stdin().lock();
    if stdin.is_terminal() {
        tell("whydunit: the program reads standard input; type all of it, and Ctrl-D at its end\n");
    }
    read_all(stdin, limit).context("standard input cannot be read")
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
