//! Descriptors and the open files behind them.
//!
//! A descriptor is a number with one flag of its own (close on exec). What it refers to, the open file, has the
//! offset and the other flags, and is shared by all duplicates.

use std::sync::Arc;

use super::abi::{
    O_ACCMODE, O_APPEND, O_ASYNC, O_DIRECT, O_NOATIME, O_NONBLOCK, O_PATH, O_RDONLY, O_RDWR, O_WRONLY,
};
use super::content::Content;
use super::node::{Data, Inode, Kind, Node};
use super::pipe::{Pipe, PipeId};
use super::transfer::listing_cost;
use super::virtual_files::MEMORY_DEVICE;
use super::{FileSystem, Name, Setup, StandardStreams, Timestamp};
use crate::errno::Errno;

/// Numbers go from 0 to one below this.
pub const MAX_DESCRIPTORS: i32 = 1024;

/// Where captured output goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stream {
    Stdout,
    Stderr,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub(super) u64);

#[derive(Clone, Copy)]
pub(super) struct Descriptor {
    pub file: FileId,
    pub close_on_exec: bool,
}

/// An open file description.
#[derive(Clone)]
pub(super) struct OpenFile {
    pub object: Object,
    pub offset: u64,
    /// The O_… flags, without those that only matter while opening.
    pub flags: u32,
    pub references: u32,
    /// The names of a directory as they were when its reading began.
    pub listing: Option<Arc<Vec<(Name, Inode)>>>,
    /// The directory and the name that it was opened by, for telling its path.
    pub opened_as: Option<(Inode, Name)>,
}

#[derive(Clone)]
pub(super) enum Object {
    Node(Inode),
    /// A file of /proc with the text that it had when it was opened.
    Generated {
        inode: Inode,
        text: Arc<Vec<u8>>,
    },
    PipeReader(PipeId),
    PipeWriter(PipeId),
    /// Standard input, unless it is a file.
    Input,
    Output(Stream),
}

impl OpenFile {
    pub fn readable(&self) -> bool {
        self.flags & O_PATH == 0 && self.flags & O_ACCMODE != O_WRONLY
    }

    pub fn writable(&self) -> bool {
        self.flags & O_PATH == 0 && matches!(self.flags & O_ACCMODE, O_WRONLY | O_RDWR)
    }

    pub fn nonblocking(&self) -> bool {
        self.flags & O_NONBLOCK != 0
    }
}

impl FileSystem {
    /// Closes a descriptor.
    pub fn close(&mut self, descriptor: i32) -> Result<(), Errno> {
        let closed = *self.descriptors.get(&descriptor).ok_or(Errno::EBADF)?;
        self.descriptors.remove_mut(&descriptor);
        self.drop_file(closed.file);
        Ok(())
    }

    /// Closes all descriptors from `first` to `last`, or marks them for closing on exec.
    pub fn close_range(&mut self, first: u32, last: u32, only_mark: bool) -> Result<(), Errno> {
        if first > last {
            return Err(Errno::EINVAL);
        }
        let from = i32::try_from(first).unwrap_or(i32::MAX);
        let to = i32::try_from(last).unwrap_or(i32::MAX);
        let numbers: Vec<i32> = self.descriptors.range(from..=to).map(|(number, _)| *number).collect();
        for number in numbers {
            match only_mark {
                true => self.set_close_on_exec(number, true)?,
                false => self.close(number)?,
            }
        }
        Ok(())
    }

    /// A second descriptor for the same open file: the lowest free number from `minimum` on.
    pub fn duplicate(&mut self, descriptor: i32, minimum: i32, close_on_exec: bool) -> Result<i32, Errno> {
        let (id, _) = self.file(descriptor)?;
        if !(0..self.descriptor_limit).contains(&minimum) {
            return Err(Errno::EINVAL);
        }
        let number = self.free_descriptor(minimum)?;
        self.share_file(id)?;
        self.descriptors.insert_mut(number, Descriptor { file: id, close_on_exec });
        Ok(number)
    }

