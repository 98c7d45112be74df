//! What files are besides their bytes: stat and its kin, permissions, owners, times, extended attributes.

use super::nr;
use crate::errno::Errno;
use crate::fs::abi::{
    AT_EACCESS, AT_EMPTY_PATH, AT_FDCWD, AT_NO_AUTOMOUNT, AT_SYMLINK_NOFOLLOW, O_PATH, split_device_number,
};
use crate::fs::{At, FileSystemStatistics, Follow, SetTime, Stat, Target, Timestamp};
use crate::kernel::{Args, Call, SysResult};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    let [first, second, third, fourth, fifth, ..] = args;
    const HERE: i32 = AT_FDCWD;
    Some(match number {
        nr::stat => call.newfstatat(HERE, first, second, 0),
        nr::lstat => call.newfstatat(HERE, first, second, AT_SYMLINK_NOFOLLOW),
        nr::fstat => call.fstat(first as i32, second),
        nr::newfstatat => call.newfstatat(first as i32, second, third, fourth as u32),
        nr::statx => call.statx(args),
        nr::statfs => call.statfs(first, second),
        nr::fstatfs => call.fstatfs(first as i32, second),
        nr::access => call.faccessat(HERE, first, second, 0),
        nr::faccessat => call.faccessat(first as i32, second, third, 0),
        nr::faccessat2 => call.faccessat(first as i32, second, third, fourth as u32),
        nr::chmod => call.fchmodat(HERE, first, second),
        nr::fchmod => call.fchmod(first as i32, second),
        nr::fchmodat => call.fchmodat(first as i32, second, third),
        nr::chown => call.fchownat(HERE, first, second, third, 0),
        nr::lchown => call.fchownat(HERE, first, second, third, AT_SYMLINK_NOFOLLOW),
        nr::fchown => call.fchown(first as i32, second, third),
        nr::fchownat => call.fchownat(first as i32, second, third, fourth, fifth as u32),
        nr::utime => call.utime(first, second),
        nr::utimes => call.futimesat(HERE, first, second),
        nr::futimesat => call.futimesat(first as i32, second, third),
        nr::utimensat => call.utimensat(first as i32, second, third, fourth as u32),
        nr::getxattr | nr::removexattr => call.attribute(first, Follow::Yes, Err(Errno::ENODATA)),
        nr::lgetxattr | nr::lremovexattr => call.attribute(first, Follow::No, Err(Errno::ENODATA)),
        nr::fgetxattr | nr::fremovexattr => call.descriptor_attribute(first, Err(Errno::ENODATA)),
        nr::setxattr => call.attribute(first, Follow::Yes, Err(Errno::EOPNOTSUPP)),
        nr::lsetxattr => call.attribute(first, Follow::No, Err(Errno::EOPNOTSUPP)),
        nr::fsetxattr => call.descriptor_attribute(first, Err(Errno::EOPNOTSUPP)),
        nr::listxattr => call.attribute(first, Follow::Yes, Ok(0)),
        nr::llistxattr => call.attribute(first, Follow::No, Ok(0)),
        nr::flistxattr => call.descriptor_attribute(first, Ok(0)),
        _ => return None,
    })
}

