//! System calls in lock-step: the machine's kernel serves them, and the child is given the result.
//!
//! Calls that change the address space are made natively too, at the machine's addresses, so that
//! both sides have the same mappings with the same permissions, and fault alike. A file's content
//! is copied from the machine into fresh memory: the child has none of the machine's descriptors.
//! Calls about signals are made natively too, see [`super::signals`].

use std::io;

use lift::Reg;
use linux::{Exit, Process};
use machine::{Backing, Memory, PAGE_SIZE, Permissions};

use super::native::{Native, NativeStop};
use super::report::End;
use super::signals::{self, Entered};
use super::state::{Difference, TRAP_FLAG};

const RESUME_FLAG: u64 = 0x1_0000;

pub struct Served {
    /// A handler was entered after it.
    pub entered: bool,
    /// Set if it was the process's last.
    pub end: Option<End>,
    /// What the native kernel answered differently, for the calls that are made on both sides.
    pub differences: Vec<Difference>,
}

/// Serves the system call that the machine has just stopped at; the child is still before it.
pub fn serve(process: &mut Process, native: &mut Native) -> io::Result<Served> {
    let cpu = &process.machine.cpu;
    let number = cpu.get(Reg::RAX) as i64;
    let arguments =
        [Reg::RDI, Reg::RSI, Reg::RDX, Reg::R10, Reg::R8, Reg::R9].map(|register| cpu.get(register));
    let returns = signals::is_return(process);
    let mut entered = Entered::default();
    process.serve_call(&mut entered);
    if let Some(exit) = &process.kernel.ended {
        let end = match exit {
            Exit::Exited(status) => End::Exited(*status),
            other => End::Stopped(format!("{other:?}")),
        };
        return Ok(Served { entered: false, end: Some(end), differences: Vec::new() });
    }
    let mut differences = Vec::new();
    if returns {
        // Both kernels restore what the frame says.
        let stop = native.step()?;
        if stop != NativeStop::Stepped {
            differences.push(Difference {
                what: "return from a handler".to_owned(),
                machine: "done".to_owned(),
                native: format!("{stop:?}"),
            });
        }
    } else {
        let call = entered.interrupted_call(&process.machine.memory);
        let (result, next) = call.unwrap_or((process.machine.cpu.get(Reg::RAX), process.machine.cpu.rip));
        differences = repeat_natively(&process.machine.memory, native, number, arguments, result)?;
        copy_results(process, native, result, next)?;
    }
    differences.extend(entered.follow(process, native, None)?);
    Ok(Served { entered: !entered.0.is_empty(), end: None, differences })
}

/// Makes the call natively if it is about memory and the machine's kernel granted it.
fn repeat_natively(
    memory: &Memory,
    native: &mut Native,
    number: i64,
    arguments: [u64; 6],
    result: u64,
) -> io::Result<Vec<Difference>> {
    let [address, length, third, ..] = arguments;
    if is_error(result) {
        return Ok(Vec::new());
    }
    let native_result = match number {
        libc::SYS_mmap => {
            let end = result.saturating_add(length).next_multiple_of(PAGE_SIZE);
            native.map_fresh(result, end - result)?;
            copy_content(memory, native, result, end)?;
            copy_permissions(memory, native, result, end)?
        }
        libc::SYS_munmap => native.system_call(number, [address, length, 0, 0, 0, 0])?,
        // The low three bits are the permissions; the others mean a growing stack.
        libc::SYS_mprotect => native.system_call(number, [address, length, third & 7, 0, 0, 0])?,
        // Where the machine's kernel refuses, it answers with the old end: that is asked for then.
        libc::SYS_brk => native.system_call(number, [result, 0, 0, 0, 0, 0])?,
        libc::SYS_mremap => {
            let moved = (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as u64;
            let flags = if result == address { 0 } else { moved };
            let answer = native.system_call(number, [address, length, third, flags, result, 0])?;
            let grown = result.saturating_add(length).next_multiple_of(PAGE_SIZE);
            copy_content(memory, native, grown, result.saturating_add(third))?;
            answer
        }
        libc::SYS_madvise if third == libc::MADV_DONTNEED as u64 => {
            let answer = native.system_call(number, [address, length, third, 0, 0, 0])?;
            copy_content(memory, native, address, address.saturating_add(length))?;
            answer
        }
        // So that the child's kernel enters the same handlers, on the same stacks, with the same mask. What was before is not asked for.
        libc::SYS_rt_sigaction | libc::SYS_rt_sigprocmask => {
            native.system_call(number, [address, length, 0, arguments[3], 0, 0])?
        }
        libc::SYS_sigaltstack => native.system_call(number, [address, 0, 0, 0, 0, 0])?,
        _ => return Ok(Vec::new()),
    };
    let expected = if number == libc::SYS_mmap { 0 } else { result };
    if native_result as u64 == expected {
        return Ok(Vec::new());
    }
    Ok(vec![Difference {
        what: format!("system call {number} with {arguments:x?}"),
        machine: format!("{expected:#x}"),
        native: format!("{native_result:#x}"),
    }])
}

/// Gives the child what the call returned and wrote. Where it goes on is the next instruction, or this one again.
fn copy_results(process: &Process, native: &Native, result: u64, next: u64) -> io::Result<()> {
    let cpu = &process.machine.cpu;
    for access in process.kernel.accesses.iter().filter(|access| access.write) {
        let mut bytes = vec![0; access.length as usize];
        process.machine.memory.peek(access.address, &mut bytes);
        native.write(access.address, &bytes)?;
    }
    let mut registers = native.registers()?;
    // As the processor does it, so that the machine's own values are put to the test.
    registers.rcx = registers.rip + 2;
    registers.r11 = registers.eflags & !(TRAP_FLAG | RESUME_FLAG);
    registers.rip = if next == registers.rip { next } else { registers.rip + 2 };
    registers.rax = result;
    registers.fs_base = cpu.get(Reg::FS_BASE);
    registers.gs_base = cpu.get(Reg::GS_BASE);
    native.set_registers(registers)
}

/// Copies what the machine has in a range that natively reads as zero.
fn copy_content(memory: &Memory, native: &Native, start: u64, end: u64) -> io::Result<()> {
    for region in memory.regions().iter().filter(|region| region.start < end && start < region.end) {
        if matches!(region.backing, Backing::Zero) {
            continue;
        }
        let mut page = [0; PAGE_SIZE as usize];
        let mut address = region.start.max(start);
        while address < region.end.min(end) {
            memory.peek(address, &mut page);
            if page.iter().any(|&byte| byte != 0) {
                native.write(address, &page)?;
            }
            address += PAGE_SIZE;
        }
    }
    Ok(())
}

fn copy_permissions(memory: &Memory, native: &mut Native, start: u64, end: u64) -> io::Result<i64> {
    for region in memory.regions().iter().filter(|region| region.start < end && start < region.end) {
        if region.permissions == Permissions::RW {
            continue;
        }
        let from = region.start.max(start);
        let length = region.end.min(end) - from;
        let answer = native
            .system_call(libc::SYS_mprotect, [from, length, protection(region.permissions), 0, 0, 0])?;
        if answer != 0 {
            return Ok(answer);
        }
    }
    Ok(0)
}

fn protection(permissions: Permissions) -> u64 {
    let bit = |set, bit: i32| if set { bit as u64 } else { 0 };
    bit(permissions.read, libc::PROT_READ)
        | bit(permissions.write, libc::PROT_WRITE)
        | bit(permissions.execute, libc::PROT_EXEC)
}

/// Whether a system call's result is an error number.
fn is_error(result: u64) -> bool {
    result > -4096i64 as u64
}
