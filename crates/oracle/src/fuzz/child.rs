//! The half of the fuzzer that lives in the forked child: it executes cases on the processor.
//!
//! A case owns every register, the stack pointer and the segment bases included. So nothing here
//! uses the C library, thread-local storage or the heap once the child is set up: its own state
//! lies in statics, which the trampoline reaches relative to rip, and faults are handled on an
//! alternate stack.

use super::layout::{
    CODE, CODE_BYTES, EXIT_POINTER, FS_BASE, GS_BASE, HIGH, LOW, LOW_BYTES, PAGE, READ_ONLY, WRITABLE_BYTES,
};
use super::native::{Record, Shared};
use super::state::{DEFAULT_MXCSR, State};
use std::arch::{asm, naked_asm};
use std::mem::offset_of;
use std::ptr::{addr_of_mut, copy_nonoverlapping};
use std::slice::from_raw_parts_mut;

/// Exit status of a child that could not be set up, plus the number of the step that failed.
pub const SETUP_FAILED: i32 = 64;
/// Exit status of a child that faulted in its own code.
pub const OWN_FAULT: i32 = 63;

/// File offsets of the parts of the memory that parent and child share.
pub struct Segments {
    pub file: i32,
    pub code: i64,
    pub image: i64,
}

static mut HOST_RSP: u64 = 0;
static mut ENTRY: u64 = 0;
static mut OUTPUT: State = State::zero();
static mut TRAP: u32 = 0;
static mut TRAP_ERROR: u32 = 0;
static mut TRAP_ADDRESS: u64 = 0;
static mut IN_GUEST: bool = false;
static CLEAN_MXCSR: u32 = DEFAULT_MXCSR;

/// In place of the number of an exception: the case came back by itself.
pub const NO_TRAP: u32 = u32::MAX;
const CLEAN_FLAGS: i64 = 0x202;

/// Sets the child up and serves batches until it is killed or the pipe closes.
///
/// # Safety
/// Only in a freshly forked child, which this never leaves.
pub unsafe fn serve(shared: *mut Shared, segments: &Segments, requests: i32, replies: i32) -> ! {
    unsafe {
        if let Err(step) = set_up(segments) {
            libc::_exit(SETUP_FAILED + step);
        }
        // From here on no call into the C library, whose thread-local storage is gone.
        loop {
            let mut count = 0u32;
            if system_call(libc::SYS_read, requests as u64, &raw mut count as u64, 4) != 4 {
                system_call(libc::SYS_exit_group, 0, 0, 0);
            }
            let image = &(*shared).image.0;
            copy_nonoverlapping(image.as_ptr(), LOW as *mut u8, LOW_BYTES);
            copy_nonoverlapping(image.as_ptr().add(LOW_BYTES), HIGH as *mut u8, PAGE as usize);
            let records = (&raw mut (*shared).records).cast::<Record>();
            for slot in 0..count as usize {
                (&raw mut (*shared).progress).write_volatile(slot as u64);
                run_case(&mut *records.add(slot), image);
            }
            system_call(libc::SYS_write, replies as u64, &raw const count as u64, 4);
        }
    }
}

unsafe fn run_case(record: &mut Record, image: &[u8]) {
    unsafe {
        for (offset, bytes) in record.patches.iter() {
            let target =
                if offset < LOW_BYTES { LOW as usize + offset } else { HIGH as usize + offset - LOW_BYTES };
            copy_nonoverlapping(bytes.as_ptr(), target as *mut u8, bytes.len());
        }
        // Volatile, because the compiler sees neither the trampoline nor the handler at work.
        (&raw mut ENTRY).write_volatile(record.input.rip);
        (&raw mut TRAP).write_volatile(NO_TRAP);
        (&raw mut IN_GUEST).write_volatile(true);
        enter(&record.input);
        (&raw mut IN_GUEST).write_volatile(false);
        record.trap = (&raw const TRAP).read_volatile();
        record.trap_error = (&raw const TRAP_ERROR).read_volatile();
        record.trap_address = (&raw const TRAP_ADDRESS).read_volatile();
        record.output = (&raw const OUTPUT).read_volatile();
        let low = from_raw_parts_mut(LOW as *mut u8, LOW_BYTES);
        let high = from_raw_parts_mut(HIGH as *mut u8, PAGE as usize);
        record.changes.clear();
        record.changes.collect(0, low, &image[..LOW_BYTES], |_| ());
        record.changes.collect(LOW_BYTES, high, &image[LOW_BYTES..WRITABLE_BYTES], |_| ());
    }
}

