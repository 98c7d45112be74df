//! The transcendental functions, by one fixed algorithm, so that a run replays alike on every processor.
//!
//! All are computed with 113 bits from exact operands and rounded once, to the 64 bits of a register: the error is less than
//! 0.51 units in the last place, wherever the functions are defined (f2xm1 from -1 to 1, fyl2xp1 from √½ - 1 to √2 - 1). Angles are reduced by the
//! same approximation of π with 66 bits that processors have, so that sines agree with theirs also near its multiples.
//! What is no number other than zero is left to the host: those results are defined.

use super::host::Ten;
use super::{Computed, DENORMAL, INEXACT, OVERFLOW, Refusal, UNDERFLOW};
use lift::x87::{C1, C2, X87Binary, X87Unary};
use rustc_apfloat::ieee::{Quad, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, Status};
use std::sync::LazyLock;

/// The exponent of 1.
const BIAS: i32 = 16383;

/// The result of a function of one operand, if it is transcendental and the operand is a number other than zero.
pub fn unary(function: X87Unary, a: &Ten, control: u16) -> Result<Option<Computed>, Refusal> {
    use X87Unary::*;
    let Some(number) = Number::of(a) else { return Ok(None) };
    let value = match function {
        Negate | Absolute | SquareRoot | Round | Exponent | Significand => return Ok(None),
        Exponential if number.exponent > 0 || number.exponent == 0 && number.significand << 1 != 0 => {
            // Out of range, where the result is not defined.
            return Ok(Some((*a, INEXACT)));
        }
        Exponential => exponential(number.value),
        Sine | Cosine if number.exponent >= ANGLES => return Ok(Some((*a, C2 as u16))),
        SineWithPush | CosineWithPush | TangentWithPush if number.exponent >= ANGLES => {
            return Err(Refusal::OutOfRange);
        }
        Sine | SineWithPush => number.angle().sine(),
        Cosine | CosineWithPush => number.angle().cosine(),
        TangentWithPush => {
            let angle = number.angle();
            div(angle.sine(), angle.cosine())
        }
        OneWithPush => return Ok(Some((Ten { low: 1 << 63, high: BIAS as u16 }, 0))),
    };
    Ok(Some(rounded(value, false, number.is_denormal, control)))
}

/// The result of a function of two operands, likewise.
pub fn binary(function: X87Binary, a: &Ten, b: &Ten, control: u16) -> Option<Computed> {
    let (x, y) = (Number::of(a)?, Number::of(b)?);
    let value = match function {
        X87Binary::Scale | X87Binary::Remainder | X87Binary::RemainderNearest => return None,
        X87Binary::ArcTangent => arc_tangent(y.value, x.value),
        // Of a negative number there is none.
        X87Binary::Logarithm if x.value.is_negative() => return None,
        X87Binary::Logarithm => mul(y.value, x.logarithm()),
        X87Binary::LogarithmPlusOne if x.exponent < LINEAR => {
            // x · log2 e, with a factor that keeps all of its digits on the way.
            let factor = x.value.scalbn(-x.exponent - SPARE);
            mul(mul(factor, CONSTANTS.log2_e), y.value).scalbn(x.exponent + SPARE)
        }
        X87Binary::LogarithmPlusOne => {
            let two = add(x.value, integer(2));
            if two.is_negative() || two.is_zero() {
                return None;
            }
            mul(y.value, mul(log_from_ratio(div(x.value, two)), CONSTANTS.log2_e))
        }
    };
    let is_one = x.exponent == 0 && x.significand << 1 == 0;
    let is_zero = is_one && function == X87Binary::Logarithm;
    Some(rounded(value, is_zero, x.is_denormal || y.is_denormal, control))
}

/// Below two to this power, log2 (1 + x) has the digits of x · log2 e.
const LINEAR: i32 = -200;
/// So far below the largest number a factor is that no product with it is too large.
const SPARE: i32 = 4;

