//! Where things are, and making what the measurements run on.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("eval has a parent directory")
}

/// `WHYDUNIT_BIN`, or a fresh release build.
pub fn whydunit() -> Result<PathBuf> {
    if let Some(binary) = std::env::var_os("WHYDUNIT_BIN") {
        return Ok(binary.into());
    }
    let status = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--package", "cli", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .status()
        .context("cargo cannot be run")?;
    if !status.success() {
        bail!("cargo could not build whydunit");
    }
    Ok(target().join("release/whydunit"))
}

/// One of eval/programs.
pub fn program(name: &str) -> PathBuf {
    root().join("eval/programs").join(name)
}

/// Compiles one of eval/programs as a user would who wants to debug it: gcc -g -O0.
pub fn compile(name: &str) -> Result<PathBuf> {
    compile_as(name, name, &[])
}

/// The same with options of the compiler, under another name.
pub fn compile_as(executable: &str, name: &str, options: &[&str]) -> Result<PathBuf> {
    let executable = scratch()?.join(executable);
    let source = program(&format!("{name}.c"));
    let status = Command::new("gcc")
        .args(["-g", "-O0"])
        .args(options)
        .arg("-o")
        .arg(&executable)
        .arg(&source)
        .status()
        .context("gcc cannot be run")?;
    if !status.success() {
        bail!("gcc could not compile {}", source.display());
    }
    Ok(executable)
}

/// A text file of that many bytes, the same every time, as compressible as prose.
pub fn text(name: &str, bytes: usize) -> Result<PathBuf> {
    const WORDS: [&str; 24] = [
        "the",
        "cause",
        "of",
        "a",
        "failure",
        "is",
        "not",
        "where",
        "it",
        "shows",
        "but",
        "statement",
        "that",
        "gave",
        "value",
        "wrong",
        "pointer",
        "loop",
        "condition",
        "and",
        "then",
        "memory",
        "list",
        "index",
    ];
    let mut state = 1u64;
    let mut next = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let path = scratch()?.join(name);
    let failed = || format!("{} cannot be written", path.display());
    // Streamed, because the peak memory of this process would count as that of the programs that it starts.
    let mut file = BufWriter::new(File::create(&path).with_context(failed)?);
    let mut written = 0;
    while written < bytes {
        let mut line = String::new();
        for _ in 0..4 + next(9) {
            line.push_str(WORDS.get(next(24) as usize).unwrap_or(&"the"));
            if next(8) == 0 {
                line.push_str(&next(100_000).to_string());
            }
            line.push(' ');
        }
        line.push('\n');
        file.write_all(line.as_bytes()).with_context(failed)?;
        written += line.len();
    }
    file.flush().with_context(failed)?;
    Ok(path)
}

pub fn scratch() -> Result<PathBuf> {
    let directory = target().join("eval");
    fs::create_dir_all(&directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    Ok(directory)
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |directory| root().join(directory))
}
