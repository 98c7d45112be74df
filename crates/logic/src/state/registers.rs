//! The terms of registers.

use crate::term::{Term, Terms};
use lift::{FlagKind, Op, Reg, SLOTS, Size};
use rustc_hash::FxHashMap;

/// What the flags were last set by, as in the machine, with terms of 64 bits for the operands. The kind is one of those that records have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub kind: FlagKind,
    pub size: Size,
    pub a: Term,
    pub b: Term,
    pub c: Term,
}

/// The slots that are not concrete, each with a term of 64 bits, and the record of the flags, which is apart from its slots.
#[derive(Clone)]
pub struct Registers {
    slots: [Option<Term>; SLOTS],
    /// A bit for each slot that has a term.
    symbolic: [u64; SLOTS / 64],
    record: Option<Record>,
    /// Words of flags that come from a comparison of two floats, which is what their conditions are about.
    compared: FxHashMap<Term, (Term, Term)>,
}

impl Default for Registers {
    fn default() -> Registers {
        Registers {
            slots: [None; SLOTS],
            symbolic: [0; SLOTS / 64],
            record: None,
            compared: FxHashMap::default(),
        }
    }
}

impl Registers {
    /// The term of a slot that is not concrete.
    #[inline]
    pub fn get(&self, reg: Reg) -> Option<Term> {
        self.slots[reg.index()]
    }

    /// What a slot holds from now on. A constant is concrete.
    pub fn set(&mut self, terms: &Terms, reg: Reg, term: Term) {
        debug_assert_eq!(terms.width(term), 64);
        if terms.is_constant(term) {
            return self.forget(reg);
        }
        self.slots[reg.index()] = Some(term);
        self.symbolic[reg.index() / 64] |= 1 << (reg.index() % 64);
    }

    /// The slot is concrete from now on.
    #[inline]
    pub fn forget(&mut self, reg: Reg) {
        self.slots[reg.index()] = None;
        self.symbolic[reg.index() / 64] &= !(1 << (reg.index() % 64));
    }

    /// What the flags were set by, if they are not concrete.
    pub fn record(&self) -> Option<Record> {
        self.record
    }

    pub fn set_record(&mut self, record: Option<Record>) {
        self.record = record;
    }

    /// A word of flags that tells how two floats compare.
    pub fn set_compared(&mut self, word: Term, a: Term, b: Term) {
        self.compared.insert(word, (a, b));
    }

    /// The floats that a word of flags tells about.
    pub fn compared(&self, word: Term) -> Option<(Term, Term)> {
        self.compared.get(&word).copied()
    }

    /// Whether no register holds anything unknown.
    #[inline]
    pub fn is_concrete(&self) -> bool {
        self.record.is_none() && self.symbolic.iter().all(|bits| *bits == 0)
    }

    #[inline]
    fn is_symbolic(&self, reg: Reg) -> bool {
        let is_flag = matches!(reg, Reg::FLAG_KIND | Reg::FLAG_A | Reg::FLAG_B | Reg::FLAG_C);
        self.symbolic[reg.index() / 64] >> (reg.index() % 64) & 1 != 0 || is_flag && self.record.is_some()
    }

    /// Whether an op reads a register that is not concrete.
    pub fn reaches(&self, op: &Op) -> bool {
        let mut reached = false;
        op.reads(|reg| reached |= self.is_symbolic(reg));
        reached
    }

    /// All that the op writes is concrete from now on.
    pub fn forget_results(&mut self, op: &Op) {
        op.writes(|reg| match reg {
            Reg::FLAG_KIND | Reg::FLAG_A | Reg::FLAG_B | Reg::FLAG_C => self.record = None,
            _ => self.forget(reg),
        });
    }

    /// The slots that are not concrete, in their order.
    pub fn symbolic(&self) -> impl Iterator<Item = (Reg, Term)> + '_ {
        self.slots.iter().enumerate().filter_map(|(index, term)| Some((Reg(index as u8), (*term)?)))
    }
}
