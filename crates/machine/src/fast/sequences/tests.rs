//! Each sequence in a block of its own, in states in which any of its instructions may fault, cross pages or be left alone: the fast executor
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

/// The numbers of the registers that an instruction works on, by the fields of its code.
#[derive(Clone, Copy)]
struct Operands {
    target: usize,
    base: usize,
    index: usize,
    source: usize,
}

impl Operands {
    const FIRST: Operands = Operands { target: 0, base: 3, index: 7, source: 1 };
    const SECOND: Operands = Operands { target: 2, base: 3, index: 7, source: 6 };
    const THIRD: Operands = Operands { target: 8, base: 3, index: 7, source: 6 };

    /// Itself, and with each operand the target of what comes before.
    fn after(self, before: Operands) -> [Operands; 5] {
        let made = before.target;
        [
            self,
            Operands { target: made, ..self },
            Operands { base: made, ..self },
            Operands { index: made, ..self },
            Operands { source: made, ..self },
        ]
    }

    fn address(self) -> AsmRegister64 {
        wide(self.base)
    }
}

fn wide(number: usize) -> AsmRegister64 {
    [rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8][number]
}

fn half(number: usize) -> AsmRegister32 {
    [eax, ecx, edx, ebx, esp, ebp, esi, edi, r8d][number]
}

fn byte(number: usize) -> AsmRegister8 {
    [al, cl, dl, bl, spl, bpl, sil, dil, r8b][number]
}

type Sample = fn(&mut CodeAssembler, Operands, CodeLabel) -> Result<(), IcedError>;

/// An instruction for each step of a sequence. Those that jump do so to the label.
const SAMPLES: [Sample; 66] = [
    |a, o, _| a.mov(wide(o.target), wide(o.source)),
    |a, o, _| a.mov(half(o.target), 77),
    |a, o, _| a.xor(half(o.target), half(o.target)),
    |a, o, _| a.movzx(half(o.target), byte(o.source)),
    |a, o, _| a.mov(half(o.target), half(o.source)),
    |a, o, _| a.movsxd(wide(o.target), half(o.source)),
    |a, o, _| a.movzx(half(o.target), byte_ptr(o.address() + 1)),
    |a, o, _| a.movzx(half(o.target), byte_ptr(o.address() + wide(o.index) + 1)),
    |a, o, _| a.movzx(half(o.target), word_ptr(o.address() + wide(o.index) * 2)),
    |a, o, _| a.movzx(half(o.target), word_ptr(o.address() + 2)),
    |a, o, _| a.mov(half(o.target), dword_ptr(o.address() + 4)),
    |a, o, _| a.mov(half(o.target), dword_ptr(rsp + 4)),
    |a, o, _| a.mov(half(o.target), dword_ptr(rbp - 4)),
    |a, o, _| a.mov(half(o.target), dword_ptr(o.address() + wide(o.index) * 4)),
    |a, o, _| a.mov(wide(o.target), qword_ptr(o.address() + 8)),
    |a, o, _| a.mov(wide(o.target), qword_ptr(rsp + 8)),
    |a, o, _| a.mov(wide(o.target), qword_ptr(rbp - 8)),
    |a, o, _| a.mov(wide(o.target), qword_ptr(o.address() + wide(o.index))),
    |a, o, _| a.mov(dword_ptr(o.address() + 4), half(o.target)),
    |a, o, _| a.mov(dword_ptr(rsp + 4), half(o.target)),
    |a, o, _| a.mov(dword_ptr(rbp - 4), half(o.target)),
    |a, o, _| a.mov(qword_ptr(o.address() + 8), wide(o.target)),
    |a, o, _| a.mov(qword_ptr(rsp + 8), wide(o.target)),
    |a, o, _| a.mov(qword_ptr(rbp - 8), wide(o.target)),
    |a, o, _| a.lea(half(o.target), ptr(o.address() + 3)),
    |a, o, _| a.lea(half(o.target), ptr(o.address() + wide(o.index))),
    |a, o, _| a.lea(wide(o.target), ptr(o.address() + 3)),
    |a, o, _| a.lea(wide(o.target), ptr(o.address() + wide(o.index) * 4)),
    |a, o, _| a.lea(wide(o.target), ptr(o.address() + wide(o.index))),
    |a, o, _| a.add(half(o.target), half(o.source)),
    |a, o, _| a.add(wide(o.target), wide(o.source)),
    |a, o, _| a.sub(half(o.target), half(o.source)),
    |a, o, _| a.sub(wide(o.target), wide(o.source)),
    |a, o, _| a.and(half(o.target), half(o.source)),
    |a, o, _| a.xor(half(o.target), half(o.source)),
    |a, o, _| a.add(half(o.target), 5),
    |a, o, _| a.add(wide(o.target), 5),
    |a, o, _| a.sub(half(o.target), 5),
    |a, o, _| a.sub(wide(o.target), 5),
    |a, o, _| a.and(half(o.target), 63),
    |a, o, _| a.shl(half(o.target), 7),
    |a, o, _| a.shl(wide(o.target), 7),
    |a, o, _| a.shr(half(o.target), 7),
    |a, o, _| a.cmovbe(half(o.target), half(o.source)),
    |a, o, _| a.push(wide(o.target)),
    |a, o, _| a.pop(wide(o.target)),
    |a, _, to| a.jmp(to),
    |a, o, _| a.jmp(wide(o.source)),
    |a, _, to| a.call(to),
    |a, _, _| a.ret(),
    |a, _, to| a.je(to),
    |a, _, to| a.jne(to),
    |a, o, to| a.cmp(byte(o.target), byte(o.source)).and_then(|()| a.je(to)),
    |a, o, to| a.cmp(byte(o.target), byte(o.source)).and_then(|()| a.jne(to)),
    |a, o, to| a.cmp(half(o.target), half(o.source)).and_then(|()| a.jne(to)),
    |a, o, to| a.cmp(wide(o.target), wide(o.source)).and_then(|()| a.jne(to)),
    |a, o, to| a.cmp(half(o.target), half(o.source)).and_then(|()| a.jae(to)),
    |a, o, to| a.cmp(half(o.target), 77).and_then(|()| a.jbe(to)),
    |a, o, to| a.cmp(byte_ptr(o.address() + wide(o.index)), byte(o.target)).and_then(|()| a.jne(to)),
    |a, o, to| a.test(half(o.target), half(o.target)).and_then(|()| a.je(to)),
    |a, o, to| a.test(wide(o.target), wide(o.target)).and_then(|()| a.je(to)),
    |a, o, to| a.test(half(o.target), half(o.target)).and_then(|()| a.jne(to)),
    |a, o, to| a.test(wide(o.target), wide(o.target)).and_then(|()| a.jne(to)),
    // What the frames and the stack are reached by is changed in between.
    |a, o, _| a.mov(rsp, wide(o.source)),
    |a, o, _| a.mov(rbp, wide(o.source)),
    |a, o, _| a.mov(wide(o.target), rsp),
];

