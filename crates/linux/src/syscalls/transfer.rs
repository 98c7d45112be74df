//! Moving bytes between files and the guest's memory, and between files.

use super::files::positive;
use super::nr;
use crate::errno::Errno;
use crate::fs::abi::{O_APPEND, S_IFMT, S_IFREG, SEEK_CUR};
use crate::fs::{IoError, Written};
use crate::guest::{IoVec, MAX_TRANSFER};
use crate::kernel::{Args, Call, SysResult};
use crate::moved::Place;
use crate::signal::SIGPIPE;

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    let [descriptor, second, third, fourth, ..] = args;
    let descriptor = descriptor as i32;
    let single = [IoVec { base: second, length: third.min(MAX_TRANSFER) }];
    Some(match number {
        nr::read => call.read_into(descriptor, &single, None),
        nr::write => call.write_from(descriptor, &single, None),
        nr::pread64 => positive(fourth).and_then(|at| call.read_into(descriptor, &single, Some(at))),
        nr::pwrite64 => positive(fourth).and_then(|at| call.write_from(descriptor, &single, Some(at))),
        nr::readv => call.vectors(args).and_then(|into| call.read_into(descriptor, &into, None)),
        nr::writev => call.vectors(args).and_then(|from| call.write_from(descriptor, &from, None)),
        nr::preadv | nr::pwritev | nr::preadv2 | nr::pwritev2 => call.positioned(number, args),
        nr::sendfile => call.sendfile(args),
        nr::copy_file_range => call.copy_file_range(args),
        _ => return None,
    })
}

/// So many bytes are on their way at a time, however large the transfer.
const PIECE: usize = 1 << 20;

/// One side of a transfer between files.
#[derive(Clone, Copy)]
struct Side {
    descriptor: i32,
    /// Where to read or write; the open file's own offset if none.
    position: Option<u64>,
}

