//! The objects of one guest together, and the questions that can be asked about them.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use machine::Backing;

use crate::cfg::{self, Cfg, Frozen, Observed, Transfer};
use crate::conditions::{self, Condition, Text};
use crate::demangle::demangle;
use crate::lines::{self, Position, Row, SourceFrame};
use crate::mapping::{self, Mapping, Placed};
use crate::object_file::ObjectFile;
use crate::read_file::Files;
use crate::source::Sources;
use crate::statements::Tables;
use crate::symbols::{self, FoundSymbol, SymbolError};
use crate::tail_calls::TailCalls;
use crate::thread_locals::Layout;
use crate::unwind::{self, Backtrace, Memory, Registers};

/// Everything that is known about an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub address: u64,
    /// Path of the object that is mapped there.
    pub object: Option<Arc<str>>,
    /// By symbol table.
    pub function: Option<Function>,
    /// By debug information, innermost first: each but the last is inlined into the next.
    pub frames: Vec<SourceFrame>,
}

impl Location {
    /// The innermost source position.
    pub fn position(&self) -> Option<&Position> {
        self.frames.first()?.position.as_ref()
    }

    /// The innermost function's name, from the debug information or else the symbol table.
    pub fn function_name(&self) -> Option<&str> {
        let from_lines = self.frames.first().and_then(|frame| frame.function.as_deref());
        from_lines.or(self.function.as_ref().map(|function| function.name.as_str()))
    }
}

/// The symbol that an address belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Demangled.
    pub name: String,
    pub start: u64,
    /// Distance of the address from the start.
    pub offset: u64,
}

/// Unknown code is cut into functions until the one in question is found, or so many blocks have been made.
const MOST_SPLIT_BLOCKS: usize = 200_000;

/// Conditions, and the graph that they were found in.
type KnownConditions = (Arc<Cfg>, Arc<Vec<Condition>>);

/// The static view of what a guest has mapped.
pub struct Program {
    pub(crate) objects: Vec<ObjectFile>,
    /// Sorted by start, without overlaps.
    pub(crate) mappings: Vec<Placed>,
    /// The graphs that were asked for, by the function's start.
    graphs: RefCell<HashMap<u64, Arc<Cfg>>>,
    /// The conditions that were asked for, likewise.
    conditions: RefCell<HashMap<u64, KnownConditions>>,
    /// What source files say about conditions, by path.
    texts: RefCell<HashMap<Arc<str>, Option<Rc<Text>>>>,
    pub(crate) tail_calls: TailCalls,
    thread_layout: OnceCell<Option<Layout>>,
    pub(crate) sources: Sources,
}

impl Program {
    /// From the mappings of a running guest. Load addresses follow from the mappings.
    pub fn from_mappings(mappings: impl IntoIterator<Item = Mapping>) -> Program {
        let mut program = Program {
            objects: Vec::new(),
            mappings: Vec::new(),
            graphs: RefCell::default(),
            conditions: RefCell::default(),
            texts: RefCell::default(),
            tail_calls: TailCalls::default(),
            thread_layout: OnceCell::new(),
            sources: Sources::default(),
        };
        let mut by_path: HashMap<Arc<str>, Vec<usize>> = HashMap::new();
        for Mapping { start, end, file_offset, path, content } in mappings {
            let same_path = by_path.entry(path.clone()).or_default();
            let known = same_path.iter().copied().find(|file| program.objects[*file].has(content.as_ref()));
            let file = known.unwrap_or_else(|| {
                program.objects.push(ObjectFile::new(path, content));
                same_path.push(program.objects.len() - 1);
                program.objects.len() - 1
            });
            program.mappings.push(Placed { start, end, file_offset, file });
        }
        program.mappings.sort_by_key(|mapping| mapping.start);
        program
    }

    /// From the memory of a guest.
    pub fn from_memory(memory: &machine::Memory) -> Program {
        Program::from_mappings(memory.regions().iter().filter_map(|region| match &region.backing {
            Backing::Bytes { content, offset } => Some(Mapping {
                start: region.start,
                end: region.end,
                file_offset: *offset,
                path: region.name.clone(),
                content: Some(content.clone()),
            }),
            Backing::Zero | Backing::Fresh => None,
        }))
    }

