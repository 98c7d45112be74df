//! Puts a program and its interpreter into memory, at fixed addresses, so that every run sees the same ones.

use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use machine::{AccessFault, Backing, Memory, Permissions, Region};

use crate::elf::{Elf, page_down, page_up};
use crate::errno::Errno;
use crate::fs::abi::{S_IFDIR, S_IFMT, S_IFREG};
use crate::fs::{Credentials, Host, HostPath};
use crate::load_error::LoadError;
use crate::stack::{self, InitialStack, Loaded, STACK_SIZE, STACK_TOP};

/// Where position-independent programs go: where Linux puts them without randomisation.
pub const PROGRAM_BASE: u64 = 0x5555_5555_4000;
/// The interpreter and everything that the guest maps go below this, the highest gap first.
pub const MMAP_TOP: u64 = 0x7fff_f7ff_f000;
/// The lowest address that can be mapped.
pub const MMAP_BOTTOM: u64 = 0x1_0000;

/// A program ready to start.
#[derive(Debug)]
pub struct Image {
    /// The executable's absolute path, links resolved.
    pub executable: PathBuf,
    /// Where to start: in the interpreter, if there is one.
    pub start: u64,
    pub stack_pointer: u64,
    /// Where the heap begins that brk extends.
    pub break_start: u64,
    pub auxiliary_vector: Vec<u8>,
}

/// What to load.
pub struct Request<'a> {
    /// The executable, as the user named it; relative paths are relative to `cwd`.
    pub program: &'a Path,
    pub cwd: &'a Path,
    pub argv: &'a [Vec<u8>],
    pub env: &'a [Vec<u8>],
    pub credentials: &'a Credentials,
    pub max_memory: u64,
    /// Whose files there are.
    pub host: &'a Host,
}

pub fn load(request: &Request<'_>, memory: &mut Memory) -> Result<Image, LoadError> {
    check_strings(request)?;
    let location = request.cwd.join(request.program);
    let (executable, file) =
        read_program(request.host, &location).map_err(|refusal| refusal.explain(request.program))?;
    let mut image = load_file(request, location, file, memory)?;
    image.executable = PathBuf::from(std::ffi::OsString::from_vec(executable.to_vec()));
    Ok(image)
}

/// Loads a program whose bytes are at hand.
pub(crate) fn load_file(
    request: &Request<'_>,
    location: PathBuf,
    file: Arc<Vec<u8>>,
    memory: &mut Memory,
) -> Result<Image, LoadError> {
    let path = request.program;
    let elf = Elf::parse(&file).map_err(|cause| LoadError::for_program(path, &file, cause))?;
    let interpreter = match &elf.interpreter {
        Some(interpreter) => Some(read_interpreter(request, interpreter)?),
        None => None,
    };

    let (first, length) = elf.span();
    let bias = match elf.position_independent {
        true => (PROGRAM_BASE & !(elf.alignment - 1)).wrapping_sub(first),
        false => 0,
    };
    let start = first.wrapping_add(bias);
    if start < MMAP_BOTTOM || start + length > MMAP_TOP {
        return Err(LoadError::AddressTaken { path: path.to_path_buf(), address: start });
    }
    let no_memory = |_| LoadError::NoMemory { path: path.to_path_buf(), limit: request.max_memory };
    map_segments(memory, &elf, &file, bias, &location).map_err(no_memory)?;
    let entry = elf.entry.wrapping_add(bias);
    let mut loaded = Loaded {
        headers: elf.headers_address.map_or(0, |address| address.wrapping_add(bias)),
        header_count: elf.header_count,
        entry,
        interpreter_base: 0,
    };
    let mut begin = entry;
    if let Some((interpreter, elf, file)) = interpreter {
        let base = place_interpreter(memory, &elf)
            .ok_or_else(|| LoadError::AddressTaken { path: interpreter.clone(), address: elf.span().0 })?;
        map_segments(memory, &elf, &file, base, &interpreter).map_err(no_memory)?;
        loaded.interpreter_base = base;
        begin = elf.entry.wrapping_add(base);
    }
    let stack = set_up_stack(request, memory, &loaded, elf.executable_stack).map_err(no_memory)?;
    Ok(Image {
        executable: location,
        start: begin,
        stack_pointer: stack.pointer,
        break_start: start + length,
        auxiliary_vector: stack.auxiliary_vector,
    })
}

fn check_strings(request: &Request<'_>) -> Result<(), LoadError> {
    let size = stack::strings_size(request.argv, request.env) + request.program.as_os_str().len() as u64;
    if size > stack::MAX_STRINGS {
        return Err(LoadError::ArgumentsTooLong { size, limit: stack::MAX_STRINGS });
    }
    let mut strings = request.argv.iter().chain(request.env);
    if strings.any(|string| string.contains(&0)) {
        return Err(LoadError::ZeroInArgument);
    }
    Ok(())
}

/// Why a file was not read.
enum Refusal {
    Directory,
    NotRegular,
    TooLarge(u64),
    Failed(Errno),
}

