//! Directories and names: listing, walking, making, moving and removing.

use super::nr;
use crate::errno::Errno;
use crate::fs::abi::{
    AT_EMPTY_PATH, AT_FDCWD, AT_REMOVEDIR, AT_SYMLINK_FOLLOW, PATH_MAX, SEEK_CUR, SEEK_SET,
};
use crate::fs::{At, DirectoryEntry};
use crate::kernel::{Args, Call, SysResult};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    let [first, second, third, fourth, fifth, ..] = args;
    const HERE: i32 = AT_FDCWD;
    Some(match number {
        nr::getdents64 => call.getdents(args, encode_entry_64),
        nr::getdents => call.getdents(args, encode_entry_old),
        nr::getcwd => call.getcwd(args),
        nr::chdir => call.chdir(first),
        nr::fchdir => call.kernel.files.change_directory_to_descriptor(first as i32).map(|()| 0),
        nr::mkdir => call.mkdirat(HERE, first, second as u32),
        nr::mkdirat => call.mkdirat(first as i32, second, third as u32),
        nr::rmdir => call.unlinkat(HERE, first, AT_REMOVEDIR),
        nr::unlink => call.unlinkat(HERE, first, 0),
        nr::unlinkat => call.unlinkat(first as i32, second, third as u32),
        nr::rename => call.renameat(HERE, first, HERE, second, 0),
        nr::renameat => call.renameat(first as i32, second, third as i32, fourth, 0),
        nr::renameat2 => call.renameat(first as i32, second, third as i32, fourth, fifth as u32),
        nr::link => call.linkat(HERE, first, HERE, second, 0),
        nr::linkat => call.linkat(first as i32, second, third as i32, fourth, fifth as u32),
        nr::symlink => call.symlinkat(first, HERE, second),
        nr::symlinkat => call.symlinkat(first, second as i32, third),
        nr::readlink => call.readlinkat(HERE, first, second, third),
        nr::readlinkat => call.readlinkat(first as i32, second, third, fourth),
        nr::mknod => call.mknodat(HERE, first, second as u32),
        nr::mknodat => call.mknodat(first as i32, second, third as u32),
        _ => return None,
    })
}

/// No more than this is listed by one call, whatever the buffer.
const LARGEST_LISTING: u64 = 1 << 20;

