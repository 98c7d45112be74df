//! What comes between two instructions and is done by neither: a signal handler is entered, or left.
//!
//! The machine knows nothing of signals. Whoever runs it and changes registers and memory on its own tells those who
//! follow the run by one of these, so that they lose nothing on the way.

use crate::Time;
use lift::Reg;
use std::ops::Range;

/// A change of the state between two instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interruption {
    /// When: before the instruction of this time.
    pub time: Time,
    pub kind: InterruptionKind,
    /// Where the program was. If it was entered because of a fault, that is the instruction that faulted.
    pub from: u64,
    /// Registers and the memory that they were saved in, or restored from.
    pub copies: Box<[Copied]>,
    /// Where RFLAGS are, which no register holds as a whole, and where rip is.
    pub flags: u64,
    pub rip: u64,
    /// Memory that was written; some of it from registers, see `copies`.
    pub written: Box<[Range<u64>]>,
    /// Registers that were given values which have nothing to do with what the program computed.
    pub set: Box<[Reg]>,
    /// Registers in which a handler is told of what happened.
    pub told: Box<[Reg]>,
    /// What an instruction that faulted had its fault from: registers, and memory.
    pub operands: Box<[Reg]>,
    pub read: Box<[Range<u64>]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterruptionKind {
    /// A handler is entered, as if by a call: its return address is at `slot`.
    Entered {
        signal: i32,
        slot: u64,
        /// The stack that the handler runs on, if that is not the one of before.
        stack: Option<Range<u64>>,
        /// The instruction at `from` could not be executed. Otherwise the signal came from outside of it.
        fault: bool,
    },
    /// It is left; `stack` is the stack pointer before.
    Left { stack: u64 },
}

/// Some bytes of a register and where in memory they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    pub reg: Reg,
    /// The first of the bytes, in the register.
    pub first: u8,
    pub length: u8,
    pub address: u64,
}
