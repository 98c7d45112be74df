//! A process: a machine with a kernel around it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lift::Reg;
use machine::{Fault, FaultKind, Interruption, Machine, Memory, Observer, Stop, Time, Trace};

use crate::clock;
use crate::fs::{
    Capsule, Credentials, FileSystem, Host, InputFile, Pieces, Setup, StandardStreams, Timestamp,
};
use crate::heap::{CheckedHeap, HEAP, HeapMode, Refused, Served};
use crate::kernel::{Command, Exit, Kernel, Limits, PID};
use crate::load_error::LoadError;
use crate::loader::{self, Request};
use crate::moved::{Moved, Place, SERVED, SystemCall};
use crate::syscalls;

/// All that a run depends on, apart from the host's files.
#[derive(Clone, Debug)]
pub struct Config {
    /// The executable. A relative path is relative to `cwd`; it is not looked up in PATH.
    pub program: PathBuf,
    pub argv: Vec<Vec<u8>>,
    pub env: Vec<Vec<u8>>,
    /// Absolute.
    pub cwd: PathBuf,
    /// Standard input, or what of it is known.
    pub stdin: Arc<Vec<u8>>,
    /// More of it will be fed, see [`Exit::Input`].
    pub stdin_open: bool,
    /// How much of it a read returns.
    pub stdin_pieces: Pieces,
    /// Standard input is this file of the host instead.
    pub stdin_file: Option<InputFile>,
    /// What the standard streams look like to the guest.
    pub streams: StandardStreams,
    /// In bytes; the overlay of files may take as much again.
    pub max_memory: u64,
    /// In bytes, of both output streams together.
    pub max_output: u64,
    /// What the virtual clock says at the start, as time since 1970.
    pub start: Duration,
    /// The user and group as whom the guest runs.
    pub credentials: Credentials,
    /// Who serves the guest's allocations.
    pub heap: HeapMode,
    /// Regular files, by absolute path, that have other bytes for the guest than on the host.
    pub replaced: Vec<(PathBuf, Arc<Vec<u8>>)>,
}

impl Config {
    pub const DEFAULT_MAX_MEMORY: u64 = 4 << 30;
    pub const DEFAULT_MAX_OUTPUT: u64 = 1 << 30;

    /// Runs `program` with itself as its only argument, an empty environment and no input, in the root
    /// directory, as the user that whydunit runs as.
    pub fn new(program: impl Into<PathBuf>) -> Config {
        let program = program.into();
        Config {
            argv: vec![program.as_os_str().as_bytes().to_vec()],
            program,
            env: Vec::new(),
            cwd: PathBuf::from("/"),
            stdin: Arc::default(),
            stdin_open: false,
            stdin_pieces: Pieces::Chunks,
            stdin_file: None,
            streams: StandardStreams::Pipes,
            max_memory: Config::DEFAULT_MAX_MEMORY,
            max_output: Config::DEFAULT_MAX_OUTPUT,
            start: clock::DEFAULT_START,
            credentials: host_credentials(),
            heap: HeapMode::default(),
            replaced: Vec::new(),
        }
    }
}

/// The user that whydunit runs as. The files that the guest reads are opened with that user's rights, so any
/// other would be a lie.
fn host_credentials() -> Credentials {
    let (user, group) =
        std::fs::metadata("/proc/self").map_or((1000, 1000), |process| (process.uid(), process.gid()));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let groups = status.lines().find_map(|line| line.strip_prefix("Groups:")).unwrap_or_default();
    let groups = groups.split_whitespace().filter_map(|group| group.parse().ok()).collect();
    Credentials { user, group, groups }
}

/// A program in its machine, with the kernel's side of it. Both are public: the state is there to be looked at.
pub struct Process {
    pub machine: Machine,
    pub kernel: Kernel,
}

impl Process {
    /// A process that is about to execute its first instruction.
    pub fn load(config: &Config) -> Result<Process, LoadError> {
        Process::load_from(config, Host::default())
    }

    /// The same in the world of an earlier run: no file of this machine is looked at.
    pub fn load_in_capsule(config: &Config, capsule: Arc<Capsule>) -> Result<Process, LoadError> {
        Process::load_from(config, Host::Capsule(capsule))
    }

