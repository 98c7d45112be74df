//! Which descriptors would not block: what poll and select ask.

use super::FileSystem;
use super::descriptors::Object;
use super::pipe::ATOMIC;
use crate::errno::Errno;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    pub readable: bool,
    pub writable: bool,
    /// The other end of a pipe is closed, seen from the reading end.
    pub hangup: bool,
    /// The other end of a pipe is closed, seen from the writing end.
    pub broken: bool,
}

impl FileSystem {
    pub fn readiness(&self, descriptor: i32) -> Result<Readiness, Errno> {
        let (_, file) = self.file(descriptor)?;
        let mut readiness = Readiness::default();
        match &file.object {
            Object::Node(_) | Object::Generated { .. } => {
                readiness.readable = true;
                readiness.writable = true;
            }
            Object::Input => {
                // Input that is still to come is waited for by the read, not here, so that it is asked for once.
                // At the end a read returns at once too. A pipe whose writer is gone says so.
                readiness.readable = true;
                readiness.writable = self.terminal;
                readiness.hangup = !self.terminal && self.input.ends_at(file.offset);
            }
            Object::Output(_) => readiness.writable = true,
            Object::PipeReader(id) => {
                if let Some(pipe) = self.pipes.get(id) {
                    readiness.readable = pipe.len() > 0;
                    readiness.hangup = pipe.writers == 0;
                }
            }
            Object::PipeWriter(id) => {
                if let Some(pipe) = self.pipes.get(id) {
                    readiness.writable = pipe.space() >= ATOMIC;
                    readiness.broken = pipe.readers == 0;
                }
            }
        }
        Ok(readiness)
    }
}
