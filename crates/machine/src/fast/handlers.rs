//! The handlers. Each is safe to call under the contract of [`super::Handler`].

use super::parts::*;
use super::{Code, Exit};
use crate::block::Block;
use crate::exec::{Context, Flow, execute_instruction};
use crate::memory::Frame;
use crate::observer::Unwatched;
use crate::values::{self, sign_extend};
use crate::vector::{FloatCall, PureCall};
use crate::{Core, PAGE_SIZE, Time};
use lift::{Binary, Condition, FlagKind, Op, Reg, Size};
use std::sync::atomic::Ordering::Relaxed;

/// Goes on with the next code.
#[inline(always)]
unsafe fn advance(core: &mut Core, code: *const Code) {
    // SAFETY: only the last code of a block does not advance.
    unsafe {
        let next = code.add(1);
        ((*next).handler)(core, next)
    }
}

/// Gives up before the code's instruction.
#[cold]
#[inline(never)]
fn bail(core: &mut Core, code: *const Code) {
    core.exit = Exit::Bail(code);
}

/// Goes on with a block, if the slice has room for it.
#[inline(always)]
unsafe fn enter(core: &mut Core, block: *const Block) {
    // SAFETY: the block belongs to the space of the current one; its first code is its own.
    unsafe {
        let length = (*block).length;
        if core.slice < length {
            core.exit = Exit::Slice(block);
            return;
        }
        core.slice -= length;
        core.current = block;
        let first = (*block).first;
        ((*first).handler)(core, first)
    }
}

/// Leaves the block to one of its two fixed targets.
#[inline(always)]
unsafe fn leave(core: &mut Core, side: bool) {
    // SAFETY: `current` is the block that this code belongs to, and links lead to blocks of its space.
    unsafe {
        let next = (*core.current).links[side as usize].load(Relaxed);
        if next.is_null() {
            core.exit = Exit::Link(side);
            return;
        }
        enter(core, next)
    }
}

/// Leaves the block to a computed address.
#[inline(always)]
unsafe fn leave_to(core: &mut Core, target: u64) {
    match core.jumps.get(target) {
        // SAFETY: the cache holds blocks of the current space.
        Some(block) => unsafe { enter(core, block) },
        None => {
            core.cpu.rip = target;
            core.exit = Exit::Indirect;
        }
    }
}

