//! The machine: state, time, and the run loop around the two executors.

use crate::Cpu;
use crate::block::{self, Block, CodeSpace, Edits, NoBlock};
use crate::exec::{Context, Flow, Force, execute_instruction};
use crate::fast::{Code, Exit, JumpCache, SLICE};
use crate::fault::{Fault, FaultKind, Stop, Unsupported};
use crate::hooks::{Hook, Hooks};
use crate::intervention::{Action, Intervention};
use crate::memory::{Access, AccessFault, Cause, CodeChange, Image, Memory};
use crate::observer::Observer;
use crate::trace::{Cursor, Log, Trace};
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::sync::atomic::Ordering::Release;

mod checkpoint;

pub use checkpoint::Checkpoint;

/// An instant of a run: how many instructions have retired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// The state that executors work on.
#[repr(C)]
pub struct Core {
    pub cpu: Cpu,
    /// The header of the block that the fast executor is in.
    pub(crate) current: *const Code,
    pub(crate) exit: Exit,
    /// What the fast executor left of its slice.
    pub(crate) left: u64,
    /// Where it writes a trace, if it does.
    pub(crate) trace: Cursor,
    pub memory: Memory,
    pub(crate) jumps: JumpCache,
}

/// A whole machine. Forking is cheap; moving is, too.
pub struct Machine {
    core: Box<Core>,
    space: Arc<CodeSpace>,
    /// The space holds code from writable pages and must not be shared.
    private: bool,
    pub time: Time,
    /// What is still to be done differently, the earliest last.
    pending: Vec<(Time, Action)>,
    /// What the hook at rip is there for has been done.
    passed: bool,
}

// SAFETY: the pointers in `Core` lead to blocks of `space`, which the machine keeps alive and which is safe
// under threads.
unsafe impl Send for Machine {}

impl Deref for Machine {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}

impl DerefMut for Machine {
    fn deref_mut(&mut self) -> &mut Core {
        &mut self.core
    }
}

impl Machine {
    pub fn new(memory: Memory) -> Machine {
        Machine {
            core: Core::new(memory),
            space: Arc::default(),
            private: false,
            time: Time(0),
            pending: Vec::new(),
            passed: false,
        }
    }

    /// A clone that goes its own way. It takes `&mut self` because neither side may go on writing to
    /// pages that both now own.
    pub fn fork(&mut self) -> Machine {
        // Else both sides would leave their space, each for one of its own.
        self.follow_code_changes();
        Machine {
            core: Core::assemble(&self.core.cpu, self.core.memory.image()),
            space: self.space_for_another(),
            private: self.private,
            time: self.time,
            pending: self.pending.clone(),
            passed: self.passed,
        }
    }

    /// The space that a copy of this machine runs in.
    fn space_for_another(&self) -> Arc<CodeSpace> {
        match self.private {
            true => Arc::new(self.space.another()),
            false => Arc::clone(&self.space),
        }
    }

    /// Alters the run from now on. What lies in the past has no effect.
    pub fn intervene(&mut self, intervention: Intervention) {
        match intervention {
            Intervention::At(time, action) if time >= self.time => {
                // Of two at one instant, the one that was asked for first comes first.
                let place = self.pending.partition_point(|&(other, _)| other > time);
                self.pending.insert(place, (time, action));
            }
            Intervention::At(..) => {}
            Intervention::Always(address, edit) => {
                let mut edits: Edits = self.space.edits().clone();
                edits.insert(address, edit);
                self.enter_space(Arc::new(self.space.with_edits(edits)));
            }
        }
    }

    /// Runs until `until`, a system call, or something that cannot go on.
    pub fn run<O: Observer>(&mut self, until: Time, observer: &mut O) -> Stop {
        self.run_with(until, &mut Watched(observer))
    }

    /// Runs as nobody watches, and adds to `trace` what is done.
    pub fn run_traced(&mut self, until: Time, trace: &mut Trace) -> Stop {
        self.follow_code_changes();
        let (plain, traced) = (Arc::clone(&self.space), self.space.traced());
        self.enter_space(Arc::clone(&traced));
        let stop = self.run_with(until, trace);
        let same = Arc::ptr_eq(&self.space, &traced);
        self.enter_space(if same { plain } else { Arc::new(self.space.untraced()) });
        stop
    }

