//! The virtual clock.
//!
//! The guest never sees the host's time. Its own starts at a fixed instant and moves only when it is asked for
//! (a little each time, so that a loop that waits for it ends) or slept on; never with instructions, so
//! that a changed stretch of code does not change every later time stamp.

use std::time::Duration;

/// 2024-01-01 00:00:00 UTC.
pub const DEFAULT_START: Duration = Duration::from_secs(1_704_067_200);

/// How far the clock moves each time it is asked.
const STEP: Duration = Duration::from_micros(1);

/// How long the virtual machine claims to have been up when the process starts.
const UPTIME_AT_START: Duration = Duration::from_secs(1000);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Clock {
    start: Duration,
    elapsed: Duration,
}

impl Clock {
    /// `start` is what the clock says when the process starts, as time since 1970.
    pub fn new(start: Duration) -> Clock {
        Clock { start, elapsed: Duration::ZERO }
    }

    /// Time since 1970, after moving the clock by its step.
    pub fn ask(&mut self) -> Duration {
        self.sleep(STEP);
        self.peek()
    }

    /// Time since 1970, without moving the clock: for time stamps that nobody waits on.
    pub fn peek(&self) -> Duration {
        self.start.saturating_add(self.elapsed)
    }

    /// Time since the machine was started, after moving the clock by its step.
    pub fn ask_monotonic(&mut self) -> Duration {
        self.sleep(STEP);
        self.uptime()
    }

    /// Time since the machine was started, without moving the clock.
    pub fn uptime(&self) -> Duration {
        UPTIME_AT_START.saturating_add(self.elapsed)
    }

    /// Time since the process was started, without moving the clock.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// A sleep takes no real time: the clock jumps.
    pub fn sleep(&mut self, duration: Duration) {
        self.elapsed = self.elapsed.saturating_add(duration);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_moves_the_clock_a_little_and_sleeping_by_the_whole_time() {
        let mut clock = Clock::new(DEFAULT_START);
        assert_eq!(clock.ask(), DEFAULT_START + STEP);
        clock.sleep(Duration::from_secs(5));
        assert_eq!(clock.peek(), DEFAULT_START + STEP + Duration::from_secs(5));
        assert_eq!(clock.ask_monotonic(), UPTIME_AT_START + 2 * STEP + Duration::from_secs(5));
    }

    #[test]
    fn an_endless_sleep_saturates() {
        let mut clock = Clock::new(DEFAULT_START);
        clock.sleep(Duration::MAX);
        clock.sleep(Duration::MAX);
        assert_eq!(clock.ask(), Duration::MAX);
    }
}
