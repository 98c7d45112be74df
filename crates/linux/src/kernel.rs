//! The kernel's side of a process's state, and the door through which a system call enters it.
//!
//! Everything here is cloned in O(1) when a process is forked: small values, or shared and copied on write.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use lift::Reg;
use machine::{Core, Cpu, Fault, FaultKind, Interruption, Machine, Memory, Time, Unsupported};

use crate::clock::Clock;
use crate::errno::Errno;
use crate::fs::{FileSystem, RandomStream, Stream, Timestamp};
use crate::guest::{Guest, KernelAccess};
use crate::heap::{CheckedHeap, Heap, HeapMode};
use crate::moved::{Moved, Place};
use crate::output::Output;
use crate::resources::Resources;
use crate::signal::{self, SIGALRM, SIGSEGV, Signals};
use crate::syscalls::{self, MappedCopies, SharedMapping};

/// The ids of the one process that there is. Constant, so that a run that prints them repeats itself.
pub const PID: u32 = 4242;
pub const PARENT_PID: u32 = 4241;

/// How long the instruction is that makes a system call.
const SYSCALL_BYTES: u64 = 2;

/// Why a process stopped running.
#[derive(Clone, Debug, PartialEq)]
pub enum Exit {
    /// The time that the caller named has come; the process can run on.
    Until,
    /// The process reads standard input, of which no more is known yet. It can run on once it has been fed by
    /// [`FileSystem::feed_input`].
    Input,
    Exited(i32),
    /// A signal ended it: one that a fault raised, or one that it sent to itself.
    Killed {
        signal: i32,
        fault: Option<Fault>,
    },
    /// An instruction that whydunit does not know; not the program's fault.
    Unsupported(Unsupported),
    /// The guest's memory limit is reached.
    OutOfMemory {
        limit: u64,
    },
    /// The guest's output limit is reached.
    TooMuchOutput {
        limit: u64,
    },
    /// The call waits for something that cannot happen any more, since nobody else is there to do it.
    Deadlock {
        call: &'static str,
    },
}

/// What the guest may use of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory, and, counted apart, bytes of files that the guest changed, and of copies of those that are
    /// mapped.
    pub memory: u64,
    /// Bytes of output in both streams together.
    pub output: u64,
}

/// What the process was started with; some of it is visible in /proc/self.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The executable's absolute path.
    pub executable: Vec<u8>,
    pub argv: Vec<Vec<u8>>,
    pub env: Vec<Vec<u8>>,
}

#[derive(Clone)]
pub struct Kernel {
    /// What the last system call read and wrote of the guest's memory.
    pub accesses: Vec<KernelAccess>,
    /// Where the last system call got bytes from and where it put them, as far as that is not the kernel itself.
    pub moved: Vec<Moved>,
    /// What was done between two instructions since somebody last took these away.
    pub interruptions: Vec<Interruption>,
    /// A signal ended the last system call before it was done, and one whose handler asks for it starts it again.
    pub can_restart: bool,
    pub files: FileSystem,
    pub clock: Clock,
    pub random: RandomStream,
    pub output: Output,
    pub warnings: Warnings,
    pub limits: Limits,
    pub command: Arc<Command>,
    /// What the C library was told at the start; empty when somebody else loaded the program.
    pub auxiliary_vector: Arc<[u8]>,
    /// What the process calls itself: the executable's name, until it says otherwise.
    pub name: Arc<[u8]>,
    pub heap: Heap,
    /// What the machine allocates in the program's place.
    pub checked_heap: CheckedHeap,
    pub resources: Resources,
    pub signals: Signals,
    /// Files that are mapped so that stores reach them.
    pub shared: Arc<Vec<SharedMapping>>,
    /// What mappings keep of changed files.
    pub copies: MappedCopies,
    /// The last system call has not been served: it waits for standard input.
    pub waiting: bool,
    /// Set when the process has ended; it stays so.
    pub ended: Option<Exit>,
}

