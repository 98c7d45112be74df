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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::abi::{O_RDONLY, S_IFMT, S_IFREG};
    use crate::fs::tests::Scratch;
    use crate::testing::{Rig, SCRATCH};

    const STAT: Stat = Stat {
        device: 0x801,
        inode: 2,
        mode: 3,
        links: 4,
        user: 5,
        group: 6,
        special_device: 0x107,
        size: 8,
        block_size: 9,
        blocks: 10,
        access: Timestamp { seconds: 11, nanoseconds: 12 },
        modification: Timestamp { seconds: 13, nanoseconds: 14 },
        change: Timestamp { seconds: 15, nanoseconds: 16 },
    };

    #[test]
    fn the_layouts_are_those_of_the_c_library() {
        let bytes = encode_stat(&STAT);
        assert_eq!(bytes.len(), size_of::<libc::stat>());
        // SAFETY: the structure is plain numbers, and the buffer is as long as it.
        let stat: libc::stat = unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) };
        assert_eq!((stat.st_dev, stat.st_ino, stat.st_mode, stat.st_nlink), (0x801, 2, 3, 4));
        assert_eq!((stat.st_uid, stat.st_gid, stat.st_rdev, stat.st_size), (5, 6, 0x107, 8));
        assert_eq!((stat.st_blksize, stat.st_blocks), (9, 10));
        assert_eq!((stat.st_atime, stat.st_mtime, stat.st_ctime_nsec), (11, 13, 16));

        let bytes = encode_statx(&STAT);
        assert_eq!(bytes.len(), size_of::<libc::statx>());
        // SAFETY: as above.
        let statx: libc::statx = unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) };
        assert_eq!((statx.stx_mask, statx.stx_ino, statx.stx_mode, statx.stx_nlink), (0x7ff, 2, 3, 4));
        assert_eq!((statx.stx_uid, statx.stx_gid, statx.stx_size, statx.stx_blocks), (5, 6, 8, 10));
        assert_eq!((statx.stx_blksize, statx.stx_dev_major, statx.stx_dev_minor), (9, 8, 1));
        assert_eq!((statx.stx_rdev_major, statx.stx_rdev_minor), (1, 7));
        assert_eq!((statx.stx_atime.tv_sec, statx.stx_mtime.tv_sec, statx.stx_ctime.tv_nsec), (11, 13, 16));

        let statistics = FileSystemStatistics {
            magic: 1,
            block_size: 2,
            blocks: 3,
            blocks_free: 4,
            files: 5,
            files_free: 6,
        };
        let bytes = encode_statfs(&statistics);
        assert_eq!(bytes.len(), size_of::<libc::statfs>());
        // SAFETY: as above.
        let statfs: libc::statfs = unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) };
        assert_eq!((statfs.f_type, statfs.f_bsize, statfs.f_blocks, statfs.f_bavail), (1, 2, 3, 4));
        assert_eq!((statfs.f_files, statfs.f_ffree, statfs.f_namelen, statfs.f_frsize), (5, 6, 255, 2));
    }

    #[test]
    fn links_are_followed_when_the_call_says_so() {
        let scratch = Scratch::new();
        scratch.file("f", b"abc");
        scratch.symlink("l", "f");
        let mut rig = Rig::over(&scratch);
        let path = rig.string("l");
        let mode = |rig: &mut Rig| rig.get_u32(SCRATCH + 24) & S_IFMT;
        assert_eq!(rig.call(nr::stat, &[path, SCRATCH]), Ok(0));
        assert_eq!(mode(&mut rig), S_IFREG);
        assert_eq!(rig.get_u64(SCRATCH + 48), 3);
        assert_eq!(rig.call(nr::lstat, &[path, SCRATCH]), Ok(0));
        assert_ne!(mode(&mut rig), S_IFREG);
        let file = rig.open("f", O_RDONLY).unwrap();
        assert_eq!(rig.call(nr::fstat, &[file, SCRATCH]), Ok(0));
        assert_eq!(mode(&mut rig), S_IFREG);
        let empty = rig.string("");
        assert_eq!(rig.call(nr::newfstatat, &[file, empty, SCRATCH, 0x1000]), Ok(0));
        assert_eq!(rig.call(nr::newfstatat, &[file, empty, SCRATCH, 0]), Err(Errno::ENOENT));
        assert_eq!(rig.call(nr::statx, &[file, empty, 0x1000, 0x7ff, SCRATCH]), Ok(0));
        assert_eq!(rig.get_u64(SCRATCH + 40), 3);
        assert_eq!(rig.call(nr::statx, &[file, empty, 0x1000, 0x7ff, 8]), Err(Errno::EFAULT));
    }

    #[test]
    fn modes_owners_and_times_change() {
        let scratch = Scratch::new();
        scratch.file("f", b"abc");
        let mut rig = Rig::over(&scratch);
        let path = rig.string("f");
        let here = AT_FDCWD as u64;
        rig.call(nr::chmod, &[path, 0o4711]).unwrap();
        rig.call(nr::chown, &[path, 7, u64::from(u32::MAX)]).unwrap();
        let times: Vec<u8> = [5i64, 6, 0, (1 << 30) - 2].iter().flat_map(|v| v.to_le_bytes()).collect();
        rig.put(SCRATCH + 512, &times);
        rig.call(nr::utimensat, &[here, path, SCRATCH + 512, 0]).unwrap();
        rig.call(nr::stat, &[path, SCRATCH]).unwrap();
        assert_eq!(rig.get_u32(SCRATCH + 24) & 0o7777, 0o711);
        assert_eq!((rig.get_u32(SCRATCH + 28), rig.get_u32(SCRATCH + 32)), (7, 0));
        assert_eq!((rig.get_u64(SCRATCH + 72), rig.get_u64(SCRATCH + 80)), (5, 6));
        rig.call(nr::utime, &[path, SCRATCH + 512]).unwrap();
        rig.call(nr::stat, &[path, SCRATCH]).unwrap();
        assert_eq!((rig.get_u64(SCRATCH + 72), rig.get_u64(SCRATCH + 88)), (5, 6));
        assert_eq!(rig.call(nr::utimensat, &[here, 0, 0, 0]), Err(Errno::EFAULT));
        rig.put(SCRATCH + 520, &(-1i64).to_le_bytes());
        assert_eq!(rig.call(nr::utimes, &[path, SCRATCH + 512]), Err(Errno::EINVAL));
    }

    #[test]
    fn access_and_attributes_need_a_file() {
        let scratch = Scratch::new();
        scratch.file("f", b"");
        let mut rig = Rig::over(&scratch);
        let path = rig.string("f");
        assert_eq!(rig.call(nr::access, &[path, 6]), Ok(0));
        assert_eq!(rig.call(nr::access, &[path, 1]), Err(Errno::EACCES));
        assert_eq!(rig.call(nr::access, &[path, 8]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::getxattr, &[path]), Err(Errno::ENODATA));
        assert_eq!(rig.call(nr::listxattr, &[path]), Ok(0));
        assert_eq!(rig.call(nr::statfs, &[path, SCRATCH]), Ok(0));
        assert_eq!(rig.get_u64(SCRATCH), 0xef53);
        let absent = rig.string("absent");
        assert_eq!(rig.call(nr::access, &[absent, 0]), Err(Errno::ENOENT));
        assert_eq!(rig.call(nr::lgetxattr, &[absent]), Err(Errno::ENOENT));
    }
}
