//! Where the thread-local variables of an object are.
//!
//! An executable's are at a distance from the thread pointer that its file tells. Where a library's are only the dynamic loader
//! knows, in structs of its own that change with its version. For libthread_db glibc describes them in symbols: each
//! `_thread_db_STRUCT_FIELD` is three numbers of 32 bits, the size of the field in bits, how many there are, and its offset in
//! bytes. So nothing is guessed, and with another C library nothing is known.

use crate::program::Program;
use crate::state::State;
use crate::symbols;
use crate::variables::Reason;

/// More than a program loads; a damaged list may have no end.
const MOST_LIBRARIES: usize = 1 << 14;

/// Lists of modules double in length, or so.
const MOST_LISTS: usize = 64;

/// What stands for the lack of an offset, because the variables are not beside the thread's own data. Both are part of what
/// glibc promises libthread_db.
const NO_OFFSET: [u64; 2] = [0, u64::MAX];

/// Offsets in the part of the loader's list of objects that <link.h> publishes.
const FIRST_OBJECT: u64 = 8;
const DYNAMIC_SECTION: u64 = 16;
const NEXT_OBJECT: u64 = 24;

/// A field of one of glibc's structs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    /// Of one element, in bytes.
    size: u64,
    offset: u64,
}

impl Field {
    fn named(program: &Program, name: &str) -> Option<Field> {
        let address = symbols::single(program.placed_objects(), &format!("_thread_db_{name}"))?;
        let bytes = program.file_bytes(address)?.first_chunk::<12>()?;
        let [size, _, offset] = *bytes.as_chunks::<4>().0 else { return None };
        let (size, offset) = (u32::from_le_bytes(size), u32::from_le_bytes(offset));
        (size % 8 == 0 && size > 0).then_some(Field { size: u64::from(size / 8), offset: u64::from(offset) })
    }

    fn read(self, state: &State<'_>, start: u64) -> Option<u64> {
        state.read_uint(start.checked_add(self.offset)?, usize::try_from(self.size).ok()?)
    }

    /// Where the n-th of several is.
    fn element(self, start: u64, index: u64) -> Option<u64> {
        start.checked_add(self.offset)?.checked_add(index.checked_mul(self.size)?)
    }
}

/// What glibc's structs look like, and where its variables are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The list of objects.
    debug: u64,
    /// The loader's variables.
    global: u64,
    module: Field,
    module_offset: Field,
    thread_vector: Field,
    vector_element: Field,
    generation: Field,
    pointer: Field,
    lists: Field,
    list_length: Field,
    list_next: Field,
    list_element: Field,
    element_generation: Field,
}

impl Layout {
    pub fn of(program: &Program) -> Option<Layout> {
        let field = |name| Field::named(program, name);
        let symbol = |name| symbols::single(program.placed_objects(), name);
        Some(Layout {
            module: field("link_map_l_tls_modid")?,
            module_offset: field("link_map_l_tls_offset")?,
            thread_vector: field("pthread_dtvp")?,
            vector_element: field("dtv_dtv")?,
            generation: field("dtv_t_counter")?,
            pointer: field("dtv_t_pointer_val")?,
            lists: field("rtld_global__dl_tls_dtv_slotinfo_list")?,
            list_length: field("dtv_slotinfo_list_len")?,
            list_next: field("dtv_slotinfo_list_next")?,
            list_element: field("dtv_slotinfo_list_slotinfo")?,
            element_generation: field("dtv_slotinfo_gen")?,
            debug: symbol("_r_debug")?,
            global: symbol("_rtld_global")?,
        })
    }
}

impl Program {
    /// Where the thread-local variables of an object begin in the thread of a stopped guest.
    pub(crate) fn thread_locals(&self, object: u32, state: &State<'_>) -> Result<u64, Reason> {
        let thread = state.thread_pointer().ok_or(Reason::ThreadLocal)?;
        if let Some(size) = self.thread_local_size(object) {
            return Ok(thread.wrapping_sub(size));
        }
        let layout = self.thread_layout().ok_or(Reason::ThreadLocal)?;
        let described = self.described(layout, object, state).ok_or(Reason::ThreadLocal)?;
        let offset = layout.module_offset.read(state, described).ok_or(Reason::ThreadLocal)?;
        if !NO_OFFSET.contains(&offset) {
            return Ok(thread.wrapping_sub(offset));
        }
        let module = layout.module.read(state, described).filter(|module| *module > 0);
        layout.allocated(module.ok_or(Reason::ThreadLocal)?, thread, state)
    }

    /// Where the loader describes an object: the one whose dynamic section is in it.
    fn described(&self, layout: &Layout, object: u32, state: &State<'_>) -> Option<u64> {
        let word = |address: u64, offset| state.read_uint(address.checked_add(offset)?, 8);
        let mut at = word(layout.debug, FIRST_OBJECT)?;
        for _ in 0..MOST_LIBRARIES {
            let dynamic = word(at, DYNAMIC_SECTION)?;
            if self.object_at(dynamic).is_some_and(|(found, _)| found == object) {
                return Some(at);
            }
            at = word(at, NEXT_OBJECT).filter(|next| *next != 0)?;
        }
        None
    }
}

impl Layout {
    /// The variables of a module that was loaded when the thread ran already: allocated when they are first used.
    fn allocated(&self, module: u64, thread: u64, state: &State<'_>) -> Result<u64, Reason> {
        let loaded = self.generation_of(module, state).ok_or(Reason::ThreadLocal)?;
        let vector = self.thread_vector.read(state, thread).ok_or(Reason::ThreadLocal)?;
        let known = self.generation.read(state, vector).ok_or(Reason::ThreadLocal)?;
        // What the thread has of this module is of one that was there before.
        if known < loaded {
            return Err(Reason::NotAllocated);
        }
        let element = self.vector_element.element(vector, module).ok_or(Reason::ThreadLocal)?;
        let pointer = self.pointer.read(state, element).ok_or(Reason::ThreadLocal)?;
        // An odd address stands for none.
        if pointer % 2 == 1 { Err(Reason::NotAllocated) } else { Ok(pointer) }
    }

    /// When a module was loaded, in the loader's count.
    fn generation_of(&self, module: u64, state: &State<'_>) -> Option<u64> {
        let mut list = self.lists.read(state, self.global)?;
        let mut index = module;
        for _ in 0..MOST_LISTS {
            let length = self.list_length.read(state, list)?;
            if index < length {
                return self.element_generation.read(state, self.list_element.element(list, index)?);
            }
            index -= length;
            list = self.list_next.read(state, list).filter(|next| *next != 0)?;
        }
        None
    }
}
