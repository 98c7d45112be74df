//! Parts of values, and values put together from parts.
//!
//! What was stored byte by byte and is loaded as a whole is the whole again. A chain of concatenations goes down on its low side, none of its high
//! parts is a concatenation, and neighbouring parts of one term are one part.

use crate::term::{BitsBinary, BitsUnary, Node, Term, Terms};

impl Terms {
    /// `high` has the higher bits. Together they have at most 128.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        debug_assert!(self.width(high) + self.width(low) <= 128);
        self.build(Node::Concat(high, low))
    }

    /// Bits `high` to `low`, both included.
    pub fn extract(&mut self, high: u32, low: u32, of: Term) -> Term {
        debug_assert!(low <= high && high < self.width(of), "bits {high} to {low} of {}", self.width(of));
        self.build(Node::Extract { high: high as u8, low: low as u8, of })
    }

    /// To `to` bits, which are no fewer than there are.
    pub fn zero_extend(&mut self, to: u32, a: Term) -> Term {
        debug_assert!(to >= self.width(a));
        self.build(Node::ZeroExtend(to as u8, a))
    }

    pub fn sign_extend(&mut self, to: u32, a: Term) -> Term {
        debug_assert!(to >= self.width(a));
        self.build(Node::SignExtend(to as u8, a))
    }

    /// The low bits of a value, or the value zero-extended.
    pub fn resize(&mut self, width: u32, a: Term) -> Term {
        if width < self.width(a) { self.extract(width - 1, 0, a) } else { self.zero_extend(width, a) }
    }

    /// The highest bit, as a term of one bit.
    pub fn top_bit(&mut self, a: Term) -> Term {
        let top = self.width(a) - 1;
        self.extract(top, top, a)
    }

    pub(super) fn simplify_zero_extend(&mut self, to: u32, a: Term) -> Option<Term> {
        if self.width(a) == to {
            return Some(a);
        }
        match self.node(a) {
            Node::ZeroExtend(_, inner) => Some(self.zero_extend(to, inner)),
            _ => None,
        }
    }

    pub(super) fn simplify_sign_extend(&mut self, to: u32, a: Term) -> Option<Term> {
        if self.width(a) == to {
            return Some(a);
        }
        match self.node(a) {
            Node::SignExtend(_, inner) => Some(self.sign_extend(to, inner)),
            // Its sign bit is zero.
            Node::ZeroExtend(_, inner) => Some(self.zero_extend(to, inner)),
            _ => None,
        }
    }

    pub(super) fn simplify_extract(&mut self, high: u32, low: u32, of: Term) -> Option<Term> {
        let width = high - low + 1;
        if width == self.width(of) {
            return Some(of);
        }
        match self.node(of) {
            Node::Extract { low: below, of, .. } => {
                Some(self.extract(high + u32::from(below), low + u32::from(below), of))
            }
            Node::Concat(a, b) => Some(self.extract_of_concat(high, low, a, b)),
            Node::ZeroExtend(_, x) => Some(match self.within(high, low, x) {
                Some((high, low)) => {
                    let inside = self.extract(high, low, x);
                    self.zero_extend(width, inside)
                }
                None => self.bits(width, 0),
            }),
            Node::SignExtend(_, x) => {
                let top = self.width(x) - 1;
                let (high, low) = self.within(high, low, x).unwrap_or((top, top));
                let inside = self.extract(high, low, x);
                Some(self.sign_extend(width, inside))
            }
            Node::BitsBinary(BitsBinary::ShiftRight | BitsBinary::ShiftRightSigned, x, count) => {
                let count = self.constant(count)? as u32;
                (high + count < self.width(x)).then(|| self.extract(high + count, low + count, x))
            }
            Node::BitsBinary(BitsBinary::ShiftLeft, x, count) => {
                let count = self.constant(count)? as u32;
                if high < count {
                    return Some(self.bits(width, 0));
                }
                (low >= count).then(|| self.extract(high - count, low - count, x))
            }
            Node::BitsBinary(function @ (BitsBinary::And | BitsBinary::Or | BitsBinary::Xor), a, b) => {
                self.extract_of_function(function, high, low, a, b)
            }
            Node::BitsBinary(BitsBinary::Mul, ..) if high + 1 == self.width(of) => {
                self.unsigned_quotient(Node::Extract { high: high as u8, low: low as u8, of })
            }
            // The low bits of these depend on nothing but low bits.
            Node::BitsBinary(function @ (BitsBinary::Add | BitsBinary::Sub | BitsBinary::Mul), a, b)
                if low == 0 =>
            {
                self.extract_of_function(function, high, low, a, b)
            }
            Node::BitsUnary(function @ (BitsUnary::Not | BitsUnary::Negate), a)
                if (low == 0 || function == BitsUnary::Not) && self.gives_parts(a) =>
            {
                let part = self.extract(high, low, a);
                Some(self.build(Node::BitsUnary(function, part)))
            }
            _ => None,
        }
    }

    /// The bits that lie in a term that was extended, if there are any.
    fn within(&self, high: u32, low: u32, inner: Term) -> Option<(u32, u32)> {
        let width = self.width(inner);
        (low < width).then(|| (high.min(width - 1), low))
    }

    fn extract_of_concat(&mut self, high: u32, low: u32, a: Term, b: Term) -> Term {
        let border = self.width(b);
        if low >= border {
            return self.extract(high - border, low - border, a);
        }
        if high < border {
            return self.extract(high, low, b);
        }
        let (upper, lower) = (self.extract(high - border, 0, a), self.extract(border - 1, low, b));
        self.concat(upper, lower)
    }

    fn extract_of_function(
        &mut self,
        function: BitsBinary,
        high: u32,
        low: u32,
        a: Term,
        b: Term,
    ) -> Option<Term> {
        /// Each level can double the work.
        const DEEPEST: u8 = 6;
        if !self.gives_parts(a) || !self.gives_parts(b) || self.nesting >= DEEPEST {
            return None;
        }
        self.nesting += 1;
        let (a, b) = (self.extract(high, low, a), self.extract(high, low, b));
        self.nesting -= 1;
        Some(self.build(Node::BitsBinary(function, a, b)))
    }

    /// Whether a part of this term is known without looking further down, so that to ask for it takes no time.
    fn gives_parts(&self, term: Term) -> bool {
        match self.node(term) {
            Node::Constant(..)
            | Node::Variable(_)
            | Node::Concat(..)
            | Node::Extract { .. }
            | Node::ZeroExtend(..)
            | Node::SignExtend(..) => true,
            Node::BitsBinary(BitsBinary::ShiftLeft, x, count) => {
                self.is_constant(count)
                    && matches!(self.node(x), Node::Variable(_) | Node::ZeroExtend(..) | Node::SignExtend(..))
            }
            _ => false,
        }
    }

    pub(super) fn simplify_concat(&mut self, high: Term, low: Term) -> Option<Term> {
        let width = self.width(high) + self.width(low);
        match self.node(high) {
            Node::Constant(_, 0) => return Some(self.zero_extend(width, low)),
            Node::ZeroExtend(_, x) => {
                let inner = self.concat(x, low);
                return Some(self.zero_extend(width, inner));
            }
            Node::Concat(a, b) => {
                let lower = self.concat(b, low);
                return Some(self.concat(a, lower));
            }
            _ => {}
        }
        if let Some(merged) = self.merged(high, low) {
            return Some(merged);
        }
        let Node::Concat(next, rest) = self.node(low) else { return None };
        let merged = self.merged(high, next)?;
        Some(self.concat(merged, rest))
    }

    /// Two neighbouring parts as one, where they are that.
    fn merged(&mut self, high: Term, low: Term) -> Option<Term> {
        let width = self.width(high) + self.width(low);
        match (self.node(high), self.node(low)) {
            (Node::Constant(_, a), Node::Constant(_, b)) => {
                let value = a << self.width(low) | b;
                Some(self.bits(width, value))
            }
            (Node::Extract { high, low: border, of }, Node::Extract { high: below, low, of: same })
                if of == same && border == below + 1 =>
            {
                Some(self.extract(high.into(), low.into(), of))
            }
            _ if self.repeats_sign(high, low) => Some(self.sign_extend(width, low)),
            _ => None,
        }
    }

    /// Whether every bit of `high` is the top bit of `low`.
    fn repeats_sign(&self, high: Term, low: Term) -> bool {
        let sign = match self.node(high) {
            Node::SignExtend(_, sign) => sign,
            _ => high,
        };
        let Node::Extract { high: top, low: bottom, of } = self.node(sign) else { return false };
        if top != bottom {
            return false;
        }
        let (whole, top_of_low) = match self.node(low) {
            Node::Extract { high, of, .. } => (of, u32::from(high)),
            Node::SignExtend(_, inner) => (inner, self.width(inner) - 1),
            _ => (low, self.width(low) - 1),
        };
        (of, u32::from(top)) == (whole, top_of_low)
    }
}
