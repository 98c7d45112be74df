//! Process calls: ending, limits, and what a process can ask about itself and its machine.

use lift::Reg;
use machine::PAGE_SIZE;

use super::nr;
use super::time::timeval;
use crate::elf::ADDRESS_SPACE_END;
use crate::errno::Errno;
use crate::fs::{KERNEL_RELEASE, KERNEL_VERSION};
use crate::kernel::{Args, Call, Exit, PID, SysResult};
use crate::resources::{Limit, RLIMIT_NOFILE};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    Some(match number {
        // With one thread, the end of the thread is the end of the process.
        nr::exit | nr::exit_group => call.exit(args),
        nr::uname => call.uname(args),
        nr::getrlimit => call.getrlimit(args),
        nr::setrlimit => call.setrlimit(args),
        nr::prlimit64 => call.prlimit64(args),
        nr::getrusage => call.getrusage(args),
        nr::sysinfo => call.sysinfo(args),
        nr::prctl => call.prctl(args),
        nr::arch_prctl => call.arch_prctl(args),
        nr::personality => call.personality(args),
        nr::getrandom => call.getrandom(args),
        nr::set_tid_address => Ok(u64::from(PID)),
        nr::set_robust_list if args[1] != 24 => Err(Errno::EINVAL),
        nr::set_robust_list => Ok(0),
        // There are no children, and there never will be.
        nr::wait4 | nr::waitid => Err(Errno::ECHILD),
        _ => return None,
    })
}

