//! The host's files, as facts that are asked once and then remembered.
//!
//! This is the only place that touches the host's file system, and it can only look: metadata of one name (never
//! following a link), the names in a directory, the bytes of a regular file. All clones of a run share the memory of
//! the answers, so a run and its replays see one and the same host even while somebody changes files under them.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::abi::{O_NOFOLLOW, O_NONBLOCK, S_IFMT};
use super::content::MAX_CONTIGUOUS;
use super::{Name, Timestamp};
use crate::errno::Errno;

/// An absolute path on the host whose parents the resolver has seen to be directories.
pub type HostPath = Arc<[u8]>;

/// What the host says about one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostEntry {
    pub mode: u32,
    pub user: u32,
    pub group: u32,
    pub links: u64,
    pub size: u64,
    pub blocks: u64,
    pub device: u64,
    pub inode: u64,
    pub special_device: u64,
    pub access: Timestamp,
    pub modification: Timestamp,
    pub change: Timestamp,
    /// Where a symbolic link points; empty for everything else.
    pub target: Arc<[u8]>,
}

/// Shared by all clones of a run.
#[derive(Clone, Default)]
pub struct Host {
    memory: Arc<Mutex<Memory>>,
}

/// Bytes of files that nobody has open are kept up to this many.
const KEPT_BYTES: u64 = 1 << 30;
/// Bytes of files that the guest has open or mapped at a time; a larger world does not fit into our memory.
const HELD_BYTES: u64 = 4 << 30;
/// A guest may ask for any number of names that don't exist; so many are remembered.
const KEPT_ABSENT: usize = 200_000;

#[derive(Default)]
struct Memory {
    entries: HashMap<HostPath, Result<HostEntry, Errno>>,
    absent: usize,
    listings: HashMap<HostPath, Result<Arc<[Name]>, Errno>>,
    contents: HashMap<HostPath, Arc<Vec<u8>>>,
    /// In the order in which they were read, for dropping the oldest.
    kept: VecDeque<HostPath>,
    kept_bytes: u64,
}

/// The path of `name` in the directory `parent`.
pub fn join(parent: &[u8], name: &[u8]) -> HostPath {
    let separator: &[u8] = if parent.ends_with(b"/") { b"" } else { b"/" };
    [parent, separator, name].concat().into()
}

impl Host {
    /// Metadata of one name; a link is described, not followed.
    pub fn entry(&self, path: &HostPath) -> Result<HostEntry, Errno> {
        let mut memory = self.lock();
        if let Some(known) = memory.entries.get(path) {
            return known.clone();
        }
        let answer = ask_entry(as_path(path));
        if answer.is_ok() || memory.absent < KEPT_ABSENT {
            memory.absent += usize::from(answer.is_err());
            memory.entries.insert(path.clone(), answer.clone());
        }
        answer
    }

    /// The names in a directory without `.` and `..`, in the order in which the host lists them.
    pub fn names(&self, path: &HostPath) -> Result<Arc<[Name]>, Errno> {
        let mut memory = self.lock();
        if let Some(known) = memory.listings.get(path) {
            return known.clone();
        }
        let answer = ask_names(as_path(path));
        memory.listings.insert(path.clone(), answer.clone());
        answer
    }

