//! What a process sees of Linux: how programs are loaded, system calls, files, time. This room is the sandbox:
//! the guest's only way out of its own memory is a system call, and nothing here changes anything on the host.

pub mod clock;
pub mod errno;
pub mod guest;
pub mod kernel;
pub mod output;
pub mod random;
pub mod syscalls;

#[cfg(test)]
pub(crate) mod testing;

pub use kernel::{Exit, Kernel};
