//! From a path to the file that it names, links followed, one question to the host a component.
//!
//! Only for loading programs, before there is a guest. The guest's own paths are walked by `resolve`, through its
//! overlay.

use std::sync::Arc;

use super::{Host, HostEntry, HostError, HostPath, join};
use crate::errno::Errno;
use crate::fs::abi::{LINKS_MAX, S_IFDIR, S_IFLNK, S_IFMT};

impl Host {
    /// The file at an absolute path, and its path without links, `.` and `..`.
    pub(crate) fn follow(&self, path: &[u8]) -> Result<(HostPath, HostEntry), Errno> {
        let mut at = HostPath::from(&b"/"[..]);
        let mut entry = self.known_entry(&at)?;
        let mut pending = Vec::new();
        push_components(&mut pending, path);
        let mut links = 0;
        while let Some(name) = pending.pop() {
            if entry.mode & S_IFMT != S_IFDIR {
                return Err(Errno::ENOTDIR);
            }
            if name == b".." {
                at = parent(&at);
                entry = self.known_entry(&at)?;
                continue;
            }
            let path = join(&at, &name);
            let found = self.known_entry(&path)?;
            if found.mode & S_IFMT != S_IFLNK {
                (at, entry) = (path, found);
                continue;
            }
            links += 1;
            if links > LINKS_MAX {
                return Err(Errno::ELOOP);
            }
            if found.target.starts_with(b"/") {
                at = HostPath::from(&b"/"[..]);
                entry = self.known_entry(&at)?;
            }
            push_components(&mut pending, &found.target);
        }
        if path.ends_with(b"/") && entry.mode & S_IFMT != S_IFDIR {
            return Err(Errno::ENOTDIR);
        }
        Ok((at, entry))
    }

    /// The bytes of a file that was found.
    pub(crate) fn known_content(&self, path: &HostPath, seen: &HostEntry) -> Result<Arc<Vec<u8>>, Errno> {
        self.content(path, seen).map_err(|error| errno(error, Errno::EIO))
    }

    fn known_entry(&self, path: &HostPath) -> Result<HostEntry, Errno> {
        self.entry(path).map_err(|error| errno(error, Errno::ENOENT))
    }
}

fn errno(error: HostError, unknown: Errno) -> Errno {
    match error {
        HostError::Errno(errno) => errno,
        HostError::Unknown => unknown,
    }
}

/// Pushes the components of a path so that the first is on top.
fn push_components(pending: &mut Vec<Vec<u8>>, path: &[u8]) {
    let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".");
    pending.extend(names.rev().map(<[u8]>::to_vec));
}

fn parent(path: &[u8]) -> HostPath {
    let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    path.get(..end.max(1)).unwrap_or(b"/").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::tests::Scratch;

    #[test]
    fn links_and_dots_lead_where_the_host_itself_would_go() {
        let scratch = Scratch::new();
        scratch.directory("a");
        scratch.file("a/file", b"x");
        scratch.symlink("a/up", "../a/./file");
        scratch.symlink("absolute", scratch.path().join("a").to_str().unwrap());
        scratch.symlink("loop", "loop");
        let host = Host::default();
        for path in ["a/file", "a/up", "absolute/up", "absolute/../a//file", "./a/up", "absolute/"] {
            let (found, entry) = match host.follow(&scratch.absolute(path)) {
                Ok(found) => found,
                Err(error) => panic!("{path}: {error}"),
            };
            let native = std::fs::canonicalize(scratch.path().join(path.trim_end_matches('/'))).unwrap();
            assert_eq!(
                found,
                scratch.host_path(native.strip_prefix(scratch.path()).unwrap().to_str().unwrap())
            );
            assert_eq!(host.entry(&found), Ok(entry));
        }
        assert_eq!(host.follow(&scratch.absolute("loop")), Err(Errno::ELOOP));
        assert_eq!(host.follow(&scratch.absolute("nothing")), Err(Errno::ENOENT));
        for path in ["a/file/x", "a/file/", "a/file/.."] {
            assert_eq!(host.follow(&scratch.absolute(path)), Err(Errno::ENOTDIR), "{path}");
        }
        assert_eq!(host.follow(b"/../..").unwrap().0[..], b"/"[..]);
    }
}
