//! Signal handlers in lock-step: both kernels enter them, and what each puts on the stack is compared.
//!
//! The host's frame is larger, by the state of vector registers that the machine does not have, and so lies elsewhere. Once the
//! two frames are found to be alike, the child is given the machine's in its place. Handlers return by a system call that
//! both kernels make, the host's from the machine's frame.
//!
//! Exempt is what cannot be the same: who sent a signal (the child has another process number, and is sent it by its tracer); the trap
//! and its error code in a frame that no fault led to, where the child has those of its last single step; where the float
//! state is, that the host's goes on behind it, which bits of MXCSR the host has, and where its last x87 instruction was; and bytes
//! that Linux does not write, so that they are what the stack held before. Where the machine's fault lies beyond the end of a mapped file, the
//! child's is of another kind: it has no file there.

use std::io;
use std::ops::Range;

use lift::Reg;
use linux::Process;
use machine::{Interruption, InterruptionKind, Memory, Observer};

use super::native::Native;
use super::state::Difference;

/// What a handler's frame is made of, from the stack pointer on: return address, ucontext, siginfo.
const CONTEXT: u64 = 8;
const INFORMATION: u64 = CONTEXT + 304;
const FRAME: usize = INFORMATION as usize + 128;
const FLOAT: usize = 512;
/// In a frame.
const CONTEXT_FLAGS: usize = 8;
const RAX: usize = 8 + 40 + 13 * 8;
const RIP: usize = 8 + 40 + 16 * 8;
const ERROR_AND_TRAP: Range<usize> = RIP + 24..RIP + 40;
/// For programs of old, and for those of today.
const MASKS: [usize; 2] = [RIP + 40, CONTEXT as usize + 296];
const FAULT_ADDRESS: Range<usize> = RIP + 48..RIP + 56;
const FLOAT_POINTER: Range<usize> = RIP + 56..RIP + 64;
/// After the flags of the alternate stack, and after the registers.
const UNWRITTEN: [Range<usize>; 2] = [36..40, RIP + 64..RIP + 128];
/// The host has saved more than the machine knows of.
const MORE_STATE: u8 = 1;
/// In the float state: where the last x87 instruction was, which bits of MXCSR there are, and what the kernel knows of the rest.
const LAST_INSTRUCTION: Range<usize> = 6..24;
const MXCSR_MASK: Range<usize> = 28..32;
const RESERVED: Range<usize> = 416..512;

/// Collects the handlers that the machine's kernel enters.
#[derive(Default)]
pub struct Entered(pub Vec<Interruption>);

impl Observer for Entered {
    fn interruption(&mut self, interruption: &Interruption) {
        if matches!(interruption.kind, InterruptionKind::Entered { .. }) {
            self.0.push(interruption.clone());
        }
    }
}

impl Entered {
    /// Result and next instruction of the system call after which the first handler was entered.
    pub fn interrupted_call(&self, memory: &Memory) -> Option<(u64, u64)> {
        let InterruptionKind::Entered { slot, .. } = self.0.first()?.kind else { return None };
        let mut frame = [0; FRAME];
        memory.peek(slot, &mut frame);
        Some((word(&frame, RAX), word(&frame, RIP)))
    }

    /// Has the child's kernel enter the same handlers, and tells in what the frames differ. The child may have `raised` a signal
    /// itself.
    pub fn follow(
        &self,
        process: &Process,
        native: &mut Native,
        raised: Option<i32>,
    ) -> io::Result<Vec<Difference>> {
        let mut found = Vec::new();
        for interruption in &self.0 {
            let InterruptionKind::Entered { signal, slot, fault, .. } = interruption.kind else { continue };
            let is_raised = fault && raised.is_some();
            let blocked = if native.enter_handler(signal, is_raised)? { 1 << (signal - 1) } else { 0 };
            let is_informed = interruption.written.iter().any(|range| range.contains(&(slot + INFORMATION)));
            let kind = Kind { is_fault: fault && raised == Some(signal), is_informed, blocked };
            found.extend(compare(&process.machine.memory, native, slot, kind)?);
            replace(&process.machine.memory, native, slot)?;
        }
        Ok(found)
    }
}

