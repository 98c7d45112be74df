//! What a condition is: the data that grouping gives.

use crate::cfg::BlockId;
use crate::lines::Position;

use super::comparison::{Comparison, Operand};

/// Names a condition within a program: stable as long as the code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConditionId {
    /// The function's first instruction.
    pub function: u64,
    /// The first instruction that decides.
    pub address: u64,
}

/// What one condition of the source compiles to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub id: ConditionId,
    /// Of the first member.
    pub position: Option<Position>,
    pub kind: ConditionKind,
    /// The instructions that decide, in the order in which they can be reached. Each instruction belongs to
    /// one condition of its function.
    pub members: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// Control goes to one of two blocks.
    Branch {
        /// Where an exit is reached by jumps alone, the block that they lead to.
        exits: [BlockId; 2],
        /// The exit that is taken when the condition of the source holds; `None` when that is not known, or the
        /// group is only a part of it.
        true_exit: Option<Exit>,
    },
    /// The condition becomes a number: 1 or 0, as in `return a < b` and `x = a && b`. [`Exit::First`] stands
    /// for 1 and [`Exit::Second`] for 0.
    Value {
        /// Where the paths meet again that branches made; `None` when there is no branch.
        join: Option<BlockId>,
        /// The code after that turns the number round, as for `!(a && b)`, so that the source's condition holds
        /// where `place` is 0. Members' steps have taken this into account.
        inverted: bool,
        /// Where the number is.
        place: Option<Operand>,
    },
    /// One of two values is moved (cmovcc) by the machine's condition; [`Exit::First`] is where it holds.
    Select,
    /// One of several blocks, by the value of one number.
    Switch {
        value: Option<Operand>,
        /// Sorted by their lowest number; `values` is empty for blocks of which no more is known than that
        /// they are targets.
        cases: Vec<Case>,
        /// Where all other numbers go; `None` when it is not known or there are no others.
        default: Option<BlockId>,
    },
}

/// One of the two ways in which a condition can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    First,
    Second,
}

impl Exit {
    pub const BOTH: [Exit; 2] = [Exit::First, Exit::Second];

    pub fn other(self) -> Exit {
        match self {
            Exit::First => Exit::Second,
            Exit::Second => Exit::First,
        }
    }

    pub fn index(self) -> usize {
        self as usize
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Inclusive ranges, sorted.
    pub values: Vec<(i64, i64)>,
    pub target: BlockId,
}

/// An instruction that takes part in deciding a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub address: u64,
    pub block: BlockId,
    pub kind: MemberKind,
    /// `None` when the flags come from what is not understood.
    pub comparison: Option<Comparison>,
    /// What follows when the machine's condition holds (the jump is taken, the bit is 1).
    pub holds: Step,
    /// What follows when it does not.
    pub fails: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberKind {
    /// jcc
    Jump,
    /// setcc
    Set,
    /// cmovcc
    Move,
    /// An indirect jump.
    Table,
}

/// Where a member's decision leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Decides the condition.
    Exit(Exit),
    /// The member of this number, from 0, decides next. Members without a jump that come before it are executed
    /// but decide nothing any more.
    Member(usize),
    /// Into a block, of a switch.
    Block(BlockId),
    /// Not known.
    Unknown,
}
