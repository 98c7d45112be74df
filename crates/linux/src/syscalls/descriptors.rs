//! Descriptors: duplicates, flags, locks, pipes and ioctl.

use super::nr;
use crate::errno::Errno;
use crate::fs::abi::{O_ACCMODE, O_CLOEXEC, O_DIRECT, O_NONBLOCK, O_RDONLY, O_WRONLY};
use crate::kernel::{Args, Call, PID, SysResult};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    let [first, second, third, ..] = args;
    let files = &mut call.kernel.files;
    Some(match number {
        nr::dup => files.duplicate(first as i32, 0, false).map(|descriptor| descriptor as u64),
        nr::dup2 => {
            files.duplicate_to(first as i32, second as i32, false).map(|descriptor| descriptor as u64)
        }
        nr::dup3 => call.dup3(first as i32, second as i32, third as u32),
        nr::fcntl => call.fcntl(first as i32, second, third),
        nr::flock => call.flock(first as i32, second),
        nr::pipe => call.pipe(first, 0),
        nr::pipe2 => call.pipe(first, second as u32),
        nr::ioctl => call.ioctl(first as i32, second as u32, third),
        _ => return None,
    })
}

/// `struct termios` of a terminal as it is after login: canonical mode, echo, signals.
const TERMINAL_MODES: [u8; 36] = [
    0x00, 0x45, 0, 0, 0x05, 0, 0, 0, 0xbf, 0, 0, 0, 0x3b, 0x8a, 0, 0, 0, 3, 28, 127, 21, 4, 0, 1, 0, 17, 19,
    26, 0, 18, 15, 23, 22, 0, 0, 0,
];
/// `struct winsize`: 24 rows, 80 columns, no pixels.
const WINDOW_SIZE: [u8; 8] = [24, 0, 80, 0, 0, 0, 0, 0];

/// The type field of `struct flock`.
const READ_LOCK: u16 = 0;
const WRITE_LOCK: u16 = 1;
const UNLOCK: u16 = 2;

