//! What ops do to memory, followed when it has happened.

use super::{Addresses, Concolic, ConstraintKind, Fallback};
use crate::state::Record;
use crate::term::Term;
use crate::transfer::{self, StringForm, Unmodelled};
use lift::{FlagKind, Helper, Reg, Repeat, Size, StringKind};
use machine::{Cpu, Peek};

/// What the op at hand does to memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pending {
    None,
    Load {
        dst: Reg,
        bytes: u8,
        address: Option<Term>,
    },
    Store {
        value: Option<Term>,
        address: Option<Term>,
    },
    /// Whatever is stored is concrete.
    Forget,
    /// Nothing, but a division is under way, which has not faulted if this holds.
    Division {
        without_fault: Term,
    },
    Helper {
        helper: Helper,
    },
    String(Element),
}

/// A string instruction on its way through its elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    kind: StringKind,
    size: Size,
    repeat: Repeat,
    narrow: bool,
    /// What rax holds.
    accumulator: Side,
    /// What the first of two loads found.
    first: Option<Side>,
}

/// One side of a comparison, or what is moved: a concrete value, and the term if it is not concrete.
#[derive(Clone, Copy, Debug)]
struct Side {
    value: u64,
    term: Option<Term>,
}

/// Where the registers are in the area that fxsave writes.
const FXSAVE_X87: u64 = 32;
const FXSAVE_XMM: u64 = 160;
/// What is loaded by most instructions.
const LONGEST: usize = 16;

impl Concolic {
    /// The term of some bytes of memory.
    fn loaded(&mut self, memory: &impl Peek, address: u64, bytes: u64) -> Option<Term> {
        if !self.memory.any(address, bytes) {
            return None;
        }
        let mut concrete = [0; LONGEST];
        let concrete = concrete.get_mut(..usize::try_from(bytes).ok()?)?;
        memory.peek(address, concrete);
        self.memory.load(&mut self.terms, address, concrete)
    }

    pub(super) fn assert_address(&mut self, term: Option<Term>, address: u64) {
        let Some(term) = term else { return };
        match self.options.addresses {
            Addresses::Sensitive => self.constrain_equal(ConstraintKind::Address, term, address.into()),
            Addresses::Insensitive => self.fallbacks.add(Fallback::Address),
        }
    }

    /// The op at hand is done: it has not faulted.
    pub(super) fn finish_op(&mut self) {
        if let Pending::Division { without_fault } = self.pending {
            self.constrain(ConstraintKind::Division, without_fault);
        }
        self.pending = Pending::None;
    }

    pub(super) fn finish_load(&mut self, memory: &impl Peek, address: u64, bytes: u64) {
        match self.pending {
            Pending::Load { dst, bytes: count, address: term } => {
                self.assert_address(term, address);
                let value = self.loaded(memory, address, bytes);
                transfer::loaded(&mut self.terms, &mut self.registers, dst, count, value);
            }
            Pending::String(element) => self.load_element(element, memory, address),
            Pending::Helper { helper: Helper::Fxrstor } => self.restore_floats(memory, address),
            Pending::None
            | Pending::Store { .. }
            | Pending::Forget
            | Pending::Division { .. }
            | Pending::Helper { .. } => {}
        }
    }

    pub(super) fn finish_store(&mut self, address: u64, bytes: u64) {
        match self.pending {
            Pending::Store { value, address: term } => {
                self.assert_address(term, address);
                match value {
                    Some(value) => {
                        let value = self.name_stored(address, value);
                        self.memory.store(&self.terms, address, value);
                    }
                    None => self.memory.forget(address, bytes),
                }
            }
            Pending::String(element) => self.store_element(element, address, bytes),
            Pending::Helper { helper: Helper::Fxsave } => self.save_floats(address, bytes),
            Pending::None
            | Pending::Load { .. }
            | Pending::Forget
            | Pending::Division { .. }
            | Pending::Helper { .. } => {
                self.memory.forget(address, bytes);
            }
        }
    }

