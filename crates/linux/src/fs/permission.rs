//! Who may do what: the owner, group and others bits, the sticky bit, and root's privileges.

use std::sync::Arc;

use super::FileSystem;
use super::abi::{S_ISGID, S_ISVTX};
use super::node::{Inode, Node};
use crate::errno::Errno;

pub const READ: u32 = 4;
pub const WRITE: u32 = 2;
pub const EXECUTE: u32 = 1;

/// As whom the guest runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    pub user: u32,
    pub group: u32,
    pub groups: Arc<[u32]>,
}

impl Credentials {
    pub fn is_root(&self) -> bool {
        self.user == 0
    }

    pub fn in_group(&self, group: u32) -> bool {
        self.group == group || self.groups.contains(&group)
    }

    pub fn owns(&self, node: &Node) -> bool {
        self.is_root() || self.user == node.user
    }

    /// Whether all of the wanted accesses (READ, WRITE, EXECUTE) are granted.
    pub fn may(&self, node: &Node, wanted: u32) -> bool {
        if self.is_root() {
            // Root may do all but execute what nobody may execute.
            return wanted & EXECUTE == 0 || node.is_directory() || node.permissions & 0o111 != 0;
        }
        let shift = match () {
            () if self.user == node.user => 6,
            () if self.in_group(node.group) => 3,
            () => 0,
        };
        (node.permissions >> shift) & wanted == wanted
    }
}

impl FileSystem {
    pub(super) fn require(&self, inode: Inode, wanted: u32) -> Result<(), Errno> {
        match self.credentials.may(self.tree.node(inode)?, wanted) {
            true => Ok(()),
            false => Err(Errno::EACCES),
        }
    }

    pub(super) fn require_owner(&self, inode: Inode) -> Result<(), Errno> {
        match self.credentials.owns(self.tree.node(inode)?) {
            true => Ok(()),
            false => Err(Errno::EPERM),
        }
    }

    /// Whether a name may be added to a directory.
    pub(super) fn may_create(&self, directory: Inode) -> Result<(), Errno> {
        let node = self.tree.node(directory)?;
        if node.links == 0 {
            return Err(Errno::ENOENT);
        }
        if node.directory().is_some_and(|directory| directory.sealed) {
            return Err(Errno::EACCES);
        }
        self.require(directory, WRITE | EXECUTE)
    }

    /// Whether the name of `victim` may be taken out of a directory.
    pub(super) fn may_delete(&self, directory: Inode, victim: Inode) -> Result<(), Errno> {
        let parent = self.tree.node(directory)?;
        self.require(directory, WRITE | EXECUTE)?;
        if parent.directory().is_some_and(|directory| directory.sealed) {
            return Err(Errno::EPERM);
        }
        let victim = self.tree.node(victim)?;
        let sticky = parent.permissions & S_ISVTX != 0;
        if sticky && !self.credentials.owns(parent) && !self.credentials.owns(victim) {
            return Err(Errno::EPERM);
        }
        Ok(())
    }

    /// The group of a new file: that of a set-group-id directory, else the guest's own.
    pub(super) fn group_for_new(&self, directory: &Node) -> u32 {
        match directory.permissions & S_ISGID != 0 {
            true => directory.group,
            false => self.credentials.group,
        }
    }
}
