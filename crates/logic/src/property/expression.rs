//! The term of an expression of C, when the values that it reads are terms.
//!
//! It follows C's rules as `program::expressions` does. Where an expression has no value (a division by zero, a shift by too much), the term of a value means
//! nothing; whether there is a value is a term of its own.

use crate::term::{FloatArithmetic, Format, Rounding, Sort, Term, Terms};
use program::expressions::Expression;
use program::expressions::tree::{
    Basic, BinaryOperator, Node, NodeKind, Number, TypeBase, TypeText, UnaryOperator,
};

const NEAREST: Rounding = Rounding::Nearest;

/// What C takes a value for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Number(Basic),
    /// To things of so many bytes; 1 for void.
    Pointer {
        size: u64,
    },
}

/// A value: bits or a float, of the size of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed {
    pub term: Term,
    pub of: Type,
    /// Whether there is a value.
    pub is_defined: Term,
}

/// Why an expression has no term.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTerm {
    #[error("the value of `{0}` is not known as a formula")]
    NotKnown(String),
    #[error("`{0}` cannot be put into a formula")]
    NotSupported(String),
}

/// The truth of an expression: that it has a value, and that this is not zero. `lookup` gives what is read from the program (`n`, `list->count`, `a[i]`) by
/// its text, as bits or as a float, and its type.
pub fn term_of(
    expression: &Expression,
    terms: &mut Terms,
    lookup: impl FnMut(&mut Terms, &str) -> Option<(Term, Type)>,
) -> Result<Term, NoTerm> {
    let mut builder = Builder { text: expression.text(), terms, lookup };
    let value = builder.value(expression.root())?;
    let truth = builder.truth(value.term);
    Ok(builder.terms.and(value.is_defined, truth))
}

struct Builder<'a, L> {
    text: &'a str,
    terms: &'a mut Terms,
    lookup: L,
}

type Outcome = Result<Typed, NoTerm>;