impl Call<'_> {
    fn getdents(
        &mut self,
        [descriptor, buffer, size, ..]: Args,
        encode: fn(&DirectoryEntry) -> Vec<u8>,
    ) -> SysResult {
        let descriptor = descriptor as i32;
        let size = size.min(LARGEST_LISTING) as usize;
        let mut bytes = Vec::new();
        let mut too_small = false;
        let files = &mut self.kernel.files;
        let before = files.seek(descriptor, 0, SEEK_CUR).unwrap_or(0);
        files.read_directory(descriptor, |entry| {
            let encoded = encode(entry);
            let fits = bytes.len() + encoded.len() <= size;
            match fits {
                true => bytes.extend_from_slice(&encoded),
                false => too_small = bytes.is_empty(),
            }
            fits
        })?;
        if too_small {
            return Err(Errno::EINVAL);
        }
        if let Err(fault) = self.guest.write(buffer, &bytes) {
            self.kernel.files.seek(descriptor, before as i64, SEEK_SET)?;
            return Err(fault);
        }
        Ok(bytes.len() as u64)
    }

    fn getcwd(&mut self, [buffer, size, ..]: Args) -> SysResult {
        let mut path = self.kernel.files.working_directory()?;
        path.push(0);
        if path.len() > PATH_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        if path.len() as u64 > size {
            return Err(Errno::ERANGE);
        }
        self.guest.write(buffer, &path)?;
        Ok(path.len() as u64)
    }

    fn chdir(&mut self, path: u64) -> SysResult {
        let path = self.guest.read_path(path)?;
        self.kernel.files.change_directory(At::working_directory(&path)).map(|()| 0)
    }

    fn mkdirat(&mut self, directory: i32, path: u64, mode: u32) -> SysResult {
        let path = self.guest.read_path(path)?;
        let now = self.now();
        self.kernel.files.make_directory(At::new(directory, &path), mode, now).map(|()| 0)
    }

    fn mknodat(&mut self, directory: i32, path: u64, mode: u32) -> SysResult {
        let path = self.guest.read_path(path)?;
        let now = self.now();
        self.kernel.files.make_node(At::new(directory, &path), mode, now).map(|()| 0)
    }

    fn unlinkat(&mut self, directory: i32, path: u64, flags: u32) -> SysResult {
        if flags & !AT_REMOVEDIR != 0 {
            return Err(Errno::EINVAL);
        }
        let path = self.guest.read_path(path)?;
        let now = self.now();
        let at = At::new(directory, &path);
        match flags & AT_REMOVEDIR {
            0 => self.kernel.files.unlink(at, now).map(|()| 0),
            _ => self.kernel.files.remove_directory(at, now).map(|()| 0),
        }
    }

    fn renameat(
        &mut self,
        old_directory: i32,
        old: u64,
        new_directory: i32,
        new: u64,
        flags: u32,
    ) -> SysResult {
        let (old, new) = (self.guest.read_path(old)?, self.guest.read_path(new)?);
        let now = self.now();
        let (old, new) = (At::new(old_directory, &old), At::new(new_directory, &new));
        self.kernel.files.rename(old, new, flags, now).map(|()| 0)
    }

    fn linkat(
        &mut self,
        old_directory: i32,
        old: u64,
        new_directory: i32,
        new: u64,
        flags: u32,
    ) -> SysResult {
        if flags & !(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH) != 0 {
            return Err(Errno::EINVAL);
        }
        let (old, new) = (self.guest.read_path(old)?, self.guest.read_path(new)?);
        let now = self.now();
        let (old, new) = (At::new(old_directory, &old), At::new(new_directory, &new));
        let (follow, allow_empty) = (flags & AT_SYMLINK_FOLLOW != 0, flags & AT_EMPTY_PATH != 0);
        self.kernel.files.make_link(old, new, follow, allow_empty, now).map(|()| 0)
    }

    fn symlinkat(&mut self, text: u64, directory: i32, path: u64) -> SysResult {
        let (text, path) = (self.guest.read_path(text)?, self.guest.read_path(path)?);
        let now = self.now();
        self.kernel.files.make_symlink(&text, At::new(directory, &path), now).map(|()| 0)
    }

    fn readlinkat(&mut self, directory: i32, path: u64, buffer: u64, size: u64) -> SysResult {
        if size as i32 <= 0 {
            return Err(Errno::EINVAL);
        }
        let path = self.guest.read_path(path)?;
        let mut text = self.kernel.files.read_link(At::new(directory, &path), true)?;
        text.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        self.guest.write(buffer, &text)?;
        Ok(text.len() as u64)
    }
}

/// `struct linux_dirent64`: inode, offset of the next, length, type, name.
fn encode_entry_64(entry: &DirectoryEntry) -> Vec<u8> {
    let length = (19 + entry.name.len() + 1).next_multiple_of(8);
    let mut bytes = Vec::with_capacity(length);
    bytes.extend_from_slice(&entry.inode.to_le_bytes());
    bytes.extend_from_slice(&entry.next.to_le_bytes());
    bytes.extend_from_slice(&(length as u16).to_le_bytes());
    bytes.push(entry.file_type);
    bytes.extend_from_slice(&entry.name);
    bytes.resize(length, 0);
    bytes
}

