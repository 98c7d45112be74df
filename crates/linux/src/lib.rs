//! What a process sees of Linux: how programs are loaded, system calls, files, time. This room is the sandbox:
//! the guest's only way out of its own memory is a system call, and nothing here changes anything on the host.

mod clock;
mod core_file;
mod definedness;
mod elf;
pub mod errno;
pub mod fs;
mod guest;
mod heap;
mod kernel;
mod load_error;
mod loader;
mod moved;
mod output;
mod process;
mod resources;
pub mod signal;
mod snapshot;
mod stack;
mod syscalls;

#[cfg(test)]
mod testing;

pub use core_file::{CoreError, write_core};
pub use definedness::{ARGUMENTS, arguments};
pub use elf::ElfError;
pub use guest::KernelAccess;
pub use heap::{
    Block, BlockKind, BlockState, CheckedHeap, HEAP, HeapFault, HeapMode, Leak, Mismatch, Misuse, MisuseKind,
    Nearby, Relation, has_contract,
};
pub use kernel::{Command, Exit, Kernel, Limits};
pub use load_error::LoadError;
pub use moved::{Moved, Place, SERVED, SystemCall};
pub use output::{Output, Written};
pub use process::{Config, Event, Follower, Process};
pub use snapshot::Snapshot;
pub use stack::{STACK_SIZE, STACK_TOP, overflowed_stack};
pub use syscalls::nr::name as syscall_name;
