//! The guest's file world: the host's files seen through an overlay in memory, and the descriptors onto it.
//!
//! The guest reads what the host has. Whatever it changes lives here and dies with the run; no host file is ever
//! opened for writing. All of it is made of persistent maps, so a clone of the whole world costs a few reference
//! counts. It knows nothing of the machine: the system calls in `crate::syscalls` move the bytes.
//!
//! From below: `host` asks the host and remembers; `tree` lays nodes (`node`, `content`) over it; `resolve` walks
//! paths; `namespace`, `attributes`, `open`, `transfer` are the operations; `descriptors` and `pipe` are what a
//! process holds; `input` is standard input; `virtual_files` is /dev, /proc and /sys; `export` lists what a run has changed.

pub mod abi;
mod attributes;
mod content;
mod descriptors;
mod export;
mod hash;
mod host;
mod input;
mod mapping;
mod namespace;
mod node;
mod open;
mod permission;
mod pipe;
mod random;
mod readiness;
mod resolve;
#[cfg(test)]
pub(crate) mod tests;
mod transfer;
mod tree;
mod virtual_files;

use std::sync::Arc;

pub use attributes::{FileSystemStatistics, SetTime, Stat};
pub use descriptors::{MAX_DESCRIPTORS, Stream};
pub use export::{Change, ChangeKind};
pub use host::{Attachment, Capsule, Host, HostEntry, HostPath};
pub use input::{InputFile, Pieces};
pub use mapping::FileMapping;
pub use node::{Inode, ProcessFile};
pub use open::ProcessText;
pub use permission::Credentials;
pub use pipe::PipeId;
pub use random::RandomStream;
pub use readiness::Readiness;
pub use resolve::{At, Follow, Target};
pub use transfer::{DirectoryEntry, IoError, Written};
pub use virtual_files::{KERNEL_RELEASE, KERNEL_VERSION};

use crate::errno::Errno;
use descriptors::{Descriptor, FileId, OpenFile};
use input::Input;
use pipe::Pipe;
use tree::Tree;

/// The persistent map that all state is made of: clones in constant time, iterates in order.
type Map<K, V> = rpds::RedBlackTreeMapSync<K, V>;

/// One component of a path. Never empty, never with a slash, never `.` or `..`.
pub type Name = Arc<[u8]>;

/// A time of the virtual clock, or of a file of the host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp {
    pub seconds: i64,
    pub nanoseconds: u32,
}

/// What standard input, output and error look like to the guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StandardStreams {
    /// All three are pipes.
    #[default]
    Pipes,
    /// Standard input is a regular file that can be sought in; the others are pipes.
    FileInput,
    /// All three are one terminal.
    Terminal,
}

/// With what the world begins.
#[derive(Clone, Debug)]
pub struct Setup {
    pub credentials: Credentials,
    /// Absolute path of the working directory.
    pub working_directory: Vec<u8>,
    pub process: u32,
    /// What of standard input is there from the beginning.
    pub standard_input: Arc<Vec<u8>>,
    /// More of it will be fed when the guest asks; not if it is a file.
    pub input_open: bool,
    pub input_pieces: Pieces,
    /// Standard input is this file instead.
    pub input_file: Option<InputFile>,
    pub streams: StandardStreams,
    /// Bytes that the guest's changes may take.
    pub overlay_limit: u64,
    /// Bytes of main memory that /proc/meminfo tells of.
    pub memory_total: u64,
    pub now: Timestamp,
    /// Whose files the guest sees.
    pub host: Host,
}

/// The whole of it; a clone is a snapshot.
#[derive(Clone)]
pub struct FileSystem {
    tree: Tree,
    descriptors: Map<i32, Descriptor>,
    files: Map<FileId, OpenFile>,
    /// Descriptors are below this; the guest can lower it.
    descriptor_limit: i32,
    next_file: u64,
    pipes: Map<PipeId, Pipe>,
    next_pipe: u64,
    working_directory: Inode,
    umask: u32,
    credentials: Credentials,
    random: RandomStream,
    executable: Arc<[u8]>,
    terminal: bool,
    input: Input,
}

impl FileSystem {
    pub fn new(setup: &Setup) -> Result<FileSystem, Errno> {
        let tree = Tree::new(setup.host.clone(), setup.overlay_limit)?;
        let mut files = FileSystem {
            working_directory: tree.root,
            tree,
            descriptors: Map::default(),
            files: Map::default(),
            descriptor_limit: MAX_DESCRIPTORS,
            next_file: 1,
            pipes: Map::default(),
            next_pipe: 1,
            umask: 0o022,
            credentials: setup.credentials.clone(),
            random: RandomStream::of_devices(),
            executable: Arc::from(&b""[..]),
            terminal: setup.streams == StandardStreams::Terminal,
            input: Input::new(setup.standard_input.clone(), setup.input_open, setup.input_pieces),
        };
        files.tree.hold(files.working_directory)?;
        files.install_virtual_files(setup)?;
        files.change_directory(At::working_directory(&setup.working_directory))?;
        files.open_standard_streams(setup)?;
        Ok(files)
    }

    /// Obeys a limit on descriptors, up to the most that there can be.
    pub fn limit_descriptors(&mut self, limit: u64) {
        self.descriptor_limit = limit.min(MAX_DESCRIPTORS as u64) as i32;
    }

    /// Where /proc/self/exe leads: the absolute path of the program that runs.
    pub fn set_executable(&mut self, path: &[u8]) {
        self.executable = path.into();
    }

    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    pub fn set_credentials(&mut self, credentials: Credentials) {
        self.credentials = credentials;
    }

    /// Sets the mask for new files and returns the one before.
    pub fn set_umask(&mut self, mask: u32) -> u32 {
        std::mem::replace(&mut self.umask, mask & 0o777)
    }

    pub fn umask(&self) -> u32 {
        self.umask
    }

    /// What the run has seen of its host so far. It is complete if the run had a clone from its beginning on.
    pub fn capsule(&self) -> Capsule {
        self.tree.host().capsule()
    }

    /// The capsule that stands in for the host, if one does.
    pub fn sealed(&self) -> Option<&Arc<Capsule>> {
        match self.tree.host() {
            Host::Live(_) => None,
            Host::Capsule(capsule) => Some(capsule),
        }
    }

    /// Paths of the host that were asked about since the last time and that the capsule does not know.
    pub fn take_unknown(&mut self) -> Vec<HostPath> {
        self.tree.take_unknown()
    }

    /// Where on the host a file came from; `None` for one that the guest made.
    pub fn host_path(&self, inode: Inode) -> Option<&[u8]> {
        let origin = self.tree.node(inode).ok()?.origin.as_deref()?;
        Some(&origin.path)
    }

    /// Bytes of a file as it was on the host; `None` when the guest has changed it.
    pub fn original_bytes(&mut self, inode: Inode, offset: u64, count: usize) -> Option<Vec<u8>> {
        let node = self.tree.node(inode).ok()?;
        if node.changed || node.origin.is_none() {
            return None;
        }
        Some(self.tree.content(inode).ok()?.read(offset, count))
    }

    /// Bytes that the guest's changes take.
    pub fn overlay_bytes(&self) -> u64 {
        self.tree.used()
    }
}
