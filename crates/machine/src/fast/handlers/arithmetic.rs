//! Functions of two operands with their flags, and comparisons.

use super::*;
use crate::values;
use lift::{Binary, Condition, FlagKind};

handler! {
    binary<F: Function, W: Width>(core, code, at, left) {
        let (a, b) = (reg(core, code.a), reg(core, code.f));
        let result = compute::<F, W>(core, a, b);
        set_reg(core, code.a, result);
    }
}
handler! {
    binary_const<F: Function, W: Width>(core, code, at, left) {
        let a = reg(core, code.a);
        let result = compute::<F, W>(core, a, code.imm);
        set_reg(core, code.a, result);
    }
}
handler! {
    /// The same on the low byte or word of a register.
    binary_part<F: Function, W: Width>(core, code, at, left) {
        let (a, b) = (reg(core, code.a), reg(core, code.f));
        let result = compute::<F, W>(core, a, b);
        set_reg(core, code.a, a & !W::SIZE.mask() | result);
    }
}
handler! {
    binary_part_const<F: Function, W: Width>(core, code, at, left) {
        let a = reg(core, code.a);
        let result = compute::<F, W>(core, a, code.imm);
        set_reg(core, code.a, a & !W::SIZE.mask() | result);
    }
}
handler! {
    /// register = function(register, memory)
    binary_load<F: Function, W: Width, M: Mode>(core, code, at, left) {
        let b = load!(core, at, left, W, M, M::address(core, code));
        let a = reg(core, code.a);
        let result = compute::<F, W>(core, a, b);
        set_reg(core, code.a, result);
    }
}
handler! {
    /// The same on the low byte or word of a register.
    binary_load_part<F: Function, W: Width, M: Mode>(core, code, at, left) {
        let b = load!(core, at, left, W, M, M::address(core, code));
        let a = reg(core, code.a);
        let result = compute::<F, W>(core, a, b);
        set_reg(core, code.a, a & !W::SIZE.mask() | result);
    }
}
handler! {
    /// memory = function(memory, register)
    binary_store<F: Function, W: Width, M: Mode>(core, code, at, left) {
        let b = reg(core, code.a);
        let result = |a| values::binary(F::FUNCTION, W::SIZE, a, b);
        let a = change!(core, at, left, W, M, M::address(core, code), result);
        compute::<F, W>(core, a, b);
    }
}
handler! {
    /// memory = function(memory, constant)
    binary_store_const<F: Function, W: Width, M: Mode>(core, code, at, left) {
        let result = |a| values::binary(F::FUNCTION, W::SIZE, a, code.imm);
        let a = change!(core, at, left, W, M, M::address(core, code), result);
        compute::<F, W>(core, a, code.imm);
    }
}
handler! {
    /// A function that leaves the flags alone; the constant's function is in `c`.
    plain_const<F: Function, W: Width>(core, code, at, left) {
        let result = values::binary(F::FUNCTION, W::SIZE, reg(core, code.f), code.imm);
        set_reg(core, code.a, result);
    }
}
handler! {
    /// A shift by a register: a count of zero keeps the flags.
    shift_by_reg<F: Function, W: Width>(core, code, at, left) {
        let a = reg(core, code.a);
        let count = values::count(W::SIZE, reg(core, code.f)) as u64;
        let result = values::binary(F::FUNCTION, W::SIZE, a, count);
        if count != 0 {
            record(core, F::FLAGS, W::SIZE, a, count);
        }
        set_reg(core, code.a, result);
    }
}
handler! {
    /// inc and dec of a register
    step<F: Function, W: Width>(core, code, at, left) {
        let a = reg(core, code.a);
        record_step::<F, W>(core, a);
        set_reg(core, code.a, values::binary(F::FUNCTION, W::SIZE, a, 1));
    }
}
handler! {
    step_store<F: Function, W: Width, M: Mode>(core, code, at, left) {
        let result = |a| values::binary(F::FUNCTION, W::SIZE, a, 1);
        let a = change!(core, at, left, W, M, M::address(core, code), result);
        record_step::<F, W>(core, a);
    }
}

#[inline(always)]
fn record_step<F: Function, W: Width>(core: &mut Core, a: u64) {
    let carry = core.cpu.flag_record().holds(Condition::Below);
    let kind = if F::FUNCTION == Binary::Add { FlagKind::Inc } else { FlagKind::Dec };
    record(core, kind, W::SIZE, a, 1);
    core.cpu.set(Reg::FLAG_C, carry as u64);
}

