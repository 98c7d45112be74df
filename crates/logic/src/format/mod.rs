//! printf's formats, forwards and backwards: what a conversion prints, and what its argument must have been to print a given text.
//!
//! [`Format::parse`] reads a format, [`Format::align`] lays an expected text beside it, and each conversion has then a [`Wanted`]: the exact set of arguments that
//! print so, as data and as a term. It is as glibc prints in the C locale, rounding to the nearest.
//!
//! There is one description of printing (`print`, `decimal`, `hexadecimal`), which tests hold against the C library. To invert it, a candidate is read
//! from the text and printed again; floats that print alike are neighbours, so both ends of the set are found by bisection.

mod align;
mod decimal;
mod float;
mod hexadecimal;
mod invert;
mod parse;
mod print;
#[cfg(test)]
mod tests;
mod wanted;

pub use align::{Aligned, Misfit, Part};
pub use float::{FloatSet, FloatValue};
pub use invert::Impossible;
pub use print::Value;
pub use wanted::Wanted;

/// A format, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Printed as it is; `%%` is such a piece.
    Literal(Vec<u8>),
    Conversion(Conversion),
}

/// `%-8.3ld` and the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    pub flags: Flags,
    pub width: Option<Amount>,
    pub precision: Option<Amount>,
    pub length: Length,
    pub kind: Kind,
    /// Which argument after the format it prints, from 0 on.
    pub argument: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `-`
    pub left: bool,
    /// `+`
    pub plus: bool,
    /// A blank.
    pub blank: bool,
    /// `#`
    pub alternate: bool,
    /// `0`
    pub zeroes: bool,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    Given(u32),
    /// `*`: this argument, an int.
    Argument(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// hh
    Byte,
    /// h
    Short,
    None,
    /// l, ll, j, z, t: all have 64 bits here.
    Long,
    /// L
    LongDouble,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// d, i
    Signed,
    /// u
    Unsigned,
    /// o
    Octal,
    /// x, X
    Hexadecimal { upper: bool },
    /// c
    Character,
    /// s
    Text,
    /// p
    Pointer,
    /// f, F, e, E, g, G, a, A
    Float { style: FloatStyle, upper: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatStyle {
    /// f
    Fixed,
    /// e
    Exponent,
    /// g
    General,
    /// a
    Hexadecimal,
}

/// What is wrong with a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    #[error("the format ends within a conversion")]
    Unfinished,
    #[error("%{} is not supported", char::from(*.0))]
    Unsupported(u8),
    #[error("a width or precision is too large")]
    TooLarge,
    #[error("positional arguments are not supported")]
    Positional,
    #[error("a width or precision that is an argument is not known")]
    AmountNotKnown,
}

impl Conversion {
    /// How many low bits of an integer argument are printed.
    pub fn bits(&self) -> u32 {
        match (self.kind, self.length) {
            (Kind::Character, _) | (_, Length::Byte) => 8,
            (Kind::Pointer, _) | (_, Length::Long) => 64,
            (_, Length::Short) => 16,
            (_, Length::None | Length::LongDouble) => 32,
        }
    }

    /// The width if it is known: none is 0.
    fn known_width(&self) -> usize {
        match self.width {
            Some(Amount::Given(width)) => width as usize,
            Some(Amount::Argument(_)) | None => 0,
        }
    }

    fn known_precision(&self) -> Option<usize> {
        match self.precision {
            Some(Amount::Given(precision)) => Some(precision as usize),
            Some(Amount::Argument(_)) | None => None,
        }
    }
}
