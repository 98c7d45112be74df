//! Opening, closing and sizing files.

use std::sync::Arc;

use super::nr;
use super::process_text::KernelText;
use crate::errno::Errno;
use crate::fs::At;
use crate::fs::abi::{AT_FDCWD, O_CREAT, O_LARGEFILE, O_RDWR, O_TRUNC, O_WRONLY};
use crate::kernel::{Args, Call, Kernel, SysResult};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    let [first, second, third, fourth, ..] = args;
    Some(match number {
        nr::open => call.openat(AT_FDCWD, first, second as u32, third as u32),
        nr::openat => call.openat(first as i32, second, third as u32, fourth as u32),
        nr::creat => call.openat(AT_FDCWD, first, O_CREAT | O_WRONLY | O_TRUNC, second as u32),
        // Callers have openat ready.
        nr::openat2 => Err(Errno::ENOSYS),
        nr::close => call.kernel.files.close(first as i32).map(|()| 0),
        nr::close_range => call.close_range(args),
        nr::lseek => call.kernel.files.seek(first as i32, second as i64, third as u32),
        nr::truncate => call.truncate(args),
        nr::ftruncate => call.ftruncate(args),
        nr::fallocate => call.fallocate(args),
        nr::memfd_create => call.memfd_create(args),
        nr::umask => Ok(u64::from(call.kernel.files.set_umask(first as u32))),
        nr::sync => Ok(0),
        // Nothing is ever behind, and nothing is read ahead: it is all in memory.
        nr::fsync | nr::fdatasync | nr::syncfs | nr::sync_file_range | nr::readahead => {
            call.kernel.files.status_flags(first as i32).map(|_| 0)
        }
        nr::fadvise64 => call.fadvise64(args),
        _ => return None,
    })
}

impl Call<'_> {
    fn openat(&mut self, directory: i32, path: u64, flags: u32, mode: u32) -> SysResult {
        let path = self.guest.read_path(path)?;
        let now = self.now();
        let Kernel { files, command, name, clock, resources, heap, .. } = &mut *self.kernel;
        let credentials = files.credentials().clone();
        let umask = files.umask();
        let memory = &*self.guest.memory;
        let text = KernelText { memory, command, name, clock, resources, heap, credentials, umask };
        let at = At::new(directory, &path);
        let descriptor = files.open(at, flags | O_LARGEFILE, mode, now, &text)?;
        Ok(descriptor as u64)
    }

    fn close_range(&mut self, [first, last, flags, ..]: Args) -> SysResult {
        const UNSHARE: u64 = 2;
        const CLOSE_ON_EXEC: u64 = 4;
        if flags & !(UNSHARE | CLOSE_ON_EXEC) != 0 {
            return Err(Errno::EINVAL);
        }
        let only_mark = flags & CLOSE_ON_EXEC != 0;
        self.kernel.files.close_range(first as u32, last as u32, only_mark).map(|()| 0)
    }

    fn truncate(&mut self, [path, length, ..]: Args) -> SysResult {
        let length = positive(length)?;
        let path = self.guest.read_path(path)?;
        let now = self.now();
        self.kernel.files.truncate(At::working_directory(&path), length, now).map(|()| 0)
    }

    fn ftruncate(&mut self, [descriptor, length, ..]: Args) -> SysResult {
        let length = positive(length)?;
        let now = self.now();
        self.kernel.files.truncate_descriptor(descriptor as i32, length, now).map(|()| 0)
    }

    fn fallocate(&mut self, [descriptor, mode, offset, length, ..]: Args) -> SysResult {
        const KEEP_SIZE: u64 = 1;
        let (offset, length) = (positive(offset)?, positive(length)?);
        if length == 0 {
            return Err(Errno::EINVAL);
        }
        if mode & !KEEP_SIZE != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let now = self.now();
        let keep_size = mode & KEEP_SIZE != 0;
        self.kernel.files.allocate(descriptor as i32, offset, length, keep_size, now).map(|()| 0)
    }

    fn memfd_create(&mut self, [name, flags, ..]: Args) -> SysResult {
        const CLOSE_ON_EXEC: u64 = 1;
        const ALLOW_SEALING: u64 = 2;
        if flags & !(CLOSE_ON_EXEC | ALLOW_SEALING) != 0 {
            return Err(Errno::EINVAL);
        }
        self.guest.read_string(name, 250)?.ok_or(Errno::EINVAL)?;
        let now = self.now();
        let close_on_exec = flags & CLOSE_ON_EXEC != 0;
        let files = &mut self.kernel.files;
        let descriptor = files.open_anonymous(Arc::default(), O_RDWR | O_LARGEFILE, close_on_exec, now)?;
        Ok(descriptor as u64)
    }

    fn fadvise64(&mut self, [descriptor, _, _, advice, ..]: Args) -> SysResult {
        let stat = self.kernel.files.stat_descriptor(descriptor as i32)?;
        if stat.mode & crate::fs::abi::S_IFMT == crate::fs::abi::S_IFIFO {
            return Err(Errno::ESPIPE);
        }
        if advice > 5 { Err(Errno::EINVAL) } else { Ok(0) }
    }
}

