//! Signal calls: what a process says about signals, sends itself, and waits for. How a signal takes its effect stands in
//! `signal::delivery`.

use lift::Reg;

use super::nr;
use crate::errno::Errno;
use crate::kernel::{Args, Call, PID, SysResult, Waited};
use crate::signal::{
    self, Action, AlternateStack, FIRST_REAL_TIME, INFORMATION_SIZE, Information, SI_QUEUE, SI_TKILL,
    SI_USER, UNBLOCKABLE,
};

pub fn serve(call: &mut Call<'_>, number: u64, args: Args) -> Option<SysResult> {
    let [first, second, third, ..] = args;
    Some(match number {
        nr::rt_sigaction => call.rt_sigaction(args),
        nr::rt_sigprocmask => call.rt_sigprocmask(args),
        nr::rt_sigpending => call.rt_sigpending(args),
        nr::rt_sigtimedwait => call.rt_sigtimedwait(args),
        nr::rt_sigreturn => call.rt_sigreturn(),
        nr::sigaltstack => call.sigaltstack(args),
        nr::rt_sigsuspend => call.rt_sigsuspend(args),
        nr::pause => call.pause("pause"),
        nr::kill => call.kill(first as i32, second as i32),
        nr::tkill => call.tkill(first as i32, second as i32),
        nr::tgkill if first as i32 <= 0 || second as i32 <= 0 => Err(Errno::EINVAL),
        nr::tgkill if first as i32 != PID as i32 => Err(Errno::ESRCH),
        nr::tgkill => call.tkill(second as i32, third as i32),
        nr::rt_sigqueueinfo => call.queue(first as i32, second as i32, third),
        nr::rt_tgsigqueueinfo if first as i32 <= 0 || second as i32 <= 0 => Err(Errno::EINVAL),
        nr::rt_tgsigqueueinfo if first as i32 != PID as i32 => Err(Errno::ESRCH),
        nr::rt_tgsigqueueinfo => call.queue(second as i32, third as i32, args[3]),
        _ => return None,
    })
}

