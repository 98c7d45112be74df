//! Why a run stopped.

use crate::{AccessFault, Time};

/// What the machine tells the kernel when it stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The requested time was reached.
    Until,
    /// A system call instruction retired: rip is after it, rcx and r11 are as the processor
    /// leaves them.
    Syscall,
    /// Control has come to a hook ([`crate::Hook::Serve`], [`crate::Hook::Pause`]), before the instruction there. The machine goes on behind
    /// it after [`crate::Machine::pass_hook`].
    Hook,
    /// The instruction at rip faulted; it is not retired, and nothing of it was done.
    Fault(Fault),
    /// whydunit does not implement the instruction at rip.
    Unsupported(Unsupported),
}

/// A guest fault: the program's doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// The instruction that faulted.
    pub rip: u64,
    pub time: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    Memory(AccessFault),
    /// A non-canonical address, a misaligned vector access, reserved bits in MXCSR.
    GeneralProtection,
    DivideError,
    InvalidOpcode,
    Breakpoint,
    /// An instruction that user mode may not execute.
    Privileged,
    /// An unmasked SSE or x87 exception.
    FloatException,
    /// A function that somebody serves was asked for what it cannot do.
    Misuse,
}

/// An instruction that whydunit does not implement: not the program's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    pub address: u64,
    pub bytes: Vec<u8>,
    /// The instruction in Intel syntax.
    pub text: String,
    /// The processor features that it needs, as cpuid calls them ("AVX2").
    pub features: Vec<String>,
}
