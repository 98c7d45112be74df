//! The loop that moves both sides one instruction on and compares them.

use std::collections::VecDeque;

use linux::Process;
use machine::{Fault, FaultKind, Stop, Time};

use super::compare::{self, Writes};
use super::instruction::{self, Plan, Step};
use super::native::{Native, NativeStop};
use super::pin::Pinned;
use super::report::{Divergence, End, Failure, Report};
use super::shadow::Shadow;
use super::signals::Entered;
use super::state::{self, Difference, State, TRAP_FLAG};
use super::{Command, adopt, auxv, kernel, place};

/// Pages that the machine wrote are compared as a whole this often, for writes that one side made
/// and the other did not.
const COMPARE_PAGES_EVERY: u64 = 10_000;
/// How many instructions a divergence shows.
const HISTORY: usize = 10;
const LONGEST_INSTRUCTION: usize = 15;

pub fn run(command: &Command, limit: u64) -> Result<Report, Failure> {
    let pinned = Pinned::new();
    let native = Native::start(command)?;
    auxv::normalise(&native)?;
    let mut stepper = Stepper::new(command, native)?;
    stepper.pinned = Some(pinned);
    stepper.report(limit)
}

struct Stepper {
    native: Native,
    process: Process,
    step: u64,
    system_calls: u64,
    pages_compared: u64,
    /// Address and bytes of the last instructions, the current one last.
    history: VecDeque<(u64, Vec<u8>)>,
    /// What the machine wrote in the current instruction.
    writes: Writes,
    shadow: Shadow,
    /// The last step entered a handler because of a fault, which takes no time: the shadow, which stops at a time, stops before it.
    faulted: bool,
    /// If this thread may be bound to a processor.
    pinned: Option<Pinned>,
}

impl Stepper {
    /// The child is as yet before its first instruction.
    fn new(command: &Command, native: Native) -> Result<Stepper, Failure> {
        let mut process = adopt::copy(command, &native)?;
        let shadow = Shadow::of(&mut process);
        Ok(Stepper {
            native,
            process,
            step: 0,
            system_calls: 0,
            pages_compared: 0,
            history: VecDeque::with_capacity(HISTORY),
            writes: Writes::default(),
            shadow,
            faulted: false,
            pinned: None,
        })
    }

    fn report(&mut self, limit: u64) -> Result<Report, Failure> {
        let end = self.run(limit)?;
        self.compare_everything(&end)?;
        let Stepper { step: steps, system_calls, pages_compared, .. } = *self;
        Ok(Report { steps, end, system_calls, pages_compared })
    }

    fn run(&mut self, limit: u64) -> Result<End, Failure> {
        while self.step < limit {
            if let Some(end) = self.step()? {
                return Ok(end);
            }
            self.step += 1;
            if self.step.is_multiple_of(COMPARE_PAGES_EVERY) {
                if let Some(pinned) = &mut self.pinned {
                    pinned.reconsider(self.native.pid(), COMPARE_PAGES_EVERY as u32);
                }
                let memory = &self.process.machine.memory;
                let found = compare::written_pages(memory, &self.native, &mut self.pages_compared)?;
                self.require_none(found)?;
                self.compare_with_shadow()?;
            }
        }
        Ok(End::Limit)
    }

