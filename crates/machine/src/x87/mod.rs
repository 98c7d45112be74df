//! What the x87 functions of [`lift::X87Op`] compute: functions of values and of the control word alone, so that whoever has the
//! operands of an op can ask for its result.
//!
//! The architecture defines the results of everything but the transcendental functions to the last bit, so the host's own x87
//! unit does them ([`host`]). The transcendental ones differ from processor to processor, and so does the number of
//! steps that a remainder takes; those are the machine's own ([`transcendental`], [`remainder`]).

mod host;
mod remainder;
mod transcendental;

use host::Ten;
use lift::X87Op;
use lift::flags::{CF, PF, ZF};
use lift::x87::{
    C0, C1, C2, C3, CODES, IN_USE, SIGN_AND_EXPONENT, X87Binary, X87Format, X87Operand, X87Result, X87Unary,
};

/// A pair of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    pub low: u64,
    pub high: u64,
}

/// Why an op has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An exception that the control word does not mask. Its flag is set in the status.
    Exception,
    /// The top would stay where it is, because the operand is out of range: which is not known when an instruction is lifted.
    OutOfRange,
}

/// All six exceptions, as flags in the status word and as masks in the control word.
const EXCEPTIONS: u16 = 0x3f;
const INVALID: u16 = 0x01;
const DENORMAL: u16 = 0x02;
const OVERFLOW: u16 = 0x08;
const UNDERFLOW: u16 = 0x10;
const INEXACT: u16 = 0x20;
const STACK_FAULT: u16 = 0x40;

/// What an operation gives: a result, and flags and condition codes in the status word.
type Computed = (Ten, u16);

/// The result of an op. `status` holds the exception flags and the condition codes at their places in the status word.
pub fn execute(op: X87Op, a: Pair, b: Option<Pair>, control: u16, status: &mut u16) -> Result<Pair, Refusal> {
    // An exception that was raised while it was masked.
    if *status & !control & EXCEPTIONS != 0 {
        return Err(Refusal::Exception);
    }
    let (result, found) = compute(op, a, b, control)?;
    let found = match op {
        X87Op::Binary(X87Binary::Remainder | X87Binary::RemainderNearest) if is_nan(&result) => {
            found & !(C1 | C2) as u16
        }
        _ => found,
    };
    *status |= found & (EXCEPTIONS | STACK_FAULT);
    if found & !control & EXCEPTIONS != 0 {
        return Err(Refusal::Exception);
    }
    let defined = match op {
        // Where there is no quotient, the codes that tell its bits stay as they were, but for the lowest.
        X87Op::Binary(X87Binary::Remainder | X87Binary::RemainderNearest) if is_nan(&result) => C1 | C2,
        _ if found & STACK_FAULT != 0 => codes_of(op) | C1,
        _ => codes_of(op),
    } as u16;
    let defined = if op == X87Op::Copy && b.is_some() && found == 0 { 0 } else { defined };
    *status = *status & !defined | found & defined;
    let low = result.low;
    Ok(match op.result() {
        X87Result::None => Pair::default(),
        X87Result::Slot => Pair { low: flags_of(found), high: 0 },
        X87Result::Register => Pair { low, high: u64::from(result.high) | IN_USE },
        X87Result::Number(size) => Pair { low: low & size.mask(), high: u64::from(*status) },
    })
}

/// The condition codes that an op always defines.
fn codes_of(op: X87Op) -> u64 {
    match op {
        X87Op::Compare { .. } | X87Op::Test | X87Op::Examine => CODES,
        X87Op::Binary(X87Binary::Remainder | X87Binary::RemainderNearest) => CODES,
        // Of these only a fault of the stack tells.
        X87Op::CompareFlags { .. } => 0,
        X87Op::Unary(X87Unary::Sine | X87Unary::Cosine) => C1 | C2,
        X87Op::Unary(
            X87Unary::SineWithPush
            | X87Unary::CosineWithPush
            | X87Unary::TangentWithPush
            | X87Unary::OneWithPush,
        ) => C1 | C2,
        _ => C1,
    }
}

