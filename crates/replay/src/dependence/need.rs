//! Why a backward pass looks for a byte.

use std::fmt;

/// Why a byte is looked for: who used it, how, and how far that user is from the criterion.
///
/// One word, stored and read as a whole: what is stored in parts and read as a whole at once makes the host wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Need(u64);

impl fmt::Debug for Need {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ways = [(self.is_data(), "data"), (self.is_select(), "select"), (self.is_internal(), "internal")];
        let ways = ways.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect::<Vec<_>>().join(" ");
        write!(formatter, "{:?} of {} at {} ({ways})", self.how(), self.user(), self.distance())
    }
}

/// How a value is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    Value,
    /// As (a part of) an address that is accessed.
    Address,
    /// By a condition that decides what is executed or chosen.
    Control,
}

const DATA: u32 = Need::DATA;
const SELECT: u32 = Need::SELECT;
/// Only the inner workings of trusted code ask for it.
const INTERNAL: u32 = 1 << 29;
const USE_SHIFT: u32 = 27;
const USES: u32 = 3 << USE_SHIFT;
const MOST_DISTANCE: u32 = (1 << USE_SHIFT) - 1;

impl Need {
    pub(super) const NONE: Need = Need(u64::MAX);
    /// Data alone leads here from the criterion.
    pub(super) const DATA: u32 = 1 << 31;
    /// Some condition lies on the way here.
    pub(super) const SELECT: u32 = 1 << 30;
    /// Something leads here.
    pub(super) const SERVED: u32 = 1;

    /// `knowledge` is the distance with what else is known in the high bits.
    const fn new(knowledge: u32, user: u32) -> Need {
        Need((user as u64) << 32 | knowledge as u64)
    }

    const fn knowledge(self) -> u32 {
        self.0 as u32
    }

    fn with(self, knowledge: u32) -> Need {
        Need::new(knowledge, self.user())
    }

    /// The statement instance that used it, by its number.
    pub const fn user(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Nothing is needed, however it is used.
    pub(super) const fn is_none(self) -> bool {
        self.user() == Need::NONE.user()
    }

    /// What the criterion itself needs.
    pub fn of_criterion() -> Need {
        Need::new(DATA, 0)
    }

    /// What a statement instance makes out of nothing that is looked at.
    pub fn of_instance(instance: u32) -> Need {
        Need::new(DATA, instance)
    }

    /// A data need at some distance.
    #[cfg(test)]
    pub(super) fn at(distance: u32, user: u32) -> Need {
        Need::new(distance | DATA, user)
    }

    pub fn distance(self) -> u32 {
        self.knowledge() & MOST_DISTANCE
    }

    /// The ways that lead here from the criterion: [`SERVED`](Need::SERVED) with [`DATA`](Need::DATA) and [`SELECT`](Need::SELECT), or
    /// either, or none.
    #[inline]
    pub(super) fn ways(self) -> u32 {
        self.knowledge() & (DATA | SELECT) | Need::SERVED
    }

    /// Whether there is a way from the criterion here on which no condition lies.
    pub fn is_data(self) -> bool {
        self.knowledge() & DATA != 0
    }

    /// Whether there is a way from the criterion here by way of a condition.
    pub fn is_select(self) -> bool {
        self.knowledge() & SELECT != 0
    }

    /// Whether only the inner workings of trusted code ask for it: addresses that it computes, conditions that it checks.
    pub fn is_internal(self) -> bool {
        self.knowledge() & INTERNAL != 0
    }

    pub fn how(self) -> Use {
        match (self.knowledge() & USES) >> USE_SHIFT {
            0 => Use::Value,
            1 => Use::Address,
            _ => Use::Control,
        }
    }

    /// The same need of what is used so. What serves an address or a condition does so until its statement ends.
    pub fn used_as(self, how: Use) -> Need {
        let uses = (how.max(self.how()) as u32) << USE_SHIFT;
        let ways = match how {
            Use::Control => SELECT,
            Use::Value | Use::Address => self.knowledge() & (DATA | SELECT),
        };
        self.with(self.knowledge() & (INTERNAL | MOST_DISTANCE) | uses | ways)
    }

    /// The same need of what trusted code goes by: how it finds its way is its own business. What it checks is neither data
    /// nor a choice of the program's.
    pub fn used_by_library(self, how: Use) -> Need {
        let ways = match how {
            Use::Control => 0,
            Use::Value | Use::Address => self.knowledge() & (DATA | SELECT),
        };
        let used = self.used_as(how);
        self.with(used.knowledge() & !(DATA | SELECT) | ways | INTERNAL)
    }

    /// The same of a byte that trusted code has put where it keeps what is its own, for a pass that goes forwards. What such
    /// code then goes by is its own business: [`internal`](Need::is_internal) as well, seen from the other end.
    pub fn kept(self) -> Need {
        self.with(self.knowledge() | INTERNAL)
    }

    /// The same, asked for by code in scope.
    pub fn in_scope(self) -> Need {
        self.with(self.knowledge() & !INTERNAL)
    }

    /// What a statement instance needs in its turn to serve this need.
    pub fn passed_on(self, instance: u32) -> Need {
        if self.user() == instance {
            return self;
        }
        let distance = (self.distance() + 1).min(MOST_DISTANCE);
        Need::new(self.knowledge() & (DATA | SELECT | INTERNAL) | distance, instance)
    }

    /// Of two needs of one byte, the nearer; of two at the same distance that of the later met user, since it is mostly that
    /// one which serves itself. Where the other does, a distance is one more than the least. Whatever way leads here counts.
    pub fn joined(self, other: Need) -> Need {
        if self == other {
            return self;
        }
        let rank = |need: Need| (need.distance(), std::cmp::Reverse((need.user(), need.how())));
        let near = if rank(self) <= rank(other) { self } else { other };
        let ways = (self.knowledge() | other.knowledge()) & (DATA | SELECT);
        let internal = self.knowledge() & other.knowledge() & INTERNAL;
        near.with(near.knowledge() & (USES | MOST_DISTANCE) | ways | internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(distance: u32, user: u32) -> Need {
        Need::at(distance, user)
    }

    #[test]
    fn a_need_grows_by_one_at_another_instance_and_forgets_how_it_was_used() {
        let first = Need::of_criterion().used_as(Use::Address);
        assert_eq!(first.passed_on(0).how(), Use::Address);
        let second = first.passed_on(5);
        assert_eq!((second.distance(), second.user(), second.how()), (1, 5, Use::Value));
        assert!(second.is_data());
        let third = second.used_as(Use::Control).passed_on(6);
        assert_eq!((third.distance(), third.is_data()), (2, false));
    }

    #[test]
    fn the_nearer_need_stays_and_what_is_data_for_one_is_data() {
        let control = need(1, 7).used_as(Use::Control).used_by_library(Use::Address);
        let joined = control.joined(need(3, 8));
        assert_eq!((joined.distance(), joined.user()), (1, 7));
        assert!(joined.is_data() && joined.is_select() && !joined.is_internal());
        assert_eq!(need(2, 3).joined(need(2, 9)).user(), 9);
        assert_eq!(need(2, 9).joined(need(2, 3)).user(), 9);
    }
}
