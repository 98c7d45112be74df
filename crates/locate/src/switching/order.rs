//! In which order conditions are tried.

use std::collections::HashMap;

use machine::Time;
use replay::{Step, Watch};

use crate::instances::Instances;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Last executed, first switched.
    Lefs,
    /// Those first on which the failure depends, the nearest first; then the others, the last first. Where it is known what of
    /// the input makes the run fail, those before all others that lie on a way from there to the failure.
    #[default]
    Prior,
}

/// How far decisions are from a failure, by dependence.
pub struct Distances<'a> {
    instances: &'a Instances,
    pub found: HashMap<usize, u32>,
    /// When what is wrong was made.
    pub emission: Option<Time>,
}

impl<'a> Distances<'a> {
    pub fn new(instances: &'a Instances) -> Distances<'a> {
        Distances { instances, found: HashMap::new(), emission: None }
    }

    /// What decided at this time is as near as this.
    fn is_at_most(&mut self, time: Time, distance: u32) {
        if let Some(place) = self.instances.at(time) {
            let known = self.found.entry(place).or_insert(distance);
            *known = distance.min(*known);
        }
    }

    /// Of the instance at this place of the list.
    pub fn of(&self, place: usize) -> Option<u32> {
        self.found.get(&place).copied()
    }

    /// The places of all decisions before an instant, in the order in which they are to be tried. Those of `chop` lie on a way from
    /// what makes the input fail, and come before the others.
    pub fn order(&self, order: Order, end: Time, chop: &HashMap<usize, u32>) -> Vec<usize> {
        let count = self.instances.list.partition_point(|instance| instance.time <= end);
        let latest = (0..count).rev();
        match order {
            Order::Lefs => latest.collect(),
            Order::Prior => {
                let mut near: Vec<usize> =
                    self.found.keys().copied().filter(|place| *place < count).collect();
                near.sort_unstable_by_key(|place| {
                    (!chop.contains_key(place), self.of(*place), std::cmp::Reverse(*place))
                });
                near.extend(latest.filter(|place| !self.found.contains_key(place)));
                near
            }
        }
    }
}

impl Watch for Distances<'_> {
    fn step(&mut self, step: Step) {
        if step.user == 0 {
            self.emission = self.emission.max(Some(step.time));
        }
        self.is_at_most(step.time, step.distance);
    }

    fn decides_within(&mut self, time: Time, distance: u32) {
        self.is_at_most(time, distance);
    }
}
