//! How a signal takes its effect: between two instructions, when a system call is over, or when an instruction faulted.

use std::ops::Range;

use lift::Reg;
use machine::{
    AccessFault, Cause, Core, Cpu, Fault, FaultKind, Interruption, InterruptionKind, Machine, Memory, Time,
};

use super::frame::{self, CONTEXT_BYTES, Contents, Layout};
use super::information::{self, Information, SI_KERNEL};
use super::operands::{Operands, operands};
use super::{Action, AlternateStack, DefaultAction, SIGSEGV, UNBLOCKABLE, bit, default_action};
use crate::errno::Errno;
use crate::guest::Guest;
use crate::kernel::{Call, Exit, Kernel, SysResult};

/// Tells debuggers that an instruction is to be executed again.
const RESUME_FLAG: u64 = 0x1_0000;
/// A syscall instruction.
const SYSCALL_LENGTH: u64 = 2;

/// The frame could not be written.
struct NoRoom {
    out_of_memory: bool,
}

/// How a signal came.
struct Origin<'a> {
    information: &'a Information,
    /// The instruction that could not be executed.
    faulted_at: Option<u64>,
    flags: u64,
    operands: Operands,
}

impl Kernel {
    /// Lets signals that wait take their effect, now that a system call is over or a timer has gone off. `call` is the number
    /// of the call.
    pub fn deliver(&mut self, machine: &mut Machine, call: Option<u64>) {
        let time = machine.time;
        let Core { cpu, memory, .. } = &mut **machine;
        self.deliver_into(memory, cpu, time, call);
    }

    /// The same, apart from where registers and memory are.
    pub fn deliver_into(&mut self, memory: &mut Memory, cpu: &mut Cpu, time: Time, call: Option<u64>) {
        self.let_timers_go_off(time);
        let mut restart = call.filter(|_| std::mem::take(&mut self.can_restart));
        while self.ended.is_none()
            && let Some(information) = self.signals.pending.take(!self.signals.blocked)
        {
            let signal = information.signal();
            let action = self.signals.action(signal).unwrap_or_default();
            match action.handler {
                Action::IGNORE => {}
                Action::DEFAULT => self.take_default(&information),
                _ => {
                    if let Some(number) = restart.take()
                        && action.flags & Action::RESTART != 0
                    {
                        cpu.rip = cpu.rip.wrapping_sub(SYSCALL_LENGTH);
                        cpu.set(Reg::RAX, number);
                    }
                    let (flags, operands) = (cpu.rflags(), Operands::default());
                    let cause = Origin { information: &information, faulted_at: None, flags, operands };
                    self.run_handler(memory, cpu, time, cause);
                }
            }
        }
        if let Some(mask) = self.signals.saved_mask.take() {
            self.signals.blocked = mask;
        }
    }

    fn take_default(&mut self, information: &Information) {
        let signal = information.signal();
        match default_action(signal) {
            DefaultAction::Ignore => {}
            DefaultAction::Terminate => {
                self.signals.killed_by = Some(*information);
                self.ended.get_or_insert(Exit::Killed { signal, fault: None });
            }
            DefaultAction::Stop => {
                self.ended.get_or_insert(Exit::Deadlock { call: "kill" });
            }
        }
    }

    /// Timers that are due send their signals.
    pub fn let_timers_go_off(&mut self, now: Time) {
        let mut due = Vec::new();
        let elapsed = self.clock.elapsed();
        let clock = self.signals.timers.go_off(elapsed, now, |signal| due.push(signal));
        self.clock.sleep(clock.saturating_sub(elapsed));
        due.into_iter().for_each(|signal| self.signals.send(Information::new(signal, SI_KERNEL)));
    }

    /// The instruction at hand faulted: its handler is entered, or the process ends.
    pub fn fault(&mut self, machine: &mut Machine, fault: Fault) {
        let time = machine.time;
        let beyond_file = match fault.kind {
            FaultKind::Memory(access) if access.cause == Cause::OutOfMemory => {
                self.ended = Some(Exit::OutOfMemory { limit: self.limits.memory });
                return;
            }
            FaultKind::Memory(access) => is_beyond_file(&machine.memory, access.address),
            _ => false,
        };
        let signal = information::signal_of(&fault, beyond_file);
        if !self.signals.is_handled(signal) || is_of_heap(fault.kind) {
            self.ended = Some(Exit::Killed { signal, fault: Some(fault) });
            return;
        }
        let is_x87 = is_x87_instruction(machine, fault.rip);
        let is_present = match fault.kind {
            FaultKind::Memory(access) => is_present(&machine.memory, access) && !beyond_file,
            _ => false,
        };
        self.signals.trap = self.signals.trap.after(&fault, is_present, is_x87);
        let information = information::of_fault(signal, &fault, &machine.cpu, is_x87);
        let operands = operands(machine, fault.kind);
        let mut flags = machine.cpu.rflags();
        if fault.kind == FaultKind::Breakpoint {
            machine.cpu.rip = after_breakpoint(machine, fault.rip);
        } else {
            flags |= RESUME_FLAG;
        }
        self.accesses.clear();
        let Core { cpu, memory, .. } = &mut **machine;
        let cause = Origin { information: &information, faulted_at: Some(fault.rip), flags, operands };
        self.run_handler(memory, cpu, time, cause);
        if self.signals.is_interrupted() {
            self.deliver_into(memory, cpu, time, None);
        }
        // What the fault was is known better than that its handler could not run.
        if self.ended == Some(Exit::Killed { signal, fault: None }) {
            machine.cpu.rip = fault.rip;
            self.ended = Some(Exit::Killed { signal, fault: Some(fault) });
        }
    }

