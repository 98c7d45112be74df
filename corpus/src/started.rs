//! Programs that start the same way each time: with the same addresses, and no random bytes from the kernel.
//!
//! A mutant may use what was never set, and then does what was left in memory makes it do. Left there are addresses, and the
//! stack protector's canary, which the C library makes from the kernel's random bytes.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use anyhow::{Context, Result, ensure};

/// The entry of the auxiliary vector that says where the random bytes are.
const AT_RANDOM: u64 = 25;
/// What stands in their place: what the machine has there.
const RANDOM_BYTES: [u8; 16] = *b"\x8a\x1f\x62\xd3\x49\xbe\x07\x95\xec\x30\x7b\xa4\x56\xc8\x11\xfd";
const NOTHING: *mut libc::c_void = std::ptr::null_mut();

/// Starts a command in a way that can be repeated.
pub fn spawn(command: &mut Command) -> Result<Child> {
    // SAFETY: `prepare` allocates nothing and takes no lock; it only makes system calls.
    unsafe { command.pre_exec(prepare) };
    let program = command.get_program().to_owned();
    let mut child = command.spawn().with_context(|| format!("{} cannot be run", program.display()))?;
    let settled = settle(&child);
    if settled.is_err() {
        // It is stopped, and nobody else would end it.
        let _ = child.kill();
        let _ = child.wait();
    }
    settled.map(|()| child)
}

/// Switches address randomisation off, and stops as soon as the program is in memory.
fn prepare() -> std::io::Result<()> {
    // SAFETY: both calls only change what the kernel does with this process.
    let is_done = unsafe {
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) >= 0
            && libc::ptrace(libc::PTRACE_TRACEME, 0, NOTHING, NOTHING) >= 0
    };
    if is_done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Replaces the random bytes of a program that has not begun to run, and lets it go.
fn settle(child: &Child) -> Result<()> {
    let id = i32::try_from(child.id()).context("a process has no such number")?;
    let mut status = 0;
    // SAFETY: the pointer is to a variable that lives until the call returns.
    let stopped = unsafe { libc::waitpid(id, &mut status, 0) };
    ensure!(stopped == id && libc::WIFSTOPPED(status), "a program does not stop at its start");
    let at = random_bytes_of(id)?;
    File::options()
        .write(true)
        .open(format!("/proc/{id}/mem"))
        .and_then(|memory| memory.write_all_at(&RANDOM_BYTES, at))
        .context("the memory of a program cannot be written")?;
    // SAFETY: the process is stopped, and nothing of ours is handed over.
    let detached = unsafe { libc::ptrace(libc::PTRACE_DETACH, id, NOTHING, NOTHING) };
    ensure!(detached >= 0, "a program cannot be let go");
    Ok(())
}

fn random_bytes_of(id: i32) -> Result<u64> {
    let vector = fs::read(format!("/proc/{id}/auxv")).context("an auxiliary vector cannot be read")?;
    let (words, _) = vector.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let entry = words.chunks_exact(2).find(|entry| entry[0] == AT_RANDOM);
    entry.map(|entry| entry[1]).context("a program has got no random bytes")
}
