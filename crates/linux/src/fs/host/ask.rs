//! The only code that touches the host's file system, and it can only look.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use super::HostEntry;
use crate::errno::Errno;
use crate::fs::abi::{O_NOFOLLOW, O_NONBLOCK, S_IFMT};
use crate::fs::content::MAX_CONTIGUOUS;
use crate::fs::{Name, Timestamp};

/// Metadata of one name; a link is described, not followed.
pub fn entry(path: &Path) -> Result<HostEntry, Errno> {
    let metadata = fs::symlink_metadata(path).map_err(|error| Errno::from_host(&error))?;
    let target = match metadata.file_type().is_symlink() {
        true => fs::read_link(path).map_err(|error| Errno::from_host(&error))?.into_os_string().into_vec(),
        false => Vec::new(),
    };
    Ok(describe(&metadata, target.into()))
}

fn describe(metadata: &fs::Metadata, target: Arc<[u8]>) -> HostEntry {
    let time = |seconds, nanoseconds| Timestamp { seconds, nanoseconds: nanoseconds as u32 };
    HostEntry {
        mode: metadata.mode(),
        user: metadata.uid(),
        group: metadata.gid(),
        links: metadata.nlink(),
        size: metadata.size(),
        blocks: metadata.blocks(),
        device: metadata.dev(),
        inode: metadata.ino(),
        special_device: metadata.rdev(),
        // The host moves the time of the last access when this very run reads a file, so that the next run would
        // find another one. The guest sees files as if nobody had read them since they were written.
        access: time(metadata.mtime(), metadata.mtime_nsec()),
        modification: time(metadata.mtime(), metadata.mtime_nsec()),
        change: time(metadata.ctime(), metadata.ctime_nsec()),
        target,
    }
}

/// The names in a directory without `.` and `..`, in the host's order.
pub fn names(path: &Path) -> Result<Arc<[Name]>, Errno> {
    let mut names: Vec<Name> = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| Errno::from_host(&error))? {
        let entry = entry.map_err(|error| Errno::from_host(&error))?;
        names.push(entry.file_name().as_bytes().into());
    }
    Ok(names.into())
}

/// The bytes of a regular file, which must be the one that was seen.
pub fn content(path: &Path, seen: &HostEntry) -> Result<Vec<u8>, Errno> {
    // Neither a link nor a FIFO that took the file's place may make this follow or wait.
    let flags = (O_NOFOLLOW | O_NONBLOCK) as i32;
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| Errno::from_host(&error))?;
    let metadata = file.metadata().map_err(|error| Errno::from_host(&error))?;
    let kind = metadata.file_type();
    if kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device() {
        return Err(Errno::ENXIO);
    }
    let now = describe(&metadata, seen.target.clone());
    let same = |entry: &HostEntry| (entry.mode & S_IFMT, entry.inode, entry.size, entry.modification);
    if same(&now) != same(seen) {
        return Err(Errno::EIO);
    }
    if metadata.len() > MAX_CONTIGUOUS {
        return Err(Errno::EFBIG);
    }
    // No more than it said: some files of the kernel say 0, and reading them waits for ever.
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.take(metadata.len()).read_to_end(&mut bytes).map_err(|error| Errno::from_host(&error))?;
    Ok(bytes)
}