    fn load_from(config: &Config, mut host: Host) -> Result<Process, LoadError> {
        for (path, content) in &config.replaced {
            host.replace(path.as_os_str().as_bytes(), content)
                .map_err(|cause| LoadError::Replaced { path: path.clone(), cause })?;
        }
        let mut memory = Memory::new(config.max_memory);
        let request = Request {
            program: &config.program,
            cwd: &config.cwd,
            argv: &config.argv,
            env: &config.env,
            credentials: &config.credentials,
            max_memory: config.max_memory,
            host: &host,
        };
        let image = loader::load(&request, &mut memory)?;
        let mut kernel = Process::kernel(config, &image.executable, host)?;
        kernel.heap.start(image.break_start);
        kernel.auxiliary_vector = image.auxiliary_vector.into();
        let mut machine = Machine::new(memory);
        machine.cpu.rip = image.start;
        machine.cpu.set(Reg::RSP, image.stack_pointer);
        let mut process = Process { machine, kernel };
        if config.heap == HeapMode::Checked {
            process.check_heap(&config.cwd.join(&config.program));
        }
        Ok(process)
    }

    /// From now on the machine serves the allocations of the program.
    fn check_heap(&mut self, program: &Path) {
        self.kernel.checked_heap = CheckedHeap::new(HeapMode::Checked, self.kernel.limits.memory);
        self.machine.memory.check_accesses(HEAP);
        let regions = self.machine.memory.regions().iter();
        let code = regions.filter(|region| region.permissions.execute);
        let (code, names): (Vec<u64>, BTreeSet<Arc<str>>) =
            code.map(|region| (region.start, region.name.clone())).unzip();
        // Else its dynamic loader is there, too.
        let is_static = names.len() == 1;
        for start in code {
            self.kernel.checked_heap.examine(&mut self.machine, start, &program.to_string_lossy());
        }
        if is_static && !self.kernel.checked_heap.knows_symbols() {
            let warning = "the heap is not checked: the program is static and stripped, so that its allocator is not known";
            self.kernel.warnings.add(warning.to_owned());
        }
    }

    /// Looks at what a system call has mapped, if that is code.
    fn examine_mapped(&mut self, number: u64, result: u64) {
        let is_code = |region: &machine::Region| region.permissions.execute;
        if number == syscalls::nr::mmap
            && self.kernel.checked_heap.is_checked()
            && self.machine.memory.region_at(result).is_some_and(is_code)
        {
            self.kernel.checked_heap.examine(&mut self.machine, result, "");
        }
    }

    /// Puts a kernel around a machine that holds a program already, whose heap begins at `heap_start` and
    /// is empty. For a program that somebody else loaded: lock-step takes over a native process.
    pub fn adopt(config: &Config, machine: Machine, heap_start: u64) -> Result<Process, LoadError> {
        let host = Host::default();
        let executable = config.cwd.join(&config.program);
        let executable = match host.follow(executable.as_os_str().as_bytes()) {
            Ok((path, _)) => PathBuf::from(OsString::from_vec(path.to_vec())),
            Err(_) => executable,
        };
        let mut kernel = Process::kernel(config, &executable, host)?;
        kernel.heap.start(heap_start);
        Ok(Process { machine, kernel })
    }

    /// An independent copy, in constant time.
    pub fn fork(&mut self) -> Process {
        Process { machine: self.machine.fork(), kernel: self.kernel.clone() }
    }

    /// Runs until the time has come or the process ends. A process that has ended stays as it is.
    ///
    /// Signals are delivered between instructions: those of a system call with it, one that a timer sends before the instruction at
    /// its time, one that a fault raises when its instruction is tried. So the state at a time is the same whoever stops there.
    pub fn run<O: Observer>(&mut self, until: Time, observer: &mut O) -> Exit {
        self.run_with(until, &mut Watching(observer))
    }

    /// The same with a trace of what the machine does; of the kernel's part only how handlers are entered and left is in it.
    pub fn run_traced(&mut self, until: Time, trace: &mut Trace) -> Exit {
        self.run_with(until, trace)
    }

    /// The same with the kernel's part: the system calls, with what they moved.
    pub fn run_followed(&mut self, until: Time, trace: &mut Trace, calls: &mut Vec<SystemCall>) -> Exit {
        self.run_with(until, &mut Following { trace, calls })
    }

    /// As [`Process::run`], for an observer that is told of the kernel's part too.
    pub fn run_followed_by<F: Follower>(&mut self, until: Time, follower: &mut F) -> Exit {
        self.run_with(until, &mut Followed(follower))
    }

