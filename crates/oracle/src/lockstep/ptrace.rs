//! ptrace(2) as safe functions, as far as lock-step needs it.
//!
//! All `unsafe` of the native side is in this file. Linux ties a traced process to the *thread*
//! that traces it; [`super::run`] therefore gives each run a thread of its own.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;

pub use libc::{user_fpregs_struct, user_regs_struct};

/// A process id as ptrace(2) and waitpid(2) want it.
pub type Pid = libc::pid_t;

/// Why a traced process stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A signal is about to be delivered; SIGTRAP after a single step.
    Stopped(i32),
    Exited(i32),
    Killed(i32),
}

/// What a signal says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalInfo {
    pub code: i32,
    /// The faulting address, for the signals that have one.
    pub address: u64,
}

/// Lets the command ask to be traced, without address randomisation, before it executes.
pub fn trace_on_exec(command: &mut Command) {
    // SAFETY: the closure calls only async-signal-safe functions and allocates nothing.
    unsafe {
        command.pre_exec(|| {
            // A sandbox may forbid this. Addresses are copied from the child, so randomised ones
            // work as well; the runs only look less alike.
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
}

/// The traced process dies with its tracer.
pub fn kill_with_tracer(pid: Pid) -> io::Result<()> {
    request(libc::PTRACE_SETOPTIONS, pid, libc::PTRACE_O_EXITKILL as u64)
}

/// Executes one instruction; its end is reported by [`wait`].
pub fn single_step(pid: Pid) -> io::Result<()> {
    request(libc::PTRACE_SINGLESTEP, pid, 0)
}

/// Delivers a signal in place of the one that the process is stopped for. If it has a handler, that is entered, which is
/// reported by [`wait`] before its first instruction.
pub fn enter_handler(pid: Pid, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_SINGLESTEP, pid, signal as u64)
}

pub fn wait(pid: Pid) -> io::Result<Wait> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a valid place for the result.
        let got = unsafe { libc::waitpid(pid, &mut status, libc::__WALL) };
        if got == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(if libc::WIFSTOPPED(status) {
        Wait::Stopped(libc::WSTOPSIG(status))
    } else if libc::WIFEXITED(status) {
        Wait::Exited(libc::WEXITSTATUS(status))
    } else {
        Wait::Killed(libc::WTERMSIG(status))
    })
}

pub fn registers(pid: Pid) -> io::Result<user_regs_struct> {
    // SAFETY: the request fills exactly this structure.
    unsafe { fetch(libc::PTRACE_GETREGS, pid) }
}

pub fn set_registers(pid: Pid, registers: &user_regs_struct) -> io::Result<()> {
    request(libc::PTRACE_SETREGS, pid, std::ptr::from_ref(registers) as u64)
}

/// The FXSAVE image: x87, XMM, MXCSR.
pub fn float_registers(pid: Pid) -> io::Result<user_fpregs_struct> {
    // SAFETY: the request fills exactly this structure.
    unsafe { fetch(libc::PTRACE_GETFPREGS, pid) }
}

/// Of the signal that the process is stopped for.
pub fn signal_info(pid: Pid) -> io::Result<SignalInfo> {
    // SAFETY: the request fills exactly this structure; `si_addr` reads a word of it that is
    // initialised whatever the signal is.
    unsafe {
        let info: libc::siginfo_t = fetch(libc::PTRACE_GETSIGINFO, pid)?;
        Ok(SignalInfo { code: info.si_code, address: info.si_addr() as u64 })
    }
}

/// Sends a signal to the process. It stops for it before its next instruction.
pub fn send(pid: Pid, signal: i32) -> io::Result<()> {
    // SAFETY: takes numbers alone.
    if unsafe { libc::syscall(libc::SYS_tgkill, pid, pid, signal) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Lets a signal through that the process blocks. Whether it did.
pub fn unblock(pid: Pid, signal: i32) -> io::Result<bool> {
    let bit = 1u64 << (signal - 1);
    let mut mask = 0u64;
    // SAFETY: both requests are told the size of the mask that they fill or read.
    unsafe {
        if libc::ptrace(libc::PTRACE_GETSIGMASK, pid, size_of::<u64>(), &raw mut mask) < 0 {
            return Err(io::Error::last_os_error());
        }
        let blocked = mask & bit != 0;
        mask &= !bit;
        if blocked && libc::ptrace(libc::PTRACE_SETSIGMASK, pid, size_of::<u64>(), &raw mut mask) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(blocked)
    }
}

/// The processors that this thread may run on.
pub fn processors() -> io::Result<Vec<usize>> {
    // SAFETY: `set` is plain data of the size that is told; its bits are read within its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((0..libc::CPU_SETSIZE as usize).filter(|&processor| libc::CPU_ISSET(processor, &set)).collect())
    }
}

/// The processor that this thread is on at the moment.
pub fn current_processor() -> Option<usize> {
    // SAFETY: takes nothing and returns a number.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Keeps a process, or this thread for 0, on one processor; what it starts later stays there too.
pub fn pin(pid: Pid, processor: usize) -> io::Result<()> {
    // SAFETY: `set` is plain data; the number is one that the kernel gave for a set of this size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut set);
        if libc::sched_setaffinity(pid, size_of::<libc::cpu_set_t>(), &set) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn request(request: libc::c_uint, pid: Pid, data: u64) -> io::Result<()> {
    // SAFETY: callers pass a flag word or the address of a live structure of the right type that
    // the kernel only reads.
    let result = unsafe { libc::ptrace(request, pid, 0u64, data) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// # Safety
/// The request must fill a whole `T`.
unsafe fn fetch<T>(request: libc::c_uint, pid: Pid) -> io::Result<T> {
    let mut place = MaybeUninit::<T>::zeroed();
    // SAFETY: `place` is large enough for what the request writes, by this function's contract.
    if unsafe { libc::ptrace(request, pid, 0u64, place.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: filled by the request.
    Ok(unsafe { place.assume_init() })
}
