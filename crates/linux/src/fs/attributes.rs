//! What is known about a file besides its bytes: looking at it and changing it.

use super::abi::{S_IFCHR, S_IFIFO, S_IFLNK, S_ISGID, S_ISUID, device_number};
use super::content::MAX_FILE_SIZE;
use super::descriptors::{FileId, Object};
use super::node::{Data, Entry, Inode, Kind};
use super::permission::{EXECUTE, READ, WRITE};
use super::virtual_files::{
    DESCRIPTOR_LINKS, DEVICES_DEVICE, MEMORY_DEVICE, PIPES_DEVICE, PROC_DEVICE, SYS_DEVICE,
};
use super::{At, FileSystem, Follow, Target, Timestamp};
use crate::errno::Errno;

/// The answer to stat, apart from its layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stat {
    pub device: u64,
    pub inode: u64,
    pub mode: u32,
    pub links: u64,
    pub user: u32,
    pub group: u32,
    pub special_device: u64,
    pub size: u64,
    pub block_size: u32,
    pub blocks: u64,
    pub access: Timestamp,
    pub modification: Timestamp,
    pub change: Timestamp,
}

/// The answer to statfs, apart from its layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileSystemStatistics {
    pub magic: u64,
    pub block_size: u64,
    pub blocks: u64,
    pub blocks_free: u64,
    pub files: u64,
    pub files_free: u64,
}

/// One of the two times that utimensat sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetTime {
    Now,
    Keep,
    To(Timestamp),
}

impl FileSystem {
    pub fn stat(&self, target: Target) -> Result<Stat, Errno> {
        match target {
            Target::Node(inode) => self.stat_node(inode),
            Target::File(id) => self.stat_stream(id),
            Target::DescriptorLink(descriptor) => Ok(Stat {
                device: PROC_DEVICE,
                inode: DESCRIPTOR_LINKS + u64::from(descriptor.unsigned_abs()),
                mode: S_IFLNK | 0o700,
                links: 1,
                user: self.credentials.user,
                group: self.credentials.group,
                size: 64,
                block_size: 1024,
                ..Stat::default()
            }),
        }
    }

    pub fn stat_descriptor(&self, descriptor: i32) -> Result<Stat, Errno> {
        self.stat(self.target_of_descriptor(descriptor)?)
    }

    /// The text of a symbolic link.
    pub fn read_link(&mut self, at: At<'_>, allow_empty: bool) -> Result<Vec<u8>, Errno> {
        match self.locate(at, Follow::No, allow_empty)? {
            Target::Node(inode) => match self.link_text(inode)? {
                Some(text) => Ok(text),
                None if at.path.is_empty() => Err(Errno::ENOENT),
                None => Err(Errno::EINVAL),
            },
            Target::File(_) => Err(Errno::EINVAL),
            Target::DescriptorLink(descriptor) => self.describe_descriptor(descriptor),
        }
    }

    /// Whether the wanted accesses (4 read, 2 write, 1 execute) are granted.
    pub fn access(&self, target: Target, wanted: u32) -> Result<(), Errno> {
        if wanted & !(READ | WRITE | EXECUTE) != 0 {
            return Err(Errno::EINVAL);
        }
        match target {
            Target::Node(inode) => self.require(inode, wanted),
            Target::File(_) | Target::DescriptorLink(_) if wanted & EXECUTE != 0 => Err(Errno::EACCES),
            Target::File(_) | Target::DescriptorLink(_) => Ok(()),
        }
    }

    pub fn change_mode(&mut self, target: Target, mode: u32, now: Timestamp) -> Result<(), Errno> {
        let Some(inode) = node_of(target)? else { return Ok(()) };
        self.require_owner(inode)?;
        let mut permissions = mode & 0o7777;
        let node = self.tree.node(inode)?;
        if matches!(node.kind, Kind::Symlink(_)) {
            return Err(Errno::EOPNOTSUPP);
        }
        if !self.credentials.is_root() && !self.credentials.in_group(node.group) {
            permissions &= !S_ISGID;
        }
        let node = self.tree.node_mut(inode)?;
        node.permissions = permissions;
        node.change = now;
        node.changed = true;
        Ok(())
    }

    /// Sets owner and group; `None` leaves one as it is.
    pub fn change_owner(
        &mut self,
        target: Target,
        user: Option<u32>,
        group: Option<u32>,
        now: Timestamp,
    ) -> Result<(), Errno> {
        let Some(inode) = node_of(target)? else { return Ok(()) };
        let node = self.tree.node(inode)?;
        if !self.credentials.is_root() {
            let same_user = user.is_none_or(|user| user == node.user);
            let own_group = group.is_none_or(|group| self.credentials.in_group(group));
            if !(self.credentials.user == node.user && same_user && own_group) {
                return Err(Errno::EPERM);
            }
        }
        let node = self.tree.node_mut(inode)?;
        node.user = user.unwrap_or(node.user);
        node.group = group.unwrap_or(node.group);
        if !node.is_directory() && (user.is_some() || group.is_some()) {
            clear_set_id(&mut node.permissions);
        }
        node.change = now;
        node.changed = true;
        Ok(())
    }

