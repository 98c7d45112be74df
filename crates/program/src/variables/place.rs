//! Where a value is.

use std::fmt;

/// Where a variable is in a stopped guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Memory(u64),
    /// In DWARF's numbering: 0 to 15 are the general registers, 17 to 32 the vector ones.
    Register(u16),
    /// One after the other.
    Pieces(Vec<Piece>),
    /// It is nowhere, but its value is known: little-endian, as many bytes as are known.
    Constant(Vec<u8>),
    /// A pointer to something that is nowhere.
    ImplicitPointer,
    OptimizedOut,
    /// It exists, but cannot be found; why.
    Unavailable(Reason),
}

/// Why a location cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It depends on a value that was passed to the function, and the caller does not say which.
    EntryValueUnknown,
    /// It depends on a register that a callee may have overwritten.
    NotSaved(u16),
    /// It depends on memory that is not mapped.
    Unreadable(u64),
    /// It depends on the frame's address, and there is no call frame information.
    NoFrame,
    /// A library's thread-local variable, whose place only the dynamic loader knows, and it is none that describes itself.
    ThreadLocal,
    /// A library's thread-local variable that the thread has not used yet.
    NotAllocated,
    /// The debug information makes no sense.
    Damaged,
}

/// A part of a value that is scattered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Never [`Place::Pieces`].
    pub place: Place,
    /// How many bits of the value this is.
    pub bits: u64,
    /// The first bit of the place that belongs to it.
    pub first_bit: u64,
}

const REGISTERS: [&str; 17] = [
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15", "rip",
];

/// The name of a register by its DWARF number.
pub(crate) fn register_name(number: u16) -> String {
    match REGISTERS.get(usize::from(number)) {
        Some(name) => (*name).to_owned(),
        None if (17..=32).contains(&number) => format!("xmm{}", number - 17),
        None => format!("register {number}"),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Memory(address) => write!(f, "{address:#x}"),
            Place::Register(number) => f.write_str(&register_name(*number)),
            Place::Pieces(pieces) => {
                for (index, piece) in pieces.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}{} bits in {}", piece.bits, piece.place)?;
                }
                Ok(())
            }
            Place::Constant(_) => f.write_str("a constant"),
            Place::ImplicitPointer => f.write_str("a pointer to something that was optimised out"),
            Place::OptimizedOut => f.write_str("optimised out"),
            Place::Unavailable(reason) => reason.fmt(f),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::EntryValueUnknown => f.write_str("its value at the function's entry is not known"),
            Reason::NotSaved(number) => write!(f, "{} was not saved", register_name(*number)),
            Reason::Unreadable(address) => write!(f, "Cannot access memory at address {address:#x}"),
            Reason::NoFrame => f.write_str("the frame's address is not known"),
            Reason::ThreadLocal => f.write_str("where a library's thread-local variables are is not known"),
            Reason::NotAllocated => {
                f.write_str("the thread has not used the library's thread-local variables yet")
            }
            Reason::Damaged => f.write_str("its location is damaged"),
        }
    }
}