handler! {
    /// adc and sbb
    with_carry<F: Function, W: Width>(core, code, at, left) {
        let (a, b) = (reg(core, code.a), reg(core, code.f));
        let result = compute_with_carry::<F, W>(core, a, b);
        set_reg(core, code.a, result);
    }
}
handler! {
    with_carry_const<F: Function, W: Width>(core, code, at, left) {
        let a = reg(core, code.a);
        let result = compute_with_carry::<F, W>(core, a, code.imm);
        set_reg(core, code.a, result);
    }
}
handler! {
    /// The same on the low byte or word of a register.
    with_carry_part<F: Function, W: Width>(core, code, at, left) {
        let (a, b) = (reg(core, code.a), reg(core, code.f));
        let result = compute_with_carry::<F, W>(core, a, b);
        set_reg(core, code.a, a & !W::SIZE.mask() | result);
    }
}

#[inline(always)]
fn compute_with_carry<F: Function, W: Width>(core: &mut Core, a: u64, b: u64) -> u64 {
    let carry = core.cpu.flag_record().holds(Condition::Below) as u64;
    let kind = if F::FUNCTION == Binary::Add { FlagKind::Adc } else { FlagKind::Sbb };
    record(core, kind, W::SIZE, a, b);
    core.cpu.set(Reg::FLAG_C, carry);
    let partial = values::binary(F::FUNCTION, W::SIZE, a, b);
    values::binary(F::FUNCTION, W::SIZE, partial, carry)
}

handler! {
    /// imul into a register; `b` of the record says whether it overflowed.
    multiply<W: Width>(core, code, at, left) {
        let (a, b) = (reg(core, code.f), reg(core, code.c));
        multiply_into::<W>(core, code.a, a, b);
    }
}
handler! {
    multiply_const<W: Width>(core, code, at, left) {
        let a = reg(core, code.f);
        multiply_into::<W>(core, code.a, a, code.imm);
    }
}
handler! {
    multiply_load<W: Width, M: Mode>(core, code, at, left) {
        let b = load!(core, at, left, W, M, M::address(core, code));
        let a = reg(core, code.a);
        multiply_into::<W>(core, code.a, a, b);
    }
}

#[inline(always)]
fn multiply_into<W: Width>(core: &mut Core, dst: u8, a: u64, b: u64) {
    let low = values::binary(Binary::Mul, W::SIZE, a, b);
    let high = values::binary(Binary::MulHighSigned, W::SIZE, a, b);
    let sign = values::binary(Binary::Sar, W::SIZE, low, W::SIZE.bits() as u64 - 1);
    record(core, FlagKind::Mul, W::SIZE, low, high ^ sign);
    set_reg(core, dst, low);
}

// Comparisons.

handler! {
    compare<W: Width>(core, code, at, left) {
        let (a, b) = (reg(core, code.a), reg(core, code.f));
        record(core, FlagKind::Sub, W::SIZE, a, b);
    }
}
handler! {
    compare_const<W: Width>(core, code, at, left) {
        let a = reg(core, code.a);
        record(core, FlagKind::Sub, W::SIZE, a, code.imm);
    }
}
handler! {
    /// register with memory
    compare_load<W: Width, M: Mode>(core, code, at, left) {
        let b = load!(core, at, left, W, M, M::address(core, code));
        let a = reg(core, code.a);
        record(core, FlagKind::Sub, W::SIZE, a, b);
    }
}
handler! {
    /// memory with register
    compare_memory<W: Width, M: Mode>(core, code, at, left) {
        let a = load!(core, at, left, W, M, M::address(core, code));
        let b = reg(core, code.a);
        record(core, FlagKind::Sub, W::SIZE, a, b);
    }
}
handler! {
    compare_memory_const<W: Width, M: Mode>(core, code, at, left) {
        let a = load!(core, at, left, W, M, M::address(core, code));
        record(core, FlagKind::Sub, W::SIZE, a, code.imm);
    }
}
handler! {
    test<W: Width>(core, code, at, left) {
        let result = reg(core, code.a) & reg(core, code.f) & W::SIZE.mask();
        record(core, FlagKind::Logic, W::SIZE, result, 0);
    }
}
handler! {
    test_const<W: Width>(core, code, at, left) {
        let result = reg(core, code.a) & code.imm;
        record(core, FlagKind::Logic, W::SIZE, result, 0);
    }
}
handler! {
    test_memory_const<W: Width, M: Mode>(core, code, at, left) {
        let a = load!(core, at, left, W, M, M::address(core, code));
        record(core, FlagKind::Logic, W::SIZE, a & code.imm, 0);
    }
}
