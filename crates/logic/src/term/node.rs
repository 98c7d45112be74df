//! What a term is made of.

use super::{Format, Rounding, Sort, Term, Terms, Variable};

/// A constant, an unknown, or a function of other terms. The meaning of each is SMT-LIB's function of that name, with these additions where
/// SMT-LIB leaves the value open or the machine is more exact:
///
/// - **The bits of a NaN.** In SMT-LIB there is one NaN, and its bits are open. Here a NaN keeps its bits, by the rules of the processor:
///   SSE's for [`Format::Single`] and [`Format::Double`], the x87 unit's for [`Format::Extended`]. A solver may take any bits;
///   what it finds out that depends on them is to be confirmed by evaluation.
/// - [`Node::FloatToSigned`] of a number that does not fit, or of a NaN, is the lowest integer of the width.
/// - [`Node::Equal`] of floats is equality of values as SMT-LIB's `=`: a NaN equals a NaN, and the two zeroes differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Its value has no bits beyond those of the sort.
    Constant(Sort, u128),
    Variable(Variable),

    // Of booleans.
    Not(Term),
    And(Term, Term),
    Or(Term, Term),
    Xor(Term, Term),
    Implies(Term, Term),

    // Of any sort.
    /// `if condition { yes } else { no }`
    IfThenElse(Term, Term, Term),
    Equal(Term, Term),

    // Of bits.
    BitsUnary(BitsUnary, Term),
    /// Both of the width of the result.
    BitsBinary(BitsBinary, Term, Term),
    BitsCompare(BitsCompare, Term, Term),
    /// The first has the higher bits.
    Concat(Term, Term),
    /// Bits `high` to `low`, both included.
    Extract {
        high: u8,
        low: u8,
        of: Term,
    },
    /// To so many bits.
    ZeroExtend(u8, Term),
    SignExtend(u8, Term),

    // Of floats.
    FloatArithmetic(FloatArithmetic, Rounding, Term, Term),
    /// The remainder of the division, the quotient rounded to the nearest whole number (fp.rem).
    FloatRemainder(Term, Term),
    FloatSquareRoot(Rounding, Term),
    /// To a whole number.
    FloatRound(Rounding, Term),
    FloatNegate(Term),
    FloatAbsolute(Term),
    FloatCompare(FloatCompare, Term, Term),
    FloatIsNan(Term),
    /// The float with these bits.
    FloatFromBits(Format, Term),
    /// The bits of a float.
    FloatToBits(Term),
    /// A float in another format.
    FloatConvert(Format, Rounding, Term),
    /// A signed integer as a float.
    FloatFromSigned(Format, Rounding, Term),
    /// A float as a signed integer of so many bits.
    FloatToSigned(u8, Rounding, Term),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitsUnary {
    /// bvnot
    Not,
    /// bvneg
    Negate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitsBinary {
    Add,
    Sub,
    Mul,
    /// bvudiv; by zero it is all ones.
    UnsignedDivide,
    /// bvurem; by zero it is the dividend.
    UnsignedRemainder,
    /// bvsdiv; by zero it is 1 or -1, against the sign of the dividend.
    SignedDivide,
    /// bvsrem, with the sign of the dividend; by zero it is the dividend.
    SignedRemainder,
    And,
    Or,
    Xor,
    /// bvshl; a count of the width or more gives zero.
    ShiftLeft,
    /// bvlshr; likewise.
    ShiftRight,
    /// bvashr; a count of the width or more gives the sign in all bits.
    ShiftRightSigned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitsCompare {
    UnsignedLess,
    UnsignedLessOrEqual,
    SignedLess,
    SignedLessOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatArithmetic {
    Add,
    Sub,
    Mul,
    Div,
}

/// All are false of a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatCompare {
    /// fp.eq: the two zeroes are equal.
    Equal,
    Less,
    LessOrEqual,
}

impl Node {
    fn operands(self) -> [Option<Term>; 3] {
        match self {
            Node::Constant(..) | Node::Variable(_) => [None; 3],
            Node::Not(a)
            | Node::BitsUnary(_, a)
            | Node::Extract { of: a, .. }
            | Node::ZeroExtend(_, a)
            | Node::SignExtend(_, a)
            | Node::FloatSquareRoot(_, a)
            | Node::FloatRound(_, a)
            | Node::FloatNegate(a)
            | Node::FloatAbsolute(a)
            | Node::FloatIsNan(a)
            | Node::FloatFromBits(_, a)
            | Node::FloatToBits(a)
            | Node::FloatConvert(_, _, a)
            | Node::FloatFromSigned(_, _, a)
            | Node::FloatToSigned(_, _, a) => [Some(a), None, None],
            Node::And(a, b)
            | Node::Or(a, b)
            | Node::Xor(a, b)
            | Node::Implies(a, b)
            | Node::Equal(a, b)
            | Node::BitsBinary(_, a, b)
            | Node::BitsCompare(_, a, b)
            | Node::Concat(a, b)
            | Node::FloatArithmetic(_, _, a, b)
            | Node::FloatRemainder(a, b)
            | Node::FloatCompare(_, a, b) => [Some(a), Some(b), None],
            Node::IfThenElse(a, b, c) => [Some(a), Some(b), Some(c)],
        }
    }

    /// The terms that this one is made of, in their order.
    pub fn children(self) -> impl Iterator<Item = Term> {
        self.operands().into_iter().flatten()
    }

    /// The same function of other terms.
    pub fn map(self, mut f: impl FnMut(Term) -> Term) -> Node {
        match self {
            Node::Constant(..) | Node::Variable(_) => self,
            Node::Not(a) => Node::Not(f(a)),
            Node::And(a, b) => Node::And(f(a), f(b)),
            Node::Or(a, b) => Node::Or(f(a), f(b)),
            Node::Xor(a, b) => Node::Xor(f(a), f(b)),
            Node::Implies(a, b) => Node::Implies(f(a), f(b)),
            Node::IfThenElse(a, b, c) => Node::IfThenElse(f(a), f(b), f(c)),
            Node::Equal(a, b) => Node::Equal(f(a), f(b)),
            Node::BitsUnary(function, a) => Node::BitsUnary(function, f(a)),
            Node::BitsBinary(function, a, b) => Node::BitsBinary(function, f(a), f(b)),
            Node::BitsCompare(relation, a, b) => Node::BitsCompare(relation, f(a), f(b)),
            Node::Concat(a, b) => Node::Concat(f(a), f(b)),
            Node::Extract { high, low, of } => Node::Extract { high, low, of: f(of) },
            Node::ZeroExtend(to, a) => Node::ZeroExtend(to, f(a)),
            Node::SignExtend(to, a) => Node::SignExtend(to, f(a)),
            Node::FloatArithmetic(function, rounding, a, b) => {
                Node::FloatArithmetic(function, rounding, f(a), f(b))
            }
            Node::FloatRemainder(a, b) => Node::FloatRemainder(f(a), f(b)),
            Node::FloatSquareRoot(rounding, a) => Node::FloatSquareRoot(rounding, f(a)),
            Node::FloatRound(rounding, a) => Node::FloatRound(rounding, f(a)),
            Node::FloatNegate(a) => Node::FloatNegate(f(a)),
            Node::FloatAbsolute(a) => Node::FloatAbsolute(f(a)),
            Node::FloatCompare(relation, a, b) => Node::FloatCompare(relation, f(a), f(b)),
            Node::FloatIsNan(a) => Node::FloatIsNan(f(a)),
            Node::FloatFromBits(format, a) => Node::FloatFromBits(format, f(a)),
            Node::FloatToBits(a) => Node::FloatToBits(f(a)),
            Node::FloatConvert(format, rounding, a) => Node::FloatConvert(format, rounding, f(a)),
            Node::FloatFromSigned(format, rounding, a) => Node::FloatFromSigned(format, rounding, f(a)),
            Node::FloatToSigned(to, rounding, a) => Node::FloatToSigned(to, rounding, f(a)),
        }
    }
}

impl Terms {
    /// The sort of the value that this node has.
    pub(super) fn sort_of(&self, node: Node) -> Sort {
        match node {
            Node::Constant(sort, _) => sort,
            Node::Variable(variable) => self.variable_sort(variable),
            Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Xor(..)
            | Node::Implies(..)
            | Node::Equal(..)
            | Node::BitsCompare(..)
            | Node::FloatCompare(..)
            | Node::FloatIsNan(_) => Sort::Bool,
            Node::IfThenElse(_, a, _)
            | Node::BitsUnary(_, a)
            | Node::BitsBinary(_, a, _)
            | Node::FloatArithmetic(_, _, a, _)
            | Node::FloatRemainder(a, _)
            | Node::FloatSquareRoot(_, a)
            | Node::FloatRound(_, a)
            | Node::FloatNegate(a)
            | Node::FloatAbsolute(a) => self.sort(a),
            Node::Concat(a, b) => Sort::Bits((self.width(a) + self.width(b)) as u8),
            Node::Extract { high, low, .. } => Sort::Bits(high - low + 1),
            Node::ZeroExtend(to, _) | Node::SignExtend(to, _) | Node::FloatToSigned(to, ..) => Sort::Bits(to),
            Node::FloatFromBits(format, _)
            | Node::FloatConvert(format, ..)
            | Node::FloatFromSigned(format, ..) => Sort::Float(format),
            Node::FloatToBits(a) => Sort::Bits(self.width(a) as u8),
        }
    }
}