    /// One object that is not loaded anywhere, as if loaded at `bias`; `None` when it is no x86-64
    /// ELF file with something to load.
    pub fn from_object(path: &str, content: Arc<Vec<u8>>, bias: u64) -> Option<Program> {
        let object = ObjectFile::new(Arc::from(path), Some(content));
        let mut mappings: Vec<Placed> = object
            .segments()
            .iter()
            .map(|segment| {
                let start = segment.address.wrapping_add(bias);
                let end = start.saturating_add(segment.memory_size);
                Placed { start, end, file_offset: segment.file_offset, file: 0 }
            })
            .collect();
        mappings.sort_by_key(|mapping| mapping.start);
        (!mappings.is_empty()).then(|| Program {
            objects: vec![object],
            mappings,
            graphs: RefCell::default(),
            conditions: RefCell::default(),
            texts: RefCell::default(),
            tail_calls: TailCalls::default(),
            thread_layout: OnceCell::new(),
            sources: Sources::default(),
        })
    }

    /// Reads debug files and sources from `files` instead of this machine. For a program of which nothing has been
    /// asked yet: what has been read stays.
    pub fn with_files(mut self, files: Files) -> Program {
        for object in &mut self.objects {
            object.files = files.clone();
        }
        self.forget_sources();
        self.sources = Sources::new(self.sources.map().clone(), files);
        self
    }

    /// Where debug files and sources are read from.
    pub fn files(&self) -> &Files {
        self.sources.reader()
    }

    pub fn locate(&self, address: u64) -> Location {
        let mut location = Location { address, object: None, function: None, frames: Vec::new() };
        let Some(mapping) = mapping::at(&self.mappings, address) else { return location };
        let object = &self.objects[mapping.file];
        location.object = Some(object.path.clone());
        let Some(bias) = mapping::bias(&self.mappings, mapping, object, address) else { return location };
        let in_object = address.wrapping_sub(bias);
        let by_symbol = object.symbols().at(object, in_object).map(|symbol| {
            let name = demangle(symbol.name).unwrap_or_else(|| symbol.name.to_owned());
            (symbol.address, name)
        });
        let stub = || cfg::stub(object, in_object).map(|(start, name)| (start, format!("{name}@plt")));
        location.function = by_symbol.or_else(stub).map(|(start, name)| Function {
            name,
            start: start.wrapping_add(bias),
            offset: in_object.wrapping_sub(start),
        });
        location.frames = object.debug_info().map(|info| lines::frames(info, in_object)).unwrap_or_default();
        location
    }

    /// The symbol of this name, in any of the objects. The name can be as the compiler mangled it,
    /// or as the source has it, with or without parameters.
    pub fn find_symbol(&self, name: &str) -> Result<FoundSymbol, SymbolError> {
        symbols::find(self.placed_objects(), name)
    }

    /// All objects with their biases.
    pub(crate) fn placed_objects(&self) -> impl Iterator<Item = (&ObjectFile, u64)> {
        self.objects.iter().enumerate().filter_map(|(index, object)| {
            let mapping = self.mappings.iter().find(|mapping| mapping.file == index)?;
            Some((object, mapping::bias(&self.mappings, mapping, object, mapping.start)?))
        })
    }

    /// Start and size of the function that `address` belongs to, by its symbol or, in a stripped object,
    /// by its call frame information.
    pub fn function_at(&self, address: u64) -> Option<(u64, u64)> {
        let (object, bias) = self.place(address)?;
        let in_object = address.wrapping_sub(bias);
        let by_symbol = object.symbols().at(object, in_object).map(|symbol| (symbol.address, symbol.size));
        let by_frames =
            || object.call_frames().range(in_object).map(|range| (range.start, range.end - range.start));
        let (start, size) = by_symbol.or_else(by_frames)?;
        Some((start.wrapping_add(bias), size))
    }

    /// What a function is called that has no name: where it begins in its object's file, as disassemblers tell it.
    pub fn nameless(&self, address: u64) -> Option<String> {
        let (_, bias) = self.place(address)?;
        let (start, _) = self.function_at(address)?;
        Some(format!("function at {:#x}", start.wrapping_sub(bias)))
    }

