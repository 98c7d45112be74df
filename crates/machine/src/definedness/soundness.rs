//! The rules are held against the executor: whatever is put in place of undefined bits, a bit that a rule calls defined does not change.

use super::registers::Registers;
use crate::exec::{Context, Flow, execute_instruction};
use crate::{Cpu, Machine, Memory, Time, Unwatched};
use lift::vector::{VectorOperand, VectorResult};
use lift::x87::{C0, C2, C3, IN_USE, SIGN_AND_EXPONENT, X87Operand, X87Result};
use lift::{
    Address, Binary, Condition, FlagKind, Op, Reg, Size, StringResult, Ternary, Turn, Unary, Value, VectorOp,
    X87Op,
};

/// Numbers without a pattern, the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Small numbers, corners and any.
    fn number(&mut self) -> u64 {
        match self.below(6) {
            0 => self.next() % 70,
            1 => self.pick(&[0, u64::MAX, 1 << 63, 0x7fff_ffff, 0x8000_0000, 0xff, 0x80, 0xffff_0000]),
            2 => self.next() & self.next() & self.next(),
            3 => 0x0041_4200_4142_4300 ^ self.next() & 0x0001_0000_0100_0001,
            _ => self.next(),
        }
    }

    /// Undefined bits: none, few, some bytes, many.
    fn mask(&mut self) -> u64 {
        match self.below(6) {
            0 | 1 => 0,
            2 => 1 << self.below(64),
            3 => 0xff << (8 * self.below(8)),
            4 => self.next() & self.next() & self.next() & self.next(),
            _ => self.next() << self.below(64),
        }
    }
}

const GENERAL: [Reg; 4] = [Reg::RAX, Reg::RCX, Reg::RDX, Reg::RBX];
const SIZES: [Size; 4] = Size::ALL;

fn xmm(random: &mut Random) -> Reg {
    Reg::xmm(random.below(3) as u8)
}

fn general(random: &mut Random) -> Reg {
    random.pick(&GENERAL)
}

fn value(random: &mut Random) -> Value {
    if random.below(3) == 0 { Value::Const(random.number()) } else { Value::Reg(general(random)) }
}

fn integer_op(random: &mut Random) -> Op {
    use Binary::*;
    let size = random.pick(&SIZES);
    let (dst, a, b) = (general(random), general(random), value(random));
    let src = general(random);
    let binary = [Add, Sub, And, Or, Xor, Shl, Shr, Sar, Rol, Ror, Mul, MulHighUnsigned, MulHighSigned];
    let unary = [
        Unary::Not,
        Unary::Neg,
        Unary::ByteSwap,
        Unary::BitScanForward,
        Unary::BitScanReverse,
        Unary::CountOnes,
    ];
    match random.below(14) {
        0..4 => Op::Binary { function: random.pick(&binary), size, dst, a, b },
        4 => Op::Unary { function: random.pick(&unary), size, dst, src },
        5 => {
            use Ternary::*;
            let functions = [ShiftDoubleLeft, ShiftDoubleRight, RotateCarryLeft, RotateCarryRight];
            let size = random.pick(&[Size::B2, Size::B4, Size::B8]);
            Op::Ternary { function: random.pick(&functions), size, dst, a, b: src, c: b }
        }
        6 => Op::ZeroExtend { size, dst, src },
        7 => {
            let from = random.pick(&[Size::B1, Size::B2, Size::B4]);
            Op::SignExtend { from, to: Size::B8, dst, src }
        }
        8 => Op::Insert { size: Size::B1, at: random.below(8) as u8, dst, src: b },
        9 => Op::Extract { size: Size::B1, at: random.below(8) as u8, dst, src },
        10 => {
            let address = Address {
                shift: random.below(4) as u8,
                index: src,
                narrow: random.below(4) == 0,
                ..Address::offset(a, random.number() as i64)
            };
            Op::Lea { size, dst, address }
        }
        11 => Op::Divide {
            signed: random.below(2) == 0,
            size: random.pick(&[Size::B1, Size::B2, Size::B4, Size::B8]),
            quotient: Reg::RAX,
            remainder: Reg::RDX,
            high: Reg::RDX,
            low: Reg::RAX,
            divisor: src,
        },
        12 => Op::IsZero { size, dst, src },
        _ => Op::Select { size, dst, condition: src, yes: a, no: general(random) },
    }
}