impl<L: FnMut(&mut Terms, &str) -> Option<(Term, Type)>> Builder<'_, L> {
    fn part(&self, node: &Node) -> String {
        self.text.get(node.at.clone()).unwrap_or_default().to_owned()
    }

    fn not_supported<T>(&self, node: &Node) -> Result<T, NoTerm> {
        Err(NoTerm::NotSupported(self.part(node)))
    }

    pub fn value(&mut self, node: &Node) -> Outcome {
        match &node.kind {
            NodeKind::Constant { value, of } => {
                let term = self.constant(node, *value, *of)?;
                Ok(self.always(term, *of))
            }
            NodeKind::Name(_) | NodeKind::Member { .. } | NodeKind::Index { .. } | NodeKind::Deref(_) => {
                self.read(node)
            }
            NodeKind::Unary(operator, of) => {
                let value = self.value(of)?;
                self.unary(node, *operator, value)
            }
            NodeKind::Binary(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.binary(node, *operator, left, right)
            }
            NodeKind::And(left, right) => self.and_or(left, right, false),
            NodeKind::Or(left, right) => self.and_or(left, right, true),
            NodeKind::Choice(condition, one, two) => self.choice(node, condition, one, two),
            NodeKind::Cast(to, of) => {
                let Some(to) = basic(to) else { return self.not_supported(node) };
                let value = self.value(of)?;
                self.converted(node, value, to)
            }
            NodeKind::SizeOfType(of) => match basic(of) {
                Some(of) => {
                    let size = self.terms.bits(64, of.size().into());
                    Ok(self.always(size, Basic::SIZE))
                }
                None => self.not_supported(node),
            },
            NodeKind::Text(_) | NodeKind::Address(_) | NodeKind::SizeOf(_) => self.not_supported(node),
        }
    }

    /// A value that there always is.
    fn always(&mut self, term: Term, of: Basic) -> Typed {
        Typed { term, of: Type::Number(of), is_defined: self.terms.truth(true) }
    }

    fn constant(&mut self, node: &Node, value: Number, of: Basic) -> Result<Term, NoTerm> {
        match (sort(of), value) {
            (Sort::Bits(width), Number::Integer(value)) => Ok(self.terms.bits(width.into(), value as u128)),
            (Sort::Float(Format::Single), Number::Float(value)) => {
                Ok(self.terms.float(Format::Single, (value as f32).to_bits().into()))
            }
            (Sort::Float(_), Number::Float(value)) => {
                Ok(self.terms.float(Format::Double, value.to_bits().into()))
            }
            _ => self.not_supported(node),
        }
    }

    fn read(&mut self, node: &Node) -> Outcome {
        let text = unwrapped(&self.part(node)).to_owned();
        let Some((term, of)) = (self.lookup)(self.terms, &text) else { return Err(NoTerm::NotKnown(text)) };
        let wanted = match of {
            Type::Number(of) => sort(of),
            Type::Pointer { .. } => Sort::Bits(64),
        };
        let term = match (wanted, self.terms.sort(term)) {
            (wanted, is) if wanted == is => term,
            (Sort::Float(wanted), Sort::Float(_)) => self.terms.float_convert(wanted, NEAREST, term),
            (Sort::Float(wanted), Sort::Bits(width)) if u32::from(width) == wanted.bits() => {
                self.terms.float_from_bits(wanted, term)
            }
            _ => return Err(NoTerm::NotKnown(text)),
        };
        Ok(Typed { term, of, is_defined: self.terms.truth(true) })
    }

    /// Whether a value is not zero. A NaN is not.
    fn truth(&mut self, term: Term) -> Term {
        match self.terms.sort(term) {
            Sort::Bool => term,
            Sort::Bits(_) => self.terms.is_nonzero(term),
            Sort::Float(format) => {
                let zero = self.terms.float(format, 0);
                let is_zero = self.terms.float_equal(term, zero);
                self.terms.not(is_zero)
            }
        }
    }

    /// 0 or 1, of type int.
    fn of_truth(&mut self, truth: Term, is_defined: Term) -> Typed {
        let term = self.terms.truth_to_bits(truth, 32);
        Typed { term, of: Type::Number(Basic::INT), is_defined }
    }

    /// The right side has a value to have only if it is asked for.
    fn and_or(&mut self, left: &Node, right: &Node, decides: bool) -> Outcome {
        let (left, right) = (self.value(left)?, self.value(right)?);
        let (a, b) = (self.truth(left.term), self.truth(right.term));
        let (truth, is_decided) = match decides {
            true => (self.terms.or(a, b), a),
            false => (self.terms.and(a, b), self.terms.not(a)),
        };
        let is_right_fine = self.terms.or(is_decided, right.is_defined);
        let is_defined = self.terms.and(left.is_defined, is_right_fine);
        Ok(self.of_truth(truth, is_defined))
    }

    fn choice(&mut self, node: &Node, condition: &Node, one: &Node, two: &Node) -> Outcome {
        let condition = self.value(condition)?;
        let (mut one, mut two) = (self.value(one)?, self.value(two)?);
        if let (Type::Number(a), Type::Number(b)) = (one.of, two.of) {
            let common = a.common(b);
            (one, two) = (self.converted(node, one, common)?, self.converted(node, two, common)?);
        } else if self.terms.sort(one.term) != self.terms.sort(two.term) {
            return self.not_supported(node);
        }
        let truth = self.truth(condition.term);
        let term = self.terms.if_then_else(truth, one.term, two.term);
        let is_chosen_fine = self.terms.if_then_else(truth, one.is_defined, two.is_defined);
        let is_defined = self.terms.and(condition.is_defined, is_chosen_fine);
        Ok(Typed { term, of: one.of, is_defined })
    }

    fn converted(&mut self, node: &Node, value: Typed, to: Basic) -> Outcome {
        let from = match value.of {
            Type::Number(from) => from,
            Type::Pointer { .. } => Basic::SIZE,
        };
        let is_signed = matches!(from, Basic::Integer { signed: true, .. });
        let (mut term, mut is_defined) = (value.term, value.is_defined);
        match (self.terms.sort(term), sort(to)) {
            _ if to == Basic::Bool => {
                let truth = self.truth(term);
                term = self.terms.truth_to_bits(truth, 8);
            }
            (Sort::Bits(width), Sort::Bits(wanted)) => {
                term = match (wanted > width, is_signed) {
                    (false, _) => self.terms.extract(u32::from(wanted) - 1, 0, term),
                    (true, true) => self.terms.sign_extend(wanted.into(), term),
                    (true, false) => self.terms.zero_extend(wanted.into(), term),
                };
            }
            (Sort::Bits(width), Sort::Float(format)) if width <= 64 => {
                term = self.as_float(term, is_signed, format);
            }
            (Sort::Float(_), Sort::Float(format)) => term = self.terms.float_convert(format, NEAREST, term),
            (Sort::Float(_), Sort::Bits(wanted)) if wanted <= 64 => {
                let whole = self.terms.float_to_signed(64, Rounding::Zero, term);
                let lowest = self.terms.bits(64, 1 << 63);
                // What does not fit has no value in C.
                let fits = self.terms.differs(whole, lowest);
                is_defined = self.terms.and(is_defined, fits);
                term = self.terms.extract(u32::from(wanted) - 1, 0, whole);
            }
            _ => return self.not_supported(node),
        }
        Ok(Typed { term, of: Type::Number(to), is_defined })
    }

    /// Of at most 64 bits.
    fn as_float(&mut self, term: Term, is_signed: bool, format: Format) -> Term {
        if is_signed {
            return self.terms.float_from_signed(format, NEAREST, term);
        }
        if self.terms.width(term) < 64 {
            let wide = self.terms.zero_extend(64, term);
            return self.terms.float_from_signed(format, NEAREST, wide);
        }
        // Half of a large number, which keeps whether something was cut off, and is doubled without rounding again.
        let (one, top) = (self.terms.bits(64, 1), self.terms.top_bit(term));
        let (half, cut) = (self.terms.shift_right(term, one), self.terms.bits_and(term, one));
        let half = self.terms.bits_or(half, cut);
        let half = self.terms.float_from_signed(format, NEAREST, half);
        let large = self.terms.float_arithmetic(FloatArithmetic::Add, NEAREST, half, half);
        let small = self.terms.float_from_signed(format, NEAREST, term);
        let is_large = self.truth(top);
        self.terms.if_then_else(is_large, large, small)
    }

    fn unary(&mut self, node: &Node, operator: UnaryOperator, value: Typed) -> Outcome {
        if operator == UnaryOperator::Not {
            let truth = self.truth(value.term);
            let not = self.terms.not(truth);
            return Ok(self.of_truth(not, value.is_defined));
        }
        let Type::Number(of) = value.of else { return self.not_supported(node) };
        let mut value = self.converted(node, value, of.promoted())?;
        let is_float = of.is_float();
        value.term = match operator {
            UnaryOperator::Plus | UnaryOperator::Not => value.term,
            UnaryOperator::Minus if is_float => self.terms.float_negate(value.term),
            UnaryOperator::Minus => self.terms.negate(value.term),
            UnaryOperator::Complement if is_float => return self.not_supported(node),
            UnaryOperator::Complement => self.terms.bits_not(value.term),
        };
        Ok(value)
    }

    fn binary(&mut self, node: &Node, operator: BinaryOperator, left: Typed, right: Typed) -> Outcome {
        use BinaryOperator::{Add, ShiftLeft, ShiftRight, Subtract};
        match (left.of, right.of, operator) {
            (Type::Number(of), Type::Number(_), ShiftLeft | ShiftRight) => {
                let of = of.promoted();
                let left = self.converted(node, left, of)?;
                self.shift(node, operator, left, of, right)
            }
            (Type::Number(a), Type::Number(b), _) => {
                let of = a.common(b);
                let (left, right) = (self.converted(node, left, of)?, self.converted(node, right, of)?);
                match of.is_float() {
                    true => self.floats(node, operator, left, right),
                    false => self.integers(node, operator, left, right, of),
                }
            }
            (Type::Pointer { size }, Type::Number(_), Add | Subtract) => {
                self.moved(node, operator, left, size, right)
            }
            (Type::Number(_), Type::Pointer { size }, Add) => self.moved(node, operator, right, size, left),
            (Type::Pointer { size }, Type::Pointer { .. }, Subtract) => {
                let distance = self.terms.sub(left.term, right.term);
                let size = self.terms.bits(64, size.max(1).into());
                let term = self.terms.signed_divide(distance, size);
                let is_defined = self.terms.and(left.is_defined, right.is_defined);
                Ok(Typed { term, of: Type::Number(Basic::LONG), is_defined })
            }
            // Addresses are compared as unsigned numbers.
            (Type::Pointer { .. }, _, _) | (_, Type::Pointer { .. }, _) => {
                let (left, right) =
                    (self.converted(node, left, Basic::SIZE)?, self.converted(node, right, Basic::SIZE)?);
                if !is_comparison(operator) {
                    return self.not_supported(node);
                }
                self.integers(node, operator, left, right, Basic::SIZE)
            }
        }
    }

    /// A pointer some things further.
    fn moved(
        &mut self,
        node: &Node,
        operator: BinaryOperator,
        pointer: Typed,
        size: u64,
        by: Typed,
    ) -> Outcome {
        if matches!(by.of, Type::Number(of) if of.is_float()) {
            return self.not_supported(node);
        }
        let by = self.converted(node, by, Basic::LONG)?;
        let size = self.terms.bits(64, size.max(1).into());
        let distance = self.terms.mul(by.term, size);
        let term = match operator {
            BinaryOperator::Subtract => self.terms.sub(pointer.term, distance),
            _ => self.terms.add(pointer.term, distance),
        };
        let is_defined = self.terms.and(pointer.is_defined, by.is_defined);
        Ok(Typed { term, of: pointer.of, is_defined })
    }

    fn shift(&mut self, node: &Node, operator: BinaryOperator, left: Typed, of: Basic, by: Typed) -> Outcome {
        let Basic::Integer { signed, .. } = of else { return self.not_supported(node) };
        let (Sort::Bits(_), Type::Number(_)) = (self.terms.sort(by.term), by.of) else {
            return self.not_supported(node);
        };
        let width = self.terms.width(left.term);
        // A negative count is too large as an unsigned one, if it is as wide as it can be.
        let by = self.converted(node, by, Basic::Integer { size: 16, signed: false })?;
        let limit = self.terms.bits(128, width.into());
        let fits = self.terms.unsigned_less(by.term, limit);
        let count = self.terms.extract(width - 1, 0, by.term);
        let term = match (operator, signed) {
            (BinaryOperator::ShiftLeft, _) => self.terms.shift_left(left.term, count),
            (_, true) => self.terms.shift_right_signed(left.term, count),
            (_, false) => self.terms.shift_right(left.term, count),
        };
        let both = self.terms.and(left.is_defined, by.is_defined);
        let is_defined = self.terms.and(both, fits);
        Ok(Typed { term, of: Type::Number(of), is_defined })
    }

    fn integers(
        &mut self,
        node: &Node,
        operator: BinaryOperator,
        left: Typed,
        right: Typed,
        of: Basic,
    ) -> Outcome {
        use BinaryOperator as Op;
        let is_signed = matches!(of, Basic::Integer { signed: true, .. });
        let mut is_defined = self.terms.and(left.is_defined, right.is_defined);
        let (a, b) = (left.term, right.term);
        if matches!(operator, Op::Divide | Op::Remainder) {
            let exists = self.terms.is_nonzero(b);
            is_defined = self.terms.and(is_defined, exists);
        }
        let terms = &mut *self.terms;
        let term = match (operator, is_signed) {
            (Op::Add, _) => terms.add(a, b),
            (Op::Subtract, _) => terms.sub(a, b),
            (Op::Multiply, _) => terms.mul(a, b),
            (Op::Divide, true) => terms.signed_divide(a, b),
            (Op::Divide, false) => terms.unsigned_divide(a, b),
            (Op::Remainder, true) => terms.signed_remainder(a, b),
            (Op::Remainder, false) => terms.unsigned_remainder(a, b),
            (Op::BitAnd, _) => terms.bits_and(a, b),
            (Op::BitOr, _) => terms.bits_or(a, b),
            (Op::BitXor, _) => terms.bits_xor(a, b),
            (Op::Equal, _) => terms.equal(a, b),
            (Op::NotEqual, _) => terms.differs(a, b),
            (Op::Less, true) => terms.signed_less(a, b),
            (Op::Less, false) => terms.unsigned_less(a, b),
            (Op::LessEqual, true) => terms.signed_less_or_equal(a, b),
            (Op::LessEqual, false) => terms.unsigned_less_or_equal(a, b),
            (Op::Greater, true) => terms.signed_less(b, a),
            (Op::Greater, false) => terms.unsigned_less(b, a),
            (Op::GreaterEqual, true) => terms.signed_less_or_equal(b, a),
            (Op::GreaterEqual, false) => terms.unsigned_less_or_equal(b, a),
            (Op::ShiftLeft | Op::ShiftRight, _) => return self.not_supported(node),
        };
        Ok(self.computed(term, Type::Number(of), is_defined))
    }

    fn floats(&mut self, node: &Node, operator: BinaryOperator, left: Typed, right: Typed) -> Outcome {
        use BinaryOperator as Op;
        let is_defined = self.terms.and(left.is_defined, right.is_defined);
        let (a, b) = (left.term, right.term);
        let terms = &mut *self.terms;
        let term = match operator {
            Op::Add => terms.float_arithmetic(FloatArithmetic::Add, NEAREST, a, b),
            Op::Subtract => terms.float_arithmetic(FloatArithmetic::Sub, NEAREST, a, b),
            Op::Multiply => terms.float_arithmetic(FloatArithmetic::Mul, NEAREST, a, b),
            Op::Divide => terms.float_arithmetic(FloatArithmetic::Div, NEAREST, a, b),
            Op::Equal => terms.float_equal(a, b),
            Op::NotEqual => {
                let equal = terms.float_equal(a, b);
                terms.not(equal)
            }
            Op::Less => terms.float_less(a, b),
            Op::LessEqual => terms.float_less_or_equal(a, b),
            Op::Greater => terms.float_less(b, a),
            Op::GreaterEqual => terms.float_less_or_equal(b, a),
            Op::Remainder | Op::ShiftLeft | Op::ShiftRight | Op::BitAnd | Op::BitOr | Op::BitXor => {
                return self.not_supported(node);
            }
        };
        Ok(self.computed(term, left.of, is_defined))
    }

    /// A comparison is an int, all else is of the type of its operands.
    fn computed(&mut self, term: Term, of: Type, is_defined: Term) -> Typed {
        match self.terms.sort(term) {
            Sort::Bool => self.of_truth(term, is_defined),
            Sort::Bits(_) | Sort::Float(_) => Typed { term, of, is_defined },
        }
    }
}

