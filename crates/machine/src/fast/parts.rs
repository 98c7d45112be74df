//! What handlers are put together from: widths, address modes, functions and conditions as types, so that
//! each combination is a function of its own with nothing left to decide at run time.

use super::Code;
use crate::memory::Frame;
use crate::values;
use crate::{Core, flags};
use lift::{Binary, Condition, FlagKind, Reg, Size};

pub trait Width {
    const SIZE: Size;
    /// `None` if the TLB does not know the page.
    fn load<M: Mode>(core: &mut Core, address: u64) -> Option<u64>;
    /// Replaces what stands there and returns it; `None`, with nothing done, if the TLB does not know the page.
    fn change<M: Mode>(core: &mut Core, address: u64, change: impl FnOnce(u64) -> u64) -> Option<u64>;
    /// `None`, with nothing done, if the TLB does not know the page.
    fn store<M: Mode>(core: &mut Core, address: u64, value: u64) -> Option<()>;
}

macro_rules! width {
    ($name:ident, $size:expr, $word:ty) => {
        pub struct $name;
        impl Width for $name {
            const SIZE: Size = $size;
            #[inline(always)]
            fn load<M: Mode>(core: &mut Core, address: u64) -> Option<u64> {
                let memory = &mut core.memory;
                match M::FRAME {
                    Some(frame) => memory.load_frame::<$word>(frame, address),
                    None => memory.load_known::<$word>(address),
                }
                .map(|value| value as u64)
            }
            #[inline(always)]
            fn change<M: Mode>(
                core: &mut Core,
                address: u64,
                change: impl FnOnce(u64) -> u64,
            ) -> Option<u64> {
                let memory = &mut core.memory;
                let change = |old: $word| change(old as u64) as $word;
                match M::FRAME {
                    Some(frame) => memory.change_frame::<$word>(frame, address, change),
                    None => memory.change_known::<$word>(address, change),
                }
                .map(|value| value as u64)
            }
            #[inline(always)]
            fn store<M: Mode>(core: &mut Core, address: u64, value: u64) -> Option<()> {
                let memory = &mut core.memory;
                match M::FRAME {
                    Some(frame) => memory.store_frame::<$word>(frame, address, value as $word),
                    None => memory.store_known::<$word>(address, value as $word),
                }
            }
        }
    };
}
width!(W1, Size::B1, u8);
width!(W2, Size::B2, u16);
width!(W4, Size::B4, u32);
width!(W8, Size::B8, u64);

/// How a code's address is made up.
pub trait Mode {
    /// The frame register that the address is relative to, if accesses go by its page.
    const FRAME: Option<Frame> = None;
    fn address(core: &Core, code: &Code) -> u64;
}

/// base + displacement
pub struct Based;
/// rsp + displacement, aligned
pub struct OnStack;
/// rbp + displacement, aligned
pub struct InFrame;
/// base + index + displacement
pub struct Paired;
/// base + (index << shift) + displacement
pub struct Indexed;
/// segment + base + (index << shift) + displacement
pub struct Segmented;

impl Mode for Based {
    #[inline(always)]
    fn address(core: &Core, code: &Code) -> u64 {
        reg(core, code.b).wrapping_add(code.displacement as u64)
    }
}

impl Mode for OnStack {
    const FRAME: Option<Frame> = Some(Frame::StackPointer);
    #[inline(always)]
    fn address(core: &Core, code: &Code) -> u64 {
        core.cpu.get(Reg::RSP).wrapping_add(code.displacement as u64)
    }
}

impl Mode for InFrame {
    const FRAME: Option<Frame> = Some(Frame::FramePointer);
    #[inline(always)]
    fn address(core: &Core, code: &Code) -> u64 {
        core.cpu.get(Reg::RBP).wrapping_add(code.displacement as u64)
    }
}

impl Mode for Paired {
    #[inline(always)]
    fn address(core: &Core, code: &Code) -> u64 {
        Based::address(core, code).wrapping_add(reg(core, code.c))
    }
}

impl Mode for Indexed {
    #[inline(always)]
    fn address(core: &Core, code: &Code) -> u64 {
        let scaled = reg(core, code.c).wrapping_shl(code.d as u32);
        Based::address(core, code).wrapping_add(scaled)
    }
}

impl Mode for Segmented {
    #[inline(always)]
    fn address(core: &Core, code: &Code) -> u64 {
        Indexed::address(core, code).wrapping_add(reg(core, code.e))
    }
}

