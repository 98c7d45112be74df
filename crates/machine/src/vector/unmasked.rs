//! What an operation raises for a guest that has not masked overflow or underflow.
//!
//! The host computes with all exceptions masked, and then tells less than it would otherwise:
//! - A result too small for a normal number is an underflow if it is also inexact. Unmasked, it is
//!   one in any case.
//! - A result too large or too small is inexact if the number delivered in its place is not the true
//!   result. Unmasked, if the true result has more digits than the format, were its exponent
//!   unbounded.
//!
//! So each lane is computed by itself, and what it raised is corrected. This is slow; few programs
//! ask for such traps.

use super::float::Instruction;
use super::mxcsr::{EXCEPTIONS, INEXACT, OVERFLOW, UNDERFLOW, is_unmasked};
use lift::vector::FloatWidth::{self, F32, F64};

/// What an instruction computes in a lane, if its result can be too large or too small.
#[derive(Clone, Copy)]
pub struct Computation {
    pub function: Function,
    /// Of the operands.
    pub width: FloatWidth,
    pub packed: bool,
}

#[derive(Clone, Copy)]
pub enum Function {
    Add,
    Sub,
    Mul,
    Div,
    /// A double becomes a single.
    Narrow,
}

/// The exceptions that all lanes raise.
#[cold]
pub fn raised<I: Instruction>(computation: Computation, a: u128, b: u128, guest: u32, control: u32) -> u32 {
    let bits = computation.width.size().bits();
    let lanes = if computation.packed { 128 / bits } else { 1 };
    (0..lanes).fold(0, |raised, n| {
        let lane = |vector: u128| (vector >> (n * bits)) as u64 & computation.width.size().mask();
        raised | lane_raised::<I>(computation, lane(a), lane(b), guest, control)
    })
}

fn lane_raised<I: Instruction>(computation: Computation, x: u64, y: u64, guest: u32, control: u32) -> u32 {
    // In every lane, so that no other lane raises anything else.
    let everywhere = |lane: u64| {
        let pair = if computation.width == F32 { lane << 32 | lane } else { lane };
        u128::from(pair) << 64 | u128::from(pair)
    };
    let (value, status) = I::under(everywhere(x), everywhere(y), control);
    let raised = status & EXCEPTIONS;
    let is_denormal = match computation.result_width() {
        F32 => f32::from_bits(value as u32).is_subnormal(),
        F64 => f64::from_bits(value as u64).is_subnormal(),
    };
    let range = if raised & OVERFLOW != 0 && is_unmasked(guest, OVERFLOW) {
        OVERFLOW
    } else if (raised & UNDERFLOW != 0 || is_denormal) && is_unmasked(guest, UNDERFLOW) {
        UNDERFLOW
    } else {
        return raised;
    };
    let inexact = if computation.is_exact(x, y) { 0 } else { INEXACT };
    raised & !(OVERFLOW | UNDERFLOW | INEXACT) | range | inexact
}

impl Computation {
    fn result_width(self) -> FloatWidth {
        match self.function {
            Function::Narrow => F32,
            _ => self.width,
        }
    }

    /// Whether the true result has no more digits than the format. The operands are finite, and
    /// the result is not zero.
    fn is_exact(self, x: u64, y: u64) -> bool {
        let (x, y) = (Number::new(self.width, x), Number::new(self.width, y));
        let digits = match self.result_width() {
            F32 => f32::MANTISSA_DIGITS,
            F64 => f64::MANTISSA_DIGITS,
        };
        match self.function {
            Function::Mul => fits(u128::from(x.digits) * u128::from(y.digits), digits),
            Function::Div => x.digits.is_multiple_of(y.digits.max(1)),
            Function::Narrow => fits(y.digits.into(), digits),
            Function::Add => fits(x.plus(y), digits),
            Function::Sub => fits(x.plus(Number { negative: !y.negative, ..y }), digits),
        }
    }
}

/// ± digits · 2^exponent, the digits odd unless the number is zero.
#[derive(Clone, Copy)]
struct Number {
    negative: bool,
    digits: u64,
    exponent: i32,
}

impl Number {
    fn new(width: FloatWidth, bits: u64) -> Number {
        let (fraction_bits, exponent_mask) = match width {
            F32 => (f32::MANTISSA_DIGITS - 1, 0xff),
            F64 => (f64::MANTISSA_DIGITS - 1, 0x7ff),
        };
        let fraction = bits & ((1 << fraction_bits) - 1);
        let exponent = (bits >> fraction_bits) & exponent_mask;
        let digits = if exponent == 0 { fraction } else { fraction | 1 << fraction_bits };
        let zeroes = if digits == 0 { 0 } else { digits.trailing_zeros() };
        Number {
            negative: bits & width.size().sign() != 0,
            digits: digits >> zeroes,
            exponent: exponent.max(1) as i32 + zeroes as i32,
        }
    }

    /// The digits of the sum. Where the numbers are so far apart that no format holds it, any digits
    /// that do not fit.
    fn plus(self, other: Number) -> u128 {
        const FAR: u32 = 64;
        let (high, low) = if self.exponent < other.exponent { (other, self) } else { (self, other) };
        let distance = high.exponent.abs_diff(low.exponent);
        if low.digits == 0 {
            return high.digits.into();
        }
        if high.digits == 0 {
            return low.digits.into();
        }
        if distance > FAR {
            return u128::MAX;
        }
        let (high_digits, low_digits) = (u128::from(high.digits) << distance, u128::from(low.digits));
        if high.negative == low.negative {
            high_digits + low_digits
        } else {
            high_digits.abs_diff(low_digits)
        }
    }
}

/// Whether the number has at most so many binary digits, trailing zeroes not counted.
fn fits(number: u128, digits: u32) -> bool {
    number == 0 || u128::BITS - number.leading_zeros() - number.trailing_zeros() <= digits
}
