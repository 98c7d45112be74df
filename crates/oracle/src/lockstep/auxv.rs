//! The auxiliary vector on the child's initial stack, made the same for both sides.
//!
//! Without AT_SYSINFO_EHDR libc makes real system calls instead of entering the vdso, whose
//! clock the machine does not have. AT_RANDOM's bytes (the stack protector's canary comes from
//! them) are fixed, so that a difference shows again at the same step in the next run.

use std::io;

use super::native::Native;

const AT_NULL: u64 = 0;
const AT_IGNORE: u64 = 1;
const AT_RANDOM: u64 = 25;
const AT_SYSINFO_EHDR: u64 = 33;
const FIXED_RANDOM: [u8; 16] = *b"\x10whydunit canary";

/// More words than any stack of arguments holds (the kernel allows 2 MiB of strings).
const MAX_WORDS: u64 = 1 << 18;

/// To be called before the child's first instruction.
pub fn normalise(native: &Native) -> io::Result<()> {
    let mut at = native.registers()?.rsp;
    let end = at.saturating_add(8 * MAX_WORDS);
    // argc, argv and its null, environment and its null.
    let argc = native.read_word(at)?;
    at = at.saturating_add(argc.min(MAX_WORDS).saturating_mul(8)).saturating_add(16);
    while at < end && native.read_word(at)? != 0 {
        at += 8;
    }
    at += 8;
    while at < end {
        let value = native.read_word(at + 8)?;
        match native.read_word(at)? {
            AT_NULL => return Ok(()),
            AT_SYSINFO_EHDR => native.write(at, &AT_IGNORE.to_le_bytes())?,
            AT_RANDOM => native.write(value, &FIXED_RANDOM)?,
            _ => {}
        }
        at += 16;
    }
    Err(io::Error::other("the child's auxiliary vector has no end"))
}
