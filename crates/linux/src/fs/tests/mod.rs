//! Tests of the file world as a whole, over real directories of the host.

mod descriptors;
mod differential;
mod hostile;
mod namespace;
mod overlay;
mod virtual_files;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::abi::*;
use super::host::HostPath;
use super::*;

pub const NOW: Timestamp = Timestamp { seconds: 1_700_000_000, nanoseconds: 5 };

/// A directory of the host that is removed when the test ends.
pub struct Scratch {
    root: PathBuf,
}

impl Scratch {
    pub fn new() -> Scratch {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("whydunit-files-{}-{number}", std::process::id());
        // Not through a link: the tests compare paths.
        let root = fs::canonicalize(std::env::temp_dir()).unwrap().join(name);
        fs::create_dir(&root).unwrap();
        Scratch { root }
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    pub fn host_path(&self, name: &str) -> HostPath {
        self.absolute(name).into()
    }

    pub fn absolute(&self, name: &str) -> Vec<u8> {
        match name {
            "" => self.root.as_os_str().as_bytes().to_vec(),
            name => self.root.join(name).as_os_str().as_bytes().to_vec(),
        }
    }

    pub fn file(&self, name: &str, content: &[u8]) {
        fs::write(self.root.join(name), content).unwrap();
        fs::set_permissions(self.root.join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }

    pub fn directory(&self, name: &str) {
        fs::create_dir(self.root.join(name)).unwrap();
        fs::set_permissions(self.root.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn symlink(&self, name: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.root.join(name)).unwrap();
    }

    pub fn fifo(&self, name: &str) {
        let path = CString::new(self.absolute(name)).unwrap();
        // SAFETY: the path is a valid string that lives through the call.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o644) }, 0);
    }

    pub fn setup(&self) -> Setup {
        Setup {
            credentials: Credentials { user: 0, group: 0, groups: Arc::from(&[][..]) },
            working_directory: self.absolute(""),
            process: 4242,
            standard_input: Arc::new(b"input".to_vec()),
            input_open: false,
            input_pieces: Pieces::Chunks,
            input_file: None,
            streams: StandardStreams::Pipes,
            overlay_limit: 64 << 20,
            memory_total: 1 << 30,
            now: NOW,
            host: Host::default(),
        }
    }

    /// The guest's world with this directory as its working directory.
    pub fn world(&self) -> FileSystem {
        FileSystem::new(&self.setup()).unwrap()
    }

    /// All that is in the directory, for seeing that nothing changed.
    pub fn tree(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>, i64)> {
        let mut tree = BTreeMap::new();
        let mut pending = vec![self.root.clone()];
        while let Some(path) = pending.pop() {
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = match metadata.file_type() {
                kind if kind.is_symlink() => fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec(),
                kind if kind.is_file() => fs::read(&path).unwrap(),
                kind if kind.is_dir() => {
                    pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                    Vec::new()
                }
                _ => Vec::new(),
            };
            tree.insert(path, (metadata.mode(), content, metadata.mtime_nsec()));
        }
        tree
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover directory in /tmp is no reason to fail a test.
        make_removable(&self.root);
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Some tests leave directories that not even their owner may enter.
fn make_removable(directory: &Path) {
    let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_removable(&entry.path());
        }
    }
}

pub struct NoText;

impl ProcessText for NoText {
    fn text(&self, file: ProcessFile) -> Vec<u8> {
        format!("{file:?}").into_bytes()
    }
}

/// Short forms of the operations, for tests that are about something else.
pub trait Shorthand {
    fn try_open(&mut self, path: &str, flags: u32) -> Result<i32, Errno>;
    fn get(&mut self, path: &str) -> Result<Vec<u8>, Errno>;
    fn put(&mut self, path: &str, content: &[u8]) -> Result<(), Errno>;
    /// What a directory lists, sorted.
    fn names(&mut self, path: &str) -> Vec<String>;
    fn stat_path(&mut self, path: &str) -> Result<Stat, Errno>;
}

pub fn at(path: &str) -> At<'_> {
    At::working_directory(path.as_bytes())
}

impl Shorthand for FileSystem {
    fn try_open(&mut self, path: &str, flags: u32) -> Result<i32, Errno> {
        self.open(at(path), flags, 0o644, NOW, &NoText)
    }

    fn get(&mut self, path: &str) -> Result<Vec<u8>, Errno> {
        let descriptor = self.try_open(path, O_RDONLY)?;
        let bytes = self.read(descriptor, 1 << 24);
        self.close(descriptor)?;
        match bytes {
            Ok(bytes) => Ok(bytes),
            Err(IoError::Errno(errno)) => Err(errno),
            Err(IoError::Deadlock | IoError::Input) => Err(Errno::EDEADLK),
        }
    }

    fn put(&mut self, path: &str, content: &[u8]) -> Result<(), Errno> {
        let descriptor = self.try_open(path, O_WRONLY | O_CREAT | O_TRUNC)?;
        let written = self.write(descriptor, content, NOW);
        self.close(descriptor)?;
        match written {
            Ok(Written::Count(count)) if count == content.len() => Ok(()),
            Err(IoError::Errno(errno)) => Err(errno),
            other => panic!("{other:?}"),
        }
    }

    fn names(&mut self, path: &str) -> Vec<String> {
        let descriptor = self.try_open(path, O_RDONLY | O_DIRECTORY).unwrap();
        let mut names = Vec::new();
        self.read_directory(descriptor, |entry| {
            names.push(String::from_utf8(entry.name.to_vec()).unwrap());
            true
        })
        .unwrap();
        self.close(descriptor).unwrap();
        let mut names = names.split_off(2);
        names.sort();
        names
    }

    fn stat_path(&mut self, path: &str) -> Result<Stat, Errno> {
        let target = self.locate(at(path), Follow::No, false)?;
        self.stat(target)
    }
}
