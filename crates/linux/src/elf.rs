//! Reads the headers of an ELF executable.
//!
//! Only what loading needs, and written for hostile input: every number in the file is checked before it is
//! used, and nothing is allocated by a size that the file merely claims. (The `program` room reads
//! symbols and debug information with a general library; this is the part that decides what gets mapped.)

use machine::{PAGE_SIZE, Permissions};

/// What a file says about how it is to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elf {
    /// Whether the file may be loaded at any address, and its addresses are relative to that.
    pub position_independent: bool,
    pub entry: u64,
    /// In ascending order, not overlapping; never empty.
    pub segments: Vec<Segment>,
    /// What the address of a position-independent file must be a multiple of: a power of two.
    pub alignment: u64,
    /// Where the program headers appear in memory, if a segment covers them.
    pub headers_address: Option<u64>,
    pub header_count: u64,
    /// The path of the program that loads this one (the dynamic linker).
    pub interpreter: Option<Vec<u8>>,
    pub executable_stack: bool,
}

/// A stretch of the file that is mapped into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub address: u64,
    /// Where it begins in the file; the same as `address` modulo the page size.
    pub file_offset: u64,
    pub file_size: u64,
    /// At least `file_size`; what is more reads as zero.
    pub memory_size: u64,
    pub permissions: Permissions,
}

impl Segment {
    pub fn end(&self) -> u64 {
        self.address + self.memory_size
    }
}

