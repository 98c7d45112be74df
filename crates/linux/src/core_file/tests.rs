//! Core files, read back.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::process::Command;

use machine::{Backing, Permissions, Region, Time, Unwatched};
use object::LittleEndian;
use object::elf::{ET_CORE, FileHeader64, NT_AUXV, NT_PRSTATUS, PT_LOAD, PT_NOTE};
use object::read::elf::{FileHeader, ProgramHeader};

use super::*;
use crate::kernel::PID;
use crate::process::Config;
use crate::{Exit, signal};

const NT_FPREGSET: u32 = 2;
const NT_SIGINFO: u32 = 0x5349_4749;
const NT_FILE: u32 = 0x4649_4c45;

/// A core file taken apart.
struct Parsed {
    notes: BTreeMap<u32, Vec<u8>>,
    /// Address, size in memory, content, flags.
    segments: Vec<(u64, u64, Vec<u8>, u32)>,
}

fn parse(bytes: &[u8]) -> Parsed {
    let header = FileHeader64::<LittleEndian>::parse(bytes).unwrap();
    let endian = header.endian().unwrap();
    assert_eq!(header.e_type(endian), ET_CORE);
    let mut parsed = Parsed { notes: BTreeMap::new(), segments: Vec::new() };
    for program_header in header.program_headers(endian, bytes).unwrap() {
        match program_header.p_type(endian) {
            PT_NOTE => {
                let mut notes = program_header.notes(endian, bytes).unwrap().unwrap();
                while let Some(note) = notes.next().unwrap() {
                    assert_eq!(note.name(), b"CORE");
                    assert!(parsed.notes.insert(note.n_type(endian), note.desc().to_vec()).is_none());
                }
            }
            PT_LOAD => {
                let content = program_header.data(endian, bytes).unwrap().to_vec();
                parsed.segments.push((
                    program_header.p_vaddr(endian),
                    program_header.p_memsz(endian),
                    content,
                    program_header.p_flags(endian),
                ));
            }
            other => panic!("a program header of type {other}"),
        }
    }
    parsed
}

fn core_of(process: &Process) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    write_core(process, &mut out).unwrap();
    out.into_inner()
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// A dynamic program of the system, somewhere in its middle.
fn running() -> Process {
    let mut process = Process::load(&Config::new("/bin/true")).unwrap();
    assert_eq!(process.run(Time(60_000), &mut Unwatched), Exit::Until);
    process
}

#[test]
fn every_mapped_byte_is_in_the_file_at_its_address() {
    let process = running();
    let parsed = parse(&core_of(&process));
    let regions = process.machine.memory.regions();
    assert_eq!(parsed.segments.len(), regions.len());
    for (region, (start, size, content, flags)) in regions.iter().zip(&parsed.segments) {
        assert_eq!((region.start, region.end - region.start), (*start, *size));
        let mut expected = vec![0; content.len()];
        assert_eq!(process.machine.memory.peek(*start, &mut expected), content.len());
        assert!(*content == expected, "{region:?}");
        assert!(region.permissions == Permissions::NONE || content.len() as u64 == *size, "{region:?}");
        let Permissions { read, write, execute } = region.permissions;
        assert_eq!(*flags, u32::from(read) << 2 | u32::from(write) << 1 | u32::from(execute));
    }
}

#[test]
fn registers_are_where_debuggers_look_for_them() {
    let mut process = running();
    process.machine.cpu.set_xmm(3, 0x1122_3344_5566_7788_99aa_bbcc_ddee_ff00);
    let parsed = parse(&core_of(&process));
    let status = &parsed.notes[&NT_PRSTATUS];
    let cpu = &process.machine.cpu;
    assert_eq!(status.len(), 336);
    assert_eq!(half(status, 32), PID);
    assert_eq!(half(status, 12) & 0xffff, 0, "no signal");
    let register = |number: usize| word(status, 112 + 8 * number);
    for (number, reg) in
        [(0, lift::Reg::R15), (4, lift::Reg::RBP), (10, lift::Reg::RAX), (14, lift::Reg::RDI)]
    {
        assert_eq!(register(number), cpu.get(reg), "{reg:?}");
    }
    assert_eq!((register(16), register(18), register(19)), (cpu.rip, cpu.rflags(), cpu.get(lift::Reg::RSP)));
    assert_eq!(register(21), cpu.get(lift::Reg::FS_BASE));
    let float = &parsed.notes[&NT_FPREGSET];
    assert_eq!((word(float, 160 + 48), half(float, 24)), (0x99aa_bbcc_ddee_ff00, 0x1f80));
    assert!(!parsed.notes.contains_key(&NT_SIGINFO));
}

