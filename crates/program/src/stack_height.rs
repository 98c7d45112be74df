//! Who called code that no call frame information describes, by what the code itself does to the stack.
//!
//! The ways from an instruction on are followed with what is known of registers and memory, until one returns, or jumps to another
//! function as its last act. Callees are taken to leave the stack as they found it, as all compilers have it. A return address
//! counts only when a call is before it, so a way that no run takes, as the one behind a call that never returns, does no harm.

use std::collections::BTreeSet;

use gimli::X86_64;
use lift::{Address, Binary, Decoded, Op, Reg, SLOTS, Size, Value};

use crate::program::Program;
use crate::unwind::{Frame, GENERAL, Memory, Registers, Rule};

/// Functions without call frame information are written by hand, and short.
const MOST_INSTRUCTIONS: usize = 4096;

/// Ways that are still to be followed.
const MOST_WAYS: usize = 64;

/// Lengths of call instructions, prefixes included.
const CALL_LENGTHS: std::ops::RangeInclusive<u64> = 2..=9;

/// What calls preserve.
const PRESERVED: [Reg; 7] = [Reg::RBX, Reg::RSP, Reg::RBP, Reg::R12, Reg::R13, Reg::R14, Reg::R15];

/// The caller of a frame whose function has no call frame information; `None` when no way leads to it.
pub(crate) fn caller(program: &Program, frame: &Frame, memory: &mut Memory) -> Option<Frame> {
    let mut ways = vec![Way::new(frame)];
    let mut seen = BTreeSet::new();
    let mut ops = Vec::new();
    while let Some(mut way) = ways.pop() {
        if !seen.insert(way.address) || seen.len() > MOST_INSTRUCTIONS {
            continue;
        }
        let Some(next) = instruction(program, way.address, &mut ops) else { continue };
        for op in &ops {
            way.execute(op, memory);
        }
        match ops.last() {
            Some(Op::Return { .. } | Op::Jump { target: Value::Reg(_) }) => {
                if let Some(found) = way.left(program, frame, ops.last(), memory) {
                    return Some(found);
                }
            }
            Some(Op::Jump { target: Value::Const(target) }) => {
                if starts_function(program, *target)
                    && let Some(found) = way.left(program, frame, ops.last(), memory)
                {
                    return Some(found);
                }
                ways.push(Way { address: *target, ..way });
            }
            Some(Op::Branch { taken, not_taken, .. }) if ways.len() < MOST_WAYS => {
                ways.push(Way { address: *taken, ..way.clone() });
                ways.push(Way { address: *not_taken, ..way });
            }
            Some(Op::Branch { not_taken, .. }) => ways.push(Way { address: *not_taken, ..way }),
            Some(Op::Trap(_)) => {}
            _ => ways.push(Way { address: next, ..way }),
        }
    }
    None
}

/// Lifts an instruction and says where the next one is.
fn instruction(program: &Program, address: u64, ops: &mut Vec<Op>) -> Option<u64> {
    let (object, bias) = program.place(address)?;
    let in_object = address.wrapping_sub(bias);
    let code = object.bytes_at(in_object).filter(|_| object.is_code(in_object))?;
    let Decoded::Instruction(instruction) = lift::decode(code, address) else { return None };
    ops.clear();
    lift::lift(&instruction, ops);
    Some(address.wrapping_add(instruction.len() as u64))
}

/// Whether call frame information says that a function starts here.
fn starts_function(program: &Program, address: u64) -> bool {
    program.place(address).is_some_and(|(object, bias)| {
        let in_object = address.wrapping_sub(bias);
        object.call_frames().range(in_object).is_some_and(|range| range.start == in_object)
    })
}

/// Whether an instruction that ends at an address is a call.
fn is_after_call(program: &Program, address: u64) -> bool {
    let mut ops = Vec::new();
    CALL_LENGTHS.into_iter().any(|length| {
        let start = address.wrapping_sub(length);
        instruction(program, start, &mut ops) == Some(address) && matches!(ops.last(), Some(Op::Call { .. }))
    })
}

/// A way through the code up to an instruction.
#[derive(Clone)]
struct Way {
    address: u64,
    /// The slots whose values are known.
    values: [Option<u64>; SLOTS],
    /// Address, size and, if it is known, value of what was stored on the way.
    stores: Vec<(u64, u64, Option<u64>)>,
}