/// `struct linux_dirent`, the older form: the type is the last byte.
fn encode_entry_old(entry: &DirectoryEntry) -> Vec<u8> {
    let length = (18 + entry.name.len() + 2).next_multiple_of(8);
    let mut bytes = Vec::with_capacity(length);
    bytes.extend_from_slice(&entry.inode.to_le_bytes());
    bytes.extend_from_slice(&entry.next.to_le_bytes());
    bytes.extend_from_slice(&(length as u16).to_le_bytes());
    bytes.extend_from_slice(&entry.name);
    bytes.resize(length - 1, 0);
    bytes.push(entry.file_type);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::abi::O_RDONLY;
    use crate::fs::tests::Scratch;
    use crate::testing::{Rig, SCRATCH};

    /// Decodes what getdents64 wrote.
    fn entries(bytes: &[u8]) -> Vec<(String, u8, u64)> {
        let mut entries = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let length = u16::from_le_bytes([rest[16], rest[17]]) as usize;
            let name = rest[19..length].split(|byte| *byte == 0).next().unwrap();
            let next = u64::from_le_bytes(rest[8..16].try_into().unwrap());
            entries.push((String::from_utf8(name.to_vec()).unwrap(), rest[18], next));
            rest = &rest[length..];
        }
        entries
    }

    #[test]
    fn a_directory_is_listed_in_several_calls() {
        let scratch = Scratch::new();
        scratch.file("file", b"");
        scratch.directory("sub");
        scratch.symlink("link", "file");
        let mut rig = Rig::over(&scratch);
        let directory = rig.open(".", O_RDONLY).unwrap();
        let mut listed = Vec::new();
        loop {
            let count = rig.call(nr::getdents64, &[directory, SCRATCH, 60]).unwrap();
            if count == 0 {
                break;
            }
            assert!(count <= 60);
            listed.extend(entries(&rig.get(SCRATCH, count as usize)));
        }
        let expected = [(".", 4, 1), ("..", 4, 2), ("file", 8, 3), ("link", 10, 4), ("sub", 4, 5)];
        assert_eq!(listed, expected.map(|(name, kind, next)| (name.to_string(), kind, next)));
        rig.call(nr::lseek, &[directory, 3, 0]).unwrap();
        let count = rig.call(nr::getdents64, &[directory, SCRATCH, 1000]).unwrap();
        assert_eq!(entries(&rig.get(SCRATCH, count as usize))[0].0, "link");
        rig.call(nr::lseek, &[directory, 0, 0]).unwrap();
        assert_eq!(rig.call(nr::getdents64, &[directory, SCRATCH, 10]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::getdents64, &[directory, 8, 1000]), Err(Errno::EFAULT));
        assert_eq!(rig.call(nr::getdents64, &[1, SCRATCH, 1000]), Err(Errno::ENOTDIR));
        let count = rig.call(nr::getdents, &[directory, SCRATCH, 1000]).unwrap();
        assert_eq!(rig.get(SCRATCH + count - 1, 1), [4]);
    }

    #[test]
    fn the_working_directory_moves() {
        let scratch = Scratch::new();
        scratch.directory("d");
        let mut rig = Rig::over(&scratch);
        let path = rig.string("d");
        rig.call(nr::chdir, &[path]).unwrap();
        let expected = [scratch.absolute("d"), vec![0]].concat();
        assert_eq!(rig.call(nr::getcwd, &[SCRATCH, 4096]), Ok(expected.len() as u64));
        assert_eq!(rig.get(SCRATCH, expected.len()), expected);
        assert_eq!(rig.call(nr::getcwd, &[SCRATCH, expected.len() as u64 - 1]), Err(Errno::ERANGE));
        let root = rig.open("/", O_RDONLY).unwrap();
        rig.call(nr::fchdir, &[root]).unwrap();
        assert_eq!(rig.call(nr::getcwd, &[SCRATCH, 2]), Ok(2));
        assert_eq!(rig.call(nr::fchdir, &[1]), Err(Errno::ENOTDIR));
    }

    #[test]
    fn names_are_made_moved_and_removed() {
        let scratch = Scratch::new();
        scratch.file("f", b"x");
        let mut rig = Rig::over(&scratch);
        rig.put(SCRATCH, b"f\0d\0d/g\0l\0");
        let [file, directory, moved, link] = [0, 2, 4, 8].map(|offset| SCRATCH + offset);
        let here = AT_FDCWD as u64;
        assert_eq!(rig.call(nr::mkdir, &[directory, 0o755]), Ok(0));
        assert_eq!(rig.call(nr::mkdirat, &[here, directory, 0o755]), Err(Errno::EEXIST));
        assert_eq!(rig.call(nr::rename, &[file, moved]), Ok(0));
        assert_eq!(rig.call(nr::rmdir, &[directory]), Err(Errno::ENOTEMPTY));
        assert_eq!(rig.call(nr::symlink, &[moved, link]), Ok(0));
        assert_eq!(rig.call(nr::readlink, &[link, SCRATCH + 100, 2]), Ok(2));
        assert_eq!(rig.get(SCRATCH + 100, 3), b"d/\0");
        assert_eq!(rig.call(nr::readlink, &[link, SCRATCH + 100, 0]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::linkat, &[here, link, here, file, u64::from(AT_SYMLINK_FOLLOW)]), Ok(0));
        assert_eq!(rig.call(nr::readlink, &[file, SCRATCH + 100, 9]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::renameat2, &[here, file, here, link, 1]), Err(Errno::EEXIST));
        assert_eq!(rig.call(nr::unlinkat, &[here, moved, 0]), Ok(0));
        assert_eq!(rig.call(nr::unlinkat, &[here, directory, u64::from(AT_REMOVEDIR)]), Ok(0));
        assert_eq!(rig.call(nr::mknod, &[directory, 0o020644, 0x103]), Err(Errno::EPERM));
        assert_eq!(rig.call(nr::mknod, &[directory, 0o100644, 0]), Ok(0));
        assert_eq!(rig.call(nr::mknodat, &[here, directory, 0o010644, 0]), Err(Errno::EEXIST));
    }
}