#[test]
fn the_auxiliary_vector_is_the_one_on_the_stack() {
    let process = running();
    let parsed = parse(&core_of(&process));
    let vector = &parsed.notes[&NT_AUXV];
    let headers = vector.chunks(16).find(|entry| word(entry, 0) == 3).map(|entry| word(entry, 8)).unwrap();
    let mut bytes = [0; 4];
    // The program headers follow the file header.
    process.machine.memory.peek(headers - 64, &mut bytes);
    assert_eq!(&bytes, b"\x7fELF");
    assert_eq!(word(vector, vector.len() - 16), 0, "it ends with AT_NULL");
}

#[test]
fn mapped_files_are_listed_with_their_offsets() {
    let process = running();
    let parsed = parse(&core_of(&process));
    let files = &parsed.notes[&NT_FILE];
    let count = word(files, 0) as usize;
    let names: Vec<&[u8]> = files[16 + 24 * count..].split(|&byte| byte == 0).collect();
    let mapped = process.machine.memory.regions().iter().filter_map(|region| match &region.backing {
        Backing::Bytes { offset, .. } => Some((region, *offset)),
        Backing::Zero | Backing::Fresh => None,
    });
    let mapped: Vec<(&Region, u64)> = mapped.collect();
    assert!(mapped.len() > 8 && mapped.len() == count);
    for (number, (region, offset)) in mapped.into_iter().enumerate() {
        let entry = 16 + 24 * number;
        let listed = (word(files, entry), word(files, entry + 8), word(files, entry + 16) * 4096);
        assert_eq!(listed, (region.start, region.end, offset));
        assert_eq!(names[number], region.name.as_bytes());
    }
}

/// Compiles a program of one line that dies.
fn dying(name: &str, body: &str) -> Process {
    let source = std::env::temp_dir().join(format!("whydunit-core-{name}-{}.c", std::process::id()));
    let program = source.with_extension("");
    std::fs::write(&source, format!("#include <stdlib.h>\nint main(int c, char **v) {{ {body} }}")).unwrap();
    let compiled = Command::new("gcc").arg("-o").arg(&program).arg(&source).status().unwrap();
    assert!(compiled.success());
    let mut process = Process::load(&Config::new(&program)).unwrap();
    let exit = process.run(Time(10_000_000), &mut Unwatched);
    assert!(matches!(exit, Exit::Killed { .. }), "{name}: {exit:?}");
    let _ = (std::fs::remove_file(&source), std::fs::remove_file(&program));
    process
}

#[test]
fn a_signal_is_told_with_its_reason_and_address() {
    let cases = [
        ("unmapped", "return *(int *)0x123456;", signal::SIGSEGV, 1, Some(0x12_3456)),
        ("protected", "*(char *)main = 1; return 0;", signal::SIGSEGV, 2, None),
        ("divided", "return c / (c - 1);", signal::SIGFPE, 1, None),
        ("aborted", "abort();", signal::SIGABRT, -6, Some(u64::from(PID))),
    ];
    for (name, body, number, code, address) in cases {
        let process = dying(name, body);
        let parsed = parse(&core_of(&process));
        let information = &parsed.notes[&NT_SIGINFO];
        assert_eq!(information.len(), 128);
        assert_eq!((half(information, 0), half(information, 8) as i32), (number as u32, code), "{name}");
        if let Some(address) = address {
            assert_eq!(word(information, 16) & 0xffff_ffff, address, "{name}");
        }
        let status = &parsed.notes[&NT_PRSTATUS];
        assert_eq!(half(status, 12) & 0xffff, number as u32, "{name}");
    }
}

#[test]
fn the_same_state_gives_the_same_bytes() {
    assert!(core_of(&running()) == core_of(&running()));
}

/// Counts what is written, apart from what is skipped.
struct Counted {
    at: u64,
    written: u64,
    end: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.at += bytes.len() as u64;
        self.written += bytes.len() as u64;
        self.end = self.end.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Current(by) = to else { panic!("{to:?}") };
        self.at = self.at.checked_add_signed(by).unwrap();
        Ok(self.at)
    }
}

#[test]
fn memory_that_was_never_touched_costs_nothing_and_the_file_is_as_long_as_it_says() {
    let mut process = running();
    let start = 0x1000_0000;
    process.machine.memory.map(Region {
        start,
        end: start + (1 << 29),
        permissions: Permissions::RW,
        backing: Backing::Zero,
        name: "".into(),
        shared: false,
    });
    // The stack ends in what the loader put there; without it the file ends in a hole.
    process.machine.memory.unmap(start + (1 << 29), u64::MAX);
    let mut counted = Counted { at: 0, written: 0, end: 0 };
    write_core(&process, &mut counted).unwrap();
    assert!(counted.written < 1 << 20, "{}", counted.written);
    assert!(counted.end > 1 << 29);
    assert_eq!(counted.end % PAGE_SIZE, 0, "the last hole is part of the file");
}
