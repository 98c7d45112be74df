//! The same random operations on a real directory and on the overlay over a copy of it: the same errors, the
//! same results, the same tree. The host's kernel is the oracle; nothing here knows what is right.

use std::ffi::CString;
use std::os::fd::AsRawFd;

use super::*;

const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "l", "m"];
/// The tested directory lies this deep, so that a random `..` does not leave the scratch directory.
const DEPTH: usize = 14;
const USER: u32 = 54_321;

#[derive(Clone, Debug)]
enum Operation {
    Write { path: String, flags: u32, mode: u32, content: Vec<u8> },
    Read(String),
    MakeDirectory(String, u32),
    RemoveDirectory(String),
    Unlink(String),
    Rename(String, String, u32),
    Link { old: String, new: String, follow: bool },
    Symlink(String, String),
    ChangeMode(String, u32),
    Truncate(String, u64),
    Stat { path: String, follow: bool },
    ReadLink(String),
    List(String),
    Access(String, u32),
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % bound as u64) as usize
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn path(&mut self) -> String {
        let mut parts = Vec::new();
        for _ in 0..=self.below(3) {
            parts.push(match self.below(14) {
                0 => ".",
                1 if !parts.is_empty() => "..",
                _ => self.pick(&NAMES),
            });
        }
        let slash = if self.below(8) == 0 { "/" } else { "" };
        parts.join("/") + slash
    }

    fn mode(&mut self) -> u32 {
        self.pick(&[0o644, 0o755, 0o700, 0o600, 0o500, 0o300, 0o444, 0o777, 0o1777, 0o000])
    }

    fn operation(&mut self) -> Operation {
        let path = self.path();
        match self.below(22) {
            0..=4 => {
                let access = self.pick(&[O_WRONLY, O_WRONLY, O_RDWR]);
                let extra = [O_CREAT, O_CREAT, O_CREAT | O_TRUNC, O_CREAT | O_EXCL, 0, O_TRUNC, O_APPEND];
                let more = self.pick(&[0, 0, 0, O_NOFOLLOW, O_DIRECTORY]);
                let mut flags = access | self.pick(&extra);
                if flags & O_CREAT == 0 {
                    flags |= more;
                }
                let content = vec![b'0' + self.below(10) as u8; self.below(100)];
                Operation::Write { path, flags, mode: self.mode(), content }
            }
            5 => Operation::Read(path),
            6..=7 => Operation::MakeDirectory(path, self.mode() | 0o300),
            8 => Operation::RemoveDirectory(path),
            9 => Operation::Unlink(path),
            10..=12 => {
                let flags = self.pick(&[0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE]);
                Operation::Rename(path, self.path(), flags)
            }
            13 => Operation::Link { old: path, new: self.path(), follow: self.below(2) == 0 },
            14 => Operation::Symlink(self.path(), path),
            15..=16 => Operation::ChangeMode(path, self.mode()),
            17 => Operation::Truncate(path, self.below(200) as u64),
            18 => Operation::Stat { path, follow: self.below(2) == 0 },
            19 => Operation::ReadLink(path),
            20 => Operation::List(path),
            _ => Operation::Access(path, self.below(8) as u32),
        }
    }
}

/// What an operation shows: bytes or an error.
type Outcome = Result<Vec<u8>, Errno>;

fn apply_to_overlay(world: &mut FileSystem, operation: &Operation) -> Outcome {
    let nothing = |()| Vec::new();
    match operation {
        Operation::Write { path, flags, mode, content } => {
            let descriptor = world.open(at(path), *flags, *mode, NOW, &NoText)?;
            let result = world.write(descriptor, content, NOW);
            world.close(descriptor)?;
            match result {
                Ok(Written::Count(count)) => Ok(vec![count as u8]),
                Err(IoError::Errno(errno)) => Err(errno),
                other => panic!("{other:?}"),
            }
        }
        Operation::Read(path) => world.get(path),
        Operation::MakeDirectory(path, mode) => world.make_directory(at(path), *mode, NOW).map(nothing),
        Operation::RemoveDirectory(path) => world.remove_directory(at(path), NOW).map(nothing),
        Operation::Unlink(path) => world.unlink(at(path), NOW).map(nothing),
        Operation::Rename(old, new, flags) => world.rename(at(old), at(new), *flags, NOW).map(nothing),
        Operation::Link { old, new, follow } => {
            world.make_link(at(old), at(new), *follow, false, NOW).map(nothing)
        }
        Operation::Symlink(text, path) => world.make_symlink(text.as_bytes(), at(path), NOW).map(nothing),
        Operation::ChangeMode(path, mode) => {
            let target = world.locate(at(path), Follow::Yes, false)?;
            world.change_mode(target, *mode, NOW).map(nothing)
        }
        Operation::Truncate(path, length) => world.truncate(at(path), *length, NOW).map(nothing),
        Operation::Stat { path, follow } => {
            let follow = if *follow { Follow::Yes } else { Follow::No };
            let target = world.locate(at(path), follow, false)?;
            let stat = world.stat(target)?;
            Ok(describe(stat.mode, stat.links, stat.size))
        }
        Operation::ReadLink(path) => world.read_link(at(path), false),
        Operation::List(path) => {
            let descriptor = world.try_open(path, O_RDONLY | O_DIRECTORY)?;
            let mut names = Vec::new();
            let result = world.read_directory(descriptor, |entry| {
                names.push(entry.name.to_vec());
                true
            });
            world.close(descriptor)?;
            result?;
            names.sort();
            Ok(names.join(&b'/'))
        }
        Operation::Access(path, wanted) => {
            let target = world.locate(at(path), Follow::Yes, false)?;
            world.access(target, *wanted).map(nothing)
        }
    }
}

