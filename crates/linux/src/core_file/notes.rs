//! The notes of a core file: what is known of a process apart from its memory. The layouts are those of x86-64
//! Linux, in which every field has a fixed place.

use lift::Reg;
use machine::{Backing, Cause, Cpu, Fault, FaultKind, PAGE_SIZE};

use crate::kernel::{Exit, Kernel, PARENT_PID, PID};
use crate::process::Process;
use crate::signal::SIGBUS;

const NT_PRSTATUS: u32 = 1;
const NT_FPREGSET: u32 = 2;
const NT_PRPSINFO: u32 = 3;
const NT_AUXV: u32 = 6;
const NT_SIGINFO: u32 = 0x5349_4749;
const NT_FILE: u32 = 0x4649_4c45;

const STATUS_SIZE: usize = 336;
const INFORMATION_SIZE: usize = 136;
const FLOAT_STATE_SIZE: usize = 512;
const SIGNAL_INFORMATION_SIZE: usize = 128;

/// Selectors as a 64-bit Linux process has them.
const USER_CODE: u64 = 0x33;
const USER_DATA: u64 = 0x2b;

/// Why a signal was raised, as siginfo says it.
const SI_KERNEL: i32 = 0x80;
const SI_TKILL: i32 = -6;
const SEGV_MAPERR: i32 = 1;
const SEGV_ACCERR: i32 = 2;
const BUS_ADRERR: i32 = 2;
const FPE_INTDIV: i32 = 1;
const FPE_FLTINV: i32 = 7;
const ILL_ILLOPN: i32 = 2;

/// All notes, one after the other.
pub fn notes(process: &Process) -> Vec<u8> {
    let Process { machine, kernel } = process;
    let signal = Signal::of(kernel);
    let mut notes = Vec::new();
    // A debugger takes what follows a status as belonging to the same thread.
    note(&mut notes, NT_PRSTATUS, &status(&machine.cpu, kernel, signal.as_ref()));
    note(&mut notes, NT_FPREGSET, &float_state(&machine.cpu));
    note(&mut notes, NT_PRPSINFO, &information(kernel));
    if let Some(signal) = &signal {
        note(&mut notes, NT_SIGINFO, &signal.information(kernel));
    }
    if !kernel.auxiliary_vector.is_empty() {
        note(&mut notes, NT_AUXV, &kernel.auxiliary_vector);
    }
    note(&mut notes, NT_FILE, &mapped_files(process));
    notes
}

fn note(notes: &mut Vec<u8>, kind: u32, content: &[u8]) {
    const OWNER: &[u8] = b"CORE\0";
    notes.extend((OWNER.len() as u32).to_le_bytes());
    notes.extend((content.len() as u32).to_le_bytes());
    notes.extend(kind.to_le_bytes());
    for part in [OWNER, content] {
        notes.extend(part);
        notes.resize(notes.len().next_multiple_of(4), 0);
    }
}

/// A record of fixed size whose fields are put at their places.
struct Record<const SIZE: usize>([u8; SIZE]);

impl<const SIZE: usize> Record<SIZE> {
    fn new() -> Record<SIZE> {
        Record([0; SIZE])
    }

    /// What does not fit is cut off.
    fn put(&mut self, at: usize, bytes: &[u8]) {
        for (slot, byte) in self.0.iter_mut().skip(at).zip(bytes) {
            *slot = *byte;
        }
    }
}

/// The signal that ended a process.
struct Signal {
    number: i32,
    code: i32,
    /// What a fault was about; signals that are sent have none.
    address: Option<u64>,
}

impl Signal {
    fn of(kernel: &Kernel) -> Option<Signal> {
        let Some(Exit::Killed { signal, fault }) = &kernel.ended else { return None };
        let (code, address) = match fault {
            Some(fault) => reason(*signal, fault),
            None => (SI_TKILL, None),
        };
        Some(Signal { number: *signal, code, address })
    }

    fn information(&self, kernel: &Kernel) -> [u8; SIGNAL_INFORMATION_SIZE] {
        let mut record = Record::new();
        record.put(0, &self.number.to_le_bytes());
        record.put(8, &self.code.to_le_bytes());
        match self.address {
            Some(address) => record.put(16, &address.to_le_bytes()),
            // Only the process itself can have sent it.
            None => {
                record.put(16, &PID.to_le_bytes());
                record.put(20, &kernel.files.credentials().user.to_le_bytes());
            }
        }
        record.0
    }
}

