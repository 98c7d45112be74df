//! Values as expressions over what was there before: equal expressions have equal numbers.

use std::collections::BTreeSet;

use lift::{Reg, Size};
use rustc_hash::FxHashMap;

use crate::cfg::memory;
use crate::object_file::ObjectFile;

/// An expression, by its place in [`Expressions`]. Parts of an expression have smaller numbers than the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Const(u64),
    /// What a register held at the start.
    Start(Reg),
    /// Something, told apart from all else by its number.
    Unknown(u32),
    /// The low bytes, zero-extended.
    Low(Size, Id),
    /// The low bytes, sign-extended to 64 bits.
    Signed(Size, Id),
    /// The second, with its low bytes replaced by those of the first.
    Insert(Size, Id, Id),
    Sum(Id, Id),
    Plus(Id, u64),
    Times(Id, u64),
    And(Id, u64),
    /// Never more than `largest`.
    ShiftRight {
        of: Id,
        bits: u32,
        largest: u64,
    },
    /// Memory as it was before the `version`-th unknown write.
    Load {
        size: Size,
        address: Id,
        version: u32,
    },
}

#[derive(Default)]
pub(super) struct Expressions {
    nodes: Vec<Node>,
    ids: FxHashMap<Node, Id>,
    unknowns: u32,
}

impl Expressions {
    pub fn node(&self, id: Id) -> Node {
        self.nodes.get(id.0 as usize).copied().unwrap_or(Node::Unknown(0))
    }

    pub fn make(&mut self, node: Node) -> Id {
        *self.ids.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            Id(self.nodes.len() as u32 - 1)
        })
    }

    pub fn unknown(&mut self) -> Id {
        self.unknowns += 1;
        self.make(Node::Unknown(self.unknowns))
    }

    pub fn constant(&mut self, value: u64) -> Id {
        self.make(Node::Const(value))
    }

    pub fn as_constant(&self, id: Id) -> Option<u64> {
        match self.node(id) {
            Node::Const(value) => Some(value),
            _ => None,
        }
    }

    /// An expression as another plus a constant.
    pub fn split(&self, id: Id) -> (Id, u64) {
        match self.node(id) {
            Node::Plus(base, offset) => (base, offset),
            _ => (id, 0),
        }
    }

    pub fn low(&mut self, size: Size, id: Id) -> Id {
        match self.node(id) {
            _ if size == Size::B8 => id,
            Node::Const(value) => self.constant(value & size.mask()),
            Node::Low(inner, of) => self.make(Node::Low(size.min(inner), of)),
            Node::Load { size: loaded, .. } if loaded <= size => id,
            Node::Signed(from, of) if size <= from => self.low(size, of),
            Node::Insert(inserted, low, _) if size <= inserted => self.low(size, low),
            Node::And(_, mask) if mask <= size.mask() => id,
            _ => self.make(Node::Low(size, id)),
        }
    }

    pub fn signed(&mut self, size: Size, id: Id) -> Id {
        match self.node(id) {
            _ if size == Size::B8 => id,
            Node::Const(value) => self.constant(sign_extended(size, value)),
            Node::Low(inner, of) if inner == size => self.signed(size, of),
            Node::Low(inner, _) if inner < size => id,
            Node::Load { size: loaded, .. } if loaded < size => id,
            _ => self.make(Node::Signed(size, id)),
        }
    }

    pub fn add(&mut self, a: Id, b: Id) -> Id {
        let (a, x) = self.constant_part(a);
        let (b, y) = self.constant_part(b);
        let offset = x.wrapping_add(y);
        match (a, b) {
            (None, None) => self.constant(offset),
            (Some(one), None) | (None, Some(one)) => self.plus(one, offset),
            (Some(a), Some(b)) => {
                let sum = self.make(Node::Sum(a.min(b), a.max(b)));
                self.plus(sum, offset)
            }
        }
    }

    fn constant_part(&self, id: Id) -> (Option<Id>, u64) {
        match self.node(id) {
            Node::Const(value) => (None, value),
            Node::Plus(base, offset) => (Some(base), offset),
            _ => (Some(id), 0),
        }
    }

    pub fn plus(&mut self, id: Id, offset: u64) -> Id {
        match self.node(id) {
            _ if offset == 0 => id,
            Node::Const(value) => self.constant(value.wrapping_add(offset)),
            Node::Plus(base, before) => self.plus(base, before.wrapping_add(offset)),
            _ => self.make(Node::Plus(id, offset)),
        }
    }

    pub fn times(&mut self, id: Id, factor: u64) -> Id {
        match self.node(id) {
            _ if factor == 1 => id,
            Node::Const(value) => self.constant(value.wrapping_mul(factor)),
            Node::Times(of, before) => self.make(Node::Times(of, before.wrapping_mul(factor))),
            Node::Plus(base, offset) => {
                let product = self.times(base, factor);
                self.plus(product, offset.wrapping_mul(factor))
            }
            _ => self.make(Node::Times(id, factor)),
        }
    }

    pub fn and(&mut self, id: Id, mask: u64) -> Id {
        match self.node(id) {
            Node::Const(value) => self.constant(value & mask),
            Node::Low(size, _) if size.mask() & mask == size.mask() => id,
            _ if mask == Size::B1.mask() => self.low(Size::B1, id),
            _ if mask == Size::B2.mask() => self.low(Size::B2, id),
            _ if mask == Size::B4.mask() => self.low(Size::B4, id),
            _ => self.make(Node::And(id, mask)),
        }
    }

    /// The largest value that an expression can have by its form alone.
    pub fn largest(&self, id: Id) -> Option<u64> {
        match self.node(id) {
            Node::Low(Size::B1, _) | Node::Load { size: Size::B1, .. } => Some(Size::B1.mask()),
            Node::And(_, mask) => Some(mask),
            Node::ShiftRight { largest, .. } => Some(largest),
            _ => None,
        }
    }

    /// All parts of an expression and itself, each after its own parts.
    pub fn parts(&self, id: Id) -> Vec<Id> {
        let mut found = BTreeSet::from([id]);
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            let (a, b) = match self.node(id) {
                Node::Const(_) | Node::Start(_) | Node::Unknown(_) => (None, None),
                Node::Low(_, a)
                | Node::Signed(_, a)
                | Node::Plus(a, _)
                | Node::Times(a, _)
                | Node::And(a, _)
                | Node::ShiftRight { of: a, .. } => (Some(a), None),
                Node::Load { address, .. } => (Some(address), None),
                Node::Sum(a, b) | Node::Insert(_, a, b) => (Some(a), Some(b)),
            };
            pending.extend([a, b].into_iter().flatten().filter(|part| found.insert(*part)));
        }
        found.into_iter().collect()
    }
}

