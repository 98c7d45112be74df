//! The machine's side: executes the same cases in the machine under test.

use super::layout::{
    CODE, CODE_BYTES, EXIT_POINTER, EXIT_TARGET, FS_BASE, GS_BASE, HIGH, IMAGE_BYTES, LOW, LOW_BYTES, PAGE,
    READ_ONLY, WRITABLE_BYTES, address_of,
};
use super::native::write_code;
use super::state::{CHUNK, Case, Changes, Fault, FaultKind, FloatState, Outcome, State};
use lift::Reg;
use machine::{
    Access, AccessFault, Backing, Cause, Cpu, Machine, Memory, Observer, Permissions, Region, Stop, Time,
    Unwatched,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Which of the machine's two executors runs a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// Runs instruction by instruction under an observer.
    Watched,
    /// Runs whole blocks when nobody watches.
    Fast,
}

impl Executor {
    pub const ALL: [Executor; 2] = [Executor::Watched, Executor::Fast];
}

/// What the machine made of a case.
pub enum Answer {
    Outcome(Box<Outcome>),
    /// It does not implement the instruction.
    Unsupported,
    /// It broke a promise of its own; the text says which.
    Broken(String),
}

/// One machine, used for all cases.
pub struct Emulated {
    machine: Machine,
    image: Box<[u8; IMAGE_BYTES]>,
    code: Vec<u8>,
    scratch: Box<[u8; WRITABLE_BYTES]>,
}

const RAX: usize = 0;

/// Watches, and does nothing else.
struct Watcher;

impl Observer for Watcher {}

impl Emulated {
    pub fn new(image: &[u8; IMAGE_BYTES]) -> Emulated {
        let image = Box::new(*image);
        let machine = fresh_machine(&image);
        Emulated { machine, image, code: vec![0; CODE_BYTES], scratch: Box::new([0; WRITABLE_BYTES]) }
    }

    /// Puts the code of a batch in place.
    pub fn load(&mut self, cases: &[Case]) {
        write_code(cases, &mut self.code);
        self.put_code();
    }

    fn put_code(&mut self) {
        self.machine.memory.poke(CODE, &self.code).expect("the layout is mapped");
    }

    pub fn run(&mut self, case: &Case, executor: Executor) -> Answer {
        for (offset, bytes) in case.patches.iter() {
            self.poke(address_of(offset), bytes);
        }
        set_registers(&mut self.machine.cpu, &case.input);
        let start = self.machine.time;
        let steps = case.steps.len() as u64;
        let machine = &mut self.machine;
        let stop = catch_unwind(AssertUnwindSafe(|| match executor {
            // One more, so that a block runs as a whole: the case and the jump out.
            Executor::Fast => machine.run(Time(start.0 + steps + 1), &mut Unwatched),
            Executor::Watched => machine.run(Time(start.0 + steps), &mut Watcher),
        }));
        let Ok(stop) = stop else {
            self.machine = fresh_machine(&self.image);
            self.put_code();
            return Answer::Broken("panicked".to_string());
        };
        let retired = self.machine.time.0.wrapping_sub(start.0);
        let mut state = registers(&self.machine.cpu);
        let changes = self.take_changes();
        let (mut fault, mut landing) = (None, None);
        match stop {
            Stop::Until => {
                if executor == Executor::Fast && state.rip == EXIT_TARGET {
                    state.rip = case.next_rip();
                }
            }
            Stop::Fault(found) if retired < steps => fault = Some(translate(found.kind)),
            // What the case jumped to faulted, as the filling does.
            Stop::Fault(found) => landing = Some(translate(found.kind)),
            Stop::Unsupported(_) => return Answer::Unsupported,
            Stop::Hook => return Answer::Broken("there are no hooks".to_string()),
            // The kernel's part, as it answers a number that it does not know.
            Stop::Syscall => state.general[RAX] = (-i64::from(libc::ENOSYS)) as u64,
        }
        Answer::Outcome(Box::new(Outcome { state, fault, landing, changes }))
    }

    /// What the case changed in memory; puts the image back.
    fn take_changes(&mut self) -> Changes {
        let (low, high) = self.scratch.split_at_mut(LOW_BYTES);
        self.machine.memory.peek(LOW, low);
        self.machine.memory.peek(HIGH, high);
        let mut changes = Changes::none();
        let mut dirty = Vec::new();
        changes.collect(0, &mut self.scratch[..], &self.image[..WRITABLE_BYTES], |offset| dirty.push(offset));
        for offset in dirty {
            let chunk: [u8; CHUNK] = std::array::from_fn(|at| self.image[offset + at]);
            self.poke(address_of(offset), &chunk);
        }
        changes
    }

