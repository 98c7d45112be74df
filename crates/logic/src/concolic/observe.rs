//! How a run is followed: each op's meaning is applied before it runs; what it does to memory is followed when that has happened.

use super::access::Pending;
use super::{Concolic, ConstraintKind, Fallback};
use crate::term::{Sort, Term};
use crate::transfer::{self, Effect};
use lift::{Op, Reg, Value};
use linux::{ARGUMENTS, Follower, Place, Process, SERVED, SystemCall, arguments, syscall_name};
use machine::{Cpu, Interruption, InterruptionKind, Observer, Peek, Time};
use replay::Cell;

impl Observer for Concolic {
    fn instruction(&mut self, time: Time, address: u64, _ops: &[Op], cpu: &Cpu) {
        if self.stopped {
            return;
        }
        // What the instruction before left open has come to nothing, since a division is never the last op of one.
        self.pending = Pending::None;
        self.time = time;
        self.address = address;
        if self.definitions.begins(time, address) {
            self.name_results(cpu);
        }
        if self.options.is_given(address) {
            self.definitions.pass_over();
        }
        self.is_full();
    }

    fn op(&mut self, op: &Op, cpu: &Cpu) {
        self.finish_op();
        if self.stopped || self.is_concrete() {
            return;
        }
        if !self.definitions.follows() {
            return self.pass_over(op);
        }
        let reached = self.registers.reaches(op);
        let effect = transfer::apply(&mut self.terms, &mut self.registers, cpu, op);
        self.take(op, effect, reached, cpu);
        self.definitions.note_written(op);
    }

    fn load_from(&mut self, memory: &impl Peek, address: u64, bytes: u64) {
        if !self.stopped {
            self.finish_load(memory, address, bytes);
        }
    }

    fn store(&mut self, address: u64, bytes: u64) {
        if !self.stopped {
            self.finish_store(address, bytes);
        }
    }

    fn string(&mut self, _source: u64, _target: u64, elements: i64) {
        if !self.stopped {
            self.end_string(elements);
        }
    }

    fn interruption(&mut self, interruption: &Interruption) {
        if !self.stopped && !self.is_concrete() {
            self.interrupted(interruption);
        }
    }
}

impl Concolic {
    fn take(&mut self, op: &Op, effect: Effect, reached: bool, cpu: &Cpu) {
        match effect {
            Effect::None => {}
            Effect::Unmodelled(reason) => self.fallbacks.add(Fallback::Op(reason)),
            Effect::Load { dst, bytes, address } => self.pending = Pending::Load { dst, bytes, address },
            Effect::Store { value, address } => {
                let value = value.or_else(|| self.constant_stored(op, cpu));
                self.pending = Pending::Store { value, address };
            }
            Effect::Division { without_fault } => self.pending = Pending::Division { without_fault },
            Effect::Branch { condition } => {
                let Op::Branch { condition: reg, .. } = *op else { return };
                let taken = cpu.get(reg) != 0;
                let holds = if taken { condition } else { self.terms.not(condition) };
                self.constrain(ConstraintKind::Branch { taken }, holds);
            }
            Effect::Jump { target } => {
                let address = match *op {
                    Op::Jump { target: Value::Reg(reg) }
                    | Op::Call { target: Value::Reg(reg), .. }
                    | Op::Return { target: reg } => cpu.get(reg),
                    _ => return,
                };
                self.constrain_equal(ConstraintKind::Target, target, address.into());
            }
            Effect::String(form) => self.begin_string(form, cpu),
            Effect::Helper { helper } => {
                self.begin_helper(helper, reached);
                self.registers.forget_results(op);
            }
            // What becomes of it is told by the call; its arguments are still there then.
            Effect::Syscall => {
                [Reg::RCX, Reg::R11].into_iter().for_each(|reg| self.registers.forget(reg));
            }
        }
    }

    /// Stops when there are too many terms. Whether that is so.
    fn is_full(&mut self) -> bool {
        self.stopped |= self.terms.len() > self.options.most_terms;
        self.stopped
    }

    /// An instant whose results are concrete, whatever they depend on.
    fn pass_over(&mut self, op: &Op) {
        match op {
            Op::Load { .. } | Op::LoadVector { .. } | Op::LoadExtended { .. } => {
                let (mut dst, mut bytes) = (Reg::ZERO, 8);
                op.writes(|reg| {
                    bytes = if dst == Reg::ZERO { 8 } else { 16 };
                    dst = if dst == Reg::ZERO { reg } else { dst };
                });
                transfer::loaded(&mut self.terms, &mut self.registers, dst, bytes, None);
            }
            _ => self.registers.forget_results(op),
        }
        self.pending = Pending::Forget;
    }

    /// What is stored that is concrete, where that is to be named.
    fn constant_stored(&mut self, op: &Op, cpu: &Cpu) -> Option<Term> {
        if !self.definitions.names_constants() {
            return None;
        }
        match *op {
            Op::Store { size, src, .. } => {
                let value = match src {
                    Value::Reg(reg) => cpu.get(reg),
                    Value::Const(constant) => constant,
                };
                Some(self.terms.bits(size.bits(), value.into()))
            }
            Op::StoreVector { src, .. } => Some(self.terms.bits(128, cpu.pair(src))),
            Op::StoreExtended { src, .. } => Some(self.terms.bits(80, cpu.pair(src))),
            _ => None,
        }
    }

