//! Operations on names: making, linking, moving and removing them.
//!
//! The order of the checks is that of Linux, because the order decides which error a guest sees.

use super::abi::{
    PATH_MAX, RENAME_EXCHANGE, RENAME_NOREPLACE, S_IFBLK, S_IFCHR, S_IFDIR, S_IFIFO, S_IFMT, S_IFREG,
    S_IFSOCK, S_ISGID, S_ISVTX,
};
use super::node::{Data, Directory, Inode, Kind, Node};
use super::permission::WRITE;
use super::resolve::{Found, Last};
use super::tree::NODE_COST;
use super::{At, FileSystem, Follow, Target, Timestamp};
use crate::errno::Errno;

impl FileSystem {
    pub fn make_directory(&mut self, at: At<'_>, mode: u32, now: Timestamp) -> Result<(), Errno> {
        let found = self.walk_to_new(at, true)?;
        self.may_create(found.parent)?;
        let mut permissions = mode & !self.umask & (0o777 | S_ISVTX);
        if self.tree.node(found.parent)?.permissions & S_ISGID != 0 {
            permissions |= S_ISGID;
        }
        let directory = Directory::new(found.parent, found.name.clone());
        self.create(&found, Kind::Directory(directory), permissions, now)?;
        self.adjust_links(found.parent, 1)
    }

    /// An empty file or a FIFO. Device files would lead out of the sandbox.
    pub fn make_node(&mut self, at: At<'_>, mode: u32, now: Timestamp) -> Result<(), Errno> {
        let kind = match mode & S_IFMT {
            0 | S_IFREG => Kind::File(Data::Resident(Default::default())),
            S_IFIFO => Kind::Foreign { file_type: S_IFIFO, special_device: 0 },
            S_IFDIR | S_IFCHR | S_IFBLK | S_IFSOCK => return Err(Errno::EPERM),
            _ => return Err(Errno::EINVAL),
        };
        let found = self.walk_to_new(at, false)?;
        self.may_create(found.parent)?;
        self.create(&found, kind, mode & !self.umask & 0o7777, now).map(|_| ())
    }

    pub fn make_symlink(&mut self, text: &[u8], at: At<'_>, now: Timestamp) -> Result<(), Errno> {
        if text.is_empty() {
            return Err(Errno::ENOENT);
        }
        if text.len() >= PATH_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        let found = self.walk_to_new(at, false)?;
        self.may_create(found.parent)?;
        self.create(&found, Kind::Symlink(text.into()), 0o777, now).map(|_| ())
    }

    /// A second name for a file. `follow` is about a link at the end of the old path.
    pub fn make_link(
        &mut self,
        old: At<'_>,
        new: At<'_>,
        follow: bool,
        allow_empty: bool,
        now: Timestamp,
    ) -> Result<(), Errno> {
        let follow = if follow { Follow::Yes } else { Follow::No };
        let target = self.locate(old, follow, allow_empty)?;
        let found = self.walk_to_new(new, false)?;
        let Target::Node(inode) = target else { return Err(Errno::EXDEV) };
        let node = self.tree.node(inode)?;
        let device = node.device;
        let is_directory = node.is_directory();
        // A file that was opened without a name may get one; one that lost its last name may not.
        let lost = node.links == 0 && !node.linkable;
        self.may_create(found.parent)?;
        if device != self.tree.node(found.parent)?.device {
            return Err(Errno::EXDEV);
        }
        if is_directory {
            return Err(Errno::EPERM);
        }
        if lost {
            return Err(Errno::ENOENT);
        }
        self.tree.charge(NODE_COST / 4)?;
        self.adjust_links(inode, 1)?;
        self.tree.node_mut(inode)?.change = now;
        self.tree.set_name(found.parent, found.name, inode, now)
    }