/// Directory sizes and link counts are the file system's own business.
fn describe(mode: u32, links: u64, size: u64) -> Vec<u8> {
    match mode & S_IFMT == S_IFDIR {
        true => format!("{mode:o}").into_bytes(),
        false => format!("{mode:o} {links} {size}").into_bytes(),
    }
}

/// The host's side. Its paths start at an open directory, as the overlay's start at the working directory: what
/// is above does not matter then.
struct Real {
    base: fs::File,
}

impl Real {
    fn new(base: &Path) -> Real {
        Real { base: fs::File::open(base).unwrap() }
    }

    fn path(&self, path: &str) -> CString {
        CString::new(format!("/proc/self/fd/{}/{path}", self.base.as_raw_fd())).unwrap()
    }

    /// SAFETY of the calls below: all pointers are to strings and buffers that live through the call.
    fn apply(&self, operation: &Operation) -> Outcome {
        let nothing = |_| Vec::new();
        match operation {
            Operation::Write { path, flags, mode, content } => {
                let descriptor =
                    check(unsafe { libc::open(self.path(path).as_ptr(), *flags as i32, *mode) })?;
                let pointer = content.as_ptr().cast();
                let written = check(unsafe { libc::write(descriptor, pointer, content.len()) } as i32);
                unsafe { libc::close(descriptor) };
                Ok(vec![written? as u8])
            }
            Operation::Read(path) => {
                let descriptor = check(unsafe { libc::open(self.path(path).as_ptr(), libc::O_RDONLY) })?;
                let mut buffer = vec![0; 1 << 16];
                let count =
                    check(unsafe { libc::read(descriptor, buffer.as_mut_ptr().cast(), buffer.len()) } as i32);
                unsafe { libc::close(descriptor) };
                buffer.truncate(count? as usize);
                Ok(buffer)
            }
            Operation::MakeDirectory(path, mode) => {
                check(unsafe { libc::mkdir(self.path(path).as_ptr(), *mode) }).map(nothing)
            }
            Operation::RemoveDirectory(path) => {
                check(unsafe { libc::rmdir(self.path(path).as_ptr()) }).map(nothing)
            }
            Operation::Unlink(path) => check(unsafe { libc::unlink(self.path(path).as_ptr()) }).map(nothing),
            Operation::Rename(old, new, flags) => {
                let (old, new) = (self.path(old), self.path(new));
                let result = unsafe {
                    libc::renameat2(libc::AT_FDCWD, old.as_ptr(), libc::AT_FDCWD, new.as_ptr(), *flags)
                };
                check(result).map(nothing)
            }
            Operation::Link { old, new, follow } => {
                let (old, new) = (self.path(old), self.path(new));
                let flags = if *follow { libc::AT_SYMLINK_FOLLOW } else { 0 };
                let result = unsafe {
                    libc::linkat(libc::AT_FDCWD, old.as_ptr(), libc::AT_FDCWD, new.as_ptr(), flags)
                };
                check(result).map(nothing)
            }
            Operation::Symlink(text, path) => {
                let text = CString::new(text.as_bytes()).unwrap();
                check(unsafe { libc::symlink(text.as_ptr(), self.path(path).as_ptr()) }).map(nothing)
            }
            Operation::ChangeMode(path, mode) => {
                check(unsafe { libc::chmod(self.path(path).as_ptr(), *mode) }).map(nothing)
            }
            Operation::Truncate(path, length) => {
                check(unsafe { libc::truncate(self.path(path).as_ptr(), *length as i64) }).map(nothing)
            }
            Operation::Stat { path, follow } => {
                let mut stat: libc::stat = unsafe { std::mem::zeroed() };
                let flags = if *follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
                let path = self.path(path);
                check(unsafe { libc::fstatat(libc::AT_FDCWD, path.as_ptr(), &mut stat, flags) })?;
                Ok(describe(stat.st_mode, stat.st_nlink, stat.st_size as u64))
            }
            Operation::ReadLink(path) => {
                let mut buffer = vec![0u8; 4096];
                let path = self.path(path);
                let pointer = buffer.as_mut_ptr().cast();
                let count = check(unsafe { libc::readlink(path.as_ptr(), pointer, 4096) } as i32)?;
                buffer.truncate(count as usize);
                Ok(buffer)
            }
            Operation::List(path) => {
                let path = self.path(path);
                let path = Path::new(std::ffi::OsStr::from_bytes(path.as_bytes()));
                let entries = fs::read_dir(path).map_err(|error| Errno::from_host(&error))?;
                let mut names = vec![b".".to_vec(), b"..".to_vec()];
                names.extend(entries.map(|entry| entry.unwrap().file_name().as_bytes().to_vec()));
                names.sort();
                Ok(names.join(&b'/'))
            }
            Operation::Access(path, wanted) => {
                let path = self.path(path);
                // The effective ids count for the guest; the thread's own are what was changed here.
                let result = unsafe {
                    libc::syscall(libc::SYS_faccessat2, libc::AT_FDCWD, path.as_ptr(), *wanted, 0x200)
                };
                check(result as i32).map(nothing)
            }
        }
    }
}

