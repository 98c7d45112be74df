//! Numbers that are the outcome of conditions: what a block's branch or one of its results is made of.

use lift::{Binary, Reg, Size};

use super::expression::{Expr, ExprId, Place};
use super::trace::{Trace, ZeroTest};

/// Compilers need a handful of steps from a setcc to its use.
const DEEPEST: u32 = 24;
/// The most outcomes that are put together without a branch.
const MOST_TERMS: usize = 16;

/// A number of which only the lowest bit matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Boolean {
    Constant(bool),
    /// An outcome of the block, by its place in [`Trace::bits`].
    Bit {
        bit: usize,
        inverted: bool,
    },
    /// What a place holds at the start of the block.
    Copy {
        place: Place,
        inverted: bool,
    },
    All(Vec<Boolean>),
    Any(Vec<Boolean>),
}

impl Boolean {
    fn negated(self) -> Boolean {
        match self {
            Boolean::Constant(value) => Boolean::Constant(!value),
            Boolean::Bit { bit, inverted } => Boolean::Bit { bit, inverted: !inverted },
            Boolean::Copy { place, inverted } => Boolean::Copy { place, inverted: !inverted },
            Boolean::All(terms) => Boolean::Any(terms.into_iter().map(Boolean::negated).collect()),
            Boolean::Any(terms) => Boolean::All(terms.into_iter().map(Boolean::negated).collect()),
        }
    }

    fn all(terms: [Boolean; 2]) -> Option<Boolean> {
        join(terms, Boolean::All)
    }

    fn any(terms: [Boolean; 2]) -> Option<Boolean> {
        join(terms, Boolean::Any)
    }

    /// The outcomes that it is made of, from left to right.
    pub fn bits(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(next) = open.pop() {
            match next {
                Boolean::Bit { bit, .. } => found.push(*bit),
                Boolean::All(terms) | Boolean::Any(terms) => open.extend(terms.iter().rev()),
                Boolean::Constant(_) | Boolean::Copy { .. } => {}
            }
        }
        found
    }

    /// The value when this bit is the last of all that is asked: those before it were such that it decides.
    pub fn when_last(&self, bit: usize, holds: bool) -> bool {
        match self {
            Boolean::All(terms) | Boolean::Any(terms) => {
                let term = terms.iter().find(|term| term.bits().contains(&bit));
                term.is_some_and(|term| term.when_last(bit, holds))
            }
            Boolean::Bit { inverted, .. } => holds != *inverted,
            Boolean::Constant(_) | Boolean::Copy { .. } => holds,
        }
    }

    fn terms(&self) -> usize {
        match self {
            Boolean::All(terms) | Boolean::Any(terms) => terms.iter().map(Boolean::terms).sum(),
            Boolean::Constant(_) | Boolean::Bit { .. } | Boolean::Copy { .. } => 1,
        }
    }

    fn is_of_bits(&self) -> bool {
        match self {
            Boolean::Bit { .. } => true,
            Boolean::All(terms) | Boolean::Any(terms) => terms.iter().all(Boolean::is_of_bits),
            Boolean::Constant(_) | Boolean::Copy { .. } => false,
        }
    }
}

fn join(terms: [Boolean; 2], make: fn(Vec<Boolean>) -> Boolean) -> Option<Boolean> {
    let all = terms.iter().map(Boolean::terms).sum::<usize>() <= MOST_TERMS;
    all.then(|| make(terms.into()))
}

impl Trace {
    /// The expression's lowest bit as a boolean.
    pub fn boolean(&self, id: ExprId) -> Option<Boolean> {
        self.boolean_within(id, DEEPEST)
    }

    /// What decides the branch at the end.
    pub fn branch_boolean(&self) -> Option<Boolean> {
        self.boolean(self.branch?)
    }

    fn boolean_within(&self, id: ExprId, depth: u32) -> Option<Boolean> {
        let depth = depth.checked_sub(1)?;
        let of = |id: ExprId| self.boolean_within(id, depth);
        let constant = |id: ExprId| match self.values.get(id) {
            Expr::Constant(value) => Some(*value),
            _ => None,
        };
        match *self.values.get(id) {
            Expr::Constant(value @ (0 | 1)) => Some(Boolean::Constant(value == 1)),
            Expr::Bit(bit) => Some(self.followed(bit, depth)),
            Expr::Select { bit, yes, no } => self.selected(of(bit)?, of(yes)?, of(no)?),
            Expr::Binary(Binary::And, _, a, b) => match constant(b) {
                Some(mask) if mask & 1 == 1 => of(a),
                Some(_) => None,
                None => Boolean::all([of(a)?, of(b)?]),
            },
            Expr::Binary(Binary::Or, _, a, b) if constant(b).is_none() => Boolean::any([of(a)?, of(b)?]),
            Expr::Binary(Binary::Xor, size, a, b) => {
                let turned = constant(b).is_some_and(|mask| mask == 1 || mask == size.mask());
                if turned { of(a).map(Boolean::negated) } else { None }
            }
            Expr::Not(a) => of(a).map(Boolean::negated),
            Expr::Widened(_, a) | Expr::LowBytes(_, a) => of(a),
            Expr::Load { stored: Some(stored), .. } => of(stored),
            Expr::Load { address, .. } => {
                let place = Place::Slot(self.values.slot(&address)?);
                Some(Boolean::Copy { place, inverted: false })
            }
            Expr::Entry(reg) if reg.is_general() && reg != Reg::RSP && reg != Reg::RBP => {
                Some(Boolean::Copy { place: Place::Register(reg), inverted: false })
            }
            _ => None,
        }
    }

