//! Running a program to its end, natively or under `whydunit run`, in the same surroundings and with a limit on time.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::outcome::Outcome;
use crate::place;

/// Everything that both sides see of their environment. The C library is told not to use instructions beyond SSE4.2, because
/// routines picked by processor differ in the last bit of a float.
pub const ENVIRONMENT: [(&str, &str); 6] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/nonexistent"),
    ("LC_ALL", "C"),
    ("TZ", "UTC0"),
    ("TERM", "dumb"),
    (
        "GLIBC_TUNABLES",
        "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-FMA,-FMA4,-BMI1,-BMI2,-LZCNT,-MOVBE,-ERMS,-FSRM,-RTM",
    ),
];

/// More output than this from one program is a failure of the test, not something to hold in memory.
const MAX_OUTPUT: u64 = 256 << 20;

/// A program to run: what it is, and what surrounds it.
#[derive(Clone, Debug)]
pub struct Program {
    words: Vec<OsString>,
    directory: PathBuf,
    stdin: Option<PathBuf>,
    timeout: Duration,
}

impl Program {
    /// `words` are the program (looked up in PATH when it has no slash) and its arguments.
    pub fn new<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Program {
        Program {
            words: words.into_iter().map(|word| word.as_ref().to_owned()).collect(),
            directory: PathBuf::from("/"),
            stdin: None,
            timeout: Duration::from_secs(20),
        }
    }

    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Program {
        self.directory = directory.into();
        self
    }

    /// Standard input comes from this file; without, it is empty.
    pub fn stdin(mut self, file: impl Into<PathBuf>) -> Program {
        self.stdin = Some(file.into());
        self
    }

    pub fn timeout(mut self, timeout: Duration) -> Program {
        self.timeout = timeout;
        self
    }

    /// The same program under `whydunit run`, with `options` for whydunit. It gets ten times the time.
    pub fn under_whydunit<W: AsRef<OsStr>>(&self, options: &[W]) -> Program {
        let mut guest = self.clone();
        guest.words = vec![place::whydunit().into(), "run".into()];
        guest.words.extend(options.iter().map(|word| word.as_ref().to_owned()));
        guest.words.push("--".into());
        guest.words.extend(self.words.iter().cloned());
        guest.timeout = self.timeout * 10;
        guest
    }

    /// Runs it to its end. `Err` says why it could not be started, or that it ran out of time.
    pub fn run(&self) -> Result<Outcome, RunError> {
        let (program, arguments) =
            self.words.split_first().ok_or(RunError::NotStarted(io::ErrorKind::InvalidInput.into()))?;
        let stdin = match &self.stdin {
            Some(file) => Stdio::from(File::open(self.directory.join(file)).map_err(RunError::NotStarted)?),
            None => Stdio::null(),
        };
        let mut child = std::process::Command::new(program)
            .args(arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(ENVIRONMENT)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: a guest that reaches the host's kill(0) by mistake must not reach the test.
            .process_group(0)
            .spawn()
            .map_err(RunError::NotStarted)?;
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let status = wait(&mut child, self.timeout);
        let stdout = stdout.join().unwrap_or_default();
        let stderr = stderr.join().unwrap_or_default();
        match status.map_err(RunError::NotStarted)? {
            Some(status) => Ok(Outcome { stdout, stderr, status }),
            None => Err(RunError::TimedOut { after: self.timeout, stdout, stderr }),
        }
    }

    /// The program and its arguments.
    pub fn words(&self) -> &[OsString] {
        &self.words
    }
}

#[derive(Debug)]
pub enum RunError {
    NotStarted(io::Error),
    TimedOut { after: Duration, stdout: Vec<u8>, stderr: Vec<u8> },
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::NotStarted(error) => write!(f, "could not be started: {error}"),
            RunError::TimedOut { after, stderr, .. } => {
                write!(f, "did not end within {after:?}; stderr: {}", String::from_utf8_lossy(stderr))
            }
        }
    }
}

/// Reads a pipe on a thread of its own, so that a child that fills one pipe while we read the other never blocks.
fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // A read error means that the child is gone: what came before counts.
            let _ = pipe.take(MAX_OUTPUT).read_to_end(&mut bytes);
        }
        bytes
    })
}

/// The exit status as a shell would say it, 128+n for signal n, or None when it had to be killed for being late.
fn wait(child: &mut Child, timeout: Duration) -> io::Result<Option<i32>> {
    let deadline = Instant::now() + timeout;
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))));
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}
