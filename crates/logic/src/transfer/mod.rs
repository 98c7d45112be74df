//! What each op means as a term: the third reader of the op language, beside the executors and the dependences.
//!
//! [`apply`] takes one op, the terms of the registers before it and the concrete state, and leaves the terms after it. Only what depends on something
//! unknown gets a term; what an op makes of concrete operands is concrete, and is left to the machine. Memory is not touched here: what an op is
//! about to do to it is told by its [`Effect`].
//!
//! Not followed, on purpose, are what floating-point exceptions were raised (in MXCSR and the x87 status word), how an x87 result was rounded (C1), where
//! the x87 stack is, and which of its registers are empty: for all of these the concrete run stands.

mod flags;
mod integer;
#[cfg(test)]
mod tests;
mod vector;
mod x87;

use crate::state::Registers;
use crate::term::{Term, Terms};
use lift::{Address, Helper, Op, Reg, Repeat, Size, StringKind, Value};
use machine::Cpu;
use std::fmt;

/// What an op does beyond giving registers values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Its results depend on something unknown in a way that is not expressed; they are concrete from now on.
    Unmodelled(Unmodelled),
    /// So many bytes of memory will be in `dst`, zero-extended; if there are more than eight, in the pair of slots that begins there.
    Load {
        dst: Reg,
        bytes: u8,
        address: Option<Term>,
    },
    /// The bytes at the concrete address become this, or concrete.
    Store {
        value: Option<Term>,
        address: Option<Term>,
    },
    /// A division, which has not faulted if this holds.
    Division {
        without_fault: Term,
    },
    /// A decision. It is true if this term is.
    Branch {
        condition: Term,
    },
    /// Control goes to an address that is not concrete.
    Jump {
        target: Term,
    },
    /// A string instruction goes element by element.
    String(StringForm),
    /// A helper saves registers to memory or restores them from there.
    Helper {
        helper: Helper,
    },
    Syscall,
}

/// What a string instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringForm {
    pub kind: StringKind,
    pub size: Size,
    pub repeat: Repeat,
    /// Pointers and counter are of 32 bits.
    pub narrow: bool,
}

/// What is not expressed as a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unmodelled {
    Helper,
    /// A transcendental x87 function, a scaling, a step of a remainder.
    X87Function,
    /// 18 decimal digits.
    Decimal,
    /// The operand of an x87 function is an empty register, or the one that it pushes is not.
    X87Stack,
    /// The x87 unit computes with fewer than 64 digits.
    X87Precision,
    /// How results are rounded depends on something unknown.
    RoundingMode,
    /// Denormals count as zero.
    DenormalsAreZero,
    /// The condition codes of a comparison were partly overwritten by another x87 function.
    ConditionCodes,
    /// rcpps and rsqrtps
    Approximation,
    /// pcmpistri and its kin
    CompareStrings,
    /// crc32
    Checksum,
    /// mpsadbw, phminposuw
    RareVector,
}

impl fmt::Display for Unmodelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unmodelled::Helper => "an instruction of the system",
            Unmodelled::X87Function => "an x87 function",
            Unmodelled::Decimal => "a decimal number of the x87 unit",
            Unmodelled::X87Stack => "a fault of the x87 stack",
            Unmodelled::X87Precision => "x87 arithmetic of reduced precision",
            Unmodelled::RoundingMode => "an unknown rounding mode",
            Unmodelled::DenormalsAreZero => "denormals that count as zero",
            Unmodelled::ConditionCodes => "x87 condition codes that were partly overwritten",
            Unmodelled::Approximation => "an approximate reciprocal",
            Unmodelled::CompareStrings => "a comparison of strings",
            Unmodelled::Checksum => "a checksum",
            Unmodelled::RareVector => "a rare vector function",
        })
    }
}

/// An op's operands as terms, and where its results go.
struct Transfer<'a> {
    terms: &'a mut Terms,
    registers: &'a mut Registers,
    cpu: &'a Cpu,
}