    /// Where the code at an address is in its object's file.
    pub fn address_in_file(&self, address: u64) -> u64 {
        self.place(address).map_or(address, |(_, bias)| address.wrapping_sub(bias))
    }

    /// The name in the symbol table, as it is there, of the function that `address` lies in.
    pub fn symbol_at(&self, address: u64) -> Option<&str> {
        let (object, bias) = self.place(address)?;
        object.symbols().at(object, address.wrapping_sub(bias)).map(|symbol| symbol.name)
    }

    /// Whether the object at `address` has debug information.
    pub fn has_debug_info(&self, address: u64) -> bool {
        self.place(address).is_some_and(|(object, _)| object.debug_info().is_some())
    }

    /// The control flow graph of the function that `address` belongs to; `None` when there is no code. Its
    /// [`Cfg::holes`] say what is missing.
    pub fn cfg(&self, address: u64) -> Option<Arc<Cfg>> {
        let (object, bias) = self.place(address)?;
        let in_object = address.wrapping_sub(bias);
        let mut graph = self.graph(object, in_object, bias)?;
        // Where neither symbols nor unwind tables say where functions begin, code that no way leads to begins one.
        let mut blocks = 0;
        while blocks < MOST_SPLIT_BLOCKS && cfg::split(object, &graph, in_object, bias) {
            graph = self.graph(object, in_object, bias)?;
            blocks += graph.blocks.len().max(1);
        }
        Some(graph)
    }

    /// The graph of the function that `address` belongs to, completed by what was observed in a run, and frozen.
    /// Transfers in other functions are passed over. A jump that could not be resolved goes where it was seen
    /// to go, and stays a hole.
    pub fn complete(&self, address: u64, observed: &[Transfer]) -> Option<Frozen> {
        let before = self.cfg(address)?;
        let (object, bias) = self.place(address)?;
        let mut transfers = Observed::new();
        for Transfer { from, to } in observed {
            let seen = transfers.entry(from.wrapping_sub(bias)).or_default();
            seen.insert(to.wrapping_sub(bias));
        }
        let start = before.start.wrapping_sub(bias);
        let graph = cfg::build(object, start, &transfers)?.moved(bias);
        Some(Frozen::new(&before, graph, observed))
    }

    /// Whether the code at an address is the linker's: a stub through which calls to other objects go.
    pub fn is_linker_stub(&self, address: u64) -> bool {
        self.place(address).is_some_and(|(object, bias)| cfg::is_stub(object, address.wrapping_sub(bias)))
    }

    fn graph(&self, object: &ObjectFile, in_object: u64, bias: u64) -> Option<Arc<Cfg>> {
        let start = cfg::function_start(object, in_object)?.wrapping_add(bias);
        if let Some(known) = self.graphs.borrow().get(&start) {
            return Some(known.clone());
        }
        let graph = Arc::new(cfg::build(object, in_object, &Observed::new())?.moved(bias));
        self.graphs.borrow_mut().insert(start, graph.clone());
        Some(graph)
    }

    /// The conditions of the function that `address` belongs to, sorted by address; `None` as for [`Self::cfg`].
    pub fn conditions(&self, address: u64) -> Option<Arc<Vec<Condition>>> {
        let cfg = self.cfg(address)?;
        if let Some((of, known)) = self.conditions.borrow().get(&cfg.start)
            && Arc::ptr_eq(of, &cfg)
        {
            return Some(known.clone());
        }
        let object = &self.place(address)?.0.path;
        let text = |path: &Arc<str>| self.text(path, object);
        let found = Arc::new(conditions::find(&cfg, self.rows(&cfg), text, |at| self.file_bytes(at)));
        self.conditions.borrow_mut().insert(cfg.start, (cfg, found.clone()));
        Some(found)
    }

    /// The rows of the line table that have to do with a function.
    fn rows(&self, cfg: &Cfg) -> Vec<Row> {
        let mut rows = Vec::new();
        for range in code_ranges(cfg) {
            let Some((object, bias)) = self.place(range.start) else { continue };
            let Some(info) = object.debug_info() else { continue };
            let in_object = range.start.wrapping_sub(bias)..range.end.wrapping_sub(bias);
            rows.extend(lines::rows(info, in_object).into_iter().map(|row| row.moved(bias)));
        }
        rows.sort_by_key(|row| row.start);
        rows.dedup_by_key(|row| row.start);
        rows
    }

