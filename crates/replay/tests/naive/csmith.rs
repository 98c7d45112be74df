//! Random C programs by csmith, from fixed seeds.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Small ones: what is to be found is in how few statements depend on each other, not in how many there are.
const OPTIONS: [&str; 10] = [
    "--max-funcs",
    "4",
    "--max-block-size",
    "4",
    "--max-block-depth",
    "3",
    "--max-array-dim",
    "2",
    "--max-array-len-per-dim",
    "4",
];

/// Compilers and their optimisation; a seed takes one of them.
pub const VARIANTS: [(&str, &str); 5] =
    [("gcc", "-O0"), ("clang", "-O1"), ("gcc", "-O1"), ("clang", "-O0"), ("gcc", "-O2")];

/// The source of the program with this seed; `None` without csmith.
pub fn generate(seed: u64) -> Option<PathBuf> {
    let process = std::process::id().to_string();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-csmith").join(process);
    std::fs::create_dir_all(&directory).unwrap();
    let source = directory.join(format!("{seed}.c"));
    let mut command = Command::new("csmith");
    // csmith leaves a file where it runs.
    command.args(OPTIONS).args(["--seed", &seed.to_string()]).current_dir(&directory);
    let output = command.output().ok()?;
    assert!(output.status.success(), "csmith: {}", output.status);
    std::fs::write(&source, output.stdout).unwrap();
    Some(source)
}
