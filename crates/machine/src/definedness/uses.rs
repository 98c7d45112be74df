//! Where undefined values were used, each place once.

use super::registers::OriginCode;
use crate::Time;
use std::collections::BTreeSet;
use std::ops::Range;

/// What an undefined value was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UseKind {
    /// A conditional jump went by it.
    Condition,
    /// Memory was accessed at an address that depends on it.
    Address,
    /// Control went to an address that depends on it.
    Target,
    /// It was put out.
    Output,
    /// The kernel read it, or was given it as an argument.
    Call,
}

/// Where an undefined value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The instruction at this time loaded it, from memory that nobody had written; so many bytes after the address that it
    /// accessed.
    Load { time: Time, offset: u8 },
    /// It is this memory, which nobody has written.
    Memory(u64),
}

/// One place at which an undefined value was used, for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub time: Time,
    /// The instruction.
    pub address: u64,
    pub kind: UseKind,
    pub origin: Option<Origin>,
}

/// So many places are kept; who has more of them reads no more.
const MOST_USES: usize = 1000;
/// So many calls are known of which the innermost is looked for; a deeper recursion loses its outer half.
const MOST_CALLS: usize = 1 << 20;

#[derive(Default)]
pub struct Uses {
    list: Vec<Use>,
    /// Instructions, and where the code in question called what they belong to.
    seen: BTreeSet<(u64, u64)>,
    /// The code that places are told apart in.
    own: Vec<Range<u64>>,
    /// Calls that have not returned: the address of the return slot, and the return address.
    calls: Vec<(u64, u64)>,
    times: u64,
}

impl Uses {
    pub fn new(own: Vec<Range<u64>>) -> Uses {
        Uses { own, ..Uses::default() }
    }

    pub fn list(&self) -> &[Use] {
        &self.list
    }

    /// How often an undefined value was used.
    pub fn times(&self) -> u64 {
        self.times
    }

    /// A call has put its return address at `slot`.
    pub fn call(&mut self, slot: u64, return_address: u64) {
        self.leave(slot);
        if self.calls.len() >= MOST_CALLS {
            self.calls.drain(..MOST_CALLS / 2);
        }
        self.calls.push((slot, return_address));
    }

    /// Calls whose return slots lie at `stack` or below are over.
    pub fn leave(&mut self, stack: u64) {
        while self.calls.pop_if(|(slot, _)| *slot <= stack).is_some() {}
    }

    #[cold]
    pub fn add(&mut self, time: Time, address: u64, kind: UseKind, origin: Option<Origin>) {
        self.times = self.times.saturating_add(1);
        let is_own = |address: u64| self.own.iter().any(|range| range.contains(&address));
        let caller = match is_own(address) {
            true => 0,
            false => {
                let mut callers = self.calls.iter().rev().map(|(_, return_address)| *return_address);
                callers.find(|caller| is_own(*caller)).unwrap_or(0)
            }
        };
        if self.list.len() < MOST_USES && self.seen.insert((address, caller)) {
            self.list.push(Use { time, address, kind, origin });
        }
    }
}

/// The form in which origins go along with values: the time, and the offset in the low bits; zero is none.
const OFFSET_BITS: u32 = 4;

pub fn encode(time: Time, offset: u8) -> OriginCode {
    (time.0.wrapping_add(1)) << OFFSET_BITS | u64::from(offset & 15)
}

pub fn decode(code: OriginCode) -> Option<Origin> {
    let time = Time((code >> OFFSET_BITS).checked_sub(1)?);
    Some(Origin::Load { time, offset: (code & 15) as u8 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(uses: &mut Uses, address: u64) {
        uses.add(Time(1), address, UseKind::Condition, None);
    }

    #[test]
    fn a_place_is_kept_once_and_what_a_library_does_belongs_to_its_caller() {
        let mut uses = Uses::new(std::iter::once(0x1000..0x2000).collect());
        add(&mut uses, 0x1010);
        add(&mut uses, 0x1010);
        assert_eq!((uses.list().len(), uses.times()), (1, 2));
        for caller in [0x1100, 0x1200, 0x1200] {
            uses.call(0x8000, caller);
            uses.call(0x7000, 0x9999);
            add(&mut uses, 0x9000);
            uses.leave(0x8000);
        }
        assert_eq!((uses.list().len(), uses.times()), (3, 5));
    }

    #[test]
    fn neither_places_nor_calls_grow_without_end() {
        let mut uses = Uses::new(std::iter::once(0..u64::MAX).collect());
        (0..2 * MOST_USES as u64).for_each(|address| add(&mut uses, address));
        assert_eq!(uses.list().len(), MOST_USES);
        (0..=MOST_CALLS as u64).for_each(|call| uses.call(u64::MAX - call, call));
        assert!(uses.calls.len() <= MOST_CALLS);
    }

    #[test]
    fn an_origin_is_a_time_and_an_offset() {
        assert_eq!(decode(0), None);
        let origin = Origin::Load { time: Time(0), offset: 15 };
        assert_eq!(decode(encode(Time(0), 15)), Some(origin));
    }
}
