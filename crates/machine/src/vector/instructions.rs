//! Which instruction of the host computes which float function.

use super::float::{Instruction, execute, instruction, shape};
use super::mxcsr::DEFAULT;
use super::permute::every_other;
use super::unmasked::{Computation, Function};
use super::{FloatCall, round};
use lift::vector::FloatWidth::{self, F32, F64};
use lift::vector::{Conversion, FloatFunction, IntegerWidth, PairFunction, Predicate};
use std::arch::asm;

/// For instructions whose result cannot be too large or too small.
const IN_RANGE: Option<Computation> = None;

const fn computes(function: Function, width: FloatWidth, packed: bool) -> Option<Computation> {
    Some(Computation { function, width, packed })
}

pub fn arithmetic(function: FloatFunction, width: FloatWidth, packed: bool) -> FloatCall {
    /// The four forms of an instruction.
    macro_rules! forms {
        ($name:literal, $operands:expr) => {
            forms!($name, $operands, IN_RANGE, IN_RANGE, IN_RANGE, IN_RANGE)
        };
        ($name:literal, $operands:expr, $function:expr) => {
            forms!(
                $name,
                $operands,
                computes($function, F32, false),
                computes($function, F32, true),
                computes($function, F64, false),
                computes($function, F64, true)
            )
        };
        ($name:literal, $operands:expr, $ss:expr, $ps:expr, $sd:expr, $pd:expr) => {
            match (width, packed) {
                (F32, false) => instruction!(scalar, $ss, concat!($name, "ss ", $operands)),
                (F32, true) => instruction!(packed, $ps, concat!($name, "ps ", $operands)),
                (F64, false) => instruction!(scalar, $sd, concat!($name, "sd ", $operands)),
                (F64, true) => instruction!(packed, $pd, concat!($name, "pd ", $operands)),
            }
        };
    }
    macro_rules! compare {
        ($predicate:literal) => {
            forms!("cmp", concat!("{a}, {b}, ", $predicate))
        };
    }
    match function {
        FloatFunction::Add => forms!("add", "{a}, {b}", Function::Add),
        FloatFunction::Sub => forms!("sub", "{a}, {b}", Function::Sub),
        FloatFunction::Mul => forms!("mul", "{a}, {b}", Function::Mul),
        FloatFunction::Div => forms!("div", "{a}, {b}", Function::Div),
        FloatFunction::Min => forms!("min", "{a}, {b}"),
        FloatFunction::Max => forms!("max", "{a}, {b}"),
        FloatFunction::Sqrt => forms!("sqrt", "{a}, {b}"),
        FloatFunction::Compare(Predicate::Equal) => compare!("0"),
        FloatFunction::Compare(Predicate::Less) => compare!("1"),
        FloatFunction::Compare(Predicate::LessOrEqual) => compare!("2"),
        FloatFunction::Compare(Predicate::Unordered) => compare!("3"),
        FloatFunction::Compare(Predicate::NotEqual) => compare!("4"),
        FloatFunction::Compare(Predicate::NotLess) => compare!("5"),
        FloatFunction::Compare(Predicate::NotLessOrEqual) => compare!("6"),
        FloatFunction::Compare(Predicate::Ordered) => compare!("7"),
        FloatFunction::Round { to, quiet } => round::function_for(to, quiet, width, packed),
        FloatFunction::SubAdd => sub_add(width),
    }
}

/// A sum with every other lane of `b` negated, which is exact. A NaN keeps its sign, as in a difference.
fn sub_add(width: FloatWidth) -> FloatCall {
    match width {
        F32 => |a, b, mxcsr| {
            let negated = [0, 2].into_iter().fold(b, |b, n| {
                let is_nan = f32::from_bits((b >> (32 * n)) as u32).is_nan();
                if is_nan { b } else { b ^ 1 << (32 * n + 31) }
            });
            arithmetic(FloatFunction::Add, F32, true)(a, negated, mxcsr)
        },
        F64 => |a, b, mxcsr| {
            let negated = if f64::from_bits(b as u64).is_nan() { b } else { b ^ 1 << 63 };
            arithmetic(FloatFunction::Add, F64, true)(a, negated, mxcsr)
        },
    }
}

