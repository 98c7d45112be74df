//! What a machine condition compares, as data.

use std::fmt;

use lift::{Binary, Condition, Reg, Size};

use super::expression::Place;

/// `left relation right`, which holds when the machine's condition does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub left: Operand,
    pub relation: Relation,
    pub right: Operand,
    pub size: Size,
    pub numbers: Numbers,
}

/// How the operands are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Integers of which only equality is asked.
    Integer,
    Signed,
    Unsigned,
    Float,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Of floats: either is a NaN.
    Unordered,
    Ordered,
    /// Of floats, and these hold for NaNs, too.
    EqualOrUnordered,
    LessOrUnordered,
    LessOrEqualOrUnordered,
    GreaterOrUnordered,
    GreaterOrEqualOrUnordered,
    /// Of floats: different, and neither is a NaN.
    LessOrGreater,
}

/// Where a compared number comes from. Registers are as they are at the start of the basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    Register(Reg),
    Constant(u64),
    Memory(Box<MemoryOperand>),
    /// What the call at this address returned.
    Result(u64),
    /// The one-bit outcome of the condition at this address.
    Bit(u64),
    Computed(Box<(Operand, Binary, Operand)>),
    /// Something else, or too much to be told.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryOperand {
    pub size: Size,
    /// The instruction that reads it: the cell can have been overwritten since.
    pub read_at: u64,
    pub segment: Option<Reg>,
    pub base: Option<Operand>,
    pub index: Option<Operand>,
    pub shift: u8,
    pub displacement: i64,
}

impl Operand {
    /// Whether both stand for the same number if nothing is written in between: the place of the instruction
    /// that reads a cell does not matter.
    pub fn same_place(&self, other: &Operand) -> bool {
        match (self, other) {
            (Operand::Memory(a), Operand::Memory(b)) => {
                let same = |a: &Option<Operand>, b: &Option<Operand>| match (a, b) {
                    (Some(a), Some(b)) => a.same_place(b),
                    (None, None) => true,
                    _ => false,
                };
                let parts = |m: &MemoryOperand| (m.size, m.segment, m.shift, m.displacement);
                parts(a) == parts(b) && same(&a.base, &b.base) && same(&a.index, &b.index)
            }
            (Operand::Computed(a), Operand::Computed(b)) => {
                a.1 == b.1 && a.0.same_place(&b.0) && a.2.same_place(&b.2)
            }
            (Operand::Other, _) => false,
            _ => self == other,
        }
    }
}