/// Loads the state and jumps to the case's instruction; comes back through [`leave`] or, after a
/// fault, through [`resume`].
#[unsafe(naked)]
unsafe extern "C" fn enter(input: *const State) {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rip + {host_rsp}], rsp",
        "fxrstor64 [rdi + {float}]",
        "push qword ptr [rdi + {rflags}]",
        "popfq",
        "mov rax, [rdi]",
        "mov rcx, [rdi + 8]",
        "mov rdx, [rdi + 16]",
        "mov rbx, [rdi + 24]",
        "mov rsp, [rdi + 32]",
        "mov rbp, [rdi + 40]",
        "mov rsi, [rdi + 48]",
        "mov r8, [rdi + 64]",
        "mov r9, [rdi + 72]",
        "mov r10, [rdi + 80]",
        "mov r11, [rdi + 88]",
        "mov r12, [rdi + 96]",
        "mov r13, [rdi + 104]",
        "mov r14, [rdi + 112]",
        "mov r15, [rdi + 120]",
        "mov rdi, [rdi + 56]",
        "jmp qword ptr [rip + {entry}]",
        host_rsp = sym HOST_RSP,
        entry = sym ENTRY,
        float = const offset_of!(State, float),
        rflags = const offset_of!(State, rflags),
    )
}

/// Where the jump behind the case's instruction leads: saves the state without use of the stack.
/// Every access is aligned, because the case may have set the alignment-check flag.
#[unsafe(naked)]
unsafe extern "C" fn leave() {
    naked_asm!(
        "mov [rip + {output}], rax",
        "mov [rip + {output} + 8], rcx",
        "mov [rip + {output} + 16], rdx",
        "mov [rip + {output} + 24], rbx",
        "mov [rip + {output} + 32], rsp",
        "mov [rip + {output} + 40], rbp",
        "mov [rip + {output} + 48], rsi",
        "mov [rip + {output} + 56], rdi",
        "mov [rip + {output} + 64], r8",
        "mov [rip + {output} + 72], r9",
        "mov [rip + {output} + 80], r10",
        "mov [rip + {output} + 88], r11",
        "mov [rip + {output} + 96], r12",
        "mov [rip + {output} + 104], r13",
        "mov [rip + {output} + 112], r14",
        "mov [rip + {output} + 120], r15",
        "mov rsp, [rip + {host_rsp}]",
        "pushfq",
        "pop rax",
        "mov [rip + {output} + {rflags}], rax",
        "push {clean_flags}",
        "popfq",
        "fxsave64 [rip + {output} + {float}]",
        "ldmxcsr [rip + {clean_mxcsr}]",
        "jmp {resume}",
        output = sym OUTPUT,
        host_rsp = sym HOST_RSP,
        clean_mxcsr = sym CLEAN_MXCSR,
        resume = sym resume,
        clean_flags = const CLEAN_FLAGS,
        float = const offset_of!(State, float),
        rflags = const offset_of!(State, rflags),
    )
}

/// Returns from [`enter`]; expects its stack pointer, clean flags and a clean MXCSR.
#[unsafe(naked)]
unsafe extern "C" fn resume() {
    naked_asm!("pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx", "ret")
}

