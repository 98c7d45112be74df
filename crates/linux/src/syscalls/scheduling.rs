//! Scheduling calls: one processor, one thread, and futexes that only that thread can ever wake.

use super::nr;
use crate::errno::Errno;
use crate::kernel::{Args, Call, PID, SysResult, Waited};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    Some(match number {
        nr::futex => call.futex(args),
        nr::sched_yield => Ok(0),
        nr::sched_getaffinity => call.sched_getaffinity(args),
        nr::sched_setaffinity => call.sched_setaffinity(args),
        nr::getcpu => call.getcpu(args),
        nr::sched_getscheduler | nr::sched_setscheduler | nr::sched_setparam => Ok(0),
        nr::sched_getparam => call.guest.write_u32(args[1], 0).map(|()| 0),
        nr::sched_get_priority_max => priority_bound(args[0], 99),
        nr::sched_get_priority_min => priority_bound(args[0], 1),
        // The call returns 20 minus the nice value.
        nr::getpriority => Ok(20),
        nr::setpriority | nr::ioprio_set | nr::ioprio_get => Ok(0),
        _ => return None,
    })
}

/// The bound of a policy's priorities: only FIFO and round robin have any.
fn priority_bound(policy: u64, bound: u64) -> SysResult {
    match policy {
        0 | 3 | 5 | 6 => Ok(0),
        1 | 2 => Ok(bound),
        _ => Err(Errno::EINVAL),
    }
}

impl Call<'_> {
    fn futex(&mut self, args: Args) -> SysResult {
        const WAIT: u64 = 0;
        const WAKE: u64 = 1;
        const REQUEUE: u64 = 3;
        const CMP_REQUEUE: u64 = 4;
        const LOCK_PI: u64 = 6;
        const UNLOCK_PI: u64 = 7;
        const TRYLOCK_PI: u64 = 8;
        const WAIT_BITSET: u64 = 9;
        const WAKE_BITSET: u64 = 10;
        const LOCK_PI2: u64 = 13;
        const COMMAND: u64 = 0x7f;
        let [address, operation, value, timeout, _, third] = args;
        if !address.is_multiple_of(4) {
            return Err(Errno::EINVAL);
        }
        match operation & COMMAND {
            WAIT => self.futex_wait(address, value as u32, timeout, None),
            WAIT_BITSET if third as u32 == 0 => Err(Errno::EINVAL),
            WAIT_BITSET => self.futex_wait(address, value as u32, timeout, Some(operation)),
            // Nobody waits, so nobody is woken.
            WAKE | WAKE_BITSET | REQUEUE => self.guest.read_u32(address).map(|_| 0),
            CMP_REQUEUE if self.guest.read_u32(address)? != third as u32 => Err(Errno::EAGAIN),
            CMP_REQUEUE => Ok(0),
            LOCK_PI | LOCK_PI2 | TRYLOCK_PI => match self.guest.read_u32(address)? {
                0 => self.guest.write_u32(address, PID).map(|()| 0),
                PID => Err(Errno::EDEADLK),
                _ if operation & COMMAND == TRYLOCK_PI => Err(Errno::EAGAIN),
                _ => self.block_forever("futex"),
            },
            UNLOCK_PI => match self.guest.read_u32(address)? {
                PID => self.guest.write_u32(address, 0).map(|()| 0),
                _ => Err(Errno::EPERM),
            },
            _ => Err(Errno::ENOSYS),
        }
    }

    /// Waits while the word has a value. Nobody else is there to change it, so only the time-out can end this.
    /// With `absolute` the time-out is an instant, of the clock that the operation names.
    fn futex_wait(&mut self, address: u64, value: u32, timeout: u64, absolute: Option<u64>) -> SysResult {
        const CLOCK_REALTIME: u64 = 256;
        let time = if timeout == 0 { None } else { Some(self.read_timespec(timeout)?) };
        if self.guest.read_u32(address)? != value {
            return Err(Errno::EAGAIN);
        }
        let Some(time) = time else { return self.block_forever("futex") };
        let clock = &self.kernel.clock;
        let duration = match absolute {
            None => time,
            Some(operation) if operation & CLOCK_REALTIME != 0 => time.saturating_sub(clock.peek()),
            Some(_) => time.saturating_sub(clock.uptime()),
        };
        match self.wait("futex", Some(duration)) {
            Waited::Elapsed => Err(Errno::ETIMEDOUT),
            Waited::Interrupted => Err(Errno::EINTR),
        }
    }

    fn sched_getaffinity(&mut self, [process, length, mask, ..]: Args) -> SysResult {
        own_thread(process)?;
        let length = length as u32;
        if length < 8 || !length.is_multiple_of(8) {
            return Err(Errno::EINVAL);
        }
        self.guest.write_u64(mask, 1)?;
        Ok(8)
    }

    fn sched_setaffinity(&mut self, [process, length, mask, ..]: Args) -> SysResult {
        own_thread(process)?;
        let first = if length == 0 { 0 } else { self.guest.read_u8(mask)? };
        if first & 1 == 0 { Err(Errno::EINVAL) } else { Ok(0) }
    }

    fn getcpu(&mut self, [processor, node, ..]: Args) -> SysResult {
        for address in [processor, node] {
            if address != 0 {
                self.guest.write_u32(address, 0)?;
            }
        }
        Ok(0)
    }
}

