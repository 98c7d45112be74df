//! Serves the functions that allocate and free memory, in place of their code.

use lift::Reg;
use machine::{Core, Machine, PAGE_SIZE, Stop, Time, Unwatched};

use super::blocks::{Freed, Request};
use super::names::{Function, Role};
use super::{Block, BlockKind, CheckedHeap, Mismatch};
use crate::errno::Errno;
use crate::moved::{Moved, Place};

/// What a program did wrong when it freed or resized a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misuse {
    pub kind: MisuseKind,
    pub pointer: u64,
    /// The function that was called.
    pub resizes: bool,
    /// The block that the pointer leads to, if it does.
    pub block: Option<Block>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MisuseKind {
    /// The block was freed already.
    Freed,
    /// No block begins there.
    NoBlock,
}

/// What a call that was served did.
pub struct Served {
    pub arguments: [u64; 6],
    /// All that it wrote to the guest's memory is in it.
    pub moved: Vec<Moved>,
}

/// A call cannot be served: the program has done something wrong, which the heap remembers.
#[derive(Clone, Copy, Debug)]
pub struct Refused;

/// How a call ended.
enum Answer {
    /// With this in rax.
    Value(u64),
    /// With nothing.
    Nothing,
    /// There is no memory: the function returns a null pointer, and errno tells.
    Failed,
    /// There is no memory: the function throws.
    Throws,
}

/// Instructions that finding errno, or the routine that suits the processor, may take.
const PATIENCE: u64 = 100_000;
/// No code is there, so that a call that returns there has come to its end.
const NOWHERE: u64 = 0;
/// The room below the stack pointer that a function may use without saying so.
const RED_ZONE: u64 = 128;

impl CheckedHeap {
    /// Attends to the hook that the machine has come to. If it is a call that was served, says what it did. An error is a fault of the
    /// program.
    pub fn attend(&mut self, machine: &mut Machine) -> Result<Option<Served>, Refused> {
        let rip = machine.cpu.rip;
        match self.roles.get(&rip).copied() {
            Some(Role::Serve(function)) => self.serve_function(machine, function).map(Some),
            Some(Role::Resolver(check)) => {
                machine.pass_hook();
                let stack = machine.cpu.get(Reg::RSP);
                if let Some(found) = result_of(machine, rip, stack, true) {
                    self.resolved(machine, found, check);
                    machine.pass_hook();
                }
                Ok(None)
            }
            Some(Role::Exit) => {
                self.exit_called = Some(machine.time);
                machine.pass_hook();
                Ok(None)
            }
            None => {
                machine.pass_hook();
                Ok(None)
            }
        }
    }

    fn serve_function(&mut self, machine: &mut Machine, function: Function) -> Result<Served, Refused> {
        let registers = [Reg::RDI, Reg::RSI, Reg::RDX, Reg::RCX, Reg::R8, Reg::R9];
        let arguments = registers.map(|register| machine.cpu.get(register));
        let mut call = Call { heap: self, moved: Vec::new(), time: machine.time };
        let answer = call.serve(machine, function, arguments)?;
        let Call { mut moved, .. } = call;
        match answer {
            Answer::Value(value) => machine.cpu.set(Reg::RAX, value),
            Answer::Nothing => {}
            Answer::Failed => {
                moved.extend(self.set_errno(machine));
                machine.cpu.set(Reg::RAX, 0);
            }
            Answer::Throws => self.throw(machine),
        }
        machine.pass_hook();
        Ok(Served { arguments, moved })
    }

    /// The C library's errno says that there is no memory.
    fn set_errno(&self, machine: &mut Machine) -> Option<Moved> {
        let stack = (machine.cpu.get(Reg::RSP).wrapping_sub(RED_ZONE) & !15).wrapping_sub(8);
        let place = result_of(machine, self.errno_location?, stack, false)?;
        machine.memory.write(place, &Errno::ENOMEM.0.to_le_bytes()).ok()?;
        Some(Moved { from: Place::Kernel, to: Place::Memory(place), length: 4 })
    }

