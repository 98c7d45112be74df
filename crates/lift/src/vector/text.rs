//! Vector functions as the op printer shows them.

use super::{
    Conversion, FloatFunction, FloatWidth, IntegerWidth, LaneFunction, Shuffle, Signedness, VectorOp,
};
use crate::Size;
use crate::print::lower;
use std::fmt;

impl fmt::Display for VectorOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            VectorOp::Lanes(function, size) => write!(f, "{function}.{}", each(size)),
            VectorOp::Bitwise(function) => write!(f, "{}.128", lower(function)),
            // Whether the count is the immediate shows in the operands.
            VectorOp::Shift(function, size, _) => write!(f, "shift{}.{}", lower(function), each(size)),
            VectorOp::ShiftBytes(direction) => write!(f, "shiftbytes{}", lower(direction)),
            VectorOp::Pairs(function, size) => write!(f, "{function} pairs.{}", each(size)),
            VectorOp::Absolute(size) => write!(f, "absolute.{}", each(size)),
            VectorOp::MultiplyEven(Signedness::Unsigned) => f.write_str("multiplyeven"),
            VectorOp::MultiplyEven(Signedness::Signed) => f.write_str("multiplyeven signed"),
            VectorOp::MultiplyAddBytes => f.write_str("multiplyaddbytes"),
            VectorOp::SlidingDifferences => f.write_str("slidingdifferences"),
            VectorOp::MinimumPosition => f.write_str("minimumposition"),
            VectorOp::ShuffleBytes => f.write_str("shuffle bytes"),
            VectorOp::Align => f.write_str("align"),
            VectorOp::Blend(size) => write!(f, "blend.{}", each(size)),
            VectorOp::Widen { from, to, signedness } => {
                write!(f, "widen {}.{}.{}", lower(signedness), from.bits(), each(to))
            }
            VectorOp::TestBits => f.write_str("testbits"),
            VectorOp::Checksum(size) => write!(f, "checksum.{}", size.bits()),
            VectorOp::FloatPairs { function, width } => {
                write!(f, "{} pairs.{width}{}", lower(function), lanes_of(width))
            }
            VectorOp::MultiplyAddPairs => f.write_str("multiplyaddpairs"),
            VectorOp::SumDifferences => f.write_str("sumdifferences"),
            VectorOp::Unpack(half, size) => write!(f, "unpack {}.{}", lower(half), each(size)),
            VectorOp::Pack(from, range) => write!(f, "pack {} {}", lower(from), lower(range)),
            VectorOp::Shuffle(Shuffle::Words(half)) => write!(f, "shuffle words {}", lower(half)),
            VectorOp::Shuffle(shuffle) => write!(f, "shuffle {}", lower(shuffle)),
            VectorOp::SignMask(size) => write!(f, "signmask.{}", each(size)),
            VectorOp::Float { function, width, packed } => {
                write!(f, "{function}.{width}{}", if packed { lanes_of(width) } else { "" })
            }
            VectorOp::CompareFlags { width, signalling } => {
                write!(f, "compare{}.{width}", if signalling { " signalling" } else { "" })
            }
            VectorOp::Convert(conversion) => write!(f, "{conversion}"),
            VectorOp::Approximate { function, packed } => {
                write!(f, "approximate {}.f32{}", lower(function), if packed { "x4" } else { "" })
            }
        }
    }
}

impl fmt::Display for LaneFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LaneFunction::AddSaturating(range) => write!(f, "addsaturating {}", lower(range)),
            LaneFunction::SubSaturating(range) => write!(f, "subsaturating {}", lower(range)),
            LaneFunction::Min(sign) => write!(f, "min {}", lower(sign)),
            LaneFunction::Max(sign) => write!(f, "max {}", lower(sign)),
            LaneFunction::MultiplyHigh(sign) => write!(f, "multiplyhigh {}", lower(sign)),
            LaneFunction::Add
            | LaneFunction::Sub
            | LaneFunction::Equal
            | LaneFunction::GreaterSigned
            | LaneFunction::Average
            | LaneFunction::MultiplyLow
            | LaneFunction::MultiplyRounded
            | LaneFunction::Sign => f.write_str(&lower(self)),
        }
    }
}

impl fmt::Display for FloatFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            FloatFunction::Compare(predicate) => write!(f, "compare {}", lower(predicate)),
            FloatFunction::Round { to, quiet } => {
                write!(f, "round {}{}", lower(to), if quiet { " quiet" } else { "" })
            }
            _ => f.write_str(&lower(self)),
        }
    }
}

impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounding = |truncate| if truncate { "truncate" } else { "round" };
        match *self {
            Conversion::IntegerToScalar { from, to } => write!(f, "convert {from}.{to}"),
            Conversion::ScalarToInteger { from, to, truncate } => {
                write!(f, "{} {from}.{to}", rounding(truncate))
            }
            Conversion::ScalarTo(to) => write!(f, "convert {}.{to}", other(to)),
            Conversion::PackedTo(to) => write!(f, "convert {}.{to}x2", other(to)),
            Conversion::IntegersToPacked(to) => write!(f, "convert i32.{to}{}", lanes_of(to)),
            Conversion::PackedToIntegers { from, truncate } => {
                write!(f, "{} {from}.i32{}", rounding(truncate), lanes_of(from))
            }
        }
    }
}

impl fmt::Display for FloatWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FloatWidth::F32 => "f32",
            FloatWidth::F64 => "f64",
        })
    }
}

impl fmt::Display for IntegerWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IntegerWidth::I32 => "i32",
            IntegerWidth::I64 => "i64",
        })
    }
}

/// `8x16`: the lane's bits, and how many lanes there are.
fn each(size: Size) -> String {
    format!("{}x{}", size.bits(), 128 / size.bits())
}

fn lanes_of(width: FloatWidth) -> &'static str {
    match width {
        FloatWidth::F32 => "x4",
        FloatWidth::F64 => "x2",
    }
}

fn other(width: FloatWidth) -> FloatWidth {
    match width {
        FloatWidth::F32 => FloatWidth::F64,
        FloatWidth::F64 => FloatWidth::F32,
    }
}
