//! Comparisons of bits, and equality.

use crate::term::fold::signed;
use crate::term::{BitsBinary, BitsCompare, BitsUnary, Node, Sort, Term, Terms};

impl Terms {
    /// Of terms of the same sort. Of floats, see [`Node`]; whether floats compare as equal asks [`Terms::float_equal`].
    pub fn equal(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b));
        self.build(Node::Equal(a, b))
    }

    pub fn differs(&mut self, a: Term, b: Term) -> Term {
        let equal = self.equal(a, b);
        self.not(equal)
    }

    fn compare(&mut self, relation: BitsCompare, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a), self.sort(b), "{relation:?}");
        self.build(Node::BitsCompare(relation, a, b))
    }

    pub fn unsigned_less(&mut self, a: Term, b: Term) -> Term {
        self.compare(BitsCompare::UnsignedLess, a, b)
    }

    pub fn unsigned_less_or_equal(&mut self, a: Term, b: Term) -> Term {
        self.compare(BitsCompare::UnsignedLessOrEqual, a, b)
    }

    pub fn signed_less(&mut self, a: Term, b: Term) -> Term {
        self.compare(BitsCompare::SignedLess, a, b)
    }

    pub fn signed_less_or_equal(&mut self, a: Term, b: Term) -> Term {
        self.compare(BitsCompare::SignedLessOrEqual, a, b)
    }

    pub(super) fn simplify_equal(&mut self, a: Term, b: Term) -> Option<Term> {
        if a == b {
            return Some(self.truth(true));
        }
        match (self.sort(a), self.constant(b)) {
            (Sort::Bool, Some(0)) => Some(self.not(a)),
            (Sort::Bool, Some(_)) => Some(a),
            (Sort::Bits(_), Some(constant)) => self.equal_to_constant(a, constant),
            (Sort::Bits(_), None) => self.equal_extended(a, b),
            (Sort::Bool, None) | (Sort::Float(_), _) => None,
        }
    }

    fn equal_to_constant(&mut self, a: Term, constant: u128) -> Option<Term> {
        let width = self.width(a);
        match self.node(a) {
            Node::ZeroExtend(_, x) => Some(self.equal_if_fits(x, constant, constant >> self.width(x) == 0)),
            Node::SignExtend(_, x) => {
                let narrow = signed(self.width(x), constant);
                Some(self.equal_if_fits(x, constant, narrow as u128 & self.sort(a).mask() == constant))
            }
            Node::BitsBinary(BitsBinary::Sub | BitsBinary::Xor, x, y) if constant == 0 => {
                Some(self.equal(x, y))
            }
            Node::BitsBinary(BitsBinary::Add, x, offset) => {
                let offset = self.constant(offset)?;
                let constant = self.bits(width, constant.wrapping_sub(offset));
                Some(self.equal(x, constant))
            }
            Node::BitsUnary(BitsUnary::Negate, x) => {
                let constant = self.bits(width, constant.wrapping_neg());
                Some(self.equal(x, constant))
            }
            Node::BitsUnary(BitsUnary::Not, x) => {
                let constant = self.bits(width, !constant);
                Some(self.equal(x, constant))
            }
            Node::Extract { high, low, of } if high == low && u32::from(high) + 1 == self.width(of) => {
                let zero = self.bits(self.width(of), 0);
                let negative = self.signed_less(of, zero);
                Some(if constant == 0 { self.not(negative) } else { negative })
            }
            // Of one bit there is one question.
            _ if width == 1 && constant == 0 => {
                let one = self.bits(1, 1);
                Some(self.differs(a, one))
            }
            _ => None,
        }
    }

    fn equal_if_fits(&mut self, narrow: Term, constant: u128, fits: bool) -> Term {
        if !fits {
            return self.truth(false);
        }
        let constant = self.bits(self.width(narrow), constant);
        self.equal(narrow, constant)
    }

    /// What was extended in the same way is equal if it was before.
    fn equal_extended(&mut self, a: Term, b: Term) -> Option<Term> {
        match (self.node(a), self.node(b)) {
            (Node::ZeroExtend(_, a), Node::ZeroExtend(_, b))
            | (Node::SignExtend(_, a), Node::SignExtend(_, b))
                if self.sort(a) == self.sort(b) =>
            {
                Some(self.equal(a, b))
            }
            _ => None,
        }
    }

    pub(super) fn simplify_compare(&mut self, relation: BitsCompare, a: Term, b: Term) -> Option<Term> {
        let or_equal = matches!(relation, BitsCompare::UnsignedLessOrEqual | BitsCompare::SignedLessOrEqual);
        if a == b {
            return Some(self.truth(or_equal));
        }
        self.compare_extended(relation, a, b)
            .or_else(|| self.compare_with_bound(relation, or_equal, a, b))
            .or_else(|| self.compare_as_equality(relation, a, b))
    }

    /// A comparison of what was extended is one of what was there before.
    fn compare_extended(&mut self, relation: BitsCompare, a: Term, b: Term) -> Option<Term> {
        let unsigned = match relation {
            BitsCompare::UnsignedLess | BitsCompare::SignedLess => BitsCompare::UnsignedLess,
            BitsCompare::UnsignedLessOrEqual | BitsCompare::SignedLessOrEqual => {
                BitsCompare::UnsignedLessOrEqual
            }
        };
        let narrowed = |terms: &Terms, constant: u128, to: Term, is_signed: bool| {
            let width = terms.width(to);
            let back =
                if is_signed { signed(width, constant) as u128 & terms.sort(a).mask() } else { constant };
            (back == constant && (is_signed || constant >> width == 0)).then_some(constant)
        };
        let (x, y, relation) = match (self.node(a), self.node(b)) {
            (Node::ZeroExtend(_, x), Node::ZeroExtend(_, y)) if self.sort(x) == self.sort(y) => {
                (x, y, unsigned)
            }
            (Node::SignExtend(_, x), Node::SignExtend(_, y)) if self.sort(x) == self.sort(y) => {
                (x, y, relation)
            }
            (Node::ZeroExtend(_, x), Node::Constant(_, constant)) => {
                let constant = narrowed(self, constant, x, false)?;
                (x, self.bits(self.width(x), constant), unsigned)
            }
            (Node::Constant(_, constant), Node::ZeroExtend(_, y)) => {
                let constant = narrowed(self, constant, y, false)?;
                (self.bits(self.width(y), constant), y, unsigned)
            }
            (Node::SignExtend(_, x), Node::Constant(_, constant)) => {
                let constant = narrowed(self, constant, x, true)?;
                (x, self.bits(self.width(x), constant), relation)
            }
            (Node::Constant(_, constant), Node::SignExtend(_, y)) => {
                let constant = narrowed(self, constant, y, true)?;
                (self.bits(self.width(y), constant), y, relation)
            }
            _ => return None,
        };
        Some(self.compare(relation, x, y))
    }

    /// A comparison with the lowest or highest number there is.
    fn compare_with_bound(
        &mut self,
        relation: BitsCompare,
        or_equal: bool,
        a: Term,
        b: Term,
    ) -> Option<Term> {
        let all = self.sort(a).mask();
        let (lowest, highest) = match relation {
            BitsCompare::UnsignedLess | BitsCompare::UnsignedLessOrEqual => (0, all),
            BitsCompare::SignedLess | BitsCompare::SignedLessOrEqual => (all ^ all >> 1, all >> 1),
        };
        let (a_is, b_is) = (self.constant(a), self.constant(b));
        if or_equal && (a_is == Some(lowest) || b_is == Some(highest)) {
            return Some(self.truth(true));
        }
        if !or_equal && (a_is == Some(highest) || b_is == Some(lowest)) {
            return Some(self.truth(false));
        }
        let is_equality = match or_equal {
            true => a_is == Some(highest) || b_is == Some(lowest),
            false => false,
        };
        is_equality.then(|| self.equal(a, b))
    }

    /// Below one is zero; above zero is not zero.
    fn compare_as_equality(&mut self, relation: BitsCompare, a: Term, b: Term) -> Option<Term> {
        let width = self.width(a);
        match (relation, self.constant(a), self.constant(b)) {
            (BitsCompare::UnsignedLess, None, Some(1)) => {
                let zero = self.bits(width, 0);
                Some(self.equal(a, zero))
            }
            (BitsCompare::UnsignedLess, Some(0), None)
            | (BitsCompare::UnsignedLessOrEqual, Some(1), None) => Some(self.is_nonzero(b)),
            _ => None,
        }
    }
}
