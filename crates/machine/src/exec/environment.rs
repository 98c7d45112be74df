//! The x87 state in the forms in which it is saved. The addresses of the last instruction and of its operand, and its opcode, are
//! not kept: zeroes stand for them. (Some processors do not save them either, unless there is an exception.)

use crate::Cpu;
use lift::x87::INITIAL_CONTROL;
use lift::{ENVIRONMENT_BYTES, FNSAVE_BYTES, FXSAVE_BYTES, Reg};

const ENVIRONMENT: usize = ENVIRONMENT_BYTES as usize;
const ALL: usize = FNSAVE_BYTES as usize;
const REGISTER: usize = 10;
/// Where the parts of what fxsave stores are.
const MXCSR_OFFSET: usize = 24;
const X87_OFFSET: usize = 32;
const XMM_OFFSET: usize = 160;
const FXSAVE_WRITTEN: usize = lift::FXSAVE_WRITTEN as usize;
/// All MXCSR bits that can be set.
const MXCSR_MASK: u32 = 0xffff;
/// The upper half of each word of 32 bits is set.
const UPPER: u32 = 0xffff_0000;
/// All exceptions.
const MASKS: u64 = 0x3f;
/// The bits of the control word that exist, and the one that is always set.
const CONTROL_BITS: u64 = 0x1f3f;
const CONTROL_FIXED: u64 = 0x40;

/// As after fninit.
pub fn reset(cpu: &mut Cpu) {
    set_top(cpu, 0);
    cpu.set(Reg::X87_CONTROL, INITIAL_CONTROL);
    cpu.set_x87_status(0);
    for n in 0..8 {
        let value = cpu.extended(n);
        cpu.set_extended(n, value, false);
    }
}

pub fn mask_all(cpu: &mut Cpu) {
    let control = cpu.get(Reg::X87_CONTROL);
    cpu.set(Reg::X87_CONTROL, control | MASKS);
}

/// What fnstenv stores.
pub fn saved(cpu: &Cpu) -> [u8; ENVIRONMENT] {
    let words = [cpu.get(Reg::X87_CONTROL) as u16, cpu.x87_status(), tag_word(cpu)];
    let mut area = [0; ENVIRONMENT];
    let (chunks, _) = area.as_chunks_mut::<4>();
    for (chunk, word) in chunks.iter_mut().zip(words) {
        *chunk = (UPPER | u32::from(word)).to_le_bytes();
    }
    // Of the segment of the operand, which follows the others.
    if let Some(last) = chunks.last_mut() {
        *last = UPPER.to_le_bytes();
    }
    area
}

pub fn saved_with_registers(cpu: &Cpu) -> [u8; ALL] {
    let mut area = [0; ALL];
    let (environment, registers) = area.split_at_mut(ENVIRONMENT);
    environment.copy_from_slice(&saved(cpu));
    for (n, register) in (0..).zip(registers.chunks_exact_mut(REGISTER)) {
        register.copy_from_slice(&cpu.extended(n).to_le_bytes()[..REGISTER]);
    }
    area
}

/// As fldenv does: registers keep their places, the top moves.
pub fn restore(cpu: &mut Cpu, area: &[u8; ENVIRONMENT]) {
    let word = |n: usize| u16::from_le_bytes([area[4 * n], area[4 * n + 1]]);
    let (control, status, tags) = (word(0), word(1), word(2));
    set_control(cpu, control);
    set_top(cpu, u64::from(status) >> 11 & 7);
    cpu.set_x87_status(status);
    for n in 0..8 {
        let physical = (cpu.get(Reg::X87_TOP) + u64::from(n)) % 8;
        let value = cpu.extended(n);
        cpu.set_extended(n, value, tags >> (2 * physical) & 3 != 3);
    }
}

pub fn restore_with_registers(cpu: &mut Cpu, area: &[u8; ALL]) {
    let (environment, registers) = area.split_at(ENVIRONMENT);
    if let Ok(environment) = environment.try_into() {
        restore(cpu, environment);
    }
    for (n, register) in (0..).zip(registers.chunks_exact(REGISTER)) {
        let in_use = cpu.is_in_use(n);
        cpu.set_extended(n, number(register), in_use);
    }
}

/// The first 24 bytes of what fxsave stores.
fn fxsave_head(cpu: &Cpu) -> [u8; 24] {
    let mut head = [0; 24];
    head[..2].copy_from_slice(&(cpu.get(Reg::X87_CONTROL) as u16).to_le_bytes());
    head[2..4].copy_from_slice(&cpu.x87_status().to_le_bytes());
    head[4] = cpu.x87_tags();
    head
}