    fn run_with<C: Company>(&mut self, until: Time, company: &mut C) -> Stop {
        loop {
            // What is due now waits until the run goes on: a force would be lost otherwise.
            if self.time >= until {
                return Stop::Until;
            }
            let force = match self.act() {
                Ok(force) => force,
                Err(fault) => return self.fault(FaultKind::Memory(fault)),
            };
            self.follow_code_changes();
            let limit = match self.pending.last() {
                Some(&(time, _)) => until.min(time),
                None => until,
            };
            let stop = if force.is_some() {
                self.step(company, force)
            } else if C::WATCHES {
                self.run_watched(limit, company)
            } else {
                self.run_fast(limit, company)
            };
            if let Some(stop) = stop {
                return stop;
            }
        }
    }

    pub fn hooks(&self) -> &Arc<Hooks> {
        self.space.hooks()
    }

    /// Changes the hooks in a stretch of code.
    pub fn change_hooks(&mut self, code: Range<u64>, change: impl FnOnce(&mut Hooks)) {
        self.follow_code_changes();
        if let Some(space) = Arc::get_mut(&mut self.space)
            && !space.has_lifted(&code)
        {
            return space.change_hooks(change);
        }
        let mut hooks = Hooks::clone(self.space.hooks());
        change(&mut hooks);
        let space = self.space.with_hooks(Arc::new(hooks));
        self.enter_space(Arc::new(space));
    }

    /// The machine goes on behind the hook at rip.
    pub fn pass_hook(&mut self) {
        self.passed = true;
    }

    /// How many blocks have been lifted in the space of this machine.
    pub fn block_count(&self) -> usize {
        self.space.block_count()
    }

    /// How many blocks there will be if nothing is executed from here on that was not executed before: where a run is stopped, one may begin
    /// that is none of the program's.
    pub fn block_count_without_news(&self) -> usize {
        self.space.block_count() + usize::from(!self.space.begins_at(self.cpu.rip))
    }

