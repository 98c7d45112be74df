//! Core files, as far as tests need them: the state of a process that gdb has stopped.

use std::path::Path;
use std::sync::Arc;

use object::LittleEndian;
use object::elf::{FileHeader64, NT_PRSTATUS, PT_LOAD, PT_NOTE};
use object::read::elf::{FileHeader, ProgramHeader};
use program::{Mapping, Program, Registers, State};

const NT_FPREGSET: u32 = 2;
const NT_FILE: u32 = 0x4649_4c45;

pub struct Core {
    content: Vec<u8>,
    /// Start address, offset in the file and size.
    segments: Vec<(u64, usize, usize)>,
    registers: Vec<u64>,
    vectors: [u128; 16],
    pub program: Program,
}

impl Core {
    pub fn open(path: &Path) -> Core {
        let content = std::fs::read(path).unwrap();
        let header = FileHeader64::<LittleEndian>::parse(&*content).unwrap();
        let mut core = Core {
            segments: Vec::new(),
            registers: Vec::new(),
            vectors: [0; 16],
            program: Program::from_mappings([]),
            content: Vec::new(),
        };
        for segment in header.program_headers(LittleEndian, &*content).unwrap() {
            let (offset, size) = segment.file_range(LittleEndian);
            match segment.p_type(LittleEndian) {
                PT_LOAD => {
                    core.segments.push((segment.p_vaddr(LittleEndian), offset as usize, size as usize));
                }
                PT_NOTE => {
                    let mut notes = segment.notes(LittleEndian, &*content).unwrap().unwrap();
                    while let Some(note) = notes.next().unwrap() {
                        core.note(note.n_type(LittleEndian), note.desc());
                    }
                }
                _ => {}
            }
        }
        core.content = content;
        core
    }

    fn note(&mut self, kind: u32, bytes: &[u8]) {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        match kind {
            NT_PRSTATUS if self.registers.is_empty() => {
                self.registers = (0..27).map(|n| word(112 + 8 * n)).collect();
            }
            NT_FPREGSET => {
                for n in 0..16 {
                    let at = 160 + 16 * n;
                    self.vectors[n] = u128::from_le_bytes(bytes[at..at + 16].try_into().unwrap());
                }
            }
            NT_FILE => self.program = Program::from_mappings(mappings(bytes)),
            _ => {}
        }
    }

    /// As the kernel has them: r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi,
    /// orig_rax, rip, cs, eflags, rsp, ss, fs_base, ….
    pub fn state(&self) -> State<'_> {
        let general = [10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0].map(|n| self.registers[n]);
        State::new(Registers::new(self.registers[16], general), |address, buffer| self.read(address, buffer))
            .with_vectors(self.vectors)
            .with_thread_pointer(self.registers[21])
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        buffer.iter_mut().enumerate().all(|(n, byte)| match self.byte(address + n as u64) {
            Some(found) => {
                *byte = found;
                true
            }
            None => false,
        })
    }

    fn byte(&self, address: u64) -> Option<u8> {
        let held = self.segments.iter().find_map(|(start, offset, size)| {
            let inside = address.checked_sub(*start).filter(|inside| *inside < *size as u64)?;
            self.content.get(offset + inside as usize).copied()
        });
        // Pages that are as in their file are not in the core.
        held.or_else(|| self.program.file_bytes(address)?.first().copied())
    }
}

fn mappings(bytes: &[u8]) -> Vec<Mapping> {
    let word = |at: usize| u64::from_le_bytes(bytes[8 * at..8 * at + 8].try_into().unwrap());
    let count = word(0) as usize;
    let names = bytes[16 + 24 * count..].split(|byte| *byte == 0);
    names
        .take(count)
        .enumerate()
        .map(|(n, name)| Mapping {
            start: word(2 + 3 * n),
            end: word(3 + 3 * n),
            file_offset: word(4 + 3 * n) * word(1),
            path: Arc::from(std::str::from_utf8(name).unwrap()),
            content: None,
        })
        .collect()
}
