//! Each pair in a block of its own, in states in which either instruction may fault, cross pages or be left alone: the fast executor
//! must do as the reference executor does.

use super::*;
use crate::block::CodeSpace;
use crate::{Backing, Machine, Memory, Observer, Permissions, Region, Stop, Time, Unwatched};
use iced_x86::IcedError;
use iced_x86::code_asm::*;
use lift::Reg;
use std::collections::HashSet;

const CODE: u64 = 0x40_0000;
const DATA: u64 = 0x60_0000;
const DATA_BYTES: u64 = 0x2000;
const STACK: u64 = 0x7f_0000;

type Sample = fn(&mut CodeAssembler, CodeLabel) -> Result<(), IcedError>;

/// An instruction for each step of a pair. Those that jump do so to the label.
const SAMPLES: [Sample; 60] = [
    |a, _| a.mov(rax, rcx),
    |a, _| a.mov(eax, 77),
    |a, _| a.xor(eax, eax),
    |a, _| a.movzx(eax, cl),
    |a, _| a.mov(eax, ecx),
    |a, _| a.movsxd(rax, ecx),
    |a, _| a.movzx(eax, byte_ptr(rbx + 1)),
    |a, _| a.movzx(eax, byte_ptr(rbx + rdi + 1)),
    |a, _| a.movzx(eax, word_ptr(rbx + rdi * 2)),
    |a, _| a.mov(eax, dword_ptr(rbx + 4)),
    |a, _| a.mov(eax, dword_ptr(rsp + 4)),
    |a, _| a.mov(rbx, qword_ptr(rbx + 8)),
    |a, _| a.mov(rbx, qword_ptr(rsp + 8)),
    |a, _| a.mov(rbx, qword_ptr(rbp - 8)),
    |a, _| a.mov(dword_ptr(rbx + 4), ecx),
    |a, _| a.mov(qword_ptr(rbx + 8), rcx),
    |a, _| a.mov(qword_ptr(rsp + 8), rcx),
    |a, _| a.lea(eax, ptr(rbx + 3)),
    |a, _| a.lea(eax, ptr(rbx + rcx)),
    |a, _| a.lea(rbx, ptr(rbx + 3)),
    |a, _| a.lea(rax, ptr(rbx + rcx * 4)),
    |a, _| a.lea(rax, ptr(rbx + rcx)),
    |a, _| a.add(eax, ecx),
    |a, _| a.add(rax, rcx),
    |a, _| a.sub(eax, ecx),
    |a, _| a.sub(rax, rcx),
    |a, _| a.xor(eax, ecx),
    |a, _| a.add(rbx, 5),
    |a, _| a.sub(eax, 5),
    |a, _| a.sub(rbx, 5),
    |a, _| a.and(edi, 63),
    |a, _| a.shl(rax, 7),
    |a, _| a.shr(eax, 7),
    |a, _| a.push(rcx),
    |a, _| a.pop(rbx),
    |a, to| a.jmp(to),
    |a, to| a.call(to),
    |a, _| a.ret(),
    |a, to| a.je(to),
    |a, to| a.jne(to),
    |a, to| a.cmp(eax, ecx).and_then(|()| a.jae(to)),
    |a, to| a.cmp(eax, 77).and_then(|()| a.jbe(to)),
    |a, to| a.cmp(byte_ptr(rbx + rdi), cl).and_then(|()| a.jne(to)),
    |a, to| a.test(eax, eax).and_then(|()| a.je(to)),
    |a, to| a.test(rbx, rbx).and_then(|()| a.je(to)),
    |a, _| a.movzx(eax, word_ptr(rbx + 2)),
    |a, _| a.mov(eax, dword_ptr(rbx + rdi * 4)),
    |a, _| a.mov(rbx, qword_ptr(rbx + rdi)),
    |a, _| a.mov(qword_ptr(rbp - 8), rcx),
    |a, _| a.and(eax, ecx),
    |a, _| a.add(eax, 5),
    |a, _| a.shl(eax, 7),
    |a, _| a.cmovbe(eax, ecx),
    |a, _| a.jmp(rcx),
    |a, to| a.cmp(al, cl).and_then(|()| a.jne(to)),
    |a, to| a.cmp(rax, rcx).and_then(|()| a.jne(to)),
    |a, to| a.test(rbx, rbx).and_then(|()| a.jne(to)),
    |a, _| a.mov(rbx, rsp),
    |a, _| a.mov(rsp, rcx),
    |a, _| a.mov(rbp, rbx),
];

/// A block whose flags are known from its first instruction on, which is in no pair.
fn block_of(first: Sample, second: Sample) -> Result<Vec<u8>, IcedError> {
    let mut assembler = CodeAssembler::new(64)?;
    let mut end = assembler.create_label();
    assembler.cmp(esi, edx)?;
    first(&mut assembler, end)?;
    second(&mut assembler, end)?;
    assembler.ud2()?;
    assembler.set_label(&mut end)?;
    assembler.ud2()?;
    assembler.assemble(CODE)
}

