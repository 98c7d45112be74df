//! From one member of a condition to what its decision leads to.

use std::collections::BTreeMap;

use super::boolean::Boolean;
use super::condition::{Exit, Step};
use super::expression::Place;
use super::flow::Flow;
use super::groups::{Decider, Outcome};
use super::trace::Trace;

/// The most blocks between two members of a condition.
const LONGEST_WALK: usize = 64;

/// A condition whose members are in order.
pub(super) struct Steps<'a> {
    flow: &'a Flow<'a>,
    deciders: &'a [Decider],
    outcome: &'a Outcome,
    /// The value is turned round where the paths meet.
    inverted: bool,
    /// The first member of each block that has any.
    first: BTreeMap<usize, usize>,
}

type Known = BTreeMap<Place, bool>;

impl<'a> Steps<'a> {
    pub fn new(
        flow: &'a Flow<'a>,
        deciders: &'a [Decider],
        outcome: &'a Outcome,
        inverted: bool,
    ) -> Steps<'a> {
        let mut first = BTreeMap::new();
        for (number, decider) in deciders.iter().enumerate().rev() {
            first.insert(decider.block, number);
        }
        Steps { flow, deciders, outcome, inverted, first }
    }

    /// What follows when the member's condition holds (true) or not.
    pub fn step(&self, number: usize, holds: bool) -> Step {
        let Some(decider) = self.deciders.get(number) else { return Step::Unknown };
        match decider.bit {
            None => {
                let successors = self.flow.raw_successors(decider.block);
                let to = successors.get(usize::from(!holds)).copied();
                let known = self.at_end(decider.block);
                to.map_or(Step::Unknown, |to| self.follow(self.flow.land(to), known))
            }
            Some(bit) => self.after_bit(number, decider.block, bit, holds),
        }
    }

    /// What is known of places at the end of a block, by what always comes before it.
    fn at_end(&self, block: usize) -> Known {
        let chain: Vec<usize> = self.flow.chain(block).collect();
        chain.into_iter().rev().fold(Known::new(), |known, block| self.after(block, &known, None))
    }

    fn after_bit(&self, number: usize, block: usize, bit: usize, holds: bool) -> Step {
        let later = |&(_, decider): &(usize, &Decider)| decider.block == block;
        let next = self.deciders.iter().enumerate().skip(number + 1).find(later).map(|(number, _)| number);
        let branches = self.deciders.contains(&Decider { block, bit: None });
        if branches {
            return self.through_branch(block, bit, holds, next);
        }
        let known = self.after(block, &Known::new(), Some((bit, holds)));
        let left = self.left_by(block, bit);
        let [to] = self.flow.successors(block)[..] else { return Step::Unknown };
        let decided = left.iter().any(|(place, _)| known.contains_key(place));
        match next {
            _ if decided => self.follow(to, known),
            Some(next) => Step::Member(next),
            None => {
                let last = left.into_iter().map(|(place, end)| (place, end.when_last(bit, holds)));
                self.follow(to, known.into_iter().chain(last).collect())
            }
        }
    }

    /// A bit by which the branch at the end of the same block decides, together with others.
    fn through_branch(&self, block: usize, bit: usize, holds: bool, next: Option<usize>) -> Step {
        let boolean = self.flow.traces.get(block).and_then(|trace| trace.branch_boolean());
        let known = |part: &Boolean| match part {
            Boolean::Bit { bit: number, .. } if *number == bit => Some(holds),
            _ => None,
        };
        let taken = boolean.and_then(|boolean| Trace::decided(&boolean, &known));
        let to = taken.and_then(|taken| self.flow.successors(block).get(usize::from(!taken)).copied());
        match (to, next) {
            (Some(to), _) => self.follow(to, self.at_end(block)),
            (None, Some(next)) => Step::Member(next),
            (None, None) => Step::Unknown,
        }
    }

    /// What a block makes of a bit in the end, by the places in which it leaves that.
    fn left_by(&self, block: usize, bit: usize) -> Vec<(Place, Boolean)> {
        let Some(trace) = self.flow.traces.get(block) else { return Vec::new() };
        let ends = trace.places().filter_map(|place| Some((place, trace.end(place)?)));
        let mut made: Vec<(Place, Boolean)> = ends.filter(|(_, end)| end.bits().contains(&bit)).collect();
        let most = made.iter().map(|(_, end)| end.bits().len()).max();
        made.retain(|(_, end)| Some(end.bits().len()) == most);
        made
    }

    /// Where the branch of a block leads to that merely asks for a value which is known.
    fn foregone(&self, number: usize, at: usize, known: &Known) -> Option<usize> {
        let is_branch = self.deciders.get(number).is_some_and(|decider| decider.bit.is_none());
        let (place, taken_for) = self.flow.traces.get(at)?.branch_copies().filter(|_| is_branch)?;
        let taken = *known.get(&place)? == taken_for;
        self.flow.successors(at).get(usize::from(!taken)).copied()
    }

    /// What is known of places after a block.
    fn after(&self, block: usize, before: &Known, bit: Option<(usize, bool)>) -> Known {
        let mut known = before.clone();
        let Some(trace) = self.flow.traces.get(block) else { return known };
        let part = |part: &Boolean| match part {
            Boolean::Bit { bit: number, .. } => {
                bit.filter(|(known, _)| known == number).map(|(_, holds)| holds)
            }
            Boolean::Copy { place, .. } => before.get(place).copied(),
            _ => None,
        };
        for place in trace.places() {
            match trace.end(place).and_then(|end| Trace::decided(&end, &part)) {
                Some(value) => known.insert(place, value),
                None => known.remove(&place),
            };
        }
        known
    }

    /// Goes on from the start of a block, along blocks that do not decide.
    fn follow(&self, start: usize, mut known: Known) -> Step {
        let mut at = start;
        for _ in 0..LONGEST_WALK {
            match self.outcome {
                Outcome::Exits(exits) => {
                    if let Some(exit) = exits.iter().position(|exit| *exit == at) {
                        return Step::Exit(Exit::BOTH[exit]);
                    }
                }
                Outcome::Value(join, place) if *join == at => {
                    return known.get(place).map_or(Step::Unknown, |value| {
                        Step::Exit(if *value != self.inverted { Exit::First } else { Exit::Second })
                    });
                }
                Outcome::Value(..) => {}
            }
            if let Some(number) = self.first.get(&at) {
                match self.foregone(*number, at, &known) {
                    Some(next) => {
                        known = self.after(at, &known, None);
                        at = next;
                        continue;
                    }
                    None => return Step::Member(*number),
                }
            }
            let [next] = self.flow.successors(at)[..] else { return Step::Unknown };
            known = self.after(at, &known, None);
            at = next;
        }
        Step::Unknown
    }
}
