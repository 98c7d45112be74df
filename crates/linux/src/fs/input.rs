//! Standard input, as far as it is known.
//!
//! Somebody may still be typing it. Then a read that finds nothing more stops the process, which is fed and run on.
//! How much a read returns must not depend on how the input trickled in, or the same input would not always give
//! the same run. So reads end at places that the input alone decides: at chunks of a fixed size, or at lines.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::abi::O_RDONLY;
use super::{At, FileSystem, ProcessFile, ProcessText, Timestamp};
use crate::errno::Errno;

/// Where reads from standard input end at the latest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Pieces {
    /// At multiples of [`Pieces::CHUNK`], as much as a pipe of Linux holds.
    #[default]
    Chunks,
    /// Behind each line, as from a terminal.
    Lines,
}

impl Pieces {
    pub const CHUNK: usize = 65536;
}

/// A file of the host that is standard input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputFile {
    /// Absolute.
    pub path: Vec<u8>,
    /// Where reading begins.
    pub offset: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    bytes: Arc<Vec<u8>>,
    /// More can come.
    open: bool,
    pieces: Pieces,
}

impl Hash for Input {
    /// How much of it is known yet says nothing about the run: the rest comes when it is asked for. Like the host's
    /// files, the input is the same for all runs that are compared.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pieces.hash(state);
    }
}

impl Input {
    pub fn new(bytes: Arc<Vec<u8>>, open: bool, pieces: Pieces) -> Input {
        Input { bytes, open, pieces }
    }

    pub fn known(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether a read at this offset would find the end.
    pub fn ends_at(&self, offset: u64) -> bool {
        !self.open && offset >= self.known()
    }

    /// Up to `count` bytes from `offset` on; `None` when they are still to come.
    pub fn read(&self, offset: u64, count: usize) -> Option<Vec<u8>> {
        let first = usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len());
        let rest = self.bytes.get(first..).unwrap_or_default();
        if rest.is_empty() && self.open && count > 0 {
            return None;
        }
        let piece = match self.pieces {
            Pieces::Chunks => Pieces::CHUNK - first % Pieces::CHUNK,
            Pieces::Lines => {
                let mut asked_for = rest.iter().take(count);
                asked_for.position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1)
            }
        };
        Some(rest.iter().take(count.min(piece)).copied().collect())
    }
}

/// Nothing is told about the process while it is being set up.
struct NoText;

impl ProcessText for NoText {
    fn text(&self, _: ProcessFile) -> Vec<u8> {
        Vec::new()
    }
}

impl FileSystem {
    pub(super) fn open_input_file(&mut self, file: &InputFile, now: Timestamp) -> Result<i32, Errno> {
        let descriptor = self.open(At::working_directory(&file.path), O_RDONLY, 0, now, &NoText)?;
        self.file_mut(descriptor)?.offset = file.offset;
        Ok(descriptor)
    }

    /// What is known of standard input; nothing when it is a file.
    pub fn known_input(&self) -> &Arc<Vec<u8>> {
        &self.input.bytes
    }

    /// Where reads of it end.
    pub fn input_pieces(&self) -> Pieces {
        self.input.pieces
    }

    /// More of standard input: a whole piece, or the last part of it. Nothing is its end.
    pub fn feed_input(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            self.input.open = false;
        } else if self.input.open {
            Arc::make_mut(&mut self.input.bytes).extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(bytes: &[u8], pieces: Pieces) -> Input {
        Input::new(Arc::new(bytes.to_vec()), false, pieces)
    }

    /// The sizes of all reads until the end.
    fn sizes(input: &Input, count: usize) -> Vec<usize> {
        let mut offset = 0;
        let mut sizes = Vec::new();
        loop {
            let size = input.read(offset, count).unwrap().len();
            if size == 0 {
                return sizes;
            }
            sizes.push(size);
            offset += size as u64;
        }
    }

    #[test]
    fn reads_end_where_the_input_says() {
        assert_eq!(sizes(&complete(b"one\ntwo\n\nrest", Pieces::Lines), 100), [4, 4, 1, 4]);
        assert_eq!(sizes(&complete(b"one\ntwo", Pieces::Lines), 3), [3, 1, 3]);
        assert_eq!(
            sizes(&complete(&vec![0; Pieces::CHUNK + 5], Pieces::Chunks), 40_000),
            [40_000, 25_536, 5]
        );
        assert_eq!(sizes(&complete(b"", Pieces::Chunks), 10), []);
    }

    #[test]
    fn open_input_is_waited_for_and_closed_input_ends() {
        let mut input = Input::new(Arc::default(), true, Pieces::Chunks);
        assert_eq!(input.read(0, 10), None);
        assert_eq!(input.read(0, 0), Some(Vec::new()));
        assert!(!input.ends_at(0));
        input.bytes = Arc::new(b"abc".to_vec());
        assert_eq!(input.read(0, 10).as_deref(), Some(&b"abc"[..]));
        assert_eq!(input.read(3, 10), None);
        input.open = false;
        assert_eq!(input.read(3, 10), Some(Vec::new()));
        assert!(input.ends_at(3));
    }
}