/// The code of a fault's signal and the address that it tells.
fn reason(signal: i32, fault: &Fault) -> (i32, Option<u64>) {
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
        FaultKind::FloatException => (FPE_FLTINV, fault.rip),
        FaultKind::InvalidOpcode => (ILL_ILLOPN, fault.rip),
        FaultKind::GeneralProtection | FaultKind::Privileged | FaultKind::Breakpoint | FaultKind::Misuse => {
            (SI_KERNEL, 0)
        }
    };
    (code, Some(address))
}

fn status(cpu: &Cpu, kernel: &Kernel, signal: Option<&Signal>) -> [u8; STATUS_SIZE] {
    let mut record = Record::new();
    if let Some(signal) = signal {
        record.put(0, &signal.number.to_le_bytes());
        record.put(4, &signal.code.to_le_bytes());
        record.put(12, &(signal.number as u16).to_le_bytes());
    }
    record.put(16, &kernel.signals.pending.to_le_bytes());
    record.put(24, &kernel.signals.blocked.to_le_bytes());
    put_ids(&mut record, 32);
    for (number, register) in registers(cpu).into_iter().enumerate() {
        record.put(112 + 8 * number, &register.to_le_bytes());
    }
    // The float state is valid.
    record.put(328, &1u32.to_le_bytes());
    record.0
}

/// The process, its parent, its group and its session.
fn put_ids<const SIZE: usize>(record: &mut Record<SIZE>, at: usize) {
    for (number, id) in [PID, PARENT_PID, PID, PARENT_PID].into_iter().enumerate() {
        record.put(at + 4 * number, &id.to_le_bytes());
    }
}

/// In the order of the kernel's struct user_regs_struct.
fn registers(cpu: &Cpu) -> [u64; 27] {
    let general = |reg| cpu.get(reg);
    [
        general(Reg::R15),
        general(Reg::R14),
        general(Reg::R13),
        general(Reg::R12),
        general(Reg::RBP),
        general(Reg::RBX),
        general(Reg::R11),
        general(Reg::R10),
        general(Reg::R9),
        general(Reg::R8),
        general(Reg::RAX),
        general(Reg::RCX),
        general(Reg::RDX),
        general(Reg::RSI),
        general(Reg::RDI),
        // The number of the system call that is going on: none.
        u64::MAX,
        cpu.rip,
        USER_CODE,
        cpu.rflags(),
        general(Reg::RSP),
        USER_DATA,
        general(Reg::FS_BASE),
        general(Reg::GS_BASE),
        0,
        0,
        0,
        0,
    ]
}

/// As fxsave stores it.
fn float_state(cpu: &Cpu) -> [u8; FLOAT_STATE_SIZE] {
    const MXCSR_MASK: u32 = 0xffff;
    let mut record = Record::new();
    record.put(0, &(cpu.get(Reg::X87_CONTROL) as u16).to_le_bytes());
    record.put(2, &cpu.x87_status().to_le_bytes());
    record.put(4, &[cpu.x87_tags()]);
    for number in 0..8 {
        record.put(32 + 16 * usize::from(number), &cpu.extended(number).to_le_bytes()[..10]);
    }
    record.put(24, &(cpu.get(Reg::MXCSR) as u32).to_le_bytes());
    record.put(28, &MXCSR_MASK.to_le_bytes());
    for number in 0..16 {
        record.put(160 + 16 * usize::from(number), &cpu.xmm(number).to_le_bytes());
    }
    record.0
}

/// State, ids, name and arguments, as ps shows them.
fn information(kernel: &Kernel) -> [u8; INFORMATION_SIZE] {
    /// The last byte of each text stays zero.
    const LONGEST_NAME: usize = 15;
    const LONGEST_ARGUMENTS: usize = 79;
    let mut record = Record::new();
    record.put(1, b"R");
    let credentials = kernel.files.credentials();
    record.put(16, &credentials.user.to_le_bytes());
    record.put(20, &credentials.group.to_le_bytes());
    put_ids(&mut record, 24);
    record.put(40, kernel.name.get(..LONGEST_NAME).unwrap_or(&kernel.name));
    let arguments = kernel.command.argv.join(&b' ');
    record.put(56, arguments.get(..LONGEST_ARGUMENTS).unwrap_or(&arguments));
    record.0
}

/// How many, the unit of offsets, then start, end and offset of each, then all names.
fn mapped_files(process: &Process) -> Vec<u8> {
    let mut places = Vec::new();
    let mut names = Vec::new();
    for region in process.machine.memory.regions() {
        let Backing::Bytes { offset, .. } = &region.backing else { continue };
        places.push([region.start, region.end, offset / PAGE_SIZE]);
        names.extend(region.name.bytes().filter(|&byte| byte != 0));
        names.push(0);
    }
    let words = [places.len() as u64, PAGE_SIZE].into_iter().chain(places.into_iter().flatten());
    let mut content: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    content.extend(names);
    content
}
