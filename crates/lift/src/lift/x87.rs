//! The x87 unit. Registers are relative to the top of their stack; see [`crate::x87`].

use super::Lifter;
use crate::x87::{
    C1, CODES, FLAGS, SIGN_AND_EXPONENT, X87Arithmetic, X87Binary, X87Constant, X87Format, X87Op, X87Unary,
};
use crate::{Binary, Condition, FlagKind, Helper, Op, Reg, Size, Turn, Value};
use X87Format::{Double, Extended, Integer16, Integer32, Integer64, Single};
use iced_x86::{MemorySize, Mnemonic};

/// The bits of the control word that exist, and the one that is always set.
const CONTROL_BITS: u64 = 0x1f3f;
const CONTROL_FIXED: u64 = 0x40;

const ST0: Reg = Reg::st(0);
const ST1: Reg = Reg::st(1);
/// The register that becomes the top when another one is pushed: it has to be empty.
const NEXT: Reg = Reg::st(7);

pub(super) fn lift(l: &mut Lifter) -> bool {
    transfer(l) || compute(l) || compare(l) || control(l)
}

fn transfer(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    match l.instruction.mnemonic() {
        Fld => load(l),
        Fild => load_number(l),
        Fbld => {
            let ten = load_extended(l);
            let value = function(l, X87Op::FromDecimal, ten, NEXT);
            push(l, value);
        }
        Fst => store(l, false),
        Fstp => {
            store(l, false);
            pop(l);
        }
        Fist => store(l, false),
        Fistp => {
            store(l, false);
            pop(l);
        }
        Fisttp => {
            store(l, true);
            pop(l);
        }
        Fbstp => {
            store_decimal(l);
            pop(l);
        }
        Fxch => exchange(l),
        Fcmovb => move_if(l, Condition::Below),
        Fcmove => move_if(l, Condition::Equal),
        Fcmovbe => move_if(l, Condition::BelowOrEqual),
        Fcmovu => move_if(l, Condition::Parity),
        Fcmovnb => move_if(l, Condition::AboveOrEqual),
        Fcmovne => move_if(l, Condition::NotEqual),
        Fcmovnbe => move_if(l, Condition::Above),
        Fcmovnu => move_if(l, Condition::NotParity),
        Fld1 => constant(l, X87Constant::One),
        Fldl2t => constant(l, X87Constant::Log2Of10),
        Fldl2e => constant(l, X87Constant::Log2OfE),
        Fldpi => constant(l, X87Constant::Pi),
        Fldlg2 => constant(l, X87Constant::Log10Of2),
        Fldln2 => constant(l, X87Constant::LnOf2),
        Fldz => constant(l, X87Constant::Zero),
        _ => return false,
    }
    true
}

fn compute(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    use X87Arithmetic::{Add, Divide, DivideInto, Multiply, Subtract, SubtractFrom};
    match l.instruction.mnemonic() {
        Fadd | Fiadd => arithmetic(l, Add),
        Fmul | Fimul => arithmetic(l, Multiply),
        Fsub | Fisub => arithmetic(l, Subtract),
        Fsubr | Fisubr => arithmetic(l, SubtractFrom),
        Fdiv | Fidiv => arithmetic(l, Divide),
        Fdivr | Fidivr => arithmetic(l, DivideInto),
        Faddp => arithmetic_and_pop(l, Add),
        Fmulp => arithmetic_and_pop(l, Multiply),
        Fsubp => arithmetic_and_pop(l, Subtract),
        Fsubrp => arithmetic_and_pop(l, SubtractFrom),
        Fdivp => arithmetic_and_pop(l, Divide),
        Fdivrp => arithmetic_and_pop(l, DivideInto),
        Fchs => unary(l, X87Unary::Negate),
        Fabs => unary(l, X87Unary::Absolute),
        Fsqrt => unary(l, X87Unary::SquareRoot),
        Frndint => unary(l, X87Unary::Round),
        F2xm1 => unary(l, X87Unary::Exponential),
        Fsin => unary(l, X87Unary::Sine),
        Fcos => unary(l, X87Unary::Cosine),
        Fsincos => two_results(l, X87Unary::SineWithPush, X87Unary::CosineWithPush),
        Fptan => two_results(l, X87Unary::TangentWithPush, X87Unary::OneWithPush),
        Fxtract => two_results(l, X87Unary::Exponent, X87Unary::Significand),
        Fscale => binary(l, X87Binary::Scale),
        Fprem => binary(l, X87Binary::Remainder),
        Fprem1 => binary(l, X87Binary::RemainderNearest),
        Fpatan => binary_and_pop(l, X87Binary::ArcTangent),
        Fyl2x => binary_and_pop(l, X87Binary::Logarithm),
        Fyl2xp1 => binary_and_pop(l, X87Binary::LogarithmPlusOne),
        _ => return false,
    }
    true
}