/// A field of a code that says which register an operand is.
pub trait Operand {
    fn register(code: &Code) -> u8;
}

macro_rules! operand {
    ($($name:ident $field:ident)*) => {$(
        pub struct $name;
        impl Operand for $name {
            #[inline(always)]
            fn register(code: &Code) -> u8 {
                code.$field
            }
        }
    )*};
}
operand!(Target a Base b Index c Source f);

/// A two-operand function with the flags that its instruction defines.
pub trait Function {
    const FUNCTION: Binary;
    const FLAGS: FlagKind;
}

macro_rules! function {
    ($name:ident, $kind:expr) => {
        pub struct $name;
        impl Function for $name {
            const FUNCTION: Binary = Binary::$name;
            const FLAGS: FlagKind = $kind;
        }
    };
}
function!(Add, FlagKind::Add);
function!(Sub, FlagKind::Sub);
function!(And, FlagKind::Logic);
function!(Or, FlagKind::Logic);
function!(Xor, FlagKind::Logic);
function!(Shl, FlagKind::Shl);
function!(Shr, FlagKind::Shr);
function!(Sar, FlagKind::Sar);

/// A condition.
pub trait Decision {
    const CONDITION: Condition;
}

macro_rules! decision {
    ($($name:ident)*) => {$(
        pub struct $name;
        impl Decision for $name {
            const CONDITION: Condition = Condition::$name;
        }
    )*};
}
decision!(
    Overflow NotOverflow Below AboveOrEqual Equal NotEqual BelowOrEqual Above Sign NotSign Parity NotParity
    Less GreaterOrEqual LessOrEqual Greater
);

#[inline(always)]
pub fn reg(core: &Core, slot: u8) -> u64 {
    core.cpu.regs[slot as usize]
}

#[inline(always)]
pub fn set_reg(core: &mut Core, slot: u8, value: u64) {
    core.cpu.regs[slot as usize] = value;
}

/// Records what defines the flags. Only kinds that leave `c` alone.
#[inline(always)]
pub fn record(core: &mut Core, kind: FlagKind, size: Size, a: u64, b: u64) {
    core.cpu.set(Reg::FLAG_KIND, flags::code(kind, size));
    core.cpu.set(Reg::FLAG_A, a);
    core.cpu.set(Reg::FLAG_B, b);
}

/// Computes a function and records its flags.
#[inline(always)]
pub fn compute<F: Function, W: Width>(core: &mut Core, a: u64, b: u64) -> u64 {
    let result = values::binary(F::FUNCTION, W::SIZE, a, b);
    match F::FLAGS {
        FlagKind::Logic => record(core, FlagKind::Logic, W::SIZE, result, 0),
        kind => record(core, kind, W::SIZE, a, b),
    }
    result
}

/// Whether the decision falls for yes after `cmp a, b`.
#[inline(always)]
pub fn compared<D: Decision, W: Width>(a: u64, b: u64) -> bool {
    flags::compare(D::CONDITION, W::SIZE, a, b).unwrap_or_else(|| {
        let code = flags::code(FlagKind::Sub, W::SIZE);
        flags::FlagRecord { code, a, b, c: 0 }.holds(D::CONDITION)
    })
}

/// Whether the decision falls for yes after a logic function with result `a`.
#[inline(always)]
pub fn compared_zero<D: Decision, W: Width>(a: u64) -> bool {
    flags::compare_zero(D::CONDITION, W::SIZE, a).unwrap_or_else(|| {
        let code = flags::code(FlagKind::Logic, W::SIZE);
        flags::FlagRecord { code, a, b: 0, c: 0 }.holds(D::CONDITION)
    })
}

/// Whether the decision falls for yes by the flags that a function recorded as `a` and `b`.
#[inline(always)]
pub fn decided<D: Decision, F: Function, W: Width>(a: u64, b: u64) -> bool {
    use Condition::{Equal, NotEqual, NotSign, Sign};
    match (F::FLAGS, D::CONDITION) {
        (FlagKind::Sub, _) => compared::<D, W>(a, b),
        (FlagKind::Logic, _) => compared_zero::<D, W>(a),
        (FlagKind::Add, Equal | NotEqual | Sign | NotSign) => compared_zero::<D, W>(a.wrapping_add(b)),
        (kind, _) => flags::FlagRecord { code: flags::code(kind, W::SIZE), a, b, c: 0 }.holds(D::CONDITION),
    }
}
