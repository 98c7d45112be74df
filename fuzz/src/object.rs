//! Writes ELF files: sound headers around sections of any content.

/// Where code is, in all objects that are made here and in the seeds that are taken apart for them.
pub const CODE: u64 = 0x1000;
/// Likewise call frame information.
pub const CALL_FRAMES: u64 = 0x2_0000;
/// Likewise variables.
pub const DATA: u64 = 0x3_0000;

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const LOAD: u32 = 1;
const THREAD_LOCAL: u32 = 7;

pub struct Section<'a> {
    pub name: &'a str,
    /// 0 for what is not loaded.
    pub address: u64,
    pub content: &'a [u8],
}

impl Section<'_> {
    fn flags(&self) -> u64 {
        match self.name {
            ".text" => 6,
            ".data" => 3,
            _ if self.address != 0 => 2,
            _ => 0,
        }
    }
}

/// An executable with these sections. Those with addresses are loaded.
pub fn executable(sections: &[Section<'_>]) -> Vec<u8> {
    let loaded: Vec<&Section<'_>> = sections.iter().filter(|section| section.address != 0).collect();
    let mut offset = HEADER + PROGRAM_HEADER * (loaded.len() + 1);
    let offsets: Vec<usize> = sections
        .iter()
        .map(|section| {
            let at = offset;
            offset += section.content.len();
            at
        })
        .collect();
    let mut names = vec![0];
    let mut headers = vec![0; 64];
    let mut programs = Vec::new();
    for (section, at) in sections.iter().zip(&offsets) {
        headers.extend(section_header(names.len(), 1, section, *at));
        names.extend(section.name.bytes().chain([0]));
        if section.address != 0 {
            let flags = if section.name == ".text" { 5 } else { 6 };
            programs.extend(program_header(LOAD, flags, *at, section.address, section.content.len()));
        }
    }
    programs.extend(program_header(THREAD_LOCAL, 4, 0, DATA, 16));
    let table = Section { name: ".shstrtab", address: 0, content: &[] };
    let name = names.len();
    names.extend(b".shstrtab\0");
    let mut last = section_header(name, 3, &table, offset);
    last[32..40].copy_from_slice(&(names.len() as u64).to_le_bytes());
    headers.extend(last);
    let mut file = header(loaded.len() + 1, sections.len() + 2, offset + names.len());
    file.extend(programs);
    for section in sections {
        file.extend(section.content);
    }
    file.extend(names);
    file.extend(headers);
    file
}

fn header(programs: usize, sections: usize, sections_at: usize) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([2, 0, 62, 0, 1, 0, 0, 0]);
    for word in [CODE, HEADER as u64, sections_at as u64] {
        file.extend(word.to_le_bytes());
    }
    file.extend([0; 4]);
    for half in [HEADER, PROGRAM_HEADER, programs, 64, sections, sections - 1] {
        file.extend((half as u16).to_le_bytes());
    }
    file
}

fn program_header(kind: u32, flags: u32, offset: usize, address: u64, size: usize) -> Vec<u8> {
    let words = [offset as u64, address, address, size as u64, size as u64, 1];
    let mut bytes = [kind.to_le_bytes(), flags.to_le_bytes()].concat();
    bytes.extend(words.into_iter().flat_map(u64::to_le_bytes));
    bytes
}

fn section_header(name: usize, kind: u32, section: &Section<'_>, offset: usize) -> Vec<u8> {
    let mut bytes = [(name as u32).to_le_bytes(), kind.to_le_bytes()].concat();
    let words = [section.flags(), section.address, offset as u64, section.content.len() as u64, 0, 1, 0];
    bytes.extend(words.into_iter().flat_map(u64::to_le_bytes));
    bytes
}
