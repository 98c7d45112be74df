//! From the description of a case to two executables: one with the bug, one without.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::Case;
use super::sources::Sources;

/// What is expected, beside the files that a program is run with.
pub const STDIN: &str = "stdin";
pub const STDOUT: &str = "expected.stdout";
pub const STDERR: &str = "expected.stderr";

/// A case that can be run.
#[derive(Clone, Debug)]
pub struct Built {
    pub buggy: PathBuf,
    pub fixed: PathBuf,
    /// Where to run either, with [`STDIN`] as standard input.
    pub directory: PathBuf,
}

/// Fetches and builds a case in a directory of its own under `place`.
pub fn build(case: &Case, sources: &Sources, place: &Path) -> Result<Built> {
    let place = std::path::absolute(place.join(&case.name)).context("there is no current directory")?;
    let (buggy, fixed) = (place.join("buggy"), place.join("fixed"));
    let description = sources.fetch(&case.package, &case.version)?;
    fs::create_dir_all(&place).with_context(|| format!("{} cannot be made", place.display()))?;
    build_both(case, &description, &buggy, &fixed)
        .with_context(|| format!("{} cannot be built", case.name))?;
    let directory = place.join("run");
    write_files(case, &directory)?;
    let built = Built { buggy: buggy.join(&case.program), fixed: fixed.join(&case.program), directory };
    for program in [&built.buggy, &built.fixed] {
        ensure!(program.is_file(), "{} is not there after the build", program.display());
    }
    Ok(built)
}

/// Writes what the program is run with into a new directory.
pub fn write_files(case: &Case, directory: &Path) -> Result<()> {
    let expected = &case.expected;
    let outputs = [(STDOUT, &expected.stdout), (STDERR, &expected.stderr)];
    let outputs = outputs.into_iter().filter_map(|(name, bytes)| Some((Path::new(name), bytes.as_ref()?)));
    let files = case.files.iter().map(|(path, bytes)| (path.as_path(), bytes));
    for (path, bytes) in files.chain(outputs).chain([(Path::new(STDIN), &case.stdin)]) {
        let path = directory.join(path);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, &bytes.0))
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

/// The fixed program is made of what the other one was: only what the fix changes is compiled again.
fn build_both(case: &Case, description: &Path, buggy: &Path, fixed: &Path) -> Result<()> {
    for old in [buggy, fixed].into_iter().filter(|path| path.exists()) {
        fs::remove_dir_all(old).with_context(|| format!("{} cannot be removed", old.display()))?;
    }
    let unpack =
        ["--no-check".as_ref(), "--skip-patches".as_ref(), "--extract".as_ref(), description.as_os_str()];
    run("dpkg-source", unpack.into_iter().chain([buggy.as_os_str()]), None)?;
    for patch in &case.patches {
        apply(patch, buggy)?;
    }
    for command in case.configure.iter().chain(&case.build) {
        run("sh", ["-c", command], Some(buggy))?;
    }
    run("cp", ["-a".as_ref(), buggy.as_os_str(), fixed.as_os_str()], None)?;
    apply(&case.fix, fixed)?;
    for command in &case.build {
        run("sh", ["-c", command], Some(fixed))?;
    }
    Ok(())
}

fn apply(patch: &str, source: &Path) -> Result<()> {
    let path = format!("debian/patches/{patch}");
    run("patch", ["--batch", "--quiet", "-p1", "--input", &path], Some(source))
}

fn run<A: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = A>,
    directory: Option<&Path>,
) -> Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    let output = command.output().with_context(|| format!("{program} cannot be run"))?;
    ensure!(output.status.success(), "{command:?} fails: {}", last_lines(&output.stderr));
    Ok(())
}

/// Enough of a compiler's complaints.
fn last_lines(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(10)..).unwrap_or_default().join("\n")
}
