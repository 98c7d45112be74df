//! For tests of whoever reads ops: random ops, values and undefined bits, and the executor to hold a reader against.

use crate::exec::{Context, Flow, execute_instruction};
use crate::{Machine, Time, Unwatched};
use lift::vector::{VectorOperand, VectorResult};
use lift::x87::{X87Operand, X87Result};
use lift::{
    Address, Binary, Condition, FlagKind, Op, Reg, Size, StringResult, Ternary, Turn, Unary, Value, VectorOp,
    X87Op,
};

/// Executes one op, as if it were an instruction. Whether it could be executed and control goes on after it.
pub fn execute(machine: &mut Machine, op: &Op) -> bool {
    let mut cx = Context { observer: &mut Unwatched, time: Time(0), address: 0, force: None };
    execute_instruction(&mut machine.view(), std::slice::from_ref(op), &mut cx) == Ok(Flow::Next)
}

/// Numbers without a pattern, the same every time.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Small numbers, corners and any.
    pub fn number(&mut self) -> u64 {
        match self.below(6) {
            0 => self.bits() % 70,
            1 => self.pick(&[0, u64::MAX, 1 << 63, 0x7fff_ffff, 0x8000_0000, 0xff, 0x80, 0xffff_0000]),
            2 => self.bits() & self.bits() & self.bits(),
            3 => 0x0041_4200_4142_4300 ^ self.bits() & 0x0001_0000_0100_0001,
            _ => self.bits(),
        }
    }

    /// Eight of few letters, and ends of strings.
    pub fn letters(&mut self) -> u64 {
        u64::from_le_bytes([(); 8].map(|()| self.pick(b"aaaaabbc\0")))
    }

    /// Undefined bits: none, few, some bytes, many.
    pub fn mask(&mut self) -> u64 {
        match self.below(6) {
            0 | 1 => 0,
            2 => 1 << self.below(64),
            3 => 0xff << (8 * self.below(8)),
            4 => self.bits() & self.bits() & self.bits() & self.bits(),
            _ => self.bits() << self.below(64),
        }
    }
}

pub const GENERAL: [Reg; 4] = [Reg::RAX, Reg::RCX, Reg::RDX, Reg::RBX];
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

pub fn integer_op(random: &mut Random) -> Op {
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

pub fn flag_op(random: &mut Random) -> Op {
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

pub fn vector_op(random: &mut Random, all: &[VectorOp]) -> Op {
    let op = random.pick(all);
    let operand = |operand: VectorOperand, random: &mut Random| match operand {
        VectorOperand::None => Reg::ZERO,
        VectorOperand::Slot(_) => general(random),
        VectorOperand::Vector => xmm(random),
    };
    let (a, b) = (operand(op.a(), random), operand(op.b(), random));
    let dst = if op.result() == VectorResult::Vector { xmm(random) } else { general(random) };
    Op::Vector { op, dst, a, b, imm: random.bits() as u8 }
}

pub fn x87_op(random: &mut Random) -> Op {
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

pub fn string_op(random: &mut Random) -> Op {
    let result = random.pick(&[StringResult::Index, StringResult::Mask, StringResult::Flags]);
    let length = |random: &mut Random| if random.below(4) == 0 { general(random) } else { Reg::ZERO };
    Op::CompareStrings {
        result,
        dst: if result == StringResult::Mask { Reg::xmm(3) } else { Reg::RBX },
        a: xmm(random),
        b: xmm(random),
        a_length: length(random),
        b_length: length(random),
        imm: random.bits() as u8 & 0x7f,
    }
}