fn own_thread(thread: u64) -> Result<(), Errno> {
    let thread = thread as u32;
    if thread == 0 || thread == PID { Ok(()) } else { Err(Errno::ESRCH) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Exit;
    use crate::syscalls::time::timespec;
    use crate::testing::{Rig, SCRATCH};
    use std::time::Duration;

    const WAIT_PRIVATE: u64 = 128;

    #[test]
    fn a_wait_that_nobody_can_end_is_a_deadlock() {
        let mut rig = Rig::new();
        assert_eq!(rig.call(nr::futex, &[SCRATCH, WAIT_PRIVATE, 1, 0]), Err(Errno::EAGAIN));
        assert_eq!(rig.kernel.ended, None);
        assert_eq!(rig.call(nr::futex, &[SCRATCH, WAIT_PRIVATE, 0, 0]), Err(Errno::EINTR));
        assert_eq!(rig.kernel.ended, Some(Exit::Deadlock { call: "futex" }));
    }

    #[test]
    fn a_wait_with_a_time_out_takes_virtual_time() {
        let mut rig = Rig::new();
        rig.put(SCRATCH + 16, &timespec(Duration::from_secs(3)));
        let before = rig.kernel.clock.peek();
        assert_eq!(rig.call(nr::futex, &[SCRATCH, WAIT_PRIVATE, 0, SCRATCH + 16]), Err(Errno::ETIMEDOUT));
        assert_eq!(rig.kernel.clock.peek() - before, Duration::from_secs(3));
        let deadline = rig.kernel.clock.uptime() + Duration::from_secs(2);
        rig.put(SCRATCH + 16, &timespec(deadline));
        let wait_bitset = [SCRATCH, WAIT_PRIVATE | 9, 0, SCRATCH + 16, 0, u64::MAX];
        assert_eq!(rig.call(nr::futex, &wait_bitset), Err(Errno::ETIMEDOUT));
        assert_eq!(rig.kernel.clock.uptime(), deadline);
    }

    #[test]
    fn a_wake_wakes_nobody_but_notices_a_bad_address() {
        let mut rig = Rig::new();
        assert_eq!(rig.call(nr::futex, &[SCRATCH, 129, 1]), Ok(0));
        assert_eq!(rig.call(nr::futex, &[8, 129, 1]), Err(Errno::EFAULT));
        assert_eq!(rig.call(nr::futex, &[SCRATCH + 1, 129, 1]), Err(Errno::EINVAL));
    }

    #[test]
    fn there_is_one_processor() {
        let mut rig = Rig::new();
        assert_eq!(rig.call(nr::sched_getaffinity, &[0, 128, SCRATCH]), Ok(8));
        assert_eq!(rig.get_u64(SCRATCH), 1);
        assert_eq!(rig.call(nr::sched_getaffinity, &[0, 4, SCRATCH]), Err(Errno::EINVAL));
        rig.put(SCRATCH, &[2]);
        assert_eq!(rig.call(nr::sched_setaffinity, &[0, 8, SCRATCH]), Err(Errno::EINVAL));
    }
}
