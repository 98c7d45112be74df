//! roundps and its kin: floats to whole numbers, in software, because not every x86-64 processor has the instruction.

use super::FloatCall;
use super::float::FloatResult;
use super::mxcsr::{self, DENORMALS_ARE_ZERO, INEXACT, INVALID};
use lift::vector::FloatWidth::{self, F32, F64};
use lift::vector::Rounding;

pub fn function_for(to: Rounding, quiet: bool, width: FloatWidth, packed: bool) -> FloatCall {
    macro_rules! forms {
        ($to:literal, $quiet:literal) => {
            match (width, packed) {
                (F32, false) => scalar::<f32, $to, $quiet>,
                (F32, true) => all::<f32, $to, $quiet>,
                (F64, false) => scalar::<f64, $to, $quiet>,
                (F64, true) => all::<f64, $to, $quiet>,
            }
        };
    }
    macro_rules! modes {
        ($quiet:literal) => {
            match to {
                Rounding::Nearest => forms!(0, $quiet),
                Rounding::Down => forms!(1, $quiet),
                Rounding::Up => forms!(2, $quiet),
                Rounding::Zero => forms!(3, $quiet),
                Rounding::Current => forms!(4, $quiet),
            }
        };
    }
    if quiet { modes!(true) } else { modes!(false) }
}

/// A float lane.
trait Float {
    const BITS: u32;
    /// The lane rounded in the given mode (as MXCSR numbers them), and what that raises.
    fn round(bits: u64, mode: u32, denormals_are_zero: bool) -> (u64, u32);
}

macro_rules! float {
    ($float:ident, $bits:ident, $quiet_bit:expr) => {
        impl Float for $float {
            const BITS: u32 = $bits::BITS;

            fn round(bits: u64, mode: u32, denormals_are_zero: bool) -> (u64, u32) {
                let value = $float::from_bits(bits as $bits);
                if value.is_nan() {
                    let quiet: u64 = 1 << $quiet_bit;
                    return (bits | quiet, if bits & quiet == 0 { INVALID } else { 0 });
                }
                if denormals_are_zero && value.is_subnormal() {
                    return (bits & 1 << ($bits::BITS - 1), 0);
                }
                let rounded = match mode {
                    0 => value.round_ties_even(),
                    1 => value.floor(),
                    2 => value.ceil(),
                    _ => value.trunc(),
                };
                // Zeroes keep the sign of what they come from.
                let rounded = rounded.copysign(value);
                (rounded.to_bits().into(), if rounded == value { 0 } else { INEXACT })
            }
        }
    };
}
float!(f32, u32, 22);
float!(f64, u64, 51);

const CURRENT: u32 = 4;
const ROUNDING_SHIFT: u32 = 13;

fn lane<F: Float, const TO: u32, const QUIET: bool>(bits: u64, mxcsr: u32) -> (u64, u32) {
    let mode = if TO == CURRENT { mxcsr >> ROUNDING_SHIFT & 3 } else { TO };
    let (value, raised) = F::round(bits, mode, mxcsr & DENORMALS_ARE_ZERO != 0);
    (value, if QUIET { raised & !INEXACT } else { raised })
}

fn scalar<F: Float, const TO: u32, const QUIET: bool>(a: u128, b: u128, mxcsr: &mut u32) -> FloatResult {
    let mask = u64::MAX >> (64 - F::BITS);
    let (value, raised) = lane::<F, TO, QUIET>(b as u64 & mask, *mxcsr);
    mxcsr::raise(mxcsr, raised)?;
    Ok(u128::from(a as u64 & !mask | value))
}

fn all<F: Float, const TO: u32, const QUIET: bool>(_: u128, b: u128, mxcsr: &mut u32) -> FloatResult {
    let mask = u64::MAX >> (64 - F::BITS);
    let (mut result, mut raised) = (0, 0);
    for n in 0..128 / F::BITS {
        let (value, lane_raised) = lane::<F, TO, QUIET>((b >> (n * F::BITS)) as u64 & mask, *mxcsr);
        result |= u128::from(value) << (n * F::BITS);
        raised |= lane_raised;
    }
    mxcsr::raise(mxcsr, raised)?;
    Ok(result)
}