/// The size of the guest's signal sets; all calls demand it.
const SET_SIZE: u64 = 8;
/// The resource that bounds how many signals wait.
const RLIMIT_SIGPENDING: u64 = 11;

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
        Ok(0)
    }

    fn rt_sigpending(&mut self, [set, size, ..]: Args) -> SysResult {
        if size > SET_SIZE {
            return Err(Errno::EINVAL);
        }
        let signals = &self.kernel.signals;
        let bytes = (signals.pending() & signals.blocked).to_le_bytes();
        self.guest.write(set, bytes.get(..size as usize).unwrap_or_default())?;
        Ok(0)
    }

    /// Takes a pending signal of the set. With none, it waits for one, or for the time-out.
    fn rt_sigtimedwait(&mut self, [set, info, timeout, size, ..]: Args) -> SysResult {
        if size != SET_SIZE {
            return Err(Errno::EINVAL);
        }
        let set = self.guest.read_u64(set)? & !UNBLOCKABLE;
        let timeout = if timeout == 0 { None } else { Some(self.read_timespec(timeout)?) };
        let waited = match self.kernel.signals.pending() & set {
            0 => self.wait_for("rt_sigtimedwait", set, timeout),
            _ => Waited::Elapsed,
        };
        let Some(taken) = self.kernel.signals.take(set) else {
            return Err(if waited == Waited::Elapsed { Errno::EAGAIN } else { Errno::EINTR });
        };
        if info != 0 {
            self.guest.write(info, taken.bytes())?;
        }
        Ok(taken.signal() as u64)
    }

    fn rt_sigsuspend(&mut self, [set, size, ..]: Args) -> SysResult {
        if size != SET_SIZE {
            return Err(Errno::EINVAL);
        }
        let mask = self.guest.read_u64(set)?;
        self.kernel.signals.block_meanwhile(mask);
        self.pause("rt_sigsuspend")
    }

    /// Waits for a signal; never starts again.
    fn pause(&mut self, name: &'static str) -> SysResult {
        self.wait(name, None);
        Err(Errno::EINTR)
    }

    /// The mask that ppoll and its kin block signals by while they wait.
    pub fn block_while_waiting(&mut self, mask: u64, size: u64) -> Result<(), Errno> {
        if mask == 0 {
            return Ok(());
        }
        if size != SET_SIZE {
            return Err(Errno::EINVAL);
        }
        let mask = self.guest.read_u64(mask)?;
        self.kernel.signals.block_meanwhile(mask);
        Ok(())
    }

    fn sigaltstack(&mut self, [new, old, ..]: Args) -> SysResult {
        let current = self.kernel.signals.stack.seen_from(self.cpu.get(Reg::RSP));
        if new != 0 {
            let wanted = AlternateStack {
                start: self.guest.read_u64(new)?,
                flags: self.guest.read_u32(new.wrapping_add(8))?,
                size: self.guest.read_u64(new.wrapping_add(16))?,
            };
            self.set_alternate_stack(wanted)?;
        }
        if old != 0 {
            self.guest.write(old, &current.bytes())?;
        }
        Ok(0)
    }

    fn kill(&mut self, process: i32, number: i32) -> SysResult {
        // Itself; its process group, of which it is the leader and only member; or whoever there is.
        let group = PID as i32;
        if process != group && process != 0 && process != -group && process != -1 {
            return Err(Errno::ESRCH);
        }
        self.send(Information::new(number, SI_USER))
    }

    fn tkill(&mut self, thread: i32, number: i32) -> SysResult {
        match thread {
            ..=0 => Err(Errno::EINVAL),
            _ if thread == PID as i32 => self.send(Information::new(number, SI_TKILL)),
            _ => Err(Errno::ESRCH),
        }
    }

    /// A signal with what the sender wants to say beside it.
    fn queue(&mut self, process: i32, number: i32, information: u64) -> SysResult {
        let bytes: [u8; INFORMATION_SIZE] = self.guest.read_array(information)?;
        if process != PID as i32 {
            return Err(Errno::ESRCH);
        }
        if number == 0 {
            return Ok(0);
        }
        self.kernel.signals.action(number).ok_or(Errno::EINVAL)?;
        let information = Information::given(number, bytes);
        if self.has_too_many_pending(number) && information.code() == SI_QUEUE {
            return Err(Errno::EAGAIN);
        }
        self.kernel.signals.send(information);
        Ok(0)
    }

    /// Sends the process a signal of its own.
    pub fn raise(&mut self, number: i32) -> SysResult {
        self.send(Information::new(number, SI_USER))
    }

    /// Sends the process a signal, from itself; 0 only asks whether that would be possible.
    fn send(&mut self, information: Information) -> SysResult {
        let number = information.signal();
        if number == 0 {
            return Ok(0);
        }
        self.kernel.signals.action(number).ok_or(Errno::EINVAL)?;
        if !self.has_too_many_pending(number) {
            let user = self.kernel.files.credentials().user;
            self.kernel.signals.send(information.sent_by(PID, user));
        }
        Ok(0)
    }

    /// Signals that are counted each time can be sent without end.
    fn has_too_many_pending(&self, number: i32) -> bool {
        const MOST: u64 = 1 << 16;
        let limit = self.kernel.resources.get(RLIMIT_SIGPENDING).map_or(MOST, |limit| limit.soft.min(MOST));
        number >= FIRST_REAL_TIME && self.kernel.signals.pending_count() as u64 >= limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Exit;
    use crate::signal::{SIGABRT, SIGALRM, SIGCHLD, SIGSEGV};
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
        assert_eq!(rig.get_u32(SCRATCH + 40), 0);
        rig.put(SCRATCH, &[0x1000u64, 0, 100].map(u64::to_le_bytes).concat());
        assert_eq!(rig.call(nr::sigaltstack, &[SCRATCH, 0]), Err(Errno::ENOMEM));
    }

    const HANDLER: u64 = 0x40_1000;
    const RESTORER: u64 = 0x40_2000;
    const STACK: u64 = SCRATCH + 0x8000;

    /// A rig whose stack is in the scratch region, with a handler for a signal.
    fn with_handler(number: i32, flags: u64, mask: u64) -> Rig {
        let mut rig = Rig::new();
        rig.cpu.set(Reg::RSP, STACK);
        rig.cpu.rip = 0x1234;
        handle(&mut rig, number, flags, mask);
        rig
    }

    fn handle(rig: &mut Rig, number: i32, flags: u64, mask: u64) {
        let action = [HANDLER + number as u64, flags | Action::RESTORER, RESTORER, mask];
        rig.put(SCRATCH, &action.map(u64::to_le_bytes).concat());
        assert_eq!(rig.call(nr::rt_sigaction, &[number as u64, SCRATCH, 0, 8]), Ok(0));
    }

    fn send(rig: &mut Rig, number: i32) {
        rig.call(nr::tgkill, &[PROCESS, PROCESS, number as u64]).unwrap();
    }

    /// The handler returns, and what is at its return address makes the call.
    fn come_back(rig: &mut Rig) {
        let pointer = rig.cpu.get(Reg::RSP);
        assert_eq!(rig.get_u64(pointer), RESTORER);
        rig.cpu.set(Reg::RSP, pointer + 8);
        rig.call(nr::rt_sigreturn, &[]).unwrap();
    }

    #[test]
    fn a_handler_is_entered_as_by_a_call_and_left_as_if_nothing_had_been() {
        let mut rig = with_handler(SIGUSR1, Action::INFORMATION, signal::bit(SIGABRT));
        rig.cpu.set(Reg::RBX, 77);
        rig.cpu.set_xmm(3, 5 << 100);
        send(&mut rig, SIGUSR1);
        assert_eq!(rig.cpu.rip, HANDLER + SIGUSR1 as u64);
        assert_eq!((rig.cpu.get(Reg::RDI), rig.cpu.get(Reg::RBX)), (SIGUSR1 as u64, 77));
        assert_eq!((rig.cpu.get(Reg::RSP) % 16, rig.cpu.xmm(3)), (8, 0));
        assert_eq!(rig.kernel.signals.blocked, signal::bit(SIGUSR1) | signal::bit(SIGABRT));
        let information = rig.cpu.get(Reg::RSI);
        assert_eq!((rig.get_u32(information), rig.get_u32(information + 8) as i32), (10, SI_TKILL));
        assert_eq!(rig.get_u32(information + 16), PID);
        rig.cpu.set(Reg::RBX, 1);
        come_back(&mut rig);
        assert_eq!((rig.cpu.rip, rig.cpu.get(Reg::RSP), rig.cpu.get(Reg::RBX)), (0x1234, STACK, 77));
        assert_eq!((rig.cpu.get(Reg::RAX), rig.cpu.xmm(3)), (0, 5 << 100));
        assert_eq!(rig.kernel.signals.blocked, 0);
    }

    #[test]
    fn what_a_handler_changes_in_its_context_takes_effect() {
        let mut rig = with_handler(SIGUSR1, Action::INFORMATION, 0);
        send(&mut rig, SIGUSR1);
        let context = rig.cpu.get(Reg::RDX);
        const RIP: u64 = 168;
        const R8: u64 = 40;
        assert_eq!(rig.get_u64(context + RIP), 0x1234);
        rig.put(context + RIP, &0x5678u64.to_le_bytes());
        rig.put(context + R8, &9u64.to_le_bytes());
        come_back(&mut rig);
        assert_eq!((rig.cpu.rip, rig.cpu.get(Reg::R8)), (0x5678, 9));
    }

    #[test]
    fn signals_that_come_together_are_stacked_and_the_last_runs_first() {
        let mut rig = with_handler(SIGUSR1, 0, 0);
        handle(&mut rig, 12, 0, 0);
        rig.put(SCRATCH, &u64::MAX.to_le_bytes());
        rig.call(nr::rt_sigprocmask, &[0, SCRATCH, 0, 8]).unwrap();
        send(&mut rig, 12);
        send(&mut rig, SIGUSR1);
        assert_eq!(rig.cpu.rip, 0x1234);
        rig.put(SCRATCH, &0u64.to_le_bytes());
        rig.call(nr::rt_sigprocmask, &[2, SCRATCH, 0, 8]).unwrap();
        assert_eq!(rig.cpu.rip, HANDLER + 12);
        come_back(&mut rig);
        assert_eq!(rig.cpu.rip, HANDLER + SIGUSR1 as u64);
        come_back(&mut rig);
        assert_eq!((rig.cpu.rip, rig.cpu.get(Reg::RSP)), (0x1234, STACK));
    }

    #[test]
    fn a_handler_can_be_for_once_and_can_leave_its_signal_open() {
        let mut rig = with_handler(SIGUSR1, Action::RESET | Action::NO_DEFER, 0);
        send(&mut rig, SIGUSR1);
        assert_eq!((rig.cpu.rip, rig.kernel.signals.blocked), (HANDLER + SIGUSR1 as u64, 0));
        send(&mut rig, SIGUSR1);
        assert_eq!(rig.kernel.ended, Some(Exit::Killed { signal: SIGUSR1, fault: None }));
    }

    #[test]
    fn without_room_for_a_frame_the_process_dies_of_it() {
        for pointer in [0, 8, SCRATCH + 64, u64::MAX, 1 << 63, 1 << 47] {
            let mut rig = with_handler(SIGUSR1, 0, 0);
            rig.cpu.set(Reg::RSP, pointer);
            send(&mut rig, SIGUSR1);
            assert_eq!(rig.kernel.ended, Some(Exit::Killed { signal: SIGSEGV, fault: None }));
        }
    }

    #[test]
    fn without_room_a_handler_on_another_stack_is_told() {
        let mut rig = with_handler(SIGUSR1, 0, 0);
        handle(&mut rig, SIGSEGV, Action::ON_STACK | Action::INFORMATION, 0);
        rig.put(SCRATCH, &[SCRATCH + 0x2000, 0, 0x2000].map(u64::to_le_bytes).concat());
        assert_eq!(rig.call(nr::sigaltstack, &[SCRATCH, 0]), Ok(0));
        rig.cpu.set(Reg::RSP, 0);
        send(&mut rig, SIGUSR1);
        assert_eq!(rig.kernel.ended, None);
        assert_eq!(rig.cpu.rip, HANDLER + SIGSEGV as u64);
        let pointer = rig.cpu.get(Reg::RSP);
        assert!((SCRATCH + 0x2000..SCRATCH + 0x4000).contains(&pointer));
        assert_eq!(rig.call(nr::sigaltstack, &[SCRATCH, SCRATCH + 64]), Err(Errno::EPERM));
        assert_eq!(rig.call(nr::sigaltstack, &[0, SCRATCH + 64]), Ok(0));
        assert_eq!(rig.get_u32(SCRATCH + 72), AlternateStack::IN_USE);
    }

    #[test]
    fn a_stack_that_is_full_is_not_written_beyond() {
        let mut rig = with_handler(SIGUSR1, Action::ON_STACK | Action::NO_DEFER, 0);
        rig.put(SCRATCH, &[SCRATCH + 0x2000, 0, 0x1000].map(u64::to_le_bytes).concat());
        assert_eq!(rig.call(nr::sigaltstack, &[SCRATCH, 0]), Ok(0));
        let mut count = 0;
        while rig.kernel.ended.is_none() {
            send(&mut rig, SIGUSR1);
            count += 1;
        }
        assert_eq!(rig.kernel.ended, Some(Exit::Killed { signal: SIGSEGV, fault: None }));
        assert_eq!(count, 4);
        assert_eq!(rig.get(SCRATCH + 0x1f00, 0x100), [0; 0x100]);
    }

    #[test]
    fn a_frame_of_rubbish_is_a_fault() {
        for pointer in [0, SCRATCH + 0x4000, SCRATCH + 0xffff, u64::MAX] {
            let mut rig = Rig::new();
            rig.put(SCRATCH + 0x4000, &[0xa5; 0x400]);
            rig.cpu.set(Reg::RSP, pointer);
            rig.call(nr::rt_sigreturn, &[]).unwrap();
            assert_eq!(rig.kernel.ended, Some(Exit::Killed { signal: SIGSEGV, fault: None }));
        }
    }

    #[test]
    fn a_call_that_a_signal_ends_starts_again_if_the_handler_asks_for_it() {
        for (flags, restarts) in [(0, false), (Action::RESTART, true)] {
            let mut rig = with_handler(SIGALRM, flags, 0);
            assert_eq!(rig.call(nr::pipe, &[SCRATCH]), Ok(0));
            let reader = u64::from(rig.get_u32(SCRATCH));
            rig.call(nr::alarm, &[1]).unwrap();
            assert_eq!(rig.call(nr::read, &[reader, SCRATCH, 1]), Err(Errno::EINTR));
            assert_eq!((rig.kernel.ended.clone(), rig.cpu.rip), (None, HANDLER + SIGALRM as u64));
            come_back(&mut rig);
            let expected =
                if restarts { (0x1232, nr::read) } else { (0x1234, Errno::EINTR.as_return_value()) };
            assert_eq!((rig.cpu.rip, rig.cpu.get(Reg::RAX)), expected);
        }
    }

    #[test]
    fn waiting_with_other_signals_blocked_ends_with_the_mask_of_before() {
        let mut rig = with_handler(SIGUSR1, 0, 0);
        rig.put(SCRATCH, &signal::bit(SIGUSR1).to_le_bytes());
        rig.call(nr::rt_sigprocmask, &[0, SCRATCH, 0, 8]).unwrap();
        send(&mut rig, SIGUSR1);
        rig.put(SCRATCH, &signal::bit(SIGABRT).to_le_bytes());
        assert_eq!(rig.call(nr::rt_sigsuspend, &[SCRATCH, 8]), Err(Errno::EINTR));
        assert_eq!(rig.cpu.rip, HANDLER + SIGUSR1 as u64);
        assert_eq!(rig.kernel.signals.blocked, signal::bit(SIGUSR1) | signal::bit(SIGABRT));
        come_back(&mut rig);
        assert_eq!(rig.kernel.signals.blocked, signal::bit(SIGUSR1));
    }

    #[test]
    fn a_signal_can_be_waited_for_instead_of_handled() {
        let mut rig = Rig::new();
        let set = signal::bit(SIGALRM) | signal::bit(40);
        rig.put(SCRATCH, &set.to_le_bytes());
        rig.call(nr::rt_sigprocmask, &[0, SCRATCH, 0, 8]).unwrap();
        let mut queued = [0; INFORMATION_SIZE];
        queued[8..12].copy_from_slice(&SI_QUEUE.to_le_bytes());
        queued[24] = 99;
        rig.put(SCRATCH + 256, &queued);
        assert_eq!(rig.call(nr::rt_sigqueueinfo, &[PROCESS, 40, SCRATCH + 256]), Ok(0));
        assert_eq!(rig.call(nr::rt_sigtimedwait, &[SCRATCH, SCRATCH + 512, 0, 8]), Ok(40));
        assert_eq!((rig.get_u32(SCRATCH + 512), rig.get_u32(SCRATCH + 536)), (40, 99));
        rig.call(nr::alarm, &[3]).unwrap();
        assert_eq!(rig.call(nr::rt_sigtimedwait, &[SCRATCH, 0, 0, 8]), Ok(SIGALRM as u64));
        rig.put(SCRATCH + 64, &[1u64, 0].map(u64::to_le_bytes).concat());
        assert_eq!(rig.call(nr::rt_sigtimedwait, &[SCRATCH, 0, SCRATCH + 64, 8]), Err(Errno::EAGAIN));
        assert_eq!(rig.kernel.ended, None);
    }

    #[test]
    fn signals_cannot_be_queued_without_end() {
        let mut rig = Rig::new();
        rig.put(SCRATCH, &u64::MAX.to_le_bytes());
        rig.call(nr::rt_sigprocmask, &[0, SCRATCH, 0, 8]).unwrap();
        let mut queued = [0; INFORMATION_SIZE];
        queued[8..12].copy_from_slice(&SI_QUEUE.to_le_bytes());
        rig.put(SCRATCH + 256, &queued);
        let refused =
            (0..5000).position(|_| rig.call(nr::rt_sigqueueinfo, &[PROCESS, 40, SCRATCH + 256]).is_err());
        assert_eq!(refused, Some(4096));
    }
}
