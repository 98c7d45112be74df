//! The name of a point of a run, that has a meaning in other runs too.

use std::fmt;
use std::sync::Arc;

/// The execution index of an instruction that ran: the regions that were open, from the whole run down to the
/// statement. Within one run no two points have the same one, but for points of one iteration of trusted code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index {
    /// The outermost first.
    pub regions: Vec<Region>,
    pub leaf: Leaf,
}

/// A region that contains a point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// An activation of a function in scope.
    Call {
        /// Address of the instruction that called, or 0 where trusted code did.
        site: u64,
        /// The function's first instruction.
        function: u64,
        name: Arc<str>,
        /// Of the call-backs that one call of trusted code makes, which one; else 0.
        number: u64,
        /// How many functions before it have ended in a jump to the next one, in this activation.
        jumps: u64,
    },
    /// A call of trusted code, which calls back.
    Trusted { site: u64, line: Option<u32> },
    /// A side of a condition.
    Side {
        /// Address of the first instruction that decides.
        condition: u64,
        line: Option<u32>,
        side: Side,
        /// How often the condition was decided since the region was first entered, from 1: which iteration of a loop.
        count: u64,
    },
    /// A loop that no condition of it can end, or what comes after a jump back into an activation.
    Again {
        /// Address of the loop's first instruction, or of the function's.
        address: u64,
        line: Option<u32>,
        count: u64,
    },
}

/// Which way a condition went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    True,
    False,
    /// The first or second exit, where it is not known which one stands for true.
    First,
    Second,
    /// A case of a switch, by the lowest number that leads to it.
    Case(i64),
    Default,
    /// Of a jump of which no more is known than where it goes.
    To(u64),
}

/// The point itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Leaf {
    /// Of the instruction; in trusted code, of the call that led there, or 0.
    pub address: u64,
    pub line: Option<u32>,
}

/// `main · 12 true · 19 true · 20`
impl fmt::Display for Index {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for region in &self.regions {
            write!(formatter, "{region} · ")?;
        }
        place(formatter, self.leaf.address, self.leaf.line)
    }
}

impl fmt::Display for Region {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Region::Call { name, number, jumps, .. } => {
                formatter.write_str(name)?;
                repeated(formatter, *number)?;
                repeated(formatter, jumps.saturating_add(1))
            }
            Region::Trusted { site: 0, .. } => formatter.write_str("start"),
            Region::Trusted { site, line } => place(formatter, *site, *line),
            Region::Side { condition, line, side, count } => {
                place(formatter, *condition, *line)?;
                write!(formatter, " {side}")?;
                repeated(formatter, *count)
            }
            Region::Again { address, line, count } => {
                place(formatter, *address, *line)?;
                formatter.write_str(" again")?;
                repeated(formatter, *count)
            }
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Side::True => formatter.write_str("true"),
            Side::False => formatter.write_str("false"),
            Side::First => formatter.write_str("first"),
            Side::Second => formatter.write_str("second"),
            Side::Case(value) => write!(formatter, "case {value}"),
            Side::Default => formatter.write_str("default"),
            Side::To(address) => write!(formatter, "to {address:#x}"),
        }
    }
}

/// A line, or an address where there is none.
fn place(formatter: &mut fmt::Formatter<'_>, address: u64, line: Option<u32>) -> fmt::Result {
    match line {
        Some(line) => write!(formatter, "{line}"),
        None if address == 0 => formatter.write_str("start"),
        None => write!(formatter, "{address:#x}"),
    }
}

/// The first of several is not numbered.
fn repeated(formatter: &mut fmt::Formatter<'_>, count: u64) -> fmt::Result {
    if count > 1 { write!(formatter, " ({count})") } else { Ok(()) }
}
