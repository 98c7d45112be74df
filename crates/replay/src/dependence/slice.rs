//! What a slice consists of.

use std::collections::BTreeMap;

use linux::Place;
use machine::Time;
use program::Stmt;

use super::code::StmtId;
use super::frames::Instance;
use super::need::Need;
use super::potential::Tried;

/// What a statement has to do with a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How many of its instances are in the slice.
    pub instances: u64,
    /// How many of them the value was computed by: data alone leads there.
    pub data_instances: u64,
    /// How many of them had a part in choosing what computed it: a condition lies on the way.
    pub select_instances: u64,
    /// The least number of steps from an instance of it to the criterion.
    pub distance: u32,
    /// When it first and last did something that the criterion depends on.
    pub first: Time,
    pub last: Time,
    /// Whether one of its branches decided something in the slice, and how often that happened.
    pub decisions: u64,
    /// How often the other side of one of its branches would have changed something in the slice, and how often it only
    /// could have, with conditions on that side forced.
    pub omissions: u64,
    pub weak_omissions: u64,
}

impl Share {
    /// Of a statement that has done nothing yet but at this time.
    pub(super) fn new(time: Time) -> Share {
        Share {
            instances: 0,
            data_instances: 0,
            select_instances: 0,
            distance: u32::MAX,
            first: time,
            last: time,
            decisions: 0,
            omissions: 0,
            weak_omissions: 0,
        }
    }

    /// An instance serves a need.
    #[inline]
    pub(super) fn count(&mut self, need: Need, instance: &mut Instance) {
        self.distance = self.distance.min(need.distance());
        let new = need.ways() & !instance.counted;
        if new != 0 {
            self.instances += u64::from(new & Need::SERVED != 0);
            self.data_instances += u64::from(new & Need::DATA != 0);
            self.select_instances += u64::from(new & Need::SELECT != 0);
            instance.counted |= new;
        }
    }
}

/// The share of a statement, by its number.
pub(super) fn share_of(shares: &mut Vec<Option<Share>>, stmt: StmtId, time: Time) -> &mut Share {
    let index = stmt.0 as usize;
    if shares.len() <= index {
        shares.resize(index + 1, None);
    }
    shares[index].get_or_insert(Share::new(time))
}

/// Where chains of dependence end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A byte of standard input, of a file that was there before, of a pipe that nobody wrote to.
    Input(Place),
    /// Memory as it was when the program began: initialised data, arguments, the environment.
    Initial { address: u64 },
    /// A register as it was then.
    InitialRegister(lift::Reg),
    /// Memory of an activation that had not written it, or that the kernel had just handed out.
    Uninitialised { address: u64 },
    /// What the kernel said.
    Kernel { call: u64 },
    /// What the kernel told a handler of this signal.
    Signal { signal: i32 },
    /// A constant in the code of this statement.
    Constant(Option<Stmt>),
}

/// A slice, statement by statement.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    pub statements: BTreeMap<Stmt, Share>,
    /// Where its chains end, with the least distance of a use. Constants are not listed.
    pub sources: BTreeMap<Source, u32>,
    /// Instances of branches that decided something in it.
    pub decisions: u64,
    /// What was tried to find conditions that should perhaps have gone the other way.
    pub tried: Option<Tried>,
    /// Instructions that the pass looked at.
    pub instructions: u64,
    pub stacks: Stacks,
}

/// How much a pass kept about control at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stacks {
    /// Activations at the same time.
    pub activations: usize,
    /// Blocks of one activation that waited for the branch that decided about them; forwards, its open regions.
    pub waiting: usize,
}

impl Slice {
    /// The statements of its data part.
    pub fn data_part(&self) -> impl Iterator<Item = &Stmt> {
        self.statements.iter().filter(|(_, share)| share.data_instances > 0).map(|(stmt, _)| stmt)
    }

    /// The statements of its select part.
    pub fn select_part(&self) -> impl Iterator<Item = &Stmt> {
        self.statements.iter().filter(|(_, share)| share.select_instances > 0).map(|(stmt, _)| stmt)
    }

    pub fn contains(&self, line: u32) -> bool {
        self.statements.keys().any(|stmt| stmt.line == line)
    }
}
