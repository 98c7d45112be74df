//! What is told of a signal: the kernel's siginfo, and what the processor said of a fault.

use machine::{Access, AccessFault, Cause, Cpu, Fault, FaultKind};

use super::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};

/// Why a signal was raised, as siginfo says it.
pub const SI_USER: i32 = 0;
pub const SI_KERNEL: i32 = 0x80;
pub const SI_QUEUE: i32 = -1;
pub const SI_TKILL: i32 = -6;
const SEGV_MAPERR: i32 = 1;
const SEGV_ACCERR: i32 = 2;
const BUS_ADRERR: i32 = 2;
const FPE_INTDIV: i32 = 1;
const FPE_FLTDIV: i32 = 3;
const FPE_FLTOVF: i32 = 4;
const FPE_FLTUND: i32 = 5;
const FPE_FLTRES: i32 = 6;
const FPE_FLTINV: i32 = 7;
const ILL_ILLOPN: i32 = 2;

pub const INFORMATION_SIZE: usize = 128;

/// The kernel's siginfo of one signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Information {
    bytes: [u8; INFORMATION_SIZE],
}

impl Information {
    const NUMBER: usize = 0;
    const CODE: usize = 8;
    /// The address of a fault, or who sent the signal.
    const DETAIL: usize = 16;

    /// One that the kernel raises and has nothing more to say about.
    pub fn new(signal: i32, code: i32) -> Information {
        let mut new = Information { bytes: [0; INFORMATION_SIZE] };
        new.put(Self::NUMBER, &signal.to_le_bytes());
        new.put(Self::CODE, &code.to_le_bytes());
        new
    }

    pub fn with_address(mut self, address: u64) -> Information {
        self.put(Self::DETAIL, &address.to_le_bytes());
        self
    }

    /// Who sent it.
    pub fn sent_by(mut self, process: u32, user: u32) -> Information {
        self.put(Self::DETAIL, &process.to_le_bytes());
        self.put(Self::DETAIL + 4, &user.to_le_bytes());
        self
    }

    /// What a program made up itself, for a signal that it names beside it.
    pub fn given(signal: i32, bytes: [u8; INFORMATION_SIZE]) -> Information {
        let mut given = Information { bytes };
        given.put(Self::NUMBER, &signal.to_le_bytes());
        given
    }

    fn put(&mut self, at: usize, field: &[u8]) {
        for (to, from) in self.bytes.iter_mut().skip(at).zip(field) {
            *to = *from;
        }
    }

    pub fn bytes(&self) -> &[u8; INFORMATION_SIZE] {
        &self.bytes
    }

    pub fn signal(&self) -> i32 {
        self.word(Self::NUMBER)
    }

    pub fn code(&self) -> i32 {
        self.word(Self::CODE)
    }

    /// A field of four bytes.
    pub fn word(&self, at: usize) -> i32 {
        let word = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
        word.map_or(0, |word| i32::from_le_bytes(*word))
    }
}

/// What the processor said of the last fault; it stays until the next one, and every signal frame shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trap {
    pub number: u64,
    pub error: u64,
    /// The address of the last page fault.
    pub address: u64,
}

/// The signal that a fault raises. A page behind the end of its file is `beyond_file`.
pub fn signal_of(fault: &Fault, beyond_file: bool) -> i32 {
    match fault.kind {
        FaultKind::Memory(_) if beyond_file => SIGBUS,
        FaultKind::Memory(_) | FaultKind::GeneralProtection | FaultKind::Privileged => SIGSEGV,
        FaultKind::DivideError | FaultKind::FloatException => SIGFPE,
        FaultKind::InvalidOpcode => SIGILL,
        FaultKind::Breakpoint => SIGTRAP,
        FaultKind::Misuse => SIGABRT,
    }
}

/// What a handler of a fault's signal is told.
pub fn of_fault(signal: i32, fault: &Fault, cpu: &Cpu, is_x87: bool) -> Information {
    let (code, address) = match fault.kind {
        FaultKind::Memory(access) if signal == SIGBUS => (BUS_ADRERR, access.address),
        FaultKind::Memory(access) => match access.cause {
            Cause::Unmapped => (SEGV_MAPERR, access.address),
            Cause::NonCanonical => (SI_KERNEL, 0),
            Cause::Protected | Cause::OutOfMemory | Cause::CodePage | Cause::Forbidden => {
                (SEGV_ACCERR, access.address)
            }
        },
        FaultKind::DivideError => (FPE_INTDIV, fault.rip),
        FaultKind::FloatException => (float_code(raised(cpu, is_x87)), fault.rip),
        FaultKind::InvalidOpcode => (ILL_ILLOPN, fault.rip),
        FaultKind::GeneralProtection | FaultKind::Privileged | FaultKind::Breakpoint | FaultKind::Misuse => {
            (SI_KERNEL, 0)
        }
    };
    Information::new(signal, code).with_address(address)
}

/// The unmasked exceptions that are flagged.
fn raised(cpu: &Cpu, is_x87: bool) -> u64 {
    use lift::Reg;
    const ALL: u64 = 0x3f;
    match is_x87 {
        true => cpu.get(Reg::X87_FLAGS) & !cpu.get(Reg::X87_CONTROL) & ALL,
        false => cpu.get(Reg::MXCSR) & !(cpu.get(Reg::MXCSR) >> 7) & ALL,
    }
}

/// The first that counts, in the order in which Linux asks.
fn float_code(raised: u64) -> i32 {
    match raised {
        _ if raised & 0x01 != 0 => FPE_FLTINV,
        _ if raised & 0x04 != 0 => FPE_FLTDIV,
        _ if raised & 0x08 != 0 => FPE_FLTOVF,
        _ if raised & 0x12 != 0 => FPE_FLTUND,
        _ if raised & 0x20 != 0 => FPE_FLTRES,
        _ => FPE_FLTINV,
    }
}

impl Trap {
    /// After a fault. `is_present` says of a page that it is there, but not for such an access.
    pub fn after(self, fault: &Fault, is_present: bool, is_x87: bool) -> Trap {
        let number = match fault.kind {
            FaultKind::DivideError => 0,
            FaultKind::Breakpoint => 3,
            FaultKind::InvalidOpcode => 6,
            FaultKind::Memory(AccessFault { cause: Cause::NonCanonical, .. })
            | FaultKind::GeneralProtection
            | FaultKind::Privileged
            | FaultKind::Misuse => 13,
            FaultKind::Memory(access) => return Trap::of_page(access, is_present),
            FaultKind::FloatException if is_x87 => 16,
            FaultKind::FloatException => 19,
        };
        Trap { number, error: 0, ..self }
    }

    fn of_page(access: AccessFault, is_present: bool) -> Trap {
        const USER: u64 = 4;
        let kind = match access.access {
            Access::Read => 0,
            Access::Write => 2,
            Access::Execute => 0x10,
        };
        Trap { number: 14, error: USER | kind | u64::from(is_present), address: access.address }
    }
}
