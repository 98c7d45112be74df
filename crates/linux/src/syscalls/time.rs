//! Time calls. All of them read the virtual clock; none takes real time.

use std::time::Duration;

use super::nr;
use crate::errno::Errno;
use crate::kernel::{Args, Call, SysResult, Waited};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    Some(match number {
        nr::clock_gettime => call.clock_gettime(args),
        nr::clock_getres => call.clock_getres(args),
        nr::clock_nanosleep => call.clock_nanosleep(args),
        nr::nanosleep => call.nanosleep(args),
        nr::gettimeofday => call.gettimeofday(args),
        nr::time => call.time(args),
        nr::times => call.times(args),
        nr::alarm => call.alarm(args),
        nr::setitimer => call.setitimer(args),
        nr::getitimer => call.getitimer(args),
        nr::clock_settime | nr::settimeofday | nr::adjtimex | nr::clock_adjtime => Err(Errno::EPERM),
        _ => return None,
    })
}

/// Ticks a second, in what times returns.
pub const CLOCK_TICKS: u64 = 100;

const CLOCK_REALTIME: i32 = 0;
const CLOCK_PROCESS_CPUTIME: i32 = 2;
const CLOCK_THREAD_CPUTIME: i32 = 3;
const TIMER_ABSTIME: u64 = 1;
/// The timer that alarm sets.
const REAL: usize = 0;

/// What a clock counts from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Epoch,
    Boot,
    /// Processor time. It has to move for those who measure it, and follows the one clock that there is.
    ProcessStart,
}

fn origin(clock: i32) -> Result<Origin, Errno> {
    match clock {
        // Realtime, its coarse and alarm kinds, and TAI.
        CLOCK_REALTIME | 5 | 8 | 11 => Ok(Origin::Epoch),
        // Monotonic, raw, coarse, boot time and its alarm kind.
        1 | 4 | 6 | 7 | 9 => Ok(Origin::Boot),
        CLOCK_PROCESS_CPUTIME | CLOCK_THREAD_CPUTIME => Ok(Origin::ProcessStart),
        // The clocks of processes and threads by id; the only ones are the guest's own.
        _ if clock < 0 => Ok(Origin::ProcessStart),
        _ => Err(Errno::EINVAL),
    }
}

