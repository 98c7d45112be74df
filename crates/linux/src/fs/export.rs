//! What a run has changed, as a list: for `--write-back`, and for looking at.

use std::sync::Arc;

use super::abi::PATH_MAX;
use super::host::{self, HostPath};
use super::node::{Entry, Inode, Kind, Node};
use super::virtual_files::{DEVICES_DEVICE, PROC_DEVICE, SYS_DEVICE};
use super::{FileSystem, Timestamp};
use crate::errno::Errno;

/// One path whose state at the end of the run is not what the host has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The components from the root on. None is empty, `.` or `..`, and none has a slash or a zero byte, so they
    /// can be joined below any directory.
    pub path: Vec<Vec<u8>>,
    pub kind: ChangeKind,
    /// The host has something at this path.
    pub existed: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    File { content: Arc<Vec<u8>>, permissions: u32, modification: Timestamp },
    Directory { permissions: u32 },
    Symlink { target: Arc<[u8]> },
    Removed,
}

/// An export may take so many bytes of our memory, all files together.
const LARGEST_EXPORT: u64 = 2 << 30;

/// A path that differs from the host's, before its content is looked at.
struct Changed {
    path: Vec<Vec<u8>>,
    /// None for one that was removed.
    inode: Option<Inode>,
    existed: bool,
    size: u64,
}

impl FileSystem {
    /// All changes, each directory before what is in it. More than fits into our memory is ENOMEM, a path that no
    /// system call could name is ENAMETOOLONG.
    pub fn changed_files(&mut self) -> Result<Vec<Change>, Errno> {
        let mut changes = Vec::new();
        let mut changed = self.changed_paths()?;
        changed.sort_by(|a, b| a.path.cmp(&b.path));
        let sizes = changed.iter().map(|changed| changed.size);
        if sizes.fold(0, u64::saturating_add) > LARGEST_EXPORT {
            return Err(Errno::ENOMEM);
        }
        for Changed { path, inode, existed, .. } in changed {
            let kind = match inode {
                Some(inode) => self.describe_change(inode)?,
                None => Some(ChangeKind::Removed),
            };
            changes.extend(kind.map(|kind| Change { path, kind, existed }));
        }
        Ok(changes)
    }

    fn changed_paths(&mut self) -> Result<Vec<Changed>, Errno> {
        let mut changed = Vec::new();
        // Not recursive: a guest can nest directories deeper than our stack.
        let mut pending = vec![(Vec::new(), self.tree.root, false)];
        while let Some((path, directory, everything)) = pending.pop() {
            for (name, entry) in self.entries_of_interest(directory, everything)? {
                let mut path: Vec<Vec<u8>> = path.clone();
                path.push(name.to_vec());
                let host_path = host_path_of(&path);
                if host_path.len() >= PATH_MAX {
                    return Err(Errno::ENAMETOOLONG);
                }
                let existed = self.tree.host_entry(&host_path).is_some();
                let Entry::Node(inode) = entry else {
                    if existed {
                        changed.push(Changed { path, inode: None, existed, size: 0 });
                    }
                    continue;
                };
                let node = self.tree.node(inode)?;
                if matches!(node.device, DEVICES_DEVICE | PROC_DEVICE | SYS_DEVICE) {
                    continue;
                }
                let moved = node.origin.as_ref().is_none_or(|origin| origin.path != host_path);
                if moved || node.changed {
                    let size = if node.is_directory() { 0 } else { node.size() };
                    changed.push(Changed { path: path.clone(), inode: Some(inode), existed, size });
                }
                if node.is_directory() {
                    pending.push((path, inode, moved));
                }
            }
        }
        Ok(changed)
    }

    /// In a directory that is where the host has it only what the overlay knows; in a moved one all that is there.
    fn entries_of_interest(
        &mut self,
        directory: Inode,
        everything: bool,
    ) -> Result<Vec<(super::Name, Entry)>, Errno> {
        if everything {
            let children = self.tree.children(directory)?;
            return Ok(children.into_iter().map(|(name, inode)| (name, Entry::Node(inode))).collect());
        }
        let listing = self.tree.node(directory)?.directory().ok_or(Errno::ENOTDIR)?;
        Ok(listing.entries.iter().map(|(name, entry)| (name.clone(), *entry)).collect())
    }

    fn describe_change(&mut self, inode: Inode) -> Result<Option<ChangeKind>, Errno> {
        let Node { permissions, modification, .. } = *self.tree.node(inode)?;
        Ok(match &self.tree.node(inode)?.kind {
            Kind::File(_) => {
                let content = self.tree.content(inode)?.contiguous()?;
                Some(ChangeKind::File { content, permissions, modification })
            }
            Kind::Directory(_) => Some(ChangeKind::Directory { permissions }),
            Kind::Symlink(target) => Some(ChangeKind::Symlink { target: target.clone() }),
            _ => None,
        })
    }
}

fn host_path_of(path: &[Vec<u8>]) -> HostPath {
    path.iter().fold(HostPath::from(&b"/"[..]), |path, name| host::join(&path, name))
}
