//! The rules are held against the executor: whatever is put in place of undefined bits, a bit that a rule calls defined does not change.

use super::registers::Registers;
use crate::testing::{self, GENERAL, Random, flag_op, integer_op, string_op, vector_op, x87_op};
use crate::{Cpu, Machine, Memory};
use lift::x87::{C0, C2, C3, IN_USE, SIGN_AND_EXPONENT};
use lift::{Binary, Condition, FlagKind, Op, Reg, Size, Unary, Value, VectorOp};

/// The slots that are compared: all but the record of the flags, which says the same in several ways, and what is sticky.
fn compared() -> Vec<Reg> {
    let vectors = (0..4).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()]);
    let x87 = (0..8).flat_map(|n| [Reg::st(n), Reg::st(n).high_half()]);
    let results = (0..16).map(Reg::temp);
    GENERAL.into_iter().chain(vectors).chain(x87).chain(results).collect()
}

struct Bench {
    machine: Machine,
}

impl Bench {
    /// Whether all ops could be executed.
    fn run(&mut self, start: &Cpu, ops: &[Op], masks: Option<&mut Registers>) -> Option<Cpu> {
        self.machine.cpu = start.clone();
        let mut masks = masks;
        for op in ops {
            if let Some(masks) = &mut masks {
                masks.apply(op, &self.machine.cpu);
            }
            if !testing::execute(&mut self.machine, op) {
                return None;
            }
        }
        Some(self.machine.cpu.clone())
    }
}

/// Random values and undefined bits.
fn state(random: &mut Random, number: fn(&mut Random) -> u64) -> (Cpu, Registers) {
    let (mut cpu, mut masks) = (Cpu::default(), Registers::default());
    for reg in GENERAL.into_iter().chain((0..4).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()])) {
        cpu.set(reg, number(random));
        masks.set(reg, random.mask(), 1);
    }
    for n in 0..8 {
        let exponent = 0x3ff0 + random.bits() % 40;
        cpu.set(Reg::st(n), random.number() | 1 << 63);
        cpu.set(Reg::st(n).high_half(), exponent | IN_USE);
        masks.set(Reg::st(n), random.mask(), 1);
        masks.set(Reg::st(n).high_half(), random.mask() & SIGN_AND_EXPONENT, 1);
    }
    (cpu, masks)
}

/// Other values for all that is undefined.
fn changed(random: &mut Random, cpu: &Cpu, masks: &Registers) -> Cpu {
    let mut other = cpu.clone();
    let flips = random.bits();
    for reg in compared() {
        let noise = match flips % 4 {
            0 => u64::MAX,
            1 => random.bits(),
            2 => 1 << random.below(64),
            _ => !cpu.get(reg),
        };
        other.set(reg, cpu.get(reg) ^ noise & masks.get(reg));
    }
    other
}

/// All conditions, after what was done, in temporaries.
fn conditions() -> impl Iterator<Item = Op> {
    let tests = Condition::ALL.into_iter().enumerate().skip(2);
    let tests = tests.map(|(n, condition)| Op::Test { condition, dst: Reg::temp(n as u8) });
    [Op::ReadFlags { dst: Reg::temp(0) }, Op::Carry { dst: Reg::temp(1) }].into_iter().chain(tests)
}

fn check(seed: u64, rounds: usize, make: impl Fn(&mut Random) -> Op) {
    check_with(seed, rounds, Random::number, make);
}

fn check_with(seed: u64, rounds: usize, number: fn(&mut Random) -> u64, make: impl Fn(&mut Random) -> Op) {
    let mut random = Random(seed);
    let mut bench = Bench { machine: Machine::new(Memory::new(1 << 20)) };
    let compared = compared();
    let (mut ran, mut undefined) = (0, 0);
    for _ in 0..rounds {
        let (start, masks) = state(&mut random, number);
        let mut ops: Vec<Op> = (0..=random.below(3)).map(|_| make(&mut random)).collect();
        ops.extend(conditions());
        let mut after = masks.clone();
        let Some(end) = bench.run(&start, &ops, Some(&mut after)) else { continue };
        ran += 1;
        undefined += compared.iter().filter(|reg| after.get(**reg) != 0).count();
        for _ in 0..6 {
            let other = changed(&mut random, &start, &masks);
            let Some(other_end) = bench.run(&other, &ops, None) else { continue };
            let codes = end.get(Reg::X87_CODES) ^ other_end.get(Reg::X87_CODES);
            assert_eq!(codes & (C0 | C2 | C3) & !after.get(Reg::X87_CODES), 0, "{ops:?}");
            for &reg in &compared {
                let differs = (end.get(reg) ^ other_end.get(reg)) & !after.get(reg);
                assert_eq!(
                    differs,
                    0,
                    "{reg} after {ops:?}\nundefined {:?}\nvalues {:?}",
                    compared.iter().map(|reg| (*reg, format!("{:x}", masks.get(*reg)))).collect::<Vec<_>>(),
                    compared.iter().map(|reg| (*reg, format!("{:x}", start.get(*reg)))).collect::<Vec<_>>()
                );
            }
        }
    }
    assert!(ran > rounds / 4 && undefined > ran, "{ran} of {rounds} ran, {undefined} results undefined");
}