    /// One instruction on both sides.
    fn step(&mut self) -> Result<Option<End>, Failure> {
        let mut due = Entered::default();
        self.process.deliver_due(&mut due);
        self.enter(&due, None)?;
        let rip = self.process.machine.cpu.rip;
        let mut bytes = [0; LONGEST_INSTRUCTION];
        let available = self.process.machine.memory.fetch(rip, &mut bytes);
        let step = Step::decode(rip, &bytes[..available]);
        self.remember(rip, &bytes[..available]);

        self.writes.clear();
        let until = Time(self.process.machine.time.0 + 1);
        match self.process.machine.run(until, &mut self.writes) {
            // Nobody has hung a hook: the program's own allocator is what is compared.
            Stop::Until | Stop::Syscall | Stop::Hook => self.faulted = false,
            Stop::Fault(fault) => return self.fault(&step, &fault),
            Stop::Unsupported(unsupported) => {
                let what = format!("{} at {:#x}", unsupported.text, unsupported.address);
                return Ok(Some(End::Unsupported(what)));
            }
        }
        match &step.plan {
            Plan::Step => self.native_step()?,
            Plan::Repeat => self.native_repeat(rip)?,
            Plan::PushFlags => {
                self.native_step()?;
                let rsp = self.native.registers()?.rsp;
                let word = self.native.read_word(rsp)?;
                self.native.write(rsp, &(word & !TRAP_FLAG).to_le_bytes())?;
            }
            Plan::Answer { registers, flags } => {
                self.answer(registers, *flags, step.instruction.next_ip())?;
            }
            Plan::Syscall => {
                self.system_calls += 1;
                let result = kernel::serve(&mut self.process, &mut self.native)?;
                self.require_none(result.differences)?;
                if let Some(end) = result.end {
                    return Ok(Some(end));
                }
                if result.entered {
                    self.shadow.renew_if_open(&mut self.process);
                }
            }
        }
        self.compare(&step)?;
        Ok(None)
    }

    /// Registers and the bytes just written. What the architecture leaves open is taken from the
    /// native side.
    fn compare(&mut self, step: &Step) -> Result<(), Failure> {
        let native = self.native.state()?;
        let machine = &mut self.process.machine;
        let read_open_flags = self.shadow.is_open_to(step);
        let taken_over = compare::settle(machine, &native, step);
        self.shadow.note(step, taken_over.flags);
        let mut differences = State::differences(&compare::state(&machine.cpu), &native, 0);
        differences.extend(compare::writes(&machine.memory, &self.native, &self.writes, step)?);
        self.require_none(differences)?;
        if taken_over.values || read_open_flags {
            self.shadow = Shadow::of(&mut self.process);
        }
        Ok(())
    }

    fn compare_everything(&mut self, end: &End) -> Result<(), Failure> {
        let memory = &self.process.machine.memory;
        let found = compare::all_pages(memory, &self.native, &mut self.pages_compared)?;
        self.require_none(found)?;
        if *end == End::Limit {
            self.compare_with_shadow()?;
        }
        Ok(())
    }

    fn compare_with_shadow(&mut self) -> Result<(), Failure> {
        if self.faulted {
            return Ok(());
        }
        let found = self.shadow.catch_up(&self.process);
        self.require_none(found)
    }

    fn native_step(&mut self) -> Result<(), Failure> {
        match self.native.step()? {
            NativeStop::Stepped => Ok(()),
            stop => Err(self.diverged(vec![native_fault("none", &stop)])),
        }
    }

    fn native_repeat(&mut self, rip: u64) -> Result<(), Failure> {
        loop {
            self.native_step()?;
            if self.native.registers()?.rip != rip {
                return Ok(());
            }
        }
    }

    /// Copies the machine's answer instead of executing the instruction.
    fn answer(&mut self, registers: &[usize], flags: bool, next: u64) -> Result<(), Failure> {
        let machine = compare::state(&self.process.machine.cpu);
        let mut target = self.native.registers()?;
        let mut general = state::general(&target);
        for &number in registers {
            general[number] = machine.general[number];
        }
        state::set_general(&mut target, &general);
        if flags {
            target.eflags = target.eflags & !state::PROGRAM_FLAGS | machine.flags;
        }
        target.rip = next;
        self.native.set_registers(target)?;
        Ok(())
    }

