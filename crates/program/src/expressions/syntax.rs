//! What an expression is made of.

use std::ops::Range;

use super::numbers::{Basic, Number};

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Which bytes of the text it is.
    pub at: Range<usize>,
    pub kind: NodeKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    Constant { value: Number, of: Basic },
    Text(Vec<u8>),
    Name(String),
    Member { of: Box<Node>, name: String },
    Index { of: Box<Node>, index: Box<Node> },
    Deref(Box<Node>),
    Address(Box<Node>),
    Unary(UnaryOperator, Box<Node>),
    Binary(BinaryOperator, Box<Node>, Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Choice(Box<Node>, Box<Node>, Box<Node>),
    Cast(TypeText, Box<Node>),
    SizeOf(Box<Node>),
    SizeOfType(TypeText),
}

impl Node {
    pub fn children(&self) -> Vec<&Node> {
        match &self.kind {
            NodeKind::Constant { .. } | NodeKind::Text(_) | NodeKind::Name(_) | NodeKind::SizeOfType(_) => {
                Vec::new()
            }
            NodeKind::Member { of: one, .. }
            | NodeKind::Deref(one)
            | NodeKind::Address(one)
            | NodeKind::Unary(_, one)
            | NodeKind::Cast(_, one)
            | NodeKind::SizeOf(one) => vec![one],
            NodeKind::Index { of: one, index: two }
            | NodeKind::Binary(_, one, two)
            | NodeKind::And(one, two)
            | NodeKind::Or(one, two) => vec![one, two],
            NodeKind::Choice(condition, one, two) => vec![condition, one, two],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    Plus,
    Minus,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// A type as it is written in a cast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeText {
    pub base: TypeBase,
    /// How many stars follow.
    pub pointers: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeBase {
    Void,
    Basic(Basic),
    /// A typedef, or what follows `struct`, `union` or `enum`.
    Named(String),
}
