//! Signal calls: what a process says about signals is remembered, and a signal that it sends to itself takes
//! its default action. Handlers are not run yet.

use super::nr;
use crate::errno::Errno;
use crate::kernel::{Args, Call, Exit, PID, SysResult};
use crate::signal::{self, Action, AlternateStack, DefaultAction};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    let [first, second, third, ..] = args;
    Some(match number {
        nr::rt_sigaction => call.rt_sigaction(args),
        nr::rt_sigprocmask => call.rt_sigprocmask(args),
        nr::rt_sigpending => call.rt_sigpending(args),
        nr::rt_sigtimedwait => call.rt_sigtimedwait(args),
        nr::sigaltstack => call.sigaltstack(args),
        nr::rt_sigsuspend => call.block_forever("rt_sigsuspend"),
        nr::pause => call.block_forever("pause"),
        nr::kill => call.kill(first as i32, second as i32),
        nr::tkill => call.tkill(first as i32, second as i32),
        nr::tgkill if first as i32 <= 0 || second as i32 <= 0 => Err(Errno::EINVAL),
        nr::tgkill if first as i32 != PID as i32 => Err(Errno::ESRCH),
        nr::tgkill => call.tkill(second as i32, third as i32),
        nr::rt_sigqueueinfo => call.kill(first as i32, second as i32),
        nr::rt_tgsigqueueinfo => call.tkill(second as i32, third as i32),
        _ => return None,
    })
}

/// The size of the guest's signal sets; all calls demand it.
const SET_SIZE: u64 = 8;
/// SIGKILL and SIGSTOP can be neither blocked nor handled.
const UNBLOCKABLE: u64 = 1 << (signal::SIGKILL - 1) | 1 << (signal::SIGSTOP - 1);

