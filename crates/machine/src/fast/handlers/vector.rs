//! Vector functions; the address of the host's function is in `displacement`.

use super::*;
use crate::vector::{FloatCall, PureCall};

handler! {
    vector(core, code, at, left) {
        let (a, b) = (core.cpu.pair(Reg(code.f)), core.cpu.pair(Reg(code.c)));
        let result = pure_call(code)(a, b, code.imm as u8);
        core.cpu.set_pair(Reg(code.a), result);
    }
}
handler! {
    vector_to_slot(core, code, at, left) {
        let (a, b) = (core.cpu.pair(Reg(code.f)), core.cpu.pair(Reg(code.c)));
        let result = pure_call(code)(a, b, code.imm as u8);
        set_reg(core, code.a, result as u64);
    }
}
handler! {
    float(core, code, at, left) {
        let Some(result) = float_result(core, code) else { return bail(core, at, left) };
        core.cpu.set_pair(Reg(code.a), result);
    }
}
handler! {
    float_to_slot(core, code, at, left) {
        let Some(result) = float_result(core, code) else { return bail(core, at, left) };
        set_reg(core, code.a, result as u64);
    }
}
handler! {
    /// `imm` holds the immediate, the alignment mask and the displacement.
    vector_load<M: Mode>(core, code, at, left) {
        let base = M::address(core, &Code { displacement: (code.imm as i64) >> 32, ..*code });
        if base & (code.imm >> 8 & 0xff) != 0 {
            return bail(core, at, left);
        }
        let b = load_16!(core, at, left, base);
        let a = core.cpu.pair(Reg(code.a));
        let result = pure_call(code)(a, b, code.imm as u8);
        core.cpu.set_pair(Reg(code.a), result);
    }
}

#[inline(always)]
fn pure_call(code: &Code) -> PureCall {
    // SAFETY: the compiler put the address of such a function there.
    unsafe { std::mem::transmute::<usize, PureCall>(code.displacement as usize) }
}

/// The result of a float function, or `None` (with nothing changed) if it raises an unmasked exception.
#[inline(always)]
fn float_result(core: &mut Core, code: &Code) -> Option<u128> {
    // SAFETY: the compiler put the address of such a function there.
    let call = unsafe { std::mem::transmute::<usize, FloatCall>(code.displacement as usize) };
    let mut mxcsr = core.cpu.get(Reg::MXCSR) as u32;
    let (a, b) = (core.cpu.pair(Reg(code.f)), core.cpu.pair(Reg(code.c)));
    let result = call(a, b, &mut mxcsr).ok()?;
    core.cpu.set(Reg::MXCSR, mxcsr as u64);
    Some(result)
}
