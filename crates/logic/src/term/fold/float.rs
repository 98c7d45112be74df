//! Floats, computed by the machine's own functions: singles and doubles by those of SSE, 80 bits by those of the x87 unit. So there is one place
//! that says what a sum of floats is, down to the bits of a NaN.

use super::signed;
use crate::term::{FloatArithmetic, FloatCompare, Format, Node, Rounding, Sort};
use lift::flags::{CF, PF, ZF};
use lift::vector::{Conversion, FloatFunction, FloatWidth, IntegerWidth};
use lift::x87::{
    C2, IN_USE, SIGN_AND_EXPONENT, X87Arithmetic, X87Binary, X87Format, X87Operand, X87Result, X87Unary,
};
use lift::{VectorOp, X87Op};
use machine::x87::Pair;

/// All exceptions masked, and told already, so that nothing has to be noticed.
const MXCSR: u32 = 0x1fbf;
const MXCSR_ROUNDING: u32 = 13;
/// All exceptions masked, 64 digits.
const CONTROL: u16 = 0x37f;
const CONTROL_ROUNDING: u32 = 10;

/// The value of a float node; `sort` is that of its first operand.
pub fn value_of(node: Node, sort: Sort, a: u128, b: u128) -> Option<u128> {
    let format = match sort {
        Sort::Float(format) => Some(format),
        Sort::Bool | Sort::Bits(_) => None,
    };
    match node {
        Node::FloatArithmetic(function, rounding, ..) => arithmetic(function, rounding, format?, a, b),
        Node::FloatRemainder(..) => remainder(format?, a, b),
        Node::FloatSquareRoot(rounding, _) => square_root(rounding, format?, a),
        Node::FloatRound(rounding, _) => round(rounding, format?, a),
        Node::FloatNegate(_) => Some(a ^ format?.sign()),
        Node::FloatAbsolute(_) => Some(a & !format?.sign()),
        Node::FloatCompare(relation, ..) => Some(compare(relation, format?, a, b).into()),
        Node::FloatIsNan(_) => Some(is_nan(format?, a).into()),
        Node::FloatFromBits(..) | Node::FloatToBits(_) => Some(a),
        Node::FloatConvert(to, rounding, _) => convert(format?, to, rounding, a),
        Node::FloatFromSigned(to, rounding, _) => from_signed(to, rounding, signed(sort.width(), a)),
        Node::FloatToSigned(width, rounding, _) => to_signed(format?, width, rounding, a),
        _ => None,
    }
}

/// The SSE width of a format that has one.
fn width(format: Format) -> Option<FloatWidth> {
    match format {
        Format::Single => Some(FloatWidth::F32),
        Format::Double => Some(FloatWidth::F64),
        Format::Extended => None,
    }
}

fn x87_format(format: Format) -> X87Format {
    match format {
        Format::Single => X87Format::Single,
        Format::Double => X87Format::Double,
        Format::Extended => X87Format::Extended,
    }
}

/// A scalar function, of which the lowest lane counts.
fn sse(op: VectorOp, rounding: Rounding, bits: u32, a: u128, b: u128) -> Option<u128> {
    let mut mxcsr = MXCSR | rounding.code() << MXCSR_ROUNDING;
    let result = machine::vector::execute(op, a, b, 0, &mut mxcsr).ok()?;
    Some(result & u128::MAX >> (128 - bits))
}

fn scalar(function: FloatFunction, rounding: Rounding, width: FloatWidth, a: u128, b: u128) -> Option<u128> {
    sse(VectorOp::Float { function, width, packed: false }, rounding, width.size().bits(), a, b)
}

/// A register that holds these 80 bits.
fn register(value: u128) -> Pair {
    Pair { low: value as u64, high: (value >> 64) as u64 & SIGN_AND_EXPONENT | IN_USE }
}

/// The result, as 80 bits where it is a register, and the status word.
fn x87(op: X87Op, rounding: Rounding, a: u128, b: u128) -> Option<(u128, u16)> {
    let control = CONTROL | (rounding.code() << CONTROL_ROUNDING) as u16;
    let mut status = 0;
    let b = (op.b() == X87Operand::Register).then(|| register(b));
    let Pair { low, high } = machine::x87::execute(op, register(a), b, control, &mut status).ok()?;
    let high = match op.result() {
        X87Result::Register => high & SIGN_AND_EXPONENT,
        X87Result::None | X87Result::Slot | X87Result::Number(_) => 0,
    };
    Some((u128::from(low) | u128::from(high) << 64, status))
}