/// Takes the state out of the signal frame and returns into [`resume`].
unsafe extern "C" fn on_fault(_signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    /// Places in the kernel's register array, by our order of general registers.
    const PLACES: [i32; 16] = [
        libc::REG_RAX,
        libc::REG_RCX,
        libc::REG_RDX,
        libc::REG_RBX,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    unsafe {
        if !(&raw const IN_GUEST).read_volatile() {
            system_call(libc::SYS_exit_group, OWN_FAULT as u64, 0, 0);
        }
        let machine = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext;
        let output = &mut *addr_of_mut!(OUTPUT);
        let registers = machine.gregs.as_mut_ptr();
        for (value, place) in output.general.iter_mut().zip(PLACES) {
            *value = *registers.add(place as usize) as u64;
        }
        output.rip = *registers.add(libc::REG_RIP as usize) as u64;
        output.rflags = *registers.add(libc::REG_EFL as usize) as u64;
        let float = machine.fpregs.cast::<super::state::FloatState>();
        output.float = float.read_unaligned();
        TRAP = *registers.add(libc::REG_TRAPNO as usize) as u32;
        TRAP_ERROR = *registers.add(libc::REG_ERR as usize) as u32;
        TRAP_ADDRESS = (*info).si_addr() as u64;
        (&raw mut (*float).mxcsr).write_unaligned(DEFAULT_MXCSR);
        *registers.add(libc::REG_RIP as usize) = resume as *const () as i64;
        *registers.add(libc::REG_RSP as usize) = HOST_RSP as i64;
        *registers.add(libc::REG_EFL as usize) = CLEAN_FLAGS;
    }
}

/// Maps the case's memory, installs the handlers, gives up the C library's thread.
unsafe fn set_up(segments: &Segments) -> Result<(), i32> {
    const SIGNALS: [i32; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];
    const STACK_BYTES: usize = 1 << 17;
    let (read, write, execute) = (libc::PROT_READ, libc::PROT_WRITE, libc::PROT_EXEC);
    let shared_file = Some(segments.file);
    unsafe {
        // Nothing of this process outlives the one that wants its answers, nor litters.
        check(1, libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0)?;
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        check(2, libc::setrlimit(libc::RLIMIT_CORE, &no_core) == 0)?;

        check(3, map(CODE, CODE_BYTES, read | execute, shared_file, segments.code))?;
        check(4, map(LOW, LOW_BYTES, read | write, None, 0))?;
        check(5, map(HIGH, PAGE as usize, read | write, None, 0))?;
        let read_only = segments.image + WRITABLE_BYTES as i64;
        check(6, map(READ_ONLY, PAGE as usize, read, shared_file, read_only))?;
        check(7, map(EXIT_POINTER, PAGE as usize, read | write, None, 0))?;
        (EXIT_POINTER as *mut u64).write(leave as *const () as u64);
        check(8, libc::mprotect(EXIT_POINTER as *mut _, PAGE as usize, read) == 0)?;

        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let stack = libc::mmap(std::ptr::null_mut(), STACK_BYTES, read | write, flags, -1, 0);
        check(9, stack != libc::MAP_FAILED)?;
        let stack = libc::stack_t { ss_sp: stack, ss_flags: 0, ss_size: STACK_BYTES };
        check(10, libc::sigaltstack(&stack, std::ptr::null_mut()) == 0)?;
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        let mut blocked: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut blocked);
        for signal in SIGNALS {
            check(11, libc::sigaction(signal, &action, std::ptr::null_mut()) == 0)?;
            libc::sigdelset(&mut blocked, signal);
        }
        check(12, libc::sigprocmask(libc::SIG_SETMASK, &blocked, std::ptr::null_mut()) == 0)?;

        const ARCH_SET_GS: u64 = 0x1001;
        const ARCH_SET_FS: u64 = 0x1002;
        check(13, system_call(libc::SYS_arch_prctl, ARCH_SET_GS, GS_BASE, 0) == 0)?;
        check(14, system_call(libc::SYS_arch_prctl, ARCH_SET_FS, FS_BASE, 0) == 0)?;
    }
    Ok(())
}

fn check(step: i32, good: bool) -> Result<(), i32> {
    if good { Ok(()) } else { Err(step) }
}

unsafe fn map(address: u64, length: usize, protection: i32, file: Option<i32>, offset: i64) -> bool {
    let kind = if file.is_some() { libc::MAP_SHARED } else { libc::MAP_PRIVATE | libc::MAP_ANONYMOUS };
    let flags = kind | libc::MAP_FIXED_NOREPLACE;
    let wanted = address as *mut libc::c_void;
    unsafe { libc::mmap(wanted, length, protection, flags, file.unwrap_or(-1), offset) == wanted }
}

unsafe fn system_call(number: i64, first: u64, second: u64, third: u64) -> i64 {
    let result: i64;
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") first, in("rsi") second, in("rdx") third,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    result
}