/// A block whose flags are known from its first instruction on, which is in no sequence.
fn block_of(samples: &[(Sample, Operands)]) -> Result<Vec<u8>, IcedError> {
    let mut assembler = CodeAssembler::new(64)?;
    let mut end = assembler.create_label();
    assembler.cmp(esi, edx)?;
    for (sample, operands) in samples {
        sample(&mut assembler, *operands, end)?;
    }
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
    let until = Time(machine.time.0 + 8);
    let stop = match watched {
        true => machine.run(until, &mut Idle),
        false => machine.run(until, &mut Unwatched),
    };
    (stop, machine.time, machine.state_hash(), machine.cpu.rip)
}

/// The handlers of the codes in the block of this code.
fn handlers_in(code: &[u8]) -> Vec<usize> {
    let (space, machine) = (CodeSpace::default(), machine_with(code));
    let Ok(block) = space.block_at(CODE, &machine.memory) else { panic!("the code can be fetched") };
    // SAFETY: the block is as alive as its space.
    let block = unsafe { &*block };
    // SAFETY: after the header come as many codes as there are origins.
    let handler = |index| unsafe { (*block.codes.header().add(1 + index)).handler as usize };
    (0..block.origins.len()).map(handler).collect()
}

/// Runs a block from many states by both executors, in the same machines, so that pages are known from the second time on.
fn compare_executors(code: &[u8], random: &mut Random) {
    let mut machines = [machine_with(code), machine_with(code)];
    for round in 0..24 {
        let seed = random.word();
        let outcomes = [false, true].map(|watched| {
            let machine = &mut machines[usize::from(watched)];
            set_registers(machine, &mut Random(seed));
            outcome(machine, watched)
        });
        assert_eq!(outcomes[0], outcomes[1], "round {round} of {code:x?}");
    }
}

#[test]
fn sequences_do_what_their_instructions_do() {
    let handlers = |length| {
        let all = SEQUENCES.values().flatten();
        all.filter(move |sequence| sequence.length == length).map(|sequence| sequence.handler as usize)
    };
    let (mut pairs, mut triples): (HashSet<_>, HashSet<_>) = (handlers(2).collect(), handlers(3).collect());
    let mut random = Random(1);
    // Whether one of those that are left is done by a block; each is compared once.
    let mut compare = |samples: &[(Sample, Operands)], left: &mut HashSet<usize>| {
        let Ok(code) = block_of(samples) else { return };
        let before = left.len();
        handlers_in(&code).iter().for_each(|handler| {
            left.remove(handler);
        });
        if left.len() < before {
            compare_executors(&code, &mut random);
        }
    };
    let first = Operands::FIRST;
    for (one, two) in SAMPLES.iter().flat_map(|one| SAMPLES.iter().map(move |two| (*one, *two))) {
        for second in Operands::SECOND.after(first) {
            compare(&[(one, first), (two, second)], &mut pairs);
        }
    }
    assert_eq!(pairs.len(), 0, "pairs without a sample");
    let chains = SAMPLES.iter().flat_map(|one| SAMPLES.iter().map(move |two| (*one, *two)));
    for (one, two) in chains.filter(|&(one, two)| begins_triple(one, two)) {
        for (three, second) in
            SAMPLES.iter().flat_map(|&three| Operands::SECOND.after(first).map(|o| (three, o)))
        {
            for third in Operands::THIRD.after(second) {
                compare(&[(one, first), (two, second), (three, third)], &mut triples);
            }
        }
    }
    assert_eq!(triples.len(), 0, "triples without a sample");
}

/// Whether two samples may be the first of three, by the handlers that they have apart from each other.
fn begins_triple(one: Sample, two: Sample) -> bool {
    let alone = |sample| {
        let code = block_of(&[(sample, Operands::FIRST)]).ok()?;
        handlers_in(&code).get(1).copied()
    };
    let all = alone(one).zip(alone(two)).and_then(|key| SEQUENCES.get(&key));
    all.is_some_and(|all| all.iter().any(|sequence| sequence.length == 3))
}
