//! poll and select: which descriptors would not block.
//!
//! Readiness only changes by what the guest itself does, so a wait either ends at once, or takes its whole time
//! (which the virtual clock jumps over), or lasts for ever.

use std::time::Duration;

use super::nr;
use crate::errno::Errno;
use crate::fs::{MAX_DESCRIPTORS, Readiness};
use crate::kernel::{Args, Call, SysResult};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    Some(match number {
        nr::poll => call.poll(args),
        nr::ppoll => call.ppoll(args),
        nr::select => call.select(args),
        nr::pselect6 => call.pselect(args),
        _ => return None,
    })
}

const POLLIN: u16 = 0x1;
const POLLOUT: u16 = 0x4;
const POLLERR: u16 = 0x8;
const POLLHUP: u16 = 0x10;
const POLLNVAL: u16 = 0x20;
const POLLRDNORM: u16 = 0x40;
const POLLWRNORM: u16 = 0x100;

/// How long to wait; none is for ever.
type Timeout = Option<Duration>;

impl Call<'_> {
    fn poll(&mut self, [descriptors, count, timeout, ..]: Args) -> SysResult {
        let timeout = u64::try_from(timeout as i32).ok().map(Duration::from_millis);
        self.poll_until("poll", descriptors, count, timeout)
    }

    fn ppoll(&mut self, [descriptors, count, timeout, ..]: Args) -> SysResult {
        let timeout = self.read_timeout(timeout, 1)?;
        self.poll_until("ppoll", descriptors, count, timeout)
    }

    fn poll_until(
        &mut self,
        name: &'static str,
        descriptors: u64,
        count: u64,
        timeout: Timeout,
    ) -> SysResult {
        if count > MAX_DESCRIPTORS as u64 {
            return Err(Errno::EINVAL);
        }
        let bytes = self.guest.read_vec(descriptors, count * 8)?;
        let mut ready = 0;
        for (index, element) in bytes.chunks_exact(8).enumerate() {
            let &[a, b, c, d, low, high, ..] = element else { continue };
            let (descriptor, wanted) = (i32::from_le_bytes([a, b, c, d]), u16::from_le_bytes([low, high]));
            let events = match descriptor {
                ..0 => 0,
                descriptor => self.poll_events(descriptor) & (wanted | POLLERR | POLLHUP | POLLNVAL),
            };
            ready += u64::from(events != 0);
            let result = descriptors.wrapping_add(index as u64 * 8 + 6);
            self.guest.write(result, &events.to_le_bytes())?;
        }
        match ready {
            0 => self.wait(name, timeout),
            ready => Ok(ready),
        }
    }

    fn poll_events(&self, descriptor: i32) -> u16 {
        let Ok(readiness) = self.kernel.files.readiness(descriptor) else { return POLLNVAL };
        let Readiness { readable, writable, hangup, broken } = readiness;
        let event = |condition: bool, bits: u16| if condition { bits } else { 0 };
        event(readable, POLLIN | POLLRDNORM)
            | event(writable, POLLOUT | POLLWRNORM)
            | event(hangup, POLLHUP)
            | event(broken, POLLERR)
    }

    fn select(&mut self, args: Args) -> SysResult {
        // Microseconds.
        let timeout = self.read_timeout(args[4], 1000)?;
        self.select_until("select", args, timeout)
    }

    fn pselect(&mut self, args: Args) -> SysResult {
        let timeout = self.read_timeout(args[4], 1)?;
        self.select_until("pselect6", args, timeout)
    }

    fn select_until(
        &mut self,
        name: &'static str,
        [count, read, write, except, ..]: Args,
        timeout: Timeout,
    ) -> SysResult {
        let count = u64::try_from(count as i32).map_err(|_| Errno::EINVAL)?;
        let count = count.min(MAX_DESCRIPTORS as u64);
        let length = count.div_ceil(64) * 8;
        let mut ready = 0;
        let mut results = Vec::new();
        let sets = [
            (read, POLLIN | POLLHUP | POLLERR),
            (write, POLLOUT | POLLERR),
            // Nothing here is ever exceptional.
            (except, 0),
        ];
        for (set, wanted) in sets {
            if set == 0 {
                continue;
            }
            let mut bits = self.guest.read_vec(set, length)?;
            for descriptor in 0..count as usize {
                let mask = 1u8 << (descriptor % 8);
                let Some(byte) = bits.get_mut(descriptor / 8) else { break };
                if *byte & mask == 0 {
                    continue;
                }
                let events = self.poll_events(descriptor as i32);
                if events & POLLNVAL != 0 {
                    return Err(Errno::EBADF);
                }
                match events & wanted {
                    0 => *byte &= !mask,
                    _ => ready += 1,
                }
            }
            results.push((set, bits));
        }
        if ready == 0 {
            self.wait(name, timeout)?;
        }
        for (set, bits) in results {
            self.guest.write(set, &bits)?;
        }
        Ok(ready)
    }

    /// Nothing is ready, and nothing will be.
    fn wait(&mut self, name: &'static str, timeout: Timeout) -> SysResult {
        match timeout {
            None => self.block_forever(name),
            Some(timeout) => {
                self.kernel.clock.sleep(timeout);
                Ok(0)
            }
        }
    }

    /// A timeval or timespec, whose second half counts so many nanoseconds a unit.
    fn read_timeout(&mut self, address: u64, unit: u64) -> Result<Timeout, Errno> {
        if address == 0 {
            return Ok(None);
        }
        let seconds = self.guest.read_i64(address)?;
        let fraction = self.guest.read_i64(address.wrapping_add(8))?;
        let (Ok(seconds), Ok(fraction)) = (u64::try_from(seconds), u64::try_from(fraction)) else {
            return Err(Errno::EINVAL);
        };
        // A timeval may have more microseconds than a second; a timespec may not have more nanoseconds.
        if unit == 1 && fraction >= 1_000_000_000 {
            return Err(Errno::EINVAL);
        }
        let fraction = Duration::from_nanos(fraction.saturating_mul(unit));
        Ok(Some(Duration::from_secs(seconds).saturating_add(fraction)))
    }
}