    fn poke(&mut self, address: u64, bytes: &[u8]) {
        self.machine.memory.poke(address, bytes).expect("the layout is mapped");
    }
}

fn fresh_machine(image: &[u8; IMAGE_BYTES]) -> Machine {
    const LIMIT: u64 = 64 << 20;
    let mut memory = Memory::new(LIMIT);
    let mut map = |start: u64, bytes: usize, permissions| {
        memory.map(Region {
            start,
            end: start + bytes as u64,
            permissions,
            backing: Backing::Zero,
            name: "".into(),
            shared: false,
        });
    };
    let page = PAGE as usize;
    map(CODE, CODE_BYTES, Permissions::RX);
    map(EXIT_POINTER, page, Permissions::R);
    map(LOW, LOW_BYTES, Permissions::RW);
    map(HIGH, page, Permissions::RW);
    map(READ_ONLY, page, Permissions::R);
    for (address, content) in [
        (EXIT_POINTER, &EXIT_TARGET.to_le_bytes()[..]),
        (LOW, &image[..LOW_BYTES]),
        (HIGH, &image[LOW_BYTES..WRITABLE_BYTES]),
        (READ_ONLY, &image[WRITABLE_BYTES..]),
    ] {
        memory.poke(address, content).expect("just mapped");
    }
    let mut machine = Machine::new(memory);
    machine.cpu.set(Reg::FS_BASE, FS_BASE);
    machine.cpu.set(Reg::GS_BASE, GS_BASE);
    machine
}

fn set_registers(cpu: &mut Cpu, state: &State) {
    for (number, &value) in (0u8..).zip(&state.general) {
        cpu.set(Reg::general(number), value);
    }
    for (number, &value) in (0u8..).zip(&state.float.xmm) {
        cpu.set_xmm(number, value);
    }
    cpu.set(Reg::MXCSR, u64::from(state.float.mxcsr));
    set_x87(cpu, &state.float);
    cpu.set_rflags(state.rflags);
    cpu.rip = state.rip;
}

fn set_x87(cpu: &mut Cpu, float: &FloatState) {
    cpu.set(Reg::X87_CONTROL, u64::from(float.control));
    cpu.set_x87_status(float.status);
    for (number, &value) in (0u8..).zip(&float.stack) {
        let physical = (usize::from(float.status) >> 11 & 7) + usize::from(number);
        cpu.set_extended(number, value, float.tags >> (physical % 8) & 1 != 0);
    }
}

fn registers(cpu: &Cpu) -> State {
    let mut state = State::zero();
    for (number, value) in (0u8..).zip(&mut state.general) {
        *value = cpu.get(Reg::general(number));
    }
    for (number, value) in (0u8..).zip(&mut state.float.xmm) {
        *value = cpu.xmm(number);
    }
    state.float.mxcsr = cpu.get(Reg::MXCSR) as u32;
    state.float.control = cpu.get(Reg::X87_CONTROL) as u16;
    state.float.status = cpu.x87_status();
    for (number, value) in (0u8..).zip(&mut state.float.stack) {
        *value = cpu.extended(number);
    }
    state.float.tags = cpu.x87_tags().into();
    state.rflags = cpu.rflags();
    state.rip = cpu.rip;
    state
}

fn translate(kind: machine::FaultKind) -> Fault {
    use machine::FaultKind as Machine;
    Fault::without_address(match kind {
        Machine::Memory(fault) if fault.cause == Cause::NonCanonical => FaultKind::Protection,
        Machine::Memory(AccessFault { address, access, .. }) => {
            return Fault { kind: FaultKind::PageFault, address, write: access == Access::Write };
        }
        Machine::GeneralProtection | Machine::Privileged => FaultKind::Protection,
        Machine::DivideError => FaultKind::DivideError,
        Machine::InvalidOpcode => FaultKind::InvalidOpcode,
        Machine::Breakpoint => FaultKind::Breakpoint,
        Machine::FloatException => FaultKind::FloatException,
        Machine::Misuse => FaultKind::Other,
    })
}