    /// A signal handler was entered or left: registers went to memory, or came from there.
    fn interrupted(&mut self, interruption: &Interruption) {
        self.abandon_string();
        self.pending = Pending::None;
        for range in &interruption.written {
            self.memory.forget(range.start, range.end.saturating_sub(range.start));
        }
        let entered = matches!(interruption.kind, InterruptionKind::Entered { .. });
        if self.registers.record().is_some() {
            self.registers.set_record(None);
            self.fallbacks.add(Fallback::Interruption);
        }
        for copied in &interruption.copies {
            let (low, bits) = (8 * u32::from(copied.first), 8 * u32::from(copied.length));
            if entered {
                if let Some(term) = self.registers.get(copied.reg)
                    && bits > 0
                    && low + bits <= 64
                {
                    let saved = self.terms.extract(low + bits - 1, low, term);
                    self.memory.store(&self.terms, copied.address, saved);
                }
            } else if self.memory.any(copied.address, copied.length.into()) {
                // What is concrete, in memory or of a register that is not copied as a whole, is not known here.
                let whole = (low == 0 && copied.length == 8 && self.memory.all(copied.address, 8))
                    .then(|| self.memory.load(&mut self.terms, copied.address, &[0; 8]))
                    .flatten();
                match whole {
                    Some(term) => self.registers.set(&self.terms, copied.reg, term),
                    None => self.lose(copied.reg),
                }
            } else {
                self.registers.forget(copied.reg);
            }
        }
        let given = interruption.set.iter().chain(&interruption.told);
        given.for_each(|reg| self.registers.forget(*reg));
    }

    fn lose(&mut self, reg: Reg) {
        self.registers.forget(reg);
        self.fallbacks.add(Fallback::Interruption);
    }
}

impl Follower for Concolic {
    fn called(&mut self, call: &SystemCall, process: &Process) {
        if self.stopped {
            return;
        }
        if !self.is_concrete() {
            self.count_call(call, process);
        }
        self.registers.forget(Reg::RAX);
        if call.number == SERVED {
            self.returned(process);
        }
        for moved in &call.moved {
            match (moved.from, moved.to) {
                (Place::Memory(from), Place::Memory(to)) => self.memory.copy(from, to, moved.length),
                (from, Place::Memory(to)) => {
                    self.memory.forget(to, moved.length);
                    if self.options.inputs.has(from) {
                        self.read_input(from, to, moved.length, process);
                    }
                }
                _ => {}
            }
        }
        self.remapped(call);
    }
}

impl Concolic {
    /// Whether something unknown went into the call, in its arguments or in memory that the kernel read.
    fn count_call(&mut self, call: &SystemCall, process: &Process) {
        // What it reads are the registers that a handler interrupted, which come back by themselves.
        if syscall_name(call.number) == Some("rt_sigreturn") {
            return;
        }
        let served = call.number == SERVED;
        let looked_at = if served { 2 } else { arguments(call.number).len() };
        let in_registers = ARGUMENTS.iter().take(looked_at).any(|reg| self.registers.get(*reg).is_some());
        let mut read = process.kernel.accesses.iter().filter(|access| !access.write);
        if in_registers || read.any(|access| self.memory.any(access.address, access.length)) {
            self.fallbacks.add(if served { Fallback::Served } else { Fallback::SystemCall(call.number) });
        }
    }

    /// A function that was served has returned: the stack pointer is where the return left it.
    fn returned(&mut self, process: &Process) {
        if let Some(before) = self.registers.get(Reg::RSP) {
            let moved = process.machine.cpu.get(Reg::RSP).wrapping_sub(self.value(before) as u64);
            let moved = self.terms.bits(64, moved.into());
            let after = self.terms.add(before, moved);
            self.registers.set(&self.terms, Reg::RSP, after);
        }
    }

    /// Each byte of an input is an unknown of its own.
    fn read_input(&mut self, from: Place, to: u64, length: u64, process: &Process) {
        for n in 0..length {
            if self.is_full() {
                return;
            }
            let (address, mut byte) = (to.wrapping_add(n), [0]);
            process.machine.memory.peek(address, &mut byte);
            let cell = Cell::Kernel { place: from.plus(n), length: 1 };
            let variable = self.input(process.machine.time, cell, Sort::Bits(8), byte[0].into());
            let term = self.terms.of_variable(variable);
            self.memory.store(&self.terms, address, term);
        }
    }

    /// What is mapped anew holds zeros or a file, whatever was there before.
    fn remapped(&mut self, call: &SystemCall) {
        let failed = (-4095..0).contains(&(call.result as i64));
        let [address, length, ..] = call.arguments;
        match syscall_name(call.number) {
            _ if failed || call.number == SERVED => {}
            Some("mmap") => self.memory.forget(call.result, length),
            Some("munmap" | "madvise" | "mremap") => self.memory.forget(address, length),
            _ => {}
        }
    }
}