impl Refusal {
    fn explain(self, path: &Path) -> LoadError {
        let path = path.to_path_buf();
        match self {
            Refusal::Directory => LoadError::Directory { path },
            Refusal::NotRegular => LoadError::NotRegular { path },
            Refusal::TooLarge(size) => LoadError::TooLarge { path, size },
            Refusal::Failed(Errno::ENOENT) => LoadError::NotFound { path },
            Refusal::Failed(errno) => LoadError::Unreadable { path, cause: io_error(errno) },
        }
    }

    fn into_error(self) -> io::Error {
        match self {
            Refusal::Directory => io::Error::other("it is a directory"),
            Refusal::NotRegular => io::Error::other("it is not a regular file"),
            Refusal::TooLarge(_) => io::Error::other("it is too large"),
            Refusal::Failed(errno) => io_error(errno),
        }
    }
}

fn io_error(errno: Errno) -> io::Error {
    io::Error::from_raw_os_error(errno.0)
}

/// The bytes of a program or interpreter, and where it is, links resolved.
fn read_program(host: &Host, path: &Path) -> Result<(HostPath, Arc<Vec<u8>>), Refusal> {
    let (location, entry) = host.follow(path.as_os_str().as_bytes()).map_err(Refusal::Failed)?;
    match entry.mode & S_IFMT {
        S_IFREG => {}
        S_IFDIR => return Err(Refusal::Directory),
        _ => return Err(Refusal::NotRegular),
    }
    match host.known_content(&location, &entry) {
        Ok(content) => Ok((location, content)),
        Err(Errno::EFBIG | Errno::ENOMEM) => Err(Refusal::TooLarge(entry.size)),
        Err(errno) => Err(Refusal::Failed(errno)),
    }
}

fn read_interpreter(request: &Request<'_>, name: &[u8]) -> Result<(PathBuf, Elf, Arc<Vec<u8>>), LoadError> {
    let program = request.program;
    let path = PathBuf::from(std::ffi::OsString::from_vec(name.to_vec()));
    let found = read_program(request.host, &request.cwd.join(&path));
    let (_, file) = found.map_err(|refusal| LoadError::MissingInterpreter {
        path: program.to_path_buf(),
        interpreter: path.clone(),
        cause: refusal.into_error(),
    })?;
    match Elf::parse(&file) {
        Ok(elf) => Ok((path, elf, file)),
        Err(cause) => {
            Err(LoadError::BadInterpreter { path: program.to_path_buf(), interpreter: path, cause })
        }
    }
}

/// What to add to the interpreter's addresses, or `None` if it cannot be put anywhere.
fn place_interpreter(memory: &Memory, elf: &Elf) -> Option<u64> {
    let (first, length) = elf.span();
    if elf.position_independent {
        return Some(memory.find_free(length, MMAP_TOP)?.wrapping_sub(first));
    }
    let end = first + length;
    let free = memory.regions().iter().all(|region| region.end <= first || region.start >= end);
    (free && first >= MMAP_BOTTOM && end <= MMAP_TOP).then_some(0)
}

fn map_segments(
    memory: &mut Memory,
    elf: &Elf,
    file: &Arc<Vec<u8>>,
    bias: u64,
    path: &Path,
) -> Result<(), AccessFault> {
    let name: Arc<str> = path.to_string_lossy().into();
    for segment in &elf.segments {
        let start = segment.address.wrapping_add(bias);
        let file_end = start + segment.file_size;
        let end = page_up(start + segment.memory_size);
        let mut zero_from = page_down(start);
        if segment.file_size > 0 {
            zero_from = page_up(file_end);
            memory.map(Region {
                start: page_down(start),
                end: zero_from,
                permissions: segment.permissions,
                backing: Backing::Bytes { content: file.clone(), offset: page_down(segment.file_offset) },
                name: name.clone(),
                shared: false,
            });
            if segment.memory_size > segment.file_size {
                // The last page of the file's part goes on with zeros, not with what the file has there.
                memory.poke(file_end, &vec![0; (zero_from - file_end) as usize])?;
            }
        }
        if zero_from < end {
            memory.map(Region {
                start: zero_from,
                end,
                permissions: segment.permissions,
                backing: Backing::Zero,
                name: "".into(),
                shared: false,
            });
        }
    }
    Ok(())
}

fn set_up_stack(
    request: &Request<'_>,
    memory: &mut Memory,
    loaded: &Loaded,
    executable: bool,
) -> Result<InitialStack, AccessFault> {
    memory.map(Region {
        start: STACK_TOP - STACK_SIZE,
        end: STACK_TOP,
        permissions: if executable { Permissions::RWX } else { Permissions::RW },
        backing: Backing::Zero,
        name: "[stack]".into(),
        shared: false,
    });
    let stack = stack::initial_stack(
        request.argv,
        request.env,
        request.program.as_os_str().as_bytes(),
        loaded,
        request.credentials,
        u64::from(machine::cpuid::FEATURES_EDX),
    );
    memory.poke(stack.pointer, &stack.bytes)?;
    Ok(stack)
}

#[cfg(test)]
mod tests;