impl Way {
    fn new(frame: &Frame) -> Way {
        let mut values = [None; SLOTS];
        for (slot, number) in values.iter_mut().zip(GENERAL) {
            *slot = frame.registers.get(number);
        }
        let mut way = Way { address: frame.address, values, stores: Vec::new() };
        way.set(Reg::ZERO, Some(0));
        way
    }

    fn get(&self, reg: Reg) -> Option<u64> {
        self.values.get(usize::from(reg.0)).copied().flatten()
    }

    fn set(&mut self, reg: Reg, value: Option<u64>) {
        if let Some(slot) = self.values.get_mut(usize::from(reg.0)) {
            *slot = value;
        }
    }

    fn value(&self, value: Value) -> Option<u64> {
        match value {
            Value::Reg(reg) => self.get(reg),
            Value::Const(value) => Some(value),
        }
    }

    fn resolve(&self, address: &Address) -> Option<u64> {
        let Address { segment, base, index, shift, narrow, displacement } = *address;
        let index = self.get(index)?.wrapping_shl(u32::from(shift));
        let inner = self.get(base)?.wrapping_add(index).wrapping_add_signed(displacement);
        (!narrow).then_some(self.get(segment)?.wrapping_add(inner))
    }

    /// Eight bytes, as they are after what was stored on the way.
    fn load(&self, address: u64, memory: &mut Memory) -> Option<u64> {
        let overlaps = |(start, size, _): &&(u64, u64, Option<u64>)| {
            start.wrapping_sub(address) < 8 || address.wrapping_sub(*start) < *size
        };
        match self.stores.iter().rev().find(overlaps) {
            Some((start, 8, value)) if *start == address => *value,
            Some(_) => None,
            None => memory.read_u64(address),
        }
    }

    fn execute(&mut self, op: &Op, memory: &mut Memory) {
        match op {
            Op::Move { dst, src } => self.set(*dst, self.value(*src)),
            Op::Binary { function, size: Size::B8, dst, a, b } => {
                let operands = self.get(*a).zip(self.value(*b));
                let result = operands.and_then(|(a, b)| match function {
                    Binary::Add => Some(a.wrapping_add(b)),
                    Binary::Sub => Some(a.wrapping_sub(b)),
                    Binary::And => Some(a & b),
                    _ => None,
                });
                self.set(*dst, result);
            }
            Op::Lea { size: Size::B8, dst, address } => self.set(*dst, self.resolve(address)),
            Op::Load { size: Size::B8, dst, address } => {
                let loaded = self.resolve(address).and_then(|address| self.load(address, memory));
                self.set(*dst, loaded);
            }
            Op::Store { size, src, address } => {
                if let Some(address) = self.resolve(address) {
                    self.stores.push((address, size.bytes(), self.value(*src)));
                }
            }
            Op::Call { .. } => {
                self.forget(|reg| !PRESERVED.contains(&reg));
                let stack = self.get(Reg::RSP).map(|stack| stack.wrapping_add(8));
                self.set(Reg::RSP, stack);
            }
            // What is not lifted may write anything; that it moves the stack is not expected.
            Op::Unsupported => self.forget(|reg| reg != Reg::RSP),
            _ => op.writes(|reg| self.set(reg, None)),
        }
    }

    fn forget(&mut self, is_lost: impl Fn(Reg) -> bool) {
        for reg in (0..16).map(Reg::general).filter(|reg| is_lost(*reg)) {
            self.set(reg, None);
        }
    }

    /// The caller, when the function was left by `last`: a return, or a jump that is a call of another function.
    fn left(
        &self,
        program: &Program,
        frame: &Frame,
        last: Option<&Op>,
        memory: &mut Memory,
    ) -> Option<Frame> {
        let stack = self.get(Reg::RSP)?;
        let (address, stack) = match last {
            Some(Op::Return { target }) => (self.get(*target)?, stack),
            _ => (self.load(stack, memory)?, stack.checked_add(8)?),
        };
        let moved_up = frame.registers.rsp().is_some_and(|old| stack > old);
        if !moved_up || !is_after_call(program, address) {
            return None;
        }
        let mut registers = Registers::unknown();
        for (number, reg) in GENERAL.into_iter().zip((0..).map(Reg)) {
            registers.set(number, self.get(reg).filter(|_| PRESERVED.contains(&reg)));
        }
        registers.set(X86_64::RSP.0, Some(stack));
        registers.set(X86_64::RA.0, Some(address));
        Some(Frame { address, lookup: address.checked_sub(1)?, registers, rule: Rule::StackHeight })
    }
}
