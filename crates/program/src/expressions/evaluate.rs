//! The value of a tree.

use std::ops::Range;

use super::numbers::{self, Basic, Number};
use super::places::Located;
use super::shape::{Form, Shape};
use super::syntax::{BinaryOperator, Node, NodeKind, UnaryOperator};
use super::{EvalError, EvalErrorKind, Known};
use crate::program::Program;
use crate::state::State;
use crate::unwind::Frame;
use crate::variables::Place;

pub(super) type Outcome<T> = Result<T, EvalError>;

/// One evaluation of an expression.
pub(super) struct Evaluation<'a> {
    pub program: &'a Program,
    pub state: &'a State<'a>,
    pub frame: &'a Frame,
    pub text: &'a str,
    pub known: &'a Known,
}

/// What a part of an expression stands for.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Number(Number, Basic),
    Pointer {
        /// `None` is void.
        to: Option<Shape>,
        address: u64,
    },
    Text(Vec<u8>),
    Place(Located),
}

impl Evaluation<'_> {
    pub fn part_of(&self, at: &Range<usize>) -> &str {
        self.text.get(at.clone()).unwrap_or_default()
    }

    pub fn senseless(&self, at: &Range<usize>, message: String) -> EvalError {
        EvalError { at: at.clone(), kind: EvalErrorKind::Senseless { message } }
    }

    pub fn unavailable(&self, at: &Range<usize>, reason: String) -> EvalError {
        let what = self.part_of(at).to_owned();
        EvalError { at: at.clone(), kind: EvalErrorKind::Unavailable { what, reason } }
    }

    pub fn operand(&self, node: &Node) -> Outcome<Operand> {
        let at = &node.at;
        match &node.kind {
            NodeKind::Constant { value, of } => Ok(Operand::Number(*value, *of)),
            NodeKind::Text(text) => Ok(Operand::Text(text.clone())),
            NodeKind::Name(name) => self.name(name, at),
            NodeKind::Member { of, name } => self.member(self.operand(of)?, name, at),
            NodeKind::Index { of, index } => {
                let index = self.integer(index)?;
                self.element(self.operand(of)?, index, at)
            }
            NodeKind::Deref(of) => match self.value(self.operand(of)?, &of.at)? {
                Operand::Pointer { to, address } => self.follow(to, address, at),
                _ => Err(self.senseless(at, format!("`{}` is no pointer", self.part_of(&of.at)))),
            },
            NodeKind::Address(of) => self.address(self.operand(of)?, &of.at),
            NodeKind::Unary(operator, of) => self.unary(*operator, of, at),
            NodeKind::Binary(operator, left, right) => self.binary(*operator, left, right, at),
            NodeKind::And(left, right) => Ok(truth(self.is_true(left)? && self.is_true(right)?)),
            NodeKind::Or(left, right) => Ok(truth(self.is_true(left)? || self.is_true(right)?)),
            NodeKind::Choice(condition, one, two) => {
                let (chosen, other) = if self.is_true(condition)? { (one, two) } else { (two, one) };
                self.choice(chosen, other)
            }
            NodeKind::Cast(to, of) => {
                let to = self.shape_of(to).map_err(|name| self.no_type(at, name))?;
                self.cast(to, of, at)
            }
            NodeKind::SizeOf(of) => self.size_of(of, at),
            NodeKind::SizeOfType(of) => {
                let shape = self.shape_of(of).map_err(|name| self.no_type(at, name))?;
                let size = shape.map_or(Ok(1), |shape| self.size_or_error(&shape, at))?;
                Ok(Operand::Number(Number::Integer(i128::from(size)), Basic::SIZE))
            }
        }
    }

    fn no_type(&self, at: &Range<usize>, name: String) -> EvalError {
        EvalError { at: at.clone(), kind: EvalErrorKind::NoType { name } }
    }

    /// Read from its place, if it is at one.
    pub fn value(&self, operand: Operand, at: &Range<usize>) -> Outcome<Operand> {
        match operand {
            Operand::Place(found) => self.load(&found, at),
            other => Ok(other),
        }
    }

    fn is_true(&self, node: &Node) -> Outcome<bool> {
        Ok(match self.value(self.operand(node)?, &node.at)? {
            Operand::Number(value, _) => value.is_true(),
            Operand::Pointer { address, .. } => address != 0,
            Operand::Text(_) | Operand::Place(_) => true,
        })
    }

    /// The value of one side, in the type that both sides have in common.
    fn choice(&self, chosen: &Node, other: &Node) -> Outcome<Operand> {
        let value = self.value(self.operand(chosen)?, &chosen.at)?;
        // The other side need not have a value; then nobody can tell its type.
        let other = self.operand(other).and_then(|operand| self.value(operand, &other.at));
        Ok(match (value, other) {
            (Operand::Number(number, one), Ok(Operand::Number(_, two))) => {
                let common = one.common(two);
                Operand::Number(number.converted(common), common)
            }
            (value, _) => value,
        })
    }

    fn integer(&self, node: &Node) -> Outcome<i128> {
        match self.value(self.operand(node)?, &node.at)? {
            Operand::Number(Number::Integer(value), _) => Ok(value),
            _ => Err(self.senseless(&node.at, format!("`{}` is no integer", self.part_of(&node.at)))),
        }
    }

    fn address(&self, of: Operand, at: &Range<usize>) -> Outcome<Operand> {
        let no_address = |why: &str| {
            let message = format!("`{}` has no address: {why}", self.part_of(at));
            Err(self.senseless(at, message))
        };
        match of {
            Operand::Place(Located { bits: Some(_), .. }) => no_address("it is a bit-field"),
            Operand::Place(Located { shape, place: Place::Memory(address), .. }) => {
                Ok(Operand::Pointer { to: Some(shape), address })
            }
            Operand::Place(_) => {
                Err(self.unavailable(at, "it has no address, being in no memory".to_owned()))
            }
            _ => no_address("it is computed"),
        }
    }

    fn unary(&self, operator: UnaryOperator, of: &Node, at: &Range<usize>) -> Outcome<Operand> {
        if operator == UnaryOperator::Not {
            return Ok(truth(!self.is_true(of)?));
        }
        match self.value(self.operand(of)?, &of.at)? {
            Operand::Number(value, basic) => self.computed(numbers::unary(operator, value, basic), at),
            _ => Err(self.senseless(at, format!("`{}` is no number", self.part_of(&of.at)))),
        }
    }

    /// What goes wrong with numbers may go right with others.
    fn computed(&self, result: Result<(Number, Basic), String>, at: &Range<usize>) -> Outcome<Operand> {
        let (value, of) = result.map_err(|reason| self.unavailable(at, reason))?;
        Ok(Operand::Number(value, of))
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        left: &Node,
        right: &Node,
        at: &Range<usize>,
    ) -> Outcome<Operand> {
        use BinaryOperator as Op;
        let (one, two) = (self.operand(left)?, self.operand(right)?);
        match (&one, &two) {
            (Operand::Text(text), other) | (other, Operand::Text(text)) => {
                let is_equal = self.is_text(other, text, operator, at)?;
                return Ok(truth(is_equal == (operator == Op::Equal)));
            }
            _ => {}
        }
        let pair = (self.value(one, &left.at)?, self.value(two, &right.at)?);
        match (operator, pair) {
            (_, (Operand::Number(a, x), Operand::Number(b, y))) => {
                self.computed(numbers::binary(operator, (a, x), (b, y)), at)
            }
            (Op::Add, (Operand::Pointer { to, address }, Operand::Number(Number::Integer(by), _)))
            | (Op::Add, (Operand::Number(Number::Integer(by), _), Operand::Pointer { to, address })) => {
                let address = self.moved(to.as_ref(), address, by, at)?;
                Ok(Operand::Pointer { to, address })
            }
            (Op::Subtract, (Operand::Pointer { to, address }, Operand::Number(Number::Integer(by), _))) => {
                let address = self.moved(to.as_ref(), address, by.wrapping_neg(), at)?;
                Ok(Operand::Pointer { to, address })
            }
            (Op::Subtract, (Operand::Pointer { to, address }, Operand::Pointer { address: other, .. })) => {
                let size = to.map_or(Ok(1), |shape| self.size_or_error(&shape, at))?.max(1);
                let distance = i128::from(address.wrapping_sub(other) as i64) / i128::from(size);
                Ok(Operand::Number(Number::Integer(distance), Basic::LONG))
            }
            (
                Op::Equal | Op::NotEqual | Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual,
                (a, b),
            ) => match (as_address(&a), as_address(&b)) {
                (Some(a), Some(b)) => self.computed(numbers::binary(operator, a, b), at),
                _ => Err(self.senseless(at, "these two cannot be compared".to_owned())),
            },
            _ => Err(self.senseless(at, "this operator is not for pointers".to_owned())),
        }
    }

    /// Whether the characters at a place are those of a text.
    fn is_text(
        &self,
        other: &Operand,
        text: &[u8],
        operator: BinaryOperator,
        at: &Range<usize>,
    ) -> Outcome<bool> {
        let wrong = || {
            let message = "a text can only be compared by == and != with characters".to_owned();
            Err(self.senseless(at, message))
        };
        if !matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
            return wrong();
        }
        let most = match other {
            Operand::Place(found) => match self.form(&found.shape) {
                Form::Array { count, .. } => count,
                _ => None,
            },
            _ => None,
        };
        let Operand::Pointer { to: Some(to), address } = self.value(other.clone(), at)? else {
            return wrong();
        };
        if !matches!(self.form(&to), Form::Number(Basic::Integer { size: 1, .. })) {
            return wrong();
        }
        for (index, wanted) in text.iter().copied().chain([0]).enumerate() {
            if most == Some(index as u64) {
                return Ok(wanted == 0);
            }
            let here = address.wrapping_add(index as u64);
            let byte = self.state.read_uint(here, 1);
            let byte = byte
                .ok_or_else(|| self.unavailable(at, format!("Cannot access memory at address {here:#x}")))?;
            if byte != u64::from(wanted) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn cast(&self, to: Option<Shape>, of: &Node, at: &Range<usize>) -> Outcome<Operand> {
        let Some(shape) = to else { return Err(self.senseless(at, "void has no value".to_owned())) };
        let value = self.value(self.operand(of)?, &of.at)?;
        match (self.form(&shape), value) {
            (Form::Number(basic), Operand::Number(value, _)) => {
                Ok(Operand::Number(value.converted(basic), basic))
            }
            (Form::Number(basic @ Basic::Integer { .. }), Operand::Pointer { address, .. }) => {
                Ok(Operand::Number(Number::Integer(i128::from(address)).converted(basic), basic))
            }
            (Form::Pointer(to), Operand::Pointer { address, .. }) => Ok(Operand::Pointer { to, address }),
            (Form::Pointer(to), Operand::Number(Number::Integer(value), _)) => {
                Ok(Operand::Pointer { to, address: value as u64 })
            }
            _ => {
                let name = self.type_name(Some(&shape));
                Err(self.senseless(at, format!("`{}` cannot be cast to `{name}`", self.part_of(&of.at))))
            }
        }
    }

    fn size_of(&self, of: &Node, at: &Range<usize>) -> Outcome<Operand> {
        let shape = match self.operand(of) {
            Ok(Operand::Place(found)) => found.shape,
            Ok(Operand::Number(_, basic)) => Shape::Basic(basic),
            Ok(Operand::Pointer { to, .. }) => Shape::Pointer(to.map(Box::new)),
            Ok(Operand::Text(text)) => {
                let size = Number::Integer(text.len() as i128 + 1);
                return Ok(Operand::Number(size, Basic::SIZE));
            }
            Err(error) => match &of.kind {
                NodeKind::Name(name) => Shape::Typed(self.program.find_type(name).ok_or(error)?),
                _ => return Err(error),
            },
        };
        let size = self.size_or_error(&shape, at)?;
        Ok(Operand::Number(Number::Integer(i128::from(size)), Basic::SIZE))
    }
}

fn truth(value: bool) -> Operand {
    Operand::Number(Number::Integer(i128::from(value)), Basic::INT)
}

fn as_address(operand: &Operand) -> Option<(Number, Basic)> {
    match operand {
        Operand::Pointer { address, .. } => Some((Number::Integer(i128::from(*address)), Basic::SIZE)),
        Operand::Number(value @ Number::Integer(_), _) => Some((value.converted(Basic::SIZE), Basic::SIZE)),
        _ => None,
    }
}
