//! Helpers read and write what they declare, and nothing else.

use lift::{Effects, Helper, Reg, SLOTS};
use machine::*;

const CODE: u64 = 0x40_0000;
const DATA: u64 = 0x60_0000;

/// Each helper with an instruction that is one; the memory operand is [rdi].
const HELPERS: [(Helper, &[u8]); 5] = [
    (Helper::Cpuid, &[0x0f, 0xa2]),
    (Helper::Rdtsc, &[0x0f, 0x31]),
    (Helper::Rdtscp, &[0x0f, 0x01, 0xf9]),
    (Helper::Fxsave, &[0x0f, 0xae, 0x07]),
    (Helper::Fxrstor, &[0x0f, 0xae, 0x0f]),
];

#[derive(Default)]
struct Accesses {
    loads: u64,
    stores: u64,
}
impl Observer for Accesses {
    fn load(&mut self, _: u64, bytes: u64) {
        self.loads += bytes;
    }
    fn store(&mut self, _: u64, bytes: u64) {
        self.stores += bytes;
    }
}

/// Runs one instruction on general and vector registers made from `seed`, except that `changed` is another;
/// the slots and the bytes at the operand afterwards.
fn run(code: &[u8], seed: u64, changed: Option<Reg>) -> ([u64; SLOTS], Vec<u8>, Accesses) {
    let mut memory = Memory::new(1 << 20);
    for (start, permissions) in [(CODE, Permissions::RX), (DATA, Permissions::RW)] {
        let (backing, name) = (Backing::Zero, "".into());
        memory.map(Region { start, end: start + 0x1000, permissions, backing, name, shared: false });
    }
    memory.poke(CODE, code).unwrap();
    let mut machine = Machine::new(memory);
    machine.cpu.rip = CODE;
    for slot in (0..16).chain(64..96) {
        machine.cpu.regs[slot] = seed.wrapping_mul(2 * slot as u64 + 1);
    }
    machine.cpu.set(Reg::RAX, 1);
    machine.cpu.set(Reg::RDI, DATA);
    if let Some(reg) = changed {
        let other = machine.cpu.get(reg) ^ 1;
        machine.cpu.set(reg, other);
    }
    let mut accesses = Accesses::default();
    assert_eq!(machine.run(Time(1), &mut accesses), Stop::Until);
    let mut bytes = vec![0; 512];
    machine.memory.peek(DATA, &mut bytes);
    (machine.cpu.regs, bytes, accesses)
}

#[test]
fn helpers_write_only_the_slots_and_bytes_that_they_declare() {
    for (helper, code) in HELPERS {
        let Effects { writes, loads, stores, .. } = helper.effects();
        let (before, ..) = run(&[0x90], 0x1234_5678_9abc_def1, None);
        let (after, _, accesses) = run(code, 0x1234_5678_9abc_def1, None);
        for slot in 0..SLOTS {
            let declared = writes.contains(&Reg(slot as u8));
            assert!(declared || before[slot] == after[slot], "{helper:?} wrote {}", Reg(slot as u8));
        }
        assert_eq!((accesses.loads, accesses.stores), (loads, stores), "{helper:?}");
    }
}

#[test]
fn a_slot_that_a_helper_does_not_read_makes_no_difference() {
    for (helper, code) in HELPERS {
        let Effects { reads, writes, .. } = helper.effects();
        let (regs, bytes, _) = run(code, 0x1234_5678_9abc_def1, None);
        for reg in (0..16).chain(64..96).map(Reg).filter(|reg| *reg != Reg::RDI && !reads.contains(reg)) {
            let (other_regs, other_bytes, _) = run(code, 0x1234_5678_9abc_def1, Some(reg));
            assert!(writes.iter().all(|w| regs[w.index()] == other_regs[w.index()]), "{helper:?} read {reg}");
            assert_eq!(bytes, other_bytes, "{helper:?} read {reg}");
        }
    }
}