    /// Enters a handler. Where there is no room for its frame, the process gets SIGSEGV instead.
    fn run_handler(&mut self, memory: &mut Memory, cpu: &mut Cpu, time: Time, cause: Origin<'_>) {
        let signal = cause.information.signal();
        let action = self.signals.action(signal).unwrap_or_default();
        let from = cause.faulted_at.unwrap_or(cpu.rip);
        if action.flags & Action::RESET != 0 {
            self.signals.set_action(signal, Action { handler: Action::DEFAULT, ..action });
        }
        match self.push_frame(memory, cpu, &cause, &action) {
            Ok((layout, stack)) => {
                let kind = InterruptionKind::Entered {
                    signal,
                    slot: layout.start,
                    stack,
                    fault: cause.faulted_at.is_some(),
                };
                self.interruptions.push(Interruption {
                    time,
                    kind,
                    from,
                    copies: layout.copies(),
                    flags: layout.flags(),
                    rip: layout.rip(),
                    written: frame_ranges(layout, &action),
                    set: frame::set_on_entry(),
                    told: [Reg::RDI].into(),
                    operands: cause.operands.slots.into(),
                    read: cause.operands.memory.into(),
                });
                frame::enter(cpu, layout, cause.information, action.handler);
                let own = if action.flags & Action::NO_DEFER == 0 { bit(signal) } else { 0 };
                self.signals.blocked |= (action.mask | own) & !UNBLOCKABLE;
            }
            Err(NoRoom { out_of_memory: true }) => {
                self.ended = Some(Exit::OutOfMemory { limit: self.limits.memory });
            }
            Err(NoRoom { out_of_memory: false }) => {
                if signal == SIGSEGV {
                    self.signals.set_action(SIGSEGV, Action::default());
                }
                self.signals.force(Information::new(SIGSEGV, SI_KERNEL));
            }
        }
    }

    /// Writes what the handler will find on its stack; says where, and which stack that is if it is another one.
    fn push_frame(
        &mut self,
        memory: &mut Memory,
        cpu: &Cpu,
        cause: &Origin<'_>,
        action: &Action,
    ) -> Result<(Layout, Option<Range<u64>>), NoRoom> {
        const FULL: NoRoom = NoRoom { out_of_memory: false };
        let pointer = cpu.get(Reg::RSP);
        let stack = self.signals.stack;
        let is_nested = stack.is_in_use(pointer);
        let enters = action.flags & Action::ON_STACK != 0 && stack.size > 0 && !is_nested;
        let top = if enters { stack.start.wrapping_add(stack.size) } else { pointer };
        let layout = Layout::below(top, !enters);
        if (is_nested || enters) && !stack.holds(layout.start) || action.flags & Action::RESTORER == 0 {
            return Err(FULL);
        }
        let contents = Contents {
            cpu,
            flags: cause.flags,
            restorer: action.restorer,
            mask: self.signals.saved_mask.unwrap_or(self.signals.blocked),
            stack,
            trap: self.signals.trap,
        };
        let mut accesses = std::mem::take(&mut self.accesses);
        let mut guest = Guest::new(memory, &mut accesses);
        let written = guest
            .write(layout.float, &cpu.float_state())
            .and_then(|()| guest.write(layout.start, &contents.bytes(layout)))
            .and_then(|()| match action.flags & Action::INFORMATION {
                0 => Ok(()),
                _ => guest.write(layout.information(), cause.information.bytes()),
            });
        let out_of_memory = guest.out_of_memory();
        self.accesses = accesses;
        written.map_err(|_| NoRoom { out_of_memory })?;
        self.signals.saved_mask = None;
        if stack.flags & AlternateStack::AUTODISARM != 0 {
            self.signals.stack = AlternateStack::NONE;
        }
        Ok((layout, enters.then_some(stack.start..top)))
    }
}

