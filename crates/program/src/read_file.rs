//! Where objects, debug files and sources come from: the host, or whoever stands in for it. This is the one place where
//! this crate touches the host's files.
//!
//! Paths come from the guest's mappings and from links inside objects, so they may name
//! anything: a device or a pipe would never end, and is refused.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// Objects and debug files above this size are not read; nobody's debug information is larger.
pub(crate) const LARGEST: u64 = 4 << 30;

/// Reads what a program is explained by.
pub trait FileReader {
    /// The whole content of a regular file, unless it is larger than `largest`.
    fn read(&self, path: &Path, largest: u64) -> io::Result<Arc<Vec<u8>>>;

    /// When a file was last changed; `None` when nobody can say.
    fn modified(&self, path: &Path) -> Option<SystemTime>;
}

/// A reader that several share.
pub type Files = Arc<dyn FileReader + Send + Sync>;

/// The files of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostFiles;

impl FileReader for HostFiles {
    fn read(&self, path: &Path, largest: u64) -> io::Result<Arc<Vec<u8>>> {
        read_at_most(path, largest)
    }

    fn modified(&self, path: &Path) -> Option<SystemTime> {
        std::fs::metadata(path).ok()?.modified().ok()
    }
}

/// The whole content of a regular file of this machine.
pub fn read_file(path: &Path) -> io::Result<Arc<Vec<u8>>> {
    read_at_most(path, LARGEST)
}

fn read_at_most(path: &Path, largest: u64) -> io::Result<Arc<Vec<u8>>> {
    // Asked before opening, because opening a pipe waits for its writer.
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if metadata.len() > largest {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is too large"));
    }
    // No more than it says: some files of the kernel say 0, and reading them waits for ever.
    let mut content = Vec::new();
    File::open(path)?.take(metadata.len()).read_to_end(&mut content)?;
    Ok(Arc::new(content))
}