    pub(super) fn begin_string(&mut self, form: StringForm, cpu: &Cpu) {
        let StringForm { kind, size, repeat, narrow } = form;
        if repeat != Repeat::Once
            && let Some(count) = self.registers.get(Reg::RCX)
        {
            self.constrain_equal(ConstraintKind::Repetition, count, cpu.get(Reg::RCX).into());
        }
        let (source, target) = match kind {
            StringKind::Load => (true, false),
            StringKind::Store | StringKind::Scan => (false, true),
            StringKind::Move | StringKind::Compare => (true, true),
        };
        for (reg, is_used) in [(Reg::RSI, source), (Reg::RDI, target)] {
            if is_used {
                self.assert_address(self.registers.get(reg), cpu.get(reg));
            }
        }
        let accumulator = Side { value: cpu.get(Reg::RAX), term: self.registers.get(Reg::RAX) };
        self.pending = Pending::String(Element { kind, size, repeat, narrow, accumulator, first: None });
    }

    fn load_element(&mut self, element: Element, memory: &impl Peek, address: u64) {
        let bytes = element.size.bytes();
        let term = self.loaded(memory, address, bytes);
        let mut buffer = [0; 8];
        if let Some(buffer) = buffer.get_mut(..bytes as usize) {
            memory.peek(address, buffer);
        }
        let side = Side { value: u64::from_le_bytes(buffer), term };
        match element.kind {
            StringKind::Load => self.set_accumulator(element.size, side, element.accumulator),
            StringKind::Scan => self.compare(element, element.accumulator, side),
            StringKind::Compare => match element.first {
                None => self.pending = Pending::String(Element { first: Some(side), ..element }),
                Some(first) => {
                    self.pending = Pending::String(Element { first: None, ..element });
                    self.compare(element, first, side);
                }
            },
            StringKind::Move => self.pending = Pending::String(Element { first: Some(side), ..element }),
            StringKind::Store => {}
        }
    }

    fn store_element(&mut self, element: Element, address: u64, bytes: u64) {
        let side = match element.kind {
            StringKind::Store => Some(element.accumulator),
            _ => element.first,
        };
        match side.and_then(|side| side.term) {
            Some(term) => {
                let value = self.terms.extract(element.size.bits() - 1, 0, term);
                let value = self.name_stored(address, value);
                self.memory.store(&self.terms, address, value);
            }
            None => self.memory.forget(address, bytes),
        }
    }

    /// lods: short elements keep the rest of rax.
    fn set_accumulator(&mut self, size: Size, loaded: Side, old: Side) {
        if loaded.term.is_none() && (size >= Size::B4 || old.term.is_none()) {
            return self.registers.forget(Reg::RAX);
        }
        let (new, old) = (self.side(loaded, size), self.side(old, Size::B8));
        let whole = match size {
            Size::B1 | Size::B2 => {
                let kept = self.terms.extract(63, size.bits(), old);
                self.terms.concat(kept, new)
            }
            Size::B4 | Size::B8 => self.terms.zero_extend(64, new),
        };
        self.registers.set(&self.terms, Reg::RAX, whole);
    }

    fn side(&mut self, side: Side, size: Size) -> Term {
        match side.term {
            Some(term) => self.terms.extract(size.bits() - 1, 0, term),
            None => self.terms.bits(size.bits(), side.value.into()),
        }
    }

    /// The flags are those of the last comparison; each that was repeated after decided the way.
    fn compare(&mut self, element: Element, a: Side, b: Side) {
        if a.term.is_none() && b.term.is_none() {
            return self.registers.set_record(None);
        }
        let size = element.size;
        let (one, other) = (self.side(a, size), self.side(b, size));
        if matches!(element.repeat, Repeat::WhileEqual | Repeat::WhileNotEqual) {
            let equal = self.terms.equal(one, other);
            let is_equal = (a.value ^ b.value) & size.mask() == 0;
            let holds = if is_equal { equal } else { self.terms.not(equal) };
            self.constrain(ConstraintKind::Repetition, holds);
        }
        let (one, other) = (self.terms.zero_extend(64, one), self.terms.zero_extend(64, other));
        let c = self.terms.bits(64, 0);
        self.registers.set_record(Some(Record { kind: FlagKind::Sub, size, a: one, b: other, c }));
    }