    /// A hash of all that a program can observe of this state: registers and memory.
    pub fn state_hash(&self) -> u64 {
        let mut hash = self.memory.hash();
        for word in self.cpu.visible() {
            hash = (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 29;
        }
        hash
    }

    fn enter_space(&mut self, space: Arc<CodeSpace>) {
        self.space = space;
        self.core.jumps.clear();
    }

    fn follow_code_changes(&mut self) {
        let leave = match self.core.memory.take_code_change() {
            CodeChange::None => false,
            CodeChange::Added => Arc::strong_count(&self.space) > 1,
            CodeChange::Changed => true,
        };
        if leave {
            self.private = false;
            self.enter_space(Arc::new(self.space.another()));
        }
    }

    /// Carries out the interventions that are due; what they force on the next instruction is returned.
    fn act(&mut self) -> Result<Option<Force>, AccessFault> {
        let mut force = None;
        while let Some((_, action)) = self.pending.pop_if(|(time, _)| *time <= self.time) {
            force = action.force().or(force);
            match action {
                Action::SetValue { reg, value } => self.core.cpu.set(reg, value),
                Action::Poke { address, bytes } => self.core.memory.poke(address, &bytes)?,
                Action::FlipBranch | Action::ForceCondition(_) => {}
            }
        }
        Ok(force)
    }

    fn fault(&self, kind: FaultKind) -> Stop {
        Stop::Fault(Fault { kind, rip: self.cpu.rip, time: self.time })
    }

    /// The block at rip.
    fn block(&mut self) -> Result<*const Block, Stop> {
        let rip = self.core.cpu.rip;
        if let Some(header) = self.core.jumps.get(rip) {
            return Ok(block_of(header));
        }
        let block = match self.space.block_at(rip, &self.core.memory) {
            Ok(block) => block,
            Err(NoBlock::Unfetchable(address)) => return Err(self.unfetchable(address)),
            Err(NoBlock::Full) => {
                self.enter_space(Arc::new(self.space.another()));
                return self.block();
            }
        };
        // SAFETY: blocks live as long as the space that this machine holds.
        let pages = block::pages_of(unsafe { &*block });
        let writable: Vec<u64> = pages.filter(|&page| self.is_writable(page)).collect();
        if !writable.is_empty() && !self.private {
            self.private = true;
            self.enter_space(Arc::new(self.space.another()));
            return self.block();
        }
        for page in writable {
            self.core.memory.mark_code(page);
        }
        // SAFETY: as above.
        self.core.jumps.set(rip, unsafe { (*block).codes.header() });
        Ok(block)
    }

    fn is_writable(&self, page: u64) -> bool {
        self.memory.region_at(page).is_some_and(|region| region.permissions.write)
    }

    fn unfetchable(&self, address: u64) -> Stop {
        let canonical = address < 1 << 47 || address >= (1u64 << 47).wrapping_neg();
        if !canonical {
            return self.fault(FaultKind::GeneralProtection);
        }
        let mapped = self.memory.region_at(address).is_some();
        let cause = if mapped { Cause::Protected } else { Cause::Unmapped };
        self.fault(FaultKind::Memory(AccessFault { address, access: Access::Execute, cause }))
    }

    /// One instruction, by the reference executor.
    fn step<C: Company>(&mut self, company: &mut C, force: Option<Force>) -> Option<Stop> {
        let block = match self.block() {
            Ok(block) => block,
            Err(stop) => return Some(stop),
        };
        // SAFETY: as above.
        company.run_instructions(self, unsafe { &*block }, 0, 1, force)
    }

    fn run_watched<C: Company>(&mut self, limit: Time, company: &mut C) -> Option<Stop> {
        while self.time < limit {
            let block = match self.block() {
                Ok(block) => block,
                Err(stop) => return Some(stop),
            };
            // SAFETY: as above.
            let block = unsafe { &*block };
            let count = (limit.0 - self.time.0).min(block.instructions.len() as u64) as usize;
            if let Some(stop) = company.run_instructions(self, block, 0, count, None) {
                return Some(stop);
            }
            self.follow_code_changes();
        }
        None
    }

    /// Runs `count` instructions of a block from the `first` on, by the reference executor, or fewer if one
    /// of them changes the code.
    fn run_instructions<O: Observer>(
        &mut self,
        block: &Block,
        first: usize,
        count: usize,
        observer: &mut O,
        force: Option<Force>,
    ) -> Option<Stop> {
        for (index, instruction) in block.instructions.iter().enumerate().skip(first).take(count) {
            self.core.cpu.rip = instruction.address;
            if index == 0
                && let Some(hook) = block.hook
                && let Some(stop) = self.come_to(hook)
            {
                return Some(stop);
            }
            let ops = block.ops_of(instruction);
            if O::WATCHES {
                observer.instruction(self.time, instruction.address, ops, &self.core.cpu);
                if index == 0
                    && let Some(Hook::Check(check)) = block.hook
                {
                    observer.routine(check, &self.core.cpu, &self.core.memory);
                }
            }
            let mut cx = Context { observer, time: self.time, address: instruction.address, force };
            let next = block.instructions.get(index + 1).map_or(block.end, |next| next.address);
            self.core.memory.open_marked_code(true);
            self.core.memory.leave_loads_unchecked(block.unchecked);
            let done = execute_instruction(&mut self.core.view(), ops, &mut cx);
            self.core.memory.leave_loads_unchecked(false);
            self.core.memory.open_marked_code(false);
            match done {
                Ok(Flow::Next) => self.core.cpu.rip = next,
                Ok(Flow::Goto(target)) => self.core.cpu.rip = target,
                Ok(Flow::Again) => {
                    self.time.0 += 1;
                    return None;
                }
                Ok(Flow::Syscall) => return Some(self.enter_kernel(next, observer)),
                Ok(Flow::Unsupported) => return Some(self.unsupported()),
                Err(kind) => return Some(self.fault(kind)),
            }
            self.time.0 += 1;
            if self.core.memory.code_change() != CodeChange::None {
                break;
            }
        }
        None
    }

    /// What a hook is there for; why the machine stops, if it does.
    fn come_to(&mut self, hook: Hook) -> Option<Stop> {
        match hook {
            Hook::Serve | Hook::Pause => {
                let passed = std::mem::take(&mut self.passed);
                (!passed).then_some(Stop::Hook)
            }
            Hook::Check(check) => {
                let fault = check(&self.core.cpu, &self.core.memory).err()?;
                Some(self.fault(FaultKind::Memory(fault)))
            }
        }
    }

    /// Retires a syscall instruction.
    fn enter_kernel<O: Observer>(&mut self, next: u64, observer: &mut O) -> Stop {
        observer.syscall(self.time, &self.core.cpu);
        let cpu = &mut self.core.cpu;
        cpu.rip = next;
        cpu.enter_kernel(next);
        self.time.0 += 1;
        Stop::Syscall
    }

    fn unsupported(&self) -> Stop {
        let address = self.cpu.rip;
        let mut bytes = [0; lift::MAX_INSTRUCTION];
        let available = self.memory.fetch(address, &mut bytes);
        let described = lift::describe(&bytes[..available], address);
        Stop::Unsupported(Unsupported {
            address,
            bytes: bytes[..described.length].to_vec(),
            text: described.text,
            features: described.features,
        })
    }

    /// Runs by the fast executor. It only ever stops between instructions.
    fn run_fast<C: Company>(&mut self, limit: Time, company: &mut C) -> Option<Stop> {
        let mut block = match self.block() {
            Ok(block) => block,
            Err(stop) => return Some(stop),
        };
        loop {
            // SAFETY: `block` comes from this machine's space.
            let entered = unsafe { &*block };
            let left = limit.0 - self.time.0;
            if left < entered.length {
                self.core.cpu.rip = entered.start;
                return company.run_instructions(self, entered, 0, left as usize, None);
            }
            let slice = left.min(SLICE);
            company.before_slice(self);
            self.core.run_code(entered, slice);
            self.time.0 += slice - self.core.left;
            company.after_slice(self);
            let current = block_of(self.core.current);
            block = match self.core.exit {
                Exit::Slice(header) => block_of(header),
                Exit::Bail(code) => return self.leave_block(current, code, company),
                Exit::Indirect => match self.block() {
                    Ok(block) => block,
                    Err(stop) => return Some(stop),
                },
                Exit::Link(side) => match self.linked(current, side) {
                    Ok(block) => block,
                    Err(stop) => return Some(stop),
                },
            };
        }
    }

    /// Goes from `current` to its target on one side, and links the two.
    fn linked(&mut self, current: *const Block, side: bool) -> Result<*const Block, Stop> {
        // SAFETY: the executor only goes from block to block of this machine's space.
        self.core.cpu.rip = unsafe { (*current).targets[side as usize] };
        let space = Arc::as_ptr(&self.space);
        let block = self.block()?;
        // Code from a writable page makes the machine leave its space, and `current` with it.
        if std::ptr::eq(space, Arc::as_ptr(&self.space)) {
            // SAFETY: both blocks are of the space that the machine is still in.
            unsafe {
                let next = (*block).codes.header().cast_mut();
                (*current).codes.links().next[side as usize].store(next, Release);
            }
        }
        Ok(block)
    }

    /// A handler gave up before an instruction: that one is done by the reference executor.
    fn leave_block<C: Company>(
        &mut self,
        block: *const Block,
        code: *const Code,
        company: &mut C,
    ) -> Option<Stop> {
        // SAFETY: the block is of this machine's space, and `code` is one of its codes, after the header.
        let (block, index) = unsafe { (&*block, code.offset_from((*block).codes.header()) as usize - 1) };
        let origin = block.origins.get(index).copied().unwrap_or(0) as usize;
        // The block was counted as a whole.
        self.time.0 -= block.length - origin as u64;
        company.cut(self.time, block, index);
        company.run_instructions(self, block, origin, 1, None)
    }
}

/// Who goes along with a run: an observer, or a trace.
trait Company {
    /// Whether the fast executor cannot be used.
    const WATCHES: bool;

