//! The state of a process as an ELF core file, which debuggers open.
//!
//! It is here because a core file is the kernel's account of a process: registers and mapped memory, but also process
//! numbers, the auxiliary vector, mapped files and the signal, of which only this room knows. What is written
//! depends on the process alone, so the same state gives the same bytes.
//!
//! Memory is written whole, code included, so that the file can be read where the program's own files are
//! absent or have changed. Pages of zeros are left out as holes, hence a writer that can seek; on a file system
//! that knows sparse files they take no room.

mod notes;
mod segments;

#[cfg(test)]
mod tests;

use std::io::{self, Seek, SeekFrom, Write};

use machine::{Memory, PAGE_SIZE};

use crate::process::Process;
use segments::Segment;

const HEADER_SIZE: u64 = 64;
const PROGRAM_HEADER_SIZE: u64 = crate::elf::PROGRAM_HEADER_SIZE;

const ET_CORE: u16 = 4;
const EM_X86_64: u16 = 62;
const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
/// So many program headers, and more, cannot be said in the field that counts them.
const PN_XNUM: u64 = 0xffff;

/// Why there is no core file.
#[derive(Debug, thiserror::Error)]
pub enum CoreError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the process has too many mappings ({0}) for a core file")]
    TooManySegments(u64),
}

/// Writes the core file of a process as it is now. The writer is at the start of what it writes to.
pub fn write_core(process: &Process, out: &mut (impl Write + Seek)) -> Result<(), CoreError> {
    let memory = &process.machine.memory;
    let notes = notes::notes(process);
    let segments = segments::segments(memory);
    let count = segments.len() as u64 + 1;
    if count >= PN_XNUM {
        return Err(CoreError::TooManySegments(segments.len() as u64));
    }
    let notes_start = HEADER_SIZE + count * PROGRAM_HEADER_SIZE;
    let data_start = (notes_start + notes.len() as u64).next_multiple_of(PAGE_SIZE);

    let mut head = file_header(count as u16);
    head.extend(note_header(notes_start, notes.len() as u64));
    let mut offset = data_start;
    for segment in &segments {
        head.extend(load_header(segment, offset));
        offset += segment.file_size;
    }
    head.extend(&notes);
    head.resize(data_start as usize, 0);
    out.write_all(&head)?;

    let mut hole = 0;
    for segment in segments.iter().filter(|segment| segment.file_size > 0) {
        write_segment(memory, segment, out, &mut hole)?;
    }
    if hole > 0 {
        // A hole at the very end must be followed by something, or the file is too short.
        out.seek(SeekFrom::Current((hole - 1) as i64))?;
        out.write_all(&[0])?;
    }
    out.flush()?;
    Ok(())
}

/// Writes the pages that hold something; `hole` counts the bytes since the last one that was written.
fn write_segment(
    memory: &Memory,
    segment: &Segment,
    out: &mut (impl Write + Seek),
    hole: &mut u64,
) -> io::Result<()> {
    let end = segment.start + segment.file_size;
    let mut at = segment.start;
    for page in segment.pages(memory) {
        let mut bytes = [0; PAGE_SIZE as usize];
        memory.peek(page, &mut bytes);
        if bytes.iter().all(|&byte| byte == 0) {
            continue;
        }
        *hole += page - at;
        if *hole > 0 {
            out.seek(SeekFrom::Current(*hole as i64))?;
            *hole = 0;
        }
        out.write_all(&bytes)?;
        at = page + PAGE_SIZE;
    }
    *hole += end - at;
    Ok(())
}

fn file_header(program_headers: u16) -> Vec<u8> {
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(16, 0);
    header.extend(ET_CORE.to_le_bytes());
    header.extend(EM_X86_64.to_le_bytes());
    header.extend(1u32.to_le_bytes());
    // No entry point; program headers follow; no section headers.
    for word in [0, HEADER_SIZE, 0] {
        header.extend(word.to_le_bytes());
    }
    header.extend(0u32.to_le_bytes());
    for half in [HEADER_SIZE as u16, PROGRAM_HEADER_SIZE as u16, program_headers, 0, 0, 0] {
        header.extend(half.to_le_bytes());
    }
    header
}

fn note_header(offset: u64, size: u64) -> Vec<u8> {
    program_header(PT_NOTE, 0, [offset, 0, 0, size, size, 4])
}

fn load_header(segment: &Segment, offset: u64) -> Vec<u8> {
    let Segment { start, memory_size, file_size, permissions, .. } = segment;
    let bit = |granted: bool, bit: u32| if granted { bit } else { 0 };
    let flags = bit(permissions.execute, 1) | bit(permissions.write, 2) | bit(permissions.read, 4);
    program_header(PT_LOAD, flags, [offset, *start, 0, *file_size, *memory_size, PAGE_SIZE])
}

/// `words` are offset, address, physical address, size in the file, size in memory, alignment.
fn program_header(kind: u32, flags: u32, words: [u64; 6]) -> Vec<u8> {
    let mut header = [kind.to_le_bytes(), flags.to_le_bytes()].concat();
    header.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    header
}
