//! The op language: what guest instructions are made of.
//!
//! Rules that every reader may rely on:
//! - A value op writes its whole 64-bit destination slot, zero-extended from its size; it reads
//!   only the low `size` bytes of its sources. Writing a part of a register is an [`Op::Insert`].
//! - Within one guest instruction everything that can fault comes before the first op that
//!   changes a guest register or flag, and at most the last store changes memory; so a faulting
//!   instruction leaves the state as it was. [`Op::String`] is the one exception: like the
//!   processor it commits element by element, and can be started again.
//! - Temporaries carry nothing from one guest instruction to the next.
//! - A control op is the last of its instruction.

use crate::{Reg, VectorOp, X87Op};

/// Operand width of an integer op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Size {
    B1 = 0,
    B2 = 1,
    B4 = 2,
    B8 = 3,
}

impl Size {
    pub const ALL: [Size; 4] = [Size::B1, Size::B2, Size::B4, Size::B8];

    #[inline]
    pub const fn bytes(self) -> u64 {
        1 << self as u8
    }

    #[inline]
    pub const fn bits(self) -> u32 {
        8 << self as u8
    }

    /// All ones in the low `bits()` bits.
    #[inline]
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The sign bit.
    #[inline]
    pub const fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    pub const fn from_bytes(bytes: usize) -> Option<Size> {
        match bytes {
            1 => Some(Size::B1),
            2 => Some(Size::B2),
            4 => Some(Size::B4),
            8 => Some(Size::B8),
            _ => None,
        }
    }
}

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    Reg(Reg),
    Const(u64),
}

impl From<Reg> for Value {
    fn from(reg: Reg) -> Value {
        Value::Reg(reg)
    }
}

/// `segment + base + (index << shift) + displacement`; absent parts are [`Reg::ZERO`].
/// Rip-relative addresses are already absolute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub segment: Reg,
    pub base: Reg,
    pub index: Reg,
    pub shift: u8,
    /// Truncate `base + (index << shift) + displacement` to 32 bits (address-size prefix).
    pub narrow: bool,
    pub displacement: i64,
}

impl Address {
    pub const fn register(base: Reg) -> Address {
        Address::offset(base, 0)
    }

    pub const fn offset(base: Reg, displacement: i64) -> Address {
        Address { segment: Reg::ZERO, base, index: Reg::ZERO, shift: 0, narrow: false, displacement }
    }
}

/// Two-operand integer functions. The result is truncated to the op's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Sub,
    And,
    Or,
    Xor,
    /// Shift counts are masked as the processor does: to 6 bits for 8-byte operands, else 5.
    Shl,
    Shr,
    Sar,
    Rol,
    Ror,
    Mul,
    /// High half of the unsigned product.
    MulHighUnsigned,
    /// High half of the signed product.
    MulHighSigned,
}

/// Three-operand integer functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ternary {
    /// `a` shifted left by `c`, filled from the top of `b`.
    ShiftDoubleLeft,
    /// `a` shifted right by `c`, filled from the bottom of `b`.
    ShiftDoubleRight,
    /// `a` rotated left by `b` through the one-bit carry `c`.
    RotateCarryLeft,
    /// `a` rotated right by `b` through the one-bit carry `c`.
    RotateCarryRight,
}

/// One-operand integer functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    Not,
    Neg,
    /// Reverses the bytes.
    ByteSwap,
    /// Index of the lowest set bit; the operand itself when it is zero (undefined by the
    /// architecture, and the lift keeps the old destination then).
    BitScanForward,
    /// Index of the highest set bit; as above for zero.
    BitScanReverse,
    CountOnes,
}

/// What the arithmetic flags were last set by. Together with the operands this is the lazy flag
/// record: flags are computed from it only when somebody reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FlagKind {
    /// `a` holds the six flags themselves, at their places in RFLAGS.
    Raw = 0,
    /// a + b
    Add,
    /// a + b + carry c
    Adc,
    /// a - b
    Sub,
    /// a - b - carry c
    Sbb,
    /// Result `a` of and, or, xor, test.
    Logic,
    /// a + 1, CF kept as c
    Inc,
    /// a - 1, CF kept as c
    Dec,
    /// a << b; a count of 0 keeps all flags
    Shl,
    /// a >> b, likewise
    Shr,
    /// a >> b signed, likewise
    Sar,
    /// low product `a`; CF = OF = (b != 0)
    Mul,
    // From here on, defining ops only: their result is computed at once and recorded as Raw.
    /// a rotated left by b: CF and OF change, count 0 keeps them
    Rol,
    Ror,
    /// a rotated left by b through carry c
    Rcl,
    Rcr,
    /// a << b filled; OF from sign change; c is the other operand
    Shld,
    Shrd,
    /// CF is bit 0 of a, the rest kept
    SetCarry,
    /// ZF is (a == 0), the rest kept
    SetZero,
    /// The six flags come from their places in `a`.
    Load,
    /// As `Load`, but OF is kept (sahf).
    LoadLow,
    /// CF, PF, ZF from their places in `a`; OF, AF, SF cleared (comis, ucomis).
    Compare,
}