    /// The outcome itself, or those outcomes that it merely asks about: `test al, al` after a setcc.
    fn followed(&self, bit: usize, depth: u32) -> Boolean {
        let asked = self.bits.get(bit).and_then(|bit| bit.of).and_then(|test| {
            let asked = self.boolean_within(test.value, depth)?;
            let inner = if test.nonzero { asked } else { asked.negated() };
            inner.is_of_bits().then_some(inner)
        });
        asked.unwrap_or(Boolean::Bit { bit, inverted: false })
    }

    /// A conditional move between outcomes.
    fn selected(&self, bit: Boolean, yes: Boolean, no: Boolean) -> Option<Boolean> {
        match (&yes, &no) {
            (Boolean::Constant(true), Boolean::Constant(false)) => Some(bit),
            (Boolean::Constant(false), Boolean::Constant(true)) => Some(bit.negated()),
            (Boolean::Constant(false), _) => Boolean::all([bit.negated(), no]),
            (Boolean::Constant(true), _) => Boolean::any([bit, no]),
            (_, Boolean::Constant(false)) => Boolean::all([bit, yes]),
            (_, Boolean::Constant(true)) => Boolean::any([bit.negated(), yes]),
            _ => None,
        }
    }

    /// The place of another block that the branch at the end asks about, if that is all that decides it, and the
    /// number in it for which the branch is taken.
    pub fn branch_copies(&self) -> Option<(Place, bool)> {
        let test = match *self.values.get(self.branch?) {
            Expr::Bit(bit) => self.bits.get(bit)?,
            _ => return None,
        };
        let ZeroTest { value, nonzero, .. } = test.of?;
        match self.boolean(value)? {
            Boolean::Copy { place, inverted } => Some((place, nonzero != inverted)),
            _ => None,
        }
    }

    /// Where a value that comes in by `place` ends up at the end of the block, if it is merely handed on.
    pub fn hands_on(&self, from: Place) -> Vec<Place> {
        self.places()
            .filter(|to| matches!(self.end(*to), Some(Boolean::Copy { place, .. }) if place == from))
            .collect()
    }

    /// Places that the block has written.
    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let slots = self.values.stored_slots().map(Place::Slot);
        let registers = self.values.written().filter(|reg| reg.is_general()).map(Place::Register);
        slots.chain(registers)
    }

    /// What the block leaves in a place, as a boolean.
    pub fn end(&self, place: Place) -> Option<Boolean> {
        self.boolean(self.values.at_end(place)?)
    }

    /// Whether the value that comes in by `place` is turned round before anything else is done with it. clang
    /// does so for `!`, by `xor al, 0xff`; another constant is arithmetic of the program, or of a `==`.
    pub fn turns_round(&self, from: Place) -> bool {
        let turned = self.values.ids().rev().find_map(|id| match *self.values.get(id) {
            Expr::Binary(Binary::Xor, Size::B1, a, b) if *self.values.get(b) == Expr::Constant(0xff) => {
                match self.boolean(a)? {
                    Boolean::Copy { place, inverted } if place == from => Some(!inverted),
                    _ => None,
                }
            }
            _ => None,
        });
        turned == Some(true)
    }

    /// What a boolean is when some of its parts are known.
    pub fn decided(boolean: &Boolean, known: &dyn Fn(&Boolean) -> Option<bool>) -> Option<bool> {
        let each = |terms: &[Boolean]| -> Vec<Option<bool>> {
            terms.iter().map(|term| Trace::decided(term, known)).collect()
        };
        match boolean {
            Boolean::Constant(value) => Some(*value),
            Boolean::Bit { inverted, .. } | Boolean::Copy { inverted, .. } => {
                known(boolean).map(|value| value != *inverted)
            }
            Boolean::All(terms) => {
                let values = each(terms);
                if values.contains(&Some(false)) {
                    Some(false)
                } else {
                    values.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
                }
            }
            Boolean::Any(terms) => {
                let values = each(terms);
                if values.contains(&Some(true)) {
                    Some(true)
                } else {
                    values.into_iter().collect::<Option<Vec<_>>>().map(|_| false)
                }
            }
        }
    }

    pub fn operand_of(&self, place: Place) -> super::comparison::Operand {
        use super::comparison::{MemoryOperand, Operand};
        match place {
            Place::Register(reg) => Operand::Register(reg),
            Place::Slot((base, displacement)) => Operand::Memory(Box::new(MemoryOperand {
                size: Size::B1,
                read_at: 0,
                segment: None,
                base: Some(Operand::Register(base)),
                index: None,
                shift: 0,
                displacement,
            })),
        }
    }
}