pub(super) fn sign_extended(size: Size, value: u64) -> u64 {
    let unused = 64 - size.bits();
    ((value << unused) as i64 >> unused) as u64
}

/// Computes an expression for given values of some of its parts.
pub(super) struct Evaluation<'a> {
    object: &'a ObjectFile,
    expressions: &'a Expressions,
    parts: Vec<Id>,
    values: FxHashMap<Id, u64>,
}

impl<'a> Evaluation<'a> {
    pub fn new(object: &'a ObjectFile, expressions: &'a Expressions, whole: Id) -> Evaluation<'a> {
        Evaluation { object, expressions, parts: expressions.parts(whole), values: FxHashMap::default() }
    }

    pub fn parts(&self) -> &[Id] {
        &self.parts
    }

    /// The value of the whole, or `None` when it depends on something else than what is given.
    pub fn value(&mut self, given: &dyn Fn(Id) -> Option<u64>) -> Option<u64> {
        self.values.clear();
        for index in 0..self.parts.len() {
            let id = self.parts[index];
            if let Some(value) = given(id).or_else(|| self.compute(id)) {
                self.values.insert(id, value);
            }
        }
        self.value_of(*self.parts.last()?)
    }

    /// The value of a part in the computation that was done last.
    pub fn value_of(&self, id: Id) -> Option<u64> {
        self.values.get(&id).copied()
    }

    fn compute(&self, id: Id) -> Option<u64> {
        Some(match self.expressions.node(id) {
            Node::Const(value) => value,
            Node::Start(_) | Node::Unknown(_) => return None,
            Node::Low(size, a) => self.value_of(a)? & size.mask(),
            Node::Signed(size, a) => sign_extended(size, self.value_of(a)?),
            Node::Insert(size, low, rest) => {
                (self.value_of(low)? & size.mask()) | (self.value_of(rest)? & !size.mask())
            }
            Node::Sum(a, b) => self.value_of(a)?.wrapping_add(self.value_of(b)?),
            Node::Plus(a, offset) => self.value_of(a)?.wrapping_add(offset),
            Node::Times(a, factor) => self.value_of(a)?.wrapping_mul(factor),
            Node::And(a, mask) => self.value_of(a)? & mask,
            Node::ShiftRight { of, bits, .. } => self.value_of(of)?.checked_shr(bits).unwrap_or(0),
            Node::Load { size, address, .. } => {
                memory::read(self.object, self.value_of(address)?, size.bytes())?
            }
        })
    }
}
