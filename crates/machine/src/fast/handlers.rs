//! The handlers. Each is safe to call under the contract of [`super::Handler`].

use super::parts::*;
use super::{Code, Exit, Links};
use crate::exec::{Context, Flow, execute_instruction};
use crate::memory::Frame;
use crate::observer::Unwatched;
use crate::values::{self, sign_extend};
use crate::vector::{FloatCall, PureCall};
use crate::{Core, PAGE_SIZE, Time};
use lift::{Binary, Condition, FlagKind, Op, Reg, Size};
use std::sync::atomic::Ordering::Acquire;

/// Goes on with the next code.
#[inline(always)]
unsafe fn advance(core: &mut Core, code: *const Code, left: u64) {
    // SAFETY: only the last code of a block does not advance.
    unsafe {
        let next = code.add(1);
        ((*next).handler)(core, next, left)
    }
}

/// Gives up before the code's instruction.
#[cold]
#[inline(never)]
fn bail(core: &mut Core, code: *const Code, left: u64) {
    exit(core, Exit::Bail(code), left);
}

/// Ends the slice, with `left` instructions to spare.
#[inline(always)]
fn exit(core: &mut Core, exit: Exit, left: u64) {
    core.exit = exit;
    core.left = left;
}

/// Goes on with a block, if the slice has room for it.
#[inline(always)]
unsafe fn enter(core: &mut Core, header: *const Code, left: u64) {
    // SAFETY: the block belongs to the space of the current one; its first code follows its header.
    unsafe {
        let length = (*header).imm;
        if left < length {
            return exit(core, Exit::Slice(header), left);
        }
        core.current = header;
        let first = header.add(1);
        ((*first).handler)(core, first, left - length)
    }
}

/// Leaves the block to one of its two fixed targets; `at` is its last code.
#[inline(always)]
unsafe fn leave<const SIDE: usize>(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: a block's links follow its last code, and lead to blocks of its space.
    unsafe {
        let next = Links::after(at).next[SIDE].load(Acquire);
        if next.is_null() {
            return exit(core, Exit::Link(SIDE == 1), left);
        }
        enter(core, next, left)
    }
}

/// Leaves the block by a condition. The two sides are kept apart by a jump of the host's own: were the side
/// an index into the links, all of the next block would have to wait for the comparison, and the host could
/// not run ahead.
#[inline(always)]
unsafe fn decide(core: &mut Core, at: *const Code, left: u64, holds: bool) {
    // SAFETY: as for `leave`. The assembly is empty.
    unsafe {
        if holds {
            leave::<1>(core, at, left)
        } else {
            std::arch::asm!("", options(nomem, nostack, preserves_flags));
            leave::<0>(core, at, left)
        }
    }
}

/// Leaves the block to a computed address.
#[inline(always)]
unsafe fn leave_to(core: &mut Core, target: u64, left: u64) {
    match core.jumps.get(target) {
        // SAFETY: the cache holds blocks of the current space.
        Some(block) => unsafe { enter(core, block, left) },
        None => {
            core.cpu.rip = target;
            exit(core, Exit::Indirect, left);
        }
    }
}

