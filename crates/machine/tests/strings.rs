//! Repeated string instructions: whole stretches at once look the same as element by element, and an endless one
//! can be interrupted.

use lift::Reg;
use machine::*;

const CODE: u64 = 0x40_0000;
const DATA: u64 = 0x60_0000;
const PAGES: u64 = 6;

fn region(start: u64, length: u64, permissions: Permissions) -> Region {
    let (backing, name) = (Backing::Zero, "".into());
    Region { start, end: start + length, permissions, backing, name, shared: false }
}

/// Uses the reference executor, element by element.
struct Idle;
impl Observer for Idle {}

/// A small deterministic generator; the tests need variety, not quality.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state >> 33
}

fn machine_with(code: &[u8]) -> Machine {
    let mut memory = Memory::new(1 << 24);
    memory.map(region(CODE, 0x1000, Permissions::RX));
    memory.poke(CODE, code).unwrap();
    let mut machine = Machine::new(memory);
    machine.cpu.rip = CODE;
    machine
}

/// Movs, stos, scas and cmps of all sizes, repeated in all ways, and one lods.
const INSTRUCTIONS: [&[u8]; 19] = [
    &[0xf3, 0xac],
    &[0xf3, 0xae],
    &[0xf2, 0xae],
    &[0xf3, 0x66, 0xaf],
    &[0xf2, 0xaf],
    &[0xf3, 0x48, 0xaf],
    &[0xf3, 0xa6],
    &[0xf2, 0xa6],
    &[0xf3, 0x66, 0xa7],
    &[0xf2, 0xa7],
    &[0xf3, 0x48, 0xa7],
    &[0xf3, 0xa4],
    &[0xf3, 0x66, 0xa5],
    &[0xf3, 0xa5],
    &[0xf3, 0x48, 0xa5],
    &[0xf3, 0xaa],
    &[0xf3, 0x66, 0xab],
    &[0xf3, 0xab],
    &[0xf3, 0x48, 0xab],
];

/// A random instruction over a few pages, of which some cannot be written, some not read, some are code.
fn random_case(state: &mut u64) -> Machine {
    let instruction = INSTRUCTIONS[next(state) as usize % INSTRUCTIONS.len()];
    let mut machine = machine_with(&[instruction, &[0x0f, 0x05]].concat());
    for page in 0..PAGES {
        let permissions = match next(state) % 16 {
            0 => Permissions::NONE,
            1 => Permissions::R,
            2 => Permissions::RWX,
            _ => Permissions::RW,
        };
        machine.memory.map(region(DATA + page * PAGE_SIZE, PAGE_SIZE, permissions));
        if next(state).is_multiple_of(3) {
            let bytes: Vec<u8> = (0..PAGE_SIZE).map(|_| next(state) as u8).collect();
            machine.memory.poke(DATA + page * PAGE_SIZE, &bytes).unwrap();
        }
        if permissions == Permissions::RWX && next(state).is_multiple_of(2) {
            machine.memory.mark_code(DATA + page * PAGE_SIZE);
        }
    }
    let source = DATA + next(state) % (PAGES * PAGE_SIZE);
    let target = match next(state) % 3 {
        0 => DATA + next(state) % (PAGES * PAGE_SIZE),
        1 => source.wrapping_add(next(state) % 200),
        _ => source.wrapping_sub(next(state) % 200),
    };
    machine.cpu.set(Reg::RSI, source);
    machine.cpu.set(Reg::RDI, target);
    machine.cpu.set(Reg::RCX, next(state) % 9000);
    // Scans of untouched memory go on for long if they look for zero.
    let value = if next(state).is_multiple_of(2) { 0 } else { next(state) << 32 | next(state) };
    machine.cpu.set(Reg::RAX, value);
    machine.cpu.set(Reg::DIRECTION, u64::from(next(state).is_multiple_of(8)));
    machine
}

#[test]
fn stretches_are_the_same_as_element_by_element() {
    let mut state = 1;
    let mut complete = 0;
    for case in 0..3000 {
        let mut fast = random_case(&mut state);
        let mut slow = fast.fork();
        let stops = (fast.run(Time(9), &mut Unwatched), slow.run(Time(9), &mut Idle));
        assert_eq!(stops.0, stops.1, "case {case}");
        complete += u32::from(stops.0 == Stop::Syscall);
        for register in [Reg::RSI, Reg::RDI, Reg::RCX] {
            assert_eq!(fast.cpu.get(register), slow.cpu.get(register), "case {case}, {register:?}");
        }
        assert_eq!(fast.cpu.rflags(), slow.cpu.rflags(), "case {case}");
        assert_eq!(fast.state_hash(), slow.state_hash(), "case {case}");
        assert_eq!(fast.memory.resident_pages(), slow.memory.resident_pages(), "case {case}");
    }
    assert!((500..2500).contains(&complete), "{complete} of the cases are without a fault");
}

#[test]
fn an_instruction_over_more_than_anybody_can_wait_for_is_interrupted() {
    // repe scasb
    let mut machine = machine_with(&[0xf3, 0xae, 0x0f, 0x05]);
    let start = 1 << 40;
    machine.memory.map(region(start, 1 << 45, Permissions::R));
    machine.cpu.set(Reg::RDI, start);
    machine.cpu.set(Reg::RCX, u64::MAX);
    let flags = machine.cpu.rflags();
    assert_eq!(machine.run(Time(3), &mut Unwatched), Stop::Until);
    assert_eq!(machine.cpu.rip, CODE);
    let done = machine.cpu.get(Reg::RDI) - start;
    assert!(done > 0);
    assert_eq!(machine.cpu.get(Reg::RCX), u64::MAX - done);
    assert_eq!(machine.cpu.rflags(), flags, "as if it had not begun");
    // What is left can be done in one go.
    machine.cpu.set(Reg::RCX, 5);
    assert_eq!(machine.run(Time(100), &mut Unwatched), Stop::Syscall);
    assert_eq!(machine.cpu.get(Reg::RDI), start + done + 5);
}
