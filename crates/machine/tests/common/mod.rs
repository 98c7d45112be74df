//! What the tests of whole machines share: a small program in a machine with data and a stack.

// Each test binary uses some of it.
#![allow(dead_code)]

use iced_x86::IcedError;
use iced_x86::code_asm::CodeAssembler;
use lift::{Op, Reg};
use machine::*;

pub const CODE: u64 = 0x40_0000;
pub const DATA: u64 = 0x60_0000;
pub const STACK_END: u64 = 0x80_0000;
pub const FOREVER: Time = Time(u64::MAX);

pub fn region(start: u64, length: u64, permissions: Permissions) -> Region {
    let (backing, name) = (Backing::Zero, "".into());
    Region { start, end: start + length, permissions, backing, name, shared: false }
}

/// A machine that is about to run `code`, with data and a stack.
pub fn machine_with(code: &[u8], permissions: Permissions) -> Machine {
    let mut memory = Memory::new(1 << 24);
    memory.map(region(CODE, 0x1000, permissions));
    memory.map(region(DATA, 0x4000, Permissions::RW));
    memory.map(region(STACK_END - 0x4000, 0x4000, Permissions::RW));
    memory.poke(CODE, code).unwrap();
    let mut machine = Machine::new(memory);
    machine.cpu.rip = CODE;
    machine.cpu.set(Reg::RSP, STACK_END - 64);
    machine
}

pub fn assembled(program: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    let mut assembler = CodeAssembler::new(64).unwrap();
    program(&mut assembler).unwrap();
    assembler.assemble(CODE).unwrap()
}

/// Watches without doing anything, which makes the machine use the reference executor.
pub struct Idle;
impl Observer for Idle {}

/// Runs to the end or to `until`, by the reference executor if `watched`.
pub fn run(machine: &mut Machine, until: Time, watched: bool) -> Stop {
    match watched {
        true => machine.run(until, &mut Idle),
        false => machine.run(until, &mut Unwatched),
    }
}

/// The address of every instruction that ran.
#[derive(Debug, Default)]
pub struct Addresses(pub Vec<u64>);
impl Observer for Addresses {
    fn instruction(&mut self, _: Time, address: u64, _: &[Op], _: &Cpu) {
        self.0.push(address);
    }
}