impl Call<'_> {
    fn rt_sigaction(&mut self, [number, new, old, size, ..]: Args) -> SysResult {
        let number = number as i32;
        let action = self.kernel.signals.action(number).ok_or(Errno::EINVAL)?;
        if size != SET_SIZE || (new != 0 && signal::bit(number) & UNBLOCKABLE != 0) {
            return Err(Errno::EINVAL);
        }
        let wanted = if new == 0 { None } else { Some(self.read_action(new)?) };
        if old != 0 {
            let Action { handler, flags, restorer, mask } = action;
            let fields = [handler, flags, restorer, mask];
            let bytes: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
            self.guest.write(old, &bytes)?;
        }
        if let Some(wanted) = wanted {
            self.kernel.signals.set_action(number, wanted);
        }
        Ok(0)
    }

    fn read_action(&mut self, address: u64) -> Result<Action, Errno> {
        Ok(Action {
            handler: self.guest.read_u64(address)?,
            flags: self.guest.read_u64(address.wrapping_add(8))?,
            restorer: self.guest.read_u64(address.wrapping_add(16))?,
            mask: self.guest.read_u64(address.wrapping_add(24))? & !UNBLOCKABLE,
        })
    }

    fn rt_sigprocmask(&mut self, [how, new, old, size, ..]: Args) -> SysResult {
        const BLOCK: i32 = 0;
        const UNBLOCK: i32 = 1;
        const SET: i32 = 2;
        if size != SET_SIZE {
            return Err(Errno::EINVAL);
        }
        let blocked = self.kernel.signals.blocked;
        if new != 0 {
            let set = self.guest.read_u64(new)?;
            let wanted = match how as i32 {
                BLOCK => blocked | set,
                UNBLOCK => blocked & !set,
                SET => set,
                _ => return Err(Errno::EINVAL),
            };
            self.kernel.signals.blocked = wanted & !UNBLOCKABLE;
        }
        if old != 0 {
            self.guest.write_u64(old, blocked)?;
        }
        self.deliver_pending();
        Ok(0)
    }

    fn rt_sigpending(&mut self, [set, size, ..]: Args) -> SysResult {
        if size > SET_SIZE {
            return Err(Errno::EINVAL);
        }
        let bytes = self.kernel.signals.pending.to_le_bytes();
        self.guest.write(set, bytes.get(..size as usize).unwrap_or_default())?;
        Ok(0)
    }

    /// Takes a pending signal of the set. With none, it waits for the time-out, or for ever.
    fn rt_sigtimedwait(&mut self, [set, info, timeout, size, ..]: Args) -> SysResult {
        if size != SET_SIZE {
            return Err(Errno::EINVAL);
        }
        let found = self.guest.read_u64(set)? & self.kernel.signals.pending;
        if found != 0 {
            let number = found.trailing_zeros() + 1;
            if info != 0 {
                let mut bytes = [0u8; 128];
                bytes[0] = number as u8;
                self.guest.write(info, &bytes)?;
            }
            self.kernel.signals.pending &= !signal::bit(number as i32);
            return Ok(u64::from(number));
        }
        if timeout == 0 {
            return self.block_forever("rt_sigtimedwait");
        }
        let duration = self.read_timespec(timeout)?;
        self.kernel.clock.sleep(duration);
        Err(Errno::EAGAIN)
    }

    fn sigaltstack(&mut self, [new, old, ..]: Args) -> SysResult {
        const SMALLEST: u64 = 2048;
        const AUTODISARM: u32 = 1 << 31;
        let current = self.kernel.signals.stack;
        if new != 0 {
            let start = self.guest.read_u64(new)?;
            let flags = self.guest.read_u32(new.wrapping_add(8))?;
            let size = self.guest.read_u64(new.wrapping_add(16))?;
            self.kernel.signals.stack = match flags & !AUTODISARM {
                AlternateStack::DISABLED => AlternateStack { start: 0, flags, size: 0 },
                0 | 1 if size < SMALLEST => return Err(Errno::ENOMEM),
                0 | 1 => AlternateStack { start, flags: flags & AUTODISARM, size },
                _ => return Err(Errno::EINVAL),
            };
        }
        if old != 0 {
            let mut bytes = [0u8; 24];
            let fields = [current.start, u64::from(current.flags), current.size];
            for (to, from) in bytes.iter_mut().zip(fields.iter().flat_map(|field| field.to_le_bytes())) {
                *to = from;
            }
            self.guest.write(old, &bytes)?;
        }
        Ok(0)
    }

    fn kill(&mut self, process: i32, number: i32) -> SysResult {
        // Itself; its process group, of which it is the leader and only member; or whoever there is.
        let group = PID as i32;
        if process != group && process != 0 && process != -group && process != -1 {
            return Err(Errno::ESRCH);
        }
        self.raise(number)
    }

    fn tkill(&mut self, thread: i32, number: i32) -> SysResult {
        match thread {
            ..=0 => Err(Errno::EINVAL),
            _ if thread == PID as i32 => self.raise(number),
            _ => Err(Errno::ESRCH),
        }
    }

    /// Sends the process a signal; 0 only asks whether that would be possible.
    pub fn raise(&mut self, number: i32) -> SysResult {
        if number == 0 {
            return Ok(0);
        }
        self.kernel.signals.action(number).ok_or(Errno::EINVAL)?;
        self.kernel.signals.pending |= signal::bit(number);
        self.deliver_pending();
        Ok(0)
    }

    /// Lets every pending signal that is not blocked take its effect, lowest number first.
    fn deliver_pending(&mut self) {
        loop {
            let signals = &mut self.kernel.signals;
            let ready = signals.pending & !signals.blocked;
            if ready == 0 || self.kernel.ended.is_some() {
                return;
            }
            let number = ready.trailing_zeros() as i32 + 1;
            signals.pending &= !signal::bit(number);
            self.take_effect(number);
        }
    }

    fn take_effect(&mut self, number: i32) {
        let handler = self.kernel.signals.action(number).map_or(Action::DEFAULT, |action| action.handler);
        if handler == Action::IGNORE {
            return;
        }
        let action = signal::default_action(number);
        if handler != Action::DEFAULT {
            let name = signal::name(number);
            self.kernel.warnings.add(format!(
                "signal handlers are not run yet: {name} took its default action instead of its handler"
            ));
        }
        match action {
            DefaultAction::Ignore => {}
            DefaultAction::Terminate => self.end(Exit::Killed { signal: number, fault: None }),
            DefaultAction::Stop => self.end(Exit::Deadlock { call: "kill" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{SIGABRT, SIGCHLD};
    use crate::testing::{Rig, SCRATCH};

    const SIGUSR1: i32 = 10;
    const PROCESS: u64 = PID as u64;

    fn install(rig: &mut Rig, number: i32, handler: u64) {
        rig.put(SCRATCH, &handler.to_le_bytes());
        rig.put(SCRATCH + 8, &[0; 24]);
        assert_eq!(rig.call(nr::rt_sigaction, &[number as u64, SCRATCH, 0, 8]), Ok(0));
    }

    #[test]
    fn an_action_is_remembered_and_handed_back() {
        let mut rig = Rig::new();
        install(&mut rig, SIGUSR1, 0x1234);
        assert_eq!(rig.call(nr::rt_sigaction, &[SIGUSR1 as u64, 0, SCRATCH + 64, 8]), Ok(0));
        assert_eq!(rig.get_u64(SCRATCH + 64), 0x1234);
        for number in [0, 65, -1] {
            assert_eq!(rig.call(nr::rt_sigaction, &[number as u64, 0, 0, 8]), Err(Errno::EINVAL));
        }
        assert_eq!(rig.call(nr::rt_sigaction, &[9, SCRATCH, 0, 8]), Err(Errno::EINVAL));
    }

    #[test]
    fn a_signal_to_itself_ends_the_process() {
        for (number, args) in [
            (nr::kill, [PROCESS, SIGABRT as u64, 0]),
            (nr::kill, [0, SIGABRT as u64, 0]),
            (nr::tkill, [PROCESS, SIGABRT as u64, 0]),
            (nr::tgkill, [PROCESS, PROCESS, SIGABRT as u64]),
        ] {
            let mut rig = Rig::new();
            assert_eq!(rig.call(number, &args), Ok(0));
            assert_eq!(rig.kernel.ended, Some(Exit::Killed { signal: SIGABRT, fault: None }));
        }
    }

    #[test]
    fn nobody_else_can_be_sent_a_signal() {
        let mut rig = Rig::new();
        assert_eq!(rig.call(nr::kill, &[1, 9]), Err(Errno::ESRCH));
        assert_eq!(rig.call(nr::tgkill, &[1, 1, 9]), Err(Errno::ESRCH));
        assert_eq!(rig.call(nr::kill, &[PROCESS, 0]), Ok(0));
        assert_eq!(rig.call(nr::kill, &[PROCESS, 65]), Err(Errno::EINVAL));
        assert_eq!(rig.kernel.ended, None);
    }

    #[test]
    fn ignored_signals_do_nothing() {
        let mut rig = Rig::new();
        install(&mut rig, SIGUSR1, Action::IGNORE);
        assert_eq!(rig.call(nr::kill, &[PROCESS, SIGUSR1 as u64]), Ok(0));
        assert_eq!(rig.call(nr::kill, &[PROCESS, SIGCHLD as u64]), Ok(0));
        assert_eq!(rig.kernel.ended, None);
    }

    #[test]
    fn a_blocked_signal_waits_until_it_is_unblocked() {
        let mut rig = Rig::new();
        rig.put(SCRATCH, &signal::bit(SIGUSR1).to_le_bytes());
        assert_eq!(rig.call(nr::rt_sigprocmask, &[0, SCRATCH, SCRATCH + 8, 8]), Ok(0));
        assert_eq!(rig.call(nr::kill, &[PROCESS, SIGUSR1 as u64]), Ok(0));
        assert_eq!(rig.kernel.ended, None);
        assert_eq!(rig.call(nr::rt_sigpending, &[SCRATCH + 16, 8]), Ok(0));
        assert_eq!(rig.get_u64(SCRATCH + 16), signal::bit(SIGUSR1));
        assert_eq!(rig.call(nr::rt_sigprocmask, &[1, SCRATCH, 0, 8]), Ok(0));
        assert_eq!(rig.kernel.ended, Some(Exit::Killed { signal: SIGUSR1, fault: None }));
    }

    #[test]
    fn a_handler_is_named_in_a_warning_until_handlers_run() {
        let mut rig = Rig::new();
        install(&mut rig, SIGUSR1, 0x1234);
        assert_eq!(rig.call(nr::kill, &[PROCESS, SIGUSR1 as u64]), Ok(0));
        assert_eq!(rig.kernel.ended, Some(Exit::Killed { signal: SIGUSR1, fault: None }));
        assert!(rig.kernel.warnings.list()[0].contains("SIGUSR1"));
    }

    #[test]
    fn waiting_for_a_signal_that_nobody_can_send_is_a_deadlock() {
        let mut rig = Rig::new();
        assert_eq!(rig.call(nr::pause, &[]), Err(Errno::EINTR));
        assert_eq!(rig.kernel.ended, Some(Exit::Deadlock { call: "pause" }));
    }

    #[test]
    fn an_alternate_stack_is_remembered() {
        let mut rig = Rig::new();
        rig.put(SCRATCH, &[0x1000u64, 0, 8192].map(u64::to_le_bytes).concat());
        assert_eq!(rig.call(nr::sigaltstack, &[SCRATCH, SCRATCH + 32]), Ok(0));
        assert_eq!(rig.get_u32(SCRATCH + 40), AlternateStack::DISABLED);
        assert_eq!(rig.call(nr::sigaltstack, &[0, SCRATCH + 32]), Ok(0));
        assert_eq!((rig.get_u64(SCRATCH + 32), rig.get_u64(SCRATCH + 48)), (0x1000, 8192));
        rig.put(SCRATCH, &[0x1000u64, 0, 100].map(u64::to_le_bytes).concat());
        assert_eq!(rig.call(nr::sigaltstack, &[SCRATCH, 0]), Err(Errno::ENOMEM));
    }
}