impl Call<'_> {
    /// A handler has returned: all registers are as its frame says.
    pub fn rt_sigreturn(&mut self) -> SysResult {
        let pointer = self.cpu.get(Reg::RSP);
        let restored = self.restore_frame(pointer);
        if restored.is_err() {
            self.kernel.signals.force(Information::new(SIGSEGV, SI_KERNEL));
        }
        Ok(self.cpu.get(Reg::RAX))
    }

    fn restore_frame(&mut self, pointer: u64) -> Result<(), Errno> {
        let from = self.cpu.rip.wrapping_sub(SYSCALL_LENGTH);
        let layout = Layout::left_at(pointer, 0);
        let context: [u8; CONTEXT_BYTES] = self.guest.read_array(layout.context())?;
        let mut cpu = self.cpu.clone();
        let restored = frame::restore(&mut cpu, &context);
        self.kernel.signals.blocked = restored.mask & !UNBLOCKABLE;
        let mut set = Vec::new();
        if restored.float == 0 {
            cpu.reset_float_state();
            set.extend(frame::set_on_entry().iter().filter(|reg| !reg.is_general()));
        } else {
            let float = self.guest.read_array(restored.float)?;
            if !cpu.set_float_state(&float) {
                return Err(Errno::EINVAL);
            }
        }
        if !restored.is_valid {
            return Err(Errno::EINVAL);
        }
        let layout = Layout::left_at(pointer, restored.float);
        *self.cpu = cpu;
        // A stack that cannot be set is left as it is.
        let _ = self.set_alternate_stack(restored.stack);
        self.kernel.interruptions.push(Interruption {
            time: self.time,
            kind: InterruptionKind::Left { stack: pointer },
            from,
            copies: layout.copies(),
            flags: layout.flags(),
            rip: layout.rip(),
            written: [].into(),
            set: set.into(),
            told: [].into(),
            operands: [].into(),
            read: [].into(),
        });
        Ok(())
    }

    /// What sigaltstack does with a new stack.
    pub fn set_alternate_stack(&mut self, wanted: AlternateStack) -> Result<(), Errno> {
        const SMALLEST: u64 = 2048;
        let current = self.kernel.signals.stack;
        if current.is_in_use(self.cpu.get(Reg::RSP)) {
            return Err(Errno::EPERM);
        }
        self.kernel.signals.stack = match wanted.flags & !AlternateStack::AUTODISARM {
            AlternateStack::DISABLED => AlternateStack { flags: wanted.flags, ..AlternateStack::NONE },
            0 | AlternateStack::IN_USE if wanted.size < SMALLEST => return Err(Errno::ENOMEM),
            0 | AlternateStack::IN_USE => wanted,
            _ => return Err(Errno::EINVAL),
        };
        Ok(())
    }
}

/// Memory that a frame takes.
fn frame_ranges(layout: Layout, action: &Action) -> Box<[Range<u64>]> {
    let end = match action.flags & Action::INFORMATION {
        0 => layout.information(),
        _ => layout.information().wrapping_add(information::INFORMATION_SIZE as u64),
    };
    [layout.start..end, layout.float..layout.float.wrapping_add(lift::FXSAVE_BYTES)].into()
}

/// Whether an address lies in a mapping of a file, but in a page behind the file's end. Such pages are mapped without
/// permissions, see `syscalls::memory`.
fn is_beyond_file(memory: &Memory, address: u64) -> bool {
    match memory.region_at(address).map(|region| &region.backing) {
        Some(machine::Backing::Bytes { content, offset }) => *offset >= content.len() as u64,
        _ => false,
    }
}

/// A misuse of the checked heap, which the processor would not have noticed: it is no business of the program's handlers.
fn is_of_heap(kind: FaultKind) -> bool {
    match kind {
        FaultKind::Memory(access) => access.cause == Cause::Forbidden,
        kind => kind == FaultKind::Misuse,
    }
}

/// Whether the processor finds a page there that it may not access so. One that nobody may access counts as not there.
fn is_present(memory: &Memory, access: AccessFault) -> bool {
    access.cause != Cause::Unmapped
        && memory.region_at(access.address).is_some_and(|region| region.permissions.read)
}

fn instruction_bytes(machine: &Machine, address: u64) -> Vec<u8> {
    let mut bytes = [0; lift::MAX_INSTRUCTION];
    let length = machine.memory.fetch(address, &mut bytes);
    bytes.get(..length).unwrap_or_default().to_vec()
}

fn is_x87_instruction(machine: &Machine, address: u64) -> bool {
    let is_prefix = |byte: &u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67);
    let bytes = instruction_bytes(machine, address);
    matches!(bytes.iter().find(|byte| !is_prefix(byte)), Some(0xd8..=0xdf | 0x9b))
}

/// Where a breakpoint's handler goes on: unlike other faults it comes after its instruction.
fn after_breakpoint(machine: &Machine, address: u64) -> u64 {
    const LONG_FORM: u8 = 0xcd;
    let length = if instruction_bytes(machine, address).first() == Some(&LONG_FORM) { 2 } else { 1 };
    address.wrapping_add(length)
}
