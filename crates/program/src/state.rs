//! A stopped guest, as far as names and values are concerned: its registers and its memory.

use lift::Reg;
use machine::Core;

use crate::unwind::Registers;

/// How many vector registers there are.
const VECTORS: usize = 16;

/// In DWARF's numbering the vector registers follow the return address.
const FIRST_VECTOR: u16 = 17;

/// Fills a buffer from memory, or returns false when some byte of it is not mapped.
type Read<'a> = Box<dyn Fn(u64, &mut [u8]) -> bool + 'a>;
type Forbids<'a> = Box<dyn Fn(u64) -> bool + 'a>;

/// What is asked of a stopped guest. Cheap to make: memory is read when a question leads there.
pub struct State<'a> {
    registers: Registers,
    vectors: Option<[u128; VECTORS]>,
    thread_pointer: Option<u64>,
    read: Read<'a>,
    forbids: Option<Forbids<'a>>,
}

impl<'a> State<'a> {
    /// `read` fills the buffer from the guest's memory, or returns false when some byte of it is not mapped.
    /// Vector registers and the thread pointer are unknown until they are given.
    pub fn new(registers: Registers, read: impl Fn(u64, &mut [u8]) -> bool + 'a) -> State<'a> {
        State { registers, vectors: None, thread_pointer: None, read: Box::new(read), forbids: None }
    }

    pub fn with_vectors(self, vectors: [u128; VECTORS]) -> State<'a> {
        State { vectors: Some(vectors), ..self }
    }

    /// What fs points to.
    pub fn with_thread_pointer(self, thread_pointer: u64) -> State<'a> {
        State { thread_pointer: Some(thread_pointer), ..self }
    }

    /// Bytes that are mapped and belong to nobody, such as those between two blocks of a heap.
    pub fn with_forbidden(self, forbids: impl Fn(u64) -> bool + 'a) -> State<'a> {
        State { forbids: Some(Box::new(forbids)), ..self }
    }

    /// The state of a machine between two instructions.
    pub fn of(core: &'a Core) -> State<'a> {
        let general = std::array::from_fn(|n| core.cpu.get(Reg::general(n as u8)));
        State::new(Registers::new(core.cpu.rip, general), |address, buffer: &mut [u8]| {
            core.memory.peek(address, buffer) == buffer.len()
        })
        .with_vectors(std::array::from_fn(|n| core.cpu.xmm(n as u8)))
        .with_thread_pointer(core.cpu.get(Reg::FS_BASE))
        .with_forbidden(|address| core.memory.check_readable(address, 1).is_err())
    }

    /// Those of the innermost frame.
    pub fn registers(&self) -> &Registers {
        &self.registers
    }

    pub fn thread_pointer(&self) -> Option<u64> {
        self.thread_pointer
    }

    /// The vector register of this DWARF number.
    pub(crate) fn vector(&self, number: u16) -> Option<u128> {
        let index = number.checked_sub(FIRST_VECTOR)?;
        self.vectors.as_ref()?.get(usize::from(index)).copied()
    }

    /// Fills the buffer, or returns false when some byte of it is not mapped.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        (self.read)(address, buffer)
    }

    /// Whether a byte belongs to nobody, though it can be read.
    pub fn is_forbidden(&self, address: u64) -> bool {
        self.forbids.as_ref().is_some_and(|forbids| forbids(address))
    }

    /// Little-endian; `size` up to 8.
    pub fn read_uint(&self, address: u64, size: usize) -> Option<u64> {
        let mut buffer = [0; 8];
        self.read(address, buffer.get_mut(..size)?).then(|| u64::from_le_bytes(buffer))
    }
}
