//! Walking up the stack of a stopped guest.
//!
//! The stack may be smashed and the tables hostile. Every step must move up the stack (a signal
//! frame may switch stacks once), and the number of steps is bounded, so a walk always ends and
//! says how.

use gimli::X86_64;

use crate::program::Program;
use crate::stack_height;

/// DWARF's numbers of the general registers, in encoding order.
pub(crate) const GENERAL: [u16; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];

/// Register values in DWARF's numbering; what nobody can know any more is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    values: [Option<u64>; Registers::COUNT as usize],
}

impl Registers {
    /// Sixteen general registers and the return address.
    pub(crate) const COUNT: u16 = 17;

    /// `general` is in encoding order: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
    pub fn new(rip: u64, general: [u64; 16]) -> Registers {
        let mut registers = Registers::unknown();
        for (number, value) in GENERAL.into_iter().zip(general) {
            registers.set(number, Some(value));
        }
        registers.set(X86_64::RA.0, Some(rip));
        registers
    }

    pub(crate) fn unknown() -> Registers {
        Registers { values: [None; Registers::COUNT as usize] }
    }

    /// By DWARF number; 16 is the instruction pointer.
    pub fn get(&self, number: u16) -> Option<u64> {
        self.values.get(usize::from(number)).copied().flatten()
    }

    pub(crate) fn set(&mut self, number: u16, value: Option<u64>) {
        if let Some(slot) = self.values.get_mut(usize::from(number)) {
            *slot = value;
        }
    }

    pub fn rip(&self) -> Option<u64> {
        self.get(X86_64::RA.0)
    }

    pub fn rsp(&self) -> Option<u64> {
        self.get(X86_64::RSP.0)
    }

    pub fn rbp(&self) -> Option<u64> {
        self.get(X86_64::RBP.0)
    }
}

/// How a frame was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It is where the guest stopped.
    Innermost,
    /// By call frame information.
    CallFrames,
    /// The callee has no call frame information; by what its code does to the stack on the way to its return.
    StackHeight,
    /// Neither call frame information nor the callee's code tells; by the chain of saved frame pointers.
    FramePointer,
    /// The callee is no code at all: a call through a bad pointer, whose return address is on
    /// top of the stack.
    BadCall,
    /// The function has left the stack: its last call was a jump. By the call sites of debug information. Its frame is as it was
    /// at the jump; the frame after it in a backtrace is not always its caller, when jumps between the two could have been
    /// others.
    TailCall,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Where this frame is: the instruction that stopped, or the one that a call returns to.
    pub address: u64,
    /// The address to look up: inside of the calling instruction, since a call may be the last
    /// instruction of its line or even of its function.
    pub lookup: u64,
    pub registers: Registers,
    pub rule: Rule,
}

/// Why a backtrace has no more frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The outermost function, by its own saying.
    Outermost,
    /// As many frames as were asked for.
    Bound,
    /// Nothing says who called the last frame.
    Unknown,
    /// What the tables say about the last frame's caller cannot be: memory that is not mapped,
    /// or a stack that does not move up.
    Broken,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backtrace {
    /// Innermost first; never empty.
    pub frames: Vec<Frame>,
    pub end: End,
}

/// The guest's memory as a debugger sees it: fills the buffer, or says that it cannot.
pub(crate) struct Memory<'a> {
    pub read: &'a mut dyn FnMut(u64, &mut [u8]) -> bool,
}

impl Memory<'_> {
    pub fn read_u64(&mut self, address: u64) -> Option<u64> {
        self.read_uint(address, 8)
    }

    /// Little-endian; `size` up to 8.
    pub fn read_uint(&mut self, address: u64, size: u8) -> Option<u64> {
        let mut buffer = [0; 8];
        let bytes = buffer.get_mut(..usize::from(size))?;
        (self.read)(address, bytes).then(|| u64::from_le_bytes(buffer))
    }
}

