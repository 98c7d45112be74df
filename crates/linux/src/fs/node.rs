//! One file of the guest's world: what it is, who owns it, when it changed.
//!
//! A node is an identity. Names point at nodes, open files point at nodes; a rename moves a name and an unlink
//! drops one, and neither touches the node that somebody has open.

use std::sync::Arc;

use super::abi::{S_IFCHR, S_IFDIR, S_IFLNK, S_IFREG};
use super::content::Content;
use super::host::{HostEntry, HostPath};
use super::{Map, Name, Timestamp};

/// The number of a node, as the guest sees it in `st_ino`. Numbers are given out in the order of first sight, so
/// they depend on what the guest does and not on the host's disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Inode(pub u64);

#[derive(Clone)]
pub struct Node {
    pub kind: Kind,
    /// The lower twelve bits of the mode.
    pub permissions: u32,
    pub user: u32,
    pub group: u32,
    pub links: u64,
    pub device: u64,
    pub access: Timestamp,
    pub modification: Timestamp,
    pub change: Timestamp,
    /// Where it came from and what it was there; none for what the guest made.
    pub origin: Option<Arc<Origin>>,
    /// Content or attributes are no longer those of the origin.
    pub changed: bool,
    /// Open files, working directories and the like that keep it alive without a name.
    pub holders: u32,
    /// It was opened without a name (O_TMPFILE) and may be given one.
    pub linkable: bool,
}

#[derive(Debug)]
pub struct Origin {
    pub path: HostPath,
    pub entry: HostEntry,
}

#[derive(Clone)]
pub enum Kind {
    File(Data),
    Directory(Directory),
    Symlink(Arc<[u8]>),
    Device(Device),
    /// Text that is made when it is opened.
    Generated(Generated),
    /// `/proc/self/fd`: its names are the open descriptors.
    DescriptorDirectory(Directory),
    /// A FIFO, socket or device of the host. It can be looked at, not opened.
    Foreign {
        file_type: u32,
        special_device: u64,
    },
}

#[derive(Clone)]
pub enum Data {
    /// As on the host, and not read yet (or read and let go again).
    Unread,
    Resident(Content),
}

#[derive(Clone)]
pub struct Directory {
    pub parent: Inode,
    /// Its own name there. A directory has one name only.
    pub name: Name,
    /// The directory of the host that shows through.
    pub lower: Option<HostPath>,
    pub entries: Map<Name, Entry>,
    /// No names can be added or removed (`/proc` and `/sys`).
    pub sealed: bool,
}

/// What the overlay knows of one name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    Node(Inode),
    /// The host has the name, or may have it, and the guest took it away.
    Whiteout,
}

/// The device files that the guest finds in `/dev`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Device {
    Null,
    Zero,
    Full,
    Random,
    Urandom,
    /// There is no controlling terminal: it cannot be opened.
    Terminal,
}

/// Files of `/proc` whose text depends on the state of the process. The kernel supplies it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ProcessFile {
    CommandLine,
    Environment,
    Maps,
    Status,
    Stat,
    Statm,
    Comm,
    Limits,
    AuxiliaryVector,
}

#[derive(Clone)]
pub enum Generated {
    Process(ProcessFile),
    Fixed(Arc<Vec<u8>>),
    /// `/proc/self/exe`, a link.
    Executable,
    /// `/proc/self/cwd`, a link.
    WorkingDirectory,
}

impl Directory {
    pub fn new(parent: Inode, name: Name) -> Directory {
        Directory { parent, name, lower: None, entries: Map::default(), sealed: false }
    }
}

impl Device {
    pub fn number(self) -> u64 {
        use super::abi::device_number;
        match self {
            Device::Null => device_number(1, 3),
            Device::Zero => device_number(1, 5),
            Device::Full => device_number(1, 7),
            Device::Random => device_number(1, 8),
            Device::Urandom => device_number(1, 9),
            Device::Terminal => device_number(5, 0),
        }
    }
}

impl Node {
    /// A node that the guest makes.
    pub fn new(kind: Kind, permissions: u32, user: u32, group: u32, device: u64, now: Timestamp) -> Node {
        let links = if matches!(kind, Kind::Directory(_)) { 2 } else { 1 };
        Node {
            kind,
            permissions,
            user,
            group,
            links,
            device,
            access: now,
            modification: now,
            change: now,
            origin: None,
            changed: true,
            holders: 0,
            linkable: false,
        }
    }

    /// The type bits of the mode.
    pub fn file_type(&self) -> u32 {
        match &self.kind {
            Kind::File(_) => S_IFREG,
            Kind::Directory(_) | Kind::DescriptorDirectory(_) => S_IFDIR,
            Kind::Symlink(_) => S_IFLNK,
            Kind::Device(_) => S_IFCHR,
            Kind::Generated(Generated::Executable | Generated::WorkingDirectory) => S_IFLNK,
            Kind::Generated(_) => S_IFREG,
            Kind::Foreign { file_type, .. } => *file_type,
        }
    }

    pub fn mode(&self) -> u32 {
        self.file_type() | self.permissions
    }

    pub fn is_directory(&self) -> bool {
        self.directory().is_some()
    }

    pub fn directory(&self) -> Option<&Directory> {
        match &self.kind {
            Kind::Directory(directory) | Kind::DescriptorDirectory(directory) => Some(directory),
            _ => None,
        }
    }

    pub fn directory_mut(&mut self) -> Option<&mut Directory> {
        match &mut self.kind {
            Kind::Directory(directory) | Kind::DescriptorDirectory(directory) => Some(directory),
            _ => None,
        }
    }

    pub fn size(&self) -> u64 {
        match &self.kind {
            Kind::File(Data::Resident(content)) => content.len(),
            Kind::Symlink(target) => target.len() as u64,
            Kind::File(Data::Unread) | Kind::Directory(_) => {
                self.origin.as_ref().map_or(4096, |origin| origin.entry.size)
            }
            Kind::DescriptorDirectory(_) | Kind::Device(_) | Kind::Generated(_) | Kind::Foreign { .. } => 0,
        }
    }

    /// Blocks of 512 bytes on disk: the host's own figure as long as the file is the host's.
    pub fn blocks(&self) -> u64 {
        match (&self.kind, &self.origin) {
            (Kind::File(_), Some(origin)) if self.size() == origin.entry.size => origin.entry.blocks,
            (Kind::File(_), _) => self.size().div_ceil(4096).saturating_mul(8),
            (_, Some(origin)) => origin.entry.blocks,
            (Kind::Directory(directory), None) if !directory.sealed => 8,
            _ => 0,
        }
    }

    pub fn special_device(&self) -> u64 {
        match &self.kind {
            Kind::Device(device) => device.number(),
            Kind::Foreign { special_device, .. } => *special_device,
            _ => 0,
        }
    }
}