fn compare(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    let (quiet, pops, to_flags) = match l.instruction.mnemonic() {
        Fcom | Ficom => (false, 0, false),
        Fcomp | Ficomp => (false, 1, false),
        Fcompp => (false, 2, false),
        Fucom => (true, 0, false),
        Fucomp => (true, 1, false),
        Fucompp => (true, 2, false),
        Fcomi => (false, 0, true),
        Fcomip => (false, 1, true),
        Fucomi => (true, 0, true),
        Fucomip => (true, 1, true),
        Ftst => {
            emit(l, X87Op::Test, Reg::ZERO, ST0, Reg::ZERO);
            return true;
        }
        Fxam => {
            emit(l, X87Op::Examine, Reg::ZERO, ST0, Reg::ZERO);
            return true;
        }
        _ => return false,
    };
    let memory = (0..l.instruction.op_count()).any(|n| l.is_memory(n));
    let (b, format) = if memory { operand(l) } else { (other(l), Extended) };
    if to_flags {
        let dst = l.temp();
        emit(l, X87Op::CompareFlags { quiet }, dst, ST0, b);
        let (kind, size) = (FlagKind::Compare, Size::B8);
        l.emit(Op::Flags { kind, size, a: dst, b: Value::Const(0), c: Reg::ZERO });
    } else {
        emit(l, X87Op::Compare { quiet, format }, Reg::ZERO, ST0, b);
    }
    (0..pops).for_each(|_| pop(l));
    true
}

fn control(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    match l.instruction.mnemonic() {
        Fnop => {}
        Fincstp => turn(l, Turn::Pop),
        Fdecstp => turn(l, Turn::Push),
        Ffree => free(l),
        Ffreep => {
            free(l);
            pop(l);
        }
        Fnclex | Fclex => l.emit(Op::Move { dst: Reg::X87_FLAGS, src: Value::Const(0) }),
        Fldcw => {
            let value = l.load(Size::B2);
            let known = l.binary(Binary::And, Size::B2, value, Value::Const(CONTROL_BITS));
            let (function, dst, b) = (Binary::Or, Reg::X87_CONTROL, Value::Const(CONTROL_FIXED));
            l.emit(Op::Binary { function, size: Size::B2, dst, a: known, b });
        }
        Fnstcw | Fstcw => {
            let address = l.address();
            l.emit(Op::Store { size: Size::B2, src: Reg::X87_CONTROL.into(), address });
        }
        Fnstsw | Fstsw => {
            let status = l.temp();
            emit(l, X87Op::StatusWord, status, Reg::ZERO, Reg::ZERO);
            l.write(0, status.into());
        }
        Fninit | Finit => helper(l, Helper::Fninit),
        Fnstenv | Fstenv => return environment(l, Helper::Fnstenv),
        Fldenv => return environment(l, Helper::Fldenv),
        Fnsave | Fsave => return environment(l, Helper::Fnsave),
        Frstor => return environment(l, Helper::Frstor),
        _ => return false,
    }
    true
}

fn emit(l: &mut Lifter, op: X87Op, dst: Reg, a: Reg, b: Reg) {
    l.emit(Op::X87 { op, dst, a, b });
}

