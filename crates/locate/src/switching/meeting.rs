//! Where the ways of the spine and of trials that have left it meet again.

use lift::Reg;
use linux::Process;
use machine::Time;
use replay::{Arrival, Diversion, Outcome, Scanner};

use super::difference::Difference;

/// Instructions that a trial may take to where the ways meet.
const LONGEST_WAY: u64 = 1 << 14;
/// The spine is cut into windows of so many instructions, as a power of two. A way of it is looked for to the end of the next window: so what is found
/// depends on the window alone, not on which trial asked first, and a run without end is no trap.
const WINDOW: u32 = 22;
/// Ways of the spine that are known at a time: each keeps a state of it.
const MOST_WAYS: usize = 16;

/// Where a trial meets the spine.
pub struct Met {
    pub difference: Difference,
    /// When that is, for the spine and for the trial.
    pub spine: Time,
    pub own: Time,
}

/// How the spine goes on from where trials leave it. A way that one trial needs is often that of the next: all rounds of a loop end where it ends.
#[derive(Default)]
pub struct Ways {
    known: Vec<Way>,
}

/// From an activation of the spine to a place in it, or to where it is left.
struct Way {
    place: Option<u64>,
    /// The stack pointer in the activation.
    stack: u64,
    /// The number of the window in which it begins.
    window: u64,
    arrival: Arrival,
    there: Diversion,
}

impl Ways {
    /// Runs a trial that has left the spine, and the spine itself, to where they meet, and compares them. That is expected to be at `join`, and
    /// otherwise where the activation is left.
    pub fn meet(
        &mut self,
        before: &mut Process,
        trial: &mut Diversion,
        join: Option<u64>,
        scanner: &mut Scanner,
    ) -> Option<Met> {
        if before.kernel.signals.timers.deadline() != Time(u64::MAX) {
            return None;
        }
        let mut mine = run(trial, join, scanner)?;
        let mut place = join.filter(|_| mine.outcome == Outcome::Reached);
        if place.is_some() && self.find(before, place, scanner)?.arrival.outcome != Outcome::Reached {
            mine = run(trial, None, scanner)?;
            place = None;
        }
        let way = self.find(before, place, scanner)?;
        let now = before.machine.time;
        let is_plain = way.arrival.last_event.is_none_or(|last| last <= now);
        if way.arrival.outcome != mine.outcome || !is_plain {
            return None;
        }
        let (own, there) = (trial.process(), way.there.process());
        if own.machine.cpu.rip != there.machine.cpu.rip {
            return None;
        }
        let difference = Difference::between(own, there)?;
        Some(Met { difference, spine: way.arrival.time, own: mine.time })
    }

    /// How the spine goes on from where it is. What comes of it is the same whoever asked first.
    fn find(&mut self, before: &mut Process, place: Option<u64>, scanner: &mut Scanner) -> Option<&mut Way> {
        let (now, stack) = (before.machine.time, before.machine.cpu.get(Reg::RSP));
        let window = now.0 >> WINDOW;
        self.known.retain(|way| way.arrival.time > now && way.window == window);
        let is_it = |way: &Way| way.place == place && way.stack == stack;
        if let Some(number) = self.known.iter().position(is_it) {
            return self.known.get_mut(number);
        }
        if self.known.len() >= MOST_WAYS {
            // The one that is over first is the least of a loss.
            let over_first = (0..self.known.len()).min_by_key(|number| self.known[*number].arrival.time)?;
            self.known.swap_remove(over_first);
        }
        let mut there = Diversion::of(before.fork());
        let end = (window + 2) << WINDOW;
        let arrival = there.run_to(place, end - now.0, scanner);
        self.known.push(Way { place, stack, window, arrival, there });
        self.known.last_mut()
    }
}

/// Runs a trial on. `None` if it does not come to the place, nor to where the activation is left, by what the machine does alone.
fn run(trial: &mut Diversion, place: Option<u64>, scanner: &mut Scanner) -> Option<Arrival> {
    let arrival = trial.run_to(place, LONGEST_WAY, scanner);
    let is_there = matches!(arrival.outcome, Outcome::Reached | Outcome::Left);
    (is_there && arrival.last_event.is_none()).then_some(arrival)
}
