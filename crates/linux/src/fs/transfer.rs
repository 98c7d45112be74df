//! Moving bytes: reading, writing, seeking, and reading directories.

use std::sync::Arc;

use super::abi::{O_APPEND, O_PATH, SEEK_CUR, SEEK_DATA, SEEK_END, SEEK_HOLE, SEEK_SET, entry_type};
use super::content::MAX_FILE_SIZE;
use super::descriptors::{Object, Stream};
use super::node::{Device, Entry, Inode, Kind};
use super::virtual_files::DESCRIPTOR_LINKS;
use super::{FileSystem, Name, Timestamp};
use crate::errno::Errno;
use crate::moved::Place;

/// Why bytes could not be moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IoError {
    Errno(Errno),
    /// The call would wait for ever: there is nobody else to fill or drain the pipe.
    Deadlock,
    /// Standard input has to be fed first; then the call is to be served again.
    Input,
}

impl From<Errno> for IoError {
    fn from(errno: Errno) -> IoError {
        IoError::Errno(errno)
    }
}

/// Where written bytes went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    Count(usize),
    /// Nothing was taken yet: the bytes are output, and the caller's to record.
    Output(Stream),
}

/// One entry of a directory listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirectoryEntry {
    pub inode: u64,
    /// Where the listing goes on after this entry.
    pub next: u64,
    pub file_type: u8,
    pub name: Name,
}

/// Bytes of memory that a listing takes; the names themselves are shared with the directory.
pub(super) fn listing_cost(listing: &[(Name, Inode)]) -> u64 {
    size_of_val(listing) as u64
}

impl FileSystem {
    /// Reads at the open file's offset and moves it.
    pub fn read(&mut self, descriptor: i32, count: usize) -> Result<Vec<u8>, IoError> {
        let offset = self.readable(descriptor)?;
        let bytes = self.read_object(descriptor, offset, count)?;
        self.file_mut(descriptor)?.offset = offset.saturating_add(bytes.len() as u64);
        Ok(bytes)
    }

    /// Reads at an offset of the caller's.
    pub fn read_at(&mut self, descriptor: i32, offset: u64, count: usize) -> Result<Vec<u8>, IoError> {
        self.readable(descriptor)?;
        self.require_seekable(descriptor)?;
        self.read_object(descriptor, offset, count)
    }

    /// Writes at the open file's offset, or at the end with O_APPEND, and moves the offset.
    pub fn write(&mut self, descriptor: i32, bytes: &[u8], now: Timestamp) -> Result<Written, IoError> {
        let (_, file) = self.file(descriptor)?;
        let offset = file.offset;
        let (written, end) = self.write_object(descriptor, offset, bytes, now)?;
        self.file_mut(descriptor)?.offset = end;
        Ok(written)
    }

    /// Writes at an offset of the caller's (at the end all the same with O_APPEND, as Linux does).
    pub fn write_at(
        &mut self,
        descriptor: i32,
        offset: u64,
        bytes: &[u8],
        now: Timestamp,
    ) -> Result<Written, IoError> {
        let (_, file) = self.file(descriptor)?;
        if file.flags & O_PATH != 0 {
            return Err(Errno::EBADF.into());
        }
        self.require_seekable(descriptor)?;
        Ok(self.write_object(descriptor, offset, bytes, now)?.0)
    }

