//! Moves, extensions, loads, stores, and uses of conditions.

use super::*;
use crate::values::sign_extend;
use lift::{FlagKind, Size};

handler! {
    move_const(core, code, at, left) {
        set_reg(core, code.a, code.imm);
    }
}
handler! {
    move_reg(core, code, at, left) {
        set_reg(core, code.a, reg(core, code.f));
    }
}
handler! {
    /// An XMM register to another.
    move_pair(core, code, at, left) {
        let value = core.cpu.pair(Reg(code.f));
        core.cpu.set_pair(Reg(code.a), value);
    }
}
handler! {
    /// A general register to an XMM register, whose rest is cleared.
    move_clear<W: Width>(core, code, at, left) {
        let value = reg(core, code.f) & W::SIZE.mask();
        core.cpu.set_pair(Reg(code.a), value as u128);
    }
}
handler! {
    zero_extend<W: Width>(core, code, at, left) {
        set_reg(core, code.a, reg(core, code.f) & W::SIZE.mask());
    }
}
handler! {
    sign_extend_reg<From: Width, To: Width>(core, code, at, left) {
        set_reg(core, code.a, sign_extend(From::SIZE, reg(core, code.f)) & To::SIZE.mask());
    }
}
handler! {
    insert<W: Width>(core, code, at, left) {
        let kept = reg(core, code.a) & !W::SIZE.mask();
        set_reg(core, code.a, kept | reg(core, code.f) & W::SIZE.mask());
    }
}
handler! {
    insert_const<W: Width>(core, code, at, left) {
        let kept = reg(core, code.a) & !W::SIZE.mask();
        set_reg(core, code.a, kept | code.imm);
    }
}
handler! {
    /// xor r,r
    clear(core, code, at, left) {
        set_reg(core, code.a, 0);
        record(core, FlagKind::Logic, Size::B4, 0, 0);
    }
}
handler! {
    lea<W: Width, M: Mode>(core, code, at, left) {
        set_reg(core, code.a, M::address(core, code) & W::SIZE.mask());
    }
}

// Loads and stores.

handler! {
    load<W: Width, M: Mode>(core, code, at, left) {
        let value = load!(core, at, left, W, M, M::address(core, code));
        set_reg(core, code.a, value);
    }
}
handler! {
    load_signed<From: Width, To: Width, M: Mode>(core, code, at, left) {
        let value = load!(core, at, left, From, M, M::address(core, code));
        set_reg(core, code.a, sign_extend(From::SIZE, value) & To::SIZE.mask());
    }
}
handler! {
    load_insert<W: Width, M: Mode>(core, code, at, left) {
        let value = load!(core, at, left, W, M, M::address(core, code));
        let kept = reg(core, code.a) & !W::SIZE.mask();
        set_reg(core, code.a, kept | value);
    }
}
handler! {
    store<W: Width, M: Mode>(core, code, at, left) {
        let value = reg(core, code.a);
        store!(core, at, left, W, M, M::address(core, code), value);
    }
}
handler! {
    store_const<W: Width, M: Mode>(core, code, at, left) {
        store!(core, at, left, W, M, M::address(core, code), code.imm);
    }
}
handler! {
    /// `imm` says whether the address must be aligned.
    load_pair<M: Mode>(core, code, at, left) {
        let address = M::address(core, code);
        if address & code.imm != 0 {
            return bail(core, at, left);
        }
        let value = load_16!(core, at, left, address);
        core.cpu.set_pair(Reg(code.a), value);
    }
}
handler! {
    store_pair<M: Mode>(core, code, at, left) {
        let address = M::address(core, code);
        if address & code.imm != 0 {
            return bail(core, at, left);
        }
        let value = core.cpu.pair(Reg(code.a));
        if core.memory.store_known::<u128>(address, value).is_none() {
            // SAFETY: the contract of `Handler`.
            return unsafe { retry_store(core, at, left, address, 16) };
        }
    }
}
handler! {
    /// A scalar load that clears the rest of an XMM register.
    load_clear<W: Width, M: Mode>(core, code, at, left) {
        let value = load!(core, at, left, W, M, M::address(core, code));
        core.cpu.set_pair(Reg(code.a), value as u128);
    }
}

// Uses of conditions. Those after an uncommon instruction are handlers of their own, so that the common ones
// keep no stack frame.

handler! {
    set_condition<D: Decision>(core, code, at, left) {
        let record = core.cpu.flag_record();
        let Some(holds) = record.holds_at_once(D::CONDITION) else {
            // SAFETY: the contract of `Handler`.
            return unsafe { set_condition_by_flags::<D>(core, at, left) };
        };
        put_condition(core, code, holds);
    }
}
handler! {
    #[cold]
    #[inline(never)]
    set_condition_by_flags<D: Decision>(core, code, at, left) {
        let holds = core.cpu.flag_record().holds(D::CONDITION);
        put_condition(core, code, holds);
    }
}
handler! {
    select<W: Width, D: Decision>(core, code, at, left) {
        let record = core.cpu.flag_record();
        let Some(holds) = record.holds_at_once(D::CONDITION) else {
            // SAFETY: the contract of `Handler`.
            return unsafe { select_by_flags::<W, D>(core, at, left) };
        };
        choose::<W>(core, code, holds);
    }
}
handler! {
    #[cold]
    #[inline(never)]
    select_by_flags<W: Width, D: Decision>(core, code, at, left) {
        let holds = core.cpu.flag_record().holds(D::CONDITION);
        choose::<W>(core, code, holds);
    }
}

#[inline(always)]
fn put_condition(core: &mut Core, code: &Code, holds: bool) {
    let kept = reg(core, code.a) & !0xff;
    set_reg(core, code.a, kept | holds as u64);
}

#[inline(always)]
fn choose<W: Width>(core: &mut Core, code: &Code, holds: bool) {
    let chosen = if holds { code.f } else { code.a };
    set_reg(core, code.a, reg(core, chosen) & W::SIZE.mask());
}
