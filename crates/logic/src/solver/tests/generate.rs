//! Random terms and queries.

use crate::random::Random;
use crate::term::*;

impl Random {
    /// Small numbers, corners and any.
    pub fn number(&mut self) -> u128 {
        match self.below(5) {
            0 => u128::from(self.any() % 9),
            1 => self.pick(&[0, u128::MAX, 1 << 63, 0x7fff_ffff, 0x8000_0000, 0xff, 0xffff, 1 << 127]),
            2 => 1 << self.below(128),
            _ => u128::from(self.any()) << 64 | u128::from(self.any()),
        }
    }

    /// Floats of moderate size, corners, and any bits.
    pub fn float(&mut self, format: Format) -> u128 {
        let small = self.any() as i64 % 1000;
        let all_ones = (1u128 << format.exponent_bits()) - 1;
        let place = format.bits() - 1 - format.exponent_bits();
        match (self.below(4), format) {
            (0, Format::Single) => (small as f32 / 8.0).to_bits().into(),
            (0, Format::Double) => (small as f64 / 8.0).to_bits().into(),
            (0, Format::Extended) => 0x3fff_8000_0000_0000_0000 + (u128::from(self.any()) >> 1),
            (1, Format::Extended) => self.number() | 1 << 63,
            (2, Format::Extended) => all_ones << place | 1 << 63,
            (2, _) => self.pick(&[0, format.sign(), all_ones << place, all_ones << place | 1]),
            _ => self.number(),
        }
    }

    pub fn value(&mut self, sort: Sort) -> u128 {
        sort.mask()
            & match sort {
                Sort::Float(format) => self.float(format),
                Sort::Bool | Sort::Bits(_) => self.number(),
            }
    }

    pub fn rounding(&mut self) -> Rounding {
        self.pick(&Rounding::ALL)
    }

    /// A function of these terms, whatever their sorts allow.
    pub fn node(&mut self, terms: &mut Terms, a: Term, b: Term, condition: Term) -> Node {
        match terms.sort(a) {
            Sort::Bool => match self.below(6) {
                0 => Node::Not(a),
                1 => Node::And(a, b),
                2 => Node::Or(a, b),
                3 => Node::Xor(a, b),
                4 => Node::Implies(a, b),
                _ => Node::Equal(a, b),
            },
            Sort::Bits(width) => self.bits_node(a, b, condition, width),
            Sort::Float(format) => self.float_node(a, b, condition, format),
        }
    }

    fn bits_node(&mut self, a: Term, b: Term, condition: Term, width: u8) -> Node {
        match self.below(24) {
            0 => Node::BitsUnary(BitsUnary::Not, a),
            1 => Node::BitsUnary(BitsUnary::Negate, a),
            2 => Node::IfThenElse(condition, a, b),
            3 => Node::Equal(a, b),
            4 => Node::BitsCompare(BitsCompare::UnsignedLess, a, b),
            5 => Node::BitsCompare(BitsCompare::UnsignedLessOrEqual, a, b),
            6 => Node::BitsCompare(BitsCompare::SignedLess, a, b),
            7 => Node::BitsCompare(BitsCompare::SignedLessOrEqual, a, b),
            8 if width <= 64 => Node::Concat(a, b),
            9 if width < 128 => Node::ZeroExtend(width + 1 + self.below(128 - usize::from(width)) as u8, a),
            10 if width < 128 => Node::SignExtend(width + 1 + self.below(128 - usize::from(width)) as u8, a),
            11 | 12 => {
                let high = self.below(width.into()) as u8;
                Node::Extract { high, low: self.below(usize::from(high) + 1) as u8, of: a }
            }
            13 if width <= 64 => Node::FloatFromSigned(self.pick(&Format::ALL), self.rounding(), a),
            14 if matches!(width, 32 | 64 | 80) => {
                let format = match width {
                    32 => Format::Single,
                    64 => Format::Double,
                    _ => Format::Extended,
                };
                Node::FloatFromBits(format, a)
            }
            _ => Node::BitsBinary(self.binary(), a, b),
        }
    }

    fn binary(&mut self) -> BitsBinary {
        self.pick(&[
            BitsBinary::Add,
            BitsBinary::Sub,
            BitsBinary::Mul,
            BitsBinary::UnsignedDivide,
            BitsBinary::UnsignedRemainder,
            BitsBinary::SignedDivide,
            BitsBinary::SignedRemainder,
            BitsBinary::And,
            BitsBinary::Or,
            BitsBinary::Xor,
            BitsBinary::ShiftLeft,
            BitsBinary::ShiftRight,
            BitsBinary::ShiftRightSigned,
        ])
    }

    fn float_node(&mut self, a: Term, b: Term, condition: Term, format: Format) -> Node {
        let rounding = self.rounding();
        match self.below(14) {
            0 => Node::FloatSquareRoot(rounding, a),
            1 => Node::FloatRound(rounding, a),
            2 => Node::FloatNegate(a),
            3 => Node::FloatAbsolute(a),
            4 => Node::FloatIsNan(a),
            5 => Node::FloatToBits(a),
            6 => {
                let others: Vec<Format> = Format::ALL.into_iter().filter(|other| *other != format).collect();
                Node::FloatConvert(self.pick(&others), rounding, a)
            }
            7 => Node::FloatToSigned(1 + self.below(64) as u8, rounding, a),
            8 => Node::IfThenElse(condition, a, b),
            9 => Node::Equal(a, b),
            10 | 11 => {
                let relations = [FloatCompare::Equal, FloatCompare::Less, FloatCompare::LessOrEqual];
                Node::FloatCompare(self.pick(&relations), a, b)
            }
            _ => {
                use FloatArithmetic::{Add, Div, Mul, Sub};
                Node::FloatArithmetic(self.pick(&[Add, Sub, Mul, Div]), rounding, a, b)
            }
        }
    }
}

/// Terms of which more are made.
pub struct Pool {
    pub terms: Terms,
    pub random: Random,
    pub all: Vec<Term>,
}

impl Pool {
    /// Two unknowns and a constant of each sort.
    pub fn new(seed: u64, sorts: &[Sort]) -> Pool {
        let mut pool = Pool { terms: Terms::new(), random: Random::new(seed), all: Vec::new() };
        for sort in sorts.iter().copied().chain([Sort::Bool]) {
            for _ in 0..2 {
                pool.all.push(pool.terms.unknown(sort));
            }
            let value = pool.random.value(sort);
            pool.all.push(pool.terms.value(sort, value));
        }
        pool
    }

    pub fn any(&mut self, wanted: impl Fn(Sort) -> bool) -> Term {
        let fitting: Vec<Term> =
            self.all.iter().copied().filter(|term| wanted(self.terms.sort(*term))).collect();
        self.random.pick(&fitting)
    }

    /// One more, made of some that are there.
    pub fn grow(&mut self, is_welcome: impl Fn(&Terms, Node) -> bool) -> Term {
        loop {
            let a = self.any(|_| true);
            let sort = self.terms.sort(a);
            let (b, condition) = (self.any(|other| other == sort), self.any(|other| other == Sort::Bool));
            let node = self.random.node(&mut self.terms, a, b, condition);
            if is_welcome(&self.terms, node) {
                let term = self.terms.build(node);
                self.all.push(term);
                return term;
            }
        }
    }
}