    pub fn seek(&mut self, descriptor: i32, offset: i64, whence: u32) -> Result<u64, Errno> {
        let (_, file) = self.file(descriptor)?;
        if file.flags & O_PATH != 0 {
            return Err(Errno::EBADF);
        }
        self.require_seekable(descriptor)?;
        let (_, file) = self.file(descriptor)?;
        let current = file.offset;
        let size = match &file.object {
            Object::Generated { text, .. } => text.len() as u64,
            Object::Node(inode) => {
                let node = self.tree.node(*inode)?;
                match &node.kind {
                    Kind::Device(_) => return Ok(0),
                    Kind::Directory(_) | Kind::DescriptorDirectory(_) => i64::MAX as u64,
                    _ => node.size(),
                }
            }
            _ => 0,
        };
        let base = match whence {
            SEEK_SET => 0,
            SEEK_CUR => current,
            SEEK_END => size,
            SEEK_DATA | SEEK_HOLE => {
                let from = u64::try_from(offset).map_err(|_| Errno::ENXIO)?;
                let position = self.seek_content(descriptor, from, size, whence == SEEK_DATA)?;
                self.file_mut(descriptor)?.offset = position;
                return Ok(position);
            }
            _ => return Err(Errno::EINVAL),
        };
        let position = base.checked_add_signed(offset).filter(|position| *position <= i64::MAX as u64);
        let position = position.ok_or(Errno::EINVAL)?;
        let file = self.file_mut(descriptor)?;
        file.offset = position;
        let listing = file.listing.take_if(|_| position == 0);
        self.tree.refund(listing.map_or(0, |listing| listing_cost(&listing)));
        Ok(position)
    }

    /// How many bytes can be read without waiting; what FIONREAD says.
    pub fn available(&self, descriptor: i32) -> Result<u64, Errno> {
        let (_, file) = self.file(descriptor)?;
        match &file.object {
            Object::PipeReader(pipe) | Object::PipeWriter(pipe) => {
                Ok(self.pipes.get(pipe).map_or(0, |pipe| pipe.len() as u64))
            }
            Object::Input => Ok(self.input.known().saturating_sub(file.offset)),
            Object::Node(inode) if matches!(self.tree.node(*inode)?.kind, Kind::File(_)) => {
                Ok(self.tree.node(*inode)?.size().saturating_sub(file.offset))
            }
            _ => Err(Errno::ENOTTY),
        }
    }

    /// Hands out entries of a directory until `accept` has no room for one. The names are those of the moment
    /// when reading began, without those that were removed since.
    pub fn read_directory(
        &mut self,
        descriptor: i32,
        mut accept: impl FnMut(&DirectoryEntry) -> bool,
    ) -> Result<(), Errno> {
        let (_, file) = self.file(descriptor)?;
        let (offset, listing) = (file.offset, file.listing.clone());
        let Object::Node(directory) = file.object else { return Err(Errno::ENOTDIR) };
        if !file.readable() {
            return Err(Errno::EBADF);
        }
        let node = self.tree.node(directory)?;
        if !node.is_directory() {
            return Err(Errno::ENOTDIR);
        }
        if node.links == 0 {
            return Err(Errno::ENOENT);
        }
        let listing = match listing {
            Some(listing) => listing,
            None => {
                let listing = Arc::new(self.list(directory)?);
                // Each open directory can have one of its own.
                self.tree.charge(listing_cost(&listing)).map_err(|_| Errno::ENOMEM)?;
                self.file_mut(descriptor)?.listing = Some(listing.clone());
                listing
            }
        };
        let mut position = offset;
        for (name, inode) in listing.iter().skip(usize::try_from(offset).unwrap_or(usize::MAX)) {
            if let Some(file_type) = self.listed_type(directory, name, *inode) {
                let next = position + 1;
                let entry = DirectoryEntry { inode: inode.0, next, file_type, name: name.clone() };
                if !accept(&entry) {
                    break;
                }
            }
            position += 1;
        }
        self.file_mut(descriptor)?.offset = position;
        Ok(())
    }

    fn list(&mut self, directory: Inode) -> Result<Vec<(Name, Inode)>, Errno> {
        let node = self.tree.node(directory)?;
        let parent = node.directory().ok_or(Errno::ENOTDIR)?.parent;
        let mut listing = vec![(Name::from(&b"."[..]), directory), (Name::from(&b".."[..]), parent)];
        match &node.kind {
            Kind::DescriptorDirectory(_) => listing.extend(self.descriptors.keys().map(|number| {
                let inode = DESCRIPTOR_LINKS + u64::from(number.unsigned_abs());
                (Name::from(number.to_string().as_bytes()), Inode(inode))
            })),
            _ => listing.extend(self.tree.children(directory)?),
        }
        Ok(listing)
    }