impl Call<'_> {
    /// The file that a directory descriptor, a path and flags mean.
    fn target(&mut self, directory: i32, path: u64, flags: u32) -> Result<Target, Errno> {
        let path = self.guest.read_path(path)?;
        let follow = if flags & AT_SYMLINK_NOFOLLOW != 0 { Follow::No } else { Follow::Yes };
        self.kernel.files.locate(At::new(directory, &path), follow, flags & AT_EMPTY_PATH != 0)
    }

    fn target_of_descriptor(&mut self, descriptor: i32) -> Result<Target, Errno> {
        if self.kernel.files.status_flags(descriptor)? & O_PATH != 0 {
            return Err(Errno::EBADF);
        }
        self.kernel.files.locate(At::new(descriptor, b""), Follow::Yes, true)
    }

    fn newfstatat(&mut self, directory: i32, path: u64, result: u64, flags: u32) -> SysResult {
        if flags & !(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH) != 0 {
            return Err(Errno::EINVAL);
        }
        let target = self.target(directory, path, flags)?;
        let stat = self.kernel.files.stat(target)?;
        self.guest.write(result, &encode_stat(&stat)).map(|()| 0)
    }

    fn fstat(&mut self, descriptor: i32, result: u64) -> SysResult {
        let stat = self.kernel.files.stat_descriptor(descriptor)?;
        self.guest.write(result, &encode_stat(&stat)).map(|()| 0)
    }

    fn statx(&mut self, [directory, path, flags, mask, result, ..]: Args) -> SysResult {
        const SYNC_TYPE: u32 = 0x6000;
        const RESERVED_MASK: u64 = 1 << 31;
        let flags = flags as u32;
        let known = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | SYNC_TYPE;
        if flags & !known != 0 || flags & SYNC_TYPE == SYNC_TYPE || mask & RESERVED_MASK != 0 {
            return Err(Errno::EINVAL);
        }
        let target = self.target(directory as i32, path, flags)?;
        let stat = self.kernel.files.stat(target)?;
        self.guest.write(result, &encode_statx(&stat)).map(|()| 0)
    }

    fn statfs(&mut self, path: u64, result: u64) -> SysResult {
        let target = self.target(AT_FDCWD, path, 0)?;
        let statistics = self.kernel.files.statistics(target)?;
        self.guest.write(result, &encode_statfs(&statistics)).map(|()| 0)
    }

    fn fstatfs(&mut self, descriptor: i32, result: u64) -> SysResult {
        let target = self.kernel.files.locate(At::new(descriptor, b""), Follow::Yes, true)?;
        let statistics = self.kernel.files.statistics(target)?;
        self.guest.write(result, &encode_statfs(&statistics)).map(|()| 0)
    }

    fn faccessat(&mut self, directory: i32, path: u64, wanted: u64, flags: u32) -> SysResult {
        if wanted > 7 || flags & !(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
            return Err(Errno::EINVAL);
        }
        let target = self.target(directory, path, flags)?;
        self.kernel.files.access(target, wanted as u32).map(|()| 0)
    }

    fn fchmodat(&mut self, directory: i32, path: u64, mode: u64) -> SysResult {
        let target = self.target(directory, path, 0)?;
        let now = self.now();
        self.kernel.files.change_mode(target, mode as u32, now).map(|()| 0)
    }

    fn fchmod(&mut self, descriptor: i32, mode: u64) -> SysResult {
        let target = self.target_of_descriptor(descriptor)?;
        let now = self.now();
        self.kernel.files.change_mode(target, mode as u32, now).map(|()| 0)
    }

    fn fchownat(&mut self, directory: i32, path: u64, user: u64, group: u64, flags: u32) -> SysResult {
        if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
            return Err(Errno::EINVAL);
        }
        let target = self.target(directory, path, flags)?;
        let now = self.now();
        self.kernel.files.change_owner(target, owner(user), owner(group), now).map(|()| 0)
    }

    fn fchown(&mut self, descriptor: i32, user: u64, group: u64) -> SysResult {
        let target = self.target_of_descriptor(descriptor)?;
        let now = self.now();
        self.kernel.files.change_owner(target, owner(user), owner(group), now).map(|()| 0)
    }

    /// Times in whole seconds.
    fn utime(&mut self, path: u64, times: u64) -> SysResult {
        let (access, modification) = match times {
            0 => (SetTime::Now, SetTime::Now),
            times => {
                let seconds = [self.guest.read_i64(times)?, self.guest.read_i64(times.wrapping_add(8))?];
                let [access, modification] =
                    seconds.map(|seconds| SetTime::To(Timestamp { seconds, nanoseconds: 0 }));
                (access, modification)
            }
        };
        let target = self.target(AT_FDCWD, path, 0)?;
        let now = self.now();
        self.kernel.files.set_times(target, access, modification, now).map(|()| 0)
    }

    /// Times in microseconds.
    fn futimesat(&mut self, directory: i32, path: u64, times: u64) -> SysResult {
        let (access, modification) = match times {
            0 => (SetTime::Now, SetTime::Now),
            times => (self.microseconds(times)?, self.microseconds(times.wrapping_add(16))?),
        };
        let target = match path {
            0 => self.target_of_descriptor(directory)?,
            path => self.target(directory, path, 0)?,
        };
        let now = self.now();
        self.kernel.files.set_times(target, access, modification, now).map(|()| 0)
    }

    /// Times in nanoseconds, with special values; no path means the descriptor itself.
    fn utimensat(&mut self, directory: i32, path: u64, times: u64, flags: u32) -> SysResult {
        if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
            return Err(Errno::EINVAL);
        }
        let (access, modification) = match times {
            0 => (SetTime::Now, SetTime::Now),
            times => (self.nanoseconds(times)?, self.nanoseconds(times.wrapping_add(16))?),
        };
        if (access, modification) == (SetTime::Keep, SetTime::Keep) {
            return Ok(0);
        }
        let target = match path {
            0 if directory == AT_FDCWD => return Err(Errno::EFAULT),
            0 if flags != 0 => return Err(Errno::EINVAL),
            0 => self.target_of_descriptor(directory)?,
            path => self.target(directory, path, flags)?,
        };
        let now = self.now();
        self.kernel.files.set_times(target, access, modification, now).map(|()| 0)
    }

    fn microseconds(&mut self, address: u64) -> Result<SetTime, Errno> {
        let seconds = self.guest.read_i64(address)?;
        let microseconds = self.guest.read_i64(address.wrapping_add(8))?;
        match u32::try_from(microseconds) {
            Ok(microseconds @ 0..1_000_000) => {
                Ok(SetTime::To(Timestamp { seconds, nanoseconds: microseconds * 1000 }))
            }
            _ => Err(Errno::EINVAL),
        }
    }

    fn nanoseconds(&mut self, address: u64) -> Result<SetTime, Errno> {
        const NOW: i64 = (1 << 30) - 1;
        const OMIT: i64 = (1 << 30) - 2;
        let seconds = self.guest.read_i64(address)?;
        match self.guest.read_i64(address.wrapping_add(8))? {
            NOW => Ok(SetTime::Now),
            OMIT => Ok(SetTime::Keep),
            nanoseconds @ 0..1_000_000_000 => {
                Ok(SetTime::To(Timestamp { seconds, nanoseconds: nanoseconds as u32 }))
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// No file has extended attributes; but it must be there.
    fn attribute(&mut self, path: u64, follow: Follow, answer: SysResult) -> SysResult {
        let flags = if follow == Follow::Yes { 0 } else { AT_SYMLINK_NOFOLLOW };
        self.target(AT_FDCWD, path, flags)?;
        answer
    }

    fn descriptor_attribute(&mut self, descriptor: u64, answer: SysResult) -> SysResult {
        self.target_of_descriptor(descriptor as i32)?;
        answer
    }
}

/// -1 leaves an owner as it is.
fn owner(value: u64) -> Option<u32> {
    Some(value as u32).filter(|id| *id != u32::MAX)
}

/// `struct stat`.
fn encode_stat(stat: &Stat) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(144);
    for value in [stat.device, stat.inode, stat.links] {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    for value in [stat.mode, stat.user, stat.group, 0] {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    for value in [stat.special_device, stat.size, u64::from(stat.block_size), stat.blocks] {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    for time in [stat.access, stat.modification, stat.change] {
        bytes.extend_from_slice(&time.seconds.to_le_bytes());
        bytes.extend_from_slice(&u64::from(time.nanoseconds).to_le_bytes());
    }
    bytes.resize(144, 0);
    bytes
}

/// `struct statx`, with the fields that stat has too.
fn encode_statx(stat: &Stat) -> Vec<u8> {
    const BASIC_STATS: u32 = 0x7ff;
    let mut bytes = Vec::with_capacity(256);
    bytes.extend_from_slice(&BASIC_STATS.to_le_bytes());
    bytes.extend_from_slice(&stat.block_size.to_le_bytes());
    bytes.extend_from_slice(&0u64.to_le_bytes());
    let links = u32::try_from(stat.links).unwrap_or(u32::MAX);
    for value in [links, stat.user, stat.group, stat.mode & 0xffff] {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    for value in [stat.inode, stat.size, stat.blocks, 0] {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    // The second is the time of birth, which the mask says is not given.
    for time in [stat.access, Timestamp::default(), stat.change, stat.modification] {
        bytes.extend_from_slice(&time.seconds.to_le_bytes());
        bytes.extend_from_slice(&u64::from(time.nanoseconds).to_le_bytes());
    }
    for device in [stat.special_device, stat.device] {
        let (major, minor) = split_device_number(device);
        bytes.extend_from_slice(&major.to_le_bytes());
        bytes.extend_from_slice(&minor.to_le_bytes());
    }
    bytes.resize(256, 0);
    bytes
}

/// `struct statfs`.
fn encode_statfs(statistics: &FileSystemStatistics) -> Vec<u8> {
    let FileSystemStatistics { magic, block_size, blocks, blocks_free, files, files_free } = *statistics;
    const FILE_SYSTEM_ID: u64 = 0;
    const LONGEST_NAME: u64 = 255;
    let values = [
        magic,
        block_size,
        blocks,
        blocks_free,
        blocks_free,
        files,
        files_free,
        FILE_SYSTEM_ID,
        LONGEST_NAME,
        block_size,
    ];
    let mut bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    bytes.resize(120, 0);
    bytes
}
