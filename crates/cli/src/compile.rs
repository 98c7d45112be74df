//! Source files in place of a program: they are compiled first, as people do who want to debug them.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

/// Endings of C sources, and of C++ sources.
const C: [&str; 1] = ["c"];
const CPP: [&str; 5] = ["cc", "cpp", "cxx", "c++", "C"];

pub fn is_source(name: &OsStr) -> bool {
    has_ending(name, &C) || has_ending(name, &CPP)
}

fn has_ending(name: &OsStr, endings: &[&str]) -> bool {
    Path::new(name).extension().is_some_and(|ending| endings.iter().any(|known| *known == ending))
}

/// Compiles the sources to one program, and says where that is.
pub fn compile(sources: &[OsString]) -> Result<PathBuf> {
    let first = sources.first().context("there is nothing to compile")?;
    for source in sources {
        let metadata = fs::metadata(source);
        metadata.with_context(|| format!("{} cannot be compiled", Path::new(source).display()))?;
    }
    let (variable, usual) = match sources.iter().any(|source| has_ending(source, &CPP)) {
        true => ("CXX", "c++"),
        false => ("CC", "cc"),
    };
    let compiler = std::env::var_os(variable).filter(|name| !name.is_empty()).unwrap_or(usual.into());
    let name = Path::new(first).file_stem().unwrap_or(OsStr::new("program"));
    let target = directory_for(first)?.join(name);
    let mut command = Command::new(&compiler);
    command.args(["-g", "-O0", "-o"]).arg(&target).args(sources).arg("-lm");
    let shown = compiler.to_string_lossy();
    let status = command.status().with_context(|| {
        format!("{shown} cannot be run; install a compiler, or name one with {variable}=COMPILER")
    })?;
    if !status.success() {
        bail!("{shown} could not compile {}, see its messages above", Path::new(first).display());
    }
    Ok(target)
}

/// A directory of our own for the program of a source: the same one each time, so that the same source gives the same report.
fn directory_for(source: &OsStr) -> Result<PathBuf> {
    // SAFETY: it has no arguments and cannot fail.
    let user = unsafe { libc::getuid() };
    let whole = std::path::absolute(source).context("the working directory is gone")?;
    let base = std::env::temp_dir().join(format!("whydunit-{user}"));
    let name = format!("{:016x}", spread(whole.as_os_str().as_bytes()));
    for directory in [&base, &base.join(&name)] {
        match DirBuilder::new().mode(0o700).create(directory) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(error).with_context(|| format!("{} cannot be made", directory.display()));
            }
            _ => {}
        }
        // Somebody else may have made it.
        let metadata = fs::symlink_metadata(directory).context("it is gone already")?;
        if !metadata.is_dir() || metadata.uid() != user || metadata.mode() & 0o022 != 0 {
            return Err(anyhow!("{} is not ours; remove it, or set TMPDIR", directory.display()));
        }
    }
    Ok(base.join(name))
}

/// Tells paths apart (FNV-1a).
fn spread(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_known_by_their_endings() {
        for source in ["a.c", "dir/b.cpp", "c.cc", "d.C", "e.cxx"] {
            assert!(is_source(OsStr::new(source)), "{source}");
        }
        for other in ["a", "./a.out", "a.o", "c", ".c", "run.wdb"] {
            assert!(!is_source(OsStr::new(other)), "{other}");
        }
    }
}