    /// Makes `wanted` refer to the open file of `descriptor`, closing what it was.
    pub fn duplicate_to(&mut self, descriptor: i32, wanted: i32, close_on_exec: bool) -> Result<i32, Errno> {
        let (id, _) = self.file(descriptor)?;
        if !(0..self.descriptor_limit).contains(&wanted) {
            return Err(Errno::EBADF);
        }
        if descriptor == wanted {
            return Ok(wanted);
        }
        self.share_file(id)?;
        if self.descriptors.contains_key(&wanted) {
            self.close(wanted)?;
        }
        self.descriptors.insert_mut(wanted, Descriptor { file: id, close_on_exec });
        Ok(wanted)
    }

    pub fn close_on_exec(&self, descriptor: i32) -> Result<bool, Errno> {
        self.descriptors.get(&descriptor).map(|entry| entry.close_on_exec).ok_or(Errno::EBADF)
    }

    pub fn set_close_on_exec(&mut self, descriptor: i32, value: bool) -> Result<(), Errno> {
        self.descriptors.get_mut(&descriptor).ok_or(Errno::EBADF)?.close_on_exec = value;
        Ok(())
    }

    /// The flags of the open file, as F_GETFL gives them.
    pub fn status_flags(&self, descriptor: i32) -> Result<u32, Errno> {
        Ok(self.file(descriptor)?.1.flags)
    }

    /// Sets those flags that can be changed later.
    pub fn set_status_flags(&mut self, descriptor: i32, flags: u32) -> Result<(), Errno> {
        const CHANGEABLE: u32 = O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME | O_NONBLOCK;
        let file = self.file_mut(descriptor)?;
        if file.flags & O_PATH != 0 {
            return Err(Errno::EBADF);
        }
        file.flags = file.flags & !CHANGEABLE | flags & CHANGEABLE;
        Ok(())
    }

    /// Makes a pipe and returns its reading and its writing end.
    pub fn pipe(&mut self, flags: u32, close_on_exec: bool) -> Result<(i32, i32), Errno> {
        let id = PipeId(self.next_pipe);
        self.pipes.insert_mut(id, Pipe::new());
        self.next_pipe += 1;
        let nonblocking = flags & O_NONBLOCK;
        let reader = self.install(Object::PipeReader(id), O_RDONLY | nonblocking, close_on_exec);
        let writer = self.install(Object::PipeWriter(id), O_WRONLY | nonblocking, close_on_exec);
        match (reader, writer) {
            (Ok(reader), Ok(writer)) => Ok((reader, writer)),
            (reader, writer) => {
                // Whichever end got a descriptor gives it back; the pipe goes with it.
                for descriptor in [reader, writer].into_iter().flatten() {
                    self.close(descriptor)?;
                }
                self.pipes.remove_mut(&id);
                Err(Errno::EMFILE)
            }
        }
    }

    /// An open file without a name, for memfd_create and for input that can be sought in.
    pub fn open_anonymous(
        &mut self,
        content: Arc<Vec<u8>>,
        flags: u32,
        close_on_exec: bool,
        now: Timestamp,
    ) -> Result<i32, Errno> {
        let (user, group) = (self.credentials.user, self.credentials.group);
        let kind = Kind::File(Data::Resident(Content::from_bytes(content)));
        let mut node = Node::new(kind, 0o600, user, group, MEMORY_DEVICE, now);
        node.links = 0;
        self.free_descriptor(0)?;
        let inode = self.tree.add(node)?;
        self.install_node(inode, flags, close_on_exec)
    }

    /// All open descriptors in order.
    pub fn open_descriptors(&self) -> Vec<i32> {
        self.descriptors.keys().copied().collect()
    }

    pub fn is_terminal(&self, descriptor: i32) -> Result<bool, Errno> {
        let (_, file) = self.file(descriptor)?;
        Ok(self.terminal && matches!(file.object, Object::Input | Object::Output(_)))
    }

