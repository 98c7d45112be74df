//! The bits of MXCSR, and the rules by which float exceptions are raised.

/// Invalid operation, denormal operand, division by zero: found before computing.
pub const BEFORE_COMPUTING: u32 = 0x07;
/// All six exception flags; overflow, underflow and inexact are found after computing.
pub const EXCEPTIONS: u32 = 0x3f;
pub const INVALID: u32 = 0x01;
pub const OVERFLOW: u32 = 0x08;
pub const UNDERFLOW: u32 = 0x10;
pub const INEXACT: u32 = 0x20;
/// The exception masks are in the order of the flags.
pub const MASKS: u32 = EXCEPTIONS << MASK_SHIFT;
pub const DENORMALS_ARE_ZERO: u32 = 1 << 6;
pub const FLUSH_TO_ZERO: u32 = 1 << 15;
/// Masks, rounding, and how denormals are treated.
pub const CONTROL: u32 = 0xffc0;
/// The value that Rust code runs under, and that a process starts with.
pub const DEFAULT: u32 = MASKS;

const MASK_SHIFT: u32 = 7;

/// A float exception that the guest has not masked. The flag that tells which is set in MXCSR;
/// the instruction has changed nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatException;

/// Takes the exceptions that an operation raised into the guest's MXCSR.
///
/// All lanes are examined before any is computed: an unmasked exception found then hides the
/// later ones.
#[inline]
pub fn raise(mxcsr: &mut u32, raised: u32) -> Result<(), FloatException> {
    let unmasked = EXCEPTIONS & !(*mxcsr >> MASK_SHIFT);
    if raised & BEFORE_COMPUTING & unmasked != 0 {
        *mxcsr |= raised & BEFORE_COMPUTING;
        return Err(FloatException);
    }
    *mxcsr |= raised;
    if raised & unmasked != 0 { Err(FloatException) } else { Ok(()) }
}

/// The control bits to compute under for a guest that has these: as the guest's, but without
/// traps on the host, and without the flushing that an unmasked underflow excludes.
#[inline]
pub fn control_for(mxcsr: u32) -> u32 {
    let control = mxcsr & CONTROL | MASKS;
    if is_unmasked(mxcsr, UNDERFLOW) { control & !FLUSH_TO_ZERO } else { control }
}

/// Whether the guest wants a trap on one of these exceptions.
#[inline]
pub fn is_unmasked(mxcsr: u32, exceptions: u32) -> bool {
    !(mxcsr >> MASK_SHIFT) & exceptions != 0
}