impl Cpu {
    /// The x87 and SSE state as fxsave stores it, with zeroes in what it leaves alone.
    pub fn float_state(&self) -> [u8; FXSAVE_BYTES as usize] {
        let mut area = [0u8; FXSAVE_BYTES as usize];
        area[..MXCSR_OFFSET].copy_from_slice(&fxsave_head(self));
        for (n, chunk) in area[X87_OFFSET..XMM_OFFSET].chunks_exact_mut(16).enumerate() {
            chunk[..REGISTER].copy_from_slice(&self.extended(n as u8).to_le_bytes()[..REGISTER]);
        }
        let mxcsr = self.get(Reg::MXCSR) as u32;
        area[MXCSR_OFFSET..MXCSR_OFFSET + 4].copy_from_slice(&mxcsr.to_le_bytes());
        area[MXCSR_OFFSET + 4..MXCSR_OFFSET + 8].copy_from_slice(&MXCSR_MASK.to_le_bytes());
        for (n, chunk) in area[XMM_OFFSET..FXSAVE_WRITTEN].chunks_exact_mut(16).enumerate() {
            chunk.copy_from_slice(&self.xmm(n as u8).to_le_bytes());
        }
        area
    }

    /// Takes over what [`Cpu::float_state`] gave. False, and nothing is done, if MXCSR has bits that do not exist.
    #[must_use]
    pub fn set_float_state(&mut self, area: &[u8; FXSAVE_BYTES as usize]) -> bool {
        let mut mxcsr = [0u8; 4];
        mxcsr.copy_from_slice(&area[MXCSR_OFFSET..MXCSR_OFFSET + 4]);
        let mxcsr = u32::from_le_bytes(mxcsr);
        if mxcsr & !MXCSR_MASK != 0 {
            return false;
        }
        self.set(Reg::MXCSR, mxcsr as u64);
        restore_fxsave(self, &area[..XMM_OFFSET]);
        for (n, chunk) in area[XMM_OFFSET..FXSAVE_WRITTEN].chunks_exact(16).enumerate() {
            let mut bytes = [0u8; 16];
            bytes.copy_from_slice(chunk);
            self.set_xmm(n as u8, u128::from_le_bytes(bytes));
        }
        true
    }

    /// The x87 and SSE state as a process starts with it.
    pub fn reset_float_state(&mut self) {
        let fresh = Cpu::default();
        for n in 0..16 {
            self.set_xmm(n, 0);
        }
        for n in 0..8 {
            self.set_extended(n, 0, false);
        }
        for reg in [Reg::MXCSR, Reg::X87_CONTROL, Reg::X87_FLAGS, Reg::X87_CODES, Reg::X87_TOP] {
            self.set(reg, fresh.get(reg));
        }
    }
}

/// From the first 160 bytes of what fxsave stores.
fn restore_fxsave(cpu: &mut Cpu, area: &[u8]) {
    let (Some((head, _)), Some(registers)) = (area.split_first_chunk::<5>(), area.get(X87_OFFSET..)) else {
        return;
    };
    set_control(cpu, u16::from_le_bytes([head[0], head[1]]));
    let status = u16::from_le_bytes([head[2], head[3]]);
    cpu.set_x87_status(status);
    for (n, register) in (0..8).zip(registers.chunks_exact(16)) {
        let physical = (cpu.get(Reg::X87_TOP) + u64::from(n)) % 8;
        cpu.set_extended(n, number(&register[..REGISTER]), head[4] >> physical & 1 != 0);
    }
}

/// Two bits for each physical register: 0 for a number, 1 for zero, 2 for anything else, 3 for an empty one.
fn tag_word(cpu: &Cpu) -> u16 {
    (0..8).fold(0, |tags, n| {
        let physical = (cpu.get(Reg::X87_TOP) + u64::from(n)) % 8;
        tags | tag(cpu, n) << (2 * physical)
    })
}

fn tag(cpu: &Cpu, n: u8) -> u16 {
    let value = cpu.extended(n);
    let (exponent, significand) = ((value >> 64) as u16 & 0x7fff, value as u64);
    match (exponent, significand) {
        _ if !cpu.is_in_use(n) => 3,
        (0, 0) => 1,
        (0 | 0x7fff, _) => 2,
        (_, significand) if significand >> 63 == 0 => 2,
        _ => 0,
    }
}

fn set_control(cpu: &mut Cpu, control: u16) {
    cpu.set(Reg::X87_CONTROL, u64::from(control) & CONTROL_BITS | CONTROL_FIXED);
}

/// Moves the top while the physical registers stay where they are.
fn set_top(cpu: &mut Cpu, top: u64) {
    let first = Reg::st(0).index();
    let steps = (top.wrapping_sub(cpu.get(Reg::X87_TOP)) % 8) as usize;
    cpu.regs[first..first + 16].rotate_left(2 * steps);
    cpu.set(Reg::X87_TOP, top);
}

fn number(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u128::from(byte))
}
