//! The table of vector and float functions: what SSE to SSE4.2 compute, apart from how it is encoded.
//!
//! A function is named by what it does to a lane and by the lane it does it to, so that a reader
//! (executor, dependence tracker, formula) treats a family at once instead of one mnemonic after
//! the other. Moves, loads, stores and word insertions are no functions: an XMM register is two
//! slots, so the ordinary ops of [`crate::Op`] do them.
//!
//! Conventions that hold for the whole table:
//! - `a` is the first operand: the old destination, in the order the processor has it (which
//!   decides between two NaNs). A function of one operand reads `b`, and `a` only where it
//!   keeps a part of it; shifts alone shift `a`.
//! - A scalar function works on one slot, not on a pair: its result replaces the lowest lane of
//!   slot `a`, and the other half of the register is not touched. Writing it to the low half of
//!   an XMM register is the merge that the processor does.
//! - Lanes are counted from the low end.

mod dependence;
mod operands;
mod text;

pub use dependence::Dependence;
pub use operands::{VectorOperand, VectorResult};

use crate::Size;

/// A function on vectors. [`VectorOp::a`], [`VectorOp::b`] and [`VectorOp::result`] say what it
/// reads and writes, [`VectorOp::dependence`] says so byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorOp {
    /// Each lane of the result is the function of the same lane of `a` and `b`.
    Lanes(LaneFunction, Size),
    /// The function of every bit of `a` and `b`.
    Bitwise(BitwiseFunction),
    /// Every lane of `a` shifted by one count.
    Shift(ShiftFunction, Size, ShiftCount),
    /// The whole vector `a` shifted by `imm` bytes; zeroes come in (pslldq, psrldq).
    ShiftBytes(Direction),
    /// As `Lanes`, but of neighbouring lanes: those of `a`, then those of `b` (phaddw and its kin).
    Pairs(LaneFunction, Size),
    /// The absolute value of each signed lane of `b` (pabsb and its kin).
    Absolute(Size),
    /// 64-bit products of the even 32-bit lanes (pmuludq, pmuldq).
    MultiplyEven(Signedness),
    /// Products of the unsigned bytes of `a` and the signed ones of `b`, added in neighbouring pairs to signed
    /// 16-bit lanes that are clamped to their range (pmaddubsw).
    MultiplyAddBytes,
    /// Signed 16-bit products, added in neighbouring pairs to 32-bit lanes (pmaddwd).
    MultiplyAddPairs,
    /// The sum of the absolute differences of 8 unsigned bytes, in each 64-bit half (psadbw).
    SumDifferences,
    /// Eight such sums, of four bytes each: those of `b` that the low bits of `imm` choose, with those of `a` from
    /// byte 0 on, from byte 1 on and so forth, or four further up by bit 2 of `imm` (mpsadbw).
    SlidingDifferences,
    /// The least unsigned 16-bit lane of `b` in lane 0, its number in lane 1, zeroes above (phminposuw).
    MinimumPosition,
    /// The lanes of one half of `a` and of `b`, taken in turns: a0 b0 a1 b1 …
    Unpack(Half, Size),
    /// The lanes of `a` and then of `b`, which are signed, each clamped to the signed or unsigned
    /// range of half its size.
    Pack(PackFrom, Signedness),
    /// Lanes picked by the bits of `imm`.
    Shuffle(Shuffle),
    /// Bytes of `a` picked by the bytes of `b`; zero where that is negative (pshufb).
    ShuffleBytes,
    /// 16 of the 32 bytes of `b` and then `a`, from byte `imm` on; zeroes come in (palignr).
    Align,
    /// Each lane of `b` where its bit of `imm` is set, else of `a` (pblendw, blendps, blendpd).
    Blend(Size),
    /// The lowest lanes of `b`, each extended to a wider one (pmovsxbw, pmovzxwd and so forth).
    Widen { from: Size, to: Size, signedness: Signedness },
    /// ZF, if `a` and `b` have no bit in common; CF, if `b` has no bit that `a` has not; at their places in RFLAGS
    /// (ptest).
    TestBits,
    /// The checksum in the low 32 bits of slot `a`, continued by as many bytes of slot `b` (crc32).
    Checksum(Size),
    /// The sign bits of `b`'s lanes, gathered from bit 0 of the result on (movmskps, pmovmskb).
    SignMask(Size),
    /// IEEE arithmetic under MXCSR. `packed`: on all lanes; otherwise on the lowest.
    Float { function: FloatFunction, width: FloatWidth, packed: bool },
    /// Sums or differences of neighbouring float lanes, under MXCSR: those of `a`, then those of `b` (haddps and its kin).
    FloatPairs { function: PairFunction, width: FloatWidth },
    /// Compares the lowest lanes of `a` and `b` as CF, PF and ZF at their places in RFLAGS
    /// (comis, ucomis). `signalling`: a quiet NaN is an invalid operation too.
    CompareFlags { width: FloatWidth, signalling: bool },
    /// Changes the representation of numbers, under MXCSR.
    Convert(Conversion),
    /// Approximations on 32-bit floats, which neither read nor write MXCSR. Their relative error
    /// is at most 1.5·2⁻¹²; which value within that is up to the machine.
    Approximate { function: Approximation, packed: bool },
}

