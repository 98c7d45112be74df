//! Functions by the host's own x87 unit, under the guest's control word with all exceptions masked. The architecture defines
//! their results.
//!
//! Each runs in one asm block that finds the register stack empty, as it is between any two functions, and leaves it so.

use super::Computed;
use lift::x87::{X87Arithmetic, X87Binary, X87Constant, X87Format, X87Unary};
use std::arch::asm;

/// A number of 80 bits, or what is loaded as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Ten {
    pub low: u64,
    pub high: u16,
}

/// The control word that Rust code runs under.
const HOST_CONTROL: u16 = 0x37f;
const TRUNCATE: u16 = 0x0c00;

/// Runs the given instructions. They find the operands at `{a}` and `{b}`, leave the result at `{r}` and the status
/// word in ax.
macro_rules! run {
    ($control:expr, $a:expr, $b:expr, $($text:expr),+) => {{
        let (a, b): (&Ten, &Ten) = ($a, $b);
        let control: u16 = $control | super::EXCEPTIONS;
        let mut result = Ten::default();
        let status: u16;
        // SAFETY: all exceptions are masked, so nothing traps. The operands are read, the result is written, and all x87
        // registers are told to be overwritten; at the end the control word is what it was.
        unsafe {
            asm!(
                "/* {a} {b} {r} */",
                "fnclex",
                "fldcw word ptr [{control}]",
                $($text,)+
                "fldcw word ptr [{host}]",
                a = in(reg) a,
                b = in(reg) b,
                r = in(reg) &mut result,
                control = in(reg) &control,
                host = in(reg) &HOST_CONTROL,
                out("ax") status,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            );
        }
        (result, status)
    }};
}

/// `a` with a function; the top is the result.
macro_rules! of_one {
    ($control:expr, $a:expr, $($text:expr),+) => {
        run!($control, $a, $a, "fld tbyte ptr [{a}]", $($text,)+ "fnstsw ax", "fstp tbyte ptr [{r}]")
    };
}

/// `a` on top of `b`; the top is the result.
macro_rules! of_two {
    ($control:expr, $a:expr, $b:expr, $text:expr) => {
        run!(
            $control,
            $a,
            $b,
            "fld tbyte ptr [{b}]",
            "fld tbyte ptr [{a}]",
            $text,
            "fnstsw ax",
            "fstp tbyte ptr [{r}]",
            "fstp st(0)"
        )
    };
}

pub fn arithmetic(function: X87Arithmetic, format: X87Format, a: &Ten, b: &Ten, control: u16) -> Computed {
    macro_rules! formats {
        ($name:literal) => {
            match format {
                X87Format::Extended => of_two!(control, a, b, concat!("f", $name, " st, st(1)")),
                X87Format::Single => with_memory!(concat!("f", $name, " dword ptr [{b}]")),
                X87Format::Double => with_memory!(concat!("f", $name, " qword ptr [{b}]")),
                X87Format::Integer16 => with_memory!(concat!("fi", $name, " word ptr [{b}]")),
                X87Format::Integer32 | X87Format::Integer64 => {
                    with_memory!(concat!("fi", $name, " dword ptr [{b}]"))
                }
            }
        };
    }
    macro_rules! with_memory {
        ($text:expr) => {
            run!(control, a, b, "fld tbyte ptr [{a}]", $text, "fnstsw ax", "fstp tbyte ptr [{r}]")
        };
    }
    match function {
        X87Arithmetic::Add => formats!("add"),
        X87Arithmetic::Multiply => formats!("mul"),
        X87Arithmetic::Subtract => formats!("sub"),
        X87Arithmetic::SubtractFrom => formats!("subr"),
        X87Arithmetic::Divide => formats!("div"),
        X87Arithmetic::DivideInto => formats!("divr"),
    }
}

/// The result is in the condition codes.
pub fn compare(quiet: bool, format: X87Format, a: &Ten, b: &Ten, control: u16) -> Computed {
    macro_rules! with_memory {
        ($text:expr) => {
            run!(control, a, b, "fld tbyte ptr [{a}]", $text, "fnstsw ax", "fstp st(0)")
        };
    }
    match (format, quiet) {
        (X87Format::Extended, false) => of_two!(control, a, b, "fcom st(1)"),
        (X87Format::Extended, true) => of_two!(control, a, b, "fucom st(1)"),
        (X87Format::Single, _) => with_memory!("fcom dword ptr [{b}]"),
        (X87Format::Double, _) => with_memory!("fcom qword ptr [{b}]"),
        (X87Format::Integer16, _) => with_memory!("ficom word ptr [{b}]"),
        (X87Format::Integer32 | X87Format::Integer64, _) => with_memory!("ficom dword ptr [{b}]"),
    }
}

pub fn test(a: &Ten, control: u16) -> Computed {
    of_one!(control, a, "ftst")
}

pub fn examine(a: &Ten, control: u16) -> Computed {
    of_one!(control, a, "fxam")
}

