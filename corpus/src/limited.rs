//! Commands that run within a limit of time, and what they took.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// What a command did.
#[derive(Default)]
pub struct Ran {
    /// The exit status; `None` if it had to be killed.
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    /// For messages.
    pub stderr: Vec<u8>,
    pub time: Duration,
    /// The most memory that it had at once, in KiB.
    pub peak: u64,
}

/// A command that is killed after so many seconds.
pub fn command(program: &Path, seconds: u64) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-k", "1"]).arg(seconds.to_string()).arg(program);
    command
}

/// Runs a command; what it prints goes to a file first, and stays there.
pub fn run(mut command: Command, output: &Path) -> Result<Ran> {
    let start = Instant::now();
    let create =
        |path: &Path| File::create(path).with_context(|| format!("{} cannot be written", path.display()));
    let errors = output.with_extension("errors");
    let child = command.stdin(Stdio::null()).stdout(create(output)?).stderr(create(&errors)?).spawn();
    let child = child.context("timeout cannot be run")?;
    let (status, peak) = wait(child.id())?;
    let read = |path: &Path| fs::read(path).with_context(|| format!("{} cannot be read", path.display()));
    let (stdout, stderr) = (read(output)?, read(&errors)?);
    let status = status.filter(|status| *status != 124 && *status != 137);
    Ok(Ran { status, stdout, stderr, time: start.elapsed(), peak })
}

/// The exit status of a child, and the peak of its memory and of its own children's, in KiB.
fn wait(id: u32) -> Result<(Option<i32>, u64)> {
    let id = i32::try_from(id).context("a process has no such number")?;
    let mut status = 0;
    // SAFETY: an rusage is plain numbers, for which zeroes are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to variables that live until the call returns.
    let ended = unsafe { libc::wait4(id, &mut status, 0, &mut usage) };
    ensure!(ended == id, "a child cannot be waited for");
    let status = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    Ok((status, u64::try_from(usage.ru_maxrss).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_output_and_memory_are_told_and_what_takes_too_long_is_killed() {
        let place = tempfile::tempdir().unwrap();
        let ask = |script: &str| {
            let mut command = command(Path::new("sh"), 1);
            command.args(["-c", script]);
            run(command, &place.path().join("output")).unwrap()
        };
        let ran = ask("echo yes; echo no >&2; exit 3");
        assert_eq!((ran.status, ran.stdout.as_slice()), (Some(3), b"yes\n".as_slice()));
        assert_eq!(ran.stderr, b"no\n");
        assert!(ran.peak > 0);
        assert_eq!(ask("sleep 5").status, None);
    }
}
