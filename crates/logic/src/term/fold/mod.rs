//! The value of a node, given those of its operands: what both evaluation and the folding of constants go by.

mod float;

use super::{BitsBinary, BitsCompare, BitsUnary, Node, Sort, Terms};

impl Terms {
    /// The value of a node whose operands have these values, in their order. An unknown has none of its own.
    pub(super) fn value_of(&self, node: Node, [a, b, c]: [u128; 3]) -> Option<u128> {
        let sort = |n: usize| node.children().nth(n).map_or(Sort::Bool, |child| self.sort(child));
        Some(match node {
            Node::Constant(_, value) => value,
            Node::Variable(_) => return None,
            Node::Not(_) => a ^ 1,
            Node::And(..) => a & b,
            Node::Or(..) => a | b,
            Node::Xor(..) => a ^ b,
            Node::Implies(..) => a ^ 1 | b,
            Node::IfThenElse(..) => {
                if a != 0 {
                    b
                } else {
                    c
                }
            }
            Node::Equal(..) => match sort(0) {
                Sort::Bool | Sort::Bits(_) => u128::from(a == b),
                Sort::Float(format) => {
                    u128::from(a == b || float::is_nan(format, a) && float::is_nan(format, b))
                }
            },
            Node::BitsUnary(function, _) => unary(function, a) & sort(0).mask(),
            Node::BitsBinary(function, ..) => binary(function, sort(0).width(), a, b),
            Node::BitsCompare(relation, ..) => u128::from(compare(relation, sort(0).width(), a, b)),
            Node::Concat(..) => a << sort(1).width() | b,
            Node::Extract { low, .. } => a >> low & self.sort_of(node).mask(),
            Node::ZeroExtend(..) => a,
            Node::SignExtend(..) => signed(sort(0).width(), a) as u128 & self.sort_of(node).mask(),
            Node::FloatArithmetic(..)
            | Node::FloatRemainder(..)
            | Node::FloatSquareRoot(..)
            | Node::FloatRound(..)
            | Node::FloatNegate(_)
            | Node::FloatAbsolute(_)
            | Node::FloatCompare(..)
            | Node::FloatIsNan(_)
            | Node::FloatFromBits(..)
            | Node::FloatToBits(_)
            | Node::FloatConvert(..)
            | Node::FloatFromSigned(..)
            | Node::FloatToSigned(..) => float::value_of(node, sort(0), a, b)?,
        })
    }
}

/// The value as a signed number.
pub fn signed(width: u32, value: u128) -> i128 {
    let unused = 128 - width;
    (value << unused) as i128 >> unused
}

fn unary(function: BitsUnary, a: u128) -> u128 {
    match function {
        BitsUnary::Not => !a,
        BitsUnary::Negate => a.wrapping_neg(),
    }
}

fn binary(function: BitsBinary, width: u32, a: u128, b: u128) -> u128 {
    let mask = u128::MAX >> (128 - width);
    let (signed_a, signed_b) = (signed(width, a), signed(width, b));
    let count = u32::try_from(b).ok().filter(|count| *count < width);
    let result = match function {
        BitsBinary::Add => a.wrapping_add(b),
        BitsBinary::Sub => a.wrapping_sub(b),
        BitsBinary::Mul => a.wrapping_mul(b),
        BitsBinary::UnsignedDivide => a.checked_div(b).unwrap_or(u128::MAX),
        BitsBinary::UnsignedRemainder => a.checked_rem(b).unwrap_or(a),
        BitsBinary::SignedDivide if b == 0 => {
            if signed_a < 0 {
                1
            } else {
                u128::MAX
            }
        }
        BitsBinary::SignedDivide => signed_a.wrapping_div(signed_b) as u128,
        BitsBinary::SignedRemainder if b == 0 => a,
        BitsBinary::SignedRemainder => signed_a.wrapping_rem(signed_b) as u128,
        BitsBinary::And => a & b,
        BitsBinary::Or => a | b,
        BitsBinary::Xor => a ^ b,
        BitsBinary::ShiftLeft => count.map_or(0, |count| a << count),
        BitsBinary::ShiftRight => count.map_or(0, |count| a >> count),
        BitsBinary::ShiftRightSigned => (signed_a >> count.unwrap_or(width - 1)) as u128,
    };
    result & mask
}

fn compare(relation: BitsCompare, width: u32, a: u128, b: u128) -> bool {
    match relation {
        BitsCompare::UnsignedLess => a < b,
        BitsCompare::UnsignedLessOrEqual => a <= b,
        BitsCompare::SignedLess => signed(width, a) < signed(width, b),
        BitsCompare::SignedLessOrEqual => signed(width, a) <= signed(width, b),
    }
}
