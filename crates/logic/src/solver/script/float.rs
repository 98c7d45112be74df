//! Floats. SMT-LIB has functions from bits to floats and none back, one NaN, and no bit for the first digit of 80-bit floats.
//!
//! - The bits of a float are an unknown of its own with the equation that they are those of the float. If it is a NaN they may be those of any NaN, which
//!   allows more than the machine does.
//! - Of the encodings of 80 bits that no operation makes, those that the x87 unit takes for invalid are NaNs, as all it does with them is to make one of
//!   them; a pseudo-denormal is the number that it stands for. Where a formula asks by `Node::Equal` whether a pseudo-denormal and the usual encoding of
//!   its number are different, the solver says that they are not.

use super::node::bits;
use super::{Writer, float_size};
use crate::term::{FloatArithmetic, FloatCompare, Format, Rounding, Sort, Term};
use std::fmt::Write;

impl Writer<'_> {
    /// The float with these bits.
    pub(super) fn decoded(&mut self, format: Format, bits: &str) -> String {
        if format != Format::Extended {
            return format!("({} {bits})", to_float(format));
        }
        let bits = self.named(Sort::Bits(80), bits);
        let exponent = self.named(Sort::Bits(15), &format!("((_ extract 78 64) {bits})"));
        let is_zero = format!("(= {exponent} #b000000000000000)");
        let first_digit = format!("(= ((_ extract 63 63) {bits}) #b1)");
        let number = format!(
            "(fp ((_ extract 79 79) {bits}) (ite (and {first_digit} {is_zero}) #b000000000000001 {exponent}) ((_ extract 62 0) {bits}))"
        );
        format!("(ite (or {first_digit} {is_zero}) {number} (_ NaN 15 64))")
    }

    fn format(&self, float: Term) -> Format {
        match self.terms.sort(float) {
            Sort::Float(format) => format,
            Sort::Bool | Sort::Bits(_) => panic!("builders make functions of floats of nothing else"),
        }
    }

    /// The bits of a float: any that decode to it.
    pub(super) fn encoded(&mut self, a: Term) -> String {
        let format = self.format(a);
        let float = self.used(a);
        let name = self.new_name();
        let _ = writeln!(self.text, "(declare-const {name} (_ BitVec {}))", format.bits());
        let decoded = self.decoded(format, &name);
        let _ = writeln!(self.text, "(assert (= {decoded} {float}))");
        self.equations += 1;
        name
    }

    /// What does not fit is the lowest integer, which SMT-LIB leaves open.
    pub(super) fn signed_integer(&mut self, width: u32, rounding: Rounding, a: Term) -> String {
        let format = self.format(a);
        let float = self.used(a);
        let (limit, mode) = (power_of_two(format, width - 1), mode(rounding));
        let float = self.named(Sort::Float(format), &float);
        let whole = self.named(Sort::Float(format), &format!("(fp.roundToIntegral {mode} {float})"));
        format!(
            "(ite (and (fp.leq (fp.neg {limit}) {whole}) (fp.lt {whole} {limit})) \
             ((_ fp.to_sbv {width}) {mode} {float}) {})",
            bits(width, 1 << (width - 1))
        )
    }
}

pub(super) fn float_arithmetic(function: FloatArithmetic) -> &'static str {
    match function {
        FloatArithmetic::Add => "fp.add",
        FloatArithmetic::Sub => "fp.sub",
        FloatArithmetic::Mul => "fp.mul",
        FloatArithmetic::Div => "fp.div",
    }
}

pub(super) fn float_compare(relation: FloatCompare) -> &'static str {
    match relation {
        FloatCompare::Equal => "fp.eq",
        FloatCompare::Less => "fp.lt",
        FloatCompare::LessOrEqual => "fp.leq",
    }
}

/// The function that makes floats of this format.
pub(super) fn to_float(format: Format) -> String {
    let (exponent, digits) = float_size(format);
    format!("(_ to_fp {exponent} {digits})")
}

/// A function with the rounding that it takes as its first operand.
pub(super) fn rounded(function: &str, rounding: Rounding) -> String {
    format!("{function} {}", mode(rounding))
}

fn mode(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::Nearest => "RNE",
        Rounding::Down => "RTN",
        Rounding::Up => "RTP",
        Rounding::Zero => "RTZ",
    }
}

fn literal(format: Format, is_negative: bool, exponent: u128, fraction: u128) -> String {
    let (exponent_bits, digits) = float_size(format);
    format!(
        "(fp #b{} #b{exponent:0e$b} #b{fraction:0f$b})",
        u8::from(is_negative),
        e = exponent_bits as usize,
        f = digits as usize - 1
    )
}

fn power_of_two(format: Format, power: u32) -> String {
    let bias = (1 << (format.exponent_bits() - 1)) - 1;
    literal(format, false, u128::from(power) + bias, 0)
}

pub(super) fn constant_float(format: Format, value: u128) -> String {
    let (exponent_bits, digits) = float_size(format);
    let is_negative = value & format.sign() != 0;
    let fraction = value & ((1 << (digits - 1)) - 1);
    let exponent_place = format.bits() - 1 - exponent_bits;
    let exponent = value >> exponent_place & ((1 << exponent_bits) - 1);
    let all_ones = (1 << exponent_bits) - 1;
    let first_digit = match format {
        Format::Single | Format::Double => exponent != 0,
        Format::Extended => value >> 63 & 1 != 0,
    };
    match (first_digit, exponent) {
        (false, 1..) => format!("(_ NaN {exponent_bits} {digits})"),
        (_, exponent) if exponent == all_ones && fraction != 0 => {
            format!("(_ NaN {exponent_bits} {digits})")
        }
        (true, 0) => literal(format, is_negative, 1, fraction),
        (_, exponent) => literal(format, is_negative, exponent, fraction),
    }
}