    /// Goes to where the exception is thrown, as if the function had jumped there.
    fn throw(&self, machine: &mut Machine) {
        let stack = machine.cpu.get(Reg::RSP).wrapping_sub(8);
        match self.throw {
            Some(throw) if machine.memory.write(stack, &throw.to_le_bytes()).is_ok() => {
                machine.cpu.set(Reg::RSP, stack);
            }
            _ => machine.cpu.set(Reg::RAX, 0),
        }
    }
}

/// What a function of the guest returns when it is called now, by a copy of the machine. Its return address goes to `stack`.
fn result_of(machine: &mut Machine, function: u64, stack: u64, is_called: bool) -> Option<u64> {
    let mut copy = machine.fork();
    copy.memory.write(stack, &NOWHERE.to_le_bytes()).ok()?;
    copy.cpu.set(Reg::RSP, stack);
    copy.cpu.rip = function;
    if is_called {
        copy.pass_hook();
    }
    let until = Time(copy.time.0.saturating_add(PATIENCE));
    match copy.run(until, &mut Unwatched) {
        Stop::Fault(fault) if fault.rip == NOWHERE => Some(copy.cpu.get(Reg::RAX)),
        _ => None,
    }
}

/// One call that is being served.
struct Call<'a> {
    heap: &'a mut CheckedHeap,
    moved: Vec<Moved>,
    time: Time,
}

