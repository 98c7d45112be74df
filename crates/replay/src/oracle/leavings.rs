//! What a process leaves behind.

use linux::fs::abi::{O_NONBLOCK, O_RDONLY};
use linux::fs::{At, ChangeKind, FileSystem, ProcessFile, ProcessText, Stream, Timestamp};
use linux::{Exit, Process};
use machine::Time;
use sha2::{Digest, Sha256};

use crate::case::{Bytes, Case, Channel};

/// A file that is longer is compared so far only.
const LONGEST_FILE: usize = 1 << 30;
/// Files are read in such pieces.
const PIECE: usize = 1 << 20;

/// The status that a shell would tell: 128 and the signal's number for a program that was killed. `None` for one that did
/// not end.
pub fn status(exit: &Exit) -> Option<i32> {
    match exit {
        // As the kernel does, only the low byte is passed on.
        Exit::Exited(status) => Some(status & 0xff),
        Exit::Killed { signal, .. } => Some(128 + signal),
        _ => None,
    }
}

/// Stands for all that a run left behind: what it wrote, how it ended, and the files that it changed. `None` if that cannot be
/// told.
pub fn digest(process: &Process) -> Option<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(&process.kernel.output.contents(Stream::Stdout));
    part(&process.kernel.output.contents(Stream::Stderr));
    let status = process.kernel.ended.as_ref().and_then(status)?;
    part(&status.to_le_bytes());
    // The list is made on a copy: asking fills caches.
    for change in process.kernel.files.clone().changed_files().ok()? {
        change.path.iter().for_each(|name| part(name));
        match change.kind {
            ChangeKind::File { content, .. } => part(content.as_slice()),
            other => part(format!("{other:?}").as_bytes()),
        }
    }
    Some(hash.finalize().into())
}

/// What a channel holds; `None` for a file that cannot be read.
pub fn contents(case: &Case, process: &Process, channel: &Channel) -> Option<Vec<u8>> {
    match channel {
        Channel::Stdout => Some(process.kernel.output.contents(Stream::Stdout)),
        Channel::Stderr => Some(process.kernel.output.contents(Stream::Stderr)),
        Channel::File(path) => read(&process.kernel.files, &absolute(case, path)),
    }
}

/// A path of the case, whatever directory the program has gone to since.
fn absolute(case: &Case, path: &Bytes) -> Vec<u8> {
    match path.first() {
        Some(b'/') => path.to_vec(),
        _ => [&case.cwd, &b"/"[..], path].concat(),
    }
}

/// Nobody asks for a text about the process here.
struct NoText;

impl ProcessText for NoText {
    fn text(&self, _: ProcessFile) -> Vec<u8> {
        Vec::new()
    }
}

fn read(files: &FileSystem, path: &[u8]) -> Option<Vec<u8>> {
    // A copy of our own, where the program's limits and descriptors do not matter.
    let mut files = files.clone();
    for descriptor in files.open_descriptors() {
        let _ = files.close(descriptor);
    }
    files.limit_descriptors(u64::MAX);
    let flags = O_RDONLY | O_NONBLOCK;
    let opened = files.open(At::working_directory(path), flags, 0, Timestamp::default(), &NoText).ok()?;
    let mut content = Vec::new();
    while content.len() < LONGEST_FILE {
        let piece = files.read(opened, PIECE).ok()?;
        if piece.is_empty() {
            break;
        }
        content.extend_from_slice(&piece);
    }
    Some(content)
}

/// The system call instruction that wrote a byte of a stream; of the end, the last one that wrote to it.
pub(super) fn time_of_write(process: &Process, channel: &Channel, offset: u64) -> Option<Time> {
    let stream = match channel {
        Channel::Stdout => Stream::Stdout,
        Channel::Stderr => Stream::Stderr,
        Channel::File(_) => return None,
    };
    let mut end = 0u64;
    let mut last = None;
    for write in process.kernel.output.since(0).filter(|write| write.stream == stream) {
        end = end.saturating_add(write.bytes.len() as u64);
        // A call is served when its instruction has retired.
        last = Some(Time(write.time.0.saturating_sub(1)));
        if offset < end {
            break;
        }
    }
    last
}