/// Neighbouring lanes are those with even numbers and those with odd ones, side by side.
pub fn pairs(function: PairFunction, width: FloatWidth) -> FloatCall {
    macro_rules! pairs {
        ($lane:ty, $function:expr, $width:expr) => {
            |a, b, mxcsr| {
                let (even, odd) = (every_other::<$lane>(0, a, b), every_other::<$lane>(1, a, b));
                arithmetic($function, $width, true)(even, odd, mxcsr)
            }
        };
    }
    match (function, width) {
        (PairFunction::Add, F32) => pairs!(u32, FloatFunction::Add, F32),
        (PairFunction::Add, F64) => pairs!(u64, FloatFunction::Add, F64),
        (PairFunction::Sub, F32) => pairs!(u32, FloatFunction::Sub, F32),
        (PairFunction::Sub, F64) => pairs!(u64, FloatFunction::Sub, F64),
    }
}

pub fn compare_flags(width: FloatWidth, signalling: bool) -> FloatCall {
    macro_rules! compare {
        ($name:literal) => {
            instruction!(flags, IN_RANGE, concat!($name, " {a}, {b}"), "pushfq", "pop {g}")
        };
    }
    match (width, signalling) {
        (F32, false) => compare!("ucomiss"),
        (F32, true) => compare!("comiss"),
        (F64, false) => compare!("ucomisd"),
        (F64, true) => compare!("comisd"),
    }
}

pub fn conversion(conversion: Conversion) -> FloatCall {
    use IntegerWidth::{I32, I64};
    match conversion {
        Conversion::IntegerToScalar { from, to } => match (from, to) {
            (I32, F32) => instruction!(scalar, IN_RANGE, "cvtsi2ss {a}, {g:e}"),
            (I64, F32) => instruction!(scalar, IN_RANGE, "cvtsi2ss {a}, {g}"),
            (I32, F64) => instruction!(scalar, IN_RANGE, "cvtsi2sd {a}, {g:e}"),
            (I64, F64) => instruction!(scalar, IN_RANGE, "cvtsi2sd {a}, {g}"),
        },
        Conversion::ScalarToInteger { from, to, truncate } => match (from, to, truncate) {
            (F32, I32, false) => instruction!(general, IN_RANGE, "cvtss2si {g:e}, {b}"),
            (F32, I32, true) => instruction!(general, IN_RANGE, "cvttss2si {g:e}, {b}"),
            (F32, I64, false) => instruction!(general, IN_RANGE, "cvtss2si {g}, {b}"),
            (F32, I64, true) => instruction!(general, IN_RANGE, "cvttss2si {g}, {b}"),
            (F64, I32, false) => instruction!(general, IN_RANGE, "cvtsd2si {g:e}, {b}"),
            (F64, I32, true) => instruction!(general, IN_RANGE, "cvttsd2si {g:e}, {b}"),
            (F64, I64, false) => instruction!(general, IN_RANGE, "cvtsd2si {g}, {b}"),
            (F64, I64, true) => instruction!(general, IN_RANGE, "cvttsd2si {g}, {b}"),
        },
        Conversion::ScalarTo(F32) => {
            instruction!(scalar, computes(Function::Narrow, F64, false), "cvtsd2ss {a}, {b}")
        }
        Conversion::ScalarTo(F64) => instruction!(scalar, IN_RANGE, "cvtss2sd {a}, {b}"),
        Conversion::PackedTo(F32) => {
            instruction!(packed, computes(Function::Narrow, F64, true), "cvtpd2ps {a}, {b}")
        }
        Conversion::PackedTo(F64) => instruction!(packed, IN_RANGE, "cvtps2pd {a}, {b}"),
        Conversion::IntegersToPacked(F32) => instruction!(packed, IN_RANGE, "cvtdq2ps {a}, {b}"),
        Conversion::IntegersToPacked(F64) => instruction!(packed, IN_RANGE, "cvtdq2pd {a}, {b}"),
        Conversion::PackedToIntegers { from, truncate } => match (from, truncate) {
            (F32, false) => instruction!(packed, IN_RANGE, "cvtps2dq {a}, {b}"),
            (F32, true) => instruction!(packed, IN_RANGE, "cvttps2dq {a}, {b}"),
            (F64, false) => instruction!(packed, IN_RANGE, "cvtpd2dq {a}, {b}"),
            (F64, true) => instruction!(packed, IN_RANGE, "cvttpd2dq {a}, {b}"),
        },
    }
}
