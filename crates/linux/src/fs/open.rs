//! Opening files.

use std::sync::Arc;

use super::abi::{
    O_ACCMODE, O_CLOEXEC, O_CREAT, O_DIRECTORY, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_PATH, O_RDONLY,
    O_TMPFILE_BIT, O_TRUNC, O_WRONLY,
};
use super::descriptors::{FileId, Object};
use super::node::{Data, Device, Generated, Inode, Kind, Node, ProcessFile};
use super::permission::{EXECUTE, READ, WRITE};
use super::resolve::{Found, Last};
use super::{At, FileSystem, Follow, Name, Target, Timestamp};
use crate::errno::Errno;

/// Gives the text of those files of /proc that tell about the process.
pub trait ProcessText {
    fn text(&self, file: ProcessFile) -> Vec<u8>;
}

impl FileSystem {
    /// Opens a file and returns the lowest free descriptor.
    pub fn open(
        &mut self,
        at: At<'_>,
        flags: u32,
        mode: u32,
        now: Timestamp,
        process: &dyn ProcessText,
    ) -> Result<i32, Errno> {
        let flags = match flags & O_PATH {
            // With O_PATH all but these are ignored.
            O_PATH => flags & (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
            _ => flags,
        };
        if flags & (O_CREAT | O_DIRECTORY) == O_CREAT | O_DIRECTORY {
            return Err(Errno::EINVAL);
        }
        if flags & O_TMPFILE_BIT != 0 {
            return self.open_nameless(at, flags, mode, now);
        }
        self.free_descriptor(0)?;
        let exclusive = flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL;
        let follow = match (flags & O_CREAT != 0, flags & O_NOFOLLOW != 0 || exclusive) {
            (false, false) => Follow::Yes,
            (false, true) => Follow::No,
            (true, false) => Follow::UnlessSlash,
            (true, true) => Follow::Never,
        };
        let found = self.walk(at, follow)?;
        if flags & O_CREAT != 0 {
            if found.slash {
                return Err(Errno::EISDIR);
            }
            if exclusive && found.target.is_some() {
                return Err(Errno::EEXIST);
            }
        }
        let descriptor = match found.target {
            Some(Target::Node(inode)) => self.open_node(inode, &found, flags, now, process),
            Some(Target::File(id)) => self.open_again(id, flags),
            Some(Target::DescriptorLink(_)) => Err(Errno::ELOOP),
            None if flags & O_CREAT != 0 => self.open_new(&found, flags, mode, now),
            None => Err(Errno::ENOENT),
        }?;
        if found.last == Last::Name {
            self.file_mut(descriptor)?.opened_as = self.origin_of_name(&found);
        }
        Ok(descriptor)
    }

    /// Where a file's name is: in the directory that was found, or, through /proc/self/fd, where the descriptor
    /// there was opened.
    fn origin_of_name(&self, found: &Found) -> Option<(Inode, Name)> {
        let parent = self.tree.node(found.parent).ok()?;
        if !matches!(parent.kind, Kind::DescriptorDirectory(_)) {
            return Some((found.parent, found.name.clone()));
        }
        let number = std::str::from_utf8(&found.name).ok()?.parse().ok()?;
        self.file(number).ok()?.1.opened_as.clone()
    }

    fn open_new(&mut self, found: &Found, flags: u32, mode: u32, now: Timestamp) -> Result<i32, Errno> {
        self.may_create(found.parent)?;
        let inode = self.create_file(found, mode, now)?;
        self.install_node(inode, kept(flags), flags & O_CLOEXEC != 0)
    }

    fn open_node(
        &mut self,
        inode: Inode,
        found: &Found,
        flags: u32,
        now: Timestamp,
        process: &dyn ProcessText,
    ) -> Result<i32, Errno> {
        let is_link = self.link_text(inode)?.is_some();
        let node = self.tree.node(inode)?;
        let is_directory = node.is_directory();
        if is_directory && flags & O_CREAT != 0 {
            return Err(Errno::EISDIR);
        }
        if (flags & O_DIRECTORY != 0 || found.slash) && !is_directory {
            return Err(Errno::ENOTDIR);
        }
        let close_on_exec = flags & O_CLOEXEC != 0;
        if flags & O_PATH != 0 {
            return self.install_node(inode, kept(flags), close_on_exec);
        }
        if is_link {
            return Err(Errno::ELOOP);
        }
        let wanted = wanted_access(flags);
        if is_directory && wanted & WRITE != 0 {
            return Err(Errno::EISDIR);
        }
        self.require(inode, wanted)?;
        match &self.tree.node(inode)?.kind {
            Kind::File(_) => {
                if flags & O_TRUNC != 0 {
                    self.truncate_node(inode, 0, now)?;
                } else {
                    // A file that cannot be read is better told of now than by a read later.
                    self.tree.content(inode)?;
                }
            }
            Kind::Device(Device::Terminal) | Kind::Foreign { .. } => return Err(Errno::ENXIO),
            Kind::Generated(Generated::Fixed(text)) => {
                let text = text.clone();
                return self.install_generated(inode, text, flags);
            }
            Kind::Generated(Generated::Process(file)) => {
                let text = Arc::new(process.text(*file));
                return self.install_generated(inode, text, flags);
            }
            Kind::Generated(_) | Kind::Symlink(_) => return Err(Errno::ELOOP),
            Kind::Directory(_) | Kind::DescriptorDirectory(_) | Kind::Device(_) => {}
        }
        self.install_node(inode, kept(flags), close_on_exec)
    }

    fn install_generated(&mut self, inode: Inode, text: Arc<Vec<u8>>, flags: u32) -> Result<i32, Errno> {
        if wanted_access(flags) & WRITE != 0 {
            return Err(Errno::EACCES);
        }
        // Each open file has a text of its own, and that of a process with many mappings is long.
        let cost = text.len() as u64;
        self.tree.charge(cost).map_err(|_| Errno::ENOMEM)?;
        self.tree.hold(inode)?;
        let object = Object::Generated { inode, text };
        self.install(object, kept(flags), flags & O_CLOEXEC != 0).inspect_err(|_| {
            self.tree.refund(cost);
            self.tree.release(inode);
        })
    }

    /// Opens what an open file already refers to: a pipe or a standard stream, through /proc/self/fd.
    fn open_again(&mut self, id: FileId, flags: u32) -> Result<i32, Errno> {
        let object = self.files.get(&id).ok_or(Errno::ENOENT)?.object.clone();
        let wanted = wanted_access(flags);
        let object = match object {
            Object::PipeReader(pipe) | Object::PipeWriter(pipe) => {
                let ends = self.pipes.get_mut(&pipe).ok_or(Errno::ENXIO)?;
                match wanted & WRITE != 0 {
                    true => {
                        ends.writers += 1;
                        Object::PipeWriter(pipe)
                    }
                    false => {
                        ends.readers += 1;
                        Object::PipeReader(pipe)
                    }
                }
            }
            Object::Input if wanted & WRITE != 0 && !self.terminal => return Err(Errno::EACCES),
            Object::Output(_) if wanted & READ != 0 && !self.terminal => return Err(Errno::EACCES),
            other => other,
        };
        self.install(object, kept(flags), flags & O_CLOEXEC != 0)
    }

    /// O_TMPFILE: a file in no directory.
    fn open_nameless(&mut self, at: At<'_>, flags: u32, mode: u32, now: Timestamp) -> Result<i32, Errno> {
        if flags & O_DIRECTORY == 0 || wanted_access(flags) & WRITE == 0 {
            return Err(Errno::EINVAL);
        }
        let directory = self.locate_node(at, Follow::Yes)?;
        if !self.is_directory(Target::Node(directory)) {
            return Err(Errno::ENOTDIR);
        }
        self.require(directory, WRITE | EXECUTE)?;
        self.free_descriptor(0)?;
        let parent = self.tree.node(directory)?;
        let (group, device) = (self.group_for_new(parent), parent.device);
        let kind = Kind::File(Data::Resident(Default::default()));
        let permissions = mode & !self.umask & 0o7777;
        let mut node = Node::new(kind, permissions, self.credentials.user, group, device, now);
        node.links = 0;
        node.linkable = flags & O_EXCL == 0;
        let inode = self.tree.add(node)?;
        self.install_node(inode, kept(flags), flags & O_CLOEXEC != 0)
    }
}

/// What of the flags stays with the open file.
fn kept(flags: u32) -> u32 {
    flags & !(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC)
}

fn wanted_access(flags: u32) -> u32 {
    let by_mode = match flags & O_ACCMODE {
        O_RDONLY => READ,
        O_WRONLY => WRITE,
        // O_RDWR, and the fourth value, which asks for both permissions and grants neither.
        _ => READ | WRITE,
    };
    let by_truncation = if flags & O_TRUNC != 0 { WRITE } else { 0 };
    by_mode | by_truncation
}