fn check(result: i32) -> Result<i32, Errno> {
    match result {
        -1 => Err(Errno::from_host(&std::io::Error::last_os_error())),
        result => Ok(result),
    }
}

/// The tested directory in the scratch directory, with all directories down to it.
fn nested(scratch: &Scratch) -> PathBuf {
    let path = (0..DEPTH).fold(scratch.path().to_path_buf(), |path, _| path.join("deep"));
    fs::create_dir_all(&path).unwrap();
    path
}

/// The same small random tree on both sides.
fn populate(base: &Path, seed: u64) {
    let real = Real::new(base);
    let mut random = Random(seed);
    for _ in 0..60 {
        // Unreadable files of the host stay unreadable for us, whatever the overlay's mode says.
        let operation = match random.operation() {
            Operation::Write { path, flags, content, .. } => {
                Operation::Write { path, flags, mode: 0o644, content }
            }
            Operation::MakeDirectory(path, _) => Operation::MakeDirectory(path, 0o755),
            Operation::ChangeMode(..) => continue,
            other => other,
        };
        let _ = real.apply(&operation);
    }
}

/// The tree as a list of descriptions, seen through the operations themselves.
fn survey(apply: &mut dyn FnMut(&Operation) -> Outcome) -> Vec<(String, Outcome, Outcome)> {
    let mut survey = Vec::new();
    let mut pending = vec![".".to_string()];
    while let Some(path) = pending.pop() {
        let stat = apply(&Operation::Stat { path: path.clone(), follow: false });
        let kind = stat.as_ref().map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default();
        let content = match kind.get(..2) {
            Some("12") => apply(&Operation::ReadLink(path.clone())),
            Some("10") => apply(&Operation::Read(path.clone())),
            Some("40") => apply(&Operation::List(path.clone())),
            _ => Ok(Vec::new()),
        };
        if let (Some("40"), Ok(names)) = (kind.get(..2), &content) {
            for name in names.split(|byte| *byte == b'/').filter(|name| *name != b"." && *name != b"..") {
                pending.push(format!("{path}/{}", String::from_utf8_lossy(name)));
            }
        }
        survey.push((path, stat, content));
    }
    survey
}

fn host_umask() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:")).unwrap();
    u32::from_str_radix(line.trim(), 8).unwrap()
}

fn compare(seed: u64, steps: usize, credentials: Credentials) {
    let (ours, theirs) = (Scratch::new(), Scratch::new());
    let (lower, base) = (nested(&ours), nested(&theirs));
    populate(&lower, seed);
    populate(&base, seed);
    let real = Real::new(&base);
    let before = ours.tree();
    let mut setup = ours.setup();
    setup.credentials = credentials;
    setup.working_directory = lower.as_os_str().as_bytes().to_vec();
    let mut world = FileSystem::new(&setup).unwrap();
    world.set_umask(host_umask());
    let mut random = Random(seed ^ 0x5555);
    for step in 0..steps {
        let operation = random.operation();
        let ours = apply_to_overlay(&mut world, &operation);
        let theirs = real.apply(&operation);
        assert_eq!(ours, theirs, "seed {seed}, step {step}: {operation:?} (left: overlay, right: host)");
        if step % 25 == 0 || step + 1 == steps {
            let overlay = survey(&mut |operation| apply_to_overlay(&mut world, operation));
            let host = survey(&mut |operation| real.apply(operation));
            assert_eq!(overlay, host, "seed {seed}, after step {step}: {operation:?}");
        }
    }
    assert_eq!(ours.tree(), before, "seed {seed}: the host was changed");
}

#[test]
fn random_operations_agree_with_the_host() {
    // SAFETY: these calls only ask.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    for seed in 0..60 {
        compare(seed, 250, Credentials { user, group, groups: Arc::from(&[][..]) });
    }
}

#[test]
fn random_operations_agree_with_the_host_for_a_user_without_privileges() {
    // SAFETY: this call only asks.
    if unsafe { libc::geteuid() } != 0 {
        // Then the test above has been that one.
        return;
    }
    // The file system ids belong to the thread, so other tests don't notice.
    let thread = std::thread::spawn(|| {
        // SAFETY: these change nothing but ids of this thread.
        unsafe {
            libc::setfsgid(USER);
            libc::setfsuid(USER);
        }
        for seed in 1000..1060 {
            compare(seed, 250, Credentials { user: USER, group: USER, groups: Arc::from(&[0][..]) });
        }
    });
    thread.join().unwrap();
}