impl Call<'_> {
    fn serve(
        &mut self,
        machine: &mut Machine,
        function: Function,
        arguments: [u64; 6],
    ) -> Result<Answer, Refused> {
        let [a, b, c, d, ..] = arguments;
        let plain = |size| Some(self.request(size));
        let product = |count: u64, size: u64| count.checked_mul(size);
        let machine = &mut **machine;
        Ok(match function {
            Function::Malloc => self.allocate(machine, plain(a)),
            Function::Calloc => {
                let request = product(a, b).map(|size| Request { zeroed: true, ..self.request(size) });
                self.allocate(machine, request)
            }
            Function::Realloc => self.resize(machine, a, self.request(b))?,
            Function::ReallocArray => match product(b, c) {
                Some(size) => self.resize(machine, a, self.request(size))?,
                None => Answer::Failed,
            },
            Function::Free => self.free(machine, a, BlockKind::Malloc)?,
            Function::Memalign => {
                // glibc takes the next power of two, and nothing that is absurdly large.
                let alignment = a.checked_next_power_of_two();
                self.allocate(machine, alignment.map(|alignment| self.aligned(b, alignment)))
            }
            Function::PosixMemalign => self.posix_memalign(machine, a, b, c)?,
            Function::Valloc => self.allocate(machine, Some(self.aligned(a, PAGE_SIZE))),
            Function::Pvalloc => {
                let size = a.checked_next_multiple_of(PAGE_SIZE);
                self.allocate(machine, size.map(|size| self.aligned(size.max(PAGE_SIZE), PAGE_SIZE)))
            }
            Function::UsableSize => {
                let block = self.heap.blocks.at(&machine.memory, a);
                Answer::Value(block.map_or(0, |block| block.size))
            }
            Function::New { kind, aligned, throws } => {
                let alignment = if aligned { b } else { 1 };
                let request = alignment.is_power_of_two().then(|| self.aligned(a, alignment));
                match self.allocate(machine, request.map(|request| Request { kind, ..request })) {
                    Answer::Failed if throws => Answer::Throws,
                    Answer::Failed => Answer::Value(0),
                    answer => answer,
                }
            }
            Function::Delete(kind) => self.free(machine, a, kind)?,
            Function::RustAlloc { zeroed } => {
                let request = b.is_power_of_two().then(|| self.aligned(a, b));
                let request = request.map(|request| Request { zeroed, kind: BlockKind::Rust, ..request });
                self.or_null(machine, request)
            }
            Function::RustDealloc => self.free(machine, a, BlockKind::Rust)?,
            Function::RustRealloc => {
                let alignment = if c.is_power_of_two() { c } else { 1 };
                let request = Request { kind: BlockKind::Rust, ..self.aligned(d, alignment) };
                match self.resize(machine, a, request)? {
                    Answer::Failed => Answer::Value(0),
                    answer => answer,
                }
            }
        })
    }

    fn request(&self, size: u64) -> Request {
        Request { size, alignment: 16, zeroed: false, kind: BlockKind::Malloc, time: self.time }
    }

    fn aligned(&self, size: u64, alignment: u64) -> Request {
        Request { alignment: alignment.max(16), ..self.request(size) }
    }

    fn allocate(&mut self, core: &mut Core, request: Option<Request>) -> Answer {
        let Some(request) = request else { return Answer::Failed };
        match self.heap.blocks.allocate(&mut core.memory, request) {
            Some(address) => {
                let from = if request.zeroed { Place::Kernel } else { Place::Fresh };
                self.note(from, Place::Memory(address), request.size);
                Answer::Value(address)
            }
            None => {
                self.heap.refused_size = Some(request.size).filter(|size| *size <= self.heap.blocks.limit());
                Answer::Failed
            }
        }
    }

    /// Without errno, which is the C library's.
    fn or_null(&mut self, core: &mut Core, request: Option<Request>) -> Answer {
        match self.allocate(core, request) {
            Answer::Failed => Answer::Value(0),
            answer => answer,
        }
    }

    fn posix_memalign(
        &mut self,
        core: &mut Core,
        out: u64,
        alignment: u64,
        size: u64,
    ) -> Result<Answer, Refused> {
        if !alignment.is_power_of_two() || alignment < 8 {
            return Ok(Answer::Value(Errno::EINVAL.0 as u64));
        }
        let Answer::Value(address) = self.allocate(core, Some(self.aligned(size, alignment))) else {
            return Ok(Answer::Value(Errno::ENOMEM.0 as u64));
        };
        self.write(core, out, &address.to_le_bytes())?;
        self.note(Place::Kernel, Place::Memory(out), 8);
        Ok(Answer::Value(0))
    }

    fn free(&mut self, core: &mut Core, pointer: u64, kind: BlockKind) -> Result<Answer, Refused> {
        if pointer != 0 {
            let block = self.release(core, pointer, false)?;
            if block.kind != kind {
                self.heap.add_mismatch(Mismatch { block, freed_as: kind, time: self.time });
            }
        }
        Ok(Answer::Nothing)
    }

    /// Frees a block, or tells what is wrong with that.
    fn release(&mut self, core: &mut Core, pointer: u64, resizes: bool) -> Result<Block, Refused> {
        let (kind, block) = match self.heap.blocks.free(&mut core.memory, pointer, self.time) {
            Freed::Done(block) => return Ok(block),
            Freed::Already(block) => (MisuseKind::Freed, Some(block)),
            Freed::NoBlock => (MisuseKind::NoBlock, self.heap.blocks.around(pointer)),
        };
        self.heap.misuse = Some(Misuse { kind, pointer, resizes, block });
        Err(Refused)
    }

    /// A block is never resized where it is, so that pointers into the old one are found out.
    fn resize(&mut self, core: &mut Core, pointer: u64, request: Request) -> Result<Answer, Refused> {
        if pointer == 0 {
            return Ok(self.allocate(core, Some(request)));
        }
        let old = match self.heap.blocks.at(&core.memory, pointer) {
            Some(block) if block.state == super::BlockState::Live => block,
            _ => return self.release(core, pointer, true).map(|_| Answer::Nothing),
        };
        if request.size == 0 && request.kind == BlockKind::Malloc {
            self.release(core, pointer, true)?;
            return Ok(Answer::Value(0));
        }
        let Some(address) = self.heap.blocks.allocate(&mut core.memory, request) else {
            return Ok(Answer::Failed);
        };
        let kept = old.size.min(request.size);
        let mut bytes = vec![0; kept as usize];
        core.memory.peek(pointer, &mut bytes);
        self.write(core, address, &bytes)?;
        self.note(Place::Memory(pointer), Place::Memory(address), kept);
        self.note(Place::Fresh, Place::Memory(address + kept), request.size - kept);
        let block = self.release(core, pointer, true)?;
        if block.kind != request.kind {
            self.heap.add_mismatch(Mismatch { block, freed_as: request.kind, time: self.time });
        }
        Ok(Answer::Value(address))
    }

    fn write(&mut self, core: &mut Core, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        core.memory.write(address, bytes).map_err(|fault| {
            self.heap.refused_write = Some(fault);
            Refused
        })
    }

    fn note(&mut self, from: Place, to: Place, length: u64) {
        if length > 0 {
            self.moved.push(Moved { from, to, length });
        }
    }
}