macro_rules! handler {
    ($(#[$doc:meta])* $name:ident $(<$($type:ident : $bound:ident),+>)? ($core:ident, $code:ident, $at:ident, $left:ident) $body:block) => {
        $(#[$doc])*
        pub unsafe fn $name $(<$($type: $bound),+>)? ($core: &mut Core, $at: *const Code, $left: u64) {
            // SAFETY: the contract of `Handler`.
            let $code = unsafe { &*$at };
            $body
            // SAFETY: as above.
            unsafe { advance($core, $at, $left) }
        }
    };
}

/// Makes a page known to loads and starts the code again; bails where that cannot be.
///
/// A handler calls this and the next function last, so that the common path keeps no stack frame.
#[cold]
#[inline(never)]
unsafe fn retry_load(core: &mut Core, at: *const Code, left: u64, address: u64, bytes: u64) {
    if address % PAGE_SIZE + bytes > PAGE_SIZE || core.memory.know_readable(address).is_err() {
        return bail(core, at, left);
    }
    // SAFETY: the contract of `Handler`.
    unsafe { ((*at).handler)(core, at, left) }
}

/// The same for stores.
#[cold]
#[inline(never)]
unsafe fn retry_store(core: &mut Core, at: *const Code, left: u64, address: u64, bytes: u64) {
    if address % PAGE_SIZE + bytes > PAGE_SIZE || core.memory.know_writable(address).is_err() {
        return bail(core, at, left);
    }
    // SAFETY: the contract of `Handler`.
    unsafe { ((*at).handler)(core, at, left) }
}

/// The same for loads by way of a frame register.
#[cold]
#[inline(never)]
unsafe fn retry_frame_load(
    core: &mut Core,
    at: *const Code,
    left: u64,
    address: u64,
    bytes: u64,
    frame: Frame,
) {
    if !address.is_multiple_of(bytes) || core.memory.know_frame_readable(frame, address).is_err() {
        return bail(core, at, left);
    }
    // SAFETY: the contract of `Handler`.
    unsafe { ((*at).handler)(core, at, left) }
}

/// The same for stores by way of a frame register.
#[cold]
#[inline(never)]
unsafe fn retry_frame_store(
    core: &mut Core,
    at: *const Code,
    left: u64,
    address: u64,
    bytes: u64,
    frame: Frame,
) {
    if !address.is_multiple_of(bytes) || core.memory.know_frame_writable(frame, address).is_err() {
        return bail(core, at, left);
    }
    // SAFETY: the contract of `Handler`.
    unsafe { ((*at).handler)(core, at, left) }
}

/// A load of width `$w` in mode `$m`. Nothing may have been changed before it, since the code may start
/// again.
macro_rules! load {
    ($core:ident, $at:ident, $left:ident, $w:ty, $m:ty, $address:expr) => {{
        let address = $address;
        match <$w>::load::<$m>($core, address) {
            Some(value) => value,
            // SAFETY: the contract of `Handler`.
            None => unsafe {
                let bytes = <$w>::SIZE.bytes();
                return match <$m>::FRAME {
                    Some(frame) => retry_frame_load($core, $at, $left, address, bytes, frame),
                    None => retry_load($core, $at, $left, address, bytes),
                };
            },
        }
    }};
}

/// A load from where a store follows in the same code, likewise.
macro_rules! load_to_store {
    ($core:ident, $at:ident, $left:ident, $w:ty, $m:ty, $address:expr) => {{
        let address = $address;
        match <$w>::load_to_store::<$m>($core, address) {
            Some(value) => value,
            // SAFETY: the contract of `Handler`.
            None => unsafe {
                let bytes = <$w>::SIZE.bytes();
                return match <$m>::FRAME {
                    Some(frame) => retry_frame_store($core, $at, $left, address, bytes, frame),
                    None => retry_load($core, $at, $left, address, bytes),
                };
            },
        }
    }};
}

/// A store, likewise.
macro_rules! store {
    ($core:ident, $at:ident, $left:ident, $w:ty, $m:ty, $address:expr, $value:expr) => {{
        let address = $address;
        if <$w>::store::<$m>($core, address, $value).is_none() {
            // SAFETY: the contract of `Handler`.
            unsafe {
                let bytes = <$w>::SIZE.bytes();
                return match <$m>::FRAME {
                    Some(frame) => retry_frame_store($core, $at, $left, address, bytes, frame),
                    None => retry_store($core, $at, $left, address, bytes),
                };
            }
        }
    }};
}

/// A load of 16 bytes, likewise.
macro_rules! load_16 {
    ($core:ident, $at:ident, $left:ident, $address:expr) => {
        match $core.memory.load_known::<u128>($address) {
            Some(value) => value,
            // SAFETY: the contract of `Handler`.
            None => return unsafe { retry_load($core, $at, $left, $address, 16) },
        }
    };
}

/// Stores below the stack pointer and moves it.
macro_rules! push {
    ($core:ident, $at:ident, $left:ident, $value:expr) => {{
        let stack = $core.cpu.get(Reg::RSP).wrapping_sub(8);
        store!($core, $at, $left, W8, OnStack, stack, $value);
        $core.cpu.set(Reg::RSP, stack);
    }};
}

// Moves and extensions.

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

// Functions of two operands, with flags.

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
    /// memory = function(memory, register)
    binary_store<F: Function, W: Width, M: Mode>(core, code, at, left) {
        let address = M::address(core, code);
        let a = load_to_store!(core, at, left, W, M, address);
        let b = reg(core, code.a);
        let result = values::binary(F::FUNCTION, W::SIZE, a, b);
        store!(core, at, left, W, M, address, result);
        compute::<F, W>(core, a, b);
    }
}
handler! {
    /// memory = function(memory, constant)
    binary_store_const<F: Function, W: Width, M: Mode>(core, code, at, left) {
        let address = M::address(core, code);
        let a = load_to_store!(core, at, left, W, M, address);
        let result = values::binary(F::FUNCTION, W::SIZE, a, code.imm);
        store!(core, at, left, W, M, address, result);
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
        let address = M::address(core, code);
        let a = load_to_store!(core, at, left, W, M, address);
        store!(core, at, left, W, M, address, values::binary(F::FUNCTION, W::SIZE, a, 1));
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

// Uses of conditions.

handler! {
    set_condition<D: Decision>(core, code, at, left) {
        let holds = core.cpu.flag_record().holds(D::CONDITION);
        let kept = reg(core, code.a) & !0xff;
        set_reg(core, code.a, kept | holds as u64);
    }
}
handler! {
    select<W: Width, D: Decision>(core, code, at, left) {
        let holds = core.cpu.flag_record().holds(D::CONDITION);
        let chosen = if holds { code.f } else { code.a };
        set_reg(core, code.a, reg(core, chosen) & W::SIZE.mask());
    }
}

// The stack.

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

/// The block ends without a control transfer.
pub unsafe fn fall_through(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    unsafe { leave::<0>(core, at, left) }
}

pub unsafe fn jump(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    unsafe { leave::<1>(core, at, left) }
}

pub unsafe fn jump_reg(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let target = reg(core, code.f);
    // SAFETY: the contract of `Handler`.
    unsafe { leave_to(core, target, left) }
}

pub unsafe fn jump_load<M: Mode>(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let target = load!(core, at, left, W8, M, M::address(core, code));
    // SAFETY: the contract of `Handler`.
    unsafe { leave_to(core, target, left) }
}

pub unsafe fn call(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    push!(core, at, left, code.imm);
    // SAFETY: the contract of `Handler`.
    unsafe { leave::<1>(core, at, left) }
}

pub unsafe fn call_reg(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let target = reg(core, code.f);
    push!(core, at, left, code.imm);
    // SAFETY: the contract of `Handler`.
    unsafe { leave_to(core, target, left) }
}

pub unsafe fn call_load<M: Mode>(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let target = load!(core, at, left, W8, M, M::address(core, code));
    push!(core, at, left, code.imm);
    // SAFETY: the contract of `Handler`.
    unsafe { leave_to(core, target, left) }
}

/// `imm` is what the stack pointer moves by.
pub unsafe fn ret(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let stack = core.cpu.get(Reg::RSP);
    let target = load!(core, at, left, W8, OnStack, stack);
    core.cpu.set(Reg::RSP, stack.wrapping_add(code.imm));
    // SAFETY: the contract of `Handler`.
    unsafe { leave_to(core, target, left) }
}

pub unsafe fn branch<D: Decision>(core: &mut Core, at: *const Code, left: u64) {
    let holds = core.cpu.flag_record().holds(D::CONDITION);
    // SAFETY: the contract of `Handler`.
    unsafe { decide(core, at, left, holds) }
}

// A comparison and the jump after it.

pub unsafe fn compare_branch<D: Decision, W: Width>(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let (a, b) = (reg(core, code.a), reg(core, code.f));
    record(core, FlagKind::Sub, W::SIZE, a, b);
    // SAFETY: the contract of `Handler`.
    unsafe { decide(core, at, left, compared::<D, W>(a, b)) }
}

pub unsafe fn compare_const_branch<D: Decision, W: Width>(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let (a, b) = (reg(core, code.a), code.imm);
    record(core, FlagKind::Sub, W::SIZE, a, b);
    // SAFETY: the contract of `Handler`.
    unsafe { decide(core, at, left, compared::<D, W>(a, b)) }
}

pub unsafe fn compare_load_branch<D: Decision, W: Width, M: Mode>(
    core: &mut Core,
    at: *const Code,
    left: u64,
) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let b = load!(core, at, left, W, M, M::address(core, code));
    let a = reg(core, code.a);
    record(core, FlagKind::Sub, W::SIZE, a, b);
    // SAFETY: the contract of `Handler`.
    unsafe { decide(core, at, left, compared::<D, W>(a, b)) }
}

pub unsafe fn compare_memory_branch<D: Decision, W: Width, M: Mode>(
    core: &mut Core,
    at: *const Code,
    left: u64,
) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let a = load!(core, at, left, W, M, M::address(core, code));
    let b = reg(core, code.a);
    record(core, FlagKind::Sub, W::SIZE, a, b);
    // SAFETY: the contract of `Handler`.
    unsafe { decide(core, at, left, compared::<D, W>(a, b)) }
}

pub unsafe fn compare_memory_const_branch<D: Decision, W: Width, M: Mode>(
    core: &mut Core,
    at: *const Code,
    left: u64,
) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let (a, b) = (load!(core, at, left, W, M, M::address(core, code)), code.imm);
    record(core, FlagKind::Sub, W::SIZE, a, b);
    // SAFETY: the contract of `Handler`.
    unsafe { decide(core, at, left, compared::<D, W>(a, b)) }
}

