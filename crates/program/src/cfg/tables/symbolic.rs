//! Runs ops on expressions instead of numbers, along one path.

use std::collections::BTreeMap;

use lift::{Address, Binary, Condition, FlagKind, Op, Reg, Size, Value};
use rustc_hash::FxHashMap;

use super::expression::{Expressions, Id, Node};

/// What is known when the path has decided a branch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constraint {
    /// Address of the branch.
    pub branch: u64,
    /// What is compared, already cut to its size.
    pub value: Id,
    pub size: Size,
    pub with: u64,
    pub condition: Condition,
    pub holds: bool,
}

/// A comparison that the flags, or a bit in a register, stand for.
#[derive(Clone, Copy)]
struct Comparison {
    value: Id,
    size: Size,
    with: u64,
}

/// A place in the stack frame or behind another base: the base and the distance from it.
type Place = (Id, u64);

#[derive(Default)]
pub(super) struct State {
    pub expressions: Expressions,
    registers: FxHashMap<Reg, Id>,
    flags: Option<Comparison>,
    /// One-bit values that a condition was tested into.
    tested: FxHashMap<Reg, (Comparison, Condition)>,
    /// What was stored where: size and value.
    stored: BTreeMap<Place, (Size, Id)>,
    /// Counts writes to places that are not known.
    version: u32,
    pub constraints: Vec<Constraint>,
}

impl State {
    pub fn register(&mut self, reg: Reg) -> Id {
        if reg == Reg::ZERO {
            return self.expressions.constant(0);
        }
        match self.registers.get(&reg) {
            Some(id) => *id,
            None => {
                let start = self.expressions.make(Node::Start(reg));
                self.registers.insert(reg, start);
                start
            }
        }
    }

    fn value(&mut self, value: Value) -> Id {
        match value {
            Value::Reg(reg) => self.register(reg),
            Value::Const(value) => self.expressions.constant(value),
        }
    }

    fn set(&mut self, reg: Reg, id: Id) {
        self.registers.insert(reg, id);
        self.tested.remove(&reg);
    }

    fn forget(&mut self, reg: Reg) {
        let unknown = self.expressions.unknown();
        self.set(reg, unknown);
    }

    pub fn run(&mut self, op: &Op) {
        match *op {
            Op::Move { dst, src } => {
                let value = self.value(src);
                self.set(dst, value);
            }
            Op::Binary { function, size, dst, a, b } => {
                let (a, b) = (self.register(a), self.value(b));
                let result = self.binary(function, size, a, b);
                self.set(dst, result);
            }
            Op::ZeroExtend { size, dst, src } | Op::Extract { size, at: 0, dst, src } => {
                let value = self.register(src);
                let low = self.expressions.low(size, value);
                self.set(dst, low);
            }
            Op::SignExtend { from, to, dst, src } => {
                let value = self.register(src);
                let signed = self.expressions.signed(from, value);
                let low = self.expressions.low(to, signed);
                self.set(dst, low);
            }
            Op::Insert { size, at: 0, dst, src } => {
                let (low, rest) = (self.value(src), self.register(dst));
                let whole = self.expressions.make(Node::Insert(size, low, rest));
                self.set(dst, whole);
            }
            Op::Lea { size, dst, address } => {
                let value = self.address(&address);
                let low = self.expressions.low(size, value);
                self.set(dst, low);
            }
            Op::Load { size, dst, address } => {
                let value = self.load(size, &address);
                self.set(dst, value);
            }
            Op::Store { size, src, address } => {
                let value = self.value(src);
                self.store(size, &address, Some(value));
            }
            Op::StoreVector { address, .. } => {
                self.store(Size::B8, &address, None);
                let high = Address { displacement: address.displacement.wrapping_add(8), ..address };
                self.store(Size::B8, &high, None);
            }
            Op::StoreExtended { address, .. } => {
                self.store(Size::B8, &address, None);
                let high = Address { displacement: address.displacement.wrapping_add(8), ..address };
                self.store(Size::B2, &high, None);
            }
            Op::Flags { kind, size, a, b, .. } => self.flags(kind, size, a, b),
            Op::Test { condition, dst } => {
                self.forget(dst);
                if let Some(comparison) = self.flags {
                    self.tested.insert(dst, (comparison, condition));
                }
            }
            Op::Call { .. } => self.call(),
            Op::String { .. } | Op::Helper { .. } | Op::Syscall => {
                self.forget_written(op);
                self.version += 1;
                self.stored.clear();
                self.flags = None;
            }
            _ => {
                self.forget_written(op);
                if matches!(op, Op::Unsupported) {
                    self.flags = None;
                }
            }
        }
    }