/// Angles from two to this power on are refused.
const ANGLES: i32 = 63;

struct Constants {
    pi: Quad,
    ln_2: Quad,
    log2_e: Quad,
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    // None of these texts can fail to be a number.
    let number = |text: &str| text.parse().unwrap_or(Quad::ZERO);
    Constants {
        pi: number("3.14159265358979323846264338327950288419716939937510582097494459"),
        ln_2: number("0.693147180559945309417232121458176568075500134360255254120680009"),
        log2_e: number("1.44269504088896340735992468100189213742664595415298593413544940"),
    }
});

fn add(a: Quad, b: Quad) -> Quad {
    (a + b).value
}

fn sub(a: Quad, b: Quad) -> Quad {
    (a - b).value
}

fn mul(a: Quad, b: Quad) -> Quad {
    (a * b).value
}

fn div(a: Quad, b: Quad) -> Quad {
    (a / b).value
}

fn integer(value: i128) -> Quad {
    Quad::from_i128(value).value
}

/// A number other than zero.
struct Number {
    value: Quad,
    /// Of two, such that the significand is between 1 and 2.
    exponent: i32,
    /// Bit 63 is set.
    significand: u64,
    is_denormal: bool,
}

impl Number {
    fn of(ten: &Ten) -> Option<Number> {
        let stored = i32::from(ten.high & 0x7fff);
        if ten.low == 0 || stored == 0x7fff || stored != 0 && ten.low >> 63 == 0 {
            return None;
        }
        let shift = ten.low.leading_zeros();
        let significand = ten.low << shift;
        let exponent = stored.max(1) - shift as i32 - BIAS;
        let magnitude = integer(significand.into()).scalbn(exponent - 63);
        let value = if ten.high & 0x8000 != 0 { -magnitude } else { magnitude };
        Some(Number { value, exponent, significand, is_denormal: stored == 0 })
    }

    /// log2 of the magnitude.
    fn logarithm(&self) -> Quad {
        // A significand between √½ and √2, so that nothing cancels.
        const SQRT_2: u64 = 0xb504_f333_f9de_6484;
        let exponent = if self.significand > SQRT_2 { self.exponent + 1 } else { self.exponent };
        let m = integer(self.significand.into()).scalbn(self.exponent - exponent - 63);
        let one = integer(1);
        let ratio = div(sub(m, one), add(m, one));
        add(integer(exponent.into()), mul(log_from_ratio(ratio), CONSTANTS.log2_e))
    }

    /// The angle, reduced to a quarter of a half turn around zero.
    fn angle(&self) -> Angle {
        /// π · 2^66
        const PI: u128 = 0xc_90fd_aa22_168c_234c;
        /// The numbers below are so many binary digits behind the point.
        const POINT: i32 = 67;
        let negative = self.value.is_negative();
        // Below a half there is nothing to reduce.
        if self.exponent < -1 {
            return Angle { quarter: 0, rest: self.value.abs(), negative };
        }
        // A quarter turn is `PI` in this measure, and a whole one four times as much.
        let mut rest = u128::from(self.significand) % (4 * PI);
        for _ in 0..self.exponent - 63 + POINT {
            rest = rest * 2 % (4 * PI);
        }
        let quarter = (rest + PI / 2) / PI;
        let rest = rest as i128 - (quarter * PI) as i128;
        Angle { quarter: quarter as u32 % 4, rest: integer(rest).scalbn(-POINT), negative }
    }
}

/// The magnitude of an angle is `rest` and so many quarter turns.
struct Angle {
    quarter: u32,
    rest: Quad,
    negative: bool,
}

impl Angle {
    fn sine(&self) -> Quad {
        let value = self.part(self.quarter);
        if self.negative { -value } else { value }
    }

    fn cosine(&self) -> Quad {
        self.part(self.quarter + 1)
    }