fn region(start: u64, length: u64, permissions: Permissions) -> Region {
    let (backing, name) = (Backing::Zero, "".into());
    Region { start, end: start + length, permissions, backing, name, shared: false }
}

fn machine_with(code: &[u8]) -> Machine {
    let mut memory = Memory::new(1 << 24);
    memory.map(region(CODE, 0x1000, Permissions::RX));
    memory.map(region(DATA, DATA_BYTES, Permissions::RW));
    memory.map(region(DATA + DATA_BYTES, 0x1000, Permissions::R));
    memory.map(region(STACK, 0x1000, Permissions::RW));
    memory.poke(CODE, code).expect("the code is mapped");
    // So that what is loaded can be an address, or lead to one.
    for at in (DATA..DATA + DATA_BYTES).step_by(8) {
        memory.poke(at, &(at ^ 0x68).to_le_bytes()).expect("the data is mapped");
    }
    Machine::new(memory)
}

struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }

    fn pick(&mut self, values: &[u64]) -> u64 {
        values[(self.word() >> 33) as usize % values.len()]
    }
}

/// Registers at the corners of numbers, of pages and of what is mapped.
fn set_registers(machine: &mut Machine, random: &mut Random) {
    let numbers = [0, 1, 77, 0x7fff_ffff, 0x8000_0000, u64::MAX, DATA + 0x20, random.word()];
    let [data, last] = [DATA + 0x40, DATA + DATA_BYTES];
    let pointers =
        [data, data, data + 8, DATA + 0xffc, DATA + 0xfff, last - 8, last - 4, last, last + 0xffc, 0];
    let stacks =
        [STACK + 0x800, STACK + 0x800, STACK + 0x801, STACK, STACK + 8, STACK + 0xff8, STACK + 0x1000];
    let cpu = &mut machine.cpu;
    for register in [Reg::RAX, Reg::RCX, Reg::RDX, Reg::RSI] {
        cpu.set(register, random.pick(&numbers));
    }
    cpu.set(Reg::RBX, random.pick(&pointers));
    cpu.set(Reg::RDI, random.pick(&[0, 0, 3, 8, u64::MAX, 1 << 40]));
    cpu.set(Reg::RSP, random.pick(&stacks));
    cpu.set(Reg::RBP, random.pick(&stacks));
    cpu.set_rflags(random.word() & 0x8d5);
    cpu.rip = CODE;
}

struct Idle;
impl Observer for Idle {}

/// The run is long enough for the block, and for its end if that is reached.
fn outcome(machine: &mut Machine, watched: bool) -> (Stop, Time, u64, u64) {
    let until = Time(machine.time.0 + 6);
    let stop = match watched {
        true => machine.run(until, &mut Idle),
        false => machine.run(until, &mut Unwatched),
    };
    (stop, machine.time, machine.state_hash(), machine.cpu.rip)
}

/// The handlers of pairs in the block at the start of the code.
fn pairs_in(machine: &Machine) -> Vec<usize> {
    let space = CodeSpace::default();
    let Ok(block) = space.block_at(CODE, &machine.memory) else { panic!("the code can be fetched") };
    // SAFETY: the block is as alive as its space.
    let block = unsafe { &*block };
    // SAFETY: after the header come as many codes as there are origins.
    let handler = |index| unsafe { (*block.codes.header().add(1 + index)).handler as usize };
    let known: HashSet<usize> = PAIRS.values().map(|&pair| pair as usize).collect();
    (0..block.origins.len()).map(handler).filter(|handler| known.contains(handler)).collect()
}

#[test]
fn pairs_do_what_their_instructions_do() {
    let mut random = Random(1);
    let mut seen = HashSet::new();
    for (number, &first) in SAMPLES.iter().enumerate() {
        for (other, &second) in SAMPLES.iter().enumerate() {
            let Ok(code) = block_of(first, second) else { continue };
            let mut machines = [machine_with(&code), machine_with(&code)];
            seen.extend(pairs_in(&machines[0]));
            // In the same machines, so that pages are known from the second time on.
            for round in 0..24 {
                let seed = random.word();
                let outcomes = [false, true].map(|watched| {
                    let machine = &mut machines[usize::from(watched)];
                    set_registers(machine, &mut Random(seed));
                    outcome(machine, watched)
                });
                assert_eq!(
                    outcomes[0], outcomes[1],
                    "samples {number} and {other}, round {round}: {code:x?}"
                );
            }
        }
    }
    let missing: Vec<_> = PAIRS.iter().filter(|(_, pair)| !seen.contains(&(**pair as usize))).collect();
    assert_eq!(missing.len(), 0, "of {} pairs {missing:?}", PAIRS.len());
}
