//! Finds the files that a run is explained by and puts them into its capsule: separate debug files, and the sources of
//! code in scope. The program and its libraries are there already, since the run has read them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use linux::fs::{Attachment, Capsule, Timestamp};
use machine::Memory;
use program::{FileReader, HostFiles, Program, Scope, SourceMap};

use super::files::key;

/// Larger debug files are left out; that of a browser would be larger.
const LARGEST_DEBUG_FILE: u64 = 256 << 20;
const MOST_DEBUG_BYTES: u64 = 1 << 30;
/// Larger sources are left out: no person wrote them.
const LARGEST_SOURCE: u64 = 4 << 20;
const MOST_SOURCE_BYTES: u64 = 64 << 20;

pub fn attach(capsule: &mut Capsule, memory: &Memory, scope: &Scope, map: &SourceMap) {
    let reader = Arc::new(Noting::default());
    let program = Program::from_memory(memory).with_files(reader.clone());
    let sources = scope.source_paths(&program);
    let mut room = MOST_DEBUG_BYTES;
    for (path, content) in reader.read() {
        put(capsule, &path, &path, content, &mut room);
    }
    let mut room = MOST_SOURCE_BYTES;
    for source in sources {
        let found = PathBuf::from(map.apply(&source));
        if let Ok(content) = HostFiles.read(&found, LARGEST_SOURCE) {
            put(capsule, Path::new(&*source), &found, content, &mut room);
        }
    }
}

/// Attaches the file `found` under the name `path`, if there is room for it.
fn put(capsule: &mut Capsule, path: &Path, found: &Path, content: Arc<Vec<u8>>, room: &mut u64) {
    let Some(rest) = room.checked_sub(content.len() as u64) else { return };
    *room = rest;
    let modification = HostFiles.modified(found).map(timestamp).unwrap_or_default();
    capsule.attachments.insert(key(path), Attachment { content, modification });
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp {
        seconds: i64::try_from(since_1970.as_secs()).unwrap_or(i64::MAX),
        nanoseconds: since_1970.subsec_nanos(),
    }
}

/// Reads from this machine and keeps what was found.
#[derive(Default)]
struct Noting {
    read: Mutex<BTreeMap<PathBuf, Arc<Vec<u8>>>>,
}

impl Noting {
    fn read(&self) -> BTreeMap<PathBuf, Arc<Vec<u8>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl FileReader for Noting {
    fn read(&self, path: &Path, largest: u64) -> io::Result<Arc<Vec<u8>>> {
        let content = HostFiles.read(path, largest.min(LARGEST_DEBUG_FILE))?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(read.entry(path.to_owned()).or_insert(content).clone())
    }

    fn modified(&self, path: &Path) -> Option<SystemTime> {
        HostFiles.modified(path)
    }
}