    pub fn unlink(&mut self, at: At<'_>, now: Timestamp) -> Result<(), Errno> {
        let found = self.walk(at, Follow::Never)?;
        if found.last != Last::Name {
            return Err(Errno::EISDIR);
        }
        let inode = self.existing(&found)?;
        let is_directory = self.tree.node(inode)?.is_directory();
        if found.slash {
            return Err(if is_directory { Errno::EISDIR } else { Errno::ENOTDIR });
        }
        self.may_delete(found.parent, inode)?;
        if is_directory {
            return Err(Errno::EISDIR);
        }
        self.tree.clear_name(found.parent, &found.name, now)?;
        self.tree.unlink(inode, now);
        Ok(())
    }

    pub fn remove_directory(&mut self, at: At<'_>, now: Timestamp) -> Result<(), Errno> {
        let found = self.walk(at, Follow::Never)?;
        match found.last {
            Last::Name => {}
            Last::Dot => return Err(Errno::EINVAL),
            Last::DotDot => return Err(Errno::ENOTEMPTY),
            Last::Root => return Err(Errno::EBUSY),
        }
        let inode = self.existing(&found)?;
        self.may_delete(found.parent, inode)?;
        if !self.tree.node(inode)?.is_directory() {
            return Err(Errno::ENOTDIR);
        }
        self.require_unmounted(found.parent, inode)?;
        if !self.tree.is_empty(inode)? {
            return Err(Errno::ENOTEMPTY);
        }
        self.tree.clear_name(found.parent, &found.name, now)?;
        self.adjust_links(found.parent, -1)?;
        self.tree.unlink(inode, now);
        Ok(())
    }

    pub fn rename(&mut self, old: At<'_>, new: At<'_>, flags: u32, now: Timestamp) -> Result<(), Errno> {
        let exchange = flags & RENAME_EXCHANGE != 0;
        let no_replace = flags & RENAME_NOREPLACE != 0;
        if flags & !(RENAME_EXCHANGE | RENAME_NOREPLACE) != 0 || exchange && no_replace {
            return Err(Errno::EINVAL);
        }
        let from = self.walk(old, Follow::Never)?;
        let to = self.walk(new, Follow::Never)?;
        if self.tree.node(from.parent)?.device != self.tree.node(to.parent)?.device {
            return Err(Errno::EXDEV);
        }
        if from.last != Last::Name {
            return Err(Errno::EBUSY);
        }
        if to.last != Last::Name {
            return Err(if no_replace { Errno::EEXIST } else { Errno::EBUSY });
        }
        let source = self.existing(&from)?;
        let victim = match to.target {
            Some(_) => Some(self.existing(&to)?),
            None => None,
        };
        if no_replace && victim.is_some() {
            return Err(Errno::EEXIST);
        }
        if exchange {
            let victim = victim.ok_or(Errno::ENOENT)?;
            if to.slash && !self.tree.node(victim)?.is_directory() {
                return Err(Errno::ENOTDIR);
            }
        }
        let is_directory = self.tree.node(source)?.is_directory();
        if !is_directory && (from.slash || !exchange && to.slash) {
            return Err(Errno::ENOTDIR);
        }
        if is_directory && self.tree.is_ancestor(source, to.parent) {
            return Err(Errno::EINVAL);
        }
        if let Some(victim) = victim
            && self.tree.is_ancestor(victim, from.parent)
        {
            return Err(if exchange { Errno::EINVAL } else { Errno::ENOTEMPTY });
        }
        if victim == Some(source) {
            return Ok(());
        }
        self.check_rename(&from, &to, source, victim, exchange)?;
        self.require_unmounted(from.parent, source)?;
        match victim {
            Some(victim) if exchange => {
                self.tree.set_name(from.parent, from.name.clone(), victim, now)?;
                self.move_directory_link(to.parent, from.parent, victim)?;
                self.tree.node_mut(victim)?.change = now;
            }
            Some(victim) => {
                self.require_unmounted(to.parent, victim)?;
                if is_directory && !self.tree.is_empty(victim)? {
                    return Err(Errno::ENOTEMPTY);
                }
                self.tree.clear_name(from.parent, &from.name, now)?;
                if is_directory {
                    self.adjust_links(to.parent, -1)?;
                }
                self.tree.unlink(victim, now);
            }
            None => self.tree.clear_name(from.parent, &from.name, now)?,
        }
        self.tree.set_name(to.parent, to.name.clone(), source, now)?;
        self.move_directory_link(from.parent, to.parent, source)?;
        self.tree.node_mut(source)?.change = now;
        Ok(())
    }

