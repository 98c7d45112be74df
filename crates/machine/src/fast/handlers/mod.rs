//! The handlers, one file a kind; here is what they share: how they go on, leave a block, bail, and reach
//! memory. Each is safe to call under the contract of [`super::Handler`].

use super::parts::*;
use super::{Code, Exit, Handler, Links};
use crate::block::Block;
use crate::exec::{Context, Flow, MOST_ELEMENTS, execute_instruction};
use crate::fault::FaultKind;
use crate::memory::Frame;
use crate::observer::{Observer, Unwatched};
use crate::trace::Log;
use crate::{Core, PAGE_SIZE, Time};
use lift::{Op, Reg};
use std::marker::PhantomData;
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

/// What a code does, as a type, so that handlers can be put together from several.
///
/// Both functions are safe to call under the contract of [`Handler`].
pub trait Step {
    /// What does it alone.
    const HANDLER: Handler;

    /// Whether it may come after another code, if its handler is the code's.
    fn follows(_before: &Code, _code: &Code) -> bool {
        true
    }

    /// Does it and goes on with `N`.
    unsafe fn run<N: Next>(core: &mut Core, at: *const Code, left: u64);
}

/// What follows a step; `at` is the code that is done.
pub trait Next {
    unsafe fn go(core: &mut Core, at: *const Code, left: u64);
}

/// Whatever the next code is.
pub struct Dispatch;

impl Next for Dispatch {
    #[inline(always)]
    unsafe fn go(core: &mut Core, at: *const Code, left: u64) {
        // SAFETY: the contract of `Handler`.
        unsafe { advance(core, at, left) }
    }
}

/// The next code, which is known to be this step, and what follows it.
pub struct Then<S, N = Dispatch>(PhantomData<(S, N)>);

impl<S: Step, N: Next> Next for Then<S, N> {
    #[inline(always)]
    unsafe fn go(core: &mut Core, at: *const Code, left: u64) {
        // SAFETY: the contract of `Handler`; only the last code of a block has none after it.
        unsafe { S::run::<N>(core, at.add(1), left) }
    }
}

/// A step whose operand `O` is the register that the code before it has as its destination. The compiler then keeps the value at hand: through
/// the registers in memory, a chain of such steps would wait for each store.
pub struct By<O, S>(PhantomData<(O, S)>);

impl<O: Operand, S: Step> Step for By<O, S> {
    const HANDLER: Handler = S::HANDLER;

    fn follows(before: &Code, code: &Code) -> bool {
        O::register(code) == before.a
    }

    #[inline(always)]
    unsafe fn run<N: Next>(core: &mut Core, at: *const Code, left: u64) {
        // SAFETY: the contract of `Handler`. Where this step is chosen, the codes have been seen to follow each other like that.
        unsafe {
            std::hint::assert_unchecked(O::register(&*at) == (*at.sub(1)).a);
            S::run::<N>(core, at, left)
        }
    }
}

