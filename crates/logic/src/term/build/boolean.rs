//! Truth values and choices.

use crate::term::{BitsCompare, Node, Sort, Term, Terms};

impl Terms {
    pub fn not(&mut self, a: Term) -> Term {
        self.build(Node::Not(a))
    }

    pub fn and(&mut self, a: Term, b: Term) -> Term {
        self.build(Node::And(a, b))
    }

    pub fn or(&mut self, a: Term, b: Term) -> Term {
        self.build(Node::Or(a, b))
    }

    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        self.build(Node::Xor(a, b))
    }

    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        self.build(Node::Implies(a, b))
    }

    /// All of them; true if there are none.
    pub fn conjunction(&mut self, parts: impl IntoIterator<Item = Term>) -> Term {
        let mut all = self.truth(true);
        for part in parts {
            all = self.and(all, part);
        }
        all
    }

    /// Any of them; false if there are none.
    pub fn disjunction(&mut self, parts: impl IntoIterator<Item = Term>) -> Term {
        let mut any = self.truth(false);
        for part in parts {
            any = self.or(any, part);
        }
        any
    }

    /// `yes` and `no` have the same sort.
    pub fn if_then_else(&mut self, condition: Term, yes: Term, no: Term) -> Term {
        debug_assert_eq!((self.sort(condition), self.sort(yes)), (Sort::Bool, self.sort(no)));
        self.build(Node::IfThenElse(condition, yes, no))
    }

    /// A truth value as a number: 0 or 1.
    pub fn truth_to_bits(&mut self, condition: Term, width: u32) -> Term {
        let (one, zero) = (self.bits(width, 1), self.bits(width, 0));
        self.if_then_else(condition, one, zero)
    }

    /// Whether a number is not zero.
    pub fn is_nonzero(&mut self, a: Term) -> Term {
        let zero = self.bits(self.width(a), 0);
        let is_zero = self.equal(a, zero);
        self.not(is_zero)
    }

    pub(super) fn simplify_not(&mut self, a: Term) -> Option<Term> {
        match self.node(a) {
            Node::Not(a) => Some(a),
            // What is not less is greater or equal; of floats that is not so.
            Node::BitsCompare(relation, a, b) => {
                let opposite = match relation {
                    BitsCompare::UnsignedLess => BitsCompare::UnsignedLessOrEqual,
                    BitsCompare::UnsignedLessOrEqual => BitsCompare::UnsignedLess,
                    BitsCompare::SignedLess => BitsCompare::SignedLessOrEqual,
                    BitsCompare::SignedLessOrEqual => BitsCompare::SignedLess,
                };
                Some(self.build(Node::BitsCompare(opposite, b, a)))
            }
            _ => None,
        }
    }

    fn are_opposite(&self, a: Term, b: Term) -> bool {
        self.node(a) == Node::Not(b) || self.node(b) == Node::Not(a)
    }

    pub(super) fn simplify_and(&mut self, a: Term, b: Term) -> Option<Term> {
        match self.constant(b) {
            Some(0) => Some(b),
            Some(_) => Some(a),
            None if a == b => Some(a),
            None if self.are_opposite(a, b) => Some(self.truth(false)),
            None => None,
        }
    }

    pub(super) fn simplify_or(&mut self, a: Term, b: Term) -> Option<Term> {
        match self.constant(b) {
            Some(0) => Some(a),
            Some(_) => Some(b),
            None if a == b => Some(a),
            None if self.are_opposite(a, b) => Some(self.truth(true)),
            None => None,
        }
    }

    pub(super) fn simplify_xor(&mut self, a: Term, b: Term) -> Option<Term> {
        match self.constant(b) {
            Some(0) => Some(a),
            Some(_) => Some(self.not(a)),
            None if a == b => Some(self.truth(false)),
            None if self.are_opposite(a, b) => Some(self.truth(true)),
            None => None,
        }
    }

    pub(super) fn simplify_choice(&mut self, condition: Term, yes: Term, no: Term) -> Option<Term> {
        match self.constant(condition) {
            Some(0) => return Some(no),
            Some(_) => return Some(yes),
            None => {}
        }
        if yes == no {
            return Some(yes);
        }
        if let Node::Not(opposite) = self.node(condition) {
            return Some(self.if_then_else(opposite, no, yes));
        }
        if self.sort(yes) != Sort::Bool {
            return None;
        }
        let not = self.not(condition);
        match (self.constant(yes), self.constant(no)) {
            (Some(1), Some(_)) => Some(condition),
            (Some(_), Some(_)) => Some(not),
            (Some(1), None) => Some(self.or(condition, no)),
            (Some(_), None) => Some(self.and(not, no)),
            (None, Some(1)) => Some(self.or(not, yes)),
            (None, Some(_)) => Some(self.and(condition, yes)),
            (None, None) => None,
        }
    }
}