/// Functions of two integer lanes of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneFunction {
    Add,
    Sub,
    /// Clamped to the range of the lane.
    AddSaturating(Signedness),
    SubSaturating(Signedness),
    /// All ones where the lanes are equal, else zero.
    Equal,
    /// All ones where `a` is greater than `b` as a signed number, else zero.
    GreaterSigned,
    Min(Signedness),
    Max(Signedness),
    /// (a + b + 1) / 2 without overflow, unsigned.
    Average,
    MultiplyLow,
    MultiplyHigh(Signedness),
    /// The high half of the signed doubled product, rounded (pmulhrsw).
    MultiplyRounded,
    /// `a`, its negative, or zero, as `b` is positive, negative or zero (psignb and its kin).
    Sign,
}

/// Functions of two neighbouring float lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PairFunction {
    Add,
    /// The lower lane minus the higher one.
    Sub,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    Signed,
    Unsigned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitwiseFunction {
    And,
    /// `!a & b`
    AndNot,
    Or,
    Xor,
}

/// A count of the lane's width or more gives zero, or the sign in every bit for
/// [`ShiftFunction::RightSigned`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShiftFunction {
    Left,
    Right,
    RightSigned,
}

/// Where the count of a shift is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShiftCount {
    /// `imm`
    Immediate,
    /// The slot `b`, unsigned, all 64 bits of it.
    Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    Low,
    High,
}

/// The lanes that are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackFrom {
    Words,
    Dwords,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shuffle {
    /// Four 4-byte lanes of `b`, each picked by two bits of `imm` (pshufd).
    Dwords,
    /// As `Dwords` on the 2-byte lanes of one half of `b`; the other half is copied
    /// (pshuflw, pshufhw).
    Words(Half),
    /// Two 4-byte lanes of `a`, then two of `b` (shufps).
    PairsOfDwords,
    /// An 8-byte lane of `a`, then one of `b`, each picked by one bit of `imm` (shufpd).
    PairOfQwords,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatWidth {
    F32,
    F64,
}

impl FloatWidth {
    pub const ALL: [FloatWidth; 2] = [FloatWidth::F32, FloatWidth::F64];

    pub const fn size(self) -> Size {
        match self {
            FloatWidth::F32 => Size::B4,
            FloatWidth::F64 => Size::B8,
        }
    }
}

/// Functions of float lanes with x86's rules: the result of an operation on NaNs is the first NaN
/// operand, made quiet; an invalid operation gives the negative quiet NaN without payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatFunction {
    Add,
    Sub,
    Mul,
    Div,
    /// `b` if either operand is a NaN or both are zero.
    Min,
    /// As for `Min`.
    Max,
    /// Of `b`.
    Sqrt,
    /// All ones where the predicate holds, else zero.
    Compare(Predicate),
    /// `a - b` in the even lanes, `a + b` in the odd ones (addsubps, addsubpd).
    SubAdd,
    /// `b` rounded to a whole number (roundps and its kin). `quiet`: a result that is inexact is not told.
    Round {
        to: Rounding,
        quiet: bool,
    },
}

