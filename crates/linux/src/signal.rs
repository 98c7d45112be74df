//! Signals by number, and what a process has decided to do about each.

use std::sync::Arc;

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
pub const SIGWINCH: i32 = 28;

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
}

/// Where signal handlers run, as sigaltstack set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AlternateStack {
    pub start: u64,
    pub flags: u32,
    pub size: u64,
}

impl AlternateStack {
    pub const DISABLED: u32 = 2;
}

/// A process's side of signals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signals {
    actions: Arc<[Action; LAST as usize]>,
    /// Bit n-1 stands for signal n.
    pub blocked: u64,
    pub pending: u64,
    pub stack: AlternateStack,
}

impl Default for Signals {
    fn default() -> Signals {
        Signals {
            actions: Arc::new([Action::default(); LAST as usize]),
            blocked: 0,
            pending: 0,
            stack: AlternateStack { start: 0, flags: AlternateStack::DISABLED, size: 0 },
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
