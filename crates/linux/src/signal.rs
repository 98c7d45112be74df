//! Signals by number, and what a process has decided to do about each.

mod delivery;
mod frame;
mod information;
mod operands;
mod pending;
mod timers;

use std::sync::Arc;

pub use information::{INFORMATION_SIZE, Trap};
pub use information::{Information, SI_KERNEL, SI_QUEUE, SI_TKILL, SI_USER, of_fault, signal_of};
pub use pending::FIRST_REAL_TIME;
use pending::Pending;
pub use timers::Timers;

pub const SIGHUP: i32 = 1;
pub const SIGILL: i32 = 4;
pub const SIGTRAP: i32 = 5;
pub const SIGABRT: i32 = 6;
pub const SIGBUS: i32 = 7;
pub const SIGFPE: i32 = 8;
pub const SIGKILL: i32 = 9;
pub const SIGSEGV: i32 = 11;
pub const SIGPIPE: i32 = 13;
pub const SIGALRM: i32 = 14;
pub const SIGCHLD: i32 = 17;
pub const SIGCONT: i32 = 18;
pub const SIGSTOP: i32 = 19;
pub const SIGTSTP: i32 = 20;
pub const SIGTTIN: i32 = 21;
pub const SIGTTOU: i32 = 22;
pub const SIGURG: i32 = 23;
pub const SIGVTALRM: i32 = 26;
pub const SIGPROF: i32 = 27;
pub const SIGWINCH: i32 = 28;
pub const SIGSYS: i32 = 31;

/// The highest signal number; there is no signal 0.
pub const LAST: i32 = 64;

const NAMES: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// `SIGSEGV` and the like; real-time signals are `SIGRTMIN+n`, as the C library counts them.
pub fn name(signal: i32) -> String {
    let index = usize::try_from(signal).ok().and_then(|number| number.checked_sub(1));
    match index.and_then(|index| NAMES.get(index)) {
        Some(name) => (*name).to_string(),
        None if signal == 34 => "SIGRTMIN".to_string(),
        None if (35..=LAST).contains(&signal) => format!("SIGRTMIN+{}", signal - 34),
        None => format!("signal {signal}"),
    }
}

/// What a signal does to a process that has not said anything about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultAction {
    Terminate,
    Ignore,
    /// Stop until SIGCONT, which nobody would send.
    Stop,
}

pub fn default_action(signal: i32) -> DefaultAction {
    match signal {
        SIGCHLD | SIGCONT | SIGURG | SIGWINCH => DefaultAction::Ignore,
        SIGSTOP | SIGTSTP | SIGTTIN | SIGTTOU => DefaultAction::Stop,
        _ => DefaultAction::Terminate,
    }
}

/// What rt_sigaction sets, as the guest gave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Action {
    /// 0 is the default action, 1 is to ignore the signal.
    pub handler: u64,
    pub flags: u64,
    pub restorer: u64,
    pub mask: u64,
}

impl Action {
    pub const DEFAULT: u64 = 0;
    pub const IGNORE: u64 = 1;

    /// The handler gets a siginfo.
    pub const INFORMATION: u64 = 4;
    pub const RESTORER: u64 = 0x0400_0000;
    /// It runs on the alternate stack.
    pub const ON_STACK: u64 = 0x0800_0000;
    /// A system call that it interrupts starts again.
    pub const RESTART: u64 = 0x1000_0000;
    /// Its signal is not blocked while it runs.
    pub const NO_DEFER: u64 = 0x4000_0000;
    /// It runs once.
    pub const RESET: u64 = 0x8000_0000;
}

/// SIGKILL and SIGSTOP can be neither blocked nor handled.
pub const UNBLOCKABLE: u64 = 1 << (SIGKILL - 1) | 1 << (SIGSTOP - 1);

/// Where signal handlers run, as sigaltstack set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AlternateStack {
    pub start: u64,
    pub flags: u32,
    pub size: u64,
}

impl AlternateStack {
    pub const IN_USE: u32 = 1;
    pub const DISABLED: u32 = 2;
    /// It is forgotten while a handler runs on it.
    pub const AUTODISARM: u32 = 1 << 31;

    const NONE: AlternateStack = AlternateStack { start: 0, flags: AlternateStack::DISABLED, size: 0 };
    /// As a program starts: none either, but frames tell of it without the flag.
    const NONE_YET: AlternateStack = AlternateStack { flags: 0, ..AlternateStack::NONE };

    /// Whether a stack pointer is on it, as far as Linux takes that into account.
    pub fn is_in_use(&self, pointer: u64) -> bool {
        self.flags & AlternateStack::AUTODISARM == 0 && self.holds(pointer)
    }

    fn holds(&self, pointer: u64) -> bool {
        pointer > self.start && pointer - self.start <= self.size
    }

    /// As sigaltstack tells it to one with this stack pointer.
    pub fn seen_from(self, pointer: u64) -> AlternateStack {
        let state = match () {
            () if self.size == 0 => AlternateStack::DISABLED,
            () if self.is_in_use(pointer) => AlternateStack::IN_USE,
            () => 0,
        };
        AlternateStack { flags: state | self.flags & AlternateStack::AUTODISARM, ..self }
    }

