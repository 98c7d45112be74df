//! Identity calls: process, session, user and group ids, and capabilities.

use super::nr;
use crate::errno::Errno;
use crate::fs::Credentials;
use crate::kernel::{Args, Call, PARENT_PID, PID, SysResult};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    let [first, second, third, ..] = args.map(|argument| argument as u32);
    Some(match number {
        nr::getpid | nr::gettid | nr::getpgrp => Ok(u64::from(PID)),
        nr::getppid => Ok(u64::from(PARENT_PID)),
        nr::getpgid => own_process(first).map(|()| u64::from(PID)),
        nr::setpgid => own_process(first).map(|()| 0),
        // The session is that of the shell which started the process.
        nr::getsid => own_process(first).map(|()| u64::from(PARENT_PID)),
        // A process that leads its group cannot open a session.
        nr::setsid => Err(Errno::EPERM),
        nr::getuid | nr::geteuid => Ok(u64::from(call.kernel.files.credentials().user)),
        nr::getgid | nr::getegid => Ok(u64::from(call.kernel.files.credentials().group)),
        nr::getresuid => call.write_three(args, |credentials| credentials.user),
        nr::getresgid => call.write_three(args, |credentials| credentials.group),
        nr::getgroups => call.getgroups(args),
        nr::setuid => call.become_user([first; 3]),
        nr::setreuid => call.become_user([first, second, KEEP]),
        nr::setresuid => call.become_user([first, second, third]),
        nr::setgid => call.become_group([first; 3]),
        nr::setregid => call.become_group([first, second, KEEP]),
        nr::setresgid => call.become_group([first, second, third]),
        // These return the id that stays.
        nr::setfsuid => Ok(u64::from(call.kernel.files.credentials().user)),
        nr::setfsgid => Ok(u64::from(call.kernel.files.credentials().group)),
        nr::setgroups if call.kernel.files.credentials().is_root() => Ok(0),
        nr::setgroups => Err(Errno::EPERM),
        nr::capget => call.capget(args),
        nr::capset => Ok(0),
        _ => return None,
    })
}

/// -1 for an id that is to stay as it is.
const KEEP: u32 = u32::MAX;

/// A process id argument: 0 and the guest's own are all that there are.
fn own_process(process: u32) -> Result<(), Errno> {
    if process == 0 || process == PID { Ok(()) } else { Err(Errno::ESRCH) }
}

impl Call<'_> {
    /// The real, effective and saved id; they are one.
    fn write_three(
        &mut self,
        [first, second, third, ..]: Args,
        id: impl Fn(&Credentials) -> u32,
    ) -> SysResult {
        let value = id(self.kernel.files.credentials());
        for address in [first, second, third] {
            self.guest.write_u32(address, value)?;
        }
        Ok(0)
    }

    fn getgroups(&mut self, [size, list, ..]: Args) -> SysResult {
        let groups = self.kernel.files.credentials().groups.clone();
        match size as u32 as usize {
            0 => {}
            size if size < groups.len() => return Err(Errno::EINVAL),
            _ => {
                let bytes: Vec<u8> = groups.iter().flat_map(|group| group.to_le_bytes()).collect();
                self.guest.write(list, &bytes)?;
            }
        }
        Ok(groups.len() as u64)
    }

    /// There is one id for real, effective and saved: a change that would make them differ keeps the effective
    /// one, which is what decides about files.
    fn become_user(&mut self, ids: [u32; 3]) -> SysResult {
        let mut credentials = self.kernel.files.credentials().clone();
        let changes = ids.iter().any(|&id| id != KEEP && id != credentials.user);
        if changes && !credentials.is_root() {
            return Err(Errno::EPERM);
        }
        if ids[1] != KEEP {
            credentials.user = ids[1];
            self.kernel.files.set_credentials(credentials);
        }
        Ok(0)
    }

    fn become_group(&mut self, ids: [u32; 3]) -> SysResult {
        let mut credentials = self.kernel.files.credentials().clone();
        let changes = ids.iter().any(|&id| id != KEEP && id != credentials.group);
        if changes && !credentials.is_root() {
            return Err(Errno::EPERM);
        }
        if ids[1] != KEEP {
            credentials.group = ids[1];
            self.kernel.files.set_credentials(credentials);
        }
        Ok(0)
    }

    /// Root has all capabilities, others none.
    fn capget(&mut self, [header, data, ..]: Args) -> SysResult {
        const VERSION_1: u32 = 0x1998_0330;
        const VERSION_2: u32 = 0x2007_1026;
        const VERSION_3: u32 = 0x2008_0522;
        let words = match self.guest.read_u32(header)? {
            VERSION_1 => 1,
            VERSION_2 | VERSION_3 => 2,
            _ => {
                self.guest.write_u32(header, VERSION_3)?;
                return if data == 0 { Ok(0) } else { Err(Errno::EINVAL) };
            }
        };
        own_process(self.guest.read_u32(header.wrapping_add(4))?)?;
        if data == 0 {
            return Ok(0);
        }
        let root = self.kernel.files.credentials().is_root();
        let all = if root { [u32::MAX, 0x1ff] } else { [0, 0] };
        // Effective, permitted, inheritable.
        let bytes: Vec<u8> =
            all.iter().take(words).flat_map(|&bits| [bits, bits, 0]).flat_map(u32::to_le_bytes).collect();
        self.guest.write(data, &bytes)?;
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rig, SCRATCH};

    #[test]
    fn ids_are_constant() {
        let mut rig = Rig::new();
        assert_eq!(rig.call(nr::getpid, &[]), Ok(4242));
        assert_eq!(rig.call(nr::gettid, &[]), Ok(4242));
        assert_eq!(rig.call(nr::getppid, &[]), Ok(4241));
        assert_eq!(rig.call(nr::getpgid, &[0]), Ok(4242));
        assert_eq!(rig.call(nr::getpgid, &[1]), Err(Errno::ESRCH));
    }

    #[test]
    fn a_user_can_only_become_what_it_is_and_root_anyone() {
        let mut rig = Rig::new();
        let user = u64::from(rig.kernel.files.credentials().user);
        assert_eq!(rig.call(nr::setuid, &[user]), Ok(0));
        assert_eq!(rig.call(nr::setuid, &[0]), Err(Errno::EPERM));
        assert_eq!(rig.call(nr::setresgid, &[u64::MAX, u64::MAX, u64::MAX]), Ok(0));
        rig.kernel.files.set_credentials(Credentials { user: 0, group: 0, groups: [].into() });
        assert_eq!(rig.call(nr::setgid, &[5]), Ok(0));
        assert_eq!(rig.call(nr::setuid, &[5]), Ok(0));
        assert_eq!((rig.call(nr::geteuid, &[]), rig.call(nr::getegid, &[])), (Ok(5), Ok(5)));
        assert_eq!(rig.call(nr::setuid, &[0]), Err(Errno::EPERM));
    }

    #[test]
    fn an_unknown_capability_version_is_answered_with_the_known_one() {
        let mut rig = Rig::new();
        rig.put(SCRATCH, &1u32.to_le_bytes());
        assert_eq!(rig.call(nr::capget, &[SCRATCH, 0]), Ok(0));
        assert_eq!(rig.get_u32(SCRATCH), 0x2008_0522);
        assert_eq!(rig.call(nr::capget, &[SCRATCH, SCRATCH + 16]), Ok(0));
        assert_eq!(rig.get(SCRATCH + 16, 24), vec![0; 24]);
    }
}