/// `left` tells the frames between a frame and the one that it returns to.
pub(crate) fn backtrace(
    program: &Program,
    registers: &Registers,
    most: usize,
    memory: &mut Memory,
    left: impl Fn(&Frame, &Frame) -> Vec<Frame>,
) -> Backtrace {
    let start = registers.rip().unwrap_or(0);
    let mut frames =
        vec![Frame { address: start, lookup: start, registers: *registers, rule: Rule::Innermost }];
    let mut frame = frames[0].clone();
    let end = loop {
        if frames.len() >= most {
            break End::Bound;
        }
        let next = match caller(program, &frame, memory) {
            Ok(next) => next,
            Err(end) => break end,
        };
        let room = most - frames.len();
        frames.extend(left(&frame, &next).into_iter().take(room));
        if frames.len() >= most {
            break End::Bound;
        }
        frames.push(next.clone());
        frame = next;
    };
    Backtrace { frames, end }
}

pub(crate) fn caller(program: &Program, frame: &Frame, memory: &mut Memory) -> Result<Frame, End> {
    let stack = frame.registers.rsp().ok_or(End::Unknown)?;
    let placed = program.place(frame.lookup);
    if let Some((object, bias)) = placed {
        let address = frame.lookup.wrapping_sub(bias);
        let frames = object.call_frames();
        if let Some(found) = frames.caller(address, bias, &frame.registers, memory) {
            return by_tables(stack, found);
        }
        if frames.range(address).is_some() {
            return Err(End::Broken);
        }
    }
    let is_code = placed.is_some_and(|(object, bias)| object.is_code(frame.lookup.wrapping_sub(bias)));
    if frame.rule == Rule::Innermost && !is_code {
        return by_bad_call(program, frame, stack, memory);
    }
    if let Some(found) = stack_height::caller(program, frame, memory) {
        return Ok(found);
    }
    by_frame_pointer(program, frame, stack, memory)
}

fn by_tables(stack: u64, found: crate::cfi::Caller) -> Result<Frame, End> {
    // The outermost function declares its return address undefined; some set it to zero.
    let Some(address) = found.registers.rip().filter(|address| *address != 0) else {
        return Err(End::Outermost);
    };
    let moved_up = found.registers.rsp().is_some_and(|new| new > stack);
    if !moved_up && !found.is_signal_frame {
        return Err(End::Broken);
    }
    let lookup = if found.is_signal_frame { address } else { address - 1 };
    Ok(Frame { address, lookup, registers: found.registers, rule: Rule::CallFrames })
}

fn by_bad_call(program: &Program, frame: &Frame, stack: u64, memory: &mut Memory) -> Result<Frame, End> {
    let address = memory.read_u64(stack).ok_or(End::Broken)?;
    let mut registers = frame.registers;
    registers.set(X86_64::RSP.0, Some(stack.wrapping_add(8)));
    returned(program, address, registers, Rule::BadCall)
}

fn by_frame_pointer(program: &Program, frame: &Frame, stack: u64, memory: &mut Memory) -> Result<Frame, End> {
    let base = frame.registers.rbp().filter(|base| *base >= stack).ok_or(End::Unknown)?;
    let saved = memory.read_u64(base).ok_or(End::Unknown)?;
    let address = memory.read_u64(base.wrapping_add(8)).ok_or(End::Unknown)?;
    let mut registers = Registers::unknown();
    registers.set(X86_64::RSP.0, Some(base.checked_add(16).ok_or(End::Unknown)?));
    registers.set(X86_64::RBP.0, Some(saved));
    returned(program, address, registers, Rule::FramePointer)
}

/// A guessed return address counts only when there is code before it.
fn returned(program: &Program, address: u64, mut registers: Registers, rule: Rule) -> Result<Frame, End> {
    let lookup = address.checked_sub(1).ok_or(End::Unknown)?;
    let (object, bias) = program.place(lookup).ok_or(End::Unknown)?;
    if !object.is_code(lookup.wrapping_sub(bias)) {
        return Err(End::Unknown);
    }
    registers.set(X86_64::RA.0, Some(address));
    Ok(Frame { address, lookup, registers, rule })
}