fn flag_op(random: &mut Random) -> Op {
    use FlagKind::*;
    let kinds = [
        Raw, Add, Adc, Sub, Sbb, Logic, Inc, Dec, Shl, Shr, Sar, Mul, Rol, Ror, Rcl, Rcr, Shld, Shrd,
        SetCarry, SetZero, Load, LoadLow, Compare,
    ];
    let kind = random.pick(&kinds);
    let sizes: &[Size] = match kind {
        Shld | Shrd => &[Size::B2, Size::B4, Size::B8],
        Raw => &[Size::B8],
        _ => &SIZES,
    };
    let (size, a) = (random.pick(sizes), general(random));
    let b = value(random);
    match random.below(4) {
        0 => Op::Test { condition: random.pick(&Condition::ALL), dst: a },
        1 if random.below(2) == 0 => Op::Carry { dst: a },
        _ => Op::Flags { kind, size, a, b, c: general(random) },
    }
}

fn vector_op(random: &mut Random, all: &[VectorOp]) -> Op {
    if random.below(8) == 0 {
        let result = random.pick(&[StringResult::Index, StringResult::Mask, StringResult::Flags]);
        let length = |random: &mut Random| match random.below(3) {
            0 => general(random),
            _ => Reg::ZERO,
        };
        return Op::CompareStrings {
            result,
            dst: if result == StringResult::Mask { xmm(random) } else { general(random) },
            a: xmm(random),
            b: xmm(random),
            a_length: length(random),
            b_length: length(random),
            imm: random.next() as u8 & 0x7f,
        };
    }
    let op = random.pick(all);
    let operand = |operand: VectorOperand, random: &mut Random| match operand {
        VectorOperand::None => Reg::ZERO,
        VectorOperand::Slot(_) => general(random),
        VectorOperand::Vector => xmm(random),
    };
    let (a, b) = (operand(op.a(), random), operand(op.b(), random));
    let dst = if op.result() == VectorResult::Vector { xmm(random) } else { general(random) };
    Op::Vector { op, dst, a, b, imm: random.next() as u8 }
}

fn x87_op(random: &mut Random) -> Op {
    use lift::x87::{X87Arithmetic::*, X87Binary::*, X87Format::*, X87Unary::*};
    let format = random.pick(&[Extended, Single, Double, Integer16, Integer32, Integer64]);
    let ops = [
        X87Op::Arithmetic(random.pick(&[Add, Multiply, Subtract, Divide]), format),
        X87Op::Compare { quiet: true, format },
        X87Op::CompareFlags { quiet: true },
        X87Op::Test,
        X87Op::Examine,
        X87Op::Unary(random.pick(&[Negate, Absolute, SquareRoot, Round])),
        X87Op::Binary(Scale),
        X87Op::Store { format: random.pick(&[Single, Double, Integer32]), truncate: false },
        X87Op::Copy,
        X87Op::StatusWord,
    ];
    if random.below(8) == 0 {
        return Op::Rotate { turn: random.pick(&[Turn::Push, Turn::Pop]) };
    }
    let op = random.pick(&ops);
    let operand = |operand: X87Operand, random: &mut Random| match operand {
        X87Operand::None | X87Operand::Place => Reg::ZERO,
        X87Operand::Slot(_) => general(random),
        X87Operand::Register => Reg::st(random.below(3) as u8),
    };
    let (a, b) = (operand(op.a(), random), operand(op.b(), random));
    let dst = match op.result() {
        X87Result::None => Reg::ZERO,
        // What exceptions there were is in it, too.
        X87Result::Slot if op == X87Op::StatusWord => Reg::RSI,
        X87Result::Slot => general(random),
        X87Result::Register => Reg::st(random.below(3) as u8),
        X87Result::Number(_) => Reg::x87_temp(0),
    };
    Op::X87 { op, dst, a, b }
}

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
            let mut cx = Context { observer: &mut Unwatched, time: Time(0), address: 0, force: None };
            match execute_instruction(&mut self.machine, std::slice::from_ref(op), &mut cx) {
                Ok(Flow::Next) => {}
                _ => return None,
            }
        }
        Some(self.machine.cpu.clone())
    }
}

/// Random values and undefined bits.
fn state(random: &mut Random) -> (Cpu, Registers) {
    let (mut cpu, mut masks) = (Cpu::default(), Registers::default());
    for reg in GENERAL.into_iter().chain((0..4).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()])) {
        cpu.set(reg, random.number());
        masks.set(reg, random.mask(), 1);
    }
    for n in 0..8 {
        let exponent = 0x3ff0 + random.next() % 40;
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
    let flips = random.next();
    for reg in compared() {
        let noise = match flips % 4 {
            0 => u64::MAX,
            1 => random.next(),
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
    let mut random = Random(seed);
    let mut bench = Bench { machine: Machine::new(Memory::new(1 << 20)) };
    let compared = compared();
    let (mut ran, mut undefined) = (0, 0);
    for _ in 0..rounds {
        let (start, masks) = state(&mut random);
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
