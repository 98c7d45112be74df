//! Branches that look a number up in a word of bits.
//!
//! For cases that lie near each other compilers test a bit of a constant, by shifts and masks or by `bt`, in many spellings.
//! So none is looked for: where few numbers can reach a branch, it is computed for each of them what the branch does.

use std::cell::Cell;

use lift::Size;

use super::comparison::Operand;
use super::expression::{Expr, ExprId, Place};
use super::flow::Flow;
use super::numbers::NumberSet;
use super::trace::ZeroTest;

/// The numbers that one word can have bits for.
const MOST_NUMBERS: u128 = 64;

/// The steps that are followed for each of them; compilers need a dozen or two, some of them several times, since `test al, al` asks twice.
const MOST_STEPS: u32 = 1024;

/// The number that a switch goes by, as the block at its head has it.
pub(super) struct Number<'a> {
    pub flow: &'a Flow<'a>,
    pub head: usize,
    pub operand: &'a Operand,
    pub size: Size,
}

impl Number<'_> {
    /// Those of the numbers that reach a block for which its branch is taken, if it depends on nothing else.
    pub fn taken(&self, at: usize, reach: &NumberSet) -> Option<NumberSet> {
        if reach.count() > MOST_NUMBERS {
            return None;
        }
        let branch = self.flow.traces.get(at)?.branch?;
        let mut taken = NumberSet::none(self.size);
        for number in reach.numbers() {
            let evaluation = Evaluation { number: self, is: number, steps: Cell::new(MOST_STEPS) };
            if evaluation.value(at, branch)? & 1 == 1 {
                taken.push(number);
            }
        }
        taken.normalise();
        Some(taken)
    }
}

/// What the code from the head on computes when the number `is` this one.
struct Evaluation<'a> {
    number: &'a Number<'a>,
    is: u64,
    steps: Cell<u32>,
}

impl Evaluation<'_> {
    /// Recursion is as deep as there are steps left.
    fn step(&self) -> Option<()> {
        self.steps.set(self.steps.get().checked_sub(1)?);
        Some(())
    }

    fn value(&self, at: usize, id: ExprId) -> Option<u64> {
        self.step()?;
        if self.is_number(at, id) {
            return Some(self.is);
        }
        let trace = self.number.flow.traces.get(at)?;
        match *trace.values.get(id) {
            Expr::Constant(value) => Some(value),
            Expr::Entry(reg) => self.at_start(at, Place::Register(reg), Size::B8),
            Expr::Offset(reg, distance) => {
                Some(self.at_start(at, Place::Register(reg), Size::B8)?.wrapping_add(distance as u64))
            }
            Expr::Load { size, stored: Some(stored), .. } => self.low(at, stored, size),
            Expr::Load { size, address, stored: None, .. } => {
                let slot = Place::Slot(trace.values.slot(&address)?);
                self.at_start(at, slot, size)
            }
            Expr::Binary(function, size, a, b) => {
                Some(machine::binary(function, size, self.low(at, a, size)?, self.low(at, b, size)?))
            }
            Expr::Not(of) => self.value(at, of).map(|value| !value),
            // Zeroes and the sign are the same where the sign is zero.
            Expr::Widened(size, of) => self.low(at, of, size).filter(|value| value & size.sign() == 0),
            Expr::Bit(bit) => {
                let ZeroTest { value, size, nonzero } = trace.bits.get(bit)?.of?;
                Some(u64::from((self.low(at, value, size)? != 0) == nonzero))
            }
            Expr::Select { bit, yes, no } => {
                self.value(at, if self.value(at, bit)? & 1 == 1 { yes } else { no })
            }
            Expr::IsZero(size, of) => Some(u64::from(self.low(at, of, size)? == 0)),
            Expr::LowBytes(..) | Expr::FloatFlags(..) | Expr::Result(_) | Expr::Unknown => None,
        }
    }

    /// The low bytes, also where the others are not known.
    fn low(&self, at: usize, id: ExprId, size: Size) -> Option<u64> {
        self.step()?;
        let trace = self.number.flow.traces.get(at)?;
        match *trace.values.get(id) {
            Expr::LowBytes(replaced, of) if size <= replaced => self.low(at, of, size),
            Expr::Entry(reg) => self.at_start(at, Place::Register(reg), size),
            _ => self.value(at, id).map(|value| value & size.mask()),
        }
    }

    /// The low bytes of what a place holds at the start of a block.
    fn at_start(&self, at: usize, place: Place, size: Size) -> Option<u64> {
        self.step()?;
        let Number { flow, head, operand, .. } = *self.number;
        if at == head {
            return (operand.place() == Some(place)).then_some(self.is & size.mask());
        }
        let before = flow.chain(at).nth(1)?;
        match flow.traces.get(before)?.values.at_end(place) {
            Some(id) => self.low(before, id, size),
            None => self.at_start(before, place, size),
        }
    }

    /// Whether an expression of the head is the number itself.
    fn is_number(&self, at: usize, id: ExprId) -> bool {
        let Number { flow, head, operand, size } = *self.number;
        let Some(trace) = flow.traces.get(at).filter(|_| at == head) else { return false };
        let is_whole = match *trace.values.get(id) {
            Expr::Widened(from, of) => {
                from >= size || matches!(trace.values.get(of), Expr::Load { size, .. } if *size == from)
            }
            Expr::LowBytes(..) => false,
            _ => true,
        };
        is_whole && trace.operand(id, size).same_place(operand)
    }
}
