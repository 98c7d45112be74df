//! What the kernel and the served allocator mean to those who follow uninitialised values: what they hand out, write and read.

use lift::Reg;
use machine::{Definedness, Interruption, Machine, Region, Stop, Time, UseKind};

use crate::kernel::Exit;
use crate::moved::{Place, SERVED, SystemCall};
use crate::process::{Company, Process};
use crate::syscalls::nr;

/// Calls whose arguments in memory may have parts that nobody sets, since they are meant for the answer or depend on the request; and the return
/// from a handler, whose frame holds registers as they were.
const LOOSE: [u64; 7] =
    [nr::poll, nr::ppoll, nr::select, nr::pselect6, nr::epoll_ctl, nr::ioctl, nr::rt_sigreturn];
/// Calls by which bytes leave the process.
const OUTPUT: [u64; 5] = [nr::write, nr::writev, nr::pwrite64, nr::pwritev, nr::pwritev2];

/// The registers of a system call's arguments, in their order.
pub const ARGUMENTS: [Reg; 6] = [Reg::RDI, Reg::RSI, Reg::RDX, Reg::R10, Reg::R8, Reg::R9];

const INT: u64 = u32::MAX as u64;
const LONG: u64 = u64::MAX;

/// How much of its arguments a call looks at in any case, as masks in their order, for those calls of which that is known.
pub fn arguments(number: u64) -> &'static [u64] {
    match number {
        nr::exit | nr::exit_group | nr::close | nr::dup | nr::alarm => &[INT],
        nr::brk | nr::unlink | nr::chdir | nr::rmdir => &[LONG],
        nr::read | nr::write | nr::readv | nr::writev => &[INT, LONG, LONG],
        nr::pread64 | nr::pwrite64 => &[INT, LONG, LONG, LONG],
        nr::lseek => &[INT, LONG, INT],
        nr::mmap => &[LONG, LONG, LONG, LONG, LONG, LONG],
        nr::munmap => &[LONG, LONG],
        nr::mprotect => &[LONG, LONG, LONG],
        nr::dup2 | nr::kill => &[INT, INT],
        nr::ftruncate | nr::fstat => &[INT, LONG],
        nr::access | nr::mkdir | nr::open => &[LONG, INT],
        nr::openat => &[INT, LONG, INT],
        nr::nanosleep | nr::getcwd | nr::rename | nr::stat | nr::lstat => &[LONG, LONG],
        _ => &[],
    }
}

impl Process {
    /// What is undefined in a process that is about to execute its first instruction.
    pub fn definedness(&self) -> Definedness {
        let memory = &self.machine.memory;
        let stack_pointer = self.machine.cpu.get(Reg::RSP);
        let stack = memory.region_at(stack_pointer).map_or(0..0, |region| region.start..region.end);
        let program = String::from_utf8_lossy(&self.kernel.command.executable);
        let is_own = |region: &&Region| region.permissions.execute && *region.name == *program;
        let own = memory.regions().iter().filter(is_own);
        Definedness::new(stack, stack_pointer, own.map(|region| region.start..region.end).collect())
    }

    /// Runs as [`Process::run`] does, and follows what is undefined.
    pub fn run_defining(&mut self, until: Time, definedness: &mut Definedness) -> Exit {
        self.run_with(until, &mut Defining(definedness))
    }
}

struct Defining<'a>(&'a mut Definedness);

impl Company for Defining<'_> {
    fn run(&mut self, machine: &mut Machine, until: Time) -> Stop {
        machine.run(until, self.0)
    }

    fn called(&mut self, call: &dyn Fn() -> SystemCall, process: &Process) {
        let call = call();
        match call.number {
            SERVED => self.served(&call, process),
            _ => self.answered(&call, process),
        }
        self.0.define_register(Reg::RAX);
    }

    fn interrupted(&mut self, interruption: Interruption) {
        machine::Observer::interruption(self.0, &interruption);
    }
}

impl Defining<'_> {
    fn answered(&mut self, call: &SystemCall, process: &Process) {
        if call.number != nr::rt_sigreturn {
            self.0.check_register(Reg::RAX, LONG, UseKind::Call);
        }
        for (reg, mask) in ARGUMENTS.into_iter().zip(arguments(call.number)) {
            self.0.check_register(reg, *mask, UseKind::Call);
        }
        if !LOOSE.contains(&call.number) {
            let kind = if OUTPUT.contains(&call.number) { UseKind::Output } else { UseKind::Call };
            for read in process.kernel.accesses.iter().filter(|access| !access.write) {
                self.0.check_memory(read.address, read.length, kind);
            }
        }
        for moved in &call.moved {
            match (moved.from, moved.to) {
                (Place::Memory(from), Place::Memory(to)) => self.0.copy(from, to, moved.length),
                (_, Place::Memory(to)) => self.0.define(to, moved.length),
                _ => {}
            }
        }
        self.unmapped(call);
    }

    /// What is mapped anew holds zeros or a file, whatever was there before.
    fn unmapped(&mut self, call: &SystemCall) {
        let failed = call.result as i64;
        if (-4095..0).contains(&failed) {
            return;
        }
        let [address, length, third, ..] = call.arguments;
        match call.number {
            nr::munmap | nr::madvise => self.0.define(address, length),
            nr::mremap if call.result != address => self.0.define(address, length),
            nr::mremap => self.0.define(address.saturating_add(third), length.saturating_sub(third)),
            _ => {}
        }
    }

    fn served(&mut self, call: &SystemCall, process: &Process) {
        for moved in &call.moved {
            match (moved.from, moved.to) {
                (Place::Fresh, Place::Memory(to)) => self.0.undefine(to, moved.length),
                (Place::Memory(from), Place::Memory(to)) => self.0.copy(from, to, moved.length),
                (_, Place::Memory(to)) => self.0.define(to, moved.length),
                _ => {}
            }
        }
        // Where the function returns to: one that throws does so by returning to where that is done.
        self.0.define(process.machine.cpu.get(Reg::RSP), 8);
    }
}
