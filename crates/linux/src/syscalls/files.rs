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
