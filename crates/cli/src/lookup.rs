//! Finds a program as execvp(3) does.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What execvp searches when there is no PATH.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

#[derive(Debug, PartialEq, Eq)]
pub enum Lookup {
    Found(PathBuf),
    /// It is there, but is no executable file.
    NotExecutable(PathBuf),
    NotFound,
}

/// Looks `program` up in `path`, the value of PATH, unless it has a slash.
pub fn find(program: &OsStr, path: Option<&OsStr>) -> Lookup {
    if program.is_empty() {
        return Lookup::NotFound;
    }
    if program.as_bytes().contains(&b'/') {
        return judge(PathBuf::from(program));
    }
    let path = path.map_or_else(|| OsString::from(DEFAULT_PATH), OsStr::to_owned);
    let mut result = Lookup::NotFound;
    for directory in path.as_bytes().split(|byte| *byte == b':') {
        // An empty entry is the current directory. The slash keeps its programs from being looked up again.
        let directory = if directory.is_empty() { b"." } else { directory };
        match judge(Path::new(OsStr::from_bytes(directory)).join(program)) {
            Lookup::Found(found) => return Lookup::Found(found),
            other if result == Lookup::NotFound => result = other,
            _ => {}
        }
    }
    result
}

fn judge(candidate: PathBuf) -> Lookup {
    match std::fs::metadata(&candidate) {
        Ok(metadata) if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 => {
            Lookup::Found(candidate)
        }
        Ok(_) => Lookup::NotExecutable(candidate),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Lookup::NotExecutable(candidate)
        }
        Err(_) => Lookup::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_in(program: &str, path: &str) -> Lookup {
        find(OsStr::new(program), Some(OsStr::new(path)))
    }

    #[test]
    fn a_name_is_searched_in_path_and_a_path_is_taken_as_it_is() {
        assert_eq!(find_in("sh", "/nowhere:/bin"), Lookup::Found("/bin/sh".into()));
        assert_eq!(find_in("/bin/sh", "/nowhere"), Lookup::Found("/bin/sh".into()));
        assert_eq!(find_in("sh", "/nowhere"), Lookup::NotFound);
        assert_eq!(find_in("", "/bin"), Lookup::NotFound);
        assert_eq!(find(OsStr::new("sh"), None), Lookup::Found("/bin/sh".into()));
    }

    #[test]
    fn what_cannot_be_executed_is_passed_over_but_told() {
        assert_eq!(find_in("passwd", "/etc"), Lookup::NotExecutable("/etc/passwd".into()));
        assert_eq!(find_in("passwd", "/etc:/usr/bin"), Lookup::Found("/usr/bin/passwd".into()));
        assert_eq!(find_in("/etc", ""), Lookup::NotExecutable("/etc".into()));
    }
}