/// A function into a fresh temporary.
fn function(l: &mut Lifter, op: X87Op, a: Reg, b: Reg) -> Reg {
    let dst = l.x87_temp();
    emit(l, op, dst, a, b);
    dst
}

fn register(l: &Lifter, operand: u32) -> Reg {
    Reg::st(l.instruction.op_register(operand).number() as u8 % 8)
}

/// The register that the top is compared with.
fn other(l: &Lifter) -> Reg {
    match l.instruction.op_count() {
        0 => ST1,
        count => register(l, count - 1),
    }
}

fn copy_pair(l: &mut Lifter, dst: Reg, src: Reg) {
    l.emit(Op::Move { dst, src: src.into() });
    l.emit(Op::Move { dst: dst.high_half(), src: src.high_half().into() });
}

/// A value that was computed for it becomes the top.
fn push(l: &mut Lifter, value: Reg) {
    l.emit(Op::Rotate { turn: Turn::Push });
    copy_pair(l, ST0, value);
}

fn pop(l: &mut Lifter) {
    empty(l, ST0);
    l.emit(Op::Rotate { turn: Turn::Pop });
}

fn empty(l: &mut Lifter, register: Reg) {
    let (dst, b) = (register.high_half(), Value::Const(SIGN_AND_EXPONENT));
    l.emit(Op::Binary { function: Binary::And, size: Size::B8, dst, a: dst, b });
}

fn free(l: &mut Lifter) {
    empty(l, register(l, 0));
    clear_c1(l);
}

/// The top moves, and no register becomes empty or full.
fn turn(l: &mut Lifter, turn: Turn) {
    l.emit(Op::Rotate { turn });
    clear_c1(l);
}

fn clear_c1(l: &mut Lifter) {
    let (dst, b) = (Reg::X87_CODES, Value::Const(CODES & !C1));
    l.emit(Op::Binary { function: Binary::And, size: Size::B8, dst, a: dst, b });
}

/// The format of the memory operand.
fn format(l: &Lifter) -> X87Format {
    match l.instruction.memory_size() {
        MemorySize::Float32 => Single,
        MemorySize::Float64 => Double,
        MemorySize::Int16 => Integer16,
        MemorySize::Int32 => Integer32,
        MemorySize::Int64 => Integer64,
        _ => Extended,
    }
}

/// The memory operand, loaded.
fn operand(l: &mut Lifter) -> (Reg, X87Format) {
    let format = format(l);
    (l.load(format.size()), format)
}

fn load_extended(l: &mut Lifter) -> Reg {
    let (dst, address) = (l.x87_temp(), l.address());
    l.emit(Op::LoadExtended { dst, address });
    dst
}

fn load(l: &mut Lifter) {
    if l.is_memory(0) && format(l) != Extended {
        return load_number(l);
    }
    let src = if l.is_memory(0) { load_extended(l) } else { register(l, 0) };
    let value = function(l, X87Op::Push, src, NEXT);
    push(l, value);
}

fn load_number(l: &mut Lifter) {
    let (number, format) = operand(l);
    let value = function(l, X87Op::Load(format), number, NEXT);
    push(l, value);
}

fn constant(l: &mut Lifter, constant: X87Constant) {
    let value = function(l, X87Op::Constant(constant), Reg::ZERO, NEXT);
    push(l, value);
}

fn store(l: &mut Lifter, truncate: bool) {
    if !l.is_memory(0) {
        return emit(l, X87Op::Copy, register(l, 0), ST0, Reg::ZERO);
    }
    let address = l.address();
    let format = format(l);
    if format == Extended {
        l.emit(Op::StoreExtended { src: ST0, address });
        // For what it tells of a register that is empty.
        function(l, X87Op::Copy, ST0, Reg::ZERO);
        return;
    }
    let number = function(l, X87Op::Store { format, truncate }, ST0, Reg::ZERO);
    l.emit(Op::Store { size: format.size(), src: number.into(), address });
    for (dst, mask) in [(Reg::X87_FLAGS, FLAGS), (Reg::X87_CODES, CODES)] {
        let (function, b) = (Binary::And, Value::Const(mask));
        l.emit(Op::Binary { function, size: Size::B8, dst, a: number.high_half(), b });
    }
}

