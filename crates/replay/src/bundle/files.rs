//! The debug files and sources of a run that came in a bundle.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use linux::Process;
use linux::fs::{Capsule, HostPath, Timestamp};
use program::{FileReader, Files, HostFiles};

/// Where the files that explain a run are read from: the bundle that it came in, or this machine. A bundle's run is
/// not explained by files of this machine: those of the same names may be others.
pub fn files_of(process: &Process) -> Files {
    match process.kernel.files.sealed() {
        Some(capsule) => Arc::new(CapsuleFiles(capsule.clone())),
        None => Arc::new(HostFiles),
    }
}

struct CapsuleFiles(Arc<Capsule>);

impl FileReader for CapsuleFiles {
    fn read(&self, path: &Path, largest: u64) -> io::Result<Arc<Vec<u8>>> {
        let key = key(path);
        let attached = self.0.attachments.get(&key).map(|attachment| &attachment.content);
        let read = || self.0.contents.get(&key).and_then(|answer| answer.as_ref().ok());
        match attached.or_else(read) {
            Some(content) if content.len() as u64 <= largest => Ok(content.clone()),
            Some(_) => Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is too large")),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "it is not in the bundle")),
        }
    }

    fn modified(&self, path: &Path) -> Option<SystemTime> {
        let key = key(path);
        let attached = self.0.attachments.get(&key).map(|attachment| attachment.modification);
        let seen = || Some(self.0.entries.get(&key)?.as_ref().ok()?.modification);
        let Timestamp { seconds, nanoseconds } = attached.or_else(seen)?;
        let since_1970 = Duration::new(u64::try_from(seconds).ok()?, nanoseconds);
        SystemTime::UNIX_EPOCH.checked_add(since_1970)
    }
}

/// Debug information names one file in several ways, with `.` and `..`; in a bundle it has one name.
pub fn key(path: &Path) -> HostPath {
    let mut names: Vec<&[u8]> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.as_bytes()),
            Component::ParentDir => {
                names.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    match names.is_empty() {
        true => b"/"[..].into(),
        false => names.iter().flat_map(|name| [b"/", *name].concat()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_name_however_it_is_written() {
        for path in ["/a/b.c", "/a/./b.c", "/a/x/../b.c", "//a//b.c", "a/b.c", "/../a/b.c"] {
            assert_eq!(&key(Path::new(path))[..], b"/a/b.c", "{path}");
        }
        assert_eq!(&key(Path::new("/"))[..], b"/");
    }
}