macro_rules! handler {
    ($(#[$doc:meta])* $name:ident $(<$($type:ident : $bound:ident),+>)? |$core:ident, $code:ident, $at:ident| $body:block) => {
        $(#[$doc])*
        pub unsafe fn $name $(<$($type: $bound),+>)? ($core: &mut Core, $at: *const Code) {
            // SAFETY: the contract of `Handler`.
            let $code = unsafe { &*$at };
            $body
            // SAFETY: as above.
            unsafe { advance($core, $at) }
        }
    };
}

/// Makes a page known to loads and starts the code again; bails where that cannot be.
///
/// A handler calls this and the next function last, so that the common path keeps no stack frame.
#[cold]
#[inline(never)]
unsafe fn retry_load(core: &mut Core, at: *const Code, address: u64, bytes: u64) {
    if address % PAGE_SIZE + bytes > PAGE_SIZE || core.memory.know_readable(address).is_err() {
        return bail(core, at);
    }
    // SAFETY: the contract of `Handler`.
    unsafe { ((*at).handler)(core, at) }
}

/// The same for stores.
#[cold]
#[inline(never)]
unsafe fn retry_store(core: &mut Core, at: *const Code, address: u64, bytes: u64) {
    if address % PAGE_SIZE + bytes > PAGE_SIZE || core.memory.know_writable(address).is_err() {
        return bail(core, at);
    }
    // SAFETY: the contract of `Handler`.
    unsafe { ((*at).handler)(core, at) }
}

/// The same for a frame register's page.
#[cold]
#[inline(never)]
unsafe fn retry_frame(core: &mut Core, at: *const Code, address: u64, bytes: u64, frame: Frame) {
    if !address.is_multiple_of(bytes) || core.memory.know_frame(frame, address).is_err() {
        return bail(core, at);
    }
    // SAFETY: the contract of `Handler`.
    unsafe { ((*at).handler)(core, at) }
}

/// A load of width `$w` in mode `$m`. Nothing may have been changed before it, since the code may start
/// again.
macro_rules! load {
    ($core:ident, $at:ident, $w:ty, $m:ty, $address:expr) => {{
        let address = $address;
        match <$w>::load::<$m>($core, address) {
            Some(value) => value,
            // SAFETY: the contract of `Handler`.
            None => unsafe {
                let bytes = <$w>::SIZE.bytes();
                return match <$m>::FRAME {
                    Some(frame) => retry_frame($core, $at, address, bytes, frame),
                    None => retry_load($core, $at, address, bytes),
                };
            },
        }
    }};
}

/// A store, likewise.
macro_rules! store {
    ($core:ident, $at:ident, $w:ty, $m:ty, $address:expr, $value:expr) => {{
        let address = $address;
        if <$w>::store::<$m>($core, address, $value).is_none() {
            // SAFETY: the contract of `Handler`.
            unsafe {
                let bytes = <$w>::SIZE.bytes();
                return match <$m>::FRAME {
                    Some(frame) => retry_frame($core, $at, address, bytes, frame),
                    None => retry_store($core, $at, address, bytes),
                };
            }
        }
    }};
}

/// A load of 16 bytes, likewise.
macro_rules! load_16 {
    ($core:ident, $at:ident, $address:expr) => {
        match $core.memory.load_known::<u128>($address) {
            Some(value) => value,
            // SAFETY: the contract of `Handler`.
            None => return unsafe { retry_load($core, $at, $address, 16) },
        }
    };
}

/// Stores below the stack pointer and moves it.
macro_rules! push {
    ($core:ident, $at:ident, $value:expr) => {{
        let stack = $core.cpu.get(Reg::RSP).wrapping_sub(8);
        store!($core, $at, W8, OnStack, stack, $value);
        $core.cpu.set(Reg::RSP, stack);
    }};
}

// Moves and extensions.

handler!(
    move_const | core,
    code,
    at | {
        set_reg(core, code.a, code.imm);
    }
);
handler!(
    move_reg | core,
    code,
    at | {
        set_reg(core, code.a, reg(core, code.f));
    }
);
handler!(
    /// An XMM register to another.
    move_pair |core, code, at| {
        let value = core.cpu.pair(Reg(code.f));
        core.cpu.set_pair(Reg(code.a), value);
    }
);
handler!(zero_extend<W: Width> |core, code, at| {
    set_reg(core, code.a, reg(core, code.f) & W::SIZE.mask());
});
handler!(sign_extend_reg<From: Width, To: Width> |core, code, at| {
    set_reg(core, code.a, sign_extend(From::SIZE, reg(core, code.f)) & To::SIZE.mask());
});
handler!(insert<W: Width> |core, code, at| {
    let kept = reg(core, code.a) & !W::SIZE.mask();
    set_reg(core, code.a, kept | reg(core, code.f) & W::SIZE.mask());
});
handler!(insert_const<W: Width> |core, code, at| {
    let kept = reg(core, code.a) & !W::SIZE.mask();
    set_reg(core, code.a, kept | code.imm);
});
handler!(
    /// xor r,r
    clear |core, code, at| {
        set_reg(core, code.a, 0);
        record(core, FlagKind::Logic, Size::B4, 0, 0);
    }
);
handler!(lea<W: Width, M: Mode> |core, code, at| {
    set_reg(core, code.a, M::address(core, code) & W::SIZE.mask());
});

// Loads and stores.

handler!(load<W: Width, M: Mode> |core, code, at| {
    let value = load!(core, at, W, M, M::address(core, code));
    set_reg(core, code.a, value);
});
handler!(load_signed<From: Width, To: Width, M: Mode> |core, code, at| {
    let value = load!(core, at, From, M, M::address(core, code));
    set_reg(core, code.a, sign_extend(From::SIZE, value) & To::SIZE.mask());
});
handler!(load_insert<W: Width, M: Mode> |core, code, at| {
    let value = load!(core, at, W, M, M::address(core, code));
    let kept = reg(core, code.a) & !W::SIZE.mask();
    set_reg(core, code.a, kept | value);
});
handler!(store<W: Width, M: Mode> |core, code, at| {
    let value = reg(core, code.a);
    store!(core, at, W, M, M::address(core, code), value);
});
handler!(store_const<W: Width, M: Mode> |core, code, at| {
    store!(core, at, W, M, M::address(core, code), code.imm);
});
handler!(
    /// `imm` says whether the address must be aligned.
    load_pair<M: Mode> |core, code, at| {
        let address = M::address(core, code);
        if address & code.imm != 0 {
            return bail(core, at);
        }
        let value = load_16!(core, at, address);
        core.cpu.set_pair(Reg(code.a), value);
    }
);
handler!(store_pair<M: Mode> |core, code, at| {
    let address = M::address(core, code);
    if address & code.imm != 0 {
        return bail(core, at);
    }
    let value = core.cpu.pair(Reg(code.a));
    if core.memory.store_known::<u128>(address, value).is_none() {
        // SAFETY: the contract of `Handler`.
        return unsafe { retry_store(core, at, address, 16) };
    }
});
handler!(
    /// A scalar load that clears the rest of an XMM register.
    load_clear<W: Width, M: Mode> |core, code, at| {
        let value = load!(core, at, W, M, M::address(core, code));
        core.cpu.set_pair(Reg(code.a), value as u128);
    }
);

// Functions of two operands, with flags.

handler!(binary<F: Function, W: Width> |core, code, at| {
    let (a, b) = (reg(core, code.a), reg(core, code.f));
    let result = compute::<F, W>(core, a, b);
    set_reg(core, code.a, result);
});
handler!(binary_const<F: Function, W: Width> |core, code, at| {
    let a = reg(core, code.a);
    let result = compute::<F, W>(core, a, code.imm);
    set_reg(core, code.a, result);
});
handler!(
    /// The same on the low byte or word of a register.
    binary_part<F: Function, W: Width> |core, code, at| {
        let (a, b) = (reg(core, code.a), reg(core, code.f));
        let result = compute::<F, W>(core, a, b);
        set_reg(core, code.a, a & !W::SIZE.mask() | result);
    }
);
handler!(binary_part_const<F: Function, W: Width> |core, code, at| {
    let a = reg(core, code.a);
    let result = compute::<F, W>(core, a, code.imm);
    set_reg(core, code.a, a & !W::SIZE.mask() | result);
});
handler!(
    /// register = function(register, memory)
    binary_load<F: Function, W: Width, M: Mode> |core, code, at| {
        let b = load!(core, at, W, M, M::address(core, code));
        let a = reg(core, code.a);
        let result = compute::<F, W>(core, a, b);
        set_reg(core, code.a, result);
    }
);
handler!(
    /// memory = function(memory, register)
    binary_store<F: Function, W: Width, M: Mode> |core, code, at| {
        let address = M::address(core, code);
        let a = load!(core, at, W, M, address);
        let b = reg(core, code.a);
        let result = values::binary(F::FUNCTION, W::SIZE, a, b);
        store!(core, at, W, M, address, result);
        compute::<F, W>(core, a, b);
    }
);
handler!(
    /// memory = function(memory, constant)
    binary_store_const<F: Function, W: Width, M: Mode> |core, code, at| {
        let address = M::address(core, code);
        let a = load!(core, at, W, M, address);
        let result = values::binary(F::FUNCTION, W::SIZE, a, code.imm);
        store!(core, at, W, M, address, result);
        compute::<F, W>(core, a, code.imm);
    }
);
handler!(
    /// A function that leaves the flags alone; the constant's function is in `c`.
    plain_const<F: Function, W: Width> |core, code, at| {
        let result = values::binary(F::FUNCTION, W::SIZE, reg(core, code.f), code.imm);
        set_reg(core, code.a, result);
    }
);
handler!(
    /// A shift by a register: a count of zero keeps the flags.
    shift_by_reg<F: Function, W: Width> |core, code, at| {
        let a = reg(core, code.a);
        let count = values::count(W::SIZE, reg(core, code.f)) as u64;
        let result = values::binary(F::FUNCTION, W::SIZE, a, count);
        if count != 0 {
            record(core, F::FLAGS, W::SIZE, a, count);
        }
        set_reg(core, code.a, result);
    }
);
handler!(
    /// inc and dec of a register
    step<F: Function, W: Width> |core, code, at| {
        let a = reg(core, code.a);
        record_step::<F, W>(core, a);
        set_reg(core, code.a, values::binary(F::FUNCTION, W::SIZE, a, 1));
    }
);
handler!(step_store<F: Function, W: Width, M: Mode> |core, code, at| {
    let address = M::address(core, code);
    let a = load!(core, at, W, M, address);
    store!(core, at, W, M, address, values::binary(F::FUNCTION, W::SIZE, a, 1));
    record_step::<F, W>(core, a);
});

#[inline(always)]
fn record_step<F: Function, W: Width>(core: &mut Core, a: u64) {
    let carry = core.cpu.flag_record().holds(Condition::Below);
    let kind = if F::FUNCTION == Binary::Add { FlagKind::Inc } else { FlagKind::Dec };
    record(core, kind, W::SIZE, a, 1);
    core.cpu.set(Reg::FLAG_C, carry as u64);
}

handler!(
    /// imul into a register; `b` of the record says whether it overflowed.
    multiply<W: Width> |core, code, at| {
        let (a, b) = (reg(core, code.f), reg(core, code.c));
        multiply_into::<W>(core, code.a, a, b);
    }
);
handler!(multiply_const<W: Width> |core, code, at| {
    let a = reg(core, code.f);
    multiply_into::<W>(core, code.a, a, code.imm);
});
handler!(multiply_load<W: Width, M: Mode> |core, code, at| {
    let b = load!(core, at, W, M, M::address(core, code));
    let a = reg(core, code.a);
    multiply_into::<W>(core, code.a, a, b);
});

#[inline(always)]
fn multiply_into<W: Width>(core: &mut Core, dst: u8, a: u64, b: u64) {
    let low = values::binary(Binary::Mul, W::SIZE, a, b);
    let high = values::binary(Binary::MulHighSigned, W::SIZE, a, b);
    let sign = values::binary(Binary::Sar, W::SIZE, low, W::SIZE.bits() as u64 - 1);
    record(core, FlagKind::Mul, W::SIZE, low, high ^ sign);
    set_reg(core, dst, low);
}

// Comparisons.

handler!(compare<W: Width> |core, code, at| {
    let (a, b) = (reg(core, code.a), reg(core, code.f));
    record(core, FlagKind::Sub, W::SIZE, a, b);
});
handler!(compare_const<W: Width> |core, code, at| {
    let a = reg(core, code.a);
    record(core, FlagKind::Sub, W::SIZE, a, code.imm);
});
handler!(
    /// register with memory
    compare_load<W: Width, M: Mode> |core, code, at| {
        let b = load!(core, at, W, M, M::address(core, code));
        let a = reg(core, code.a);
        record(core, FlagKind::Sub, W::SIZE, a, b);
    }
);
handler!(
    /// memory with register
    compare_memory<W: Width, M: Mode> |core, code, at| {
        let a = load!(core, at, W, M, M::address(core, code));
        let b = reg(core, code.a);
        record(core, FlagKind::Sub, W::SIZE, a, b);
    }
);
handler!(compare_memory_const<W: Width, M: Mode> |core, code, at| {
    let a = load!(core, at, W, M, M::address(core, code));
    record(core, FlagKind::Sub, W::SIZE, a, code.imm);
});
handler!(test<W: Width> |core, code, at| {
    let result = reg(core, code.a) & reg(core, code.f) & W::SIZE.mask();
    record(core, FlagKind::Logic, W::SIZE, result, 0);
});
handler!(test_const<W: Width> |core, code, at| {
    let result = reg(core, code.a) & code.imm;
    record(core, FlagKind::Logic, W::SIZE, result, 0);
});
handler!(test_memory_const<W: Width, M: Mode> |core, code, at| {
    let a = load!(core, at, W, M, M::address(core, code));
    record(core, FlagKind::Logic, W::SIZE, a & code.imm, 0);
});

// Uses of conditions.

handler!(set_condition<D: Decision> |core, code, at| {
    let holds = core.cpu.flag_record().holds(D::CONDITION);
    let kept = reg(core, code.a) & !0xff;
    set_reg(core, code.a, kept | holds as u64);
});
handler!(select<W: Width, D: Decision> |core, code, at| {
    let holds = core.cpu.flag_record().holds(D::CONDITION);
    let chosen = if holds { code.f } else { code.a };
    set_reg(core, code.a, reg(core, chosen) & W::SIZE.mask());
});

// The stack.

handler!(
    push | core,
    code,
    at | {
        let value = reg(core, code.a);
        push!(core, at, value);
    }
);
handler!(
    push_const | core,
    code,
    at | {
        push!(core, at, code.imm);
    }
);
handler!(
    pop | core,
    code,
    at | {
        let stack = core.cpu.get(Reg::RSP);
        let value = load!(core, at, W8, OnStack, stack);
        core.cpu.set(Reg::RSP, stack.wrapping_add(8));
        set_reg(core, code.a, value);
    }
);
handler!(
    leave_frame | core,
    code,
    at | {
        let frame = core.cpu.get(Reg::RBP);
        let saved = load!(core, at, W8, InFrame, frame);
        core.cpu.set(Reg::RSP, frame.wrapping_add(8));
        core.cpu.set(Reg::RBP, saved);
        let _ = code;
    }
);

// Ends of blocks.

/// The block ends without a control transfer.
pub unsafe fn fall_through(core: &mut Core, _: *const Code) {
    // SAFETY: the contract of `Handler`.
    unsafe { leave(core, false) }
}

pub unsafe fn jump(core: &mut Core, _: *const Code) {
    // SAFETY: the contract of `Handler`.
    unsafe { leave(core, true) }
}

pub unsafe fn jump_reg(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let target = reg(core, code.f);
    // SAFETY: the contract of `Handler`.
    unsafe { leave_to(core, target) }
}

pub unsafe fn jump_load<M: Mode>(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let target = load!(core, at, W8, M, M::address(core, code));
    // SAFETY: the contract of `Handler`.
    unsafe { leave_to(core, target) }
}

pub unsafe fn call(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    push!(core, at, code.imm);
    // SAFETY: the contract of `Handler`.
    unsafe { leave(core, true) }
}

pub unsafe fn call_reg(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let target = reg(core, code.f);
    push!(core, at, code.imm);
    // SAFETY: the contract of `Handler`.
    unsafe { leave_to(core, target) }
}

pub unsafe fn call_load<M: Mode>(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let target = load!(core, at, W8, M, M::address(core, code));
    push!(core, at, code.imm);
    // SAFETY: the contract of `Handler`.
    unsafe { leave_to(core, target) }
}

/// `imm` is what the stack pointer moves by.
pub unsafe fn ret(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let stack = core.cpu.get(Reg::RSP);
    let target = load!(core, at, W8, OnStack, stack);
    core.cpu.set(Reg::RSP, stack.wrapping_add(code.imm));
    // SAFETY: the contract of `Handler`.
    unsafe { leave_to(core, target) }
}

pub unsafe fn branch<D: Decision>(core: &mut Core, _: *const Code) {
    let holds = core.cpu.flag_record().holds(D::CONDITION);
    // SAFETY: the contract of `Handler`.
    unsafe { leave(core, holds) }
}

// A comparison and the jump after it.

pub unsafe fn compare_branch<D: Decision, W: Width>(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let (a, b) = (reg(core, code.a), reg(core, code.f));
    record(core, FlagKind::Sub, W::SIZE, a, b);
    // SAFETY: the contract of `Handler`.
    unsafe { leave(core, compared::<D, W>(a, b)) }
}

pub unsafe fn compare_const_branch<D: Decision, W: Width>(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let (a, b) = (reg(core, code.a), code.imm);
    record(core, FlagKind::Sub, W::SIZE, a, b);
    // SAFETY: the contract of `Handler`.
    unsafe { leave(core, compared::<D, W>(a, b)) }
}

pub unsafe fn compare_load_branch<D: Decision, W: Width, M: Mode>(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let b = load!(core, at, W, M, M::address(core, code));
    let a = reg(core, code.a);
    record(core, FlagKind::Sub, W::SIZE, a, b);
    // SAFETY: the contract of `Handler`.
    unsafe { leave(core, compared::<D, W>(a, b)) }
}

pub unsafe fn compare_memory_branch<D: Decision, W: Width, M: Mode>(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let a = load!(core, at, W, M, M::address(core, code));
    let b = reg(core, code.a);
    record(core, FlagKind::Sub, W::SIZE, a, b);
    // SAFETY: the contract of `Handler`.
    unsafe { leave(core, compared::<D, W>(a, b)) }
}

pub unsafe fn compare_memory_const_branch<D: Decision, W: Width, M: Mode>(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let (a, b) = (load!(core, at, W, M, M::address(core, code)), code.imm);
    record(core, FlagKind::Sub, W::SIZE, a, b);
    // SAFETY: the contract of `Handler`.
    unsafe { leave(core, compared::<D, W>(a, b)) }
}

pub unsafe fn test_branch<D: Decision, W: Width>(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let result = reg(core, code.a) & reg(core, code.f) & W::SIZE.mask();
    record(core, FlagKind::Logic, W::SIZE, result, 0);
    // SAFETY: the contract of `Handler`.
    unsafe { leave(core, compared_zero::<D, W>(result)) }
}

pub unsafe fn test_const_branch<D: Decision, W: Width>(core: &mut Core, at: *const Code) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let result = reg(core, code.a) & code.imm;
    record(core, FlagKind::Logic, W::SIZE, result, 0);
    // SAFETY: the contract of `Handler`.
    unsafe { leave(core, compared_zero::<D, W>(result)) }
}

// Vector functions; the address of the host's function is in `displacement`.

handler!(
    vector | core,
    code,
    at | {
        let (a, b) = (core.cpu.pair(Reg(code.f)), core.cpu.pair(Reg(code.c)));
        let result = pure_call(code)(a, b, code.imm as u8);
        core.cpu.set_pair(Reg(code.a), result);
    }
);
handler!(
    vector_to_slot | core,
    code,
    at | {
        let (a, b) = (core.cpu.pair(Reg(code.f)), core.cpu.pair(Reg(code.c)));
        let result = pure_call(code)(a, b, code.imm as u8);
        set_reg(core, code.a, result as u64);
    }
);
handler!(
    float | core,
    code,
    at | {
        let Some(result) = float_result(core, code) else { return bail(core, at) };
        core.cpu.set_pair(Reg(code.a), result);
    }
);
handler!(
    float_to_slot | core,
    code,
    at | {
        let Some(result) = float_result(core, code) else { return bail(core, at) };
        set_reg(core, code.a, result as u64);
    }
);
handler!(
    /// `imm` holds the immediate, the alignment mask and the displacement.
    vector_load<M: Mode> |core, code, at| {
        let base = M::address(core, &Code { displacement: (code.imm as i64) >> 32, ..*code });
        if base & (code.imm >> 8 & 0xff) != 0 {
            return bail(core, at);
        }
        let b = load_16!(core, at, base);
        let a = core.cpu.pair(Reg(code.a));
        let result = pure_call(code)(a, b, code.imm as u8);
        core.cpu.set_pair(Reg(code.a), result);
    }
);

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

// Everything else.

/// Runs an instruction's plain ops by the reference executor; `imm` points to them.
pub unsafe fn plain(core: &mut Core, at: *const Code) {
    // SAFETY: `imm` and `count` are a slice of the ops of the block that this code belongs to.
    let code = unsafe { &*at };
    let ops = unsafe { std::slice::from_raw_parts(code.imm as usize as *const Op, code.count as usize) };
    let mut cx = Context { observer: &mut Unwatched, time: Time(0), address: 0, force: None };
    match execute_instruction(core, ops, &mut cx) {
        // SAFETY: the contract of `Handler`.
        Ok(Flow::Next) => unsafe { advance(core, at) },
        // SAFETY: as above.
        Ok(Flow::Goto(target)) => unsafe { leave_to(core, target) },
        Ok(Flow::Syscall | Flow::Unsupported) | Err(_) => bail(core, at),
    }
}

/// Leaves an instruction to the reference executor for good: system calls, traps, and what needs the time.
pub unsafe fn refuse(core: &mut Core, at: *const Code) {
    bail(core, at)
}