impl Call<'_> {
    fn exit(&mut self, [status, ..]: Args) -> SysResult {
        self.synchronise_shared();
        self.end(Exit::Exited((status & 0xff) as i32));
        Ok(0)
    }

    fn uname(&mut self, [result, ..]: Args) -> SysResult {
        const FIELD: usize = 65;
        let fields = ["Linux", "whydunit", KERNEL_RELEASE, KERNEL_VERSION, "x86_64", "(none)"];
        let mut bytes = Vec::with_capacity(FIELD * fields.len());
        for field in fields {
            let end = bytes.len() + FIELD;
            bytes.extend_from_slice(field.as_bytes());
            bytes.resize(end, 0);
        }
        self.guest.write(result, &bytes)?;
        Ok(0)
    }

    fn getrlimit(&mut self, [resource, result, ..]: Args) -> SysResult {
        let limit = self.kernel.resources.get(resource).ok_or(Errno::EINVAL)?;
        self.write_limit(result, limit)?;
        Ok(0)
    }

    fn setrlimit(&mut self, [resource, wanted, ..]: Args) -> SysResult {
        self.prlimit64([0, resource, wanted, 0, 0, 0])
    }

    fn prlimit64(&mut self, [process, resource, new, old, ..]: Args) -> SysResult {
        if process as u32 != 0 && process as u32 != PID {
            return Err(Errno::ESRCH);
        }
        let limit = self.kernel.resources.get(resource).ok_or(Errno::EINVAL)?;
        let wanted = match new {
            0 => None,
            _ => Some(Limit {
                soft: self.guest.read_u64(new)?,
                hard: self.guest.read_u64(new.wrapping_add(8))?,
            }),
        };
        if let Some(wanted) = wanted {
            if wanted.soft > wanted.hard {
                return Err(Errno::EINVAL);
            }
            if wanted.hard > limit.hard && !self.kernel.files.credentials().is_root() {
                return Err(Errno::EPERM);
            }
        }
        if old != 0 {
            self.write_limit(old, limit)?;
        }
        if let Some(wanted) = wanted {
            self.kernel.resources.set(resource, wanted);
            if resource == RLIMIT_NOFILE {
                self.kernel.files.limit_descriptors(wanted.soft);
            }
        }
        Ok(0)
    }

    fn write_limit(&mut self, address: u64, limit: Limit) -> Result<(), Errno> {
        self.guest.write_u64(address, limit.soft)?;
        self.guest.write_u64(address.wrapping_add(8), limit.hard)
    }

    fn getrusage(&mut self, [who, result, ..]: Args) -> SysResult {
        const CHILDREN: i32 = -1;
        const THREAD: i32 = 1;
        let who = who as i32;
        if !(CHILDREN..=THREAD).contains(&who) {
            return Err(Errno::EINVAL);
        }
        let mut bytes = vec![0u8; 144];
        if who != CHILDREN {
            self.kernel.clock.ask();
            let used = timeval(self.kernel.clock.elapsed());
            let resident = self.guest.memory.resident_pages() * PAGE_SIZE / 1024;
            bytes.splice(0..16, used);
            bytes.splice(32..40, resident.to_le_bytes());
        }
        self.guest.write(result, &bytes)?;
        Ok(0)
    }

    fn sysinfo(&mut self, [result, ..]: Args) -> SysResult {
        let total = self.kernel.limits.memory;
        let mut bytes = vec![0u8; 112];
        bytes.splice(0..8, self.kernel.clock.ask_monotonic().as_secs().to_le_bytes());
        bytes.splice(32..40, total.to_le_bytes());
        bytes.splice(40..48, (total / 2).to_le_bytes());
        bytes.splice(80..82, 1u16.to_le_bytes());
        bytes.splice(104..108, 1u32.to_le_bytes());
        self.guest.write(result, &bytes)?;
        Ok(0)
    }

    fn prctl(&mut self, [option, argument, ..]: Args) -> SysResult {
        const SET_NAME: u64 = 15;
        const GET_NAME: u64 = 16;
        const NAME_LENGTH: usize = 15;
        match option {
            SET_NAME => {
                let name = match self.guest.read_string(argument, NAME_LENGTH)? {
                    Some(name) => name,
                    None => self.guest.read_vec(argument, NAME_LENGTH as u64)?,
                };
                self.kernel.name = name.into();
                Ok(0)
            }
            GET_NAME => {
                let mut bytes = [0u8; NAME_LENGTH + 1];
                for (to, from) in bytes.iter_mut().take(NAME_LENGTH).zip(self.kernel.name.iter()) {
                    *to = *from;
                }
                self.guest.write(argument, &bytes)?;
                Ok(0)
            }
            // Dumpable.
            3 => Ok(1),
            // Parent death signal, dumpable, keep capabilities, timer slack, subreaper, no new privileges,
            // transparent huge pages, the allowed tracer: nothing here depends on them.
            1 | 4 | 8 | 29 | 36 | 38 | 41 | 0x5961_6d61 => Ok(0),
            // Their getters: keep capabilities, no new privileges, transparent huge pages.
            7 | 39 | 42 => Ok(0),
            // Timer slack in nanoseconds.
            30 => Ok(50_000),
            // Whether the bounding set has a capability.
            23 if argument <= 40 => Ok(1),
            _ => Err(Errno::EINVAL),
        }
    }

    fn arch_prctl(&mut self, [option, argument, ..]: Args) -> SysResult {
        const SET_GS: u64 = 0x1001;
        const SET_FS: u64 = 0x1002;
        const GET_FS: u64 = 0x1003;
        const GET_GS: u64 = 0x1004;
        let register = match option {
            SET_GS | GET_GS => Reg::GS_BASE,
            SET_FS | GET_FS => Reg::FS_BASE,
            _ => return Err(Errno::EINVAL),
        };
        if option == GET_FS || option == GET_GS {
            let value = self.cpu.get(register);
            self.guest.write_u64(argument, value)?;
        } else if argument >= ADDRESS_SPACE_END {
            return Err(Errno::EPERM);
        } else {
            self.cpu.set(register, argument);
        }
        Ok(0)
    }

    fn personality(&mut self, [wanted, ..]: Args) -> SysResult {
        /// Addresses are not randomised: always so, whether it is asked for or not.
        const NO_RANDOMIZE: u64 = 0x004_0000;
        const ASK: u32 = u32::MAX;
        match wanted as u32 {
            ASK => Ok(NO_RANDOMIZE),
            wanted if u64::from(wanted) & !NO_RANDOMIZE == 0 => Ok(NO_RANDOMIZE),
            _ => Err(Errno::EINVAL),
        }
    }

    fn getrandom(&mut self, [buffer, length, flags, ..]: Args) -> SysResult {
        const KNOWN: u64 = 7;
        const MOST: u64 = (1 << 25) - 1;
        if flags & !KNOWN != 0 {
            return Err(Errno::EINVAL);
        }
        let length = length.min(MOST);
        let mut done = 0;
        while done < length {
            let count = (length - done).min(4096);
            let bytes = self.kernel.random.bytes(count as usize);
            self.guest.write(buffer.wrapping_add(done), &bytes)?;
            done += count;
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rig, SCRATCH};

    #[test]
    fn the_exit_status_is_one_byte_and_the_first_one_stands() {
        let mut rig = Rig::new();
        assert_eq!(rig.call(nr::exit_group, &[0x1_0000_0103]), Ok(0));
        assert_eq!(rig.kernel.ended, Some(Exit::Exited(3)));
        assert_eq!(rig.call(nr::exit, &[4]), Ok(0));
        assert_eq!(rig.kernel.ended, Some(Exit::Exited(3)));
    }

    #[test]
    fn an_unknown_call_fails_with_one_warning_that_names_it() {
        let mut rig = Rig::new();
        for number in [nr::fork, nr::socket, nr::fork, 12345] {
            const INTERNET: u64 = 2;
            assert_eq!(rig.call(number, &[INTERNET]), Err(Errno::ENOSYS));
        }
        let warnings = rig.kernel.warnings.list();
        assert_eq!(warnings.len(), 3);
        assert!(
            warnings[0].contains("fork") && warnings[1].contains("socket") && warnings[2].contains("12345")
        );
    }

    #[test]
    fn calls_that_every_program_tries_fail_silently() {
        let mut rig = Rig::new();
        for number in [nr::rseq, nr::clone3, nr::membarrier, nr::socket] {
            assert_eq!(rig.call(number, &[1]), Err(Errno::ENOSYS));
        }
        assert!(rig.kernel.warnings.list().is_empty());
    }

    #[test]
    fn the_segment_bases_are_set_and_read() {
        let mut rig = Rig::new();
        assert_eq!(rig.call(nr::arch_prctl, &[0x1002, 0x1234]), Ok(0));
        assert_eq!(rig.cpu.get(Reg::FS_BASE), 0x1234);
        assert_eq!(rig.call(nr::arch_prctl, &[0x1003, SCRATCH]), Ok(0));
        assert_eq!(rig.get_u64(SCRATCH), 0x1234);
        assert_eq!(rig.call(nr::arch_prctl, &[0x1001, 1 << 47]), Err(Errno::EPERM));
        assert_eq!(rig.call(nr::arch_prctl, &[0x3001, 0]), Err(Errno::EINVAL));
    }

    #[test]
    fn randomness_repeats_itself() {
        let bytes = |rig: &mut Rig| {
            assert_eq!(rig.call(nr::getrandom, &[SCRATCH, 5000, 0]), Ok(5000));
            rig.get(SCRATCH, 5000)
        };
        let (mut one, mut other) = (Rig::new(), Rig::new());
        let first = bytes(&mut one);
        assert_eq!(first, bytes(&mut other));
        assert_ne!(first, bytes(&mut one));
        assert_eq!(one.call(nr::getrandom, &[SCRATCH, 1, 8]), Err(Errno::EINVAL));
        assert_eq!(one.call(nr::getrandom, &[0, 1, 0]), Err(Errno::EFAULT));
    }

    #[test]
    fn limits_are_remembered_and_the_hard_one_is_not_raised() {
        let mut rig = Rig::new();
        const FILES: u64 = 7;
        rig.put(SCRATCH, &[64u64, 512].map(u64::to_le_bytes).concat());
        assert_eq!(rig.call(nr::prlimit64, &[0, FILES, SCRATCH, SCRATCH + 16]), Ok(0));
        assert_eq!(rig.get_u64(SCRATCH + 16), 1024);
        assert_eq!(rig.call(nr::getrlimit, &[FILES, SCRATCH + 16]), Ok(0));
        assert_eq!((rig.get_u64(SCRATCH + 16), rig.get_u64(SCRATCH + 24)), (64, 512));
        rig.put(SCRATCH, &[64u64, 513].map(u64::to_le_bytes).concat());
        assert_eq!(rig.call(nr::setrlimit, &[FILES, SCRATCH]), Err(Errno::EPERM));
        rig.put(SCRATCH, &[64u64, 5].map(u64::to_le_bytes).concat());
        assert_eq!(rig.call(nr::setrlimit, &[FILES, SCRATCH]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::getrlimit, &[16, SCRATCH]), Err(Errno::EINVAL));
        assert_eq!(rig.call(nr::prlimit64, &[1, FILES, 0, 0]), Err(Errno::ESRCH));
    }

    #[test]
    fn the_system_tells_nothing_of_the_host() {
        let mut rig = Rig::new();
        assert_eq!(rig.call(nr::uname, &[SCRATCH]), Ok(0));
        assert_eq!(rig.get(SCRATCH, 6), b"Linux\0");
        assert_eq!(rig.get(SCRATCH + 65, 9), b"whydunit\0");
        assert_eq!(rig.get(SCRATCH + 4 * 65, 7), b"x86_64\0");
        assert_eq!(rig.call(nr::sysinfo, &[SCRATCH]), Ok(0));
        assert_eq!((rig.get_u64(SCRATCH), rig.get_u64(SCRATCH + 32)), (1000, rig.kernel.limits.memory));
        assert_eq!(rig.call(nr::getrusage, &[0, SCRATCH]), Ok(0));
        assert_eq!(rig.call(nr::getrusage, &[2, SCRATCH]), Err(Errno::EINVAL));
    }

    #[test]
    fn the_process_name_is_cut_to_fifteen_bytes() {
        let mut rig = Rig::new();
        rig.put(SCRATCH, b"a very long name indeed\0");
        assert_eq!(rig.call(nr::prctl, &[15, SCRATCH]), Ok(0));
        assert_eq!(rig.call(nr::prctl, &[16, SCRATCH + 64]), Ok(0));
        assert_eq!(rig.get(SCRATCH + 64, 16), b"a very long nam\0");
        assert_eq!(rig.call(nr::prctl, &[9999, 0]), Err(Errno::EINVAL));
    }

    #[test]
    fn every_access_to_guest_memory_is_logged_for_the_last_call_only() {
        use crate::guest::KernelAccess;
        let mut rig = Rig::new();
        rig.put(SCRATCH, &[64u64, 512].map(u64::to_le_bytes).concat());
        rig.call(nr::prlimit64, &[0, 7, SCRATCH, SCRATCH + 32]).unwrap();
        let access = |address, write| KernelAccess { address, length: 16, write };
        assert_eq!(rig.kernel.accesses, [access(SCRATCH, false), access(SCRATCH + 32, true)]);
        rig.call(nr::getpid, &[]).unwrap();
        assert_eq!(rig.kernel.accesses, []);
    }
}