/// Does one op on the terms of registers; `cpu` is the state before it.
pub fn apply(terms: &mut Terms, registers: &mut Registers, cpu: &Cpu, op: &Op) -> Effect {
    let mut transfer = Transfer { terms, registers, cpu };
    if transfer.registers.is_concrete() || !transfer.registers.reaches(op) {
        let effect = transfer.concrete(op);
        // What a load does has not happened yet, and may never happen.
        if !matches!(effect, Effect::Load { .. }) {
            transfer.registers.forget_results(op);
        }
        return effect;
    }
    match transfer.op(op) {
        Ok(effect) => effect,
        Err(reason) => {
            transfer.registers.forget_results(op);
            Effect::Unmodelled(reason)
        }
    }
}

/// Does what [`Effect::Load`] announced, once it has happened: the registers hold a value of so many bytes, or something concrete.
pub fn loaded(terms: &mut Terms, registers: &mut Registers, dst: Reg, bytes: u8, value: Option<Term>) {
    let pair = bytes > 8;
    let Some(value) = value else {
        registers.forget(dst);
        return if pair {
            registers.forget(dst.high_half())
        };
    };
    if !pair {
        let whole = terms.zero_extend(64, value);
        return registers.set(terms, dst, whole);
    }
    let (low, high) = match terms.width(value) {
        80 => x87::halves(terms, value),
        _ => (terms.extract(63, 0, value), terms.extract(127, 64, value)),
    };
    registers.set(terms, dst, low);
    registers.set(terms, dst.high_half(), high);
}

