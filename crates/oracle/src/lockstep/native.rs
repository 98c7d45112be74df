//! The native side: a child that the processor executes one instruction at a time.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use super::maps::{self, Mapping};
use super::ptrace::{self, Pid, SignalInfo, Wait};
use super::state::State;
use super::{Command, Failure};

/// As the machine's: natively the stack grows on demand, here all of it is there from the start,
/// so that both sides fault alike and the stepper can write anywhere in it.
pub const STACK_SIZE: u64 = 8 << 20;

/// The `si_code` (SI_KERNEL) by which an int3 of the program's own differs from the end of a step.
const INT3: i32 = 0x80;
/// More than any processor saves.
const LARGEST_FLOAT_STATE: usize = 16 << 10;
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// How a native step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeStop {
    Stepped,
    /// The instruction faulted (int3 included) and has not been retired.
    Signal {
        number: i32,
        info: SignalInfo,
    },
    /// Somebody else ended the child.
    Gone,
}

/// A traced child. It is killed when this is dropped.
pub struct Native {
    child: Child,
    pid: Pid,
    /// /proc/PID/mem, which reads and writes what is mapped, whatever its permissions.
    memory: File,
    /// Where a syscall instruction was found last.
    syscall_at: Option<u64>,
}

impl Native {
    /// Starts the command and stops it before its first instruction: the dynamic loader's, or
    /// the program's own if it is static.
    pub fn start(command: &Command) -> Result<Native, Failure> {
        let Some((program, arguments)) = command.argv.split_first() else {
            return Err(Failure::Setup("the command is empty".to_owned()));
        };
        let mut builder = std::process::Command::new(program);
        builder.args(arguments).env_clear().current_dir(&command.cwd).process_group(0);
        for variable in &command.env {
            let bytes = variable.as_bytes();
            if let Some(equals) = bytes.iter().position(|&byte| byte == b'=') {
                let (name, value) = (&bytes[..equals], &bytes[equals + 1..]);
                builder.env(std::ffi::OsStr::from_bytes(name), std::ffi::OsStr::from_bytes(value));
            }
        }
        // Linux demands of the float state in a handler's frame that all that this processor could save would lie below the end of the address space,
        // where the stack begins. The machine's frames have less of it, so there has to be something above them.
        builder.env("ABOVE_ALL_FRAMES", "-".repeat(LARGEST_FLOAT_STATE));
        // The child never reaches its files: the machine's kernel serves it.
        builder.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        ptrace::trace_on_exec(&mut builder);
        let child = builder.spawn().map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM | libc::ENOSYS) => Failure::NotPermitted(format!("ptrace: {error}")),
            _ => Failure::Setup(format!("cannot start {}: {error}", program.display())),
        })?;
        let pid = child.id() as Pid;
        let memory = match File::options().read(true).write(true).open(format!("/proc/{pid}/mem")) {
            Ok(memory) => memory,
            Err(error) => {
                drop(Reaper(child));
                return Err(Failure::NotPermitted(format!("/proc/{pid}/mem: {error}")));
            }
        };
        let mut native = Native { child, pid, memory, syscall_at: None };
        match ptrace::wait(pid)? {
            Wait::Stopped(libc::SIGTRAP) => {}
            other => return Err(Failure::Setup(format!("the child did not stop at its entry: {other:?}"))),
        }
        ptrace::kill_with_tracer(pid)?;
        native.extend_stack()?;
        Ok(native)
    }

    pub fn pid(&self) -> Pid {
        self.pid
    }

    pub fn state(&self) -> io::Result<State> {
        Ok(State::native(&self.registers()?, &ptrace::float_registers(self.pid)?))
    }

    pub fn registers(&self) -> io::Result<ptrace::user_regs_struct> {
        ptrace::registers(self.pid)
    }

    /// Also tells the kernel that no interrupted system call waits to be restarted.
    pub fn set_registers(&self, mut registers: ptrace::user_regs_struct) -> io::Result<()> {
        registers.orig_rax = u64::MAX;
        ptrace::set_registers(self.pid, &registers)
    }

    pub fn mappings(&self) -> io::Result<Vec<Mapping>> {
        maps::mappings(self.pid)
    }

    pub fn heap_start(&self) -> io::Result<u64> {
        maps::heap_start(self.pid)
    }

    pub fn read(&self, address: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.memory.read_exact_at(bytes, address)
    }

    pub fn write(&self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.memory.write_all_at(bytes, address)
    }

    pub fn read_word(&self, address: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Executes one instruction, or one element of a repeated one.
    pub fn step(&mut self) -> io::Result<NativeStop> {
        loop {
            ptrace::single_step(self.pid)?;
            match ptrace::wait(self.pid)? {
                Wait::Stopped(libc::SIGTRAP) => {
                    let info = ptrace::signal_info(self.pid)?;
                    return Ok(match info.code {
                        INT3 => NativeStop::Signal { number: libc::SIGTRAP, info },
                        _ => NativeStop::Stepped,
                    });
                }
                Wait::Stopped(number @ (libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE)) => {
                    let info = ptrace::signal_info(self.pid)?;
                    return Ok(NativeStop::Signal { number, info });
                }
                // From outside (a terminal's resize, a job's end): not delivered, and nothing has
                // been executed yet.
                Wait::Stopped(_) => {}
                Wait::Exited(_) | Wait::Killed(_) => return Ok(NativeStop::Gone),
            }
        }
    }

    /// Has the child's kernel enter the handler of a signal, which is in place of the one that a fault has raised, or is sent. Whether the
    /// child blocked it: the machine may wait with another mask, and the child never waits.
    pub fn enter_handler(&mut self, signal: i32, is_raised: bool) -> io::Result<bool> {
        let blocked = ptrace::unblock(self.pid, signal)?;
        if !is_raised {
            ptrace::send(self.pid, signal)?;
            ptrace::single_step(self.pid)?;
            let stop = ptrace::wait(self.pid)?;
            if stop != Wait::Stopped(signal) {
                return Err(io::Error::other(format!("signal {signal} came to the child as {stop:?}")));
            }
        }
        ptrace::enter_handler(self.pid, signal)?;
        match ptrace::wait(self.pid)? {
            Wait::Stopped(libc::SIGTRAP) => Ok(blocked),
            other => Err(io::Error::other(format!("signal {signal} in the child ended with {other:?}"))),
        }
    }

    /// Has the child make a system call; all its registers stay as they are. A negative result is
    /// an error number.
    pub fn system_call(&mut self, number: i64, arguments: [u64; 6]) -> io::Result<i64> {
        let saved = self.registers()?;
        let mut registers = saved;
        registers.rip = self.find_syscall()?;
        registers.rax = number as u64;
        [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9] = arguments;
        self.set_registers(registers)?;
        let stop = self.step()?;
        let after = self.registers()?;
        self.set_registers(saved)?;
        if stop != NativeStop::Stepped || after.rip != registers.rip.wrapping_add(2) {
            return Err(io::Error::other(format!("a system call in the child ended with {stop:?}")));
        }
        Ok(after.rax as i64)
    }

    /// Maps fresh, writable memory at exactly this place.
    pub fn map_fresh(&mut self, start: u64, length: u64) -> io::Result<()> {
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED) as u64;
        let arguments = [start, length, protection, flags, u64::MAX, 0];
        let result = self.system_call(libc::SYS_mmap, arguments)?;
        if result as u64 == start {
            Ok(())
        } else {
            Err(io::Error::other(format!("mmap of {length:#x} bytes at {start:#x} gave {result:#x}")))
        }
    }

    fn extend_stack(&mut self) -> Result<(), Failure> {
        let mappings = self.mappings()?;
        let Some(stack) = mappings.iter().find(|mapping| mapping.is_stack()) else {
            return Err(Failure::Setup("the child has no stack".to_owned()));
        };
        let bottom = stack.end.saturating_sub(STACK_SIZE);
        if bottom < stack.start {
            self.map_fresh(bottom, stack.start - bottom)?;
        }
        Ok(())
    }

    fn find_syscall(&mut self) -> io::Result<u64> {
        if let Some(address) = self.syscall_at {
            let mut bytes = [0; 2];
            if self.read(address, &mut bytes).is_ok() && bytes == SYSCALL {
                return Ok(address);
            }
        }
        for mapping in self.mappings()? {
            if !mapping.execute || mapping.is_kernel_page() {
                continue;
            }
            let mut bytes = vec![0; mapping.length() as usize];
            if self.read(mapping.start, &mut bytes).is_err() {
                continue;
            }
            if let Some(offset) = bytes.windows(2).position(|pair| pair == SYSCALL) {
                let address = mapping.start + offset as u64;
                self.syscall_at = Some(address);
                return Ok(address);
            }
        }
        Err(io::Error::other("the child has no syscall instruction"))
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        reap(&mut self.child);
    }
}