/// The sixteen x86 conditions, in encoding order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Condition {
    Overflow = 0,
    NotOverflow,
    Below,
    AboveOrEqual,
    Equal,
    NotEqual,
    BelowOrEqual,
    Above,
    Sign,
    NotSign,
    Parity,
    NotParity,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Greater,
}

impl Condition {
    pub const ALL: [Condition; 16] = {
        use Condition::*;
        [
            Overflow,
            NotOverflow,
            Below,
            AboveOrEqual,
            Equal,
            NotEqual,
            BelowOrEqual,
            Above,
            Sign,
            NotSign,
            Parity,
            NotParity,
            Less,
            GreaterOrEqual,
            LessOrEqual,
            Greater,
        ]
    };

    /// The flags that decide this condition.
    pub const fn reads(self) -> u64 {
        use crate::flags::*;
        match self {
            Condition::Overflow | Condition::NotOverflow => OF,
            Condition::Below | Condition::AboveOrEqual => CF,
            Condition::Equal | Condition::NotEqual => ZF,
            Condition::BelowOrEqual | Condition::Above => CF | ZF,
            Condition::Sign | Condition::NotSign => SF,
            Condition::Parity | Condition::NotParity => PF,
            Condition::Less | Condition::GreaterOrEqual => SF | OF,
            Condition::LessOrEqual | Condition::Greater => SF | OF | ZF,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StringKind {
    Move,
    Store,
    Load,
    Scan,
    Compare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repeat {
    Once,
    /// rep: until rcx is 0
    Count,
    /// repe: until rcx is 0 or the elements differ
    WhileEqual,
    /// repne: until rcx is 0 or the elements are equal
    WhileNotEqual,
}

/// What a comparison of strings tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StringResult {
    /// The number of the first or last element that matches, or how many there are: one slot.
    Index,
    /// The elements that match, as bits or as lanes of ones: a pair of slots.
    Mask,
    /// CF, ZF, SF and OF at their places in RFLAGS: one slot.
    Flags,
}

/// What ops cannot express. Each declares the registers and bytes that it reads and writes
/// (see [`Helper::effects`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Helper {
    Cpuid,
    /// The virtual time-stamp counter, into edx:eax.
    Rdtsc,
    /// As `Rdtsc`, and the processor number into ecx.
    Rdtscp,
    Xgetbv,
    /// Saves x87 and SSE state to 512 bytes at `address`.
    Fxsave,
    Fxrstor,
    /// Resets the x87 unit.
    Fninit,
    /// Saves all of the x87 state but the registers, and masks all exceptions.
    Fnstenv,
    Fldenv,
    /// Saves all of the x87 state, and resets it.
    Fnsave,
    Frstor,
}

/// Which way the stack of x87 registers turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// ST(0) becomes ST(1), and so forth; the top is what was ST(7).
    Push,
    /// ST(1) becomes ST(0), and so forth; what was the top is ST(7).
    Pop,
}

/// Exceptions that an instruction raises by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trap {
    /// ud2 and encodings that no processor accepts
    InvalidOpcode,
    /// int3
    Breakpoint,
    /// hlt, in, out and others that user mode may not execute; int n
    Privileged,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// dst = src
    Move {
        dst: Reg,
        src: Value,
    },
    /// dst = function(a, b), at `size`
    Binary {
        function: Binary,
        size: Size,
        dst: Reg,
        a: Reg,
        b: Value,
    },
    Ternary {
        function: Ternary,
        size: Size,
        dst: Reg,
        a: Reg,
        b: Reg,
        c: Value,
    },
    Unary {
        function: Unary,
        size: Size,
        dst: Reg,
        src: Reg,
    },
    /// dst = the low `size` bytes of src, zero-extended
    ZeroExtend {
        size: Size,
        dst: Reg,
        src: Reg,
    },
    /// dst = the low `from` bytes of src, sign-extended to `to`, zero-extended above
    SignExtend {
        from: Size,
        to: Size,
        dst: Reg,
        src: Reg,
    },
    /// Replaces `size` bytes of dst, from byte `at` on, by the low bytes of src.
    Insert {
        size: Size,
        at: u8,
        dst: Reg,
        src: Value,
    },
    /// dst = `size` bytes of src from byte `at` on, zero-extended
    Extract {
        size: Size,
        at: u8,
        dst: Reg,
        src: Reg,
    },
    /// Divides the double-width high:low. #DE on zero or overflow.
    Divide {
        signed: bool,
        size: Size,
        quotient: Reg,
        remainder: Reg,
        high: Reg,
        low: Reg,
        divisor: Reg,
    },
    /// dst = address, at `size`
    Lea {
        size: Size,
        dst: Reg,
        address: Address,
    },
    /// dst = memory, zero-extended
    Load {
        size: Size,
        dst: Reg,
        address: Address,
    },
    Store {
        size: Size,
        src: Value,
        address: Address,
    },
    /// 16 bytes into a pair of slots; `aligned` makes a misaligned address a fault.
    LoadVector {
        dst: Reg,
        address: Address,
        aligned: bool,
    },
    StoreVector {
        src: Reg,
        address: Address,
        aligned: bool,
    },
    /// Ten bytes in the form of an x87 register.
    LoadExtended {
        dst: Reg,
        address: Address,
    },
    /// The ten bytes of an x87 register; of an empty one, those of a NaN.
    StoreExtended {
        src: Reg,
        address: Address,
    },
    /// An x87 function; see [`X87Op`] for which slots, or pairs of slots, it reads and writes.
    X87 {
        op: X87Op,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// Moves all x87 registers by one.
    Rotate {
        turn: Turn,
    },
    /// Defines the arithmetic flags; see [`FlagKind`].
    Flags {
        kind: FlagKind,
        size: Size,
        a: Reg,
        b: Value,
        c: Reg,
    },
    /// dst = the six arithmetic flags at their places in RFLAGS
    ReadFlags {
        dst: Reg,
    },
    /// dst = CF, 0 or 1, as data: the carry that adc adds, that inc keeps
    Carry {
        dst: Reg,
    },
    /// dst = 1 if the condition holds on the flags, else 0. Every decision (jump, set, move) goes
    /// through the one-bit value that this op makes.
    Test {
        condition: Condition,
        dst: Reg,
    },
    /// dst = 1 if the low `size` bytes of src are zero, else 0 (jrcxz, loop)
    IsZero {
        size: Size,
        dst: Reg,
        src: Reg,
    },
    /// dst = if condition { yes } else { no }, at `size`
    Select {
        size: Size,
        dst: Reg,
        condition: Reg,
        yes: Reg,
        no: Reg,
    },
    /// A vector or float function; see [`VectorOp`] for which slots, or pairs of slots, it reads and
    /// writes. It faults on a float exception that MXCSR does not mask; the exception flags are
    /// then set all the same.
    Vector {
        op: VectorOp,
        dst: Reg,
        a: Reg,
        b: Reg,
        imm: u8,
    },
    /// Compares strings of bytes or words in the pairs of slots `a` and `b`, in the way that `imm` says (pcmpistri and its
    /// kin). A length is a signed 64-bit number, of which the magnitude counts; a string whose length is
    /// [`Reg::ZERO`] ends at its first zero.
    CompareStrings {
        result: StringResult,
        dst: Reg,
        a: Reg,
        b: Reg,
        a_length: Reg,
        b_length: Reg,
        imm: u8,
    },
    /// A string instruction with its repetition, over rsi, rdi, rcx, rax and DF. The rsi operand
    /// may have a segment.
    String {
        kind: StringKind,
        size: Size,
        repeat: Repeat,
        segment: Reg,
        narrow: bool,
    },
    Helper {
        helper: Helper,
        address: Address,
    },
    /// Faults (#GP) if src has a bit that is reserved in MXCSR.
    CheckMxcsr {
        src: Reg,
    },

    Jump {
        target: Value,
    },
    /// The return address has been pushed by a store before.
    Call {
        target: Value,
        return_address: u64,
    },
    Return {
        target: Reg,
    },
    Branch {
        condition: Reg,
        taken: u64,
        not_taken: u64,
    },
    Syscall,
    Trap(Trap),
    /// An instruction that whydunit does not implement.
    Unsupported,
}

/// The register that an instruction jumps by, if it does.
pub fn jump_register(ops: &[Op]) -> Option<Reg> {
    match ops.last() {
        Some(Op::Jump { target: Value::Reg(reg) }) if !reg.is_temp() => Some(*reg),
        _ => None,
    }
}

impl Op {
    /// Whether this op only moves x87 registers about: what it writes of them it has from one of them, byte by byte.
    pub const fn moves_x87(&self) -> bool {
        match self {
            Op::Rotate { .. } => true,
            Op::X87 { op, .. } => op.is_copy(),
            Op::Move { src: Value::Reg(src), .. } => src.is_x87(),
            _ => false,
        }
    }

    /// Whether control does not simply go on after this op.
    pub const fn ends_block(&self) -> bool {
        matches!(
            self,
            Op::Jump { .. }
                | Op::Call { .. }
                | Op::Return { .. }
                | Op::Branch { .. }
                | Op::Syscall
                | Op::Trap(_)
                | Op::Unsupported
        )
    }
}

impl Turn {
    /// The lower slot of the register that `register`, of which this is a lower slot, is made from.
    pub const fn source(self, register: Reg) -> Reg {
        let number = (register.0 - Reg::st(0).0) / 2;
        match self {
            Turn::Push => Reg::st((number + 7) % 8),
            Turn::Pop => Reg::st((number + 1) % 8),
        }
    }
}
