//! One ELF file, opened when first asked about: its loadable segments and its sections.
//!
//! Nothing borrowed is kept: the headers are parsed again when a table is built from them,
//! which happens once a table.

use std::cell::OnceCell;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use object::elf::{
    DF_1_PIE, DT_FLAGS_1, EM_X86_64, ET_EXEC, FileHeader64, PF_X, PT_LOAD, PT_TLS, ProgramHeader64,
};
use object::read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader, SectionHeader};
use object::{LittleEndian, Object, ObjectSection};

use crate::cfg::{Declared, FoundStarts, Mentions, Returning, Sweep};
use crate::cfi::CallFrames;
use crate::debug_file;
use crate::debug_info::DebugInfo;
use crate::read_file::{Files, HostFiles, LARGEST};
use crate::relocations::Relocations;
use crate::statements::Tables;
use crate::symbols::SymbolTable;

/// Real objects have fewer than ten; every question walks all of them.
const MOST_SEGMENTS: usize = 64;

/// A compressed section may say that it is larger than the host's memory.
const LARGEST_SECTION: u64 = 1 << 30;

pub(crate) type Elf<'a> = ElfFile64<'a, LittleEndian>;

/// A part of the file that is mapped when the object is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub file_offset: u64,
    pub file_size: u64,
    pub address: u64,
    pub memory_size: u64,
    pub executable: bool,
}

impl Segment {
    pub fn contains(&self, address: u64) -> bool {
        address.checked_sub(self.address).is_some_and(|offset| offset < self.memory_size)
    }
}

pub(crate) struct ObjectFile {
    pub path: Arc<str>,
    /// Where it and its debug file are read from.
    pub files: Files,
    given: Option<Arc<Vec<u8>>>,
    content: OnceCell<Arc<Vec<u8>>>,
    debug: OnceCell<Option<Arc<Vec<u8>>>>,
    segments: OnceCell<Vec<Segment>>,
    symbols: OnceCell<SymbolTable>,
    debug_info: OnceCell<Option<DebugInfo>>,
    call_frames: OnceCell<CallFrames>,
    relocations: OnceCell<Relocations>,
    sweep: OnceCell<Sweep>,
    mentions: Mentions,
    returning: Returning,
    found_starts: FoundStarts,
    declared: Declared,
    stub_sections: OnceCell<Vec<StubSection>>,
    pub statements: Tables,
}

impl ObjectFile {
    /// Without `given` bytes the file is read from `path` when it is first asked about.
    pub fn new(path: Arc<str>, given: Option<Arc<Vec<u8>>>) -> ObjectFile {
        ObjectFile {
            path,
            files: Arc::new(HostFiles),
            given,
            content: OnceCell::new(),
            debug: OnceCell::new(),
            segments: OnceCell::new(),
            symbols: OnceCell::new(),
            debug_info: OnceCell::new(),
            call_frames: OnceCell::new(),
            relocations: OnceCell::new(),
            sweep: OnceCell::new(),
            mentions: Mentions::default(),
            returning: Returning::default(),
            found_starts: FoundStarts::default(),
            declared: Declared::default(),
            stub_sections: OnceCell::new(),
            statements: Tables::default(),
        }
    }

    /// Whether this file was given this content. One path can have had several contents in one run,
    /// and one content can have been read anew for each of its mappings.
    pub fn has(&self, given: Option<&Arc<Vec<u8>>>) -> bool {
        match (&self.given, given) {
            (Some(mine), Some(other)) => Arc::ptr_eq(mine, other) || mine == other,
            (None, None) => true,
            _ => false,
        }
    }

    /// Empty when the file cannot be read.
    pub fn content(&self) -> &Arc<Vec<u8>> {
        self.content.get_or_init(|| match &self.given {
            Some(given) => given.clone(),
            None => self.files.read(Path::new(&*self.path), LARGEST).unwrap_or_default(),
        })
    }

    /// Loadable segments; none when the file is not an x86-64 ELF file.
    pub fn segments(&self) -> &[Segment] {
        self.segments.get_or_init(|| segments(self.content()).unwrap_or_default())
    }

    /// The separate file with this object's debug sections, where there is one.
    pub fn debug_content(&self) -> Option<&Arc<Vec<u8>>> {
        let found = self.debug.get_or_init(|| debug_file::find(&self.path, self.content(), &*self.files));
        found.as_ref()
    }

    pub fn symbols(&self) -> &SymbolTable {
        self.symbols.get_or_init(|| SymbolTable::new(self))
    }

    pub fn debug_info(&self) -> Option<&DebugInfo> {
        self.debug_info.get_or_init(|| DebugInfo::new(self)).as_ref()
    }

    pub fn call_frames(&self) -> &CallFrames {
        self.call_frames.get_or_init(|| CallFrames::new(self))
    }

    /// How far below the thread pointer the thread-local variables begin, which only executables know
    /// before they run.
    pub fn thread_local_size(&self) -> Option<u64> {
        thread_local_size(self.content())
    }

    pub fn relocations(&self) -> &Relocations {
        self.relocations.get_or_init(|| Relocations::new(self))
    }

    /// What all of the object's code refers to.
    pub fn sweep(&self) -> &Sweep {
        self.sweep.get_or_init(|| Sweep::new(self))
    }