/// A length or an offset, which is signed and must not be negative.
pub(super) fn positive(value: u64) -> Result<u64, Errno> {
    if value as i64 >= 0 { Ok(value) } else { Err(Errno::EINVAL) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::abi::{O_DIRECTORY, O_RDONLY};
    use crate::fs::tests::Scratch;
    use crate::testing::{Rig, SCRATCH};

    #[test]
    fn files_are_opened_relative_to_a_directory() {
        let scratch = Scratch::new();
        scratch.directory("d");
        scratch.file("d/f", b"x");
        let mut rig = Rig::over(&scratch);
        let directory = rig.open("d", O_RDONLY | O_DIRECTORY).unwrap();
        let path = rig.string("f");
        assert_eq!(rig.call(nr::openat, &[directory, path, 0]), Ok(4));
        assert_eq!(rig.call(nr::open, &[path, 0]), Err(Errno::ENOENT));
        assert_eq!(rig.call(nr::openat, &[4, path, 0]), Err(Errno::ENOTDIR));
        assert_eq!(rig.call(nr::openat, &[77, path, 0]), Err(Errno::EBADF));
        assert_eq!(rig.call(nr::open, &[8, 0]), Err(Errno::EFAULT));
        assert_eq!(rig.call(nr::creat, &[path, 0o600]), Ok(5));
        assert_eq!(rig.call(nr::close, &[5]), Ok(0));
        assert_eq!(rig.call(nr::close, &[5]), Err(Errno::EBADF));
        assert_eq!(rig.call(nr::close_range, &[3, u64::from(u32::MAX), 0]), Ok(0));
        assert_eq!(rig.call(nr::close, &[3]), Err(Errno::EBADF));
    }

    #[test]
    fn sizes_change_and_negative_ones_are_refused() {
        let mut rig = Rig::over(&Scratch::new());
        let file = rig.open("f", O_RDWR | O_CREAT).unwrap();
        let size = |rig: &mut Rig| rig.call(nr::lseek, &[file, 0, 2]).unwrap();
        assert_eq!(rig.call(nr::ftruncate, &[file, 100]), Ok(0));
        assert_eq!(rig.call(nr::fallocate, &[file, 0, 50, 100]), Ok(0));
        assert_eq!(rig.call(nr::fallocate, &[file, 1, 50, 1000]), Ok(0));
        assert_eq!(size(&mut rig), 150);
        let path = rig.string("f");
        assert_eq!(rig.call(nr::truncate, &[path, 7]), Ok(0));
        assert_eq!(size(&mut rig), 7);
        assert_eq!(rig.call(nr::ftruncate, &[file, u64::MAX]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::ftruncate, &[file, i64::MAX as u64]), Err(Errno::EFBIG));
        assert_eq!(rig.call(nr::fallocate, &[file, 3, 0, 4096]), Err(Errno::EOPNOTSUPP));
    }

    #[test]
    fn a_memory_file_is_a_file() {
        let mut rig = Rig::over(&Scratch::new());
        let name = rig.string("name");
        let file = rig.call(nr::memfd_create, &[name, 1]).unwrap();
        assert_eq!(rig.call(nr::ftruncate, &[file, 4096]), Ok(0));
        assert_eq!(rig.call(nr::pread64, &[file, SCRATCH, 5000, 0]), Ok(4096));
        assert_eq!(rig.call(nr::fcntl, &[file, 1]), Ok(1));
        assert_eq!(rig.call(nr::memfd_create, &[name, 4]), Err(Errno::EINVAL));
    }

    #[test]
    fn the_process_is_described_in_proc() {
        let mut rig = Rig::over(&Scratch::new());
        let mut read = |path: &str| {
            let file = rig.open(path, O_RDONLY).unwrap();
            let count = rig.call(nr::read, &[file, SCRATCH, 0x4000]).unwrap();
            rig.call(nr::close, &[file]).unwrap();
            String::from_utf8(rig.get(SCRATCH, count as usize)).unwrap()
        };
        assert_eq!(read("/proc/self/maps"), "00100000-00110000 rw-p 00000000 00:00 0 \n");
        assert!(read("/proc/self/status").contains("\nPid:\t4242\nPPid:\t4241\n"));
        assert_eq!(read("/proc/self/stat").trim_end().split(' ').count(), 52);
        assert_eq!(read("/proc/self/limits").lines().count(), 17);
        assert!(read("/proc/self/statm").starts_with("16 "));
    }
}