/// The transcendental ones only for operands that are no numbers other than zero.
pub fn unary(function: X87Unary, a: &Ten, control: u16) -> Computed {
    use X87Unary::*;
    match function {
        Negate => of_one!(control, a, "fchs"),
        Absolute => of_one!(control, a, "fabs"),
        SquareRoot => of_one!(control, a, "fsqrt"),
        Round => of_one!(control, a, "frndint"),
        Exponential => of_one!(control, a, "f2xm1"),
        Sine | SineWithPush => of_one!(control, a, "fsin"),
        Cosine | CosineWithPush => of_one!(control, a, "fcos"),
        // The sine of what is no number is as good as the tangent.
        TangentWithPush => of_one!(control, a, "fsin"),
        OneWithPush if a.low == 0 && a.high & 0x7fff == 0 => constant(X87Constant::One, control),
        OneWithPush => of_one!(control, a, "fsin"),
        Exponent => run!(
            control,
            a,
            a,
            "fld tbyte ptr [{a}]",
            "fxtract",
            "fnstsw ax",
            "fstp st(0)",
            "fstp tbyte ptr [{r}]"
        ),
        Significand => run!(
            control,
            a,
            a,
            "fld tbyte ptr [{a}]",
            "fxtract",
            "fnstsw ax",
            "fstp tbyte ptr [{r}]",
            "fstp st(0)"
        ),
    }
}

/// As for [`unary`].
pub fn binary(function: X87Binary, a: &Ten, b: &Ten, control: u16) -> Computed {
    macro_rules! and_pop {
        ($text:expr) => {
            run!(
                control,
                a,
                b,
                "fld tbyte ptr [{b}]",
                "fld tbyte ptr [{a}]",
                $text,
                "fnstsw ax",
                "fstp tbyte ptr [{r}]"
            )
        };
    }
    match function {
        X87Binary::Scale => of_two!(control, a, b, "fscale"),
        X87Binary::Remainder => of_two!(control, a, b, "fprem"),
        X87Binary::RemainderNearest => of_two!(control, a, b, "fprem1"),
        X87Binary::ArcTangent => and_pop!("fpatan"),
        X87Binary::Logarithm => and_pop!("fyl2x"),
        X87Binary::LogarithmPlusOne => and_pop!("fyl2xp1"),
    }
}

pub fn constant(constant: X87Constant, control: u16) -> Computed {
    let none = &Ten::default();
    macro_rules! constant {
        ($text:expr) => {
            run!(control, none, none, $text, "fnstsw ax", "fstp tbyte ptr [{r}]")
        };
    }
    match constant {
        X87Constant::One => constant!("fld1"),
        X87Constant::Log2Of10 => constant!("fldl2t"),
        X87Constant::Log2OfE => constant!("fldl2e"),
        X87Constant::Pi => constant!("fldpi"),
        X87Constant::Log10Of2 => constant!("fldlg2"),
        X87Constant::LnOf2 => constant!("fldln2"),
        X87Constant::Zero => constant!("fldz"),
    }
}

pub fn load(format: X87Format, a: &Ten, control: u16) -> Computed {
    macro_rules! load {
        ($text:expr) => {
            run!(control, a, a, $text, "fnstsw ax", "fstp tbyte ptr [{r}]")
        };
    }
    match format {
        X87Format::Extended => (*a, 0),
        X87Format::Single => load!("fld dword ptr [{a}]"),
        X87Format::Double => load!("fld qword ptr [{a}]"),
        X87Format::Integer16 => load!("fild word ptr [{a}]"),
        X87Format::Integer32 => load!("fild dword ptr [{a}]"),
        X87Format::Integer64 => load!("fild qword ptr [{a}]"),
    }
}

pub fn store(format: X87Format, truncate: bool, a: &Ten, control: u16) -> Computed {
    let control = if truncate { control | TRUNCATE } else { control };
    macro_rules! store {
        ($text:expr) => {
            run!(control, a, a, "fld tbyte ptr [{a}]", $text, "fnstsw ax")
        };
    }
    match format {
        X87Format::Extended => (*a, 0),
        X87Format::Single => store!("fstp dword ptr [{r}]"),
        X87Format::Double => store!("fstp qword ptr [{r}]"),
        X87Format::Integer16 => store!("fistp word ptr [{r}]"),
        X87Format::Integer32 => store!("fistp dword ptr [{r}]"),
        X87Format::Integer64 => store!("fistp qword ptr [{r}]"),
    }
}

pub fn to_decimal(a: &Ten, control: u16) -> Computed {
    run!(control, a, a, "fld tbyte ptr [{a}]", "fbstp tbyte ptr [{r}]", "fnstsw ax")
}

pub fn from_decimal(a: &Ten, control: u16) -> Computed {
    run!(control, a, a, "fbld tbyte ptr [{a}]", "fnstsw ax", "fstp tbyte ptr [{r}]")
}