/// What is known of a handler that was entered.
struct Kind {
    /// A fault, which raised the same signal on both sides.
    is_fault: bool,
    /// It is given a siginfo.
    is_informed: bool,
    /// What the child's mask lacks.
    blocked: u64,
}

/// The machine's frame at `slot` and the child's, which its stack pointer leads to.
fn compare(memory: &Memory, native: &Native, slot: u64, kind: Kind) -> io::Result<Vec<Difference>> {
    let registers = native.registers()?;
    let (mut ours, mut theirs) = ([0; FRAME], [0; FRAME]);
    memory.peek(slot, &mut ours);
    native.read(registers.rsp, &mut theirs)?;
    let mut found = Vec::new();
    let (mut our_float, mut their_float) = ([0; FLOAT], [0; FLOAT]);
    memory.peek(word(&ours, FLOAT_POINTER.start), &mut our_float);
    native.read(word(&theirs, FLOAT_POINTER.start), &mut their_float)?;
    for range in [LAST_INSTRUCTION, MXCSR_MASK, RESERVED] {
        exempt(&mut our_float, &mut their_float, range);
    }
    difference("float state in the frame", &our_float, &their_float, &mut found);
    for (name, value, offset) in
        [("information", registers.rsi, INFORMATION), ("context", registers.rdx, CONTEXT)]
    {
        let place = value.wrapping_sub(registers.rsp);
        difference(name, &offset.to_le_bytes(), &place.to_le_bytes(), &mut found);
    }
    theirs[CONTEXT_FLAGS] &= !MORE_STATE;
    for at in MASKS {
        let mask = word(&theirs, at) | kind.blocked;
        theirs[at..at + 8].copy_from_slice(&mask.to_le_bytes());
    }
    UNWRITTEN.into_iter().chain([FLOAT_POINTER]).for_each(|range| exempt(&mut ours, &mut theirs, range));
    if !kind.is_fault {
        exempt(&mut ours, &mut theirs, ERROR_AND_TRAP);
        exempt(&mut ours, &mut theirs, FAULT_ADDRESS);
    }
    if !(kind.is_fault && kind.is_informed) {
        exempt(&mut ours, &mut theirs, INFORMATION as usize..FRAME);
    }
    difference("frame of a signal", &ours, &theirs, &mut found);
    Ok(found)
}

/// Gives the child the machine's frame, and puts back what its own lies on.
fn replace(memory: &Memory, native: &Native, slot: u64) -> io::Result<()> {
    let mut registers = native.registers()?;
    let float = native.read_word(registers.rsp + FLOAT_POINTER.start as u64)?;
    // The kernel says behind the registers how much it has saved in all.
    let saved = (native.read_word(float + RESERVED.end as u64 - 48)? >> 32).clamp(FLOAT as u64, MOST_SAVED);
    let mut our_float = [0; 8];
    memory.peek(slot + FLOAT_POINTER.start as u64, &mut our_float);
    let end = (float + saved).max(u64::from_le_bytes(our_float) + FLOAT as u64);
    let start = registers.rsp.min(slot);
    let mut bytes = vec![0; end.saturating_sub(start).min(2 * MOST_SAVED) as usize];
    let present = memory.peek(start, &mut bytes);
    native.write(start, &bytes[..present])?;
    registers.rsp = slot;
    registers.rsi = slot + INFORMATION;
    registers.rdx = slot + CONTEXT;
    native.set_registers(registers)
}

/// More than any host saves.
const MOST_SAVED: u64 = 16 << 10;

fn exempt(ours: &mut [u8], theirs: &mut [u8], range: Range<usize>) {
    ours[range.clone()].fill(0);
    theirs[range].fill(0);
}

fn difference(what: &str, ours: &[u8], theirs: &[u8], found: &mut Vec<Difference>) {
    let Some(at) = ours.iter().zip(theirs).position(|(a, b)| a != b) else { return };
    let shown = |bytes: &[u8]| format!("{:02x?}", &bytes[at..bytes.len().min(at + 16)]);
    found.push(Difference {
        what: format!("{what}, byte {at}"),
        machine: shown(ours),
        native: shown(theirs),
    });
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Whether this system call returns from a handler.
pub fn is_return(process: &Process) -> bool {
    process.machine.cpu.get(Reg::RAX) == libc::SYS_rt_sigreturn as u64
}