impl Call<'_> {
    /// Fills buffers from a file, one after the other, until one stays short.
    fn read_into(&mut self, descriptor: i32, buffers: &[IoVec], position: Option<u64>) -> SysResult {
        let mut done = 0;
        let pieces = buffers.iter().flat_map(|buffer| split(*buffer));
        for piece in pieces {
            let side = Side { descriptor, position: position.map(|at| at.saturating_add(done)) };
            let from = self.kernel.files.read_place(descriptor, side.position);
            let bytes = match self.read_side(side, piece.length as usize) {
                Ok(bytes) => bytes,
                Err(_) if done > 0 => break,
                Err(error) => return self.give_up("read", error),
            };
            let written = self.write_prefix(piece.base, &bytes);
            self.note_move(from, Some(Place::Memory(piece.base)), written);
            done += written;
            let lost = bytes.len() as u64 - written;
            if lost > 0 {
                if position.is_none() {
                    // What the guest did not get, it can read again. A pipe cannot take it back, nor does Linux's.
                    let _ = self.kernel.files.seek(descriptor, -(lost as i64), SEEK_CUR);
                }
                return if done > 0 { Ok(done) } else { Err(Errno::EFAULT) };
            }
            if (bytes.len() as u64) < piece.length {
                break;
            }
        }
        Ok(done)
    }

    /// Writes buffers to a file as one stretch of bytes.
    fn write_from(&mut self, descriptor: i32, buffers: &[IoVec], position: Option<u64>) -> SysResult {
        // A bad descriptor is told of before a bad address.
        if let Err(error) = self.write_side(Side { descriptor, position }, &[]) {
            return self.give_up("write", error);
        }
        let mut done = 0;
        let mut pieces =
            buffers.iter().flat_map(|buffer| split(*buffer)).filter(|piece| piece.length > 0).peekable();
        let mut fault = false;
        while pieces.peek().is_some() && !fault {
            let mut bytes = Vec::new();
            let mut parts = Vec::new();
            while let Some(piece) = pieces.next_if(|piece| bytes.len() + piece.length as usize <= PIECE) {
                let part = self.guest.read_available(piece.base, piece.length).unwrap_or_default();
                fault = (part.len() as u64) < piece.length;
                parts.push((piece.base, part.len() as u64));
                bytes.extend_from_slice(&part);
                if fault {
                    break;
                }
            }
            if bytes.is_empty() {
                break;
            }
            let side = Side { descriptor, position: position.map(|at| at.saturating_add(done)) };
            let to = self.write_place(side);
            match self.write_side(side, &bytes) {
                Ok(count) => {
                    self.note_written(&parts, to, count as u64);
                    done += count as u64;
                    if count < bytes.len() {
                        break;
                    }
                }
                Err(_) if done > 0 => break,
                Err(error) => return self.give_up("write", error),
            }
        }
        if fault && done == 0 { Err(Errno::EFAULT) } else { Ok(done) }
    }

    /// preadv and its kin: the position is the fourth argument; -1 means the file's own for the newer two.
    fn positioned(&mut self, number: u64, args: Args) -> SysResult {
        let [descriptor, _, _, position, _, flags] = args;
        let newer = matches!(number, nr::preadv2 | nr::pwritev2);
        if newer && flags != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let position = match newer && position as i64 == -1 {
            true => None,
            false => Some(positive(position)?),
        };
        let buffers = self.vectors(args)?;
        match number {
            nr::preadv | nr::preadv2 => self.read_into(descriptor as i32, &buffers, position),
            _ => self.write_from(descriptor as i32, &buffers, position),
        }
    }

    fn vectors(&mut self, [descriptor, vectors, count, ..]: Args) -> Result<Vec<IoVec>, Errno> {
        self.kernel.files.status_flags(descriptor as i32)?;
        self.guest.read_iovecs(vectors, count)
    }

    fn sendfile(&mut self, [to, from, offset, count, ..]: Args) -> SysResult {
        let (to, from) = (to as i32, from as i32);
        let stat = self.kernel.files.stat_descriptor(from)?;
        if self.kernel.files.status_flags(to)? & O_APPEND != 0 || stat.mode & S_IFMT != S_IFREG {
            return Err(Errno::EINVAL);
        }
        let position = self.read_position(offset)?;
        let target = Side { descriptor: to, position: None };
        let moved = self.copy("sendfile", Side { descriptor: from, position }, target, count)?;
        self.write_position(offset, position, moved)?;
        Ok(moved)
    }

    fn copy_file_range(&mut self, [from, from_offset, to, to_offset, count, flags]: Args) -> SysResult {
        let (from, to) = (from as i32, to as i32);
        let source = self.kernel.files.stat_descriptor(from)?;
        let target = self.kernel.files.stat_descriptor(to)?;
        if flags != 0 || [source.mode, target.mode].iter().any(|mode| mode & S_IFMT != S_IFREG) {
            return Err(Errno::EINVAL);
        }
        if self.kernel.files.status_flags(to)? & O_APPEND != 0 {
            return Err(Errno::EBADF);
        }
        let (read_at, write_at) = (self.read_position(from_offset)?, self.read_position(to_offset)?);
        if (source.device, source.inode) == (target.device, target.inode) {
            let files = &mut self.kernel.files;
            let start = read_at.map_or_else(|| files.seek(from, 0, SEEK_CUR), Ok)?;
            let other = write_at.map_or_else(|| files.seek(to, 0, SEEK_CUR), Ok)?;
            if start.abs_diff(other) < count.min(MAX_TRANSFER) {
                return Err(Errno::EINVAL);
            }
        }
        let source = Side { descriptor: from, position: read_at };
        let target = Side { descriptor: to, position: write_at };
        let moved = self.copy("copy_file_range", source, target, count)?;
        self.write_position(from_offset, read_at, moved)?;
        self.write_position(to_offset, write_at, moved)?;
        Ok(moved)
    }

    /// Moves bytes from one file to another.
    fn copy(&mut self, name: &'static str, source: Side, target: Side, count: u64) -> SysResult {
        let advance =
            |side: Side, by| Side { position: side.position.map(|at: u64| at.saturating_add(by)), ..side };
        let mut done = 0;
        let count = count.min(MAX_TRANSFER);
        if let Err(error) = self.write_side(target, &[]) {
            return self.give_up(name, error);
        }
        while done < count {
            let wanted = (count - done).min(PIECE as u64) as usize;
            let from = self.kernel.files.read_place(source.descriptor, advance(source, done).position);
            let to = self.write_place(advance(target, done));
            let bytes = match self.read_side(advance(source, done), wanted) {
                Ok(bytes) if bytes.is_empty() => break,
                Ok(bytes) => bytes,
                Err(_) if done > 0 => break,
                Err(error) => return self.give_up(name, error),
            };
            let written = self.write_side(advance(target, done), &bytes);
            let taken = *written.as_ref().unwrap_or(&0);
            self.note_move(from, to, taken as u64);
            if taken < bytes.len() && source.position.is_none() {
                // The source keeps what the target did not take.
                let back = (bytes.len() - taken) as i64;
                self.kernel.files.seek(source.descriptor, -back, SEEK_CUR)?;
            }
            done += taken as u64;
            match written {
                Ok(taken) if taken < bytes.len() => break,
                Ok(_) => {}
                Err(_) if done > 0 => break,
                Err(error) => return self.give_up(name, error),
            }
        }
        Ok(done)
    }

    fn read_side(&mut self, side: Side, count: usize) -> Result<Vec<u8>, IoError> {
        match side.position {
            None => self.kernel.files.read(side.descriptor, count),
            Some(position) => self.kernel.files.read_at(side.descriptor, position, count),
        }
    }

    fn write_side(&mut self, side: Side, bytes: &[u8]) -> Result<usize, IoError> {
        let now = self.now();
        let written = match side.position {
            None => self.kernel.files.write(side.descriptor, bytes, now)?,
            Some(position) => self.kernel.files.write_at(side.descriptor, position, bytes, now)?,
        };
        Ok(match written {
            Written::Count(count) => count,
            Written::Output(stream) => {
                self.write_output(stream, bytes);
                bytes.len()
            }
        })
    }

    /// Where the first byte goes that is written to this side.
    fn write_place(&self, side: Side) -> Option<Place> {
        let files = &self.kernel.files;
        let output = |stream| Place::Output { stream, offset: self.kernel.output.length(stream) };
        files
            .output_stream(side.descriptor)
            .map(output)
            .or_else(|| files.write_place(side.descriptor, side.position))
    }

    /// Notes that these parts of memory went, one after the other, to a place that took `count` bytes.
    fn note_written(&mut self, parts: &[(u64, u64)], to: Option<Place>, count: u64) {
        let mut done = 0;
        for &(base, length) in parts {
            let length = length.min(count - done);
            self.note_move(Some(Place::Memory(base)), to.map(|to| to.plus(done)), length);
            done += length;
        }
    }

    /// What a call returns that could not move a single byte.
    fn give_up(&mut self, name: &'static str, error: IoError) -> SysResult {
        match error {
            IoError::Deadlock => self.block_forever(name),
            IoError::Input => self.wait_for_input(),
            IoError::Errno(errno) => {
                if errno == Errno::EPIPE {
                    self.raise(SIGPIPE)?;
                }
                Err(errno)
            }
        }
    }

    /// Writes as much as the guest's memory takes and returns how much that was.
    fn write_prefix(&mut self, address: u64, bytes: &[u8]) -> u64 {
        if self.guest.write(address, bytes).is_ok() {
            return bytes.len() as u64;
        }
        // Some of it is not writable: go page by page up to there.
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            let at = address.wrapping_add(done as u64);
            let step = (machine::PAGE_SIZE - at % machine::PAGE_SIZE) as usize;
            let piece = rest.get(..step).unwrap_or(rest);
            if self.guest.write(at, piece).is_err() {
                break;
            }
            done += piece.len();
        }
        done as u64
    }

    fn read_position(&mut self, address: u64) -> Result<Option<u64>, Errno> {
        match address {
            0 => Ok(None),
            address => positive(self.guest.read_u64(address)?).map(Some),
        }
    }

    fn write_position(&mut self, address: u64, before: Option<u64>, moved: u64) -> Result<(), Errno> {
        match before {
            None => Ok(()),
            Some(before) => self.guest.write_u64(address, before.saturating_add(moved)),
        }
    }
}

