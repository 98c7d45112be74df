//! Why a backward pass looks for a byte.

/// Why a byte is looked for: who used it, how, and how far that user is from the criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// In statement instances; what else is known is in the high bits.
    distance: u32,
    /// The statement instance that used it, by its number.
    pub user: u32,
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

/// Data alone leads here from the criterion.
const DATA: u32 = 1 << 31;
/// Some condition lies on the way here.
const SELECT: u32 = 1 << 30;
/// Only the inner workings of trusted code ask for it.
const INTERNAL: u32 = 1 << 29;
const USE_SHIFT: u32 = 27;
const USES: u32 = 3 << USE_SHIFT;
const MOST_DISTANCE: u32 = (1 << USE_SHIFT) - 1;

impl Need {
    pub(super) const NONE: Need = Need { distance: u32::MAX, user: u32::MAX };

    /// What the criterion itself needs.
    pub fn of_criterion() -> Need {
        Need { distance: DATA, user: 0 }
    }

    /// A data need at some distance.
    #[cfg(test)]
    pub(super) fn at(distance: u32, user: u32) -> Need {
        Need { distance: distance | DATA, user }
    }

    pub fn distance(self) -> u32 {
        self.distance & MOST_DISTANCE
    }

    /// Whether there is a way from the criterion here on which no condition lies.
    pub fn is_data(self) -> bool {
        self.distance & DATA != 0
    }

    /// Whether there is a way from the criterion here by way of a condition.
    pub fn is_select(self) -> bool {
        self.distance & SELECT != 0
    }

    /// Whether only the inner workings of trusted code ask for it: addresses that it computes, conditions that it checks.
    pub fn is_internal(self) -> bool {
        self.distance & INTERNAL != 0
    }

    pub fn how(self) -> Use {
        match (self.distance & USES) >> USE_SHIFT {
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
            Use::Value | Use::Address => self.distance & (DATA | SELECT),
        };
        Need { distance: self.distance & (INTERNAL | MOST_DISTANCE) | uses | ways, ..self }
    }

    /// The same need of what trusted code goes by: how it finds its way is its own business. What it checks is neither data
    /// nor a choice of the program's.
    pub fn used_by_library(self, how: Use) -> Need {
        let ways = match how {
            Use::Control => 0,
            Use::Value | Use::Address => self.distance & (DATA | SELECT),
        };
        let used = self.used_as(how);
        Need { distance: used.distance & !(DATA | SELECT) | ways | INTERNAL, ..self }
    }

    /// The same, asked for by code in scope.
    pub fn in_scope(self) -> Need {
        Need { distance: self.distance & !INTERNAL, ..self }
    }

    /// What a statement instance needs in its turn to serve this need.
    pub fn passed_on(self, instance: u32) -> Need {
        if self.user == instance {
            return self;
        }
        let distance = (self.distance() + 1).min(MOST_DISTANCE);
        Need { distance: self.distance & (DATA | SELECT | INTERNAL) | distance, user: instance }
    }

    /// Of two needs of one byte, the nearer; of two at the same distance that of the later met user, since it is mostly that
    /// one which serves itself. Where the other does, a distance is one more than the least. Whatever way leads here counts.
    pub fn joined(self, other: Need) -> Need {
        let rank = |need: Need| (need.distance(), std::cmp::Reverse((need.user, need.how())));
        let near = if rank(self) <= rank(other) { self } else { other };
        let ways = (self.distance | other.distance) & (DATA | SELECT);
        let internal = self.distance & other.distance & INTERNAL;
        Need { distance: near.distance & (USES | MOST_DISTANCE) | ways | internal, user: near.user }
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
        assert_eq!((second.distance(), second.user, second.how()), (1, 5, Use::Value));
        assert!(second.is_data());
        let third = second.used_as(Use::Control).passed_on(6);
        assert_eq!((third.distance(), third.is_data()), (2, false));
    }

    #[test]
    fn the_nearer_need_stays_and_what_is_data_for_one_is_data() {
        let control = need(1, 7).used_as(Use::Control).used_by_library(Use::Address);
        let joined = control.joined(need(3, 8));
        assert_eq!((joined.distance(), joined.user), (1, 7));
        assert!(joined.is_data() && joined.is_select() && !joined.is_internal());
        assert_eq!(need(2, 3).joined(need(2, 9)).user, 9);
        assert_eq!(need(2, 9).joined(need(2, 3)).user, 9);
    }
}
