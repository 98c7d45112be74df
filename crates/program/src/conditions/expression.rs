//! The expressions that a basic block computes, from the registers and memory at its start.

use std::collections::{BTreeMap, BTreeSet};

use lift::vector::FloatWidth;
use lift::{Address, Binary, Reg, Size};

use super::comparison::{MemoryOperand, Operand};

/// The steps that are followed to describe an operand; what needs more is [`Operand::Other`], since nobody reads it.
const MOST_STEPS: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ExprId(u32);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    /// The register as it is at the start of the block.
    Entry(Reg),
    Constant(u64),
    /// A register at the start of the block plus a distance.
    Offset(Reg, i64),
    Load {
        size: Size,
        address: AddressOf,
        at: u64,
        /// What the block stored there before, if that is known.
        stored: Option<ExprId>,
    },
    Binary(Binary, Size, ExprId, ExprId),
    Not(ExprId),
    /// Widened from this size, by zeroes or the sign.
    Widened(Size, ExprId),
    /// The low bytes replaced.
    LowBytes(Size, ExprId),
    /// A one-bit outcome, by its place in the list of them.
    Bit(usize),
    Select {
        bit: ExprId,
        yes: ExprId,
        no: ExprId,
    },
    IsZero(Size, ExprId),
    FloatFlags(FloatWidth, ExprId, ExprId),
    /// What a call returned.
    Result(u64),
    Unknown,
}

/// The parts of an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AddressOf {
    pub segment: Reg,
    pub base: ExprId,
    pub index: Option<ExprId>,
    pub shift: u8,
    pub displacement: i64,
}

/// A cell of the stack frame, at a distance from rbp or rsp.
pub(super) type Slot = (Reg, i64);

/// Where a number can be carried from one block to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    /// Before registers: what is in a slot is often in a register, too, by chance.
    Slot(Slot),
    Register(Reg),
}

/// The state of evaluating a block.
pub(super) struct Values {
    exprs: Vec<Expr>,
    registers: BTreeMap<Reg, ExprId>,
    slots: BTreeMap<Slot, (Size, ExprId)>,
    /// Registers and slots whose value at the start is used.
    pub reads: BTreeSet<Place>,
}

impl Values {
    pub fn new() -> Values {
        Values {
            exprs: Vec::new(),
            registers: BTreeMap::new(),
            slots: BTreeMap::new(),
            reads: BTreeSet::new(),
        }
    }

    pub fn add(&mut self, expr: Expr) -> ExprId {
        self.exprs.push(expr);
        ExprId(self.exprs.len() as u32 - 1)
    }

    pub fn get(&self, id: ExprId) -> &Expr {
        self.exprs.get(id.0 as usize).unwrap_or(&Expr::Unknown)
    }

    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ExprId> + use<> {
        (0..self.exprs.len() as u32).map(ExprId)
    }

    pub fn read(&mut self, reg: Reg) -> ExprId {
        let id = self.peek(reg);
        if *self.get(id) == Expr::Entry(reg) {
            self.reads.insert(Place::Register(reg));
        }
        id
    }

    /// As [`Self::read`], for the parts of a register that an instruction keeps as they are.
    pub fn peek(&mut self, reg: Reg) -> ExprId {
        if reg == Reg::ZERO {
            return self.add(Expr::Constant(0));
        }
        if let Some(id) = self.registers.get(&reg) {
            return *id;
        }
        let id = self.add(Expr::Entry(reg));
        self.registers.insert(reg, id);
        id
    }

    pub fn write(&mut self, reg: Reg, id: ExprId) {
        self.registers.insert(reg, id);
    }

    pub fn forget(&mut self, reg: Reg) {
        let id = self.add(Expr::Unknown);
        self.registers.insert(reg, id);
    }

