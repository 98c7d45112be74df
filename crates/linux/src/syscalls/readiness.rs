//! poll and select: which descriptors would not block.
//!
//! Readiness only changes by what the guest itself does, so a wait either ends at once, or takes its whole time
//! (which the virtual clock jumps over), or lasts for ever.

use std::time::Duration;

use super::nr;
use crate::errno::Errno;
use crate::fs::{MAX_DESCRIPTORS, Readiness};
use crate::kernel::{Args, Call, SysResult, Waited};

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

    fn ppoll(&mut self, [descriptors, count, timeout, mask, size, _]: Args) -> SysResult {
        let timeout = self.read_timeout(timeout, 1)?;
        self.block_while_waiting(mask, size)?;
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
            0 => self.wait_in_vain(name, timeout),
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
        // The sixth argument leads to the mask and its size.
        if args[5] != 0 {
            let (mask, size) = (self.guest.read_u64(args[5])?, self.guest.read_u64(args[5].wrapping_add(8))?);
            self.block_while_waiting(mask, size)?;
        }
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
            self.wait_in_vain(name, timeout)?;
        }
        for (set, bits) in results {
            self.guest.write(set, &bits)?;
        }
        Ok(ready)
    }

    /// Nothing is ready, and nothing will be.
    fn wait_in_vain(&mut self, name: &'static str, timeout: Timeout) -> SysResult {
        match self.wait(name, timeout) {
            Waited::Elapsed => Ok(0),
            Waited::Interrupted => Err(Errno::EINTR),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::tests::Scratch;
    use crate::kernel::Exit;
    use crate::testing::{Rig, SCRATCH};

    fn poll_entry(descriptor: i32, events: u16) -> Vec<u8> {
        [&descriptor.to_le_bytes()[..], &events.to_le_bytes(), &[0xff, 0xff]].concat()
    }

    fn with_pipe() -> Rig {
        let mut rig = Rig::over(&Scratch::new());
        rig.call(nr::pipe, &[SCRATCH]).unwrap();
        assert_eq!((rig.get_u32(SCRATCH), rig.get_u32(SCRATCH + 4)), (3, 4));
        rig
    }

    #[test]
    fn poll_tells_of_each_descriptor() {
        let mut rig = with_pipe();
        let entries = [(0, POLLIN), (1, POLLIN | POLLOUT), (3, POLLIN), (4, POLLOUT), (77, 0), (-1, POLLIN)];
        let bytes: Vec<u8> = entries.iter().flat_map(|(fd, events)| poll_entry(*fd, *events)).collect();
        rig.put(SCRATCH, &bytes);
        assert_eq!(rig.call(nr::poll, &[SCRATCH, 6, 0]), Ok(4));
        let events: Vec<u16> = (0..6)
            .map(|index| u16::from_le_bytes(rig.get(SCRATCH + index * 8 + 6, 2).try_into().unwrap()))
            .collect();
        assert_eq!(events, [POLLIN, POLLOUT, 0, POLLOUT, POLLNVAL, 0]);
        assert_eq!(rig.call(nr::poll, &[SCRATCH, 5000, 0]), Err(Errno::EINVAL));
    }

    #[test]
    fn waiting_takes_virtual_time_or_for_ever() {
        let mut rig = with_pipe();
        rig.put(SCRATCH, &poll_entry(3, POLLIN));
        let before = rig.kernel.clock.elapsed();
        assert_eq!(rig.call(nr::poll, &[SCRATCH, 1, 1500]), Ok(0));
        assert_eq!(rig.kernel.clock.elapsed() - before, Duration::from_millis(1500));
        rig.call(nr::poll, &[SCRATCH, 1, u64::MAX]).unwrap_err();
        assert_eq!(rig.kernel.ended, Some(Exit::Deadlock { call: "poll" }));
    }

    #[test]
    fn a_closed_pipe_hangs_up_and_breaks() {
        let mut rig = with_pipe();
        rig.call(nr::close, &[4]).unwrap();
        rig.put(SCRATCH, &poll_entry(3, POLLIN));
        assert_eq!(rig.call(nr::poll, &[SCRATCH, 1, 0]), Ok(1));
        assert_eq!(rig.get(SCRATCH + 6, 2), POLLHUP.to_le_bytes());
        rig.call(nr::pipe, &[SCRATCH + 100]).unwrap();
        let (reader, writer) = (rig.get_u32(SCRATCH + 100), rig.get_u32(SCRATCH + 104));
        rig.call(nr::close, &[u64::from(reader)]).unwrap();
        rig.put(SCRATCH, &poll_entry(writer as i32, POLLIN));
        assert_eq!(rig.call(nr::poll, &[SCRATCH, 1, 0]), Ok(1));
        assert_eq!(rig.get(SCRATCH + 6, 2), POLLERR.to_le_bytes());
    }

    #[test]
    fn select_keeps_the_bits_of_what_is_ready() {
        let mut rig = with_pipe();
        rig.put(SCRATCH, &0b01001u64.to_le_bytes());
        rig.put(SCRATCH + 8, &0b10010u64.to_le_bytes());
        rig.put(SCRATCH + 16, &0b00001u64.to_le_bytes());
        assert_eq!(rig.call(nr::select, &[5, SCRATCH, SCRATCH + 8, SCRATCH + 16, 0]), Ok(3));
        let sets = [0, 8, 16].map(|offset| rig.get_u64(SCRATCH + offset));
        assert_eq!(sets, [0b00001, 0b10010, 0]);
        rig.put(SCRATCH, &0b1000u64.to_le_bytes());
        rig.put(SCRATCH + 64, &[0; 16]);
        assert_eq!(rig.call(nr::pselect6, &[5, SCRATCH, 0, 0, SCRATCH + 64, 0]), Ok(0));
        assert_eq!(rig.get_u64(SCRATCH), 0);
        rig.put(SCRATCH, &0b100000u64.to_le_bytes());
        assert_eq!(rig.call(nr::select, &[6, SCRATCH, 0, 0, 0]), Err(Errno::EBADF));
        assert_eq!(rig.call(nr::select, &[u64::MAX, 0, 0, 0, 0]), Err(Errno::EINVAL));
    }
}