    pub fn set_times(
        &mut self,
        target: Target,
        access: SetTime,
        modification: SetTime,
        now: Timestamp,
    ) -> Result<(), Errno> {
        let Some(inode) = node_of(target)? else { return Ok(()) };
        if access == SetTime::Keep && modification == SetTime::Keep {
            return Ok(());
        }
        if access == SetTime::Now && modification == SetTime::Now {
            if !self.credentials.owns(self.tree.node(inode)?) {
                self.require(inode, WRITE)?;
            }
        } else {
            self.require_owner(inode)?;
        }
        let node = self.tree.node_mut(inode)?;
        apply_time(&mut node.access, access, now);
        apply_time(&mut node.modification, modification, now);
        node.change = now;
        node.changed = true;
        Ok(())
    }

    pub fn truncate(&mut self, at: At<'_>, length: u64, now: Timestamp) -> Result<(), Errno> {
        let inode = self.locate_node(at, Follow::Yes)?;
        if self.tree.node(inode)?.is_directory() {
            return Err(Errno::EISDIR);
        }
        if !matches!(self.tree.node(inode)?.kind, Kind::File(_)) {
            return Err(Errno::EINVAL);
        }
        self.require(inode, WRITE)?;
        self.truncate_node(inode, length, now)
    }

    pub fn truncate_descriptor(&mut self, descriptor: i32, length: u64, now: Timestamp) -> Result<(), Errno> {
        let inode = self.writable_file(descriptor, Errno::EINVAL)?;
        self.truncate_node(inode, length, now)
    }

    /// Makes sure that a range of a file exists; with `keep_size` its length stays.
    pub fn allocate(
        &mut self,
        descriptor: i32,
        offset: u64,
        length: u64,
        keep_size: bool,
        now: Timestamp,
    ) -> Result<(), Errno> {
        let inode = self.writable_file(descriptor, Errno::EBADF)?;
        let end = offset.checked_add(length).filter(|end| *end <= MAX_FILE_SIZE).ok_or(Errno::EFBIG)?;
        if !keep_size && end > self.tree.node(inode)?.size() {
            self.truncate_node(inode, end, now)?;
        }
        Ok(())
    }

    pub fn statistics(&self, target: Target) -> Result<FileSystemStatistics, Errno> {
        let magic = match self.stat(target)?.device {
            PROC_DEVICE => 0x9fa0,
            SYS_DEVICE => 0x6265_6572,
            DEVICES_DEVICE | MEMORY_DEVICE => 0x0102_1994,
            PIPES_DEVICE => 0x5049_5045,
            _ => 0xef53,
        };
        let is_disk = matches!(magic, 0xef53 | 0x0102_1994);
        let (blocks, files) = if is_disk { (1 << 28, 1 << 24) } else { (0, 0) };
        Ok(FileSystemStatistics {
            magic,
            block_size: 4096,
            blocks,
            blocks_free: blocks / 2,
            files,
            files_free: files / 2,
        })
    }

    pub(super) fn truncate_node(&mut self, inode: Inode, length: u64, now: Timestamp) -> Result<(), Errno> {
        if length > MAX_FILE_SIZE {
            return Err(Errno::EFBIG);
        }
        let content = match length {
            // What is cut off whole need not be read first.
            0 => {
                let node = self.tree.node_mut(inode)?;
                if let Kind::File(data @ Data::Unread) = &mut node.kind {
                    *data = Data::Resident(Default::default());
                }
                self.tree.content_mut(inode)?
            }
            _ => self.tree.content_mut(inode)?,
        };
        let before = content.memory();
        content.truncate(length);
        let after = content.memory();
        self.tree.refund(before.saturating_sub(after));
        self.mark_written(inode, now)
    }

    pub(super) fn mark_written(&mut self, inode: Inode, now: Timestamp) -> Result<(), Errno> {
        let is_root = self.credentials.is_root();
        let node = self.tree.node_mut(inode)?;
        node.modification = now;
        node.change = now;
        node.changed = true;
        if !is_root {
            clear_set_id(&mut node.permissions);
        }
        Ok(())
    }