    /// A struct stack_t.
    pub fn bytes(&self) -> [u8; 24] {
        let mut bytes = [0; 24];
        let fields = [self.start, u64::from(self.flags), self.size];
        let fields = fields.iter().flat_map(|field| field.to_le_bytes());
        bytes.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
        bytes
    }
}

/// A process's side of signals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signals {
    actions: Arc<[Action; LAST as usize]>,
    /// Bit n-1 stands for signal n.
    pub blocked: u64,
    pending: Pending,
    pub stack: AlternateStack,
    pub timers: Timers,
    /// What is blocked again once the call at hand, or the handler that it ran, is over.
    saved_mask: Option<u64>,
    trap: Trap,
    /// What was told of the signal that ended the process, if that was sent to it.
    killed_by: Option<Information>,
}

impl Default for Signals {
    fn default() -> Signals {
        Signals {
            actions: Arc::new([Action::default(); LAST as usize]),
            blocked: 0,
            pending: Pending::default(),
            stack: AlternateStack::NONE_YET,
            timers: Timers::default(),
            saved_mask: None,
            trap: Trap::default(),
            killed_by: None,
        }
    }
}

impl Signals {
    /// What is to be done about a signal; `None` if there is no such signal.
    pub fn action(&self, signal: i32) -> Option<Action> {
        self.actions.get(index(signal)?).copied()
    }

    pub fn set_action(&mut self, signal: i32, action: Action) {
        let actions = Arc::make_mut(&mut self.actions);
        if let Some(slot) = index(signal).and_then(|index| actions.get_mut(index)) {
            *slot = action;
        }
        if self.is_ignored(signal) {
            self.pending.discard(signal);
        }
    }

    /// Signals that wait, a bit each.
    pub fn pending(&self) -> u64 {
        self.pending.set()
    }

    /// How many wait, each real-time one counted.
    pub fn pending_count(&self) -> usize {
        self.pending.len()
    }

    /// What was told of the signal that ended the process. A fault is told by [`crate::Exit::Killed`] itself.
    pub fn killed_by(&self) -> Option<&Information> {
        self.killed_by.as_ref()
    }

    /// Takes one that waits, of those in `wanted`.
    pub fn take(&mut self, wanted: u64) -> Option<Information> {
        self.pending.take(wanted)
    }

    /// A signal is sent. What is ignored, and not only kept back, is forgotten at once.
    pub fn send(&mut self, information: Information) {
        let signal = information.signal();
        if !self.is_ignored(signal) || self.blocked & bit(signal) != 0 {
            self.pending.add(information);
        }
    }

    /// A signal that the process cannot escape: if it blocks or ignores it, it takes its default action.
    pub fn force(&mut self, information: Information) {
        let signal = information.signal();
        if !self.is_handled(signal) {
            self.set_action(signal, Action::default());
        }
        self.blocked &= !bit(signal);
        self.pending.add(information);
    }

    /// Whether the signal would run a handler now.
    pub fn is_handled(&self, signal: i32) -> bool {
        let handler = self.action(signal).map_or(Action::DEFAULT, |action| action.handler);
        self.blocked & bit(signal) == 0 && !matches!(handler, Action::DEFAULT | Action::IGNORE)
    }

    fn is_ignored(&self, signal: i32) -> bool {
        match self.action(signal).map(|action| action.handler) {
            Some(Action::IGNORE) => true,
            Some(Action::DEFAULT) => default_action(signal) == DefaultAction::Ignore,
            _ => false,
        }
    }

    /// Whether the signal, if it came now, would end a wait.
    pub fn would_interrupt(&self, signal: i32) -> bool {
        self.blocked & bit(signal) == 0 && !self.is_ignored(signal)
    }

    /// Whether one is waiting to be delivered.
    pub fn is_interrupted(&self) -> bool {
        self.pending.set() & !self.blocked != 0
    }

    /// Blocks other signals until the call at hand is over.
    pub fn block_meanwhile(&mut self, mask: u64) {
        self.saved_mask.get_or_insert(self.blocked);
        self.blocked = mask & !UNBLOCKABLE;
    }
}

/// The bit that stands for a signal in a mask.
pub fn bit(signal: i32) -> u64 {
    match index(signal) {
        Some(index) if index < 64 => 1 << index,
        _ => 0,
    }
}

fn index(signal: i32) -> Option<usize> {
    usize::try_from(signal).ok()?.checked_sub(1).filter(|&index| index < LAST as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_named_by_number() {
        assert_eq!(name(SIGSEGV), "SIGSEGV");
        assert_eq!(name(31), "SIGSYS");
        assert_eq!(name(36), "SIGRTMIN+2");
        assert_eq!(name(-1), "signal -1");
    }

    #[test]
    fn there_are_64_signals_and_no_others() {
        let signals = Signals::default();
        assert!(signals.action(1).is_some() && signals.action(64).is_some());
        for signal in [0, 65, -1, i32::MIN, i32::MAX] {
            assert_eq!(signals.action(signal), None);
            assert_eq!(bit(signal), 0);
        }
        assert_eq!((bit(1), bit(64)), (1, 1 << 63));
    }
}