/// The condition codes of a comparison as the flags that they are at the same time.
fn flags_of(codes: u16) -> u64 {
    let flag = |code: u64, flag| if u64::from(codes) & code != 0 { flag } else { 0 };
    flag(C0, CF) | flag(C2, PF) | flag(C3, ZF)
}

/// No remainder is infinite.
fn is_nan(remainder: &Ten) -> bool {
    remainder.high & 0x7fff == 0x7fff
}

fn is_empty(pair: Pair) -> bool {
    pair.high & IN_USE == 0
}

fn ten(pair: Pair) -> Ten {
    Ten { low: pair.low, high: (pair.high & SIGN_AND_EXPONENT) as u16 }
}

fn compute(op: X87Op, a: Pair, b: Option<Pair>, control: u16) -> Result<Computed, Refusal> {
    if op == X87Op::Examine && is_empty(a) {
        let sign = if a.high & 0x8000 != 0 { C1 } else { 0 };
        return Ok((Ten::default(), (C3 | C0 | sign) as u16));
    }
    let both = op.b() == X87Operand::Register || op == X87Op::Copy;
    let underflow = op != X87Op::Examine
        && (op.a() == X87Operand::Register && is_empty(a) || both && b.is_some_and(is_empty));
    let overflow = op.b() == X87Operand::Place && op != X87Op::Copy && b.is_some_and(|b| !is_empty(b));
    if underflow || overflow {
        let direction = if underflow { 0 } else { C1 as u16 };
        let unordered = if op.result() == X87Result::Register { 0 } else { (C0 | C2 | C3) as u16 };
        return Ok((indefinite(op), INVALID | STACK_FAULT | direction | unordered));
    }
    let (a, b) = (ten(a), ten(b.unwrap_or_default()));
    Ok(match op {
        X87Op::Arithmetic(function, format) => host::arithmetic(function, format, &a, &b, control),
        X87Op::Compare { quiet, format } => host::compare(quiet, format, &a, &b, control),
        X87Op::CompareFlags { quiet } => host::compare(quiet, X87Format::Extended, &a, &b, control),
        X87Op::Test => host::test(&a, control),
        X87Op::Examine => host::examine(&a, control),
        X87Op::Unary(function) => match transcendental::unary(function, &a, control)? {
            Some(computed) => computed,
            None => host::unary(function, &a, control),
        },
        X87Op::Binary(function) => match transcendental::binary(function, &a, &b, control) {
            Some(computed) => computed,
            None => remainder::step(function, &a, &b, control)
                .unwrap_or_else(|| host::binary(function, &a, &b, control)),
        },
        X87Op::Constant(constant) => host::constant(constant, control),
        X87Op::Load(format) => host::load(format, &a, control),
        X87Op::Store { format, truncate } => host::store(format, truncate, &a, control),
        X87Op::ToDecimal { .. } => host::to_decimal(&a, control),
        X87Op::FromDecimal => host::from_decimal(&a, control),
        X87Op::Copy | X87Op::Push | X87Op::StatusWord => (a, 0),
    })
}

/// What an invalid operation gives that is masked.
fn indefinite(op: X87Op) -> Ten {
    const QUIET_NAN: Ten = Ten { low: 3 << 62, high: 0xffff };
    match op {
        X87Op::Store { format: X87Format::Single, .. } => Ten { low: 0xffc0_0000, high: 0 },
        X87Op::Store { format: X87Format::Double, .. } => Ten { low: 0xfff8 << 48, high: 0 },
        // The lowest integer.
        X87Op::Store { format, .. } => Ten { low: format.size().sign(), high: 0 },
        _ => QUIET_NAN,
    }
}

/// The ten bytes that are stored of a register.
pub fn stored(register: Pair) -> (u64, u16) {
    let Ten { low, high } = if is_empty(register) { indefinite(X87Op::Copy) } else { ten(register) };
    (low, high)
}

/// The status word as programs see it.
pub fn status_word(status: u16, control: u16, top: u64) -> u16 {
    const SUMMARY: u16 = 1 << 7 | 1 << 15;
    let summary = if status & !control & EXCEPTIONS != 0 { SUMMARY } else { 0 };
    status | summary | (top as u16 & 7) << 11
}
