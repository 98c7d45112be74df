//! Programs compiled and run as they are, within limits.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::programs::Test;

/// What files are called in the directory of a case: nothing tells what is wrong.
pub const SOURCE: &str = "main.c";
pub const EXECUTABLE: &str = "main";
pub const INPUT: &str = "input";
pub const EXPECTED: &str = "expected";

/// A run that takes longer hangs; the longest that ends takes a hundredth of it.
const SECONDS: &str = "2";
/// A mutant may write or allocate without end: 512-byte blocks, and KiB.
const LIMITS: &str = "ulimit -c 0 -f 2048; ulimit -v 1000000; exec \"$@\"";

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    Exited(i32),
    Killed(i32),
    Hung,
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub stdout: Vec<u8>,
    pub ending: Ending,
}

/// Compiles a source in a directory; false if the compiler refuses it, also where types do not fit.
pub fn compile(text: &str, directory: &Path) -> Result<bool> {
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(directory.join(SOURCE), text))
        .with_context(|| format!("{} cannot be written", directory.display()))?;
    let errors = ["int-conversion", "incompatible-pointer-types", "format", "implicit-function-declaration"];
    let status = Command::new("gcc")
        .args(["-g", "-O0"])
        .args(errors.map(|error| format!("-Werror={error}")))
        .args(["-o", EXECUTABLE, SOURCE, "-lm"])
        .current_dir(directory)
        .stderr(Stdio::null())
        .status()
        .context("gcc cannot be run")?;
    Ok(status.success())
}

/// Runs what was compiled in a directory; its input stays there.
pub fn run(directory: &Path, test: &Test) -> Result<Outcome> {
    let input = directory.join(INPUT);
    fs::write(&input, &test.stdin).context("an input cannot be written")?;
    let output = Command::new("sh")
        .args(["-c", LIMITS, "sh", "timeout", "-k", "1", SECONDS])
        .arg(directory.join(EXECUTABLE))
        .args(test.arguments())
        .current_dir(directory)
        .stdin(File::open(&input).context("an input cannot be opened")?)
        .stderr(Stdio::null())
        .output()
        .context("sh cannot be run")?;
    let ending = match (output.status.code(), output.status.signal()) {
        (Some(124), _) => Ending::Hung,
        (Some(code), _) if code > 128 => Ending::Killed(code - 128),
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Killed(signal.unwrap_or(0)),
    };
    Ok(Outcome { stdout: output.stdout, ending })
}
