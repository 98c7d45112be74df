//! What a case starts from and what it ends in, in the form that the processor reads and writes.
//!
//! Everything here is plain data of fixed layout: it lies in memory that is shared with the child
//! that executes the cases.

use super::layout::{LOW_BYTES, WRITABLE_BYTES};
use super::undefined::Undefined;
use iced_x86::Instruction;
use lift::MAX_INSTRUCTION;

/// All of the processor's user state that a case can see or change.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// In encoding order: rax, rcx, rdx, rbx, rsp, …
    pub general: [u64; 16],
    pub rip: u64,
    pub rflags: u64,
    pub float: FloatState,
}

/// The image that fxsave64 writes.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatState {
    pub control: u16,
    pub status: u16,
    pub tags: u16,
    pub opcode: u16,
    pub instruction: u64,
    pub data: u64,
    pub mxcsr: u32,
    pub mxcsr_mask: u32,
    pub stack: [u128; 8],
    pub xmm: [u128; 16],
    pub unused: [u128; 6],
}

/// All exceptions masked, round to nearest.
pub const DEFAULT_MXCSR: u32 = 0x1f80;

impl State {
    pub const fn zero() -> State {
        State {
            general: [0; 16],
            rip: 0,
            rflags: 0x202,
            float: FloatState {
                control: 0x37f,
                status: 0,
                tags: 0,
                opcode: 0,
                instruction: 0,
                data: 0,
                mxcsr: DEFAULT_MXCSR,
                mxcsr_mask: 0,
                stack: [0; 8],
                xmm: [0; 16],
                unused: [0; 6],
            },
        }
    }
}

/// Bytes that are put into the scratch memory before a case.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    /// Into the image; see [`super::layout::address_of`].
    pub offset: u32,
    pub length: u32,
    pub bytes: [u8; 32],
}

pub const MAX_PATCHES: usize = 4;

/// The patches of one case.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Patches {
    count: u32,
    list: [Patch; MAX_PATCHES],
}

impl Patches {
    pub const fn none() -> Patches {
        Patches { count: 0, list: [Patch { offset: 0, length: 0, bytes: [0; 32] }; MAX_PATCHES] }
    }

    /// Adds a patch; where there is no room left, it is dropped.
    pub fn add(&mut self, offset: usize, content: &[u8]) {
        let (count, length) = (self.count as usize, content.len());
        if count == MAX_PATCHES || length > 32 || offset + length > WRITABLE_BYTES {
            return;
        }
        self.list[count].offset = offset as u32;
        self.list[count].length = length as u32;
        self.list[count].bytes[..length].copy_from_slice(content);
        self.count += 1;
    }

    pub fn iter(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let count = (self.count as usize).min(MAX_PATCHES);
        self.list[..count].iter().map(|patch| {
            let length = (patch.length as usize).min(patch.bytes.len());
            (patch.offset as usize, &patch.bytes[..length])
        })
    }
}

/// One case: an instruction, or a few in a row, with everything that they can depend on.
#[derive(Clone, Debug)]
pub struct Case {
    pub index: u64,
    pub steps: Vec<Step>,
    pub input: State,
    pub patches: Patches,
    /// The flags that are not defined after the last step.
    pub undefined: Undefined,
}

/// One instruction of a case.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub bytes: [u8; MAX_INSTRUCTION],
    /// The same, decoded at its address.
    pub instruction: Instruction,
    /// The flags that are not defined before it.
    pub undefined: Undefined,
}

impl Step {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.instruction.len()]
    }
}

impl Case {
    /// The address after the last instruction.
    pub fn next_rip(&self) -> u64 {
        self.steps.last().map_or(self.input.rip, |step| step.instruction.next_ip())
    }

    /// Whether rip is at one of the case's instructions.
    pub fn contains(&self, rip: u64) -> bool {
        (self.input.rip..self.next_rip()).contains(&rip)
    }

    /// The instruction at rip; the last one where it is at none.
    pub fn step_at(&self, rip: u64) -> Option<&Step> {
        self.steps.iter().find(|step| step.instruction.ip() == rip).or(self.steps.last())
    }
}

/// How an instruction failed, in the terms that both sides can tell apart.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    DivideError,
    Breakpoint,
    InvalidOpcode,
    /// #GP, and #SS: which of the two a non-canonical address raises depends on the base register
    /// only, and a signal handler sees no address with either.
    Protection,
    PageFault,
    AlignmentCheck,
    FloatException,
    Other,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// Of a page fault; otherwise 0.
    pub address: u64,
    /// Of a page fault: whether it was a write.
    pub write: bool,
}

impl Fault {
    pub const fn without_address(kind: FaultKind) -> Fault {
        Fault { kind, address: 0, write: false }
    }
}

/// A piece of scratch memory that differs from the image.
pub const CHUNK: usize = 32;
const MAX_CHUNKS: usize = 48;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub offset: u32,
    pub bytes: [u8; CHUNK],
}

/// What differs from the image after a case. A long string instruction can change more than the
/// list holds; a hash of everything stands for the rest.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Changes {
    count: u32,
    hash: u64,
    chunks: [Chunk; MAX_CHUNKS],
}

impl PartialEq for Changes {
    fn eq(&self, other: &Changes) -> bool {
        self.count == other.count && self.hash == other.hash && self.chunks() == other.chunks()
    }
}

impl Changes {
    pub const fn none() -> Changes {
        Changes { count: 0, hash: 0, chunks: [Chunk { offset: 0, bytes: [0; CHUNK] }; MAX_CHUNKS] }
    }

    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks[..(self.count as usize).min(MAX_CHUNKS)]
    }

    /// Whether there were more changes than the list holds.
    pub fn overflowed(&self) -> bool {
        self.count as usize > MAX_CHUNKS
    }

    pub fn clear(&mut self) {
        self.count = 0;
        self.hash = 0;
    }

    /// Compares a part of the scratch memory, `base` bytes into the image, with the image, puts
    /// the image back, and tells `restored` where (by offset into the image). Runs in the child
    /// too: nothing here may allocate.
    pub fn collect(&mut self, base: usize, now: &mut [u8], image: &[u8], mut restored: impl FnMut(usize)) {
        const BLOCK: usize = 256;
        for (block, (now, image)) in now.chunks_exact_mut(BLOCK).zip(image.chunks_exact(BLOCK)).enumerate() {
            if now == image {
                continue;
            }
            let pieces = now.chunks_exact_mut(CHUNK).zip(image.chunks_exact(CHUNK));
            for (piece, (now, image)) in pieces.enumerate() {
                if now != image {
                    let offset = base + block * BLOCK + piece * CHUNK;
                    self.record(offset, now);
                    now.copy_from_slice(image);
                    restored(offset);
                }
            }
        }
    }

    fn record(&mut self, offset: usize, new: &[u8]) {
        if let Some(chunk) = self.chunks.get_mut(self.count as usize) {
            chunk.offset = offset as u32;
            chunk.bytes.copy_from_slice(new);
        } else {
            for word in new.chunks_exact(8) {
                let word = word.iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
                self.hash =
                    (self.hash ^ word ^ offset as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
            }
        }
        self.count += 1;
    }
}

/// What a case ended in.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    pub state: State,
    /// Whether an instruction of the case faulted; rip is at it then.
    pub fault: Option<Fault>,
    /// How the place that the case jumped to faulted, where that is known.
    pub landing: Option<Fault>,
    pub changes: Changes,
}

const _: () = assert!(size_of::<FloatState>() == 512 && LOW_BYTES < WRITABLE_BYTES);