/// A buffer in pieces of bounded size; an empty buffer is one empty piece.
fn split(buffer: IoVec) -> impl Iterator<Item = IoVec> {
    let pieces = buffer.length.div_ceil(PIECE as u64).max(1);
    (0..pieces).map(move |number| {
        let start = number * PIECE as u64;
        let length = (buffer.length - start).min(PIECE as u64);
        IoVec { base: buffer.base.wrapping_add(start), length }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::Stream;
    use crate::fs::abi::{O_CREAT, O_RDONLY, O_RDWR};
    use crate::fs::tests::Scratch;
    use crate::kernel::Exit;
    use crate::moved::Moved;
    use crate::testing::{Rig, SCRATCH, SCRATCH_LENGTH};

    #[test]
    fn bytes_go_to_a_file_and_come_back() {
        let mut rig = Rig::over(&Scratch::new());
        let file = rig.open("f", O_RDWR | O_CREAT).unwrap();
        rig.put(SCRATCH, b"hello world");
        assert_eq!(rig.call(nr::write, &[file, SCRATCH, 11]), Ok(11));
        assert_eq!(rig.call(nr::pwrite64, &[file, SCRATCH, 2, 6]), Ok(2));
        assert_eq!(rig.call(nr::lseek, &[file, 0, 0]), Ok(0));
        assert_eq!(rig.call(nr::read, &[file, SCRATCH + 100, 5]), Ok(5));
        assert_eq!(rig.call(nr::pread64, &[file, SCRATCH + 105, 100, 5]), Ok(6));
        assert_eq!(rig.get(SCRATCH + 100, 11), b"hello herld");
        assert_eq!(rig.call(nr::read, &[file, SCRATCH, 100]), Ok(6));
        assert_eq!(rig.call(nr::read, &[file, SCRATCH, 100]), Ok(0));
        assert_eq!(rig.call(nr::pread64, &[file, SCRATCH, 1, u64::MAX]), Err(Errno::EINVAL));
    }

    #[test]
    fn every_byte_that_moves_is_logged() {
        let mut rig = Rig::over(&Scratch::new());
        rig.put(SCRATCH, b"out");
        rig.call(nr::write, &[1, SCRATCH, 3]).unwrap();
        let log: Vec<_> = rig.kernel.accesses.iter().map(|a| (a.address, a.length, a.write)).collect();
        assert_eq!(log, [(SCRATCH, 3, false)]);
        rig.call(nr::read, &[0, SCRATCH, 100]).unwrap();
        let log: Vec<_> = rig.kernel.accesses.iter().map(|a| (a.address, a.length, a.write)).collect();
        assert_eq!(log, [(SCRATCH, 5, true)]);
        assert_eq!(rig.kernel.output.contents(Stream::Stdout), b"out");
    }

    #[test]
    fn moves_lead_from_memory_to_a_file_and_back_and_to_output() {
        let mut rig = Rig::over(&Scratch::new());
        let file = rig.open("f", O_RDWR | O_CREAT).unwrap();
        rig.put(SCRATCH, b"hello world");
        rig.call(nr::write, &[file, SCRATCH, 11]).unwrap();
        let [Moved { from: Place::Memory(SCRATCH), to: Place::File { inode, offset: 0 }, length: 11 }] =
            rig.kernel.moved[..]
        else {
            panic!("{:?}", rig.kernel.moved);
        };
        rig.call(nr::pread64, &[file, SCRATCH + 100, 100, 6]).unwrap();
        let back =
            Moved { from: Place::File { inode, offset: 6 }, to: Place::Memory(SCRATCH + 100), length: 5 };
        assert_eq!(rig.kernel.moved, [back]);
        for offset in [0, 3] {
            rig.call(nr::write, &[1, SCRATCH, 3]).unwrap();
            let to = Place::Output { stream: Stream::Stdout, offset };
            assert_eq!(rig.kernel.moved, [Moved { from: Place::Memory(SCRATCH), to, length: 3 }]);
        }
    }

    #[test]
    fn moves_through_a_pipe_are_counted_from_its_first_byte() {
        let mut rig = Rig::over(&Scratch::new());
        rig.call(nr::pipe2, &[SCRATCH, 0]).unwrap();
        let ends = rig.get(SCRATCH, 8);
        let (from, to) = (u64::from(ends[0]), u64::from(ends[4]));
        for offset in [0, 4] {
            rig.call(nr::write, &[to, SCRATCH + 8, 4]).unwrap();
            let Place::Pipe { offset: written, .. } = rig.kernel.moved[0].to else { panic!() };
            rig.call(nr::read, &[from, SCRATCH + 16, 100]).unwrap();
            let Place::Pipe { offset: read, .. } = rig.kernel.moved[0].from else { panic!() };
            assert_eq!((written, read), (offset, offset));
        }
    }

    #[test]
    fn a_buffer_that_ends_in_nowhere_gets_what_fits() {
        let scratch = Scratch::new();
        scratch.file("f", &[7; 10_000]);
        let mut rig = Rig::over(&scratch);
        let file = rig.open("f", O_RDWR).unwrap();
        let end = SCRATCH + SCRATCH_LENGTH;
        assert_eq!(rig.call(nr::read, &[file, end - 4100, 10_000]), Ok(4100));
        assert_eq!(rig.call(nr::lseek, &[file, 0, 1]), Ok(4100));
        assert_eq!(rig.call(nr::read, &[file, end, 10]), Err(Errno::EFAULT));
        assert_eq!(rig.call(nr::lseek, &[file, 0, 1]), Ok(4100));
        assert_eq!(rig.call(nr::write, &[file, end - 10, 50]), Ok(10));
        assert_eq!(rig.call(nr::write, &[file, end, 50]), Err(Errno::EFAULT));
        assert_eq!(rig.call(nr::write, &[99, end, 50]), Err(Errno::EBADF));
        assert_eq!(rig.call(nr::read, &[file, SCRATCH, u64::MAX]), Ok(5890));
    }

    #[test]
    fn vectors_are_one_stretch_of_bytes() {
        let mut rig = Rig::over(&Scratch::new());
        let file = rig.open("f", O_RDWR | O_CREAT).unwrap();
        rig.put(SCRATCH, b"abcdef");
        let vectors: Vec<u8> =
            [SCRATCH + 3, 3, 0, 0, SCRATCH, 2].iter().flat_map(|v| v.to_le_bytes()).collect();
        rig.put(SCRATCH + 64, &vectors);
        assert_eq!(rig.call(nr::writev, &[file, SCRATCH + 64, 3]), Ok(5));
        assert_eq!(rig.call(nr::preadv, &[file, SCRATCH + 64, 3, 1]), Ok(4));
        assert_eq!(rig.get(SCRATCH, 6), b"bbcefa");
        assert_eq!(rig.call(nr::writev, &[1, SCRATCH + 64, 3]), Ok(5));
        assert_eq!(rig.kernel.output.writes(), 1);
        assert_eq!(rig.call(nr::writev, &[1, SCRATCH + 64, 1025]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::preadv2, &[file, SCRATCH + 64, 1, u64::MAX, 0, 0]), Ok(0));
    }

    #[test]
    fn files_are_copied_without_the_guests_memory() {
        let scratch = Scratch::new();
        scratch.file("from", b"0123456789");
        let mut rig = Rig::over(&scratch);
        let from = rig.open("from", O_RDONLY).unwrap();
        let to = rig.open("to", O_RDWR | O_CREAT).unwrap();
        assert_eq!(rig.call(nr::sendfile, &[to, from, 0, 4]), Ok(4));
        rig.put(SCRATCH, &8u64.to_le_bytes());
        assert_eq!(rig.call(nr::sendfile, &[to, from, SCRATCH, 100]), Ok(2));
        assert_eq!(rig.get_u64(SCRATCH), 10);
        rig.put(SCRATCH, &1u64.to_le_bytes());
        assert_eq!(rig.call(nr::copy_file_range, &[from, 0, to, SCRATCH, 2, 0]), Ok(2));
        assert_eq!(rig.get_u64(SCRATCH), 3);
        assert_eq!(rig.call(nr::pread64, &[to, SCRATCH, 100, 0]), Ok(6));
        assert_eq!(rig.get(SCRATCH, 6), b"045389");
        assert_eq!(rig.call(nr::sendfile, &[1, from, 0, 100]), Ok(4));
        assert_eq!(rig.kernel.output.contents(Stream::Stdout), b"6789");
        assert_eq!(rig.call(nr::copy_file_range, &[to, 0, to, 0, 2, 0]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::sendfile, &[to, 0, 0, 4]), Err(Errno::EINVAL));
    }

    #[test]
    fn a_read_that_would_wait_for_ever_is_a_deadlock() {
        let mut rig = Rig::over(&Scratch::new());
        rig.call(nr::pipe, &[SCRATCH]).unwrap();
        let reader = u64::from(rig.get_u32(SCRATCH));
        rig.call(nr::read, &[reader, SCRATCH, 1]).unwrap_err();
        assert_eq!(rig.kernel.ended, Some(Exit::Deadlock { call: "read" }));
    }

    #[test]
    fn writing_to_a_pipe_that_nobody_reads_raises_a_signal() {
        let mut rig = Rig::over(&Scratch::new());
        rig.call(nr::pipe, &[SCRATCH]).unwrap();
        let (reader, writer) = (u64::from(rig.get_u32(SCRATCH)), u64::from(rig.get_u32(SCRATCH + 4)));
        rig.call(nr::close, &[reader]).unwrap();
        assert_eq!(rig.call(nr::write, &[writer, SCRATCH, 1]), Err(Errno::EPIPE));
        assert_eq!(rig.kernel.ended, Some(Exit::Killed { signal: SIGPIPE, fault: None }));
    }
}
