//! Where the ways of the spine and of trials that have left it meet again.

use std::collections::HashMap;

use linux::Process;
use machine::Time;
use replay::{Arrival, Diversion, Outcome, Scanner, Writes};

use super::difference::Difference;

/// Instructions that a trial, and the spine, may take to where their ways meet.
const LONGEST_WAY: u64 = 1 << 14;

/// The spine where trials leave it, and how it goes on from there.
pub struct Meeting<'a> {
    before: &'a mut Process,
    join: Option<u64>,
    /// The spine at the join, and where the activation is left.
    there: HashMap<Option<u64>, (Diversion, Arrival)>,
}

/// Where a trial meets the spine.
pub struct Met {
    pub difference: Difference,
    /// When that is, for the spine and for the trial.
    pub spine: Time,
    pub own: Time,
}

impl<'a> Meeting<'a> {
    /// The ways are expected to meet at `join`, and otherwise where the activation is left.
    pub fn new(before: &'a mut Process, join: Option<u64>) -> Meeting<'a> {
        Meeting { before, join, there: HashMap::new() }
    }

    pub fn spine(&mut self) -> &mut Process {
        self.before
    }

    pub fn time(&self) -> Time {
        self.before.machine.time
    }

    /// Runs a trial and the spine to where they meet, and compares them.
    pub fn meet(&mut self, trial: &mut Diversion, written: &Writes, scanner: &mut Scanner) -> Option<Met> {
        if self.before.kernel.signals.timers.deadline() != Time(u64::MAX) {
            return None;
        }
        let mut mine = trial.run_to(self.join, LONGEST_WAY, scanner);
        if !is_plain(&mine) {
            return None;
        }
        let is_there = |arrival: &Arrival| arrival.outcome == Outcome::Reached;
        let is_met = is_there(&mine) && is_there(&self.spine_at(self.join, scanner).1);
        if !is_met && is_there(&mine) {
            let more = trial.run_to(None, LONGEST_WAY, scanner);
            mine = Arrival { outcome: more.outcome, time: more.time, writes: mine.writes };
            mine.writes.join(&more.writes);
        }
        if !is_plain(&mine) {
            return None;
        }
        mine.writes.join(written);
        let place = self.join.filter(|_| is_met);
        let (spine, theirs) = self.spine_at(place, scanner);
        if theirs.outcome != mine.outcome || !is_plain(theirs) {
            return None;
        }
        let (own, there) = (trial.process(), spine.process());
        if own.machine.cpu.rip != there.machine.cpu.rip {
            return None;
        }
        let difference = Difference::between((own, &mine.writes), (there, &theirs.writes))?;
        Some(Met { difference, spine: theirs.time, own: mine.time })
    }

    fn spine_at(&mut self, place: Option<u64>, scanner: &mut Scanner) -> &mut (Diversion, Arrival) {
        self.there.entry(place).or_insert_with(|| {
            let mut spine = Diversion::of(self.before.fork());
            let arrival = spine.run_to(place, LONGEST_WAY, scanner);
            (spine, arrival)
        })
    }
}

/// Whether nothing has happened on the way but what the machine did itself, and the way has an end.
fn is_plain(arrival: &Arrival) -> bool {
    let is_end = matches!(arrival.outcome, Outcome::Reached | Outcome::Left);
    is_end && arrival.writes.system_calls + arrival.writes.other_events == 0
}