/// Where a number is rounded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// The nearest whole number, of two the even one.
    Nearest,
    Down,
    Up,
    Zero,
    /// As MXCSR says.
    Current,
}

impl Rounding {
    pub const ALL: [Rounding; 5] =
        [Rounding::Nearest, Rounding::Down, Rounding::Up, Rounding::Zero, Rounding::Current];
}

/// The eight predicates of cmpps in encoding order. `Less` and `LessOrEqual` and their negations
/// find any NaN an invalid operation, the others only a signalling one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Predicate {
    Equal = 0,
    Less,
    LessOrEqual,
    Unordered,
    NotEqual,
    NotLess,
    NotLessOrEqual,
    Ordered,
}

impl Predicate {
    pub const ALL: [Predicate; 8] = {
        use Predicate::*;
        [Equal, Less, LessOrEqual, Unordered, NotEqual, NotLess, NotLessOrEqual, Ordered]
    };
}

/// Integers of a conversion are signed. An integer that cannot hold the value becomes the lowest
/// number of its width, with an invalid operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// The lowest lane is slot `b` as a number (cvtsi2ss, cvtsi2sd).
    IntegerToScalar { from: IntegerWidth, to: FloatWidth },
    /// The lowest lane of `b` to a general register; `truncate`: towards zero, whatever MXCSR says
    /// (cvtss2si, cvttsd2si).
    ScalarToInteger { from: FloatWidth, to: IntegerWidth, truncate: bool },
    /// The lowest lane of `b` to the other width, which is the given one (cvtss2sd, cvtsd2ss).
    ScalarTo(FloatWidth),
    /// Two lanes of `b` to the given width: the low half of `b` widens to a whole vector (cvtps2pd),
    /// or `b` narrows to a low half with zeroes above it (cvtpd2ps).
    PackedTo(FloatWidth),
    /// 32-bit integers: all four of `b` to singles (cvtdq2ps), the low two to doubles (cvtdq2pd).
    IntegersToPacked(FloatWidth),
    /// The other way; two doubles fill a low half with zeroes above it (cvtps2dq, cvttpd2dq).
    PackedToIntegers { from: FloatWidth, truncate: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntegerWidth {
    I32,
    I64,
}

impl IntegerWidth {
    pub const ALL: [IntegerWidth; 2] = [IntegerWidth::I32, IntegerWidth::I64];

    pub const fn size(self) -> Size {
        match self {
            IntegerWidth::I32 => Size::B4,
            IntegerWidth::I64 => Size::B8,
        }
    }
}

/// Of `b`. Denormals count as zero, and a denormal result is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Approximation {
    Reciprocal,
    ReciprocalSqrt,
}