    fn part(&self, quarter: u32) -> Quad {
        let value = if quarter.is_multiple_of(2) { sine(self.rest) } else { cosine(self.rest) };
        if quarter & 2 != 0 { -value } else { value }
    }
}

/// Terms of a series until they make no difference, at most; each is at least 2^4 times smaller than the one before.
const TERMS: i128 = 32;

/// `first`, and further terms, each of which is the one before times `square` times what `factor` gives.
fn series(first: Quad, square: Quad, factor: impl Fn(i128) -> Quad) -> Quad {
    let mut terms = vec![first];
    let mut term = first;
    for n in 1..TERMS {
        term = mul(mul(term, square), factor(n));
        terms.push(term);
    }
    // The smallest first.
    terms.into_iter().rev().fold(Quad::ZERO, add)
}

fn sine(x: Quad) -> Quad {
    series(x, -mul(x, x), |n| div(integer(1), integer(2 * n * (2 * n + 1))))
}

fn cosine(x: Quad) -> Quad {
    series(integer(1), -mul(x, x), |n| div(integer(1), integer(2 * n * (2 * n - 1))))
}

/// 2^x - 1
fn exponential(x: Quad) -> Quad {
    let z = mul(x, CONSTANTS.ln_2);
    series(z, z, |n| div(integer(1), integer(n + 1)))
}

/// ln ((1 + r) / (1 - r)), for a magnitude of r below 0.18.
fn log_from_ratio(r: Quad) -> Quad {
    let (square, mut power, mut terms) = (mul(r, r), r, Vec::new());
    for n in 0..TERMS {
        terms.push(div(power, integer(2 * n + 1)));
        power = mul(power, square);
    }
    terms.into_iter().rev().fold(Quad::ZERO, add).scalbn(1)
}

/// The angle of the point (x, y).
fn arc_tangent(y: Quad, x: Quad) -> Quad {
    let (high, wide) = (y.abs(), x.abs());
    let half = CONSTANTS.pi.scalbn(-1);
    let first = if high <= wide {
        angle_of_slope(div(high, wide))
    } else {
        sub(half, angle_of_slope(div(wide, high)))
    };
    let angle = if x.is_negative() { sub(CONSTANTS.pi, first) } else { first };
    if y.is_negative() { -angle } else { angle }
}

/// Of a slope between 0 and 1: the angle is halved until the series is short.
fn angle_of_slope(mut slope: Quad) -> Quad {
    const HALVINGS: i32 = 3;
    for _ in 0..HALVINGS {
        let one = integer(1);
        let root = square_root(add(one, mul(slope, slope)));
        slope = div(slope, add(one, root));
    }
    let (square, mut power, mut terms) = (-mul(slope, slope), slope, Vec::new());
    for n in 0..TERMS {
        terms.push(div(power, integer(2 * n + 1)));
        power = mul(power, square);
    }
    terms.into_iter().rev().fold(Quad::ZERO, add).scalbn(HALVINGS)
}

/// Of a number between 1 and 2, by Newton's method.
fn square_root(x: Quad) -> Quad {
    const STEPS: usize = 3;
    let mut root = {
        // 112 bits of fraction, of which a double takes 52; sign and exponent are those of 1 or 2.
        let bits = x.to_bits();
        let exponent = (bits >> 112) as i32 - BIAS + 1023;
        let double = f64::from_bits((exponent as u64) << 52 | (bits >> 60) as u64 & ((1 << 52) - 1));
        let start = (double.sqrt() * (1u64 << 52) as f64) as i128;
        integer(start).scalbn(-52)
    };
    for _ in 0..STEPS {
        root = add(root, div(x, root)).scalbn(-1);
    }
    root
}