    /// The fast executor is about to run a slice.
    fn before_slice(&mut self, _machine: &mut Machine) {}
    /// It has run it.
    fn after_slice(&mut self, _machine: &mut Machine) {}
    /// It has left the last block before the code at `index`.
    fn cut(&mut self, _now: Time, _block: &Block, _index: usize) {}
    /// See [`Machine::run_instructions`].
    fn run_instructions(
        &mut self,
        machine: &mut Machine,
        block: &Block,
        first: usize,
        count: usize,
        force: Option<Force>,
    ) -> Option<Stop>;
}

struct Watched<'a, O>(&'a mut O);

impl<O: Observer> Company for Watched<'_, O> {
    const WATCHES: bool = O::WATCHES;

    fn run_instructions(
        &mut self,
        machine: &mut Machine,
        block: &Block,
        first: usize,
        count: usize,
        force: Option<Force>,
    ) -> Option<Stop> {
        machine.run_instructions(block, first, count, self.0, force)
    }
}

impl Company for Trace {
    const WATCHES: bool = false;

    fn before_slice(&mut self, machine: &mut Machine) {
        self.enter(&machine.space, machine.time);
        self.lend(&mut machine.core);
    }

    fn after_slice(&mut self, machine: &mut Machine) {
        self.take_back(&mut machine.core, machine.time);
    }

