//! The host's files, as facts that are asked once and then remembered.
//!
//! This is the one door to them. What can be asked is the metadata of one name (never following a link), the names in
//! a directory, and the bytes of a regular file. All clones of a run share the answers, so a run and its replays see
//! one and the same host even while somebody changes files under them. The answers can be taken away as a
//! [`Capsule`], and a capsule can stand in for the host.

mod ask;
mod capsule;
mod follow;

use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::abi::{S_IFMT, S_IFREG};
use super::{Name, Timestamp};
use crate::errno::Errno;

pub use capsule::{Attachment, Capsule};

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

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostError {
    Errno(Errno),
    /// A capsule answers, and this was not asked in the run that it was made from.
    Unknown,
}

/// Where answers come from; shared by all clones of a run.
#[derive(Clone)]
pub enum Host {
    /// The files of this machine.
    Live(Arc<Mutex<Memory>>),
    /// Those of another time or machine.
    Capsule(Arc<Capsule>),
}

impl Default for Host {
    fn default() -> Host {
        Host::Live(Arc::default())
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Host::Live(_) => "Host::Live",
            Host::Capsule(_) => "Host::Capsule",
        })
    }
}

/// What files take is told in units of this size.
const BLOCK_SIZE: u64 = 512;
/// Bytes of files that nobody has open are kept up to this many, as long as the run has no clones. With clones all are
/// kept: what one of them has read, the others must find as it was.
const KEPT_BYTES: u64 = 1 << 30;
/// Bytes of files that are kept; a larger world does not fit into our memory.
const HELD_BYTES: u64 = 4 << 30;
/// A guest may ask for any number of names that don't exist; so many are remembered.
const KEPT_ABSENT: usize = 200_000;

#[derive(Default)]
pub struct Memory {
    entries: HashMap<HostPath, Result<HostEntry, Errno>>,
    absent: usize,
    listings: HashMap<HostPath, Result<Arc<[Name]>, Errno>>,
    contents: HashMap<HostPath, Result<Arc<Vec<u8>>, Errno>>,
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
    pub fn entry(&self, path: &HostPath) -> Result<HostEntry, HostError> {
        match self {
            Host::Live(memory) => lock(memory).entry(path).map_err(HostError::Errno),
            Host::Capsule(capsule) => capsule.entry(path),
        }
    }

    /// The names in a directory without `.` and `..`, in the order in which the host lists them.
    pub fn names(&self, path: &HostPath) -> Result<Arc<[Name]>, HostError> {
        match self {
            Host::Live(memory) => lock(memory).names(path).map_err(HostError::Errno),
            Host::Capsule(capsule) => capsule.names(path),
        }
    }

    /// The bytes of a regular file. `seen` is its entry: a file that has changed since cannot be shown.
    pub fn content(&self, path: &HostPath, seen: &HostEntry) -> Result<Arc<Vec<u8>>, HostError> {
        match self {
            Host::Live(memory) => {
                let has_clones = Arc::strong_count(memory) > 1;
                lock(memory).content(path, seen, has_clones).map_err(HostError::Errno)
            }
            Host::Capsule(capsule) => capsule.content(path),
        }
    }

    /// From now on the file at an absolute path, links followed, has these bytes. All else about it stays as it is.
    pub(crate) fn replace(&mut self, path: &[u8], content: &Arc<Vec<u8>>) -> Result<(), Errno> {
        let (path, entry) = self.follow(path)?;
        if entry.mode & S_IFMT != S_IFREG {
            return Err(Errno::EINVAL);
        }
        let size = content.len() as u64;
        let entry = HostEntry { size, blocks: size.div_ceil(BLOCK_SIZE), ..entry };
        match self {
            Host::Live(memory) => {
                let mut memory = lock(memory);
                memory.entries.insert(path.clone(), Ok(entry));
                memory.contents.insert(path, Ok(content.clone()));
            }
            Host::Capsule(capsule) => {
                let capsule = Arc::make_mut(capsule);
                capsule.entries.insert(path.clone(), Ok(entry));
                capsule.contents.insert(path, Ok(content.clone()));
            }
        }
        Ok(())
    }

    /// All answers so far. Those of a run that always had a clone are all that it ever got.
    pub fn capsule(&self) -> Capsule {
        match self {
            Host::Live(memory) => lock(memory).capsule(),
            Host::Capsule(capsule) => Capsule::clone(capsule),
        }
    }
}

fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    fn entry(&mut self, path: &HostPath) -> Result<HostEntry, Errno> {
        if let Some(known) = self.entries.get(path) {
            return known.clone();
        }
        let answer = ask::entry(as_path(path));
        if answer.is_ok() || self.absent < KEPT_ABSENT {
            self.absent += usize::from(answer.is_err());
            self.entries.insert(path.clone(), answer.clone());
        }
        answer
    }

    fn names(&mut self, path: &HostPath) -> Result<Arc<[Name]>, Errno> {
        if let Some(known) = self.listings.get(path) {
            return known.clone();
        }
        let answer = ask::names(as_path(path));
        self.listings.insert(path.clone(), answer.clone());
        answer
    }

    fn content(&mut self, path: &HostPath, seen: &HostEntry, keep_all: bool) -> Result<Arc<Vec<u8>>, Errno> {
        if let Some(known) = self.contents.get(path) {
            return known.clone();
        }
        if !keep_all {
            self.drop_oldest(KEPT_BYTES.saturating_sub(seen.size));
        }
        let fits = self.kept_bytes.saturating_add(seen.size) <= HELD_BYTES;
        let answer = match fits {
            true => ask::content(as_path(path), seen).map(Arc::new),
            // Without clones there may be room later.
            false if !keep_all => return Err(Errno::ENOMEM),
            false => Err(Errno::ENOMEM),
        };
        if let Ok(bytes) = &answer {
            self.kept.push_back(path.clone());
            self.kept_bytes += bytes.len() as u64;
        }
        self.contents.insert(path.clone(), answer.clone());
        answer
    }

    fn capsule(&self) -> Capsule {
        fn sorted<T: Clone>(map: &HashMap<HostPath, T>) -> std::collections::BTreeMap<HostPath, T> {
            map.iter().map(|(path, answer)| (path.clone(), answer.clone())).collect()
        }
        Capsule {
            entries: sorted(&self.entries),
            listings: sorted(&self.listings),
            contents: sorted(&self.contents),
            attachments: Default::default(),
        }
    }

    /// Forgets the oldest contents that nobody else holds until the rest is no more than `limit`.
    fn drop_oldest(&mut self, limit: u64) {
        let mut held = VecDeque::new();
        while self.kept_bytes > limit {
            let Some(path) = self.kept.pop_front() else { break };
            let Some(Ok(bytes)) = self.contents.get(&path) else { continue };
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
        assert_eq!(host.entry(&absent), Err(HostError::Errno(Errno::ENOENT)));
        let content = host.content(&path, &entry).unwrap();
        scratch.file("a", b"another");
        scratch.file("b", b"new");
        let clone = host.clone();
        assert_eq!(clone.entry(&path).unwrap(), entry);
        assert_eq!(clone.entry(&absent), Err(HostError::Errno(Errno::ENOENT)));
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
        assert_eq!(host.content(&path, &entry), Err(HostError::Errno(Errno::EIO)));
    }

    #[test]
    fn a_fifo_in_place_of_a_file_does_not_block() {
        let scratch = Scratch::new();
        scratch.fifo("pipe");
        let host = Host::default();
        let path = scratch.host_path("pipe");
        let entry = host.entry(&path).unwrap();
        assert_eq!(host.content(&path, &entry), Err(HostError::Errno(Errno::ENXIO)));
    }

    #[test]
    fn a_capsule_answers_as_the_host_did_and_knows_nothing_else() {
        let scratch = Scratch::new();
        scratch.directory("d");
        scratch.file("d/a", b"one");
        scratch.symlink("d/link", "a");
        let host = Host::default();
        let [d, a, link, absent] = ["d", "d/a", "d/link", "d/none"].map(|name| scratch.host_path(name));
        let asked = |host: &Host| {
            let entry = host.entry(&a).unwrap();
            (host.names(&d), host.entry(&link), host.entry(&absent), host.content(&a, &entry), entry)
        };
        let before = asked(&host);
        let capsule = Host::Capsule(Arc::new(host.capsule()));
        std::fs::remove_dir_all(scratch.path().join("d")).unwrap();
        assert_eq!(asked(&capsule), before);
        assert_eq!(capsule.entry(&scratch.host_path("d/other")), Err(HostError::Unknown));
        assert_eq!(capsule.names(&scratch.host_path("")), Err(HostError::Unknown));
        assert_eq!(capsule.content(&link, &before.4), Err(HostError::Unknown));
        assert_eq!(Host::Capsule(Arc::new(capsule.capsule())).names(&d), before.0);
    }

    #[test]
    fn a_replaced_file_has_other_bytes_and_its_old_name_owner_and_time() {
        let scratch = Scratch::new();
        scratch.file("a", b"as it is");
        scratch.symlink("link", "a");
        scratch.directory("d");
        let path = scratch.host_path("a");
        let mut live = Host::default();
        let before = live.entry(&path).unwrap();
        live.content(&path, &before).unwrap();
        live.entry(&scratch.host_path("link")).unwrap();
        live.follow(&scratch.absolute("link")).unwrap();
        let sealed = Arc::new(live.capsule());
        let content = Arc::new(b"b".to_vec());
        for host in [&mut live, &mut Host::Capsule(sealed.clone())] {
            assert_eq!(host.replace(&scratch.absolute("link"), &content), Ok(()));
            let entry = host.entry(&path).unwrap();
            assert_eq!(entry, HostEntry { size: 1, blocks: 1, ..before.clone() });
            assert!(Arc::ptr_eq(&host.content(&path, &entry).unwrap(), &content));
            assert!(host.replace(&scratch.absolute("none"), &content).is_err());
        }
        assert_eq!(live.replace(&scratch.absolute("d"), &content), Err(Errno::EINVAL));
        assert_eq!(sealed.entries.get(&path), Some(&Ok(before)));
        assert_eq!(std::fs::read(scratch.path().join("a")).unwrap(), b"as it is");
    }

    #[test]
    fn with_a_clone_nothing_that_was_read_is_forgotten() {
        let scratch = Scratch::new();
        scratch.file("a", b"one");
        let path = scratch.host_path("a");
        for has_clone in [false, true] {
            let mut memory = Memory::default();
            let entry = memory.entry(&path).unwrap();
            memory.content(&path, &entry, has_clone).unwrap();
            // As if very much had been read since.
            memory.kept_bytes += KEPT_BYTES;
            scratch.file("b", b"two");
            let other = scratch.host_path("b");
            let seen = memory.entry(&other).unwrap();
            memory.content(&other, &seen, has_clone).unwrap();
            assert_eq!(memory.contents.contains_key(&path), has_clone);
        }
    }
}