    pub(crate) fn run_with<C: Company>(&mut self, until: Time, company: &mut C) -> Exit {
        loop {
            match self.run_to_event(until, company) {
                Event::Exit(exit) => return exit,
                Event::Called(_) | Event::Interrupted => {}
            }
        }
    }

    /// Runs as [`Process::run_traced`] does, but only until something has happened that the machine had no part in.
    pub fn run_to_event_traced(&mut self, until: Time, trace: &mut Trace) -> Event {
        self.run_to_event(until, trace)
    }

    fn run_to_event<C: Company>(&mut self, until: Time, company: &mut C) -> Event {
        if let Some(exit) = &self.kernel.ended {
            return Event::Exit(exit.clone());
        }
        if self.kernel.waiting {
            return self.serve(company);
        }
        let alarm = self.kernel.signals.timers.deadline();
        match company.run(&mut self.machine, until.min(alarm)) {
            Stop::Until if self.machine.time < alarm => return Event::Exit(Exit::Until),
            Stop::Until => self.kernel.deliver(&mut self.machine, None),
            Stop::Syscall => return self.serve(company),
            Stop::Hook => return self.attend(company),
            Stop::Fault(fault) => self.kernel.fault(&mut self.machine, fault),
            Stop::Unsupported(instruction) => {
                self.kernel.ended = Some(Exit::Unsupported(instruction));
            }
        }
        self.tell(company);
        Event::Interrupted
    }

    /// Serves the system call that the machine stopped at, and delivers the signals that wait then.
    pub fn serve_call<O: Observer>(&mut self, observer: &mut O) {
        self.serve(&mut Watching(observer));
    }

    /// Does what becomes of a fault that the machine stopped with.
    pub fn take_fault<O: Observer>(&mut self, fault: Fault, observer: &mut O) {
        self.kernel.fault(&mut self.machine, fault);
        self.tell(&mut Watching(observer));
    }

    /// Delivers the signals of timers that go off at this time.
    pub fn deliver_due<O: Observer>(&mut self, observer: &mut O) {
        if self.kernel.ended.is_none() && self.machine.time >= self.kernel.signals.timers.deadline() {
            self.kernel.deliver(&mut self.machine, None);
            self.tell(&mut Watching(observer));
        }
    }

    fn serve<C: Company>(&mut self, company: &mut C) -> Event {
        let (number, arguments) = Kernel::request(&self.machine);
        self.kernel.syscall(&mut self.machine);
        if self.kernel.waiting {
            return Event::Exit(Exit::Input);
        }
        self.examine_mapped(number, self.machine.cpu.get(Reg::RAX));
        let tell = || {
            let written = self.kernel.accesses.iter().filter(|access| access.write);
            let by_kernel = written.map(|access| Moved {
                from: Place::Kernel,
                to: Place::Memory(access.address),
                length: access.length,
            });
            SystemCall {
                time: Time(self.machine.time.0.saturating_sub(1)),
                number,
                arguments,
                result: self.machine.cpu.get(Reg::RAX),
                moved: by_kernel.chain(self.kernel.moved.iter().copied()).collect(),
            }
        };
        company.called(&tell, self);
        self.kernel.deliver(&mut self.machine, Some(number));
        self.tell(company);
        Event::Called(number)
    }

    /// Tells what was done between two instructions.
    fn tell<C: Company>(&mut self, company: &mut C) {
        self.kernel.interruptions.drain(..).for_each(|interruption| company.interrupted(interruption));
    }

    /// Does what the hook is there for at which the machine stopped. Afterwards [`Kernel::accesses`] and [`Kernel::moved`] tell what a
    /// function of the heap that was served has done, and [`Kernel::ended`] whether it could not be.
    fn attend<C: Company>(&mut self, company: &mut C) -> Event {
        let time = self.machine.time;
        self.kernel.accesses.clear();
        self.kernel.moved.clear();
        let attended = self.kernel.checked_heap.attend(&mut self.machine);
        if self.kernel.checked_heap.take_refused_size().is_some() {
            let warning = "the program asked for memory beyond the limit of --max-memory, and was given none";
            self.kernel.warnings.add(warning.to_owned());
        }
        match attended {
            Ok(Some(Served { arguments, moved })) => {
                let written = moved.iter().filter(|moved| moved.from != Place::Fresh);
                self.kernel.accesses.extend(written.filter_map(Moved::access));
                self.kernel.moved = moved;
                let tell = || SystemCall {
                    time,
                    number: SERVED,
                    arguments,
                    result: self.machine.cpu.get(Reg::RAX),
                    moved: self.kernel.moved.clone(),
                };
                company.called(&tell, self);
            }
            Ok(None) => {}
            Err(Refused) => {
                // What is wrong with a pointer to write to is told as for any other.
                let kind =
                    self.kernel.checked_heap.refused_write().map_or(FaultKind::Misuse, FaultKind::Memory);
                let fault = Fault { kind, rip: self.machine.cpu.rip, time };
                self.kernel.fault(&mut self.machine, fault);
                self.tell(company);
                return Event::Interrupted;
            }
        }
        Event::Called(SERVED)
    }