    /// Addresses of data that may be in its code.
    pub fn mentions(&self) -> &Mentions {
        &self.mentions
    }

    /// Which functions are known to return, and which not to.
    pub fn returning(&self) -> &Returning {
        &self.returning
    }

    /// What debug information declares not to return.
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    pub fn found_starts(&self) -> &FoundStarts {
        &self.found_starts
    }

    /// The sections with the linker's stubs.
    pub fn stub_sections(&self) -> &[StubSection] {
        self.stub_sections.get_or_init(|| stub_sections(self.content()).unwrap_or_default())
    }

    /// What the file has at this address of the object, up to the end of the segment.
    pub fn bytes_at(&self, address: u64) -> Option<&[u8]> {
        let segment = self.segments().iter().find(|segment| segment.contains(address))?;
        let offset = usize::try_from(segment.file_offset).ok()?;
        let size = usize::try_from(segment.file_size).ok()?;
        let file = self.content().get(offset..)?;
        file.get(..size.min(file.len()))?.get(usize::try_from(address - segment.address).ok()?..)
    }

    /// Whether code can be at this address of the object.
    pub fn is_code(&self, address: u64) -> bool {
        self.segments().iter().any(|segment| segment.executable && segment.contains(address))
    }
}

/// A section of stubs through which calls to other objects go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StubSection {
    pub range: Range<u64>,
    /// Size of one stub.
    pub entry: u64,
}

fn stub_sections(content: &[u8]) -> Option<Vec<StubSection>> {
    let elf = parse(content)?;
    let stubs = elf.sections().filter(|section| {
        section.name().is_ok_and(|name| [".plt", ".plt.sec", ".plt.got", ".iplt"].contains(&name))
    });
    let found = stubs.map(|section| {
        let (start, size) = (section.address(), section.size());
        let entry = section.elf_section_header().sh_entsize(LittleEndian).clamp(1, size.max(1));
        StubSection { range: start..start.saturating_add(size), entry }
    });
    Some(found.collect())
}

/// The section view; `None` when the file is none of ours or its section headers are damaged.
pub(crate) fn parse(content: &[u8]) -> Option<Elf<'_>> {
    let elf = Elf::parse(content).ok()?;
    (elf.elf_header().e_machine(LittleEndian) == EM_X86_64).then_some(elf)
}

/// A section's bytes, decompressed, and its address; `None` when absent, empty or damaged.
pub(crate) fn section(content: &[u8], name: &str) -> Option<(Arc<[u8]>, u64)> {
    let elf = parse(content)?;
    let section = elf.section_by_name(name)?;
    let data = section.compressed_data().ok()?;
    if data.uncompressed_size > LARGEST_SECTION {
        return None;
    }
    let data = data.decompress().ok()?;
    (!data.is_empty()).then(|| (Arc::from(&*data), section.address()))
}

/// Whether the file has a section of this name with something in it.
pub(crate) fn has_section(content: &[u8], name: &str) -> bool {
    let Some(elf) = parse(content) else { return false };
    elf.section_by_name(name).is_some_and(|section| section.data().is_ok_and(|data| !data.is_empty()))
}

/// Where `part` lies within `whole`, of which it is a slice.
pub(crate) fn range_within(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

fn thread_local_size(content: &[u8]) -> Option<u64> {
    let header = FileHeader64::<LittleEndian>::parse(content).ok()?;
    let endian = header.endian().ok()?;
    let headers = header.program_headers(endian, content).ok()?;
    if !is_executable(header, headers, endian, content) {
        return None;
    }
    let segment = headers.iter().take(MOST_SEGMENTS).find(|header| header.p_type(endian) == PT_TLS)?;
    let align = segment.p_align(endian).max(1);
    let first = segment.p_vaddr(endian).wrapping_neg() & (align - 1);
    let size = segment.p_memsz(endian).checked_sub(first)?.checked_next_multiple_of(align)?;
    size.checked_add(first)
}

/// Position-independent executables look like libraries but for a flag.
fn is_executable(
    header: &FileHeader64<LittleEndian>,
    headers: &[ProgramHeader64<LittleEndian>],
    endian: LittleEndian,
    content: &[u8],
) -> bool {
    if header.e_type(endian) == ET_EXEC {
        return true;
    }
    let dynamic = headers.iter().find_map(|header| header.dynamic(endian, content).ok().flatten());
    dynamic.unwrap_or_default().iter().any(|entry| {
        entry.d_tag(endian) == u64::from(DT_FLAGS_1) && entry.d_val(endian) & u64::from(DF_1_PIE) != 0
    })
}

/// Read from the program headers alone, so that damaged section headers do no harm.
fn segments(content: &[u8]) -> Option<Vec<Segment>> {
    let header = FileHeader64::<LittleEndian>::parse(content).ok()?;
    let endian = header.endian().ok()?;
    if header.e_machine(endian) != EM_X86_64 {
        return None;
    }
    let headers = header.program_headers(endian, content).ok()?.iter();
    let loadable = headers.filter(|header| header.p_type(endian) == PT_LOAD).map(|header| Segment {
        file_offset: header.p_offset(endian),
        file_size: header.p_filesz(endian),
        address: header.p_vaddr(endian),
        memory_size: header.p_memsz(endian),
        executable: header.p_flags(endian) & PF_X != 0,
    });
    Some(loadable.take(MOST_SEGMENTS).collect())
}
