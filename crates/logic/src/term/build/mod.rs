//! The builders. [`Terms::build`] is the one door: it folds constants, simplifies, and finds or makes the term; all others are short names for it.
//!
//! Each simplification looks at a few nodes below the new one and no further, so that building takes the same time however deep operands are.

mod arithmetic;
mod bitwise;
mod boolean;
mod compare;
mod division;
mod float;
mod shape;
#[cfg(test)]
mod tests;

pub use division::Equivalence;
pub(super) use division::Kind;

use super::{BitsBinary, BitsUnary, Node, Sort, Term, Terms};

impl Terms {
    /// The term with the meaning of this node.
    pub fn build(&mut self, node: Node) -> Term {
        let node = self.ordered(node);
        if let Some(folded) = self.folded(node) {
            return folded;
        }
        self.simplified(node).unwrap_or_else(|| self.intern(node))
    }

    /// A constant; bits beyond those of the sort do not count.
    pub fn value(&mut self, sort: Sort, value: u128) -> Term {
        self.intern(Node::Constant(sort, value & sort.mask()))
    }

    /// A constant of so many bits.
    pub fn bits(&mut self, width: u32, value: u128) -> Term {
        self.value(Sort::Bits(width as u8), value)
    }

    pub fn truth(&mut self, value: bool) -> Term {
        self.value(Sort::Bool, value.into())
    }

    /// Of functions whose operands may be swapped: constants last, older operands first. Sums and products of floats are none of them, because
    /// the first of two NaNs counts.
    fn ordered(&self, node: Node) -> Node {
        let swaps = |a: Term, b: Term| match (self.is_constant(a), self.is_constant(b)) {
            (false, false) => b < a,
            (is_constant, _) => is_constant,
        };
        match node {
            Node::And(a, b) if swaps(a, b) => Node::And(b, a),
            Node::Or(a, b) if swaps(a, b) => Node::Or(b, a),
            Node::Xor(a, b) if swaps(a, b) => Node::Xor(b, a),
            Node::Equal(a, b) if swaps(a, b) => Node::Equal(b, a),
            Node::BitsBinary(
                function @ (BitsBinary::Add
                | BitsBinary::Mul
                | BitsBinary::And
                | BitsBinary::Or
                | BitsBinary::Xor),
                a,
                b,
            ) if swaps(a, b) => Node::BitsBinary(function, b, a),
            _ => node,
        }
    }

    /// A constant, if all operands are; a choice of two constants, if that is the one operand that is none itself.
    fn folded(&mut self, node: Node) -> Option<Term> {
        if matches!(node, Node::Constant(..) | Node::Variable(_)) {
            return None;
        }
        let (mut yes, mut no) = ([0; 3], [0; 3]);
        let mut choice = None;
        for (place, child) in node.children().enumerate() {
            (yes[place], no[place]) = match self.node(child) {
                Node::Constant(_, value) => (value, value),
                Node::IfThenElse(condition, a, b) if choice.is_none() => {
                    choice = Some(condition);
                    (self.constant(a)?, self.constant(b)?)
                }
                _ => return None,
            };
        }
        let sort = self.sort_of(node);
        let (yes, no) = (self.value_of(node, yes)?, self.value_of(node, no)?);
        let yes = self.value(sort, yes);
        match choice {
            None => Some(yes),
            Some(condition) => {
                let no = self.value(sort, no);
                Some(self.if_then_else(condition, yes, no))
            }
        }
    }

    /// Another term of the same meaning, where there is a simpler one.
    fn simplified(&mut self, node: Node) -> Option<Term> {
        match node {
            Node::Constant(..) | Node::Variable(_) => None,
            Node::Not(a) => self.simplify_not(a),
            Node::And(a, b) => self.simplify_and(a, b),
            Node::Or(a, b) => self.simplify_or(a, b),
            Node::Xor(a, b) => self.simplify_xor(a, b),
            Node::Implies(a, b) => {
                let not_a = self.not(a);
                Some(self.or(not_a, b))
            }
            Node::IfThenElse(condition, yes, no) => self.simplify_choice(condition, yes, no),
            Node::Equal(a, b) => self.simplify_equal(a, b),
            Node::BitsUnary(BitsUnary::Not, a) => self.simplify_bits_not(a),
            Node::BitsUnary(BitsUnary::Negate, a) => self.simplify_negate(a),
            Node::BitsBinary(function, a, b) => match function {
                BitsBinary::Add => self.simplify_add(a, b),
                BitsBinary::Sub => self.simplify_sub(a, b),
                BitsBinary::Mul => self.simplify_mul(a, b),
                BitsBinary::UnsignedDivide
                | BitsBinary::UnsignedRemainder
                | BitsBinary::SignedDivide
                | BitsBinary::SignedRemainder => self.simplify_divide(function, a, b),
                BitsBinary::And => self.simplify_bits_and(a, b),
                BitsBinary::Or => self.simplify_bits_or(a, b),
                BitsBinary::Xor => self.simplify_bits_xor(a, b),
                BitsBinary::ShiftLeft | BitsBinary::ShiftRight | BitsBinary::ShiftRightSigned => {
                    self.simplify_shift(function, a, b)
                }
            },
            Node::BitsCompare(relation, a, b) => self.simplify_compare(relation, a, b),
            Node::Concat(a, b) => self.simplify_concat(a, b),
            Node::Extract { high, low, of } => self.simplify_extract(high.into(), low.into(), of),
            Node::ZeroExtend(to, a) => self.simplify_zero_extend(to.into(), a),
            Node::SignExtend(to, a) => self.simplify_sign_extend(to.into(), a),
            Node::FloatFromBits(format, a) => self.simplify_from_bits(format, a),
            Node::FloatToBits(a) => self.simplify_to_bits(a),
            Node::FloatNegate(a) => self.simplify_float_negate(a),
            Node::FloatAbsolute(a) => self.simplify_float_absolute(a),
            Node::FloatConvert(to, _, a) => (self.sort(a) == Sort::Float(to)).then_some(a),
            Node::FloatArithmetic(..)
            | Node::FloatRemainder(..)
            | Node::FloatSquareRoot(..)
            | Node::FloatRound(..)
            | Node::FloatCompare(..)
            | Node::FloatIsNan(_)
            | Node::FloatFromSigned(..)
            | Node::FloatToSigned(..) => None,
        }
    }

    /// The value of an operand that is a constant, and the mask of its sort.
    fn constant_and_mask(&self, term: Term) -> Option<(u128, u128)> {
        Some((self.constant(term)?, self.sort(term).mask()))
    }
}
