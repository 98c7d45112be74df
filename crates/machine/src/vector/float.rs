//! Float functions, by the host's own float unit under the guest's MXCSR.
//!
//! Each is one instruction inside one asm block, so that the compiler cannot swap operands (which
//! would choose another NaN), fold, or move it out of the guest's rounding mode.
//!
//! Loading MXCSR is slow, and a guest rarely changes its control bits. So where they are the
//! ones that Rust itself runs under, the instruction is executed as it is. The host's exception
//! flags gather whatever was raised since they were last cleared, hence: if none is set that the
//! guest has not set already, the instruction raised nothing new. Otherwise it is done again the
//! slow way, which finds exactly what it raises and leaves the host's flags clear.

use super::mxcsr::{self, CONTROL, DEFAULT, EXCEPTIONS, FloatException, OVERFLOW, UNDERFLOW};
use super::unmasked::{self, Computation};

pub type FloatResult = Result<u128, FloatException>;

/// One float instruction of the host.
pub trait Instruction {
    /// What is known of it where results can be too large or too small.
    const COMPUTATION: Option<Computation>;

    /// Executes it under the present MXCSR. Returns the result and MXCSR afterwards.
    fn plain(a: u128, b: u128) -> (u128, u32);

    /// Executes it under the given MXCSR, then goes back to [`DEFAULT`]. Returns likewise.
    fn under(a: u128, b: u128, mxcsr: u32) -> (u128, u32);
}

/// Executes an instruction for the guest.
#[inline]
pub fn execute<I: Instruction>(a: u128, b: u128, mxcsr: &mut u32) -> FloatResult {
    if *mxcsr & CONTROL == DEFAULT {
        let (value, status) = I::plain(a, b);
        if status & EXCEPTIONS & !*mxcsr == 0 {
            return Ok(value);
        }
    }
    execute_under::<I>(a, b, mxcsr)
}

#[inline(never)]
fn execute_under<I: Instruction>(a: u128, b: u128, mxcsr: &mut u32) -> FloatResult {
    let control = mxcsr::control_for(*mxcsr);
    let (value, status) = I::under(a, b, control);
    let raised = match I::COMPUTATION {
        Some(computation) if mxcsr::is_unmasked(*mxcsr, OVERFLOW | UNDERFLOW) => {
            unmasked::raised::<I>(computation, a, b, *mxcsr, control)
        }
        _ => status & EXCEPTIONS,
    };
    mxcsr::raise(mxcsr, raised)?;
    Ok(value)
}

/// How operands get into the asm block, and the result out of it.
pub mod shape {
    use lift::flags::{CF, PF, ZF};
    use std::arch::x86_64::__m128i;

    /// Whole registers in, `{a}` out.
    pub mod packed {
        use super::__m128i;

        #[inline(always)]
        pub fn enter(value: u128) -> __m128i {
            // SAFETY: both are 16 plain bytes.
            unsafe { std::mem::transmute::<u128, __m128i>(value) }
        }

        #[inline(always)]
        pub fn leave(a: __m128i, _general: u64) -> u128 {
            // SAFETY: both are 16 plain bytes.
            unsafe { std::mem::transmute::<__m128i, u128>(a) }
        }
    }

    /// Low halves in; the low half of `{a}` out.
    pub mod scalar {
        #[inline(always)]
        pub fn enter(value: u128) -> i64 {
            value as i64
        }

        #[inline(always)]
        pub fn leave(a: i64, _general: u64) -> u128 {
            u128::from(a as u64)
        }
    }

    /// Low halves in, `{g}` out.
    pub mod general {
        pub use super::scalar::enter;

        #[inline(always)]
        pub fn leave(_a: i64, general: u64) -> u128 {
            u128::from(general)
        }
    }

    /// Low halves in, the flags register in `{g}` out.
    pub mod flags {
        use super::{CF, PF, ZF};

        pub use super::scalar::enter;

        #[inline(always)]
        pub fn leave(_a: i64, general: u64) -> u128 {
            u128::from(general & (CF | PF | ZF))
        }
    }
}

/// The function that executes the given instruction, by its text. It works on the XMM registers
/// `{a}` and `{b}`, and on the general register `{g}`, which holds the low half of `b` at first. (The
/// asm comment names them all, because an instruction need not.)
macro_rules! instruction {
    ($shape:ident, $computation:expr, $($text:expr),+) => {{
        struct Named;

        impl Instruction for Named {
            const COMPUTATION: Option<Computation> = $computation;

            #[inline(always)]
            fn plain(a: u128, b: u128) -> (u128, u32) {
                let mut result = shape::$shape::enter(a);
                let mut general = b as u64;
                let mut status = 0_u32;
                // SAFETY: all exceptions are masked, so the instruction cannot trap. Besides the
                // operands only `status`, the flags, the exception flags of MXCSR and a word of
                // the stack are written, which an asm block may do.
                unsafe {
                    asm!(
                        "/* {a} {b} {g} */",
                        $($text,)+
                        "stmxcsr [{status}]",
                        a = inout(xmm_reg) result,
                        b = in(xmm_reg) shape::$shape::enter(b),
                        g = inout(reg) general,
                        status = in(reg) &mut status,
                    );
                }
                (shape::$shape::leave(result, general), status)
            }

            #[inline(always)]
            fn under(a: u128, b: u128, mxcsr: u32) -> (u128, u32) {
                let mut result = shape::$shape::enter(a);
                let mut general = b as u64;
                let mut status = mxcsr;
                // SAFETY: as above, for the caller has masked all exceptions and set no reserved
                // bit; at the end of the block MXCSR's control bits are what they were before.
                unsafe {
                    asm!(
                        "/* {a} {b} {g} */",
                        "ldmxcsr [{status}]",
                        $($text,)+
                        "stmxcsr [{status}]",
                        "ldmxcsr [{host}]",
                        a = inout(xmm_reg) result,
                        b = in(xmm_reg) shape::$shape::enter(b),
                        g = inout(reg) general,
                        status = in(reg) &mut status,
                        host = in(reg) &DEFAULT,
                    );
                }
                (shape::$shape::leave(result, general), status)
            }
        }

        execute::<Named>
    }};
}
pub(super) use instruction;