    /// Registers that hold something else than at the start.
    pub fn written(&self) -> impl Iterator<Item = Reg> + '_ {
        self.registers.iter().filter(|(reg, id)| *self.get(**id) != Expr::Entry(**reg)).map(|(reg, _)| *reg)
    }

    pub fn stored_slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.slots.keys().copied()
    }

    /// What a place holds at the end, if the block wrote it.
    pub fn at_end(&self, place: Place) -> Option<ExprId> {
        match place {
            Place::Slot(slot) => self.slots.get(&slot).map(|(_, id)| *id),
            Place::Register(reg) => {
                let id = *self.registers.get(&reg)?;
                (*self.get(id) != Expr::Entry(reg)).then_some(id)
            }
        }
    }

    pub fn binary(&mut self, function: Binary, size: Size, a: ExprId, b: ExprId) -> ExprId {
        let distance = match (function, self.get(b)) {
            (Binary::Add, Expr::Constant(value)) => Some(*value as i64),
            (Binary::Sub, Expr::Constant(value)) => Some((*value as i64).wrapping_neg()),
            _ => None,
        };
        let expr = match (self.get(a), distance) {
            (Expr::Entry(reg), Some(distance)) if size == Size::B8 => Expr::Offset(*reg, distance),
            (Expr::Offset(reg, old), Some(distance)) if size == Size::B8 => {
                Expr::Offset(*reg, old.wrapping_add(distance))
            }
            _ => Expr::Binary(function, size, a, b),
        };
        self.add(expr)
    }

    pub fn address(&mut self, address: &Address) -> AddressOf {
        let index = (address.index != Reg::ZERO).then(|| self.read(address.index));
        AddressOf {
            segment: address.segment,
            base: self.read(address.base),
            index,
            shift: address.shift,
            displacement: address.displacement,
        }
    }

    pub fn load(&mut self, size: Size, address: &Address, at: u64) -> ExprId {
        let address = self.address(address);
        let stored = self.slot(&address).and_then(|slot| match self.slots.get(&slot) {
            Some((stored_size, id)) => (*stored_size >= size).then_some(*id),
            None => {
                self.reads.insert(Place::Slot(slot));
                None
            }
        });
        self.add(Expr::Load { size, address, at, stored })
    }

    pub fn store(&mut self, size: Size, address: &Address, value: ExprId) {
        let address = self.address(address);
        if let Some(slot) = self.slot(&address) {
            self.slots.insert(slot, (size, value));
        }
    }

    /// The slot of the frame that an address means.
    pub fn slot(&self, address: &AddressOf) -> Option<Slot> {
        let frame = |reg: Reg| reg == Reg::RBP || reg == Reg::RSP;
        match self.get(address.base) {
            _ if address.index.is_some() || address.segment != Reg::ZERO => None,
            Expr::Entry(reg) if frame(*reg) => Some((*reg, address.displacement)),
            Expr::Offset(reg, distance) if frame(*reg) => {
                Some((*reg, distance.wrapping_add(address.displacement)))
            }
            _ => None,
        }
    }

    /// The expression as an operand of which `size` bytes are compared.
    pub fn operand(&self, id: ExprId, size: Size, bits: &[u64]) -> Operand {
        self.operand_within(id, size, bits, &mut { MOST_STEPS })
    }

    /// Recursion is as deep as there are `steps` left.
    fn operand_within(&self, id: ExprId, size: Size, bits: &[u64], steps: &mut u32) -> Operand {
        let Some(left) = steps.checked_sub(1) else { return Operand::Other };
        *steps = left;
        let mut part = |id: ExprId, size: Size| self.operand_within(id, size, bits, steps);
        match self.get(id) {
            Expr::Entry(reg) => Operand::Register(*reg),
            Expr::Constant(value) => Operand::Constant(*value & size.mask()),
            Expr::Offset(reg, distance) => {
                let distance = Operand::Constant(*distance as u64);
                Operand::Computed(Box::new((Operand::Register(*reg), Binary::Add, distance)))
            }
            Expr::Load { size, address, at, .. } => self.memory(*size, address, *at, bits, steps),
            Expr::Binary(function, size, a, b) => {
                Operand::Computed(Box::new((part(*a, *size), *function, part(*b, *size))))
            }
            Expr::Widened(from, of) => part(*of, (*from).min(size)),
            Expr::LowBytes(from, of) if size <= *from => part(*of, size),
            Expr::Bit(bit) => bits.get(*bit).map_or(Operand::Other, |address| Operand::Bit(*address)),
            Expr::Result(call) => Operand::Result(*call),
            Expr::LowBytes(..)
            | Expr::Not(_)
            | Expr::Select { .. }
            | Expr::IsZero(..)
            | Expr::FloatFlags(..)
            | Expr::Unknown => Operand::Other,
        }
    }

    fn memory(&self, size: Size, address: &AddressOf, at: u64, bits: &[u64], steps: &mut u32) -> Operand {
        let (base, distance) = match self.get(address.base) {
            Expr::Constant(value) => (None, *value as i64),
            Expr::Entry(reg) => (Some(Operand::Register(*reg)), 0),
            Expr::Offset(reg, distance) => (Some(Operand::Register(*reg)), *distance),
            _ => (Some(self.operand_within(address.base, Size::B8, bits, steps)), 0),
        };
        Operand::Memory(Box::new(MemoryOperand {
            size,
            read_at: at,
            segment: (address.segment != Reg::ZERO).then_some(address.segment),
            base,
            index: address.index.map(|index| self.operand_within(index, Size::B8, bits, steps)),
            shift: address.shift,
            displacement: address.displacement.wrapping_add(distance),
        }))
    }
}
