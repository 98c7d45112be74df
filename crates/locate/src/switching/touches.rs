//! What a pass through a block reads and writes, as a whole and instruction by instruction, read off its ops once and then known.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use lift::{Helper, Op, Reg};
use machine::{Pass, Plan, Words};
use replay::{RegisterSet, accesses};
use rustc_hash::FxBuildHasher;

/// What a pass touches.
#[derive(Default)]
pub struct Touched {
    /// The registers whose values from before it reads.
    pub reads: RegisterSet,
    pub writes: Vec<Reg>,
    pub instructions: Vec<Instruction>,
    /// Its accesses, if they are all plain loads and stores.
    plain: Option<Box<[Access]>>,
}

/// What an instruction touches.
#[derive(Default)]
pub struct Instruction {
    pub reads: RegisterSet,
    pub writes: Vec<Reg>,
    /// What is handed to the kernel.
    pub hands_over: RegisterSet,
    /// It asks for the time.
    pub tells_time: bool,
}

struct Access {
    instruction: u16,
    /// Which word of the pass has the address.
    word: u16,
    bytes: u64,
    is_write: bool,
}

/// What a system call reads but for its own r11.
const ONLY_FLAGS: [Reg; 6] =
    [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C, Reg::DIRECTION, Reg::SYSTEM_FLAGS];

/// What passes touch, by [`Pass::key`].
#[derive(Default)]
pub struct Touches {
    known: HashMap<u64, Rc<Touched>, FxBuildHasher>,
}

impl Touches {
    pub fn of(&mut self, pass: &Pass<'_>) -> Rc<Touched> {
        Rc::clone(self.known.entry(pass.key()).or_insert_with(|| Rc::new(Touched::new(pass))))
    }
}

impl Touched {
    fn new(pass: &Pass<'_>) -> Touched {
        let instructions: Vec<Instruction> =
            pass.forward().map(|executed| Instruction::new(executed.ops)).collect();
        let (mut reads, mut writes) = <(RegisterSet, RegisterSet)>::default();
        for instruction in &instructions {
            instruction.reads.iter().filter(|reg| !writes.contains(*reg)).for_each(|reg| reads.add(reg));
            instruction.writes.iter().for_each(|reg| writes.add(*reg));
        }
        Touched { reads, writes: writes.iter().collect(), instructions, plain: plain_accesses(pass) }
    }

    /// Whether the pass is to be looked at by more than what it reads.
    pub fn is_special(&self) -> bool {
        self.instructions.iter().any(|one| one.tells_time || !one.hands_over.is_empty())
    }

    /// Calls `each` with the memory that some instructions of the pass accessed, and whether they wrote.
    pub fn memory(&self, pass: &Pass<'_>, which: Range<usize>, mut each: impl FnMut(Range<u64>, bool)) {
        let Some(plain) = &self.plain else {
            let some = pass.forward().skip(which.start).take(which.len());
            for access in some.flat_map(|executed| accesses(&executed)) {
                each(access.range, access.write);
            }
            return;
        };
        for access in plain.iter().filter(|access| which.contains(&usize::from(access.instruction))) {
            let at = pass.words().get(usize::from(access.word)).copied().unwrap_or(0);
            each(at..at.saturating_add(access.bytes), access.is_write);
        }
    }
}

impl Instruction {
    fn new(ops: &[Op]) -> Instruction {
        let mut found = Instruction::default();
        let mut writes = RegisterSet::default();
        for op in ops {
            op.reads(|reg| found.reads.add(reg));
            op.writes(|reg| writes.add(reg));
            found.tells_time |= matches!(op, Op::Helper { helper: Helper::Rdtsc | Helper::Rdtscp, .. });
            if matches!(op, Op::Syscall) {
                found.hands_over = found.reads;
                ONLY_FLAGS.into_iter().for_each(|reg| found.hands_over.remove(reg));
            }
        }
        found.writes = writes.iter().collect();
        found
    }
}

fn plain_accesses(pass: &Pass<'_>) -> Option<Box<[Access]>> {
    let mut found = Vec::new();
    let mut word = 0u16;
    for (instruction, executed) in (0..).zip(pass.forward()) {
        let mut plan = Plan::default();
        let mut last = word;
        for op in executed.ops {
            let words = plan.next(op);
            if matches!(words, Words::Address(_)) {
                last = word;
            }
            word = word.checked_add(words.count() as u16)?;
            let (bytes, is_write) = match op {
                Op::Load { size, .. } => (size.bytes(), false),
                Op::Store { size, .. } => (size.bytes(), true),
                Op::LoadVector { .. } => (16, false),
                Op::StoreVector { .. } => (16, true),
                Op::LoadExtended { .. } => (10, false),
                Op::StoreExtended { .. } => (10, true),
                Op::String { .. } | Op::Helper { .. } => return None,
                _ => continue,
            };
            found.push(Access { instruction, word: last, bytes, is_write });
        }
    }
    Some(found.into())
}
