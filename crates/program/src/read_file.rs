//! The one place where this crate touches the host's files.
//!
//! Paths come from the guest's mappings and from links inside objects, so they may name
//! anything: a device or a pipe would never end, and is refused.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Objects and debug files above this size are not read; nobody's debug information is larger.
const LARGEST: u64 = 4 << 30;

/// The whole content of a regular file.
pub fn read_file(path: &Path) -> io::Result<Arc<Vec<u8>>> {
    // Asked before opening, because opening a pipe waits for its writer.
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    // No more than it says: some files of the kernel say 0, and reading them waits for ever.
    let mut content = Vec::new();
    File::open(path)?.take(LARGEST.min(metadata.len())).read_to_end(&mut content)?;
    Ok(Arc::new(content))
}
