//! One run of one command, measured from outside: wall time, peak resident memory, and what it said.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::mem::MaybeUninit;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// What a run cost.
#[derive(Clone, Debug)]
pub struct Cost {
    pub wall: Duration,
    /// User and system time.
    pub processor: Duration,
    pub peak_resident_bytes: u64,
    pub stderr: String,
}

impl Cost {
    /// The number on a line of whydunit's `--stats`.
    pub fn statistic(&self, name: &str) -> Option<u64> {
        self.stderr.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
    }
}

/// Runs a command to its end, its output thrown away. It must succeed.
pub fn run<W: AsRef<OsStr>>(words: &[W]) -> Result<Cost> {
    let words: Vec<OsString> = words.iter().map(|word| word.as_ref().to_owned()).collect();
    let (program, arguments) = words.split_first().context("a command has at least one word")?;
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} cannot be run", program.to_string_lossy()))?;
    let mut stderr = String::new();
    if let Some(mut pipe) = child.stderr.take() {
        pipe.read_to_string(&mut stderr).context("its messages cannot be read")?;
    }
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the child is ours and not yet waited for; both pointers are valid for writing; rusage is plain data, so zeroes are a value.
    let (waited, usage) = unsafe {
        let waited = libc::wait4(child.id().cast_signed(), &raw mut status, 0, usage.as_mut_ptr());
        (waited, usage.assume_init())
    };
    let wall = start.elapsed();
    if waited < 0 || status != 0 {
        bail!("{} failed with wait status {status:#x}: {stderr}", program.to_string_lossy());
    }
    let processor = duration(usage.ru_utime) + duration(usage.ru_stime);
    Ok(Cost {
        wall,
        processor,
        peak_resident_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
        stderr,
    })
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
        + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}

/// The middle one; of an even number, the lower of the two in the middle.
pub fn median<T: Ord + Clone>(values: &[T]) -> Option<T> {
    let mut sorted = values.to_vec();
    sorted.sort();
    sorted.get(sorted.len().checked_sub(1)? / 2).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(&[5, 1, 3]), Some(3));
        assert_eq!(median(&[4, 1, 3, 2]), Some(2));
        assert_eq!(median::<u8>(&[]), None);
    }

    #[test]
    fn a_run_has_a_duration_and_a_size_and_a_failing_one_is_an_error() {
        let cost = run(&["sleep", "0.05"]).expect("sleep runs");
        assert!(cost.wall >= Duration::from_millis(50) && cost.peak_resident_bytes > 100_000, "{cost:?}");
        assert!(run(&["false"]).is_err());
        assert!(run(&["no-such-program-anywhere"]).is_err());
    }
}