/// The value as a register holds it, and what that raises. `is_zero`: the true value is; else it is only too small.
fn rounded(value: Quad, is_zero: bool, is_denormal: bool, control: u16) -> Computed {
    let round = match control >> 10 & 3 {
        0 => Round::NearestTiesToEven,
        1 => Round::TowardNegative,
        2 => Round::TowardPositive,
        _ => Round::TowardZero,
    };
    let mut loses = false;
    let converted = FloatConvert::<X87DoubleExtended>::convert_r(value, round, &mut loses);
    let mut found = if is_denormal { DENORMAL } else { 0 };
    if converted.value.is_infinite() {
        // Already with 113 bits, which have the same range of exponents.
        let is_kept = match round {
            Round::TowardZero => true,
            Round::TowardNegative => !value.is_negative(),
            Round::TowardPositive => value.is_negative(),
            _ => false,
        };
        let sign = if value.is_negative() { 0x8000 } else { 0 };
        let (low, high) = if is_kept { (u64::MAX, 0x7ffe) } else { (1 << 63, 0x7fff) };
        found |= OVERFLOW | INEXACT | if is_kept { 0 } else { C1 as u16 };
        return (Ten { low, high: high | sign }, found);
    }
    let bits = converted.value.to_bits();
    let back: Quad = converted.value.convert(&mut loses).value;
    for (status, flag) in
        [(Status::OVERFLOW, OVERFLOW), (Status::UNDERFLOW, UNDERFLOW), (Status::INEXACT, INEXACT)]
    {
        if converted.status.contains(status) {
            found |= flag;
        }
    }
    // Even where 113 bits end in zeroes, the true value does not, but for zero.
    if !is_zero {
        let is_tiny = bits >> 64 & 0x7fff == 0;
        found |= if is_tiny { INEXACT | UNDERFLOW } else { INEXACT };
    }
    if back.abs() > value.abs() {
        found |= C1 as u16;
    }
    (Ten { low: bits as u64, high: (bits >> 64) as u16 }, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: u16 = 0x37f;
    const ONE: Ten = Ten { low: 1 << 63, high: 16383 };

    fn whole(value: u64) -> Ten {
        let shift = value.leading_zeros();
        Ten { low: value << shift, high: (16383 + 63 - shift) as u16 }
    }

    fn one(function: X87Unary, a: Ten) -> Ten {
        unary(function, &a, DEFAULT).expect("in range").expect("a number").0
    }

    /// Correctly rounded values, by a program of arbitrary precision.
    #[test]
    fn known_values_are_rounded_correctly() {
        assert_eq!(one(X87Unary::Sine, ONE), Ten { low: 0xd76a_a478_4867_7021, high: 0x3ffe });
        assert_eq!(one(X87Unary::Cosine, ONE), Ten { low: 0x8a51_407d_a834_5c92, high: 0x3ffe });
        assert_eq!(one(X87Unary::TangentWithPush, ONE), Ten { low: 0xc759_22e5_f71d_2dc5, high: 0x3fff });
        let half = Ten { high: 16382, ..ONE };
        assert_eq!(one(X87Unary::Exponential, half), Ten { low: 0xd413_cccf_e779_9211, high: 0x3ffd });
        let two = |function, a: Ten, b: Ten| binary(function, &a, &b, DEFAULT).expect("numbers").0;
        let pi_quarter = Ten { low: 0xc90f_daa2_2168_c235, high: 0x3ffe };
        assert_eq!(two(X87Binary::ArcTangent, ONE, ONE), pi_quarter);
        assert_eq!(
            two(X87Binary::Logarithm, whole(10), ONE),
            Ten { low: 0xd49a_784b_cd1b_8afe, high: 0x4000 }
        );
        assert_eq!(two(X87Binary::Logarithm, whole(1024), whole(3)), whole(30));
    }

    #[test]
    fn angles_that_are_too_large_are_refused_or_told() {
        let far = Ten { low: 1 << 63, high: 16383 + 63 };
        assert_eq!(unary(X87Unary::Sine, &far, DEFAULT), Ok(Some((far, C2 as u16))));
        assert_eq!(unary(X87Unary::TangentWithPush, &far, DEFAULT), Err(Refusal::OutOfRange));
    }
}