impl Kernel {
    pub fn new(command: Command, files: FileSystem, limits: Limits, start: Duration) -> Kernel {
        let name = command.executable.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        Kernel {
            accesses: Vec::new(),
            moved: Vec::new(),
            interruptions: Vec::new(),
            can_restart: false,
            files,
            clock: Clock::new(start),
            random: RandomStream::default(),
            output: Output::default(),
            warnings: Warnings::default(),
            limits,
            name: name.into(),
            command: Arc::new(command),
            auxiliary_vector: Arc::default(),
            heap: Heap::default(),
            checked_heap: CheckedHeap::new(HeapMode::Program, limits.memory),
            resources: Resources::default(),
            signals: Signals::default(),
            shared: Arc::default(),
            copies: MappedCopies::default(),
            waiting: false,
            ended: None,
        }
    }

    /// The number and the arguments of the system call that the machine stopped at.
    pub fn request(machine: &Machine) -> (u64, Args) {
        let registers = [Reg::RDI, Reg::RSI, Reg::RDX, Reg::R10, Reg::R8, Reg::R9];
        (machine.cpu.get(Reg::RAX), registers.map(|register| machine.cpu.get(register)))
    }

    /// Serves the system call that the machine stopped at: number and arguments from the registers, result
    /// into rax. Afterwards [`Kernel::ended`] tells whether it was the process's last, and [`Kernel::waiting`]
    /// whether it has to be served again when there is more input; nothing has happened then. Signals are not delivered yet,
    /// see [`Kernel::deliver`].
    pub fn syscall(&mut self, machine: &mut Machine) {
        self.waiting = false;
        let (number, args) = Kernel::request(machine);
        let time = machine.time;
        let Core { cpu, memory, .. } = &mut **machine;
        let result = self.serve(memory, cpu, time, number, args);
        if self.waiting {
            return;
        }
        let value = match result {
            Ok(value) => value,
            Err(errno) => errno.as_return_value(),
        };
        machine.cpu.set(Reg::RAX, value);
    }

    /// One system call, apart from where its number and arguments come from.
    pub fn serve(
        &mut self,
        memory: &mut Memory,
        cpu: &mut Cpu,
        time: Time,
        number: u64,
        args: [u64; 6],
    ) -> Result<u64, Errno> {
        let mut accesses = std::mem::take(&mut self.accesses);
        accesses.clear();
        self.moved.clear();
        self.can_restart = false;
        let mut call = Call { kernel: self, guest: Guest::new(memory, &mut accesses), cpu, time };
        let result = syscalls::dispatch(&mut call, number, args);
        if call.guest.out_of_memory() {
            let limit = call.kernel.limits.memory;
            call.end(Exit::OutOfMemory { limit });
        }
        if let Some(fault) = call.guest.forbidden() {
            let rip = call.cpu.rip.wrapping_sub(SYSCALL_BYTES);
            let fault = Fault { kind: FaultKind::Memory(fault), rip, time: Time(time.0.saturating_sub(1)) };
            call.end(Exit::Killed { signal: SIGSEGV, fault: Some(fault) });
        }
        self.accesses = accesses;
        for path in self.files.take_unknown() {
            self.warnings.add(format!(
                "the bundle has nothing about {}, which this run asks for; it is told that nothing is there",
                String::from_utf8_lossy(&path)
            ));
        }
        result
    }

    /// Folds everything here that the further run depends on into a hash.
    pub fn hash(&self, seed: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        self.files.hash(&mut hasher);
        self.clock.hash(&mut hasher);
        self.random.hash(&mut hasher);
        self.output.hash(&mut hasher);
        self.heap.hash(&mut hasher);
        self.checked_heap.hash(&mut hasher);
        self.resources.hash(&mut hasher);
        self.signals.hash(&mut hasher);
        self.name.hash(&mut hasher);
        hasher.finish()
    }
}

/// One system call being served. The areas of system calls, one file each, extend it with a method a call:
/// `fn name(&mut self, args: Args) -> SysResult`.
pub struct Call<'a> {
    pub kernel: &'a mut Kernel,
    pub guest: Guest<'a>,
    pub cpu: &'a mut Cpu,
    /// When the call happens.
    pub time: Time,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    Elapsed,
    /// A signal has come, or the process has ended.
    Interrupted,
}

/// The six argument registers.
pub type Args = [u64; 6];
/// What a system call returns in rax.
pub type SysResult = Result<u64, Errno>;