    /// The type of a listed entry, or none if the name is no longer there.
    fn listed_type(&self, directory: Inode, name: &Name, inode: Inode) -> Option<u8> {
        let node = self.tree.node(directory).ok()?;
        if let Kind::DescriptorDirectory(_) = node.kind
            && inode.0 >= DESCRIPTOR_LINKS
        {
            return Some(entry_type(super::abi::S_IFLNK));
        }
        let is_dot = matches!(&name[..], b"." | b"..");
        if is_dot || node.directory()?.entries.get(name) == Some(&Entry::Node(inode)) {
            return self.tree.node(inode).ok().map(|node| entry_type(node.mode()));
        }
        None
    }

    /// Where a read at a position, or at the open file's own, gets its first byte from.
    pub fn read_place(&self, descriptor: i32, position: Option<u64>) -> Option<Place> {
        let (_, file) = self.file(descriptor).ok()?;
        let offset = position.unwrap_or(file.offset);
        match &file.object {
            Object::Node(inode) if matches!(self.tree.node(*inode).ok()?.kind, Kind::File(_)) => {
                Some(Place::File { inode: *inode, offset })
            }
            Object::PipeReader(pipe) => {
                Some(Place::Pipe { pipe: *pipe, offset: self.pipes.get(pipe)?.taken })
            }
            Object::Input => Some(Place::Input { offset }),
            _ => None,
        }
    }

    /// The stream that a descriptor writes to, if it is captured output.
    pub fn output_stream(&self, descriptor: i32) -> Option<Stream> {
        match self.file(descriptor).ok()?.1.object {
            Object::Output(stream) => Some(stream),
            // Only a terminal is both; what is written to its input side is output.
            Object::Input => Some(Stream::Stdout),
            _ => None,
        }
    }

    /// Where a write at a position, or at the open file's own, puts its first byte, apart from output.
    pub fn write_place(&self, descriptor: i32, position: Option<u64>) -> Option<Place> {
        let (_, file) = self.file(descriptor).ok()?;
        match &file.object {
            Object::Node(inode) => {
                let node = self.tree.node(*inode).ok()?;
                let appends = file.flags & O_APPEND != 0;
                let offset = if appends { node.size() } else { position.unwrap_or(file.offset) };
                matches!(node.kind, Kind::File(_)).then_some(Place::File { inode: *inode, offset })
            }
            Object::PipeWriter(id) => {
                let pipe = self.pipes.get(id)?;
                Some(Place::Pipe { pipe: *id, offset: pipe.taken + pipe.len() as u64 })
            }
            _ => None,
        }
    }

    fn readable(&self, descriptor: i32) -> Result<u64, Errno> {
        let (_, file) = self.file(descriptor)?;
        if file.readable() { Ok(file.offset) } else { Err(Errno::EBADF) }
    }

    fn require_seekable(&self, descriptor: i32) -> Result<(), Errno> {
        match self.file(descriptor)?.1.object {
            Object::Node(_) | Object::Generated { .. } => Ok(()),
            _ => Err(Errno::ESPIPE),
        }
    }

