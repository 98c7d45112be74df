//! Flag transfers, no-ops, traps, and what only helpers can do.

use super::Lifter;
use super::movement::{move_stack, push_value};
use crate::flags::{CF, DF};
use crate::{Address, Binary, FlagKind, Helper, Op, Reg, Size, Trap, Value};
use iced_x86::Mnemonic;

/// NT, AC and ID: what popf may change besides the arithmetic and direction flags. (TF is not
/// supported.)
const CHANGEABLE: u64 = 1 << 14 | 1 << 18 | 1 << 21;
/// IF and the bit that is always one.
const FIXED: u64 = 1 << 9 | 1 << 1;

pub(super) fn lift(l: &mut Lifter) -> bool {
    use Mnemonic::*;
    match l.instruction.mnemonic() {
        Nop | Endbr64 | Endbr32 | Pause | Lfence | Mfence | Sfence | Prefetcht0 | Prefetcht1 | Prefetcht2
        | Prefetchnta | Prefetchw | Prefetchwt1 | Clflush | Rdsspd | Rdsspq | Wait | Reservednop => {}
        Cld => l.emit(Op::Move { dst: Reg::DIRECTION, src: Value::Const(0) }),
        Std => l.emit(Op::Move { dst: Reg::DIRECTION, src: Value::Const(1) }),
        Clc => set_carry(l, Reg::ZERO),
        Stc => {
            let one = l.copy(Value::Const(1));
            set_carry(l, one);
        }
        Cmc => {
            let carry = l.carry();
            let complement = l.binary(Binary::Xor, Size::B8, carry, Value::Const(1));
            set_carry(l, complement);
        }
        Lahf => lahf(l),
        Sahf => sahf(l),
        Pushfq => push_flags(l, Size::B8),
        Pushf => push_flags(l, Size::B2),
        Popfq => pop_flags(l, Size::B8),
        Popf => pop_flags(l, Size::B2),
        Ldmxcsr => ldmxcsr(l),
        Stmxcsr => {
            let address = l.address();
            l.emit(Op::Store { size: Size::B4, src: Reg::MXCSR.into(), address });
        }
        Cpuid => helper(l, Helper::Cpuid),
        Rdtsc => helper(l, Helper::Rdtsc),
        Rdtscp => helper(l, Helper::Rdtscp),
        Xgetbv => helper(l, Helper::Xgetbv),
        Fxsave | Fxsave64 => helper(l, Helper::Fxsave),
        Fxrstor | Fxrstor64 => helper(l, Helper::Fxrstor),
        Syscall => l.emit(Op::Syscall),
        Ud2 | Ud1 | Ud0 => l.emit(Op::Trap(Trap::InvalidOpcode)),
        Int3 => l.emit(Op::Trap(Trap::Breakpoint)),
        Hlt | Cli | Sti | In | Out | Insb | Insw | Insd | Outsb | Outsw | Outsd | Int | Int1 | Wrmsr
        | Rdmsr | Lgdt | Lidt | Invlpg | Wbinvd | Invd | Clts | Swapgs => l.emit(Op::Trap(Trap::Privileged)),
        _ => return false,
    }
    true
}

fn helper(l: &mut Lifter, helper: Helper) {
    let address = l.address();
    l.emit(Op::Helper { helper, address });
}

fn set_carry(l: &mut Lifter, bit: Reg) {
    let (kind, size) = (FlagKind::SetCarry, Size::B8);
    l.emit(Op::Flags { kind, size, a: bit, b: Value::Const(0), c: Reg::ZERO });
}

fn load_flags(l: &mut Lifter, kind: FlagKind, value: Reg) {
    l.emit(Op::Flags { kind, size: Size::B8, a: value, b: Value::Const(0), c: Reg::ZERO });
}

/// ah = SF:ZF:0:AF:0:PF:1:CF
fn lahf(l: &mut Lifter) {
    let flags = l.temp();
    l.emit(Op::ReadFlags { dst: flags });
    let low = l.binary(Binary::Or, Size::B1, flags, Value::Const(2));
    l.emit(Op::Insert { size: Size::B1, at: 1, dst: Reg::RAX, src: low.into() });
}

fn sahf(l: &mut Lifter) {
    let ah = l.temp();
    l.emit(Op::Extract { size: Size::B1, at: 1, dst: ah, src: Reg::RAX });
    load_flags(l, FlagKind::LoadLow, ah);
}

fn push_flags(l: &mut Lifter, size: Size) {
    let flags = l.temp();
    l.emit(Op::ReadFlags { dst: flags });
    let direction = l.binary(Binary::Shl, Size::B8, Reg::DIRECTION, Value::Const(DF.trailing_zeros() as u64));
    let both = l.binary(Binary::Or, Size::B8, flags, direction);
    let all = l.binary(Binary::Or, Size::B8, both, Reg::SYSTEM_FLAGS);
    push_value(l, size, all.into());
}

fn pop_flags(l: &mut Lifter, size: Size) {
    let value = l.load_from(size, Address::register(Reg::RSP));
    let shifted = l.binary(Binary::Shr, Size::B8, value, Value::Const(DF.trailing_zeros() as u64));
    let (function, b) = (Binary::And, Value::Const(CF));
    l.emit(Op::Binary { function, size: Size::B8, dst: Reg::DIRECTION, a: shifted, b });
    // What the value has no bits for stays as it is.
    let kept = l.binary(Binary::And, Size::B8, Reg::SYSTEM_FLAGS, Value::Const(CHANGEABLE & !size.mask()));
    let changed = l.binary(Binary::And, Size::B8, value, Value::Const(CHANGEABLE));
    let system = l.binary(Binary::Or, Size::B8, kept, changed);
    let (function, dst) = (Binary::Or, Reg::SYSTEM_FLAGS);
    l.emit(Op::Binary { function, size: Size::B8, dst, a: system, b: Value::Const(FIXED) });
    load_flags(l, FlagKind::Load, value);
    move_stack(l, Binary::Add, size.bytes());
}

fn ldmxcsr(l: &mut Lifter) {
    let value = l.load(Size::B4);
    l.emit(Op::CheckMxcsr { src: value });
    l.emit(Op::Move { dst: Reg::MXCSR, src: value.into() });
}