    fn cut(&mut self, now: Time, block: &Block, index: usize) {
        let origin = block.origins.get(index).copied().unwrap_or(0);
        // Codes of the same instruction before it have noted its words. The first of all notes the pass.
        let before = block.origins.get(1..index).unwrap_or(&[]);
        let noted = before.iter().rev().take_while(|&&other| other == origin).count();
        self.cut(block, origin as usize, noted, now);
    }

    /// Instruction by instruction, so that each has a log of its own.
    fn run_instructions(
        &mut self,
        machine: &mut Machine,
        block: &Block,
        first: usize,
        count: usize,
        force: Option<Force>,
    ) -> Option<Stop> {
        self.enter(&machine.space, machine.time);
        for index in first..(first + count).min(block.instructions.len()) {
            let before = machine.time;
            let mut log = Log::default();
            let stop = machine.run_instructions(block, index, 1, &mut log, force);
            if machine.time > before {
                self.note(block, index, &log, machine.time);
            }
            let next = block.instructions.get(index + 1).map(|next| next.address);
            let goes_on = stop.is_none()
                && next == Some(machine.core.cpu.rip)
                && machine.core.memory.code_change() == CodeChange::None;
            if !goes_on {
                return stop;
            }
        }
        None
    }
}

/// The block that a header belongs to.
fn block_of(header: *const Code) -> *const Block {
    // SAFETY: headers that a machine holds belong to its space.
    unsafe { (*header).displacement as usize as *const Block }
}

impl Core {
    /// Runs a block and those after it by their handlers, for at most `slice` instructions, of which the
    /// block itself must not have more.
    fn run_code(&mut self, block: &Block, slice: u64) {
        let header = block.codes.header();
        self.current = header;
        // SAFETY: every block has at least one code after its header.
        unsafe {
            let first = header.add(1);
            ((*first).handler)(self, first, slice - block.length)
        }
    }

    fn new(memory: Memory) -> Box<Core> {
        Box::new(Core {
            cpu: Cpu::default(),
            memory,
            jumps: JumpCache::default(),
            current: std::ptr::null(),
            exit: Exit::Indirect,
            left: 0,
            trace: Cursor::NONE,
        })
    }

    /// A core whose caches are empty. Most of a core are caches, for which zeros mean empty but
    /// for a few bytes; so it is made in place, in zeroed memory, and never copied as a whole.
    fn assemble(cpu: &Cpu, memory: Image) -> Box<Core> {
        let mut place = Box::<Core>::new_zeroed();
        let core = place.as_mut_ptr();
        // SAFETY: `core` is valid for writes and zeroed, which is what the two caches ask for; `current` and
        // `trace` are null and `left` is 0 by that; all other fields are written here.
        unsafe {
            (&raw mut (*core).cpu).write(cpu.clone());
            (&raw mut (*core).exit).write(Exit::Indirect);
            memory.open_into(&raw mut (*core).memory);
            JumpCache::empty_zeroed(&raw mut (*core).jumps);
            place.assume_init()
        }
    }
}