impl Operand {
    /// The register, or the slot of the frame, that holds it.
    pub(super) fn place(&self) -> Option<Place> {
        match self {
            Operand::Register(reg) => Some(Place::Register(*reg)),
            Operand::Memory(memory) => match (&memory.base, &memory.index, memory.segment) {
                (Some(Operand::Register(base)), None, None) => {
                    Some(Place::Slot((*base, memory.displacement)))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl Relation {
    /// The relation that holds exactly when this one does not.
    pub fn negated(self) -> Relation {
        use Relation::*;
        match self {
            Equal => NotEqual,
            NotEqual => Equal,
            Less => GreaterOrEqual,
            LessOrEqual => Greater,
            Greater => LessOrEqual,
            GreaterOrEqual => Less,
            Unordered => Ordered,
            Ordered => Unordered,
            EqualOrUnordered => LessOrGreater,
            LessOrGreater => EqualOrUnordered,
            LessOrUnordered => GreaterOrEqual,
            LessOrEqualOrUnordered => Greater,
            GreaterOrUnordered => LessOrEqual,
            GreaterOrEqualOrUnordered => Less,
        }
    }

    fn negated_float(self) -> Relation {
        use Relation::*;
        match self {
            Less => GreaterOrEqualOrUnordered,
            LessOrEqual => GreaterOrUnordered,
            Greater => LessOrEqualOrUnordered,
            GreaterOrEqual => LessOrUnordered,
            other => other.negated(),
        }
    }
}

impl Comparison {
    pub fn negated(self) -> Comparison {
        let relation = match self.numbers {
            Numbers::Float => self.relation.negated_float(),
            Numbers::Integer | Numbers::Signed | Numbers::Unsigned => self.relation.negated(),
        };
        Comparison { relation, ..self }
    }

    /// What a condition says of flags that `left - right` set.
    pub(super) fn of_difference(
        condition: Condition,
        size: Size,
        left: Operand,
        right: Operand,
    ) -> Option<Comparison> {
        use Condition as C;
        use Relation::*;
        let (relation, numbers) = match condition {
            C::Equal => (Equal, Numbers::Integer),
            C::NotEqual => (NotEqual, Numbers::Integer),
            C::Below => (Less, Numbers::Unsigned),
            C::AboveOrEqual => (GreaterOrEqual, Numbers::Unsigned),
            C::BelowOrEqual => (LessOrEqual, Numbers::Unsigned),
            C::Above => (Greater, Numbers::Unsigned),
            C::Less => (Less, Numbers::Signed),
            C::GreaterOrEqual => (GreaterOrEqual, Numbers::Signed),
            C::LessOrEqual => (LessOrEqual, Numbers::Signed),
            C::Greater => (Greater, Numbers::Signed),
            C::Overflow | C::NotOverflow | C::Parity | C::NotParity => return None,
            C::Sign | C::NotSign => {
                let relation = if condition == C::Sign { Less } else { GreaterOrEqual };
                let difference = Operand::Computed(Box::new((left, Binary::Sub, right)));
                let zero = Operand::Constant(0);
                return Some(Comparison {
                    left: difference,
                    relation,
                    right: zero,
                    size,
                    numbers: Numbers::Signed,
                });
            }
        };
        Some(Comparison { left, relation, right, size, numbers })
    }

    /// What a condition says of flags that a result set which cannot overflow nor carry.
    pub(super) fn of_result(condition: Condition, size: Size, result: Operand) -> Option<Comparison> {
        let condition = match condition {
            Condition::Sign => Condition::Less,
            Condition::NotSign => Condition::GreaterOrEqual,
            Condition::Above => Condition::NotEqual,
            Condition::BelowOrEqual => Condition::Equal,
            // The carry is never set.
            Condition::Below | Condition::AboveOrEqual => return None,
            other => other,
        };
        Comparison::of_difference(condition, size, result, Operand::Constant(0))
    }

    /// What a condition says of a carry that is 0 or 1.
    pub(super) fn of_carry(condition: Condition, size: Size, carry: Operand) -> Option<Comparison> {
        let condition = match condition {
            Condition::Below => Condition::NotEqual,
            Condition::AboveOrEqual => Condition::Equal,
            _ => return None,
        };
        Comparison::of_difference(condition, size, carry, Operand::Constant(0))
    }

    /// What a condition says of the flags of comis and ucomis.
    pub(super) fn of_floats(
        condition: Condition,
        size: Size,
        left: Operand,
        right: Operand,
    ) -> Option<Comparison> {
        use Relation::*;
        let relation = match condition {
            Condition::Equal => EqualOrUnordered,
            Condition::NotEqual => LessOrGreater,
            Condition::Below => LessOrUnordered,
            Condition::AboveOrEqual => GreaterOrEqual,
            Condition::BelowOrEqual => LessOrEqualOrUnordered,
            Condition::Above => Greater,
            Condition::Parity => Unordered,
            Condition::NotParity => Ordered,
            _ => return None,
        };
        Some(Comparison { left, relation, right, size, numbers: Numbers::Float })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { left, relation, right, size, numbers } = self;
        let constant = |operand: &Operand| match (operand, numbers) {
            (Operand::Constant(value), Numbers::Signed | Numbers::Integer) => {
                signed(*value, *size).to_string()
            }
            (Operand::Constant(value), _) => value.to_string(),
            _ => operand.to_string(),
        };
        let letter = match numbers {
            Numbers::Integer => 'i',
            Numbers::Signed => 's',
            Numbers::Unsigned => 'u',
            Numbers::Float => 'f',
        };
        write!(f, "{} {relation}.{letter}{} {}", constant(left), size.bits(), constant(right))
    }
}

/// The number that the low bits stand for in two's complement.
pub(super) fn signed(value: u64, size: Size) -> i64 {
    let unused = 64 - size.bits();
    ((value << unused) as i64) >> unused
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::Equal => "==",
            Relation::NotEqual => "!=",
            Relation::Less => "<",
            Relation::LessOrEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterOrEqual => ">=",
            Relation::Unordered => "unordered",
            Relation::Ordered => "ordered",
            Relation::EqualOrUnordered => "==?",
            Relation::LessOrUnordered => "<?",
            Relation::LessOrEqualOrUnordered => "<=?",
            Relation::GreaterOrUnordered => ">?",
            Relation::GreaterOrEqualOrUnordered => ">=?",
            Relation::LessOrGreater => "<>",
        })
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Register(reg) => write!(f, "{reg}"),
            Operand::Constant(value) => write!(f, "{value:#x}"),
            Operand::Memory(memory) => write!(f, "{memory}"),
            Operand::Result(call) => write!(f, "result@{call:#x}"),
            Operand::Bit(address) => write!(f, "bit@{address:#x}"),
            Operand::Computed(parts) => {
                let (a, function, b) = &**parts;
                write!(f, "{}({a}, {b})", format!("{function:?}").to_lowercase())
            }
            Operand::Other => f.write_str("?"),
        }
    }
}

impl fmt::Display for MemoryOperand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.segment.map(|segment| segment.to_string()));
        parts.extend(self.base.as_ref().map(|base| base.to_string()));
        parts.extend(self.index.as_ref().map(|index| format!("{index}*{}", 1u64 << (self.shift & 3))));
        match (self.displacement, parts.is_empty()) {
            (0, false) => write!(f, "[{}]", parts.join(" + ")),
            (displacement, true) => write!(f, "[{displacement:#x}]"),
            (displacement, false) if displacement < 0 => {
                write!(f, "[{} - {:#x}]", parts.join(" + "), displacement.unsigned_abs())
            }
            (displacement, false) => write!(f, "[{} + {displacement:#x}]", parts.join(" + ")),
        }
    }
}