    /// The machine faulted: so must the processor, for the same reason and in the same state.
    /// Both go on in the handler, if there is one.
    fn fault(&mut self, step: &Step, fault: &Fault) -> Result<Option<End>, Failure> {
        let end = End::Fault(format!("{:?}", fault.kind));
        if let Plan::Answer { .. } = step.plan {
            // The machine does not have it, whatever the host says.
            return Ok(Some(end));
        }
        let rip = self.process.machine.cpu.rip;
        let stop = loop {
            match self.native.step()? {
                NativeStop::Stepped if step.plan == Plan::Repeat && self.native.registers()?.rip == rip => {}
                stop => break stop,
            }
        };
        if !same_fault(&fault.kind, &stop) {
            return Err(self.diverged(vec![native_fault(&format!("{:?}", fault.kind), &stop)]));
        }
        let mut native = self.native.state()?;
        if fault.kind == FaultKind::Breakpoint {
            // The processor reports int3 as a trap, with rip behind it.
            native.rip = step.instruction.ip();
        }
        let machine = compare::state(&self.process.machine.cpu);
        self.require_none(State::differences(&machine, &native, 0))?;
        let mut entered = Entered::default();
        self.process.take_fault(*fault, &mut entered);
        if self.process.kernel.ended.is_some() {
            return Ok(Some(end));
        }
        self.faulted = true;
        let raised = if let NativeStop::Signal { number, .. } = stop { Some(number) } else { None };
        self.enter(&entered, raised)?;
        Ok(None)
    }

    /// Has the child enter the handlers that the machine's kernel has entered.
    fn enter(&mut self, entered: &Entered, raised: Option<i32>) -> Result<(), Failure> {
        if entered.0.is_empty() {
            return Ok(());
        }
        let differences = entered.follow(&self.process, &mut self.native, raised)?;
        self.require_none(differences)?;
        let machine = compare::state(&self.process.machine.cpu);
        self.require_none(State::differences(&machine, &self.native.state()?, 0))?;
        self.shadow.renew_if_open(&mut self.process);
        Ok(())
    }

    fn remember(&mut self, rip: u64, bytes: &[u8]) {
        let mut entry =
            if self.history.len() == HISTORY { self.history.pop_front() } else { None }.unwrap_or_default();
        entry.0 = rip;
        entry.1.clear();
        entry.1.extend_from_slice(bytes);
        self.history.push_back(entry);
    }

    fn require_none(&self, differences: Vec<Difference>) -> Result<(), Failure> {
        if differences.is_empty() { Ok(()) } else { Err(self.diverged(differences)) }
    }

    #[cold]
    fn diverged(&self, differences: Vec<Difference>) -> Failure {
        let history: Vec<String> =
            self.history.iter().map(|(rip, bytes)| instruction::describe(*rip, bytes)).collect();
        let rip = self.history.back().map_or(0, |(rip, _)| *rip);
        Failure::Diverged(Box::new(Divergence {
            step: self.step,
            instruction: history.last().cloned().unwrap_or_default(),
            place: place::describe(&self.process.machine.memory, &self.native, rip),
            differences,
            history,
        }))
    }
}

fn native_fault(machine: &str, stop: &NativeStop) -> Difference {
    Difference { what: "fault".to_owned(), machine: machine.to_owned(), native: format!("{stop:?}") }
}

fn same_fault(kind: &FaultKind, stop: &NativeStop) -> bool {
    const BY_PROCESSOR: i32 = 0x80;
    const DIVIDE: i32 = 1;
    let NativeStop::Signal { number, info } = *stop else { return false };
    match kind {
        FaultKind::Memory(fault) => {
            matches!(number, libc::SIGSEGV | libc::SIGBUS)
                && info.code != BY_PROCESSOR
                && info.address == fault.address
        }
        // A non-canonical address in the stack segment is SIGBUS.
        FaultKind::GeneralProtection | FaultKind::Privileged => {
            matches!(number, libc::SIGSEGV | libc::SIGBUS) && info.code == BY_PROCESSOR
        }
        FaultKind::DivideError => number == libc::SIGFPE && info.code == DIVIDE,
        FaultKind::FloatException => number == libc::SIGFPE && info.code != DIVIDE,
        FaultKind::InvalidOpcode => number == libc::SIGILL,
        FaultKind::Breakpoint => number == libc::SIGTRAP,
        FaultKind::Misuse => false,
    }
}

#[cfg(test)]
mod tests;