impl Call<'_> {
    /// Ends the process with this call; the first reason given stands.
    pub fn end(&mut self, exit: Exit) {
        self.kernel.ended.get_or_insert(exit);
    }

    /// For a call that waits for something that nobody is there to do: only its time-out, a timer or a signal can end that. The
    /// clock jumps to there.
    pub fn wait(&mut self, name: &'static str, timeout: Option<Duration>) -> Waited {
        self.wait_for(name, 0, timeout)
    }

    /// The same for a call that signals of `set` end as well, though they are blocked.
    pub fn wait_for(&mut self, name: &'static str, set: u64, timeout: Option<Duration>) -> Waited {
        let signals = &self.kernel.signals;
        if signals.is_interrupted() {
            return Waited::Interrupted;
        }
        let counts = signals.would_interrupt(SIGALRM) || set & signal::bit(SIGALRM) != 0;
        let alarm = signals.timers.expiry().filter(|_| counts);
        let alarm = alarm.map(|expiry| expiry.saturating_sub(self.kernel.clock.elapsed()));
        let (duration, waited) = match (timeout, alarm) {
            (None, None) => {
                self.end(Exit::Deadlock { call: name });
                return Waited::Interrupted;
            }
            (Some(timeout), Some(alarm)) if timeout < alarm => (timeout, Waited::Elapsed),
            (_, Some(alarm)) => (alarm, Waited::Interrupted),
            (Some(timeout), None) => (timeout, Waited::Elapsed),
        };
        self.kernel.clock.sleep(duration);
        self.kernel.let_timers_go_off(self.time);
        waited
    }

    /// For a call that would wait for ever, and that starts again if a signal ends it whose handler asks for that.
    pub fn block_forever(&mut self, name: &'static str) -> SysResult {
        self.wait(name, None);
        self.kernel.can_restart = true;
        Err(Errno::EINTR)
    }

    /// For a call that reads more of standard input than is known. It is served again later, so it must not have
    /// done anything yet.
    pub fn wait_for_input(&mut self) -> SysResult {
        self.kernel.waiting = true;
        Err(Errno::EINTR)
    }

    /// The time to stamp files with.
    pub fn now(&self) -> Timestamp {
        let now = self.kernel.clock.peek();
        Timestamp {
            seconds: i64::try_from(now.as_secs()).unwrap_or(i64::MAX),
            nanoseconds: now.subsec_nanos(),
        }
    }

    /// Notes that bytes went from one place to another; places that are not followed are left out.
    pub fn note_move(&mut self, from: Option<Place>, to: Option<Place>, length: u64) {
        if let (Some(from), Some(to)) = (from, to)
            && length > 0
        {
            self.kernel.moved.push(Moved { from, to, length });
        }
    }

    /// Writes to a standard stream. The output limit ends the process; what fits is still written.
    pub fn write_output(&mut self, stream: Stream, bytes: &[u8]) {
        let limit = self.kernel.limits.output;
        let room = limit.saturating_sub(self.kernel.output.bytes());
        let fits = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        if fits > 0 {
            self.kernel.output.push(stream, self.time, bytes.get(..fits).unwrap_or_default());
        }
        // Many small writes take more of our memory than they are long.
        let most = limit.saturating_add(self.kernel.limits.memory);
        if fits < bytes.len() || self.kernel.output.memory() > most {
            self.end(Exit::TooMuchOutput { limit });
        }
    }
}

/// What the user should be told about the run: each thing once.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    list: Arc<Vec<String>>,
}

impl Warnings {
    /// A hostile guest can make up new warnings without end; nobody reads more than this many.
    const MOST: usize = 100;

    pub fn add(&mut self, warning: String) {
        if self.list.len() < Self::MOST && !self.list.contains(&warning) {
            Arc::make_mut(&mut self.list).push(warning);
        }
    }

    pub fn list(&self) -> &[String] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_kept_once_and_their_number_is_bounded() {
        let mut warnings = Warnings::default();
        for n in 0..1000 {
            warnings.add(format!("warning {}", n / 2));
        }
        assert_eq!(warnings.list().len(), Warnings::MOST);
        assert_eq!(warnings.list()[1], "warning 1");
    }
}