    /// The bytes of a regular file. `seen` is its entry: a file that has changed since cannot be shown.
    pub fn content(&self, path: &HostPath, seen: &HostEntry) -> Result<Arc<Vec<u8>>, Errno> {
        let mut memory = self.lock();
        if let Some(known) = memory.contents.get(path) {
            return Ok(known.clone());
        }
        memory.drop_oldest(KEPT_BYTES.saturating_sub(seen.size));
        if memory.kept_bytes.saturating_add(seen.size) > HELD_BYTES {
            return Err(Errno::ENOMEM);
        }
        let bytes = Arc::new(ask_content(as_path(path), seen)?);
        memory.contents.insert(path.clone(), bytes.clone());
        memory.kept.push_back(path.clone());
        memory.kept_bytes += bytes.len() as u64;
        Ok(bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    /// Forgets the oldest contents that nobody else holds until the rest is no more than `limit`.
    fn drop_oldest(&mut self, limit: u64) {
        let mut held = VecDeque::new();
        while self.kept_bytes > limit {
            let Some(path) = self.kept.pop_front() else { break };
            let Some(bytes) = self.contents.get(&path) else { continue };
            if Arc::strong_count(bytes) > 1 {
                held.push_back(path);
                continue;
            }
            self.kept_bytes -= bytes.len() as u64;
            self.contents.remove(&path);
        }
        held.append(&mut self.kept);
        self.kept = held;
    }
}

fn as_path(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

fn ask_entry(path: &Path) -> Result<HostEntry, Errno> {
    let metadata = fs::symlink_metadata(path).map_err(|error| Errno::from_host(&error))?;
    let target = match metadata.file_type().is_symlink() {
        true => fs::read_link(path).map_err(|error| Errno::from_host(&error))?.into_os_string().into_vec(),
        false => Vec::new(),
    };
    Ok(describe(&metadata, target.into()))
}

fn describe(metadata: &fs::Metadata, target: Arc<[u8]>) -> HostEntry {
    let time = |seconds, nanoseconds| Timestamp { seconds, nanoseconds: nanoseconds as u32 };
    HostEntry {
        mode: metadata.mode(),
        user: metadata.uid(),
        group: metadata.gid(),
        links: metadata.nlink(),
        size: metadata.size(),
        blocks: metadata.blocks(),
        device: metadata.dev(),
        inode: metadata.ino(),
        special_device: metadata.rdev(),
        // The host moves the time of the last access when this very run reads a file, so that the next run would
        // find another one. The guest sees files as if nobody had read them since they were written.
        access: time(metadata.mtime(), metadata.mtime_nsec()),
        modification: time(metadata.mtime(), metadata.mtime_nsec()),
        change: time(metadata.ctime(), metadata.ctime_nsec()),
        target,
    }
}

fn ask_names(path: &Path) -> Result<Arc<[Name]>, Errno> {
    let mut names: Vec<Name> = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| Errno::from_host(&error))? {
        let entry = entry.map_err(|error| Errno::from_host(&error))?;
        names.push(entry.file_name().as_bytes().into());
    }
    Ok(names.into())
}

fn ask_content(path: &Path, seen: &HostEntry) -> Result<Vec<u8>, Errno> {
    // Neither a link nor a FIFO that took the file's place may make this follow or wait.
    let flags = (O_NOFOLLOW | O_NONBLOCK) as i32;
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| Errno::from_host(&error))?;
    let metadata = file.metadata().map_err(|error| Errno::from_host(&error))?;
    let kind = metadata.file_type();
    if kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device() {
        return Err(Errno::ENXIO);
    }
    let now = describe(&metadata, seen.target.clone());
    let same = |entry: &HostEntry| (entry.mode & S_IFMT, entry.inode, entry.size, entry.modification);
    if same(&now) != same(seen) {
        return Err(Errno::EIO);
    }
    if metadata.len() > MAX_CONTIGUOUS {
        return Err(Errno::EFBIG);
    }
    // No more than it said: some files of the kernel say 0, and reading them waits for ever.
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.take(metadata.len()).read_to_end(&mut bytes).map_err(|error| Errno::from_host(&error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Scratch;
    use super::*;

    #[test]
    fn answers_stay_what_they_were_when_the_host_changes() {
        let scratch = Scratch::new();
        scratch.file("a", b"one");
        let host = Host::default();
        let path = scratch.host_path("a");
        let absent = scratch.host_path("b");
        let entry = host.entry(&path).unwrap();
        let names = host.names(&scratch.host_path("")).unwrap();
        assert_eq!(host.entry(&absent), Err(Errno::ENOENT));
        let content = host.content(&path, &entry).unwrap();
        scratch.file("a", b"another");
        scratch.file("b", b"new");
        let clone = host.clone();
        assert_eq!(clone.entry(&path).unwrap(), entry);
        assert_eq!(clone.entry(&absent), Err(Errno::ENOENT));
        assert_eq!(clone.names(&scratch.host_path("")).unwrap(), names);
        assert!(Arc::ptr_eq(&clone.content(&path, &entry).unwrap(), &content));
    }

    #[test]
    fn a_file_that_changed_between_look_and_read_is_an_error() {
        let scratch = Scratch::new();
        scratch.file("a", b"one");
        let host = Host::default();
        let path = scratch.host_path("a");
        let entry = host.entry(&path).unwrap();
        scratch.file("a", b"longer now");
        assert_eq!(host.content(&path, &entry), Err(Errno::EIO));
    }

    #[test]
    fn a_fifo_in_place_of_a_file_does_not_block() {
        let scratch = Scratch::new();
        scratch.fifo("pipe");
        let host = Host::default();
        let path = scratch.host_path("pipe");
        let entry = host.entry(&path).unwrap();
        assert_eq!(host.content(&path, &entry), Err(Errno::ENXIO));
    }
}
