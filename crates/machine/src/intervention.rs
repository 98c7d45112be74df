//! Interventions: the only way in which a run is altered.

use crate::Time;
use crate::exec::Force;
use lift::{Binary, Condition, Op, Reg, Size, Value};

/// One thing that is done differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intervention {
    /// Once, at an instant: before (or, for conditions, in) the instruction that retires at `time`.
    At(Time, Action),
    /// At every execution of the instruction at an address.
    Always(u64, Edit),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The condition that the instruction uses goes the other way.
    FlipBranch,
    /// The condition that the instruction uses goes this way.
    ForceCondition(bool),
    SetValue {
        reg: Reg,
        value: u64,
    },
    /// Writes memory, whatever its permissions.
    Poke {
        address: u64,
        bytes: Vec<u8>,
    },
}

impl Action {
    /// The force that the action puts on the next instruction's condition, if that is what it does.
    pub fn force(&self) -> Option<Force> {
        match self {
            Action::FlipBranch => Some(Force::Flip),
            Action::ForceCondition(side) => Some(Force::Side(*side)),
            Action::SetValue { .. } | Action::Poke { .. } => None,
        }
    }
}

/// A small static change of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The instruction does nothing.
    Skip,
    /// Each constant operand `from` becomes `to`.
    Constant { from: u64, to: u64 },
    /// The instruction decides by another condition.
    Condition(Condition),
    /// Its condition always counts as true, or as false.
    Side(bool),
    /// Its condition counts as true where it is false, and the other way round.
    Inverted,
}

impl Edit {
    /// Changes the ops from `start` on.
    pub fn apply(&self, ops: &mut Vec<Op>, start: usize) {
        match *self {
            Edit::Skip => ops.truncate(start),
            Edit::Constant { from, to } => {
                for op in ops.iter_mut().skip(start) {
                    replace_constant(op, from, to);
                }
            }
            Edit::Condition(new) => {
                for op in ops.iter_mut().skip(start) {
                    if let Op::Test { condition, .. } = op {
                        *condition = new;
                    }
                }
            }
            Edit::Side(side) => {
                for op in ops.iter_mut().skip(start) {
                    if let Op::Test { dst, .. } | Op::IsZero { dst, .. } = *op {
                        *op = Op::Move { dst, src: Value::Const(u64::from(side)) };
                    }
                }
            }
            Edit::Inverted => invert(ops, start),
        }
    }
}

fn invert(ops: &mut Vec<Op>, start: usize) {
    let decides = |op: &Op| match op {
        Op::Test { dst, .. } | Op::IsZero { dst, .. } => Some(*dst),
        _ => None,
    };
    let decided = ops.iter().skip(start).rposition(|op| decides(op).is_some()).map(|place| start + place);
    if let Some((place, dst)) = decided.and_then(|place| Some((place, decides(ops.get(place)?)?))) {
        let negation = Op::Binary { function: Binary::Xor, size: Size::B8, dst, a: dst, b: Value::Const(1) };
        ops.insert(place + 1, negation);
    }
}

/// Data operands only: targets of jumps and calls stay.
fn replace_constant(op: &mut Op, from: u64, to: u64) {
    let operand = match op {
        Op::Move { src, .. } | Op::Store { src, .. } | Op::Insert { src, .. } => src,
        Op::Binary { b, .. } | Op::Flags { b, .. } => b,
        Op::Ternary { c, .. } => c,
        _ => return,
    };
    if *operand == Value::Const(from) {
        *operand = Value::Const(to);
    }
}
