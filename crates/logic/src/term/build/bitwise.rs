//! And, or, exclusive or, and shifts.

use crate::term::{BitsBinary, BitsUnary, Node, Sort, Term, Terms};

impl Terms {
    pub fn bits_not(&mut self, a: Term) -> Term {
        self.build(Node::BitsUnary(BitsUnary::Not, a))
    }

    fn bitwise(&mut self, function: BitsBinary, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "{function:?}");
        self.build(Node::BitsBinary(function, a, b))
    }

    pub fn bits_and(&mut self, a: Term, b: Term) -> Term {
        self.bitwise(BitsBinary::And, a, b)
    }

    pub fn bits_or(&mut self, a: Term, b: Term) -> Term {
        self.bitwise(BitsBinary::Or, a, b)
    }

    pub fn bits_xor(&mut self, a: Term, b: Term) -> Term {
        self.bitwise(BitsBinary::Xor, a, b)
    }

    /// The count is as wide as what is shifted.
    pub fn shift_left(&mut self, a: Term, count: Term) -> Term {
        self.bitwise(BitsBinary::ShiftLeft, a, count)
    }

    pub fn shift_right(&mut self, a: Term, count: Term) -> Term {
        self.bitwise(BitsBinary::ShiftRight, a, count)
    }

    pub fn shift_right_signed(&mut self, a: Term, count: Term) -> Term {
        self.bitwise(BitsBinary::ShiftRightSigned, a, count)
    }

    pub(super) fn simplify_bits_not(&mut self, a: Term) -> Option<Term> {
        match self.node(a) {
            Node::BitsUnary(BitsUnary::Not, a) => Some(a),
            _ => None,
        }
    }

    fn are_complements(&self, a: Term, b: Term) -> bool {
        self.node(a) == Node::BitsUnary(BitsUnary::Not, b)
            || self.node(b) == Node::BitsUnary(BitsUnary::Not, a)
    }

    pub(super) fn simplify_bits_and(&mut self, a: Term, b: Term) -> Option<Term> {
        if a == b {
            return Some(a);
        }
        if self.are_complements(a, b) {
            return Some(self.bits(self.width(a), 0));
        }
        let (mask, all) = self.constant_and_mask(b)?;
        match mask {
            0 => return Some(b),
            _ if mask == all => return Some(a),
            // A mask of whole low bytes is a truncation.
            0xff | 0xffff | 0xffff_ffff | 0xffff_ffff_ffff_ffff => {
                let low = self.extract(mask.trailing_ones() - 1, 0, a);
                return Some(self.zero_extend(self.width(a), low));
            }
            _ => {}
        }
        match self.node(a) {
            Node::BitsBinary(BitsBinary::And, x, c) => {
                let c = self.constant(c)?;
                let both = self.bits(self.width(a), c & mask);
                Some(self.bits_and(x, both))
            }
            Node::ZeroExtend(to, x) => {
                let narrow = self.bits(self.width(x), mask);
                let masked = self.bits_and(x, narrow);
                Some(self.zero_extend(to.into(), masked))
            }
            // The sign of a float taken away.
            Node::FloatToBits(f) if self.is_sign_mask(f, !mask & all) => {
                let absolute = self.float_absolute(f);
                Some(self.float_to_bits(absolute))
            }
            _ => None,
        }
    }

    pub(super) fn simplify_bits_or(&mut self, a: Term, b: Term) -> Option<Term> {
        if a == b {
            return Some(a);
        }
        if self.are_complements(a, b) {
            let width = self.width(a);
            return Some(self.bits(width, u128::MAX));
        }
        match self.constant_and_mask(b) {
            Some((0, _)) => Some(a),
            Some((value, all)) if value == all => Some(b),
            _ => self.beside_each_other(a, b),
        }
    }

    /// A part shifted up, and one that fills the bits below: `(a << 8) | b` is their concatenation.
    fn beside_each_other(&mut self, a: Term, b: Term) -> Option<Term> {
        for (upper, lower) in [(a, b), (b, a)] {
            let Node::ZeroExtend(width, low) = self.node(lower) else { continue };
            let Node::BitsBinary(BitsBinary::ShiftLeft, high, count) = self.node(upper) else { continue };
            let Some(count) = self.constant(count) else { continue };
            if count < u128::from(self.width(low)) || count >= u128::from(width) {
                continue;
            }
            let count = count as u32;
            let high = self.extract(u32::from(width) - count - 1, 0, high);
            let low = self.zero_extend(count, low);
            return Some(self.concat(high, low));
        }
        None
    }

    pub(super) fn simplify_bits_xor(&mut self, a: Term, b: Term) -> Option<Term> {
        if a == b {
            return Some(self.bits(self.width(a), 0));
        }
        let (mask, all) = self.constant_and_mask(b)?;
        match (mask, self.node(a)) {
            (0, _) => Some(a),
            _ if mask == all => Some(self.bits_not(a)),
            (_, Node::BitsBinary(BitsBinary::Xor, x, c)) => {
                let c = self.constant(c)?;
                let both = self.bits(self.width(a), c ^ mask);
                Some(self.bits_xor(x, both))
            }
            (_, Node::FloatToBits(f)) if self.is_sign_mask(f, mask) => {
                let negative = self.float_negate(f);
                Some(self.float_to_bits(negative))
            }
            _ => None,
        }
    }

    fn is_sign_mask(&self, float: Term, mask: u128) -> bool {
        matches!(self.sort(float), Sort::Float(format) if format.sign() == mask)
    }

    pub(super) fn simplify_shift(&mut self, function: BitsBinary, a: Term, by: Term) -> Option<Term> {
        let width = self.width(a);
        let count = self.constant(by)?;
        if count == 0 {
            return Some(a);
        }
        let is_signed = function == BitsBinary::ShiftRightSigned;
        if count >= u128::from(width) {
            return Some(match is_signed {
                false => self.bits(width, 0),
                true => self.shifted(function, a, width - 1),
            });
        }
        let count = count as u32;
        match self.node(a) {
            // Twice in the same direction.
            Node::BitsBinary(inner, x, c) if inner == function => {
                let before = self.constant(c)?;
                let both = before.saturating_add(count.into()).min(width.into()) as u32;
                Some(self.shifted(function, x, if is_signed { both.min(width - 1) } else { both }))
            }
            Node::BitsBinary(BitsBinary::Mul, ..) if function == BitsBinary::ShiftLeft => {
                let factor = self.bits(width, 1 << count);
                Some(self.mul(a, factor))
            }
            _ if function == BitsBinary::ShiftLeft => None,
            // The sign as a number.
            _ if function == BitsBinary::ShiftRight && count == width - 1 => {
                let zero = self.bits(width, 0);
                let negative = self.signed_less(a, zero);
                Some(self.truth_to_bits(negative, width))
            }
            Node::ZeroExtend(_, x) => {
                if count >= self.width(x) {
                    return Some(self.bits(width, 0));
                }
                let narrow = self.shifted(BitsBinary::ShiftRight, x, count);
                Some(self.zero_extend(width, narrow))
            }
            _ if is_signed => self.signed_quotient_by_power(a, count),
            _ => self.unsigned_quotient(Node::BitsBinary(function, a, by)),
        }
    }

    fn shifted(&mut self, function: BitsBinary, a: Term, count: u32) -> Term {
        let count = self.bits(self.width(a), count.into());
        self.bitwise(function, a, count)
    }
}
