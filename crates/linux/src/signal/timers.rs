//! Interval timers, as alarm and setitimer set them.
//!
//! The virtual clock stands still while the program computes, so a timer of real time goes off when a sleep passes it. A program
//! that waits for one by computing would wait for ever: for a timer, an instruction also takes a nanosecond. That is the only
//! way for timers of processor time.

use std::time::Duration;

use machine::Time;

use super::{SIGALRM, SIGPROF, SIGVTALRM};

/// The signals of the three timers, by the number that setitimer knows them by.
pub const SIGNALS: [i32; 3] = [SIGALRM, SIGVTALRM, SIGPROF];
pub const REAL: usize = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Timer {
    /// By the clock.
    expiry: Duration,
    /// By instructions.
    deadline: Time,
    interval: Duration,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Timers {
    timers: [Option<Timer>; 3],
}

fn later(now: Time, duration: Duration) -> Time {
    let instructions = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Time(now.0.saturating_add(instructions.max(1)))
}

impl Timers {
    /// Sets a timer to go off after a while, and from then on at intervals; a duration of zero stops it.
    pub fn set(&mut self, which: usize, value: Duration, interval: Duration, elapsed: Duration, now: Time) {
        if let Some(timer) = self.timers.get_mut(which) {
            let expiry = elapsed.saturating_add(value);
            *timer = (!value.is_zero()).then_some(Timer { expiry, deadline: later(now, value), interval });
        }
    }

    /// How long a timer has to go, and its interval.
    pub fn get(&self, which: usize, elapsed: Duration, now: Time) -> (Duration, Duration) {
        let Some(Some(timer)) = self.timers.get(which) else { return (Duration::ZERO, Duration::ZERO) };
        let by_instructions = Duration::from_nanos(timer.deadline.0.saturating_sub(now.0));
        let left = match which {
            REAL => by_instructions.min(timer.expiry.saturating_sub(elapsed)),
            _ => by_instructions,
        };
        // One that is due and has not gone off yet is not one that is stopped.
        (left.max(Duration::from_micros(1)), timer.interval)
    }

    /// When the timer of real time goes off, by the clock.
    pub fn expiry(&self) -> Option<Duration> {
        self.timers[REAL].map(|timer| timer.expiry)
    }

    /// When the next goes off if the program goes on to compute.
    pub fn deadline(&self) -> Time {
        self.timers.iter().flatten().map(|timer| timer.deadline).min().unwrap_or(Time(u64::MAX))
    }

    /// The timers that are due; `elapsed` is the clock, which one that was waited for by computing moves on. Calls `each`
    /// with their signals.
    pub fn go_off(&mut self, elapsed: Duration, now: Time, mut each: impl FnMut(i32)) -> Duration {
        let mut clock = elapsed;
        for (which, (timer, signal)) in self.timers.iter_mut().zip(SIGNALS).enumerate() {
            let is_real = which == REAL;
            let Some(due) = timer.filter(|timer| timer.deadline <= now || is_real && timer.expiry <= elapsed)
            else {
                continue;
            };
            each(signal);
            if is_real {
                clock = clock.max(due.expiry);
            }
            *timer = (!due.interval.is_zero()).then(|| {
                // What was slept through is not made up for.
                let missed = clock.saturating_sub(due.expiry).as_nanos() / due.interval.as_nanos().max(1);
                let steps = u32::try_from(missed).unwrap_or(u32::MAX).saturating_add(1);
                let expiry = due.expiry.saturating_add(due.interval.saturating_mul(steps));
                Timer { expiry, deadline: later(now, due.interval), interval: due.interval }
            });
        }
        clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn off(timers: &mut Timers, elapsed: Duration, now: u64) -> (Vec<i32>, Duration) {
        let mut signals = Vec::new();
        let clock = timers.go_off(elapsed, Time(now), |signal| signals.push(signal));
        (signals, clock)
    }

    #[test]
    fn a_timer_goes_off_once_by_the_clock() {
        let mut timers = Timers::default();
        timers.set(REAL, SECOND, Duration::ZERO, SECOND, Time(0));
        assert_eq!(timers.get(REAL, SECOND, Time(0)), (SECOND, Duration::ZERO));
        assert_eq!(off(&mut timers, SECOND, 5), (vec![], SECOND));
        assert_eq!(off(&mut timers, 2 * SECOND, 5), (vec![SIGALRM], 2 * SECOND));
        assert_eq!(off(&mut timers, 9 * SECOND, 5), (vec![], 9 * SECOND));
        assert_eq!(timers.deadline(), Time(u64::MAX));
    }

    #[test]
    fn computing_long_enough_makes_it_go_off_and_moves_the_clock() {
        let mut timers = Timers::default();
        timers.set(REAL, SECOND, Duration::ZERO, Duration::ZERO, Time(7));
        assert_eq!(timers.deadline(), Time(1_000_000_007));
        assert_eq!(off(&mut timers, Duration::ZERO, 1_000_000_007), (vec![SIGALRM], SECOND));
    }

    #[test]
    fn one_with_an_interval_goes_on_from_where_the_clock_is() {
        let mut timers = Timers::default();
        timers.set(REAL, SECOND, SECOND, Duration::ZERO, Time(0));
        assert_eq!(off(&mut timers, 10 * SECOND + SECOND / 2, 0).0, [SIGALRM]);
        assert_eq!(timers.expiry(), Some(11 * SECOND));
        assert_eq!(off(&mut timers, 10 * SECOND + SECOND / 2, 0).0, []);
    }

    #[test]
    fn timers_of_processor_time_do_not_go_off_in_a_sleep() {
        let mut timers = Timers::default();
        timers.set(2, SECOND, Duration::ZERO, Duration::ZERO, Time(0));
        assert_eq!(off(&mut timers, 100 * SECOND, 0).0, []);
        assert_eq!(off(&mut timers, 100 * SECOND, 1_000_000_000).0, [SIGPROF]);
    }

    #[test]
    fn the_longest_and_the_shortest_times_are_times() {
        let mut timers = Timers::default();
        timers.set(REAL, Duration::MAX, Duration::from_nanos(1), Duration::MAX, Time(u64::MAX));
        assert_eq!(off(&mut timers, Duration::MAX, u64::MAX).0, [SIGALRM]);
        timers.set(REAL, Duration::from_nanos(1), Duration::from_nanos(1), Duration::ZERO, Time(0));
        assert_eq!(off(&mut timers, Duration::MAX, 0).0, [SIGALRM]);
    }
}