impl Call<'_> {
    fn clock_gettime(&mut self, [clock, result, ..]: Args) -> SysResult {
        let now = match origin(clock as i32)? {
            Origin::Epoch => self.kernel.clock.ask(),
            Origin::Boot => self.kernel.clock.ask_monotonic(),
            Origin::ProcessStart => {
                self.kernel.clock.ask();
                self.kernel.clock.elapsed()
            }
        };
        self.guest.write(result, &timespec(now))?;
        Ok(0)
    }

    fn clock_getres(&mut self, [clock, result, ..]: Args) -> SysResult {
        origin(clock as i32)?;
        if result != 0 {
            self.guest.write(result, &timespec(Duration::from_nanos(1)))?;
        }
        Ok(0)
    }

    fn nanosleep(&mut self, [request, remaining, ..]: Args) -> SysResult {
        self.clock_nanosleep([CLOCK_REALTIME as u64, 0, request, remaining, 0, 0])
    }

    fn clock_nanosleep(&mut self, [clock, flags, request, remaining, ..]: Args) -> SysResult {
        let origin = origin(clock as i32)?;
        let request = self.read_timespec(request)?;
        let now = match origin {
            Origin::Epoch => self.kernel.clock.peek(),
            Origin::Boot => self.kernel.clock.uptime(),
            Origin::ProcessStart => self.kernel.clock.elapsed(),
        };
        let duration = if flags & TIMER_ABSTIME != 0 { request.saturating_sub(now) } else { request };
        let before = self.kernel.clock.elapsed();
        if self.wait("clock_nanosleep", Some(duration)) == Waited::Elapsed {
            return Ok(0);
        }
        if remaining != 0 && flags & TIMER_ABSTIME == 0 {
            let slept = self.kernel.clock.elapsed().saturating_sub(before);
            self.guest.write(remaining, &timespec(duration.saturating_sub(slept)))?;
        }
        Err(Errno::EINTR)
    }

    fn gettimeofday(&mut self, [result, zone, ..]: Args) -> SysResult {
        if result != 0 {
            let now = self.kernel.clock.ask();
            self.guest.write(result, &timeval(now))?;
        }
        if zone != 0 {
            self.guest.write(zone, &[0; 8])?;
        }
        Ok(0)
    }

    fn time(&mut self, [result, ..]: Args) -> SysResult {
        let now = self.kernel.clock.ask().as_secs();
        if result != 0 {
            self.guest.write_u64(result, now)?;
        }
        Ok(now)
    }

    fn times(&mut self, [result, ..]: Args) -> SysResult {
        let uptime = self.kernel.clock.ask_monotonic();
        if result != 0 {
            // All of the process's time counts as its own; it has no children.
            let mut fields = [0u8; 32];
            let used = ticks(self.kernel.clock.elapsed()).to_le_bytes();
            for (to, from) in fields.iter_mut().zip(used) {
                *to = from;
            }
            self.guest.write(result, &fields)?;
        }
        Ok(ticks(uptime))
    }

    fn alarm(&mut self, [seconds, ..]: Args) -> SysResult {
        let (left, _) = self.timer(REAL);
        self.set_timer(REAL, Duration::from_secs(u64::from(seconds as u32)), Duration::ZERO);
        // Rounded, but not to what would mean that there was none.
        let rounded = left.as_secs() + u64::from(left.subsec_micros() >= 500_000);
        Ok(if left.is_zero() { 0 } else { rounded.max(1) })
    }

    fn setitimer(&mut self, [which, new, old, ..]: Args) -> SysResult {
        let which = timer_number(which)?;
        let wanted = match new {
            0 => (Duration::ZERO, Duration::ZERO),
            _ => {
                let interval = self.read_timeval(new)?;
                (self.read_timeval(new.wrapping_add(16))?, interval)
            }
        };
        let before = self.timer(which);
        self.set_timer(which, wanted.0, wanted.1);
        if old != 0 {
            self.write_timer(old, before)?;
        }
        Ok(0)
    }

    fn getitimer(&mut self, [which, result, ..]: Args) -> SysResult {
        let timer = self.timer(timer_number(which)?);
        self.write_timer(result, timer)?;
        Ok(0)
    }

    /// How long a timer has to go, and its interval.
    fn timer(&self, which: usize) -> (Duration, Duration) {
        self.kernel.signals.timers.get(which, self.kernel.clock.elapsed(), self.time)
    }

    fn set_timer(&mut self, which: usize, value: Duration, interval: Duration) {
        let elapsed = self.kernel.clock.elapsed();
        self.kernel.signals.timers.set(which, value, interval, elapsed, self.time);
    }

    fn write_timer(&mut self, address: u64, (left, interval): (Duration, Duration)) -> Result<(), Errno> {
        self.guest.write(address, &[timeval(interval), timeval(left)].concat())
    }

    /// A struct timeval; EINVAL if it is not a time.
    fn read_timeval(&mut self, address: u64) -> Result<Duration, Errno> {
        let seconds = self.guest.read_i64(address)?;
        let microseconds = self.guest.read_i64(address.wrapping_add(8))?;
        match (u64::try_from(seconds), u32::try_from(microseconds)) {
            (Ok(seconds), Ok(microseconds)) if microseconds < 1_000_000 => {
                Ok(Duration::new(seconds, microseconds * 1000))
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// A struct timespec; EINVAL if it is not a time.
    pub fn read_timespec(&mut self, address: u64) -> Result<Duration, Errno> {
        let seconds = self.guest.read_i64(address)?;
        let nanoseconds = self.guest.read_i64(address.wrapping_add(8))?;
        match (u64::try_from(seconds), u32::try_from(nanoseconds)) {
            (Ok(seconds), Ok(nanoseconds)) if nanoseconds < 1_000_000_000 => {
                Ok(Duration::new(seconds, nanoseconds))
            }
            _ => Err(Errno::EINVAL),
        }
    }
}

fn timer_number(which: u64) -> Result<usize, Errno> {
    match which as u32 {
        which @ 0..=2 => Ok(which as usize),
        _ => Err(Errno::EINVAL),
    }
}

/// A struct timespec.
pub fn timespec(time: Duration) -> [u8; 16] {
    pair(time.as_secs(), u64::from(time.subsec_nanos()))
}

/// A struct timeval.
pub fn timeval(time: Duration) -> [u8; 16] {
    pair(time.as_secs(), u64::from(time.subsec_micros()))
}

fn pair(first: u64, second: u64) -> [u8; 16] {
    (u128::from(first) | u128::from(second) << 64).to_le_bytes()
}

fn ticks(time: Duration) -> u64 {
    (time.as_millis() * u128::from(CLOCK_TICKS) / 1000) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::DEFAULT_START;
    use crate::kernel::Exit;
    use crate::signal::SIGALRM;
    use crate::testing::{Rig, SCRATCH};

    fn now(rig: &mut Rig, clock: i32) -> Duration {
        assert_eq!(rig.call(nr::clock_gettime, &[clock as u64, SCRATCH]), Ok(0));
        Duration::new(rig.get_u64(SCRATCH), rig.get_u64(SCRATCH + 8) as u32)
    }

    #[test]
    fn every_clock_moves_when_asked_and_none_reads_the_host() {
        let mut rig = Rig::new();
        for clock in [0, 1, 2, 3, 4, 5, 6, 7] {
            let first = now(&mut rig, clock);
            let second = now(&mut rig, clock);
            assert_eq!(second - first, Duration::from_micros(1));
        }
        assert_eq!(now(&mut rig, 0).as_secs(), DEFAULT_START.as_secs());
        assert_eq!(rig.call(nr::time, &[0]), Ok(DEFAULT_START.as_secs()));
        assert_eq!(rig.call(nr::clock_gettime, &[99, SCRATCH]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::clock_gettime, &[0, 8]), Err(Errno::EFAULT));
    }

    #[test]
    fn sleeping_moves_the_clock_by_the_whole_time_or_up_to_the_given_instant() {
        let mut rig = Rig::new();
        let before = now(&mut rig, 0);
        rig.put(SCRATCH + 64, &timespec(Duration::from_millis(2500)));
        assert_eq!(rig.call(nr::nanosleep, &[SCRATCH + 64, 0]), Ok(0));
        let after = now(&mut rig, 0);
        assert_eq!(after - before, Duration::from_micros(2_500_001));
        rig.put(SCRATCH + 64, &timespec(after + Duration::from_secs(60)));
        assert_eq!(rig.call(nr::clock_nanosleep, &[0, TIMER_ABSTIME, SCRATCH + 64, 0]), Ok(0));
        assert_eq!(now(&mut rig, 0), after + Duration::from_micros(60_000_001));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let mut rig = Rig::new();
        for (seconds, nanoseconds) in [(-1i64, 0i64), (0, -1), (0, 1_000_000_000)] {
            rig.put(SCRATCH, &seconds.to_le_bytes());
            rig.put(SCRATCH + 8, &nanoseconds.to_le_bytes());
            assert_eq!(rig.call(nr::nanosleep, &[SCRATCH, 0]), Err(Errno::EINVAL));
        }
    }

    #[test]
    fn an_alarm_tells_how_long_the_one_before_had_to_go() {
        let mut rig = Rig::new();
        assert_eq!(rig.call(nr::alarm, &[10]), Ok(0));
        rig.put(SCRATCH, &timespec(Duration::from_millis(2400)));
        assert_eq!(rig.call(nr::nanosleep, &[SCRATCH, 0]), Ok(0));
        assert_eq!(rig.call(nr::alarm, &[0]), Ok(8));
        assert_eq!(rig.call(nr::alarm, &[0]), Ok(0));
    }

    #[test]
    fn a_timer_cuts_a_sleep_short_and_ends_a_process_that_does_not_expect_it() {
        let mut rig = Rig::new();
        rig.put(SCRATCH, &[timeval(Duration::ZERO), timeval(Duration::from_millis(1500))].concat());
        assert_eq!(rig.call(nr::setitimer, &[0, SCRATCH, 0]), Ok(0));
        assert_eq!(rig.call(nr::getitimer, &[0, SCRATCH + 64]), Ok(0));
        assert_eq!((rig.get_u64(SCRATCH + 80), rig.get_u64(SCRATCH + 88)), (1, 500_000));
        rig.put(SCRATCH, &timespec(Duration::from_secs(2)));
        assert_eq!(rig.call(nr::nanosleep, &[SCRATCH, SCRATCH + 32]), Err(Errno::EINTR));
        assert_eq!((rig.get_u64(SCRATCH + 32), rig.get_u64(SCRATCH + 40)), (0, 500_000_000));
        let killed = Exit::Killed { signal: SIGALRM, fault: None };
        assert_eq!(rig.kernel.ended, Some(killed));
    }

    #[test]
    fn what_is_no_timer_is_refused() {
        let mut rig = Rig::new();
        rig.put(SCRATCH, &[0u64, 0, 0, 1_000_000].map(u64::to_le_bytes).concat());
        assert_eq!(rig.call(nr::setitimer, &[0, SCRATCH, 0]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::setitimer, &[3, 0, 0]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::getitimer, &[u64::MAX, SCRATCH]), Err(Errno::EINVAL));
    }
}
