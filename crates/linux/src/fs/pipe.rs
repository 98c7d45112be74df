//! Pipes within one process.
//!
//! Nobody else could fill or drain them: a read that finds a pipe empty while a writer is open, and a write that
//! finds it full, would wait for ever. The caller is told so, because that is a finding about the program.

use std::collections::VecDeque;
use std::sync::Arc;

use super::transfer::IoError;
use crate::errno::Errno;

/// As much as fits into a pipe of Linux.
pub const CAPACITY: usize = 65536;
/// Writes of up to so many bytes go in whole or not at all.
pub const ATOMIC: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PipeId(pub u64);

#[derive(Clone)]
pub struct Pipe {
    bytes: Arc<VecDeque<u8>>,
    /// How many bytes have been taken out.
    pub taken: u64,
    pub readers: u32,
    pub writers: u32,
}

impl Pipe {
    /// An empty pipe with one reader and one writer.
    pub fn new() -> Pipe {
        Pipe { bytes: Arc::default(), taken: 0, readers: 1, writers: 1 }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn space(&self) -> usize {
        CAPACITY - self.bytes.len().min(CAPACITY)
    }

    pub fn contents(&self) -> impl Iterator<Item = &u8> {
        self.bytes.iter()
    }

    pub fn read(&mut self, count: usize, nonblocking: bool) -> Result<Vec<u8>, IoError> {
        if self.bytes.is_empty() && self.writers > 0 && count > 0 {
            return Err(if nonblocking { Errno::EAGAIN.into() } else { IoError::Deadlock });
        }
        let count = count.min(self.bytes.len());
        self.taken += count as u64;
        Ok(Arc::make_mut(&mut self.bytes).drain(..count).collect())
    }

    pub fn write(&mut self, bytes: &[u8], nonblocking: bool) -> Result<usize, IoError> {
        if self.readers == 0 {
            return Err(Errno::EPIPE.into());
        }
        let space = self.space();
        if bytes.len() > space {
            if !nonblocking {
                return Err(IoError::Deadlock);
            }
            if space == 0 || bytes.len() <= ATOMIC {
                return Err(Errno::EAGAIN.into());
            }
        }
        let count = bytes.len().min(space);
        Arc::make_mut(&mut self.bytes).extend(&bytes[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_in_order() {
        let mut pipe = Pipe::new();
        assert_eq!(pipe.write(b"hello", false), Ok(5));
        assert_eq!(pipe.read(2, false).unwrap(), b"he");
        assert_eq!(pipe.read(100, false).unwrap(), b"llo");
    }

    #[test]
    fn an_empty_pipe_with_a_writer_is_a_deadlock_and_without_one_the_end() {
        let mut pipe = Pipe::new();
        assert_eq!(pipe.read(1, false), Err(IoError::Deadlock));
        assert_eq!(pipe.read(1, true), Err(Errno::EAGAIN.into()));
        pipe.writers = 0;
        assert_eq!(pipe.read(1, false).unwrap(), b"");
    }

    #[test]
    fn a_full_pipe_blocks_and_a_pipe_without_readers_breaks() {
        let mut pipe = Pipe::new();
        assert_eq!(pipe.write(&[0; CAPACITY - 10], false), Ok(CAPACITY - 10));
        assert_eq!(pipe.write(&[0; 11], false), Err(IoError::Deadlock));
        assert_eq!(pipe.write(&[0; 11], true), Err(Errno::EAGAIN.into()));
        assert_eq!(pipe.write(&[0; 5000], true), Ok(10));
        pipe.readers = 0;
        assert_eq!(pipe.write(b"x", false), Err(Errno::EPIPE.into()));
    }
}
