//! The expression of each node.

use super::Writer;
use super::float::{constant_float, float_arithmetic, float_compare, rounded, to_float};
use crate::term::{BitsBinary, BitsCompare, BitsUnary, Node, Sort, Term};

impl Writer<'_> {
    pub(super) fn expression(&mut self, term: Term) -> String {
        let node = self.terms.node(term);
        self.has_floats |= matches!(self.terms.sort(term), Sort::Float(_));
        self.has_division |= self.terms.is_division_by_constant(term);
        match node {
            Node::Constant(sort, value) => constant(sort, value),
            Node::Variable(variable) => {
                let name = self.variable(variable);
                match self.terms.variable_sort(variable) {
                    Sort::Bool => format!("(= {name} #b1)"),
                    Sort::Bits(_) => name,
                    Sort::Float(format) => self.decoded(format, &name),
                }
            }
            Node::Not(a) => self.call("not", &[a]),
            Node::And(a, b) => self.call("and", &[a, b]),
            Node::Or(a, b) => self.call("or", &[a, b]),
            Node::Xor(a, b) => self.call("xor", &[a, b]),
            Node::Implies(a, b) => self.call("=>", &[a, b]),
            Node::IfThenElse(a, b, c) => self.call("ite", &[a, b, c]),
            Node::Equal(a, b) => self.call("=", &[a, b]),
            Node::BitsUnary(BitsUnary::Not, a) => self.call("bvnot", &[a]),
            Node::BitsUnary(BitsUnary::Negate, a) => self.call("bvneg", &[a]),
            Node::BitsBinary(function, a, b) => self.call(binary(function), &[a, b]),
            Node::BitsCompare(relation, a, b) => self.call(compare(relation), &[a, b]),
            Node::Concat(a, b) => self.call("concat", &[a, b]),
            Node::Extract { high, low, of } => self.call(&format!("(_ extract {high} {low})"), &[of]),
            Node::ZeroExtend(to, a) => {
                self.call(&format!("(_ zero_extend {})", u32::from(to) - self.terms.width(a)), &[a])
            }
            Node::SignExtend(to, a) => {
                self.call(&format!("(_ sign_extend {})", u32::from(to) - self.terms.width(a)), &[a])
            }
            Node::FloatArithmetic(function, rounding, a, b) => {
                self.call(&rounded(float_arithmetic(function), rounding), &[a, b])
            }
            Node::FloatRemainder(a, b) => self.call("fp.rem", &[a, b]),
            Node::FloatSquareRoot(rounding, a) => self.call(&rounded("fp.sqrt", rounding), &[a]),
            Node::FloatRound(rounding, a) => self.call(&rounded("fp.roundToIntegral", rounding), &[a]),
            Node::FloatNegate(a) => self.call("fp.neg", &[a]),
            Node::FloatAbsolute(a) => self.call("fp.abs", &[a]),
            Node::FloatCompare(relation, a, b) => self.call(float_compare(relation), &[a, b]),
            Node::FloatIsNan(a) => self.call("fp.isNaN", &[a]),
            Node::FloatFromBits(format, a) => {
                let bits = self.used(a);
                self.decoded(format, &bits)
            }
            Node::FloatToBits(a) => self.encoded(a),
            Node::FloatConvert(to, rounding, a) | Node::FloatFromSigned(to, rounding, a) => {
                self.call(&rounded(&to_float(to), rounding), &[a])
            }
            Node::FloatToSigned(width, rounding, a) => self.signed_integer(width.into(), rounding, a),
        }
    }

    /// A function of terms; the name may be an index expression.
    pub(super) fn call(&mut self, function: &str, operands: &[Term]) -> String {
        let mut text = format!("({function}");
        for operand in operands {
            text.push(' ');
            text.push_str(&self.used(*operand));
        }
        text.push(')');
        text
    }
}

pub(super) fn bits(width: u32, value: u128) -> String {
    match width % 4 {
        0 => format!("#x{value:0digits$x}", digits = width as usize / 4),
        _ => format!("#b{value:0digits$b}", digits = width as usize),
    }
}

fn constant(sort: Sort, value: u128) -> String {
    match sort {
        Sort::Bool => if value != 0 { "true" } else { "false" }.to_owned(),
        Sort::Bits(width) => bits(width.into(), value),
        Sort::Float(format) => constant_float(format, value),
    }
}

fn binary(function: BitsBinary) -> &'static str {
    match function {
        BitsBinary::Add => "bvadd",
        BitsBinary::Sub => "bvsub",
        BitsBinary::Mul => "bvmul",
        BitsBinary::UnsignedDivide => "bvudiv",
        BitsBinary::UnsignedRemainder => "bvurem",
        BitsBinary::SignedDivide => "bvsdiv",
        BitsBinary::SignedRemainder => "bvsrem",
        BitsBinary::And => "bvand",
        BitsBinary::Or => "bvor",
        BitsBinary::Xor => "bvxor",
        BitsBinary::ShiftLeft => "bvshl",
        BitsBinary::ShiftRight => "bvlshr",
        BitsBinary::ShiftRightSigned => "bvashr",
    }
}

fn compare(relation: BitsCompare) -> &'static str {
    match relation {
        BitsCompare::UnsignedLess => "bvult",
        BitsCompare::UnsignedLessOrEqual => "bvule",
        BitsCompare::SignedLess => "bvslt",
        BitsCompare::SignedLessOrEqual => "bvsle",
    }
}