fn is_comparison(operator: BinaryOperator) -> bool {
    use BinaryOperator as Op;
    match operator {
        Op::Equal | Op::NotEqual | Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => true,
        Op::Add
        | Op::Subtract
        | Op::Multiply
        | Op::Divide
        | Op::Remainder
        | Op::ShiftLeft
        | Op::ShiftRight
        | Op::BitAnd
        | Op::BitOr
        | Op::BitXor => false,
    }
}

/// Without parentheses around all of it.
fn unwrapped(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let mut open = 0i32;
        let is_one = inner.bytes().all(|byte| {
            open += i32::from(byte == b'(') - i32::from(byte == b')');
            open >= 0
        });
        if !is_one {
            break;
        }
        text = inner.trim();
    }
    text
}

/// The arithmetic type that a cast names.
fn basic(text: &TypeText) -> Option<Basic> {
    match (&text.base, text.pointers) {
        (TypeBase::Basic(basic), 0) => Some(*basic),
        _ => None,
    }
}

/// What values of a type are here. A long double is computed with as a double, as in the values of expressions.
fn sort(of: Basic) -> Sort {
    match of {
        Basic::Bool => Sort::Bits(8),
        Basic::Integer { size, .. } => Sort::Bits(size.saturating_mul(8).clamp(1, 128)),
        Basic::Float => Sort::Float(Format::Single),
        Basic::Double | Basic::LongDouble => Sort::Float(Format::Double),
    }
}