/// Makes a handler and the step of the same name.
macro_rules! step {
    ($(#[$meta:meta])* $name:ident [$($type:ident : $bound:ident),*] ($core:ident, $code:ident, $at:ident, $left:ident) $body:block) => {
        $(#[$meta])*
        pub unsafe fn $name<$($type: $bound),*>($core: &mut Core, $at: *const Code, $left: u64) {
            // SAFETY: the contract of `Handler`.
            unsafe { <$name<$($type),*> as Step>::run::<Dispatch>($core, $at, $left) }
        }

        #[allow(non_camel_case_types, dead_code, reason = "a name for what the handler does, never a value")]
        pub struct $name<$($type),*> {
            types: PhantomData<($($type,)*)>,
        }

        impl<$($type: $bound),*> Step for $name<$($type),*> {
            const HANDLER: Handler = $name::<$($type),*>;

            #[inline(always)]
            unsafe fn run<N: Next>($core: &mut Core, $at: *const Code, $left: u64) {
                // SAFETY: the contract of `Handler`.
                let $code = unsafe { &*$at };
                $body
            }
        }
    };
}

/// A handler after which the next code follows.
macro_rules! handler {
    ($(#[$meta:meta])* $name:ident $(<$($type:ident : $bound:ident),+>)? ($core:ident, $code:ident, $at:ident, $left:ident) $body:block) => {
        step! {
            $(#[$meta])*
            $name [$($($type: $bound),+)?] ($core, $code, $at, $left) {
                $body
                // SAFETY: the contract of `Handler`.
                unsafe { N::go($core, $at, $left) }
            }
        }
    };
}

/// A handler that leaves the block.
macro_rules! ending {
    ($(#[$meta:meta])* $name:ident $(<$($type:ident : $bound:ident),+>)? ($core:ident, $code:ident, $at:ident, $left:ident) $body:block) => {
        step! {
            $(#[$meta])*
            $name [$($($type: $bound),+)?] ($core, $code, $at, $left) $body
        }
    };
}

/// Does the work of a code by the plain ops of its instruction, where its handler cannot: where an access crosses pages, or a
/// load is one that is not checked. Bails where they cannot either.
#[cold]
#[inline(never)]
unsafe fn slowly(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: the contract of `Handler`: the code is one of the current block's, after its header.
    let (block, index) = unsafe {
        let header = core.current;
        (&*((*header).displacement as usize as *const Block), at.offset_from(header) as usize - 1)
    };
    let origin = block.origins.get(index).copied().unwrap_or(0) as usize;
    let mut flow = run_ops(core, block, origin);
    if let Ok(Flow::Next) = flow {
        if index + 1 < block.origins.len() {
            // SAFETY: as above, and it is not the last code.
            return unsafe { advance(core, at, left) };
        }
        // A comparison that is one code with the jump after it.
        flow = match run_ops(core, block, origin + 1) {
            Ok(Flow::Next) => Ok(Flow::Goto(block.end)),
            flow => flow,
        };
    }
    match flow {
        // SAFETY: as above.
        Ok(Flow::Goto(target)) => unsafe { leave_to(core, target, left) },
        _ => bail(core, at, left),
    }
}

fn run_ops(core: &mut Core, block: &Block, index: usize) -> Result<Flow, FaultKind> {
    let Some(instruction) = block.instructions.get(index) else { return Ok(Flow::Next) };
    let mut cx = Context { observer: &mut Unwatched, time: Time(0), address: 0, force: None };
    core.memory.leave_loads_unchecked(block.unchecked);
    let flow = execute_instruction(&mut core.view(), block.ops_of(instruction), &mut cx);
    core.memory.leave_loads_unchecked(false);
    flow
}

/// Makes a page known to loads and starts the code again; does it otherwise where that cannot be.
///
/// A handler calls this and the next function last, so that the common path keeps no stack frame.
#[cold]
#[inline(never)]
unsafe fn retry_load(core: &mut Core, at: *const Code, left: u64, address: u64, bytes: u64) {
    if address % PAGE_SIZE + bytes > PAGE_SIZE || core.memory.know_readable(address, bytes).is_err() {
        // SAFETY: the contract of `Handler`.
        return unsafe { slowly(core, at, left) };
    }
    // SAFETY: the contract of `Handler`.
    unsafe { ((*at).handler)(core, at, left) }
}

/// The same for stores.
#[cold]
#[inline(never)]
unsafe fn retry_store(core: &mut Core, at: *const Code, left: u64, address: u64, bytes: u64) {
    if address % PAGE_SIZE + bytes > PAGE_SIZE || core.memory.know_writable(address, bytes).is_err() {
        // SAFETY: the contract of `Handler`.
        return unsafe { slowly(core, at, left) };
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
        // SAFETY: the contract of `Handler`.
        return unsafe { slowly(core, at, left) };
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
        // SAFETY: the contract of `Handler`.
        return unsafe { slowly(core, at, left) };
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

/// A load and a store of what is made of it, likewise; the old value.
macro_rules! change {
    ($core:ident, $at:ident, $left:ident, $w:ty, $m:ty, $address:expr, $change:expr) => {{
        let address = $address;
        match <$w>::change::<$m>($core, address, $change) {
            Some(value) => value,
            // SAFETY: the contract of `Handler`.
            None => unsafe {
                let bytes = <$w>::SIZE.bytes();
                return match <$m>::FRAME {
                    Some(frame) => retry_frame_store($core, $at, $left, address, bytes, frame),
                    None => retry_store($core, $at, $left, address, bytes),
                };
            },
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

// After the macros, so that these files see them.
mod arithmetic;
mod control;
mod movement;
mod unary;
mod vector;

pub use arithmetic::*;
pub use control::*;
pub use movement::*;
pub use unary::*;
pub use vector::*;

/// Runs an instruction's plain ops by the reference executor; `imm` points to them, `a` says whether its loads are unchecked.
pub unsafe fn plain<N: Noter>(core: &mut Core, at: *const Code, left: u64) {
    // SAFETY: `imm` and `count` are a slice of the ops of the block that this code belongs to.
    let code = unsafe { &*at };
    let ops = unsafe { std::slice::from_raw_parts(code.imm as usize as *const Op, code.count as usize) };
    let mut noter = N::default();
    let mut cx = Context { observer: &mut noter, time: Time(0), address: 0, force: None };
    core.memory.leave_loads_unchecked(code.a != 0);
    let flow = execute_instruction(&mut core.view(), ops, &mut cx);
    core.memory.leave_loads_unchecked(false);
    if let Ok(Flow::Next | Flow::Goto(_)) = flow {
        // SAFETY: the contract of `Handler`.
        unsafe { noter.note(core) };
    }
    match flow {
        // SAFETY: the contract of `Handler`.
        Ok(Flow::Next) => unsafe { advance(core, at, left) },
        // SAFETY: as above.
        Ok(Flow::Goto(target)) => unsafe { leave_to(core, target, left) },
        Ok(Flow::Again | Flow::Syscall | Flow::Unsupported) | Err(_) => bail(core, at, left),
    }
}

/// A repeated string instruction. One that may be interrupted counts as an instruction at each interruption,
/// which is the reference executor's matter.
pub unsafe fn repeated<N: Noter>(core: &mut Core, at: *const Code, left: u64) {
    if core.cpu.get(Reg::RCX) > MOST_ELEMENTS {
        return bail(core, at, left);
    }
    // SAFETY: the contract of `Handler`.
    unsafe { plain::<N>(core, at, left) }
}

/// Who watches the plain ops of an instruction, and notes its words if there is a trace.
pub trait Noter: Observer + Default {
    /// # Safety
    /// If it is for tracing, the trace must have room for the words of an instruction.
    unsafe fn note(&self, core: &mut Core);
}

impl Noter for Unwatched {
    #[inline(always)]
    unsafe fn note(&self, _: &mut Core) {}
}

impl Noter for Log {
    unsafe fn note(&self, core: &mut Core) {
        for &word in self.words() {
            // SAFETY: the caller vouches for the room.
            unsafe { note_word(core, word) };
        }
    }
}

#[inline(always)]
unsafe fn note_word(core: &mut Core, word: u64) {
    // SAFETY: the caller vouches for the room.
    unsafe {
        core.trace.word.write(word);
        core.trace.word = core.trace.word.add(1);
    }
}

handler! {
    /// Notes that the block at `imm` is entered.
    note_pass(core, code, at, left) {
        // SAFETY: a trace has room for a slice.
        unsafe {
            core.trace.pass.write(code.imm);
            core.trace.pass = core.trace.pass.add(1);
        }
    }
}
handler! {
    /// Notes the address of the instruction that follows.
    note_address<M: Mode>(core, code, at, left) {
        let address = M::address(core, code);
        // SAFETY: as above.
        unsafe { note_word(core, address) };
    }
}

handler! {
    /// Notes whether a condition holds, for the conditional move that follows.
    note_outcome<D: Decision>(core, code, at, left) {
        let holds = core.cpu.flag_record().holds(D::CONDITION);
        // SAFETY: as above.
        unsafe { note_word(core, holds as u64) };
        let _ = code;
    }
}

handler! {
    /// Checks what a function is going to read; `imm` is the [`Check`](crate::Check).
    check(core, code, at, left) {
        // SAFETY: the compiler has put such a function there.
        let check = unsafe { std::mem::transmute::<usize, crate::Check>(code.imm as usize) };
        if check(&core.cpu, &core.memory).is_err() {
            return bail(core, at, left);
        }
    }
}

/// Leaves an instruction to the reference executor for good: system calls, traps, and what needs the time.
pub unsafe fn refuse(core: &mut Core, at: *const Code, left: u64) {
    bail(core, at, left)
}