    /// What is unknown of pointers and the counter goes on with them.
    pub(super) fn end_string(&mut self, elements: i64) {
        let Pending::String(Element { kind, size, repeat, narrow, .. }) = self.pending else { return };
        let bytes = elements.wrapping_mul(size.bytes() as i64);
        let counted = elements.unsigned_abs().wrapping_neg();
        let (source, target) = match kind {
            StringKind::Load => (true, false),
            StringKind::Store | StringKind::Scan => (false, true),
            StringKind::Move | StringKind::Compare => (true, true),
        };
        let moved = [
            (Reg::RSI, source, bytes as u64),
            (Reg::RDI, target, bytes as u64),
            (Reg::RCX, repeat != Repeat::Once, counted),
        ];
        for (reg, is_used, by) in moved {
            let Some(term) = self.registers.get(reg).filter(|_| is_used) else { continue };
            if narrow {
                self.registers.forget(reg);
                self.fallbacks.add(Fallback::NarrowString);
                continue;
            }
            let by = self.terms.bits(64, by.into());
            let new = self.terms.add(term, by);
            self.registers.set(&self.terms, reg, new);
        }
    }

    /// Nobody knows how far a string instruction came that was interrupted.
    pub(super) fn abandon_string(&mut self) {
        if matches!(self.pending, Pending::String(_)) {
            for reg in [Reg::RSI, Reg::RDI, Reg::RCX] {
                if self.registers.get(reg).is_some() {
                    self.fallbacks.add(Fallback::Interruption);
                    self.registers.forget(reg);
                }
            }
        }
    }

    pub(super) fn begin_helper(&mut self, helper: Helper, reached: bool) {
        if reached && !matches!(helper, Helper::Fxsave | Helper::Fxrstor) {
            self.fallbacks.add(Fallback::Op(Unmodelled::Helper));
        }
        self.pending = Pending::Helper { helper };
    }

    /// The registers that fxsave saves, and how far from the start of its area each is.
    fn saved() -> impl Iterator<Item = (Reg, u64, u32)> {
        let x87 = (0..8u8).flat_map(|n| {
            let at = FXSAVE_X87 + 16 * u64::from(n);
            [(Reg::st(n), at, 64), (Reg::st(n).high_half(), at + 8, 16)]
        });
        let vectors = (0..16u8).flat_map(|n| {
            let at = FXSAVE_XMM + 16 * u64::from(n);
            [(Reg::xmm(n), at, 64), (Reg::xmm(n).high_half(), at + 8, 64)]
        });
        x87.chain(vectors)
    }

    fn save_floats(&mut self, address: u64, bytes: u64) {
        self.memory.forget(address, bytes);
        for (reg, at, bits) in Concolic::saved() {
            if let Some(term) = self.registers.get(reg) {
                let saved = self.terms.extract(bits - 1, 0, term);
                self.memory.store(&self.terms, address.wrapping_add(at), saved);
            }
        }
    }

    /// The upper slot of an x87 register has its tag, which comes from elsewhere in the area.
    fn restore_floats(&mut self, memory: &impl Peek, address: u64) {
        let mut head = [0; 5];
        memory.peek(address, &mut head);
        let (top, tags) = (head[3] >> 3 & 7, head[4]);
        for (reg, at, bits) in Concolic::saved() {
            let Some(term) = self.loaded(memory, address.wrapping_add(at), u64::from(bits) / 8) else {
                self.registers.forget(reg);
                continue;
            };
            let whole = match bits {
                64 => term,
                _ => {
                    let physical = (u64::from(top) + (at - FXSAVE_X87) / 16) % 8;
                    let tag = self.terms.bits(48, u128::from(tags >> physical & 1));
                    self.terms.concat(tag, term)
                }
            };
            self.registers.set(&self.terms, reg, whole);
        }
    }
}