    /// Notes which way a branch was taken.
    pub fn decide(&mut self, branch: u64, condition: Reg, holds: bool) {
        if let Some((comparison, condition)) = self.tested.get(&condition).copied() {
            let Comparison { value, size, with } = comparison;
            self.constraints.push(Constraint { branch, value, size, with, condition, holds });
        }
    }

    fn forget_written(&mut self, op: &Op) {
        op.writes(|reg| self.forget(reg));
        if let Op::Unsupported = op {
            // It may write anything.
            (0..16).map(Reg::general).filter(|reg| *reg != Reg::RSP).for_each(|reg| self.forget(reg));
        }
    }

    fn binary(&mut self, function: Binary, size: Size, a: Id, b: Id) -> Id {
        let (x, y) = (self.expressions.as_constant(a), self.expressions.as_constant(b));
        let result = match (function, x, y) {
            (Binary::Add, ..) => self.expressions.add(a, b),
            (Binary::Sub, _, Some(y)) => self.expressions.plus(a, y.wrapping_neg()),
            (Binary::Sub | Binary::Xor, ..) if a == b => self.expressions.constant(0),
            (Binary::And | Binary::Or, ..) if a == b => a,
            (Binary::And, _, Some(mask)) => self.expressions.and(a, mask & size.mask()),
            (Binary::And, Some(mask), _) => self.expressions.and(b, mask & size.mask()),
            (Binary::Shl, _, Some(bits)) if bits < u64::from(size.bits()) => {
                self.expressions.times(a, 1 << bits)
            }
            (Binary::Mul, _, Some(factor)) => self.expressions.times(a, factor),
            (Binary::Shr, _, Some(bits)) if bits < u64::from(size.bits()) => {
                let low = self.expressions.low(size, a);
                let largest = size.mask() >> bits;
                self.expressions.make(Node::ShiftRight { of: low, bits: bits as u32, largest })
            }
            _ => self.expressions.unknown(),
        };
        self.expressions.low(size, result)
    }

    fn address(&mut self, address: &Address) -> Id {
        let base = self.register(address.base);
        let index = self.register(address.index);
        let scaled = self.expressions.times(index, 1 << address.shift.min(3));
        let sum = self.expressions.add(base, scaled);
        let whole = self.expressions.plus(sum, address.displacement as u64);
        let whole = if address.narrow { self.expressions.low(Size::B4, whole) } else { whole };
        if address.segment == Reg::ZERO {
            return whole;
        }
        let segment = self.register(address.segment);
        self.expressions.add(segment, whole)
    }

    fn load(&mut self, size: Size, address: &Address) -> Id {
        let address = self.address(address);
        let place = self.expressions.split(address);
        match self.stored_at(place, size) {
            Some(Some(value)) => self.expressions.low(size, value),
            Some(None) => self.expressions.unknown(),
            None => {
                let version = if self.is_frame(place.0) { 0 } else { self.version };
                self.expressions.make(Node::Load { size, address, version })
            }
        }
    }

