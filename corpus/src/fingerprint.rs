//! Hashes of files: they tell builds and inputs apart, no more.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub fn of_file(path: &Path) -> Result<String> {
    Ok(written(add(START, &read(path)?)))
}

/// Of all files below some directories, with their names.
pub fn of_directories(directories: &[PathBuf]) -> Result<String> {
    let mut hash = START;
    for directory in directories {
        let mut files = Vec::new();
        collect(directory, &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(directory).unwrap_or(&file);
            hash = add(hash, name.as_os_str().as_encoded_bytes());
            hash = add(hash, &read(&file)?);
        }
    }
    Ok(written(hash))
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        fs::read_dir(directory).with_context(|| format!("{} cannot be listed", directory.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}

/// FNV-1a.
const START: u64 = 0xcbf2_9ce4_8422_2325;

fn add(hash: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(hash, step)
}

fn written(hash: u64) -> String {
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_contents_count_and_where_they_are_does_not() {
        let print = |name: &str, text: &str| {
            let place = tempfile::tempdir().unwrap();
            fs::create_dir(place.path().join("below")).unwrap();
            fs::write(place.path().join("below").join(name), text).unwrap();
            of_directories(&[place.path().to_owned()]).unwrap()
        };
        assert_eq!(print("a", "text"), print("a", "text"));
        assert_ne!(print("a", "text"), print("b", "text"));
        assert_ne!(print("a", "text"), print("a", "test"));
    }
}
