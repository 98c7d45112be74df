//! The table of x87 functions: what the old float unit computes, on numbers of 80 bits.
//!
//! A register is a pair of slots: the 64 bits of the significand, and above them exponent and sign (16 bits) with
//! [`IN_USE`]. The stack of registers is kept relative to its top: [`crate::Reg::st`] is always ST(i), and a push or a pop
//! moves all eight of them ([`crate::Op::Rotate`]). So every op names the registers that it reads and writes, whatever
//! the top is when it is executed, and a value can be followed from register to register.
//!
//! All functions add to the exception flags and set condition codes (C1, if nothing else). With an exception that the control
//! word does not mask they fault, at once, not at the next x87 instruction.

use crate::Size;
use crate::print::lower;
use std::fmt;

/// Set in the upper slot of a register that is not empty.
pub const IN_USE: u64 = 1 << 16;
/// Sign and exponent in the upper slot.
pub const SIGN_AND_EXPONENT: u64 = 0xffff;
/// The control word after reset: all exceptions masked, 64 bits of precision, round to nearest.
pub const INITIAL_CONTROL: u64 = 0x37f;
/// The exception flags and the stack fault, at their places in the status word.
pub const FLAGS: u64 = 0x7f;
/// The condition codes C0 to C3, likewise.
pub const CODES: u64 = C0 | C1 | C2 | C3;
pub const C0: u64 = 1 << 8;
pub const C1: u64 = 1 << 9;
pub const C2: u64 = 1 << 10;
pub const C3: u64 = 1 << 14;

/// A function of the x87 unit. [`X87Op::a`], [`X87Op::b`] and [`X87Op::result`] say what it reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum X87Op {
    /// Of register `a` and of `b`, which is a number in the given format.
    Arithmetic(X87Arithmetic, X87Format),
    /// C0, C2 and C3 from the comparison of `a` and `b`. `quiet`: only a signalling NaN is an invalid operation.
    Compare { quiet: bool, format: X87Format },
    /// As `Compare`, with the result as CF, PF and ZF at their places in RFLAGS.
    CompareFlags { quiet: bool },
    /// As `Compare` with zero (ftst).
    Test,
    /// The kind of number in `a`, as condition codes (fxam).
    Examine,
    /// Of register `a`.
    Unary(X87Unary),
    /// Of registers `a` and `b`.
    Binary(X87Binary),
    /// A number for the register that is pushed; `b` is the place where it will be.
    Constant(X87Constant),
    /// The number in `a`, which is in the given format, for the register that is pushed.
    Load(X87Format),
    /// Register `a` in the given format, in the first slot. The status word as it will be is in the second, because it must not
    /// change before the number is stored. `truncate`: towards zero, whatever the control word says.
    Store { format: X87Format, truncate: bool },
    /// Register `a` as 18 decimal digits and a sign, in the form of a register. `tells`: what that raises counts.
    ToDecimal { tells: bool },
    /// The ten bytes in the form of a register as decimal digits, for the register that is pushed.
    FromDecimal,
    /// Register `a` as it is. It must not be empty, nor `b`, if that is a register.
    Copy,
    /// Register `a` as it is, for the register that is pushed.
    Push,
    /// The status word, into one slot.
    StatusWord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum X87Arithmetic {
    Add,
    Multiply,
    Subtract,
    /// `b - a`
    SubtractFrom,
    Divide,
    /// `b / a`
    DivideInto,
}

/// The form of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum X87Format {
    /// A register.
    Extended,
    Single,
    Double,
    Integer16,
    Integer32,
    Integer64,
}

/// The transcendental ones (from `Sine` on) are computed by an algorithm of the machine's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum X87Unary {
    Negate,
    Absolute,
    SquareRoot,
    /// To a whole number, as the control word says.
    Round,
    /// The exponent as a number. As for all functions that go along with a push, `b` is the place that is pushed.
    Exponent,
    /// The significand, with the exponent of numbers between 1 and 2.
    Significand,
    /// 2^a - 1, for numbers between -1 and 1.
    Exponential,
    Sine,
    Cosine,
    SineWithPush,
    CosineWithPush,
    TangentWithPush,
    /// What comes along with a tangent: 1, unless there is none.
    OneWithPush,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum X87Binary {
    /// a · 2^b, b rounded to a whole number towards zero.
    Scale,
    /// The remainder of a / b, or a step towards it, which C2 tells; the quotient rounded towards zero.
    Remainder,
    /// As `Remainder`, the quotient rounded to nearest.
    RemainderNearest,
    /// The angle of b / a.
    ArcTangent,
    /// b · log2 a
    Logarithm,
    /// b · log2 (a + 1)
    LogarithmPlusOne,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum X87Constant {
    One,
    Log2Of10,
    Log2OfE,
    Pi,
    Log10Of2,
    LnOf2,
    Zero,
}

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum X87Operand {
    None,
    /// The low bytes of one slot.
    Slot(Size),
    /// A pair of slots.
    Register,
    /// A register, of which only counts whether it is empty.
    Place,
}

/// What is written, besides flags and condition codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum X87Result {
    None,
    Slot,
    /// A pair of slots: a register.
    Register,
    /// A pair of slots: a number in another format, and the status word.
    Number(Size),
}