impl VectorOp {
    /// Every function of the table.
    pub fn all() -> Vec<VectorOp> {
        use Signedness::{Signed, Unsigned};
        let mut all = vec![
            VectorOp::MultiplyAddPairs,
            VectorOp::MultiplyAddBytes,
            VectorOp::SumDifferences,
            VectorOp::SlidingDifferences,
            VectorOp::MinimumPosition,
            VectorOp::ShuffleBytes,
            VectorOp::Align,
            VectorOp::TestBits,
        ];
        all.extend([Signed, Unsigned].map(VectorOp::MultiplyEven));
        for size in Size::ALL {
            use LaneFunction::*;
            all.extend(
                [Add, Sub, Equal, GreaterSigned, Average, MultiplyLow, MultiplyRounded, Sign]
                    .map(|f| VectorOp::Lanes(f, size)),
            );
            all.extend(
                [Add, Sub, AddSaturating(Signed), SubSaturating(Signed)].map(|f| VectorOp::Pairs(f, size)),
            );
            all.extend([VectorOp::Absolute(size), VectorOp::Blend(size), VectorOp::Checksum(size)]);
            for to in Size::ALL.into_iter().filter(|to| *to > size) {
                all.extend([Signed, Unsigned].map(|signedness| VectorOp::Widen {
                    from: size,
                    to,
                    signedness,
                }));
            }
            for s in [Signed, Unsigned] {
                let functions = [AddSaturating(s), SubSaturating(s), Min(s), Max(s), MultiplyHigh(s)];
                all.extend(functions.map(|f| VectorOp::Lanes(f, size)));
            }
            for function in [ShiftFunction::Left, ShiftFunction::Right, ShiftFunction::RightSigned] {
                for count in [ShiftCount::Immediate, ShiftCount::Slot] {
                    all.push(VectorOp::Shift(function, size, count));
                }
            }
            all.extend([Half::Low, Half::High].map(|half| VectorOp::Unpack(half, size)));
            all.push(VectorOp::SignMask(size));
        }
        for from in [PackFrom::Words, PackFrom::Dwords] {
            all.extend([Signed, Unsigned].map(|s| VectorOp::Pack(from, s)));
        }
        {
            use BitwiseFunction::*;
            all.extend([And, AndNot, Or, Xor].map(VectorOp::Bitwise));
        }
        all.extend([Direction::Left, Direction::Right].map(VectorOp::ShiftBytes));
        {
            use Shuffle::*;
            let shuffles = [Dwords, Words(Half::Low), Words(Half::High), PairsOfDwords, PairOfQwords];
            all.extend(shuffles.map(VectorOp::Shuffle));
        }
        for width in FloatWidth::ALL {
            use FloatFunction::*;
            for packed in [false, true] {
                let functions = [Add, Sub, Mul, Div, Min, Max, Sqrt];
                all.extend(functions.map(|function| VectorOp::Float { function, width, packed }));
                all.extend(Predicate::ALL.map(|p| VectorOp::Float { function: Compare(p), width, packed }));
            }
            for packed in [false, true] {
                for to in Rounding::ALL {
                    all.extend([false, true].map(|quiet| VectorOp::Float {
                        function: Round { to, quiet },
                        width,
                        packed,
                    }));
                }
            }
            all.push(VectorOp::Float { function: SubAdd, width, packed: true });
            all.extend(
                [PairFunction::Add, PairFunction::Sub]
                    .map(|function| VectorOp::FloatPairs { function, width }),
            );
            all.extend([false, true].map(|signalling| VectorOp::CompareFlags { width, signalling }));
        }
        all.extend(Conversion::all().into_iter().map(VectorOp::Convert));
        for function in [Approximation::Reciprocal, Approximation::ReciprocalSqrt] {
            all.extend([false, true].map(|packed| VectorOp::Approximate { function, packed }));
        }
        all
    }
}

impl Conversion {
    /// Every conversion.
    pub fn all() -> Vec<Conversion> {
        let mut all = Vec::new();
        for float in FloatWidth::ALL {
            all.extend([Conversion::ScalarTo(float), Conversion::PackedTo(float)]);
            all.push(Conversion::IntegersToPacked(float));
            all.extend([false, true].map(|truncate| Conversion::PackedToIntegers { from: float, truncate }));
            for integer in IntegerWidth::ALL {
                all.push(Conversion::IntegerToScalar { from: integer, to: float });
                all.extend([false, true].map(|truncate| Conversion::ScalarToInteger {
                    from: float,
                    to: integer,
                    truncate,
                }));
            }
        }
        all
    }
}
