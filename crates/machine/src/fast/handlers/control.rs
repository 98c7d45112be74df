//! The stack, and what ends a block.

use super::*;
use lift::FlagKind;

handler! {
    push(core, code, at, left) {
        let value = reg(core, code.a);
        push!(core, at, left, value);
    }
}
handler! {
    push_const(core, code, at, left) {
        push!(core, at, left, code.imm);
    }
}
handler! {
    pop(core, code, at, left) {
        let stack = core.cpu.get(Reg::RSP);
        let value = load!(core, at, left, W8, OnStack, stack);
        core.cpu.set(Reg::RSP, stack.wrapping_add(8));
        set_reg(core, code.a, value);
    }
}
handler! {
    leave_frame(core, code, at, left) {
        let frame = core.cpu.get(Reg::RBP);
        let saved = load!(core, at, left, W8, InFrame, frame);
        core.cpu.set(Reg::RSP, frame.wrapping_add(8));
        core.cpu.set(Reg::RBP, saved);
        let _ = code;
    }
}

// Ends of blocks.

ending! {
    /// The block ends without a control transfer.
    fall_through(core, _code, at, left) {
        // SAFETY: the contract of `Handler`.
        unsafe { leave::<0>(core, at, left) }
    }
}
ending! {
    jump(core, _code, at, left) {
        // SAFETY: the contract of `Handler`.
        unsafe { leave::<1>(core, at, left) }
    }
}
ending! {
    jump_reg(core, code, at, left) {
        let target = reg(core, code.f);
        // SAFETY: the contract of `Handler`.
        unsafe { leave_to(core, target, left) }
    }
}
ending! {
    jump_load<M: Mode>(core, code, at, left) {
        let target = load!(core, at, left, W8, M, M::address(core, code));
        // SAFETY: the contract of `Handler`.
        unsafe { leave_to(core, target, left) }
    }
}
ending! {
    call(core, code, at, left) {
        push!(core, at, left, code.imm);
        // SAFETY: the contract of `Handler`.
        unsafe { leave::<1>(core, at, left) }
    }
}
ending! {
    call_reg(core, code, at, left) {
        let target = reg(core, code.f);
        push!(core, at, left, code.imm);
        // SAFETY: the contract of `Handler`.
        unsafe { leave_to(core, target, left) }
    }
}
ending! {
    call_load<M: Mode>(core, code, at, left) {
        let target = load!(core, at, left, W8, M, M::address(core, code));
        push!(core, at, left, code.imm);
        // SAFETY: the contract of `Handler`.
        unsafe { leave_to(core, target, left) }
    }
}
ending! {
    /// `imm` is what the stack pointer moves by.
    ret(core, code, at, left) {
        let stack = core.cpu.get(Reg::RSP);
        let target = load!(core, at, left, W8, OnStack, stack);
        core.cpu.set(Reg::RSP, stack.wrapping_add(code.imm));
        // SAFETY: the contract of `Handler`.
        unsafe { leave_to(core, target, left) }
    }
}
ending! {
    branch<D: Decision>(core, _code, at, left) {
        // SAFETY: the contract of `Handler`.
        unsafe {
            match core.cpu.flag_record().holds_at_once(D::CONDITION) {
                Some(holds) => decide(core, at, left, holds),
                None => branch_by_flags::<D>(core, at, left),
            }
        }
    }
}

/// A branch after an uncommon instruction; apart, so that the common ones keep no stack frame.
#[cold]
#[inline(never)]
unsafe fn branch_by_flags<D: Decision>(core: &mut Core, at: *const Code, left: u64) {
    let holds = core.cpu.flag_record().holds(D::CONDITION);
    // SAFETY: the contract of `Handler`.
    unsafe { decide(core, at, left, holds) }
}
ending! {
    /// A branch in the same block as the function that set the flags it goes by.
    branch_after<D: Decision, F: Function, W: Width>(core, _code, at, left) {
        let (a, b) = (core.cpu.get(Reg::FLAG_A), core.cpu.get(Reg::FLAG_B));
        // SAFETY: the contract of `Handler`.
        unsafe { decide(core, at, left, decided::<D, F, W>(a, b)) }
    }
}

// A comparison and the jump after it.

ending! {
    compare_branch<D: Decision, W: Width>(core, code, at, left) {
        let (a, b) = (reg(core, code.a), reg(core, code.f));
        record(core, FlagKind::Sub, W::SIZE, a, b);
        // SAFETY: the contract of `Handler`.
        unsafe { decide(core, at, left, compared::<D, W>(a, b)) }
    }
}
ending! {
    compare_const_branch<D: Decision, W: Width>(core, code, at, left) {
        let (a, b) = (reg(core, code.a), code.imm);
        record(core, FlagKind::Sub, W::SIZE, a, b);
        // SAFETY: the contract of `Handler`.
        unsafe { decide(core, at, left, compared::<D, W>(a, b)) }
    }
}
ending! {
    compare_load_branch<D: Decision, W: Width, M: Mode>(core, code, at, left) {
        let b = load!(core, at, left, W, M, M::address(core, code));
        let a = reg(core, code.a);
        record(core, FlagKind::Sub, W::SIZE, a, b);
        // SAFETY: the contract of `Handler`.
        unsafe { decide(core, at, left, compared::<D, W>(a, b)) }
    }
}
ending! {
    compare_memory_branch<D: Decision, W: Width, M: Mode>(core, code, at, left) {
        let a = load!(core, at, left, W, M, M::address(core, code));
        let b = reg(core, code.a);
        record(core, FlagKind::Sub, W::SIZE, a, b);
        // SAFETY: the contract of `Handler`.
        unsafe { decide(core, at, left, compared::<D, W>(a, b)) }
    }
}
ending! {
    compare_memory_const_branch<D: Decision, W: Width, M: Mode>(core, code, at, left) {
        let (a, b) = (load!(core, at, left, W, M, M::address(core, code)), code.imm);
        record(core, FlagKind::Sub, W::SIZE, a, b);
        // SAFETY: the contract of `Handler`.
        unsafe { decide(core, at, left, compared::<D, W>(a, b)) }
    }
}
ending! {
    test_branch<D: Decision, W: Width>(core, code, at, left) {
        let result = reg(core, code.a) & reg(core, code.f) & W::SIZE.mask();
        record(core, FlagKind::Logic, W::SIZE, result, 0);
        // SAFETY: the contract of `Handler`.
        unsafe { decide(core, at, left, compared_zero::<D, W>(result)) }
    }
}
ending! {
    test_const_branch<D: Decision, W: Width>(core, code, at, left) {
        let result = reg(core, code.a) & code.imm;
        record(core, FlagKind::Logic, W::SIZE, result, 0);
        // SAFETY: the contract of `Handler`.
        unsafe { decide(core, at, left, compared_zero::<D, W>(result)) }
    }
}