fn store_decimal(l: &mut Lifter) {
    let address = l.address();
    let digits = function(l, X87Op::ToDecimal { tells: false }, ST0, Reg::ZERO);
    l.emit(Op::StoreExtended { src: digits, address });
    function(l, X87Op::ToDecimal { tells: true }, ST0, Reg::ZERO);
}

fn exchange(l: &mut Lifter) {
    let other = other(l);
    let top = function(l, X87Op::Copy, ST0, Reg::ZERO);
    emit(l, X87Op::Copy, ST0, other, Reg::ZERO);
    copy_pair(l, other, top);
}

fn move_if(l: &mut Lifter, condition: Condition) {
    let other = other(l);
    let condition = l.test(condition);
    let yes = function(l, X87Op::Copy, other, ST0);
    let no = function(l, X87Op::Copy, ST0, other);
    for (dst, yes, no) in [(ST0, yes, no), (ST0.high_half(), yes.high_half(), no.high_half())] {
        l.emit(Op::Select { size: Size::B8, dst, condition, yes, no });
    }
}

fn arithmetic(l: &mut Lifter, function: X87Arithmetic) {
    if l.is_memory(0) {
        let (b, format) = operand(l);
        return emit(l, X87Op::Arithmetic(function, format), ST0, ST0, b);
    }
    let (dst, b) = (register(l, 0), register(l, 1));
    emit(l, X87Op::Arithmetic(function, Extended), dst, dst, b);
}

fn arithmetic_and_pop(l: &mut Lifter, function: X87Arithmetic) {
    arithmetic(l, function);
    pop(l);
}

fn unary(l: &mut Lifter, function: X87Unary) {
    emit(l, X87Op::Unary(function), ST0, ST0, Reg::ZERO);
}

/// One result takes the place of the operand, the other one is pushed.
fn two_results(l: &mut Lifter, first: X87Unary, second: X87Unary) {
    let kept = function(l, X87Op::Unary(first), ST0, NEXT);
    let pushed = function(l, X87Op::Unary(second), ST0, NEXT);
    copy_pair(l, ST0, kept);
    push(l, pushed);
}

fn binary(l: &mut Lifter, function: X87Binary) {
    emit(l, X87Op::Binary(function), ST0, ST0, ST1);
}

fn binary_and_pop(l: &mut Lifter, function: X87Binary) {
    emit(l, X87Op::Binary(function), ST1, ST0, ST1);
    pop(l);
}

fn helper(l: &mut Lifter, helper: Helper) {
    let address = l.address();
    l.emit(Op::Helper { helper, address });
}

/// The forms for 16-bit code have another layout; no 64-bit program uses them.
fn environment(l: &mut Lifter, which: Helper) -> bool {
    let is_16_bit = matches!(l.instruction.memory_size(), MemorySize::FpuEnv14 | MemorySize::FpuState94);
    if !is_16_bit {
        helper(l, which);
    }
    !is_16_bit
}

#[cfg(test)]
mod tests {
    use crate::{Decoded, Op, Reg, WHOLE};

    fn lifted(bytes: &[u8]) -> Vec<Op> {
        let Decoded::Instruction(instruction) = crate::decode(bytes, 0) else { panic!("{bytes:x?}") };
        let mut ops = Vec::new();
        crate::lift(&instruction, &mut ops);
        ops
    }

    fn text(bytes: &[u8]) -> Vec<String> {
        lifted(bytes).iter().map(Op::to_string).collect()
    }

    #[test]
    fn a_push_is_computed_before_the_stack_turns() {
        // fld qword ptr [rdi]
        let push = ["rotate push", "st0 = ft0", "st0h = ft0h"];
        let load = ["t0 = load.64 [rdi]", "ft0 = x87 load.f64 t0, st7"];
        assert_eq!(text(&[0xdd, 0x07]), [&load[..], &push].concat());
        // fld tbyte ptr [rdi]
        let load = ["ft0 = load.80 [rdi]", "ft1 = x87 push ft0, st7"];
        let push = ["rotate push", "st0 = ft1", "st0h = ft1h"];
        assert_eq!(text(&[0xdb, 0x2f]), [&load[..], &push].concat());
    }

