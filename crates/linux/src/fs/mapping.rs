//! What mapping a file into memory needs of it.

use std::sync::Arc;

use super::abi::O_PATH;
use super::descriptors::Object;
use super::node::{Device, Inode, Kind};
use super::{FileSystem, IoError, Timestamp};
use crate::errno::Errno;

/// A file that is about to be mapped.
pub struct FileMapping {
    /// All of the file; none for the device of zeros.
    pub content: Option<Arc<Vec<u8>>>,
    /// The content is a copy of ours, since the guest has changed the file.
    pub copied: bool,
    /// Its path, as /proc/self/maps shows it.
    pub name: Arc<str>,
    pub inode: Inode,
    /// How its descriptor was opened.
    pub readable: bool,
    pub writable: bool,
}

impl FileSystem {
    pub fn mapping(&mut self, descriptor: i32) -> Result<FileMapping, Errno> {
        let (_, file) = self.file(descriptor)?;
        if file.flags & O_PATH != 0 {
            return Err(Errno::EBADF);
        }
        let (readable, writable) = (file.readable(), file.writable());
        let Object::Node(inode) = file.object else { return Err(Errno::ENODEV) };
        let (content, copied) = match self.tree.node(inode)?.kind {
            // Not read at all when the mapping will be refused.
            Kind::File(_) if readable => {
                let (content, copied) = self.tree.flatten(inode)?;
                (Some(content), copied)
            }
            Kind::File(_) => return Err(Errno::EACCES),
            Kind::Device(Device::Zero) => (None, false),
            _ => return Err(Errno::ENODEV),
        };
        let name = self.describe_descriptor(descriptor).unwrap_or_default();
        let name = String::from_utf8_lossy(&name).into();
        Ok(FileMapping { content, copied, name, inode, readable, writable })
    }

    /// A mapping keeps its file alive when the last name and descriptor are gone.
    pub fn hold_mapped(&mut self, inode: Inode) -> Result<(), Errno> {
        self.tree.hold(inode)
    }

    pub fn release_mapped(&mut self, inode: Inode) {
        self.tree.release(inode);
    }

    /// All of a mapped file; the same allocation as before if nothing has changed.
    pub fn mapped_content(&mut self, inode: Inode) -> Result<Arc<Vec<u8>>, Errno> {
        self.tree.flatten(inode).map(|(content, _)| content)
    }

    /// Stores to a shared mapping reach the file.
    pub fn write_mapped(
        &mut self,
        inode: Inode,
        offset: u64,
        bytes: &[u8],
        now: Timestamp,
    ) -> Result<(), Errno> {
        match self.write_file(inode, Some(offset), bytes, now) {
            Ok(_) => Ok(()),
            Err(IoError::Errno(errno)) => Err(errno),
            // Only pipes make a writer wait.
            Err(IoError::Deadlock | IoError::Input) => Err(Errno::EIO),
        }
    }
}