/// Ends a child that never became a [`Native`].
struct Reaper(Child);

impl Drop for Reaper {
    fn drop(&mut self) {
        reap(&mut self.0);
    }
}

fn reap(child: &mut Child) {
    // It may be gone already; then there is nothing to end.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use machine::PAGE_SIZE;

    use super::super::instruction::{Plan, Step};
    use super::super::{auxv, state};
    use super::*;

    /// Nothing, loudly, where tracing is not permitted.
    fn start(argv: &[&str]) -> Option<Native> {
        let command = Command {
            argv: argv.iter().map(Into::into).collect(),
            env: vec!["LC_ALL=C".into(), "EMPTY=".into()],
            cwd: "/".into(),
            stdin: Vec::new(),
        };
        let native = match Native::start(&command) {
            Ok(native) => native,
            Err(Failure::NotPermitted(reason)) => {
                let _ = writeln!(io::stderr(), "SKIPPED a test of the native side: {reason}");
                return None;
            }
            Err(failure) => panic!("{failure}"),
        };
        auxv::normalise(&native).unwrap();
        Some(native)
    }

    /// Steps the child alone, its own kernel serving it, and folds all it did into a number.
    fn digest(native: &mut Native, limit: u64) -> (u64, u64) {
        let mut digest = 0u64;
        let mut syscalls = 0;
        for _ in 0..limit {
            let state = native.state().unwrap();
            let mut bytes = [0; 15];
            native.read(state.rip, &mut bytes).unwrap();
            let step = Step::decode(state.rip, &bytes);
            match step.plan {
                Plan::Syscall => syscalls += 1,
                Plan::Answer { registers, .. } => {
                    answer(native, &registers, step.instruction.next_ip());
                    continue;
                }
                _ => {}
            }
            for word in [state.rip, state.flags, state.mxcsr.into()].iter().chain(&state.general) {
                digest = digest.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word;
            }
            match native.step().unwrap() {
                NativeStop::Stepped => {}
                other => panic!("{other:?} at {:#x}", state.rip),
            }
        }
        (digest, syscalls)
    }

    fn answer(native: &Native, numbers: &[usize], next: u64) {
        let mut registers = native.registers().unwrap();
        let mut general = state::general(&registers);
        for &number in numbers {
            general[number] = 0;
        }
        state::set_general(&mut registers, &general);
        registers.rip = next;
        native.set_registers(registers).unwrap();
    }

    #[test]
    fn two_native_runs_are_the_same() {
        let Some(mut first) = start(&["/bin/true"]) else { return };
        let Some(mut second) = start(&["/bin/true"]) else { return };
        let first = digest(&mut first, 5_000);
        let second = digest(&mut second, 5_000);
        assert_eq!(first, second);
        assert!(first.1 > 0, "the dynamic loader made no system call");
    }

    #[test]
    fn a_system_call_made_for_the_child_leaves_its_registers_alone() {
        let Some(mut native) = start(&["/bin/true"]) else { return };
        let before = native.state().unwrap();
        let place = 0x1234_5000;
        native.map_fresh(place, 2 * PAGE_SIZE).unwrap();
        assert_eq!(native.system_call(libc::SYS_getppid, [0; 6]).unwrap(), i64::from(std::process::id()));
        assert_eq!(native.state().unwrap(), before);
        native.write(place + PAGE_SIZE - 4, b"across a page").unwrap();
        let mut bytes = [0; 13];
        native.read(place + PAGE_SIZE - 4, &mut bytes).unwrap();
        assert_eq!(&bytes, b"across a page");
    }

    #[test]
    fn the_whole_stack_can_be_written_at_once() {
        let Some(native) = start(&["/bin/true"]) else { return };
        let top = native.mappings().unwrap().iter().find(|mapping| mapping.is_stack()).unwrap().end;
        native.write(top - STACK_SIZE, b"bottom").unwrap();
        assert!(native.write(top - STACK_SIZE - PAGE_SIZE, b"below").is_err());
    }

    #[test]
    fn a_fault_is_told_from_the_end_of_a_step() {
        let cases: [(&[u8], i32); 4] = [
            (&[0xcc], libc::SIGTRAP),
            (&[0x0f, 0x0b], libc::SIGILL),
            (&[0xf4], libc::SIGSEGV),
            // mov al, [0x10]
            (&[0x8a, 0x04, 0x25, 0x10, 0, 0, 0], libc::SIGSEGV),
        ];
        for (bytes, expected) in cases {
            let Some(mut native) = start(&["/bin/true"]) else { return };
            native.write(native.registers().unwrap().rip, bytes).unwrap();
            match native.step().unwrap() {
                NativeStop::Signal { number, .. } => assert_eq!(number, expected, "{bytes:x?}"),
                other => panic!("{bytes:x?}: {other:?}"),
            }
        }
        let Some(mut native) = start(&["/bin/true"]) else { return };
        native.write(native.registers().unwrap().rip, &[0x90]).unwrap();
        assert_eq!(native.step().unwrap(), NativeStop::Stepped);
    }
}
