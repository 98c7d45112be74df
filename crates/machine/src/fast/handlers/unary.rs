//! Functions of one operand.

use super::*;
use crate::flags::FlagRecord;
use crate::values;
use lift::flags::{CF, ZF};
use lift::{FlagKind, Unary};

handler! {
    not<W: Width>(core, code, at, left) {
        set_reg(core, code.a, values::unary(Unary::Not, W::SIZE, reg(core, code.f)));
    }
}
handler! {
    negate<W: Width>(core, code, at, left) {
        let a = reg(core, code.a);
        record(core, FlagKind::Sub, W::SIZE, 0, a);
        set_reg(core, code.a, values::unary(Unary::Neg, W::SIZE, a));
    }
}
handler! {
    /// The same on the low byte or word of a register.
    negate_part<W: Width>(core, code, at, left) {
        let a = reg(core, code.a);
        record(core, FlagKind::Sub, W::SIZE, 0, a);
        set_reg(core, code.a, a & !W::SIZE.mask() | values::unary(Unary::Neg, W::SIZE, a));
    }
}
handler! {
    /// tzcnt: keeps all flags but ZF, that the result is zero, and CF, that the operand was.
    trailing_zeros<W: Width>(core, code, at, left) {
        let value = reg(core, code.f) & W::SIZE.mask();
        let zeros = u64::from(value.trailing_zeros().min(W::SIZE.bits()));
        let kept = core.cpu.flag_record().flags() & !(CF | ZF);
        let zero = if zeros == 0 { ZF } else { 0 };
        let carry = if value == 0 { CF } else { 0 };
        core.cpu.set_flag_record(FlagRecord::raw(kept | zero | carry));
        set_reg(core, code.a, zeros);
    }
}
