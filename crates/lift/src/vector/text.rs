//! Vector functions as the op printer shows them.

use super::{Conversion, FloatWidth, IntegerWidth, Shuffle, VectorOp};
use std::fmt;

impl fmt::Display for VectorOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            VectorOp::Lanes(function, size) => write!(f, "{function:?}.{}", size.bytes()),
            VectorOp::Bitwise(function) => write!(f, "{function:?}"),
            VectorOp::Shift(function, size, count) => {
                write!(f, "Shift{function:?}.{}.{count:?}", size.bytes())
            }
            VectorOp::ShiftBytes(direction) => write!(f, "ShiftBytes{direction:?}"),
            VectorOp::MultiplyEven => f.write_str("MultiplyEven"),
            VectorOp::MultiplyAddPairs => f.write_str("MultiplyAddPairs"),
            VectorOp::SumDifferences => f.write_str("SumDifferences"),
            VectorOp::Unpack(half, size) => write!(f, "Unpack{half:?}.{}", size.bytes()),
            VectorOp::Pack(from, range) => write!(f, "Pack{from:?}{range:?}"),
            VectorOp::Shuffle(Shuffle::Words(half)) => write!(f, "ShuffleWords{half:?}"),
            VectorOp::Shuffle(shuffle) => write!(f, "Shuffle{shuffle:?}"),
            VectorOp::SignMask(size) => write!(f, "SignMask.{}", size.bytes()),
            VectorOp::Float { function, width, packed } => {
                write!(f, "{function:?}.{width}{}", lanes(packed))
            }
            VectorOp::CompareFlags { width, signalling } => {
                write!(f, "CompareFlags.{width}{}", if signalling { ".signalling" } else { "" })
            }
            VectorOp::Convert(conversion) => write!(f, "{conversion}"),
            VectorOp::Approximate { function, packed } => write!(f, "{function:?}.f32{}", lanes(packed)),
        }
    }
}

impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounding = |truncate| if truncate { "Truncate" } else { "Round" };
        match *self {
            Conversion::IntegerToScalar { from, to } => write!(f, "Convert.{from}.{to}"),
            Conversion::ScalarToInteger { from, to, truncate } => {
                write!(f, "{}.{from}.{to}", rounding(truncate))
            }
            Conversion::ScalarTo(to) => write!(f, "Convert.{}.{to}", other(to)),
            Conversion::PackedTo(to) => write!(f, "Convert.{}.{to}.packed", other(to)),
            Conversion::IntegersToPacked(to) => write!(f, "Convert.i32.{to}.packed"),
            Conversion::PackedToIntegers { from, truncate } => {
                write!(f, "{}.{from}.i32.packed", rounding(truncate))
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

fn lanes(packed: bool) -> &'static str {
    if packed { ".packed" } else { "" }
}

fn other(width: FloatWidth) -> FloatWidth {
    match width {
        FloatWidth::F32 => FloatWidth::F64,
        FloatWidth::F64 => FloatWidth::F32,
    }
}