    /// What a store left at a place: `None` when none touched it, `Some(None)` when it cannot be told.
    fn stored_at(&self, place: Place, size: Size) -> Option<Option<Id>> {
        let (base, offset) = place;
        if let Some((stored, value)) = self.stored.get(&place) {
            return Some((size <= *stored).then_some(*value));
        }
        let near = (1..8).flat_map(|distance| {
            [offset.wrapping_sub(distance), offset.wrapping_add(distance)].map(|at| (at, distance))
        });
        let overlaps = |(at, distance): (u64, u64)| {
            let reach = if at == offset.wrapping_sub(distance) {
                self.stored.get(&(base, at)).map(|(stored, _)| stored.bytes())
            } else {
                self.stored.get(&(base, at)).map(|_| size.bytes())
            };
            reach.is_some_and(|reach| reach > distance)
        };
        near.into_iter().any(overlaps).then_some(None)
    }

    fn store(&mut self, size: Size, address: &Address, value: Option<Id>) {
        let address = self.address(address);
        let place = self.expressions.split(address);
        if !self.is_frame(place.0) {
            // It may be anywhere but in the frame, where only what the compiler put there itself is asked for.
            self.version += 1;
            let frames: Vec<Place> =
                self.stored.keys().filter(|key| !self.is_frame(key.0)).copied().collect();
            frames.iter().for_each(|key| _ = self.stored.remove(key));
        }
        let value = match value {
            Some(value) => self.expressions.low(size, value),
            None => self.expressions.unknown(),
        };
        self.stored.insert(place, (size, value));
    }

    fn is_frame(&self, base: Id) -> bool {
        matches!(self.expressions.node(base), Node::Start(Reg::RSP | Reg::RBP))
    }

    fn flags(&mut self, kind: FlagKind, size: Size, a: Reg, b: Value) {
        let value = self.register(a);
        let value = self.expressions.low(size, value);
        let with = match (kind, b) {
            (FlagKind::Sub, b) => {
                let b = self.value(b);
                self.expressions.as_constant(b).map(|with| with & size.mask())
            }
            // The result itself, as against zero.
            (FlagKind::Logic, _) => Some(0),
            _ => None,
        };
        self.flags = with.map(|with| Comparison { value, size, with });
    }

    /// The callee pops the return address.
    fn call(&mut self) {
        let stack_pointer = self.register(Reg::RSP);
        let popped = self.expressions.plus(stack_pointer, 8);
        self.forget_written(&Op::Call { target: Value::Const(0), return_address: 0 });
        self.set(Reg::RSP, popped);
        self.version += 1;
        let others: Vec<Place> = self.stored.keys().filter(|key| !self.is_frame(key.0)).copied().collect();
        others.iter().for_each(|key| _ = self.stored.remove(key));
        self.flags = None;
    }
}

impl Constraint {
    /// Whether the compared value can be `value` on this path.
    pub fn allows(&self, value: u64) -> bool {
        let signed = |value: u64| super::expression::sign_extended(self.size, value) as i64;
        let (a, b) = (value & self.size.mask(), self.with);
        let holds = match self.condition {
            Condition::Below => a < b,
            Condition::AboveOrEqual => a >= b,
            Condition::BelowOrEqual => a <= b,
            Condition::Above => a > b,
            Condition::Equal => a == b,
            Condition::NotEqual => a != b,
            Condition::Less => signed(a) < signed(b),
            Condition::GreaterOrEqual => signed(a) >= signed(b),
            Condition::LessOrEqual => signed(a) <= signed(b),
            Condition::Greater => signed(a) > signed(b),
            Condition::Sign if b == 0 => signed(a) < 0,
            Condition::NotSign if b == 0 => signed(a) >= 0,
            Condition::Sign
            | Condition::NotSign
            | Condition::Overflow
            | Condition::NotOverflow
            | Condition::Parity
            | Condition::NotParity => return true,
        };
        holds == self.holds
    }

    /// The largest value that this alone allows, when it bounds the value from above.
    pub fn largest(&self) -> Option<u64> {
        match (self.condition, self.holds) {
            (Condition::Below, true) | (Condition::AboveOrEqual, false) => self.with.checked_sub(1),
            (Condition::BelowOrEqual | Condition::Equal, true)
            | (Condition::Above | Condition::NotEqual, false) => Some(self.with),
            _ => None,
        }
    }
}
