//! What kinds of values terms have.

use std::fmt;

/// The kind of a term's value. A value of any sort is given as the bits of a `u128`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sort {
    /// 0 or 1.
    Bool,
    /// So many bits, 1 to 128.
    Bits(u8),
    /// The bits of a float as the machine has them in memory.
    Float(Format),
}

impl Sort {
    /// How many bits a value has.
    #[inline]
    pub const fn width(self) -> u32 {
        match self {
            Sort::Bool => 1,
            Sort::Bits(width) => width as u32,
            Sort::Float(format) => format.bits(),
        }
    }

    /// All bits of a value.
    #[inline]
    pub const fn mask(self) -> u128 {
        u128::MAX >> (128 - self.width())
    }
}

/// The formats of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// 32 bits
    Single,
    /// 64 bits
    Double,
    /// The 80 bits of an x87 register. Unlike in the other two, the first digit of the significand is a bit of its own (bit 63), so SMT-LIB's
    /// `(_ FloatingPoint 15 64)` has one bit less. Encodings that no operation makes (unnormals and their kin) are kept as they are.
    Extended,
}

impl Format {
    pub const ALL: [Format; 3] = [Format::Single, Format::Double, Format::Extended];

    /// How many bits a value has, as the machine stores it.
    pub const fn bits(self) -> u32 {
        match self {
            Format::Single => 32,
            Format::Double => 64,
            Format::Extended => 80,
        }
    }

    /// How many bits the exponent has.
    pub const fn exponent_bits(self) -> u32 {
        match self {
            Format::Single => 8,
            Format::Double => 11,
            Format::Extended => 15,
        }
    }

    /// How many digits the significand has, with the first one, which is a bit only in [`Format::Extended`].
    pub const fn digits(self) -> u32 {
        match self {
            Format::Single => 24,
            Format::Double => 53,
            Format::Extended => 64,
        }
    }

    /// The sign bit.
    pub const fn sign(self) -> u128 {
        1 << (self.bits() - 1)
    }
}

/// Where a result is rounded to that the format does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rounding {
    /// The nearest, of two the even one (RNE).
    Nearest,
    /// Towards minus infinity (RTN).
    Down,
    /// Towards plus infinity (RTP).
    Up,
    /// Towards zero (RTZ).
    Zero,
}

impl Rounding {
    /// In the order in which MXCSR and the x87 control word number them.
    pub const ALL: [Rounding; 4] = [Rounding::Nearest, Rounding::Down, Rounding::Up, Rounding::Zero];

    /// The number that MXCSR and the x87 control word have for it.
    pub const fn code(self) -> u32 {
        self as u32
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Bool => f.write_str("bool"),
            Sort::Bits(width) => write!(f, "u{width}"),
            Sort::Float(format) => write!(f, "{format}"),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.bits())
    }
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rounding::Nearest => "nearest",
            Rounding::Down => "down",
            Rounding::Up => "up",
            Rounding::Zero => "zero",
        })
    }
}
