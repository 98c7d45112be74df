//! What system calls moved: bytes between the guest's memory, files, pipes and the standard streams. For those who
//! follow data through the kernel.

use crate::fs::{Inode, PipeId, Stream};
use crate::guest::KernelAccess;

/// Where bytes are, or come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    Memory(u64),
    File {
        inode: Inode,
        offset: u64,
    },
    /// Counted from the first byte that was ever written to the pipe.
    Pipe {
        pipe: PipeId,
        offset: u64,
    },
    /// Standard input, unless it is a file.
    Input {
        offset: u64,
    },
    Output {
        stream: Stream,
        offset: u64,
    },
    /// Memory that the kernel has just handed out, and that nobody has written to.
    Fresh,
    /// The kernel itself: the size of a file, the time, a list of names.
    Kernel,
}

impl Place {
    /// The place so many bytes further on.
    pub fn plus(self, bytes: u64) -> Place {
        match self {
            Place::Memory(address) => Place::Memory(address.wrapping_add(bytes)),
            Place::File { inode, offset } => Place::File { inode, offset: offset.saturating_add(bytes) },
            Place::Pipe { pipe, offset } => Place::Pipe { pipe, offset: offset.saturating_add(bytes) },
            Place::Input { offset } => Place::Input { offset: offset.saturating_add(bytes) },
            Place::Output { stream, offset } => {
                Place::Output { stream, offset: offset.saturating_add(bytes) }
            }
            Place::Fresh | Place::Kernel => self,
        }
    }
}

/// Bytes that went from one place to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    pub from: Place,
    pub to: Place,
    pub length: u64,
}

impl Moved {
    /// The access to the guest's memory by which bytes came there.
    pub(crate) fn access(&self) -> Option<KernelAccess> {
        match self.to {
            Place::Memory(address) => Some(KernelAccess { address, length: self.length, write: true }),
            _ => None,
        }
    }
}

/// One system call of a run, or a call of a function that was served in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemCall {
    /// The instruction that made it.
    pub time: machine::Time,
    /// [`SERVED`] if it is no system call.
    pub number: u64,
    pub arguments: [u64; 6],
    pub result: u64,
    /// In the order in which it happened. All that the call wrote to the guest's memory is in it.
    pub moved: Vec<Moved>,
}

/// What stands for the number of a system call where a function of the heap was served: no system call has it.
pub const SERVED: u64 = u64::MAX;