    /// The permissions that a rename needs, and that directories only replace directories.
    fn check_rename(
        &self,
        from: &Found,
        to: &Found,
        source: Inode,
        victim: Option<Inode>,
        exchange: bool,
    ) -> Result<(), Errno> {
        let is_directory = self.tree.node(source)?.is_directory();
        self.may_delete(from.parent, source)?;
        match victim {
            None => self.may_create(to.parent)?,
            Some(victim) => {
                self.may_delete(to.parent, victim)?;
                match (is_directory, self.tree.node(victim)?.is_directory()) {
                    (true, false) if !exchange => return Err(Errno::ENOTDIR),
                    (false, true) if !exchange => return Err(Errno::EISDIR),
                    _ => {}
                }
            }
        }
        if from.parent != to.parent {
            // The `..` of a moved directory changes, which is a write to it.
            if is_directory {
                self.require(source, WRITE)?;
            }
            if let Some(victim) = victim.filter(|_| exchange)
                && self.tree.node(victim)?.is_directory()
            {
                self.require(victim, WRITE)?;
            }
        }
        Ok(())
    }

    /// The parent and the name for something new; `directory` says whether a slash may follow.
    pub(super) fn walk_to_new(&mut self, at: At<'_>, directory: bool) -> Result<Found, Errno> {
        let found = self.walk(at, Follow::Never)?;
        if found.last != Last::Name || found.target.is_some() {
            return Err(Errno::EEXIST);
        }
        if found.slash && !directory {
            return Err(Errno::ENOENT);
        }
        Ok(found)
    }

    /// Makes a node and gives it the name that was found free.
    pub(super) fn create(
        &mut self,
        found: &Found,
        kind: Kind,
        permissions: u32,
        now: Timestamp,
    ) -> Result<Inode, Errno> {
        let parent = self.tree.node(found.parent)?;
        let (group, device) = (self.group_for_new(parent), parent.device);
        let inode = self.tree.add(Node::new(kind, permissions, self.credentials.user, group, device, now))?;
        self.tree.set_name(found.parent, found.name.clone(), inode, now)?;
        Ok(inode)
    }

    pub(super) fn create_file(&mut self, found: &Found, mode: u32, now: Timestamp) -> Result<Inode, Errno> {
        let permissions = mode & !self.umask & 0o7777;
        self.create(found, Kind::File(Data::Resident(Default::default())), permissions, now)
    }

    fn existing(&self, found: &Found) -> Result<Inode, Errno> {
        match found.target {
            Some(Target::Node(inode)) => Ok(inode),
            Some(Target::File(_) | Target::DescriptorLink(_)) => Err(Errno::EPERM),
            None => Err(Errno::ENOENT),
        }
    }

    /// The roots of /dev, /proc and /sys are mount points and stay where they are.
    fn require_unmounted(&self, parent: Inode, inode: Inode) -> Result<(), Errno> {
        match self.tree.node(parent)?.device == self.tree.node(inode)?.device {
            true => Ok(()),
            false => Err(Errno::EBUSY),
        }
    }

    fn move_directory_link(&mut self, from: Inode, to: Inode, moved: Inode) -> Result<(), Errno> {
        if from != to && self.tree.node(moved)?.is_directory() {
            self.adjust_links(from, -1)?;
            self.adjust_links(to, 1)?;
        }
        Ok(())
    }

    fn adjust_links(&mut self, inode: Inode, by: i64) -> Result<(), Errno> {
        let node = self.tree.node_mut(inode)?;
        // Some file systems do not count subdirectories and say 1; then it stays 1.
        if !(node.is_directory() && node.links <= 1) {
            node.links = node.links.saturating_add_signed(by);
        }
        Ok(())
    }
}