/// Why a file is no program that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    #[error("is empty")]
    Empty,
    #[error("is not an ELF file")]
    NotElf,
    #[error("is a 32-bit program; whydunit runs 64-bit ones (build it with -m64)")]
    Class32,
    #[error("is a program for {0}; whydunit runs x86-64 programs only")]
    OtherMachine(String),
    #[error("is an object file, not a program; link it first (cc -o PROGRAM FILE.o)")]
    ObjectFile,
    #[error("is a core dump, not a program; give the program that dumped it")]
    CoreDump,
    #[error("is cut short: {0} lies beyond the end of the file; copy or build it again")]
    Truncated(&'static str),
    #[error("is damaged: {0}; copy or build it again")]
    Damaged(&'static str),
}

/// Addresses at and above this are the kernel's.
pub const ADDRESS_SPACE_END: u64 = 0x7fff_ffff_f000;
/// A program that spans more than this is not meant seriously.
const MAX_SPAN: u64 = 1 << 44;
const MAX_ALIGNMENT: u64 = 1 << 30;
pub const PROGRAM_HEADER_SIZE: u64 = 56;
const HEADER_SIZE: usize = 64;
const MAX_PATH: u64 = 4096;

const MACHINE_X86_64: u16 = 62;
const PT_LOAD: u32 = 1;
const PT_INTERP: u32 = 3;
const PT_PHDR: u32 = 6;
const PT_GNU_STACK: u32 = 0x6474_e551;

impl Elf {
    pub fn parse(file: &[u8]) -> Result<Elf, ElfError> {
        let header = check_header(file)?;
        let headers = program_headers(file, &header)?;

        let mut segments = Vec::new();
        let mut interpreter = None;
        let mut executable_stack = false;
        let mut headers_address = None;
        let mut alignment = PAGE_SIZE;
        for entry in &headers {
            match entry.kind {
                PT_LOAD if entry.memory_size > 0 => {
                    segments.push(loadable(entry, segments.last(), file.len() as u64)?);
                    // Like Linux, take no notice of an alignment that is none.
                    if entry.alignment.is_power_of_two() && entry.alignment <= MAX_ALIGNMENT {
                        alignment = alignment.max(entry.alignment);
                    }
                }
                PT_INTERP => interpreter = Some(interpreter_path(entry, file)?),
                PT_GNU_STACK => executable_stack = entry.permissions().execute,
                PT_PHDR => headers_address = Some(entry.address),
                _ => {}
            }
        }
        let (Some(first), Some(last)) = (segments.first(), segments.last()) else {
            return Err(ElfError::Damaged("it has nothing to load"));
        };
        if last.end() - first.address > MAX_SPAN {
            return Err(ElfError::Damaged("its segments are impossibly large"));
        }
        // PT_PHDR is optional; else the headers are where the segment that contains them puts them.
        let headers_address = headers_address.or_else(|| {
            let holder = segments.iter().find(|segment| {
                let within = header.table_offset.checked_sub(segment.file_offset);
                within.is_some_and(|distance| distance < segment.file_size)
            })?;
            Some(holder.address + (header.table_offset - holder.file_offset))
        });
        Ok(Elf {
            position_independent: header.position_independent,
            entry: header.entry,
            alignment,
            headers_address,
            header_count: headers.len() as u64,
            segments,
            interpreter,
            executable_stack,
        })
    }

    /// The pages from the first to the last segment: start and length.
    pub fn span(&self) -> (u64, u64) {
        let start = self.segments.first().map_or(0, |segment| page_down(segment.address));
        let end = self.segments.last().map_or(0, |segment| page_up(segment.end()));
        (start, end - start)
    }
}

/// The start of the page that an address is in.
pub fn page_down(address: u64) -> u64 {
    address & !(PAGE_SIZE - 1)
}

/// The start of the next page, or the address itself if it is one. The caller knows that it cannot overflow.
pub fn page_up(address: u64) -> u64 {
    page_down(address + (PAGE_SIZE - 1))
}

struct Header {
    position_independent: bool,
    entry: u64,
    table_offset: u64,
    table_entries: u64,
}

fn check_header(file: &[u8]) -> Result<Header, ElfError> {
    if file.is_empty() {
        return Err(ElfError::Empty);
    }
    if !file.starts_with(b"\x7fELF") {
        return Err(ElfError::NotElf);
    }
    match file.get(4) {
        Some(1) => return Err(ElfError::Class32),
        Some(2) => {}
        Some(_) => return Err(ElfError::Damaged("its class is neither 32 nor 64 bits")),
        None => return Err(ElfError::Truncated("the file header")),
    }
    match file.get(5) {
        Some(1) => {}
        Some(2) => return Err(ElfError::OtherMachine("a big-endian machine".to_string())),
        _ => return Err(ElfError::Damaged("its byte order is neither little nor big endian")),
    }
    if file.len() < HEADER_SIZE {
        return Err(ElfError::Truncated("the file header"));
    }
    let machine = u16_at(file, 18);
    if machine != MACHINE_X86_64 {
        return Err(ElfError::OtherMachine(machine_name(machine)));
    }
    let position_independent = match u16_at(file, 16) {
        1 => return Err(ElfError::ObjectFile),
        2 => false,
        3 => true,
        4 => return Err(ElfError::CoreDump),
        _ => return Err(ElfError::Damaged("its type is none that Linux knows")),
    };
    if u64::from(u16_at(file, 54)) != PROGRAM_HEADER_SIZE {
        return Err(ElfError::Damaged("its program headers have the wrong size"));
    }
    Ok(Header {
        position_independent,
        entry: u64_at(file, 24),
        table_offset: u64_at(file, 32),
        table_entries: u64::from(u16_at(file, 56)),
    })
}

struct ProgramHeader {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    file_size: u64,
    memory_size: u64,
    alignment: u64,
}

impl ProgramHeader {
    fn permissions(&self) -> Permissions {
        Permissions { read: self.flags & 4 != 0, write: self.flags & 2 != 0, execute: self.flags & 1 != 0 }
    }
}

fn program_headers(file: &[u8], header: &Header) -> Result<Vec<ProgramHeader>, ElfError> {
    let size = header.table_entries * PROGRAM_HEADER_SIZE;
    let table =
        slice(file, header.table_offset, size).ok_or(ElfError::Truncated("its table of program headers"))?;
    let entries = table.chunks_exact(PROGRAM_HEADER_SIZE as usize);
    Ok(entries
        .map(|entry| ProgramHeader {
            kind: u32_at(entry, 0),
            flags: u32_at(entry, 4),
            offset: u64_at(entry, 8),
            address: u64_at(entry, 16),
            file_size: u64_at(entry, 32),
            memory_size: u64_at(entry, 40),
            alignment: u64_at(entry, 48),
        })
        .collect())
}

fn loadable(
    entry: &ProgramHeader,
    previous: Option<&Segment>,
    file_length: u64,
) -> Result<Segment, ElfError> {
    if entry.file_size > entry.memory_size {
        return Err(ElfError::Damaged("a segment is larger in the file than in memory"));
    }
    let end = entry.address.checked_add(entry.memory_size);
    if end.is_none_or(|end| end > ADDRESS_SPACE_END) {
        return Err(ElfError::Damaged("a segment reaches beyond the address space"));
    }
    if entry.offset.checked_add(entry.file_size).is_none_or(|end| end > file_length) {
        return Err(ElfError::Truncated("a segment"));
    }
    if entry.address % PAGE_SIZE != entry.offset % PAGE_SIZE {
        return Err(ElfError::Damaged("a segment is not aligned as its pages are"));
    }
    if previous.is_some_and(|previous| entry.address < previous.end()) {
        return Err(ElfError::Damaged("its segments overlap or are out of order"));
    }
    Ok(Segment {
        address: entry.address,
        file_offset: entry.offset,
        file_size: entry.file_size,
        memory_size: entry.memory_size,
        permissions: entry.permissions(),
    })
}

fn interpreter_path(entry: &ProgramHeader, file: &[u8]) -> Result<Vec<u8>, ElfError> {
    if entry.file_size > MAX_PATH {
        return Err(ElfError::Damaged("the path of its interpreter is too long"));
    }
    let path = slice(file, entry.offset, entry.file_size)
        .ok_or(ElfError::Truncated("the path of its interpreter"))?;
    match path.split_last() {
        Some((0, path)) if !path.is_empty() && !path.contains(&0) => Ok(path.to_vec()),
        _ => Err(ElfError::Damaged("the path of its interpreter is not a string")),
    }
}

fn slice(file: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    let end = usize::try_from(offset.checked_add(size)?).ok()?;
    file.get(start..end)
}

/// Little-endian numbers; the callers have checked the length, and beyond it everything is 0.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    array_at(bytes, at).map_or(0, u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    array_at(bytes, at).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    array_at(bytes, at).map_or(0, u64::from_le_bytes)
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn machine_name(machine: u16) -> String {
    let name = match machine {
        3 => "32-bit x86",
        8 => "MIPS",
        20 => "32-bit PowerPC",
        21 => "PowerPC",
        22 => "s390",
        40 => "32-bit ARM",
        183 => "64-bit ARM (aarch64)",
        243 => "RISC-V",
        258 => "LoongArch",
        other => return format!("machine number {other}"),
    };
    name.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real() -> Vec<u8> {
        std::fs::read("/bin/true").unwrap()
    }

    fn with(change: impl FnOnce(&mut Vec<u8>)) -> Result<Elf, ElfError> {
        let mut file = real();
        change(&mut file);
        Elf::parse(&file)
    }

    /// Where the n-th program header of a kind lies in the file.
    fn header_at(file: &[u8], kind: u32, n: usize) -> usize {
        let table = u64_at(file, 32) as usize;
        let count = u16_at(file, 56) as usize;
        (0..count).map(|i| table + 56 * i).filter(|&at| u32_at(file, at) == kind).nth(n).unwrap()
    }

    #[test]
    fn a_dynamic_executable_of_the_system_is_understood() {
        let elf = Elf::parse(&real()).unwrap();
        assert!(elf.position_independent);
        assert!(!elf.executable_stack);
        assert_eq!(elf.interpreter.as_deref(), Some(&b"/lib64/ld-linux-x86-64.so.2"[..]));
        assert_eq!(elf.headers_address, Some(64));
        assert!(elf.segments.iter().any(|segment| segment.permissions == Permissions::RX));
        assert!(elf.segments.iter().any(|segment| segment.memory_size > segment.file_size));
    }

    #[test]
    fn what_is_no_program_is_told_apart() {
        assert_eq!(Elf::parse(b""), Err(ElfError::Empty));
        assert_eq!(Elf::parse(b"hello"), Err(ElfError::NotElf));
        assert_eq!(Elf::parse(b"\x7fELF"), Err(ElfError::Truncated("the file header")));
        assert_eq!(with(|file| file[4] = 1), Err(ElfError::Class32));
        assert_eq!(with(|file| file[16] = 1), Err(ElfError::ObjectFile));
        assert_eq!(with(|file| file[16] = 4), Err(ElfError::CoreDump));
        assert!(matches!(with(|file| file[18] = 183), Err(ElfError::OtherMachine(_))));
        assert!(matches!(with(|file| file[5] = 2), Err(ElfError::OtherMachine(_))));
        assert_eq!(with(|file| file.truncate(100)), Err(ElfError::Truncated("its table of program headers")));
        assert_eq!(with(|file| file.truncate(9000)), Err(ElfError::Truncated("a segment")));
    }

    #[test]
    fn impossible_segments_are_refused() {
        let huge_memory = with(|file| {
            let at = header_at(file, PT_LOAD, 3) + 40;
            file[at..at + 8].copy_from_slice(&(u64::MAX - 100).to_le_bytes());
        });
        assert_eq!(huge_memory, Err(ElfError::Damaged("a segment reaches beyond the address space")));
        let wide_span = with(|file| {
            let at = header_at(file, PT_LOAD, 3) + 40;
            file[at..at + 8].copy_from_slice(&(1u64 << 46).to_le_bytes());
        });
        assert_eq!(wide_span, Err(ElfError::Damaged("its segments are impossibly large")));
        let overlap = with(|file| {
            let at = header_at(file, PT_LOAD, 1) + 16;
            file[at..at + 8].copy_from_slice(&0u64.to_le_bytes());
        });
        assert_eq!(overlap, Err(ElfError::Damaged("its segments overlap or are out of order")));
        let misaligned = with(|file| {
            let at = header_at(file, PT_LOAD, 1) + 16;
            file[at] += 8;
        });
        assert_eq!(misaligned, Err(ElfError::Damaged("a segment is not aligned as its pages are")));
    }

    #[test]
    fn an_interpreter_path_without_end_is_refused() {
        let unterminated = with(|file| {
            let at = header_at(file, PT_INTERP, 0);
            let end = (u64_at(file, at + 8) + u64_at(file, at + 32)) as usize;
            file[end - 1] = b'x';
        });
        assert_eq!(unterminated, Err(ElfError::Damaged("the path of its interpreter is not a string")));
    }
}