    /// The regular file behind a descriptor that is open for writing.
    fn writable_file(&self, descriptor: i32, not_writable: Errno) -> Result<Inode, Errno> {
        let (_, file) = self.file(descriptor)?;
        if file.flags & super::abi::O_PATH != 0 {
            return Err(Errno::EBADF);
        }
        if !file.writable() {
            return Err(not_writable);
        }
        match file.object {
            Object::Node(inode) if matches!(self.tree.node(inode)?.kind, Kind::File(_)) => Ok(inode),
            Object::PipeReader(_) | Object::PipeWriter(_) if not_writable == Errno::EBADF => {
                Err(Errno::ESPIPE)
            }
            _ => Err(Errno::EINVAL),
        }
    }

    fn stat_node(&self, inode: Inode) -> Result<Stat, Errno> {
        let node = self.tree.node(inode)?;
        Ok(Stat {
            device: node.device,
            inode: inode.0,
            mode: node.mode(),
            links: node.links,
            user: node.user,
            group: node.group,
            special_device: node.special_device(),
            size: node.size(),
            block_size: 4096,
            blocks: node.blocks(),
            access: node.access,
            modification: node.modification,
            change: node.change,
        })
    }

    fn stat_stream(&self, id: FileId) -> Result<Stat, Errno> {
        let file = self.files.get(&id).ok_or(Errno::EBADF)?;
        // Standard streams have the numbers that no pipe of the guest has.
        let number = match &file.object {
            Object::PipeReader(pipe) | Object::PipeWriter(pipe) => 16 + pipe.0,
            Object::Input => 1,
            Object::Output(stream) => 2 + *stream as u64,
            Object::Node(inode) | Object::Generated { inode, .. } => return self.stat_node(*inode),
        };
        let is_pipe = matches!(file.object, Object::PipeReader(_) | Object::PipeWriter(_));
        let common =
            Stat { links: 1, user: self.credentials.user, group: self.credentials.group, ..Stat::default() };
        Ok(match self.terminal && !is_pipe {
            true => Stat {
                device: device_number(0, 24),
                inode: 3,
                mode: S_IFCHR | 0o620,
                special_device: device_number(136, 0),
                block_size: 1024,
                ..common
            },
            false => Stat {
                device: PIPES_DEVICE,
                inode: number,
                mode: S_IFIFO | 0o600,
                block_size: 4096,
                ..common
            },
        })
    }

    /// The text of a link in /proc/self/fd.
    pub(super) fn describe_descriptor(&self, descriptor: i32) -> Result<Vec<u8>, Errno> {
        let target = self.target_of_descriptor(descriptor)?;
        let Target::Node(inode) = target else {
            let stat = self.stat(target)?;
            return Ok(match stat.mode & S_IFCHR == S_IFCHR {
                true => b"/dev/pts/0".to_vec(),
                false => format!("pipe:[{}]", stat.inode).into_bytes(),
            });
        };
        match self.tree.path_of_directory(inode) {
            Err(Errno::ENOTDIR) => self.path_of_file(descriptor, inode),
            other => other,
        }
    }

    /// The path by which a file was opened, as far as it still leads there.
    fn path_of_file(&self, descriptor: i32, inode: Inode) -> Result<Vec<u8>, Errno> {
        let Some((directory, name)) = &self.file(descriptor)?.1.opened_as else {
            return Ok(format!("/memfd:{} (deleted)", inode.0).into_bytes());
        };
        let mut path = match self.tree.path_of_directory(*directory) {
            Err(Errno::ENAMETOOLONG) => return Err(Errno::ENAMETOOLONG),
            path => path.unwrap_or_default(),
        };
        if path != b"/" {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        let parent = self.tree.node(*directory).ok().and_then(|node| node.directory());
        if parent.and_then(|parent| parent.entries.get(name)) != Some(&Entry::Node(inode)) {
            path.extend_from_slice(b" (deleted)");
        }
        Ok(path)
    }
}

fn node_of(target: Target) -> Result<Option<Inode>, Errno> {
    match target {
        Target::Node(inode) => Ok(Some(inode)),
        // Attributes of pipes and streams can be set and nobody sees them.
        Target::File(_) => Ok(None),
        Target::DescriptorLink(_) => Err(Errno::EOPNOTSUPP),
    }
}

fn clear_set_id(permissions: &mut u32) {
    *permissions &= !S_ISUID;
    // Without the group's execute bit the flag once meant mandatory locking, and stays.
    if *permissions & 0o010 != 0 {
        *permissions &= !S_ISGID;
    }
}

fn apply_time(time: &mut Timestamp, set: SetTime, now: Timestamp) {
    match set {
        SetTime::Now => *time = now,
        SetTime::Keep => {}
        SetTime::To(value) => *time = value,
    }
}
