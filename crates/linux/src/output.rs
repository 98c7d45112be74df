//! What the guest has written to its standard output and error, with the time of each write.
//!
//! The log is part of the state, and a state is cloned in O(1), so it is a persistent list of blocks: clones
//! share all full blocks, and copy at most the one that is being filled.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use machine::Time;

use crate::fs::Stream;

/// One write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written<'a> {
    pub stream: Stream,
    pub time: Time,
    pub bytes: &'a [u8],
}

/// A block is full with this many writes or bytes; small enough that copying one is cheap.
const BLOCK_WRITES: usize = 128;
const BLOCK_BYTES: usize = 16 * 1024;
/// What a write takes besides its bytes.
const WRITE_COST: usize = size_of::<(Stream, Time, usize)>();

#[derive(Clone, Debug, Default)]
pub struct Output {
    last: Option<Arc<Block>>,
    writes: u64,
    bytes: u64,
    /// Bytes of each stream.
    lengths: [u64; 2],
    /// How many writes there were when [`Output::forget`] was last called.
    forgotten: u64,
    /// Bytes that the log takes, but for what was forgotten.
    memory: u64,
    /// Of all streams, times and bytes so far, so that hashing a state does not go over all of its output.
    hash: u64,
}

impl Hash for Output {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

#[derive(Clone, Debug)]
struct Block {
    before: Option<Arc<Block>>,
    /// Stream, time, and where the bytes of the write end in `bytes`.
    writes: Vec<(Stream, Time, usize)>,
    bytes: Vec<u8>,
}

impl Output {
    pub fn push(&mut self, stream: Stream, time: Time, bytes: &[u8]) {
        let full = |block: &Block| block.writes.len() >= BLOCK_WRITES || block.bytes.len() >= BLOCK_BYTES;
        let mut block = match self.last.take() {
            Some(block) if !full(&block) => block,
            before => Arc::new(Block { before, writes: Vec::new(), bytes: Vec::new() }),
        };
        let open = Arc::make_mut(&mut block);
        open.bytes.extend_from_slice(bytes);
        open.writes.push((stream, time, open.bytes.len()));
        self.last = Some(block);
        self.writes += 1;
        self.bytes += bytes.len() as u64;
        self.lengths[stream as usize] += bytes.len() as u64;
        self.memory += (bytes.len() + WRITE_COST) as u64;
        let mut hasher = DefaultHasher::new();
        (self.hash, stream, time, bytes).hash(&mut hasher);
        self.hash = hasher.finish();
    }

    /// How many writes there were.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// How many bytes there are, in both streams together.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many bytes of one stream there are.
    pub fn length(&self, stream: Stream) -> u64 {
        self.lengths[stream as usize]
    }

    /// Bytes that the log takes. With small writes that is much more than what was written.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Lets go of all writes so far. For those who hand them on and do not come back to them: a run may be long.
    pub fn forget(&mut self) {
        self.last = None;
        self.forgotten = self.writes;
        self.memory = 0;
    }

    /// The writes from the `first` on (counted from 0), in order, apart from forgotten ones. Costs as much as there
    /// is to hand over.
    pub fn since(&self, first: u64) -> impl Iterator<Item = Written<'_>> {
        let first = first.max(self.forgotten);
        let mut blocks = Vec::new();
        let mut start = self.writes;
        let mut next = self.last.as_deref();
        while let Some(block) = next
            && start > first
        {
            start = start.saturating_sub(block.writes.len() as u64);
            blocks.push(block);
            next = block.before.as_deref();
        }
        let skip = usize::try_from(first.saturating_sub(start)).unwrap_or(usize::MAX);
        blocks.into_iter().rev().flat_map(Block::iter).skip(skip)
    }

    /// Everything that was written to one stream.
    pub fn contents(&self, stream: Stream) -> Vec<u8> {
        self.since(0).filter(|write| write.stream == stream).flat_map(|write| write.bytes).copied().collect()
    }
}

impl Block {
    fn iter(&self) -> impl Iterator<Item = Written<'_>> {
        let mut start = 0;
        self.writes.iter().map(move |&(stream, time, end)| {
            let bytes = self.bytes.get(start..end).unwrap_or_default();
            start = end;
            Written { stream, time, bytes }
        })
    }
}

impl Drop for Block {
    /// Iteratively: the default would recurse once a block and overflow the stack on long outputs.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(block) = next {
            next = match Arc::try_unwrap(block) {
                Ok(mut block) => block.before.take(),
                Err(_) => None,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(writes: u64) -> Output {
        let mut output = Output::default();
        for n in 0..writes {
            let stream = if n % 3 == 0 { Stream::Stderr } else { Stream::Stdout };
            output.push(stream, Time(n), format!("{n},").as_bytes());
        }
        output
    }

    #[test]
    fn writes_come_back_in_order_with_their_times() {
        let output = filled(1000);
        let times: Vec<u64> = output.since(0).map(|write| write.time.0).collect();
        assert_eq!(times, (0..1000).collect::<Vec<_>>());
        assert!(output.contents(Stream::Stderr).starts_with(b"0,3,6,"));
    }

    #[test]
    fn since_hands_over_exactly_what_is_new() {
        let output = filled(300);
        for first in [0, 1, 127, 128, 129, 299, 300, 301] {
            let times: Vec<u64> = output.since(first).map(|write| write.time.0).collect();
            assert_eq!(times, (first..300).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_was_forgotten_takes_no_memory_and_is_still_counted() {
        let mut output = filled(1000);
        let (whole, hash) = (output.memory(), output.hash);
        assert!(whole > 1000 * 24);
        output.forget();
        assert_eq!((output.memory(), output.writes(), output.hash), (0, 1000, hash));
        assert_eq!(output.since(0).count(), 0);
        for n in 1000..1200 {
            output.push(Stream::Stdout, Time(n), b"new");
        }
        for first in [0, 999, 1000] {
            let times: Vec<u64> = output.since(first).map(|write| write.time.0).collect();
            assert_eq!(times, (1000..1200).collect::<Vec<_>>());
        }
        assert_eq!(output.since(1199).count(), 1);
    }

    #[test]
    fn a_clone_does_not_see_what_the_original_writes_later() {
        let mut output = filled(10);
        let clone = output.clone();
        output.push(Stream::Stdout, Time(10), b"new");
        assert_eq!(clone.writes(), 10);
        assert_eq!(clone.since(0).count(), 10);
        assert_eq!(clone.hash, filled(10).hash);
        assert_ne!(clone.hash, output.hash);
        assert_eq!(output.since(10).next().map(|write| write.bytes), Some(&b"new"[..]));
    }

    #[test]
    fn a_long_output_is_dropped_without_overflowing_the_stack() {
        let mut output = Output::default();
        for n in 0..200_000 {
            output.push(Stream::Stdout, Time(n), &[0; 200]);
        }
        drop(output);
    }
}
