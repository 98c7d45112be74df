//! The processor under us, as the oracle: executes one vector instruction with given operands and
//! MXCSR. A float exception that is not masked arrives as SIGFPE, and is told.

use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What an instruction on xmm0 and xmm1, or on rax and rcx, left behind.
#[derive(Debug)]
pub struct Observed {
    pub xmm0: u128,
    pub rax: u64,
    pub rflags: u64,
    pub mxcsr: u32,
    pub exception: bool,
}

/// A page with one instruction in it.
pub struct Processor {
    page: *mut u8,
    resume: u64,
}

/// What the code in the page works on; rdi points to it.
#[repr(C, align(16))]
struct State {
    xmm0: u128,
    xmm1: u128,
    rcx: u64,
    rax: u64,
    mxcsr: u32,
    host_mxcsr: u32,
    rflags: u64,
    exception: u64,
    resume: u64,
}

const BEFORE: &[u8] = &[
    0xf3, 0x0f, 0x6f, 0x07, // movdqu xmm0, [rdi]
    0xf3, 0x0f, 0x6f, 0x4f, 0x10, // movdqu xmm1, [rdi + 0x10]
    0x48, 0x8b, 0x4f, 0x20, // mov rcx, [rdi + 0x20]
    0x48, 0x8b, 0x47, 0x28, // mov rax, [rdi + 0x28]
    0x0f, 0xae, 0x57, 0x30, // ldmxcsr [rdi + 0x30]
];
const AFTER: &[u8] = &[
    0x0f, 0xae, 0x5f, 0x30, // stmxcsr [rdi + 0x30]
    0x0f, 0xae, 0x57, 0x34, // ldmxcsr [rdi + 0x34]
    0xf3, 0x0f, 0x7f, 0x07, // movdqu [rdi], xmm0
    0x48, 0x89, 0x47, 0x28, // mov [rdi + 0x28], rax
    0x9c, 0x58, // pushfq; pop rax
    0x48, 0x89, 0x47, 0x38, // mov [rdi + 0x38], rax
    0xc3, // ret
];

const PAGE: usize = 4096;
const MASKS: u32 = 0x1f80;

/// Where the page is, for the signal handler. One processor at a time, so one page.
static PRESENT: AtomicU64 = AtomicU64::new(0);
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs `test` with a processor of its own.
pub fn with_processor(test: impl FnOnce(&mut Processor)) {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // SAFETY: a fresh private page; and a handler that only touches the interrupted context.
    let page = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGFPE, &action, std::ptr::null_mut()), 0);
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        libc::mmap(std::ptr::null_mut(), PAGE, protection, flags, -1, 0)
    };
    assert_ne!(page, libc::MAP_FAILED, "no page for the oracle's code");
    PRESENT.store(page as u64, Ordering::SeqCst);
    test(&mut Processor { page: page.cast(), resume: 0 });
    // SAFETY: nothing refers to the page any more.
    unsafe { libc::munmap(page, PAGE) };
}

impl Processor {
    /// Sets the instruction that [`Self::execute`] will execute.
    pub fn load(&mut self, instruction: &[u8]) {
        let code = [BEFORE, instruction, AFTER].concat();
        assert!(code.len() <= PAGE);
        // SAFETY: the page is writable, ours, and large enough.
        unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), self.page, code.len()) };
        self.resume = self.page as u64 + (BEFORE.len() + instruction.len()) as u64;
    }

    /// Executes it with xmm0 = a, xmm1 = b, rax and rcx = their low halves.
    pub fn execute(&self, a: u128, b: u128, mxcsr: u32) -> Observed {
        let mut state = State {
            xmm0: a,
            xmm1: b,
            rcx: b as u64,
            rax: a as u64,
            mxcsr,
            host_mxcsr: MASKS,
            rflags: 0,
            exception: 0,
            resume: self.resume,
        };
        // SAFETY: the page holds a function of this type, which changes caller-saved registers and
        // the state only.
        unsafe {
            let code: extern "C" fn(*mut State) = std::mem::transmute(self.page);
            code(&mut state);
        }
        let exception = state.exception != 0;
        let mxcsr = if exception { state.mxcsr & !MASKS | mxcsr & MASKS } else { state.mxcsr };
        Observed { xmm0: state.xmm0, rax: state.rax, rflags: state.rflags, mxcsr, exception }
    }
}

/// Notes the exception, masks all, and goes on after the instruction.
extern "C" fn handler(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the interrupted context; rdi is the state while code in the page
    // runs. Elsewhere there are no float exceptions: then the default action follows.
    unsafe {
        let context = &mut *context.cast::<libc::ucontext_t>();
        let registers = &mut context.uc_mcontext.gregs;
        let page = PRESENT.load(Ordering::SeqCst);
        if !(page..page + PAGE as u64).contains(&(registers[libc::REG_RIP as usize] as u64)) {
            libc::signal(libc::SIGFPE, libc::SIG_DFL);
            return;
        }
        let state = registers[libc::REG_RDI as usize] as *mut State;
        (*state).exception = 1;
        registers[libc::REG_RIP as usize] = (*state).resume as i64;
        (*context.uc_mcontext.fpregs).mxcsr |= MASKS;
    }
}
