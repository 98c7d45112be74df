//! Interventions: the only way in which a run is altered.

use crate::Time;
use crate::exec::Force;
use lift::{Condition, Op, Reg, Value};

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
        }
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
