//! Process calls: ending, limits, and what a process can ask about itself and its machine.

use lift::Reg;
use machine::PAGE_SIZE;

use super::nr;
use super::time::timeval;
use crate::elf::ADDRESS_SPACE_END;
use crate::errno::Errno;
use crate::fs::{KERNEL_RELEASE, KERNEL_VERSION};
use crate::kernel::{Args, Call, Exit, PID, SysResult};
use crate::resources::Limit;

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