pub unsafe fn test_branch<D: Decision, W: Width>(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let result = reg(core, code.a) & reg(core, code.f) & W::SIZE.mask();
    record(core, FlagKind::Logic, W::SIZE, result, 0);
    // SAFETY: the contract of `Handler`.
    unsafe { decide(core, at, left, compared_zero::<D, W>(result)) }
}

pub unsafe fn test_const_branch<D: Decision, W: Width>(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`.
    let code = unsafe { &*at };
    let result = reg(core, code.a) & code.imm;
    record(core, FlagKind::Logic, W::SIZE, result, 0);
    // SAFETY: the contract of `Handler`.
    unsafe { decide(core, at, left, compared_zero::<D, W>(result)) }
}

// Vector functions; the address of the host's function is in `displacement`.

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

// Everything else.

/// Runs an instruction's plain ops by the reference executor; `imm` points to them.
pub unsafe fn plain(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: `imm` and `count` are a slice of the ops of the block that this code belongs to.
    let code = unsafe { &*at };
    let ops = unsafe { std::slice::from_raw_parts(code.imm as usize as *const Op, code.count as usize) };
    let mut cx = Context { observer: &mut Unwatched, time: Time(0), address: 0, force: None };
    match execute_instruction(core, ops, &mut cx) {
        // SAFETY: the contract of `Handler`.
        Ok(Flow::Next) => unsafe { advance(core, at, left) },
        // SAFETY: as above.
        Ok(Flow::Goto(target)) => unsafe { leave_to(core, target, left) },
        Ok(Flow::Syscall | Flow::Unsupported) | Err(_) => bail(core, at, left),
    }
}

/// Leaves an instruction to the reference executor for good: system calls, traps, and what needs the time.
pub unsafe fn refuse(core: &mut Core, at: *const Code, left: u64) {
    bail(core, at, left)
}
