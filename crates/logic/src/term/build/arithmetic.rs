//! Sums, products and quotients of bits.
//!
//! A sum with a constant has the constant last, and a difference with one is a sum. Multiples of one term are collected, because compilers
//! multiply by adding and shifting: `lea (%rax,%rax,4)` and `add %eax,%eax` are `10 * a` again.

use crate::term::{BitsBinary, BitsUnary, Node, Term, Terms};

impl Terms {
    fn binary(&mut self, function: BitsBinary, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "{function:?}");
        self.build(Node::BitsBinary(function, a, b))
    }

    pub fn add(&mut self, a: Term, b: Term) -> Term {
        self.binary(BitsBinary::Add, a, b)
    }

    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        self.binary(BitsBinary::Sub, a, b)
    }

    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        self.binary(BitsBinary::Mul, a, b)
    }

    pub fn negate(&mut self, a: Term) -> Term {
        self.build(Node::BitsUnary(BitsUnary::Negate, a))
    }

    pub fn unsigned_divide(&mut self, a: Term, b: Term) -> Term {
        self.binary(BitsBinary::UnsignedDivide, a, b)
    }

    pub fn unsigned_remainder(&mut self, a: Term, b: Term) -> Term {
        self.binary(BitsBinary::UnsignedRemainder, a, b)
    }

    pub fn signed_divide(&mut self, a: Term, b: Term) -> Term {
        self.binary(BitsBinary::SignedDivide, a, b)
    }

    pub fn signed_remainder(&mut self, a: Term, b: Term) -> Term {
        self.binary(BitsBinary::SignedRemainder, a, b)
    }

    /// A term as a multiple of another.
    pub(super) fn multiple(&self, term: Term) -> (Term, u128) {
        match self.node(term) {
            Node::BitsBinary(BitsBinary::Mul, a, b) => match self.constant(b) {
                Some(factor) => (a, factor),
                None => (term, 1),
            },
            Node::BitsBinary(BitsBinary::ShiftLeft, a, b) => match self.constant(b) {
                Some(count) if count < self.width(a).into() => (a, 1 << count),
                _ => (term, 1),
            },
            Node::BitsUnary(BitsUnary::Negate, a) => (a, self.sort(a).mask()),
            _ => (term, 1),
        }
    }

    /// A multiple in its simplest form.
    fn scaled(&mut self, a: Term, factor: u128) -> Term {
        let (mask, width) = (self.sort(a).mask(), self.width(a));
        match factor & mask {
            0 => self.bits(width, 0),
            1 => a,
            factor if factor == mask => self.intern(Node::BitsUnary(BitsUnary::Negate, a)),
            factor if factor.is_power_of_two() => {
                let count = self.bits(width, factor.trailing_zeros().into());
                self.intern(Node::BitsBinary(BitsBinary::ShiftLeft, a, count))
            }
            factor => {
                let factor = self.bits(width, factor);
                self.intern(Node::BitsBinary(BitsBinary::Mul, a, factor))
            }
        }
    }

    /// A term as a sum of another and a constant.
    pub(super) fn offset(&self, term: Term) -> (Term, u128) {
        match self.node(term) {
            Node::BitsBinary(BitsBinary::Add, a, b) => match self.constant(b) {
                Some(constant) => (a, constant),
                None => (term, 0),
            },
            _ => (term, 0),
        }
    }

    fn with_offset(&mut self, a: Term, constant: u128) -> Term {
        let constant = self.bits(self.width(a), constant);
        match self.constant(constant) {
            Some(0) => a,
            _ => self.intern(Node::BitsBinary(BitsBinary::Add, a, constant)),
        }
    }

    pub(super) fn simplify_add(&mut self, a: Term, b: Term) -> Option<Term> {
        if let Some((constant, _)) = self.constant_and_mask(b) {
            let (base, offset) = self.offset(a);
            return (constant == 0 || offset != 0)
                .then(|| self.with_offset(base, offset.wrapping_add(constant)));
        }
        let ((a_base, a_offset), (b_base, b_offset)) = (self.offset(a), self.offset(b));
        if a_offset != 0 || b_offset != 0 {
            let sum = self.add(a_base, b_base);
            let offset = self.bits(self.width(a), a_offset.wrapping_add(b_offset));
            return Some(self.add(sum, offset));
        }
        let ((a_of, a_factor), (b_of, b_factor)) = (self.multiple(a), self.multiple(b));
        if a_of == b_of {
            return Some(self.scaled(a_of, a_factor.wrapping_add(b_factor)));
        }
        match (self.node(a), self.node(b)) {
            (_, Node::BitsUnary(BitsUnary::Negate, b)) => Some(self.sub(a, b)),
            (Node::BitsUnary(BitsUnary::Negate, a), _) => Some(self.sub(b, a)),
            // (x - y) + y
            (Node::BitsBinary(BitsBinary::Sub, x, y), _) if y == b => Some(x),
            (_, Node::BitsBinary(BitsBinary::Sub, x, y)) if y == a => Some(x),
            _ => self
                .remainder_by_sum(a, b)
                .or_else(|| self.remainder_by_sum(b, a))
                .or_else(|| self.signed_quotient(Node::BitsBinary(BitsBinary::Add, a, b))),
        }
    }

    pub(super) fn simplify_sub(&mut self, a: Term, b: Term) -> Option<Term> {
        if let Some((constant, _)) = self.constant_and_mask(b) {
            let negative = self.bits(self.width(a), constant.wrapping_neg());
            return Some(self.add(a, negative));
        }
        if self.constant(a) == Some(0) {
            return Some(self.negate(b));
        }
        let ((a_base, a_offset), (b_base, b_offset)) = (self.offset(a), self.offset(b));
        if a_offset != 0 || b_offset != 0 {
            let difference = self.sub(a_base, b_base);
            let offset = self.bits(self.width(a), a_offset.wrapping_sub(b_offset));
            return Some(self.add(difference, offset));
        }
        let ((a_of, a_factor), (b_of, b_factor)) = (self.multiple(a), self.multiple(b));
        if a_of == b_of {
            return Some(self.scaled(a_of, a_factor.wrapping_sub(b_factor)));
        }
        match (self.node(a), self.node(b)) {
            (_, Node::BitsUnary(BitsUnary::Negate, b)) => Some(self.add(a, b)),
            // (x + y) - x
            (Node::BitsBinary(BitsBinary::Add, x, y), _) if x == b => Some(y),
            (Node::BitsBinary(BitsBinary::Add, x, y), _) if y == b => Some(x),
            // x - (x - y)
            (_, Node::BitsBinary(BitsBinary::Sub, x, y)) if x == a => Some(y),
            _ => self
                .remainder(a, b)
                .or_else(|| self.signed_remainder_by_power(a, b))
                .or_else(|| self.signed_remainder_by_mask(a, b))
                .or_else(|| self.signed_quotient(Node::BitsBinary(BitsBinary::Sub, a, b))),
        }
    }

    pub(super) fn simplify_negate(&mut self, a: Term) -> Option<Term> {
        match self.node(a) {
            Node::BitsUnary(BitsUnary::Negate, a) => Some(a),
            Node::BitsBinary(BitsBinary::Sub, x, y) => Some(self.sub(y, x)),
            Node::BitsBinary(BitsBinary::Mul, ..) => {
                let (of, factor) = self.multiple(a);
                (of != a).then(|| self.scaled(of, factor.wrapping_neg()))
            }
            _ => None,
        }
    }

    pub(super) fn simplify_mul(&mut self, a: Term, b: Term) -> Option<Term> {
        let constant = self.constant(b)?;
        let (of, factor) = self.multiple(a);
        let is_plain =
            of == a && constant > 1 && constant != self.sort(a).mask() && !constant.is_power_of_two();
        (!is_plain).then(|| self.scaled(of, factor.wrapping_mul(constant)))
    }

    pub(super) fn simplify_divide(&mut self, function: BitsBinary, a: Term, b: Term) -> Option<Term> {
        let is_quotient = matches!(function, BitsBinary::UnsignedDivide | BitsBinary::SignedDivide);
        match self.constant(b) {
            Some(1) if is_quotient => return Some(a),
            Some(1) => return Some(self.bits(self.width(a), 0)),
            _ => {}
        }
        self.narrow_division(function, a, b)
    }

    /// The division of a number that was zero-extended, by a constant that is no wider, is that of the number as it was.
    fn narrow_division(&mut self, function: BitsBinary, a: Term, b: Term) -> Option<Term> {
        let Node::ZeroExtend(width, narrow) = self.node(a) else { return None };
        let inner = self.width(narrow);
        // By zero the quotient would be all ones, as many as there are bits.
        let divisor = self.constant(b).filter(|divisor| *divisor != 0 && divisor >> inner == 0)?;
        let divisor = self.bits(inner, divisor);
        let function = match function {
            BitsBinary::SignedDivide => BitsBinary::UnsignedDivide,
            BitsBinary::SignedRemainder => BitsBinary::UnsignedRemainder,
            same => same,
        };
        let result = self.binary(function, narrow, divisor);
        Some(self.zero_extend(width.into(), result))
    }
}