    fn read_object(&mut self, descriptor: i32, offset: u64, count: usize) -> Result<Vec<u8>, IoError> {
        let (_, file) = self.file(descriptor)?;
        let nonblocking = file.nonblocking();
        match &file.object {
            Object::Node(inode) => {
                let inode = *inode;
                match &self.tree.node(inode)?.kind {
                    Kind::File(_) => Ok(self.tree.content(inode)?.read(offset, count)),
                    Kind::Directory(_) | Kind::DescriptorDirectory(_) => Err(Errno::EISDIR.into()),
                    Kind::Device(Device::Null) => Ok(Vec::new()),
                    Kind::Device(Device::Zero | Device::Full) => Ok(vec![0; count]),
                    Kind::Device(Device::Random | Device::Urandom) => Ok(self.random.bytes(count)),
                    Kind::Device(Device::Terminal) | Kind::Foreign { .. } => Err(Errno::ENXIO.into()),
                    Kind::Generated(_) | Kind::Symlink(_) => Err(Errno::EINVAL.into()),
                }
            }
            Object::Input => self.input.read(offset, count).ok_or(IoError::Input),
            Object::Generated { text: bytes, .. } => {
                let first = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let last = first.saturating_add(count).min(bytes.len());
                Ok(bytes[first..last].to_vec())
            }
            Object::PipeReader(id) => {
                let id = *id;
                self.pipes.get_mut(&id).ok_or(Errno::EBADF)?.read(count, nonblocking)
            }
            // A terminal's output can be read from; there is no more input than standard input has.
            Object::Output(_) => Ok(Vec::new()),
            Object::PipeWriter(_) => Err(Errno::EBADF.into()),
        }
    }

    /// Writes, and says where the offset is afterwards.
    fn write_object(
        &mut self,
        descriptor: i32,
        offset: u64,
        bytes: &[u8],
        now: Timestamp,
    ) -> Result<(Written, u64), IoError> {
        let (_, file) = self.file(descriptor)?;
        if !file.writable() {
            return Err(Errno::EBADF.into());
        }
        let (append, nonblocking) = (file.flags & O_APPEND != 0, file.nonblocking());
        match &file.object {
            Object::Node(inode) => {
                let inode = *inode;
                match &self.tree.node(inode)?.kind {
                    Kind::File(_) => {
                        self.write_file(inode, if append { None } else { Some(offset) }, bytes, now)
                    }
                    Kind::Device(Device::Full) if !bytes.is_empty() => Err(Errno::ENOSPC.into()),
                    Kind::Device(_) => Ok((Written::Count(bytes.len()), offset)),
                    _ => Err(Errno::EBADF.into()),
                }
            }
            Object::PipeWriter(id) => {
                let id = *id;
                if bytes.is_empty() {
                    return Ok((Written::Count(0), offset));
                }
                let count = self.pipes.get_mut(&id).ok_or(Errno::EBADF)?.write(bytes, nonblocking)?;
                Ok((Written::Count(count), offset))
            }
            Object::Output(_) | Object::Input => {
                Ok((Written::Output(self.output_stream(descriptor).unwrap_or(Stream::Stdout)), offset))
            }
            Object::Generated { .. } | Object::PipeReader(_) => Err(Errno::EBADF.into()),
        }
    }

    pub(super) fn write_file(
        &mut self,
        inode: Inode,
        offset: Option<u64>,
        bytes: &[u8],
        now: Timestamp,
    ) -> Result<(Written, u64), IoError> {
        let content = self.tree.content(inode)?;
        let start = offset.unwrap_or(content.len());
        if bytes.is_empty() {
            return Ok((Written::Count(0), start));
        }
        if start >= MAX_FILE_SIZE {
            return Err(Errno::EFBIG.into());
        }
        let room = usize::try_from(MAX_FILE_SIZE - start).unwrap_or(usize::MAX);
        let bytes = &bytes[..bytes.len().min(room)];
        let cost = content.cost_of_write(start, bytes.len() as u64);
        self.tree.charge(cost)?;
        self.tree.content_mut(inode)?.write(start, bytes);
        self.mark_written(inode, now)?;
        Ok((Written::Count(bytes.len()), start + bytes.len() as u64))
    }

    fn seek_content(&mut self, descriptor: i32, from: u64, size: u64, data: bool) -> Result<u64, Errno> {
        if from >= size {
            return Err(Errno::ENXIO);
        }
        let (_, file) = self.file(descriptor)?;
        match file.object {
            Object::Node(inode) if matches!(self.tree.node(inode)?.kind, Kind::File(_)) => {
                self.tree.content(inode)?.seek(from, data).ok_or(Errno::ENXIO)
            }
            _ => Ok(if data { from } else { size }),
        }
    }
}