impl Call<'_> {
    fn dup3(&mut self, from: i32, to: i32, flags: u32) -> SysResult {
        if flags & !O_CLOEXEC != 0 || from == to {
            return Err(Errno::EINVAL);
        }
        let descriptor = self.kernel.files.duplicate_to(from, to, flags & O_CLOEXEC != 0)?;
        Ok(descriptor as u64)
    }

    fn pipe(&mut self, result: u64, flags: u32) -> SysResult {
        if flags & !(O_CLOEXEC | O_NONBLOCK | O_DIRECT) != 0 {
            return Err(Errno::EINVAL);
        }
        let (reader, writer) = self.kernel.files.pipe(flags, flags & O_CLOEXEC != 0)?;
        let both = [reader.to_le_bytes(), writer.to_le_bytes()].concat();
        if let Err(fault) = self.guest.write(result, &both) {
            self.kernel.files.close(reader)?;
            self.kernel.files.close(writer)?;
            return Err(fault);
        }
        Ok(0)
    }

    fn fcntl(&mut self, descriptor: i32, command: u64, argument: u64) -> SysResult {
        const CLOSE_ON_EXEC: u64 = 1;
        let files = &mut self.kernel.files;
        let flags = files.status_flags(descriptor)?;
        match command {
            // F_DUPFD, F_DUPFD_CLOEXEC
            0 | 1030 => {
                let number = files.duplicate(descriptor, argument as i32, command == 1030)?;
                Ok(number as u64)
            }
            // F_GETFD, F_SETFD
            1 => files.close_on_exec(descriptor).map(u64::from),
            2 => files.set_close_on_exec(descriptor, argument & CLOSE_ON_EXEC != 0).map(|()| 0),
            // F_GETFL, F_SETFL
            3 => Ok(u64::from(flags)),
            4 => files.set_status_flags(descriptor, argument as u32).map(|()| 0),
            // F_GETLK, F_SETLK, F_SETLKW and their open file description kinds
            5 | 36 => self.get_lock(argument),
            6 | 7 | 37 | 38 => self.set_lock(flags, argument),
            // F_SETOWN, F_GETOWN, F_SETSIG, F_GETSIG: no signal is ever sent for a descriptor.
            8..=11 => Ok(0),
            // F_SETPIPE_SZ, F_GETPIPE_SZ
            1031 | 1032 => {
                use crate::fs::abi::{S_IFIFO, S_IFMT};
                let is_pipe = files.stat_descriptor(descriptor)?.mode & S_IFMT == S_IFIFO;
                if is_pipe { Ok(65536) } else { Err(Errno::EBADF) }
            }
            // F_ADD_SEALS, F_GET_SEALS: files are sealed against seals.
            1033 => Err(Errno::EPERM),
            1034 => Ok(1),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Nobody else holds locks, so every lock could be had.
    fn get_lock(&mut self, lock: u64) -> SysResult {
        self.lock_type(lock)?;
        self.guest.write(lock, &UNLOCK.to_le_bytes())?;
        Ok(0)
    }

    fn set_lock(&mut self, flags: u32, lock: u64) -> SysResult {
        match (self.lock_type(lock)?, flags & O_ACCMODE) {
            (READ_LOCK, O_WRONLY) | (WRITE_LOCK, O_RDONLY) => Err(Errno::EBADF),
            _ => Ok(0),
        }
    }

    /// Reads `struct flock` and returns its type if it makes sense.
    fn lock_type(&mut self, lock: u64) -> Result<u16, Errno> {
        let [low, high, whence, ..] = self.guest.read_array::<32>(lock)?;
        let kind = u16::from_le_bytes([low, high]);
        if kind <= UNLOCK && whence <= 2 { Ok(kind) } else { Err(Errno::EINVAL) }
    }

    fn flock(&mut self, descriptor: i32, operation: u64) -> SysResult {
        const NONBLOCKING: u64 = 4;
        self.kernel.files.status_flags(descriptor)?;
        match operation & !NONBLOCKING {
            1 | 2 | 8 => Ok(0),
            _ => Err(Errno::EINVAL),
        }
    }

    fn ioctl(&mut self, descriptor: i32, request: u32, argument: u64) -> SysResult {
        let is_terminal = self.kernel.files.is_terminal(descriptor)?;
        match request {
            // FIONREAD
            0x541b => {
                let available = self.kernel.files.available(descriptor)?;
                self.guest.write_i32(argument, i32::try_from(available).unwrap_or(i32::MAX))?;
                Ok(0)
            }
            // FIONBIO
            0x5421 => {
                let enable = self.guest.read_i32(argument)? != 0;
                let flags = self.kernel.files.status_flags(descriptor)? & !O_NONBLOCK;
                let flags = if enable { flags | O_NONBLOCK } else { flags };
                self.kernel.files.set_status_flags(descriptor, flags).map(|()| 0)
            }
            // FIONCLEX, FIOCLEX
            0x5450 | 0x5451 => self.kernel.files.set_close_on_exec(descriptor, request == 0x5451).map(|()| 0),
            _ if !is_terminal => Err(Errno::ENOTTY),
            // TCGETS
            0x5401 => self.guest.write(argument, &TERMINAL_MODES).map(|()| 0),
            // TCSETS, TCSETSW, TCSETSF, TCSBRK, TCXONC, TCFLSH, TIOCSPGRP, TIOCSWINSZ: accepted, without effect.
            0x5402..=0x5404 | 0x5409..=0x540b | 0x5410 | 0x5414 => Ok(0),
            // TIOCGPGRP
            0x540f => self.guest.write_u32(argument, PID).map(|()| 0),
            // TIOCGWINSZ
            0x5413 => self.guest.write(argument, &WINDOW_SIZE).map(|()| 0),
            _ => Err(Errno::EINVAL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::abi::{O_APPEND, O_LARGEFILE, O_RDWR};
    use crate::fs::tests::Scratch;
    use crate::fs::{FileSystem, StandardStreams};
    use crate::testing::{Rig, SCRATCH};

    #[test]
    fn descriptors_are_duplicated_with_and_without_a_wish() {
        let mut rig = Rig::over(&Scratch::new());
        assert_eq!(rig.call(nr::dup, &[1]), Ok(3));
        assert_eq!(rig.call(nr::dup2, &[1, 10]), Ok(10));
        assert_eq!(rig.call(nr::dup2, &[1, 1]), Ok(1));
        assert_eq!(rig.call(nr::dup3, &[1, 11, u64::from(O_CLOEXEC)]), Ok(11));
        assert_eq!(rig.call(nr::fcntl, &[11, 1]), Ok(1));
        assert_eq!(rig.call(nr::dup3, &[1, 1, 0]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::fcntl, &[1, 0, 10]), Ok(12));
        assert_eq!(rig.call(nr::fcntl, &[1, 1030, 10]), Ok(13));
        assert_eq!(rig.call(nr::fcntl, &[13, 1]), Ok(1));
        assert_eq!(rig.call(nr::fcntl, &[1, 0, 5000]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::dup, &[99]), Err(Errno::EBADF));
        assert_eq!(rig.call(nr::dup2, &[1, 5000]), Err(Errno::EBADF));
    }

    #[test]
    fn flags_are_those_of_the_open_file() {
        let scratch = Scratch::new();
        scratch.file("f", b"");
        let mut rig = Rig::over(&scratch);
        let file = rig.open("f", O_RDWR | O_APPEND).unwrap();
        let copy = rig.call(nr::dup, &[file]).unwrap();
        assert_eq!(rig.call(nr::fcntl, &[file, 3]), Ok(u64::from(O_RDWR | O_APPEND | O_LARGEFILE)));
        assert_eq!(rig.call(nr::fcntl, &[file, 4, u64::from(O_NONBLOCK)]), Ok(0));
        assert_eq!(rig.call(nr::fcntl, &[copy, 3]), Ok(u64::from(O_RDWR | O_NONBLOCK | O_LARGEFILE)));
        assert_eq!(rig.call(nr::fcntl, &[1, 3]), Ok(u64::from(O_WRONLY)));
    }

    #[test]
    fn locks_are_free_for_the_asking() {
        let scratch = Scratch::new();
        scratch.file("f", b"");
        let mut rig = Rig::over(&scratch);
        let file = rig.open("f", O_RDONLY).unwrap();
        rig.put(SCRATCH, &[1, 0]);
        assert_eq!(rig.call(nr::fcntl, &[file, 5, SCRATCH]), Ok(0));
        assert_eq!(rig.get(SCRATCH, 2), [2, 0]);
        rig.put(SCRATCH, &[0, 0]);
        assert_eq!(rig.call(nr::fcntl, &[file, 6, SCRATCH]), Ok(0));
        rig.put(SCRATCH, &[1, 0]);
        assert_eq!(rig.call(nr::fcntl, &[file, 6, SCRATCH]), Err(Errno::EBADF));
        rig.put(SCRATCH, &[9, 0]);
        assert_eq!(rig.call(nr::fcntl, &[file, 6, SCRATCH]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::flock, &[file, 2 | 4]), Ok(0));
        assert_eq!(rig.call(nr::flock, &[file, 3]), Err(Errno::EINVAL));
    }

    #[test]
    fn a_pipe_that_cannot_be_told_of_is_not_made() {
        let mut rig = Rig::over(&Scratch::new());
        assert_eq!(rig.call(nr::pipe2, &[8, 0]), Err(Errno::EFAULT));
        assert_eq!(rig.call(nr::pipe2, &[SCRATCH, u64::from(O_CLOEXEC)]), Ok(0));
        assert_eq!((rig.get_u32(SCRATCH), rig.get_u32(SCRATCH + 4)), (3, 4));
        assert_eq!(rig.call(nr::pipe2, &[SCRATCH, 1]), Err(Errno::EINVAL));
    }

    #[test]
    fn only_a_terminal_is_a_terminal() {
        let scratch = Scratch::new();
        let mut rig = Rig::over(&scratch);
        assert_eq!(rig.call(nr::ioctl, &[1, 0x5401, SCRATCH]), Err(Errno::ENOTTY));
        assert_eq!(rig.call(nr::ioctl, &[0, 0x541b, SCRATCH]), Ok(0));
        assert_eq!(rig.get_u32(SCRATCH), 5);
        assert_eq!(rig.call(nr::ioctl, &[50, 0x5401, SCRATCH]), Err(Errno::EBADF));
        let mut setup = scratch.setup();
        setup.streams = StandardStreams::Terminal;
        rig.kernel.files = FileSystem::new(&setup).unwrap();
        assert_eq!(rig.call(nr::ioctl, &[1, 0x5401, SCRATCH]), Ok(0));
        assert_eq!(rig.call(nr::ioctl, &[1, 0x5413, SCRATCH]), Ok(0));
        assert_eq!(rig.get(SCRATCH, 4), [24, 0, 80, 0]);
    }
}
