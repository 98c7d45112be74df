//! Floats. Little can be simplified without changing the last digit.

use crate::term::{BitsBinary, FloatArithmetic, FloatCompare, Format, Node, Rounding, Sort, Term, Terms};

impl Terms {
    /// The constant with these bits.
    pub fn float(&mut self, format: Format, bits: u128) -> Term {
        self.value(Sort::Float(format), bits)
    }

    pub fn float_arithmetic(
        &mut self,
        function: FloatArithmetic,
        rounding: Rounding,
        a: Term,
        b: Term,
    ) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "{function:?}");
        self.build(Node::FloatArithmetic(function, rounding, a, b))
    }

    pub fn float_remainder(&mut self, a: Term, b: Term) -> Term {
        self.build(Node::FloatRemainder(a, b))
    }

    pub fn float_square_root(&mut self, rounding: Rounding, a: Term) -> Term {
        self.build(Node::FloatSquareRoot(rounding, a))
    }

    /// To a whole number.
    pub fn float_round(&mut self, rounding: Rounding, a: Term) -> Term {
        self.build(Node::FloatRound(rounding, a))
    }

    pub fn float_negate(&mut self, a: Term) -> Term {
        self.build(Node::FloatNegate(a))
    }

    pub fn float_absolute(&mut self, a: Term) -> Term {
        self.build(Node::FloatAbsolute(a))
    }

    /// Whether they compare as equal: a NaN does not, and the zeroes do.
    pub fn float_equal(&mut self, a: Term, b: Term) -> Term {
        self.build(Node::FloatCompare(FloatCompare::Equal, a, b))
    }

    pub fn float_less(&mut self, a: Term, b: Term) -> Term {
        self.build(Node::FloatCompare(FloatCompare::Less, a, b))
    }

    pub fn float_less_or_equal(&mut self, a: Term, b: Term) -> Term {
        self.build(Node::FloatCompare(FloatCompare::LessOrEqual, a, b))
    }

    pub fn float_is_nan(&mut self, a: Term) -> Term {
        self.build(Node::FloatIsNan(a))
    }

    /// Whether one of them is a NaN.
    pub fn float_unordered(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (self.float_is_nan(a), self.float_is_nan(b));
        self.or(a, b)
    }

    /// The float with these bits, which are as many as the format has.
    pub fn float_from_bits(&mut self, format: Format, bits: Term) -> Term {
        debug_assert_eq!(self.width(bits), format.bits());
        self.build(Node::FloatFromBits(format, bits))
    }

    pub fn float_to_bits(&mut self, a: Term) -> Term {
        self.build(Node::FloatToBits(a))
    }

    pub fn float_convert(&mut self, to: Format, rounding: Rounding, a: Term) -> Term {
        self.build(Node::FloatConvert(to, rounding, a))
    }

    /// Of an integer of at most 64 bits.
    pub fn float_from_signed(&mut self, to: Format, rounding: Rounding, a: Term) -> Term {
        debug_assert!(self.width(a) <= 64);
        self.build(Node::FloatFromSigned(to, rounding, a))
    }

    /// To an integer of at most 64 bits; what does not fit becomes the lowest number.
    pub fn float_to_signed(&mut self, width: u32, rounding: Rounding, a: Term) -> Term {
        debug_assert!(width <= 64);
        self.build(Node::FloatToSigned(width as u8, rounding, a))
    }

    pub(super) fn simplify_from_bits(&mut self, format: Format, bits: Term) -> Option<Term> {
        match self.node(bits) {
            Node::FloatToBits(a) if self.sort(a) == Sort::Float(format) => Some(a),
            // Compilers change signs by masks.
            Node::BitsBinary(BitsBinary::Xor, a, mask) if self.constant(mask) == Some(format.sign()) => {
                let a = self.float_from_bits(format, a);
                Some(self.float_negate(a))
            }
            Node::BitsBinary(BitsBinary::And, a, mask) if self.constant(mask) == Some(format.sign() - 1) => {
                let a = self.float_from_bits(format, a);
                Some(self.float_absolute(a))
            }
            _ => None,
        }
    }

    pub(super) fn simplify_to_bits(&mut self, a: Term) -> Option<Term> {
        match self.node(a) {
            Node::FloatFromBits(_, bits) => Some(bits),
            _ => None,
        }
    }

    pub(super) fn simplify_float_negate(&mut self, a: Term) -> Option<Term> {
        match self.node(a) {
            Node::FloatNegate(a) => Some(a),
            _ => None,
        }
    }

    pub(super) fn simplify_float_absolute(&mut self, a: Term) -> Option<Term> {
        match self.node(a) {
            Node::FloatNegate(a) => Some(self.float_absolute(a)),
            Node::FloatAbsolute(_) => Some(a),
            _ => None,
        }
    }
}