    /// Gives a held node a descriptor; the hold belongs to the open file from then on.
    pub(super) fn install_node(
        &mut self,
        inode: Inode,
        flags: u32,
        close_on_exec: bool,
    ) -> Result<i32, Errno> {
        self.tree.hold(inode)?;
        self.install(Object::Node(inode), flags, close_on_exec).inspect_err(|_| self.tree.release(inode))
    }

    pub(super) fn install(&mut self, object: Object, flags: u32, close_on_exec: bool) -> Result<i32, Errno> {
        let number = self.free_descriptor(0)?;
        let id = FileId(self.next_file);
        self.next_file += 1;
        self.files.insert_mut(
            id,
            OpenFile { object, offset: 0, flags, references: 1, listing: None, opened_as: None },
        );
        self.descriptors.insert_mut(number, Descriptor { file: id, close_on_exec });
        Ok(number)
    }

    pub(super) fn free_descriptor(&self, minimum: i32) -> Result<i32, Errno> {
        let mut free = minimum;
        for (number, _) in self.descriptors.range(minimum..) {
            if *number != free {
                break;
            }
            free += 1;
        }
        if free < self.descriptor_limit { Ok(free) } else { Err(Errno::EMFILE) }
    }

    pub(super) fn file(&self, descriptor: i32) -> Result<(FileId, &OpenFile), Errno> {
        let entry = self.descriptors.get(&descriptor).ok_or(Errno::EBADF)?;
        let file = self.files.get(&entry.file).ok_or(Errno::EBADF)?;
        Ok((entry.file, file))
    }

    pub(super) fn file_mut(&mut self, descriptor: i32) -> Result<&mut OpenFile, Errno> {
        let id = self.descriptors.get(&descriptor).ok_or(Errno::EBADF)?.file;
        self.files.get_mut(&id).ok_or(Errno::EBADF)
    }

    pub(super) fn share_file(&mut self, id: FileId) -> Result<(), Errno> {
        let file = self.files.get_mut(&id).ok_or(Errno::EBADF)?;
        file.references += 1;
        Ok(())
    }

    pub(super) fn open_standard_streams(&mut self, setup: &Setup) -> Result<(), Errno> {
        let flags = if self.terminal { O_RDWR } else { O_RDONLY };
        match (&setup.input_file, setup.streams) {
            (Some(file), _) => self.open_input_file(file, setup.now)?,
            (None, StandardStreams::FileInput) => {
                self.open_anonymous(setup.standard_input.clone(), O_RDONLY, false, setup.now)?
            }
            (None, StandardStreams::Pipes | StandardStreams::Terminal) => {
                self.install(Object::Input, flags, false)?
            }
        };
        let flags = if self.terminal { O_RDWR } else { O_WRONLY };
        self.install(Object::Output(Stream::Stdout), flags, false)?;
        self.install(Object::Output(Stream::Stderr), flags, false)?;
        Ok(())
    }

    fn drop_file(&mut self, id: FileId) {
        let Some(file) = self.files.get_mut(&id) else { return };
        file.references = file.references.saturating_sub(1);
        if file.references > 0 {
            return;
        }
        let object = file.object.clone();
        let listing = file.listing.take();
        self.files.remove_mut(&id);
        self.tree.refund(listing.map_or(0, |listing| listing_cost(&listing)));
        match object {
            Object::Node(inode) => self.tree.release(inode),
            Object::Generated { inode, text } => {
                self.tree.refund(text.len() as u64);
                self.tree.release(inode);
            }
            Object::PipeReader(id) => {
                self.leave_pipe(id, |pipe| pipe.readers = pipe.readers.saturating_sub(1))
            }
            Object::PipeWriter(id) => {
                self.leave_pipe(id, |pipe| pipe.writers = pipe.writers.saturating_sub(1))
            }
            Object::Input | Object::Output(_) => {}
        }
    }

    fn leave_pipe(&mut self, id: PipeId, leave: impl FnOnce(&mut Pipe)) {
        let Some(pipe) = self.pipes.get_mut(&id) else { return };
        leave(pipe);
        if pipe.readers == 0 && pipe.writers == 0 {
            self.pipes.remove_mut(&id);
        }
    }
}