#[test]
fn no_undefined_bit_changes_what_integer_rules_call_defined() {
    check(1, 60_000, integer_op);
}

#[test]
fn no_undefined_bit_changes_flags_and_conditions_that_are_called_defined() {
    check(2, 60_000, |random| if random.below(3) == 0 { integer_op(random) } else { flag_op(random) });
}

#[test]
fn no_undefined_bit_changes_what_vector_rules_call_defined() {
    let all = VectorOp::all();
    check(3, 120_000, |random| vector_op(random, &all));
}

#[test]
fn no_undefined_bit_changes_comparisons_of_strings_that_are_called_defined() {
    check_with(5, 60_000, Random::letters, string_op);
}

#[test]
fn no_undefined_bit_changes_what_x87_rules_call_defined() {
    check(4, 30_000, x87_op);
}

/// The undefined bits of rax after an op on rax and rcx with these values and undefined bits.
fn after(op: Op, rax: (u64, u64), rcx: (u64, u64)) -> u64 {
    let (mut cpu, mut masks) = (Cpu::default(), Registers::default());
    for (reg, (value, undefined)) in [(Reg::RAX, rax), (Reg::RCX, rcx)] {
        cpu.set(reg, value);
        masks.set(reg, undefined, 1);
    }
    masks.apply(&op, &cpu);
    masks.get(Reg::RAX)
}

fn binary(function: Binary, rax: (u64, u64), rcx: (u64, u64)) -> u64 {
    let b = Value::Reg(Reg::RCX);
    after(Op::Binary { function, size: Size::B4, dst: Reg::RAX, a: Reg::RAX, b }, rax, rcx)
}

#[test]
fn what_is_known_of_values_makes_results_defined() {
    let unknown = (0, 0xffff_ffff);
    assert_eq!(binary(Binary::And, unknown, (0xf0, 0)), 0xf0);
    assert_eq!(binary(Binary::Or, unknown, (!0xf0, 0)), 0xf0);
    assert_eq!(binary(Binary::Shl, (0, 0xff), (8, 0)), 0xff00);
    assert_eq!(binary(Binary::Add, (0, 0xff), (0, 0)), 0xff);
    assert_eq!(binary(Binary::Add, (0, 0xff), (1, 0)), 0x1ff);
    assert_eq!(binary(Binary::Mul, unknown, (0, 0)), 0);
    let itself = Value::Reg(Reg::RAX);
    let cleared = Op::Binary { function: Binary::Xor, size: Size::B4, dst: Reg::RAX, a: Reg::RAX, b: itself };
    assert_eq!(after(cleared, unknown, unknown), 0);
    let scan = Op::Unary { function: Unary::BitScanForward, size: Size::B4, dst: Reg::RAX, src: Reg::RCX };
    assert_eq!(after(scan, (0, 0), (0x8, 0xfff0)), 0);
    assert_ne!(after(scan, (0, 0), (0x80, 0x8)), 0);
}

#[test]
fn a_comparison_is_decided_by_a_known_difference_and_by_known_bounds() {
    let decided = |condition: Condition, a: (u64, u64), b: (u64, u64)| {
        let (mut cpu, mut masks) = (Cpu::default(), Registers::default());
        for (reg, (value, undefined)) in [(Reg::RAX, a), (Reg::RCX, b)] {
            cpu.set(reg, value);
            masks.set(reg, undefined, 1);
        }
        let flags = Op::Flags {
            kind: FlagKind::Sub,
            size: Size::B4,
            a: Reg::RAX,
            b: Value::Reg(Reg::RCX),
            c: Reg::ZERO,
        };
        masks.apply(&flags, &cpu);
        let record = crate::flags::define(&cpu.flag_record(), FlagKind::Sub, Size::B4, a.0, b.0, 0);
        cpu.set_flag_record(record);
        masks.apply(&Op::Test { condition, dst: Reg::RDX }, &cpu);
        masks.get(Reg::RDX) == 0
    };
    assert!(decided(Condition::Equal, (0x100, 0xff), (0x200, 0)));
    assert!(!decided(Condition::Equal, (0x100, 0xff), (0x1ff, 0)));
    assert!(decided(Condition::Below, (0, 0xff), (0x100, 0)));
    assert!(!decided(Condition::Below, (0, 0xff), (0xff, 0)));
    assert!(decided(Condition::BelowOrEqual, (0, 0xff), (0xff, 0)));
    assert!(decided(Condition::Less, (0xffff_ff00, 0xff), (0, 0)));
    assert!(!decided(Condition::Less, (0, 0xffff_ffff), (0, 0)));
}