    /// What a source file says about conditions.
    pub(crate) fn text(&self, path: &Arc<str>, object: &Arc<str>) -> Option<Rc<Text>> {
        if let Some(known) = self.texts.borrow().get(path) {
            return known.clone();
        }
        let text = self.sources.file(path, object).and_then(Text::new).map(Rc::new);
        self.texts.borrow_mut().insert(path.clone(), text.clone());
        text
    }

    /// What the object's file has at `address`, up to the end of the segment: the code as it was
    /// before anybody wrote to it.
    pub fn file_bytes(&self, address: u64) -> Option<&[u8]> {
        let (object, bias) = self.place(address)?;
        object.bytes_at(address.wrapping_sub(bias))
    }

    /// The callers of a stopped guest, at most `most` frames. `read` fills the buffer from the
    /// guest's memory, or returns false when some byte of it is not mapped. Functions that made their last call by a
    /// jump have frames, too, where it is sure that they did: see [`Rule::TailCall`](crate::Rule::TailCall).
    pub fn backtrace(
        &self,
        registers: &Registers,
        most: usize,
        read: &mut dyn FnMut(u64, &mut [u8]) -> bool,
    ) -> Backtrace {
        unwind::backtrace(self, registers, most, &mut Memory { read }, |callee, caller| {
            self.left_frames(callee, caller)
        })
    }

    /// The object that is mapped at `address`, and its bias.
    pub(crate) fn place(&self, address: u64) -> Option<(&ObjectFile, u64)> {
        let (index, bias) = self.object_at(address)?;
        Some((self.objects.get(usize::try_from(index).ok()?)?, bias))
    }

    /// The same, with the index of the object.
    pub(crate) fn object_at(&self, address: u64) -> Option<(u32, u64)> {
        let Some(found) = mapping::at(&self.mappings, address) else {
            return self.object_with_zeros(address);
        };
        let bias = mapping::bias(&self.mappings, found, self.objects.get(found.file)?, address)?;
        Some((u32::try_from(found.file).ok()?, bias))
    }

    /// The same for the part of a segment that is zero at first: it follows the part that is mapped from the file.
    fn object_with_zeros(&self, address: u64) -> Option<(u32, u64)> {
        let after = self.mappings.partition_point(|mapping| mapping.start <= address);
        let found = self.mappings.get(after.checked_sub(1)?)?;
        let object = self.objects.get(found.file)?;
        let bias = mapping::bias(&self.mappings, found, object, found.start)?;
        let in_object = address.wrapping_sub(bias);
        let is_inside = object.segments().iter().any(|segment| segment.contains(in_object));
        is_inside.then_some((u32::try_from(found.file).ok()?, bias))
    }

    /// What the dynamic loader's structs look like, if it says so.
    pub(crate) fn thread_layout(&self) -> Option<&Layout> {
        self.thread_layout.get_or_init(|| Layout::of(self)).as_ref()
    }

    /// The objects in the order of their first mappings.
    pub(crate) fn objects_by_address(&self) -> impl Iterator<Item = &ObjectFile> {
        let mut seen = BTreeSet::new();
        let files = self.mappings.iter().filter(move |mapping| seen.insert(mapping.file));
        files.filter_map(|mapping| self.objects.get(mapping.file))
    }

    /// Forgets what was read off source files.
    pub(crate) fn forget_sources(&mut self) {
        self.conditions.get_mut().clear();
        self.texts.get_mut().clear();
        for object in &mut self.objects {
            object.statements = Tables::default();
        }
    }
}

/// Gaps between blocks that are smaller than this are looked at together with the blocks.
const SMALL_GAP: u64 = 256;

/// The stretches of code that a function consists of.
fn code_ranges(cfg: &Cfg) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for block in &cfg.blocks {
        match ranges.last_mut() {
            Some(last) if block.start.saturating_sub(last.end) < SMALL_GAP => {
                last.end = last.end.max(block.end)
            }
            _ => ranges.push(block.start..block.end),
        }
    }
    ranges
}