    /// A hash of everything that the further run depends on.
    pub fn state_hash(&self) -> u64 {
        self.kernel.hash(self.machine.state_hash())
    }

    fn kernel(config: &Config, executable: &Path, host: Host) -> Result<Kernel, LoadError> {
        let command = Command {
            executable: executable.as_os_str().as_bytes().to_vec(),
            argv: config.argv.clone(),
            env: config.env.clone(),
        };
        let limits = Limits { memory: config.max_memory, output: config.max_output };
        let mut files = FileSystem::new(&Setup {
            credentials: config.credentials.clone(),
            working_directory: config.cwd.as_os_str().as_bytes().to_vec(),
            process: PID,
            standard_input: config.stdin.clone(),
            input_open: config.stdin_open,
            input_pieces: config.stdin_pieces,
            input_file: config.stdin_file.clone(),
            streams: config.streams,
            overlay_limit: config.max_memory,
            memory_total: config.max_memory,
            now: Timestamp {
                seconds: i64::try_from(config.start.as_secs()).unwrap_or(i64::MAX),
                nanoseconds: config.start.subsec_nanos(),
            },
            host,
        })
        .map_err(|cause| LoadError::WorkingDirectory { path: config.cwd.clone(), cause })?;
        files.set_executable(&command.executable);
        Ok(Kernel::new(command, files, limits, config.start))
    }
}

/// What ended a stretch of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Exit(Exit),
    /// The system call of this number has been served.
    Called(u64),
    /// A signal was delivered, or the process has ended.
    Interrupted,
}

/// Who goes along with a run.
pub(crate) trait Company {
    fn run(&mut self, machine: &mut Machine, until: Time) -> Stop;
    /// A system call was served, to be asked for if somebody cares; the process is as it left it.
    fn called(&mut self, _call: &dyn Fn() -> SystemCall, _process: &Process) {}
    fn interrupted(&mut self, interruption: Interruption);
}

/// An observer that is told of system calls, and of calls that were served in place of the program's own functions, with what they moved.
pub trait Follower: Observer {
    /// The process is as the call left it.
    fn called(&mut self, call: &SystemCall, process: &Process);
}

struct Followed<'a, F>(&'a mut F);

impl<F: Follower> Company for Followed<'_, F> {
    fn run(&mut self, machine: &mut Machine, until: Time) -> Stop {
        machine.run(until, self.0)
    }

    fn called(&mut self, call: &dyn Fn() -> SystemCall, process: &Process) {
        self.0.called(&call(), process);
    }

    fn interrupted(&mut self, interruption: Interruption) {
        self.0.interruption(&interruption);
    }
}

struct Watching<'a, O>(&'a mut O);

impl<O: Observer> Company for Watching<'_, O> {
    fn run(&mut self, machine: &mut Machine, until: Time) -> Stop {
        machine.run(until, self.0)
    }

    fn interrupted(&mut self, interruption: Interruption) {
        self.0.interruption(&interruption);
    }
}

impl Company for Trace {
    fn run(&mut self, machine: &mut Machine, until: Time) -> Stop {
        machine.run_traced(until, self)
    }

    fn interrupted(&mut self, interruption: Interruption) {
        self.interrupt(interruption);
    }
}

struct Following<'a> {
    trace: &'a mut Trace,
    calls: &'a mut Vec<SystemCall>,
}

impl Company for Following<'_> {
    fn run(&mut self, machine: &mut Machine, until: Time) -> Stop {
        machine.run_traced(until, self.trace)
    }

    fn called(&mut self, call: &dyn Fn() -> SystemCall, _: &Process) {
        self.calls.push(call());
    }

    fn interrupted(&mut self, interruption: Interruption) {
        self.trace.interrupt(interruption);
    }
}

#[cfg(test)]
mod tests;
