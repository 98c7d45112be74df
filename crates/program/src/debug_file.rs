//! Separate debug files: where distributions put what they strip from their binaries.
//!
//! Looked for as gdb does: by build id under /usr/lib/debug/.build-id, then by the name in
//! .gnu_debuglink beside the object, in .debug there, and under /usr/lib/debug. A file that does
//! not belong to the object is worse than none, so build id or checksum must agree.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::Object;

use crate::object_file::{has_section, parse};
use crate::read_file::{FileReader, LARGEST};

const DEBUG_DIRECTORY: &str = "/usr/lib/debug";

/// The debug file of the object at `path`; `None` when the object has its own debug sections or
/// no file fits.
pub(crate) fn find(path: &str, content: &[u8], files: &dyn FileReader) -> Option<Arc<Vec<u8>>> {
    if has_section(content, ".debug_info") || has_section(content, ".debug_line") {
        return None;
    }
    let elf = parse(content)?;
    let build_id = elf.build_id().ok().flatten();
    if let Some(found) = build_id.and_then(|build_id| by_build_id(build_id, files)) {
        return Some(found);
    }
    let (name, checksum) = elf.gnu_debuglink().ok().flatten()?;
    candidates(Path::new(path), plain_name(name)?).into_iter().find_map(|candidate| {
        let found = files.read(&candidate, LARGEST).ok()?;
        let fits = match (build_id, parse(&found)?.build_id().ok().flatten()) {
            (Some(wanted), Some(has)) => wanted == has,
            _ => crc32(&found) == checksum,
        };
        fits.then_some(found)
    })
}

/// The file that dwz moved common debug information into, named by the debug file.
pub(crate) fn supplementary(content: &[u8], files: &dyn FileReader) -> Option<Arc<Vec<u8>>> {
    let elf = parse(content)?;
    let (_, build_id) = elf.gnu_debugaltlink().ok().flatten()?;
    by_build_id(build_id, files)
}

fn by_build_id(build_id: &[u8], files: &dyn FileReader) -> Option<Arc<Vec<u8>>> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    if rest.is_empty() {
        return None;
    }
    let path = format!("{DEBUG_DIRECTORY}/.build-id/{first:02x}/{rest}.debug");
    let found = files.read(Path::new(&path), LARGEST).ok()?;
    let fits = parse(&found)?.build_id().ok().flatten() == Some(build_id);
    fits.then_some(found)
}

/// A link's name, if it is a plain file name; a path would let an object point anywhere.
fn plain_name(name: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(name).ok()?;
    (!name.is_empty() && name != "." && name != ".." && !name.contains('/')).then_some(name)
}

fn candidates(object: &Path, name: &str) -> Vec<PathBuf> {
    let Some(directory) = object.parent() else { return Vec::new() };
    let mut found = vec![directory.join(name), directory.join(".debug").join(name)];
    if let Ok(below_root) = directory.strip_prefix("/") {
        found.push(Path::new(DEBUG_DIRECTORY).join(below_root).join(name));
    }
    found.retain(|candidate| candidate != object);
    found
}

/// The checksum of .gnu_debuglink: CRC-32 as in zip files.
fn crc32(bytes: &[u8]) -> u32 {
    let mut table = [0u32; 256];
    for (n, entry) in table.iter_mut().enumerate() {
        *entry = (0..8).fold(n as u32, |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()));
    }
    !bytes.iter().fold(!0u32, |crc, byte| (crc >> 8) ^ table[((crc ^ u32::from(*byte)) & 0xff) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_is_the_one_of_debuglink() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_link_that_is_a_path_is_refused() {
        assert_eq!(plain_name(b"../../etc/passwd"), None);
        assert_eq!(plain_name(b".."), None);
        assert_eq!(plain_name(b"prog.debug"), Some("prog.debug"));
    }
}
