//! An oracle of the user's own: a command that looks at what the run leaves behind.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use linux::fs::{ChangeKind, Stream};
use linux::{Exit, Process};

use super::leavings::status;
use crate::case::{Bytes, Case, Expectation};
use crate::failure::{Criterion, Failure, FailureKind, Subject, Verdict};

/// A command that takes longer is ended.
const LONGEST: Duration = Duration::from_secs(60);
/// How often it is looked whether the command has ended.
const PAUSE: Duration = Duration::from_millis(5);
/// So much of what it prints is told.
const LONGEST_MESSAGE: u64 = 2000;
/// Directories of this name that are tried.
const MOST_DIRECTORIES: u32 = 10_000;

const FAILS: i32 = 1;
const CANNOT_TELL: i32 = 125;

#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("the oracle cannot be asked: {0}")]
    Io(#[from] io::Error),
    #[error("the files that the program wrote cannot be shown to the oracle: {0}")]
    Files(linux::errno::Errno),
    #[error("the oracle `{command}` has not ended within {} seconds", LONGEST.as_secs())]
    TooSlow { command: Bytes },
    #[error("the oracle `{command}` ended with {status}; 0 is a pass, 1 a failure, 125 that it cannot tell{}", after(.message))]
    Status { command: Bytes, status: ExitStatus, message: String },
}

fn after(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!("; it printed: {message}") }
}

/// Asks all commands of a case; the first that does not say pass counts.
pub fn ask(case: &Case, process: &Process) -> Result<Verdict, CommandError> {
    for expectation in &case.oracle.expectations {
        if let Expectation::Command(command) = expectation {
            match ask_one(case, process, command)? {
                Verdict::Passed => {}
                verdict => return Ok(verdict),
            }
        }
    }
    Ok(Verdict::Passed)
}

fn ask_one(case: &Case, process: &Process, command: &Bytes) -> Result<Verdict, CommandError> {
    let scratch = Scratch::new()?;
    let directory = scratch.0.join("run");
    let printed = scratch.0.join("printed");
    fill(process, &directory)?;
    let output = File::create(&printed)?;
    let child = Command::new("/bin/sh")
        .arg("-c")
        .arg(std::ffi::OsStr::from_bytes(command))
        .current_dir(&directory)
        .env("WHYDUNIT_DIR", &directory)
        .env("WHYDUNIT_CWD", case.cwd.as_path())
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0)
        .spawn()?;
    let Some(status) = wait(child)? else {
        return Err(CommandError::TooSlow { command: command.clone() });
    };
    let mut message = Vec::new();
    File::open(&printed)?.take(LONGEST_MESSAGE).read_to_end(&mut message)?;
    let message = String::from_utf8_lossy(&message).trim().to_owned();
    match status.code() {
        Some(0) => Ok(Verdict::Passed),
        Some(FAILS) => {
            let time = process.machine.time;
            let criterion = vec![Criterion { subject: Subject::Reached, time }];
            let failure = Failure::new(FailureKind::OracleSaysSo { message }, time);
            Ok(Verdict::Failed(Failure { criterion, ..failure }))
        }
        Some(CANNOT_TELL) if message.is_empty() => {
            Ok(Verdict::CannotTell("the oracle says that it cannot tell".to_owned()))
        }
        Some(CANNOT_TELL) => Ok(Verdict::CannotTell(format!("the oracle cannot tell: {message}"))),
        _ => Err(CommandError::Status { command: command.clone(), status, message }),
    }
}

/// The status of a child; `None` when it took too long and was ended, with all that it had started.
fn wait(mut child: Child) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > LONGEST {
            let group = format!("kill -9 -{}", child.id());
            Command::new("/bin/sh").args(["-c", &group]).stderr(Stdio::null()).status()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Lays out what the run leaves behind.
fn fill(process: &Process, directory: &Path) -> Result<(), CommandError> {
    DirBuilder::new().mode(0o700).create(directory)?;
    fs::write(directory.join("stdout"), process.kernel.output.contents(Stream::Stdout))?;
    fs::write(directory.join("stderr"), process.kernel.output.contents(Stream::Stderr))?;
    let exit = process.kernel.ended.as_ref().unwrap_or(&Exit::Until);
    let status = status(exit).map_or_else(|| "none\n".to_owned(), |status| format!("{status}\n"));
    fs::write(directory.join("exit"), status)?;
    let below = directory.join("files");
    fs::create_dir(&below)?;
    // The list is made on a copy: asking fills caches.
    let changes = process.kernel.files.clone().changed_files().map_err(CommandError::Files)?;
    for change in changes {
        let path =
            change.path.iter().fold(below.clone(), |path, name| path.join(std::ffi::OsStr::from_bytes(name)));
        match change.kind {
            ChangeKind::File { content, .. } => {
                if let Some(parent) = path.parent() {
                    fs::create_dir_all(parent)?;
                }
                fs::write(path, content.as_slice())?;
            }
            ChangeKind::Directory { .. } => fs::create_dir_all(path)?,
            // A link would lead out of the directory.
            ChangeKind::Symlink { .. } | ChangeKind::Removed => {}
        }
    }
    Ok(())
}

/// A directory that is gone when nobody needs it any more.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Scratch> {
        for number in 0..MOST_DIRECTORIES {
            let path = std::env::temp_dir().join(format!("whydunit-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Scratch(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing can be done about what cannot be removed.
        let _ = fs::remove_dir_all(&self.0);
    }
}