fn arithmetic(
    function: FloatArithmetic,
    rounding: Rounding,
    format: Format,
    a: u128,
    b: u128,
) -> Option<u128> {
    match width(format) {
        Some(width) => {
            let function = match function {
                FloatArithmetic::Add => FloatFunction::Add,
                FloatArithmetic::Sub => FloatFunction::Sub,
                FloatArithmetic::Mul => FloatFunction::Mul,
                FloatArithmetic::Div => FloatFunction::Div,
            };
            scalar(function, rounding, width, a, b)
        }
        None => {
            let function = match function {
                FloatArithmetic::Add => X87Arithmetic::Add,
                FloatArithmetic::Sub => X87Arithmetic::Subtract,
                FloatArithmetic::Mul => X87Arithmetic::Multiply,
                FloatArithmetic::Div => X87Arithmetic::Divide,
            };
            Some(x87(X87Op::Arithmetic(function, X87Format::Extended), rounding, a, b)?.0)
        }
    }
}

fn square_root(rounding: Rounding, format: Format, a: u128) -> Option<u128> {
    match width(format) {
        Some(width) => scalar(FloatFunction::Sqrt, rounding, width, 0, a),
        None => Some(x87(X87Op::Unary(X87Unary::SquareRoot), rounding, a, 0)?.0),
    }
}

fn round(rounding: Rounding, format: Format, a: u128) -> Option<u128> {
    match width(format) {
        Some(width) => {
            let to = lift::vector::Rounding::Current;
            scalar(FloatFunction::Round { to, quiet: true }, rounding, width, 0, a)
        }
        None => Some(x87(X87Op::Unary(X87Unary::Round), rounding, a, 0)?.0),
    }
}

/// A remainder takes steps, of which the condition code C2 says that there are more. Each makes the exponent smaller by at least one, so there
/// are fewer of them than exponents.
fn remainder(format: Format, a: u128, b: u128) -> Option<u128> {
    let exact = Rounding::Nearest;
    let (mut a, b) =
        (convert(format, Format::Extended, exact, a)?, convert(format, Format::Extended, exact, b)?);
    for _ in 0..1 << 15 {
        let (result, status) = x87(X87Op::Binary(X87Binary::RemainderNearest), exact, a, b)?;
        if u64::from(status) & C2 == 0 {
            return convert(Format::Extended, format, exact, result);
        }
        a = result;
    }
    None
}

/// CF, PF and ZF of a comparison, which raises nothing.
fn comparison(format: Format, a: u128, b: u128) -> u64 {
    let exact = Rounding::Nearest;
    let flags = match width(format) {
        Some(width) => sse(VectorOp::CompareFlags { width, signalling: false }, exact, 64, a, b),
        None => x87(X87Op::CompareFlags { quiet: true }, exact, a, b).map(|(flags, _)| flags),
    };
    flags.unwrap_or(0) as u64
}

fn compare(relation: FloatCompare, format: Format, a: u128, b: u128) -> bool {
    let flags = comparison(format, a, b);
    let wanted = match relation {
        FloatCompare::Equal => ZF,
        FloatCompare::Less => CF,
        FloatCompare::LessOrEqual => CF | ZF,
    };
    flags & PF == 0 && flags & wanted != 0
}

/// Whether it compares with nothing: also what is no number in any sense, as some encodings of 80 bits.
pub fn is_nan(format: Format, a: u128) -> bool {
    comparison(format, a, a) & PF != 0
}

fn convert(from: Format, to: Format, rounding: Rounding, a: u128) -> Option<u128> {
    if from == to {
        return Some(a);
    }
    match (width(from), width(to)) {
        (Some(_), Some(to)) => {
            sse(VectorOp::Convert(Conversion::ScalarTo(to)), rounding, to.size().bits(), 0, a)
        }
        (Some(_), None) => Some(x87(X87Op::Load(x87_format(from)), rounding, a, 0)?.0),
        (None, _) => {
            let op = X87Op::Store { format: x87_format(to), truncate: false };
            Some(x87(op, rounding, a, 0)?.0)
        }
    }
}

/// Of integers of at most 64 bits.
fn from_signed(to: Format, rounding: Rounding, a: i128) -> Option<u128> {
    let a = u128::from(a as u64);
    match width(to) {
        Some(to) => {
            let conversion = Conversion::IntegerToScalar { from: IntegerWidth::I64, to };
            sse(VectorOp::Convert(conversion), rounding, to.size().bits(), 0, a)
        }
        None => Some(x87(X87Op::Load(X87Format::Integer64), rounding, a, 0)?.0),
    }
}

/// What does not fit 64 bits is the lowest number of 64 bits, which fits no less of them.
fn to_signed(from: Format, bits: u8, rounding: Rounding, a: u128) -> Option<u128> {
    let wide = match width(from) {
        Some(from) => {
            let conversion = Conversion::ScalarToInteger { from, to: IntegerWidth::I64, truncate: false };
            sse(VectorOp::Convert(conversion), rounding, 64, 0, a)
        }
        None => {
            let op = X87Op::Store { format: X87Format::Integer64, truncate: false };
            x87(op, rounding, a, 0).map(|(integer, _)| integer)
        }
    }? as i64;
    let lowest = i64::MIN >> (64 - u32::from(bits));
    let fits = (lowest..=!lowest).contains(&wide);
    Some(if fits { wide } else { lowest } as u128 & Sort::Bits(bits).mask())
}
