//! What a process sees of Linux: how programs are loaded, system calls, files.

pub mod errno;
pub mod fs;
