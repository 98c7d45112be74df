//! Asking gdb.

use std::path::Path;
use std::process::{Command, Stdio};

use super::Failure;
use super::answer::{self, View};

const SCRIPT: &str = include_str!("ask.py");

/// A core takes about a fifth of a second; more than this is a hang.
const SECONDS: &str = "240";

/// What a user's machine has set up is left out: the answers must be those of gdb alone. libthread_db stays, for thread-local variables.
const SETTINGS: [&str; 6] = [
    "set debuginfod enabled off",
    "set auto-load python-scripts off",
    "set auto-load gdb-scripts off",
    "set auto-load local-gdbinit off",
    "set width 0",
    "set height 0",
];

/// Whether there is a gdb that can run scripts.
pub fn check() -> Result<(), Failure> {
    let output = Command::new("gdb").args(["-nx", "-batch", "-ex", "python print(6 * 7)"]).output();
    let output = output.map_err(Failure::NoDebugger)?;
    match output.stdout.starts_with(b"42") {
        true => Ok(()),
        false => Err(Failure::NoDebugger(std::io::Error::other("it is built without Python"))),
    }
}

/// What gdb sees in each of the cores.
pub fn ask(program: &Path, cores: &[&Path]) -> Result<Vec<View>, Failure> {
    let list: Vec<String> = cores.iter().map(|core| core.display().to_string()).collect();
    let script = cores.first().map(|core| core.with_extension("py")).unwrap_or_default();
    std::fs::write(&script, SCRIPT)
        .map_err(|error| Failure::Setup(format!("{}: {error}", script.display())))?;
    let mut gdb = Command::new("timeout");
    gdb.args(["-k", "5", SECONDS, "gdb", "-nx", "-batch"]);
    for setting in SETTINGS {
        gdb.args(["-iex", setting]);
    }
    let output = gdb
        .arg("-x")
        .arg(&script)
        .arg(program)
        .env("WHYDUNIT_CORES", list.join("\n"))
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(Failure::NoDebugger)?;
    let _ = std::fs::remove_file(&script);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() || stderr.contains("Python Exception") || stderr.contains("Traceback") {
        let last = stdout.lines().last().unwrap_or_default();
        return Err(Failure::DebuggerFailed(format!(
            "gdb failed ({}) after {last:?}: {stderr}",
            output.status
        )));
    }
    answer::read(&stdout).map_err(|line| Failure::Setup(format!("gdb said {line:?}; on stderr: {stderr}")))
}