impl X87Format {
    const fn operand(self) -> X87Operand {
        match self {
            X87Format::Extended => X87Operand::Register,
            _ => X87Operand::Slot(self.size()),
        }
    }

    /// Of those that fit a slot.
    pub const fn size(self) -> Size {
        match self {
            X87Format::Integer16 => Size::B2,
            X87Format::Single | X87Format::Integer32 => Size::B4,
            X87Format::Double | X87Format::Integer64 | X87Format::Extended => Size::B8,
        }
    }
}

impl X87Unary {
    const fn pushes(self) -> bool {
        use X87Unary::*;
        matches!(self, Exponent | Significand | SineWithPush | CosineWithPush | TangentWithPush | OneWithPush)
    }
}

impl X87Op {
    pub const fn a(self) -> X87Operand {
        match self {
            X87Op::Constant(_) | X87Op::StatusWord => X87Operand::None,
            X87Op::Load(format) => format.operand(),
            X87Op::Arithmetic(..)
            | X87Op::Compare { .. }
            | X87Op::CompareFlags { .. }
            | X87Op::Test
            | X87Op::Examine
            | X87Op::Unary(_)
            | X87Op::Binary(_)
            | X87Op::Store { .. }
            | X87Op::ToDecimal { .. }
            | X87Op::FromDecimal
            | X87Op::Copy
            | X87Op::Push => X87Operand::Register,
        }
    }

    pub const fn b(self) -> X87Operand {
        match self {
            X87Op::Arithmetic(_, format) | X87Op::Compare { format, .. } => format.operand(),
            X87Op::CompareFlags { .. } | X87Op::Binary(_) => X87Operand::Register,
            X87Op::Unary(function) if function.pushes() => X87Operand::Place,
            X87Op::Constant(_) | X87Op::Load(_) | X87Op::FromDecimal | X87Op::Copy | X87Op::Push => {
                X87Operand::Place
            }
            X87Op::Test
            | X87Op::Examine
            | X87Op::Unary(_)
            | X87Op::Store { .. }
            | X87Op::ToDecimal { .. }
            | X87Op::StatusWord => X87Operand::None,
        }
    }

    pub const fn result(self) -> X87Result {
        match self {
            X87Op::Compare { .. } | X87Op::Test | X87Op::Examine => X87Result::None,
            X87Op::CompareFlags { .. } | X87Op::StatusWord => X87Result::Slot,
            X87Op::Store { format, .. } => X87Result::Number(format.size()),
            X87Op::Arithmetic(..)
            | X87Op::Unary(_)
            | X87Op::Binary(_)
            | X87Op::Constant(_)
            | X87Op::Load(_)
            | X87Op::ToDecimal { .. }
            | X87Op::FromDecimal
            | X87Op::Copy
            | X87Op::Push => X87Result::Register,
        }
    }

    /// Whether the result is register `a`, byte by byte.
    pub const fn is_copy(self) -> bool {
        matches!(self, X87Op::Copy | X87Op::Push)
    }

    /// Whether exception flags and condition codes are written (else only what [`X87Op::result`] says).
    pub const fn tells(self) -> bool {
        !matches!(self, X87Op::Store { .. } | X87Op::StatusWord | X87Op::ToDecimal { tells: false })
    }

    /// Whether the condition codes are a result, of the operands alone. Otherwise C1 tells how the result was rounded, which
    /// next to nobody asks.
    pub const fn defines_codes(self) -> bool {
        matches!(
            self,
            X87Op::Compare { .. }
                | X87Op::Test
                | X87Op::Examine
                | X87Op::Binary(X87Binary::Remainder | X87Binary::RemainderNearest)
        )
    }
}

impl fmt::Display for X87Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("x87 ")?;
        let loud = |quiet: bool| if quiet { "" } else { " signalling" };
        match *self {
            X87Op::Arithmetic(function, format) => write!(f, "{}.{format}", lower(function)),
            X87Op::Compare { quiet, format } => write!(f, "compare{}.{format}", loud(quiet)),
            X87Op::CompareFlags { quiet } => write!(f, "compareflags{}", loud(quiet)),
            X87Op::Unary(function) => f.write_str(&lower(function)),
            X87Op::Binary(function) => f.write_str(&lower(function)),
            X87Op::Constant(constant) => write!(f, "constant {}", lower(constant)),
            X87Op::Load(format) => write!(f, "load.{format}"),
            X87Op::Store { format, truncate } => {
                write!(f, "{}.{format}", if truncate { "truncate" } else { "round" })
            }
            X87Op::ToDecimal { .. } => f.write_str("todecimal"),
            X87Op::Test
            | X87Op::Examine
            | X87Op::FromDecimal
            | X87Op::Copy
            | X87Op::Push
            | X87Op::StatusWord => f.write_str(&lower(self)),
        }
    }
}

impl fmt::Display for X87Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            X87Format::Extended => "f80",
            X87Format::Single => "f32",
            X87Format::Double => "f64",
            X87Format::Integer16 => "i16",
            X87Format::Integer32 => "i32",
            X87Format::Integer64 => "i64",
        })
    }
}