impl Transfer<'_> {
    /// What an op does to memory and to control when all its registers are concrete.
    fn concrete(&self, op: &Op) -> Effect {
        match *op {
            Op::Load { size, dst, .. } => Effect::Load { dst, bytes: size.bytes() as u8, address: None },
            Op::LoadVector { dst, .. } => Effect::Load { dst, bytes: 16, address: None },
            Op::LoadExtended { dst, .. } => Effect::Load { dst, bytes: 10, address: None },
            Op::Store { .. } | Op::StoreVector { .. } | Op::StoreExtended { .. } => {
                Effect::Store { value: None, address: None }
            }
            Op::String { kind, size, repeat, narrow, .. } => {
                Effect::String(StringForm { kind, size, repeat, narrow })
            }
            Op::Helper { helper, .. } => Effect::Helper { helper },
            Op::Syscall => Effect::Syscall,
            Op::Move { .. }
            | Op::Binary { .. }
            | Op::Ternary { .. }
            | Op::Unary { .. }
            | Op::ZeroExtend { .. }
            | Op::SignExtend { .. }
            | Op::Insert { .. }
            | Op::Extract { .. }
            | Op::Divide { .. }
            | Op::Lea { .. }
            | Op::X87 { .. }
            | Op::Rotate { .. }
            | Op::Flags { .. }
            | Op::ReadFlags { .. }
            | Op::Carry { .. }
            | Op::Test { .. }
            | Op::IsZero { .. }
            | Op::Select { .. }
            | Op::Vector { .. }
            | Op::CompareStrings { .. }
            | Op::CheckMxcsr { .. }
            | Op::Jump { .. }
            | Op::Call { .. }
            | Op::Return { .. }
            | Op::Branch { .. }
            | Op::Trap(_)
            | Op::Unsupported => Effect::None,
        }
    }

    fn op(&mut self, op: &Op) -> Result<Effect, Unmodelled> {
        match *op {
            Op::Move { dst, src } => {
                let value = self.value(src, 64);
                self.set(dst, value);
            }
            Op::Binary { function, size, dst, a, b } => {
                let (a, b) = (self.low(a, size.bits()), self.value(b, size.bits()));
                let result = self.binary(function, a, b);
                self.set(dst, result);
            }
            Op::Ternary { function, size, dst, a, b, c } => {
                let (a, b) = (self.low(a, size.bits()), self.low(b, size.bits()));
                let c = self.value(c, size.bits());
                let result = self.ternary(function, size, a, b, c);
                self.set(dst, result);
            }
            Op::Unary { function, size, dst, src } => {
                let src = self.low(src, size.bits());
                let result = self.unary(function, size, src);
                self.set(dst, result);
            }
            Op::ZeroExtend { size, dst, src } => {
                let src = self.low(src, size.bits());
                self.set(dst, src);
            }
            Op::SignExtend { from, to, dst, src } => {
                let src = self.low(src, from.bits());
                let extended = self.terms.sign_extend(to.bits(), src);
                self.set(dst, extended);
            }
            Op::Insert { size, at, dst, src } => {
                let src = self.value(src, size.bits());
                let whole = self.slot(dst);
                let inserted = self.insert(whole, 8 * u32::from(at), src);
                self.set(dst, inserted);
            }
            Op::Extract { size, at, dst, src } => {
                let (src, low) = (self.slot(src), 8 * u32::from(at));
                let high = (low + size.bits() - 1).min(63);
                let part = self.terms.extract(high, low, src);
                self.set(dst, part);
            }
            Op::Divide { signed, size, quotient, remainder, high, low, divisor } => {
                return Ok(self.divide(signed, size, [quotient, remainder], high, low, divisor));
            }
            Op::Lea { size, dst, address } => {
                let result = self.address(&address, size.bits());
                self.set(dst, result);
            }
            Op::Load { size, dst, address } => {
                let address = self.symbolic_address(&address);
                return Ok(Effect::Load { dst, bytes: size.bytes() as u8, address });
            }
            Op::LoadVector { dst, address, .. } => {
                let address = self.symbolic_address(&address);
                return Ok(Effect::Load { dst, bytes: 16, address });
            }
            Op::LoadExtended { dst, address } => {
                let address = self.symbolic_address(&address);
                return Ok(Effect::Load { dst, bytes: 10, address });
            }
            Op::Store { size, src, address } => {
                let (value, address) = (self.value(src, size.bits()), self.symbolic_address(&address));
                return Ok(Effect::Store { value: self.unless_constant(value), address });
            }
            Op::StoreVector { src, address, .. } => {
                let (value, address) = (self.pair(src), self.symbolic_address(&address));
                return Ok(Effect::Store { value: self.unless_constant(value), address });
            }
            Op::StoreExtended { src, address } => {
                let address = self.symbolic_address(&address);
                let value = self.stored_extended(src);
                return Ok(Effect::Store { value, address });
            }
            Op::X87 { op, dst, a, b } => return self.x87(op, dst, a, b),
            Op::Rotate { turn } => self.rotate(turn),
            Op::Flags { kind, size, a, b, c } => self.define_flags(kind, size, a, b, c),
            Op::ReadFlags { dst } => {
                let word = self.flag_word();
                self.set(dst, word);
            }
            Op::Carry { dst } => {
                let carry = self.flag(lift::flags::CF);
                self.set_truth(dst, carry);
            }
            Op::Test { condition, dst } => {
                let holds = self.condition(condition);
                self.set_truth(dst, holds);
            }
            Op::IsZero { size, dst, src } => {
                let src = self.low(src, size.bits());
                let nonzero = self.terms.is_nonzero(src);
                let zero = self.terms.not(nonzero);
                self.set_truth(dst, zero);
            }
            Op::Select { size, dst, condition, yes, no } => {
                let condition = self.slot(condition);
                let condition = self.terms.is_nonzero(condition);
                let (yes, no) = (self.low(yes, size.bits()), self.low(no, size.bits()));
                let chosen = self.terms.if_then_else(condition, yes, no);
                self.set(dst, chosen);
            }
            Op::Vector { op, dst, a, b, imm } => self.vector(op, dst, a, b, imm)?,
            Op::CompareStrings { .. } => return Err(Unmodelled::CompareStrings),
            Op::String { .. } => return Ok(self.concrete(op)),
            Op::Helper { .. } | Op::Syscall => return Ok(self.concrete(op)),
            Op::Jump { target } | Op::Call { target, .. } => return Ok(self.jump(target)),
            Op::Return { target } => return Ok(self.jump(target.into())),
            Op::Branch { condition, .. } => {
                let condition = self.slot(condition);
                return Ok(Effect::Branch { condition: self.terms.is_nonzero(condition) });
            }
            // A value that does not fault is what it was.
            Op::CheckMxcsr { .. } | Op::Trap(_) | Op::Unsupported => {}
        }
        Ok(Effect::None)
    }

    fn jump(&mut self, target: Value) -> Effect {
        let target = self.value(target, 64);
        Effect::Jump { target }
    }

    /// The term of a slot, a constant if it is concrete.
    fn slot(&mut self, reg: Reg) -> Term {
        match self.registers.get(reg) {
            Some(term) => term,
            None => self.terms.bits(64, self.cpu.get(reg).into()),
        }
    }

    /// The low bits of a slot.
    fn low(&mut self, reg: Reg, bits: u32) -> Term {
        let slot = self.slot(reg);
        self.terms.extract(bits - 1, 0, slot)
    }

    fn value(&mut self, value: Value, bits: u32) -> Term {
        match value {
            Value::Reg(reg) => self.low(reg, bits),
            Value::Const(constant) => self.terms.bits(bits, constant.into()),
        }
    }

    /// The 128 bits of a pair of slots.
    fn pair(&mut self, reg: Reg) -> Term {
        let (low, high) = (self.slot(reg), self.slot(reg.high_half()));
        self.terms.concat(high, low)
    }

    fn unless_constant(&self, term: Term) -> Option<Term> {
        (!self.terms.is_constant(term)).then_some(term)
    }

    /// Gives a slot a value of at most 64 bits, zero-extended.
    fn set(&mut self, reg: Reg, term: Term) {
        let whole = self.terms.zero_extend(64, term);
        self.registers.set(self.terms, reg, whole);
    }

    fn set_truth(&mut self, reg: Reg, truth: Term) {
        let bit = self.terms.truth_to_bits(truth, 64);
        self.registers.set(self.terms, reg, bit);
    }

    /// A value with some bits from bit `at` on replaced.
    fn insert(&mut self, whole: Term, at: u32, part: Term) -> Term {
        let width = self.terms.width(whole);
        let end = (at + self.terms.width(part)).min(width);
        let mut result = self.terms.resize(end - at, part);
        if at > 0 {
            let below = self.terms.extract(at - 1, 0, whole);
            result = self.terms.concat(result, below);
        }
        if end < width {
            let above = self.terms.extract(width - 1, end, whole);
            result = self.terms.concat(above, result);
        }
        result
    }

    /// An effective address, its low bits. It is computed at that width, for all that is done is to add.
    fn address(&mut self, address: &Address, bits: u32) -> Term {
        let width = if address.narrow { bits.min(32) } else { bits };
        let mut sum = self.terms.bits(width, address.displacement as u128);
        if address.index != Reg::ZERO {
            let index = self.low(address.index, width);
            let shift = self.terms.bits(width, address.shift.into());
            let scaled = self.terms.shift_left(index, shift);
            sum = self.terms.add(scaled, sum);
        }
        if address.base != Reg::ZERO {
            let base = self.low(address.base, width);
            sum = self.terms.add(base, sum);
        }
        let sum = self.terms.zero_extend(bits, sum);
        if address.segment == Reg::ZERO {
            return sum;
        }
        let segment = self.low(address.segment, bits);
        self.terms.add(segment, sum)
    }

    fn symbolic_address(&mut self, address: &Address) -> Option<Term> {
        let parts = [address.segment, address.base, address.index];
        if parts.iter().all(|part| self.registers.get(*part).is_none()) {
            return None;
        }
        let term = self.address(address, 64);
        self.unless_constant(term)
    }
}