    #[test]
    fn what_an_instruction_tells_changes_after_its_store() {
        // fistp dword ptr [rdi]
        let stored = [
            "ft0 = x87 round.i32 st0",
            "store.32 [rdi], ft0",
            "x87_flags = and.64 ft0h, 0x7f",
            "x87_codes = and.64 ft0h, 0x4700",
        ];
        let pop = ["st0h = and.64 st0h, 0xffff", "rotate pop"];
        assert_eq!(text(&[0xdb, 0x1f]), [&stored[..], &pop].concat());
    }

    #[test]
    fn comparisons_go_to_flags_or_condition_codes() {
        // fucomi st, st(1)
        assert_eq!(text(&[0xdb, 0xe9]), ["t0 = x87 compareflags st0, st1", "flags = compare.64 t0, 0, zero"]);
        // fcom dword ptr [rdi]
        assert_eq!(
            text(&[0xd8, 0x17]),
            ["t0 = load.32 [rdi]", "x87_codes = x87 compare signalling.f32 st0, t0"]
        );
    }

    /// What the ops of an instruction make a slot from: followed backwards, byte by byte.
    fn sources(bytes: &[u8], slot: Reg) -> Vec<Reg> {
        let mut wanted = vec![(slot, WHOLE)];
        for op in lifted(bytes).iter().rev() {
            let mut written = Vec::new();
            op.writes(|reg| written.push(reg));
            let (made, kept): (Vec<_>, Vec<_>) =
                wanted.into_iter().partition(|(reg, _)| written.contains(reg));
            wanted = kept;
            for (reg, bytes) in made {
                wanted.extend(op.sources(reg, bytes).slots());
            }
        }
        let mut found: Vec<Reg> =
            wanted.into_iter().map(|(reg, _)| reg).filter(|reg| !reg.is_temp()).collect();
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn values_are_followed_from_register_to_register() {
        // faddp st(1), st: the new top comes from the two highest, and what lies below moves up.
        let add = [0xde, 0xc1];
        let exact = |n| [Reg::st(n), Reg::st(n).high_half()];
        assert_eq!(sources(&add, Reg::st(0)), [exact(0), exact(1)].concat());
        assert_eq!(sources(&add, Reg::st(1)), [Reg::st(2)]);
        // fld st(2)
        let copy = [0xd9, 0xc2];
        assert_eq!(sources(&copy, Reg::st(0)), [Reg::st(2)]);
        assert_eq!(sources(&copy, Reg::st(3)), [Reg::st(2)]);
        // fxch st(3)
        let exchange = [0xd9, 0xcb];
        assert_eq!(sources(&exchange, Reg::st(0)), [Reg::st(3)]);
        assert_eq!(sources(&exchange, Reg::st(3)), [Reg::st(0)]);
        // fld1
        assert_eq!(sources(&[0xd9, 0xe8], Reg::st(0)), []);
    }

    #[test]
    fn every_x87_instruction_of_64_bit_code_is_lifted() {
        for opcode in 0xd8..=0xdfu8 {
            for operands in 0..=255u8 {
                let bytes = [opcode, operands, 0, 0, 0, 0, 0, 0, 0];
                let Decoded::Instruction(instruction) = crate::decode(&bytes, 0) else { continue };
                use iced_x86::Mnemonic::*;
                let obsolete = [Fneni, Fndisi, Fnsetpm, Frstpm, Fstdw, Fstsg, Fnstdw, Fnstsg, Fstpnce];
                let expected = !obsolete.contains(&instruction.mnemonic());
                assert_eq!(!lifted(&bytes).contains(&Op::Unsupported), expected, "{instruction:?}");
            }
        }
    }
}
