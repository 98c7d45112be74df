//! What is undefined of the registers, and what each op makes of it.

use super::flags::{self, Record};
use super::integer::{self, Bits, all_if};
use super::vectors::{self, Text, Wide};
use crate::Cpu;
use lift::vector::VectorResult;
use lift::x87::{C0, C1, C2, C3, SIGN_AND_EXPONENT, X87Operand, X87Result};
use lift::{Address, FlagKind, Helper, Op, Reg, SLOTS, Size, StringResult, Turn, Value, X87Op};

/// The record of the flags.
const FLAGS: [Reg; 4] = [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C];

/// Where an undefined value comes from; see [`super::Origin`]. Zero where it is not known.
pub type OriginCode = u64;

/// The undefined bits of every slot.
#[derive(Clone)]
pub struct Registers {
    undefined: [u64; SLOTS],
    /// Of a slot with undefined bits, where they come from.
    origins: [OriginCode; SLOTS],
}

impl Default for Registers {
    fn default() -> Registers {
        Registers { undefined: [0; SLOTS], origins: [0; SLOTS] }
    }
}

impl Registers {
    #[inline(always)]
    pub fn get(&self, reg: Reg) -> u64 {
        self.undefined[reg.index()]
    }

    #[inline(always)]
    pub fn origin(&self, reg: Reg) -> OriginCode {
        self.origins[reg.index()]
    }

    #[inline(always)]
    pub fn set(&mut self, reg: Reg, undefined: u64, origin: OriginCode) {
        self.undefined[reg.index()] = undefined;
        self.origins[reg.index()] = origin;
    }

    #[inline(always)]
    pub fn define(&mut self, reg: Reg) {
        self.undefined[reg.index()] = 0;
    }

    pub fn pair(&self, reg: Reg) -> u128 {
        u128::from(self.get(reg)) | u128::from(self.get(reg.high_half())) << 64
    }

    pub fn set_pair(&mut self, reg: Reg, undefined: u128, origin: OriginCode) {
        self.set(reg, undefined as u64, origin);
        self.set(reg.high_half(), (undefined >> 64) as u64, origin);
    }

    /// Of a pair of slots.
    pub fn pair_origin(&self, reg: Reg) -> OriginCode {
        self.origin_of(&[reg, reg.high_half()])
    }

    pub fn value_origin(&self, value: Value) -> OriginCode {
        match value {
            Value::Reg(reg) => self.origin(reg),
            Value::Const(_) => 0,
        }
    }

    /// The first origin of those that have undefined bits.
    fn origin_of(&self, regs: &[Reg]) -> OriginCode {
        regs.iter().find(|reg| self.get(**reg) != 0).map_or(0, |reg| self.origin(*reg))
    }

    pub fn value(&self, value: Value) -> u64 {
        match value {
            Value::Reg(reg) => self.get(reg),
            Value::Const(_) => 0,
        }
    }

    fn bits(&self, cpu: &Cpu, reg: Reg) -> Bits {
        Bits { value: cpu.get(reg), undefined: self.get(reg) }
    }

    fn value_bits(&self, cpu: &Cpu, value: Value) -> Bits {
        match value {
            Value::Reg(reg) => self.bits(cpu, reg),
            Value::Const(value) => Bits::defined(value),
        }
    }

    fn wide(&self, cpu: &Cpu, reg: Reg) -> Wide {
        Wide { value: cpu.pair(reg), undefined: self.pair(reg) }
    }

    /// The origin of a result of two operands.
    fn either(&self, a: Reg, b: Value) -> OriginCode {
        if self.get(a) != 0 { self.origin(a) } else { self.value_origin(b) }
    }

    /// Whether any register that an address is made from has an undefined bit.
    #[inline(always)]
    pub fn any_in(&self, address: &Address) -> bool {
        self.get(address.base) | self.get(address.index) | self.get(address.segment) != 0
    }

    /// The undefined bits of an address.
    pub fn address(&self, cpu: &Cpu, address: &Address) -> u64 {
        if !self.any_in(address) {
            return 0;
        }
        let index = self.bits(cpu, address.index);
        let index = Bits { value: index.value << address.shift, undefined: index.undefined << address.shift };
        let add = |a: Bits, b: Bits| Bits {
            value: a.value.wrapping_add(b.value),
            undefined: integer::sum(Size::B8, a, b, Bits::default()),
        };
        let offset = add(self.bits(cpu, address.base), index);
        let offset = add(offset, Bits::defined(address.displacement as u64));
        let offset = if address.narrow { offset.low(Size::B4) } else { offset };
        add(offset, self.bits(cpu, address.segment)).undefined
    }

    pub fn address_origin(&self, address: &Address) -> OriginCode {
        self.origin_of(&[address.base, address.index, address.segment])
    }

    pub fn define_address(&mut self, address: &Address) {
        [address.base, address.index, address.segment].into_iter().for_each(|reg| self.define(reg));
    }

    fn flags(&self, cpu: &Cpu) -> Record {
        Record {
            record: cpu.flag_record(),
            unknown: self.get(Reg::FLAG_KIND) != 0,
            a: self.get(Reg::FLAG_A),
            b: self.get(Reg::FLAG_B),
            c: self.get(Reg::FLAG_C),
        }
    }

    pub fn forget_flags(&mut self) {
        FLAGS.into_iter().for_each(|reg| self.define(reg));
    }

    fn set_flags(&mut self, record: &Record, origin: OriginCode) {
        self.set(Reg::FLAG_KIND, if record.unknown { u64::MAX } else { 0 }, origin);
        self.set(Reg::FLAG_A, record.a, origin);
        self.set(Reg::FLAG_B, record.b, origin);
        self.set(Reg::FLAG_C, record.c, origin);
    }

    fn flags_origin(&self) -> OriginCode {
        self.origin_of(&FLAGS)
    }

    /// What an op makes of the registers; `cpu` holds its inputs. What comes from memory or goes there is not its
    /// matter, nor are string instructions and what system calls do.
    pub fn apply(&mut self, op: &Op, cpu: &Cpu) {
        match *op {
            Op::Move { dst, src } => self.set(dst, self.value(src), self.value_origin(src)),
            Op::Binary { function, size, dst, a, b } => {
                let is_zero = matches!(function, lift::Binary::Xor | lift::Binary::Sub) && b == Value::Reg(a);
                let undefined = match is_zero {
                    true => 0,
                    false => integer::binary(function, size, self.bits(cpu, a), self.value_bits(cpu, b)),
                };
                self.set(dst, undefined, self.either(a, b));
            }
            Op::Ternary { function, size, dst, a, b, c } => {
                let (x, y) = (self.bits(cpu, a), self.bits(cpu, b));
                let undefined = integer::ternary(function, size, x, y, self.value_bits(cpu, c));
                let origin = if self.get(a) != 0 { self.origin(a) } else { self.either(b, c) };
                self.set(dst, undefined, origin);
            }
            Op::Unary { function, size, dst, src } => {
                let undefined = integer::unary(function, size, self.bits(cpu, src));
                self.set(dst, undefined, self.origin(src));
            }
            Op::ZeroExtend { size, dst, src } => {
                self.set(dst, self.get(src) & size.mask(), self.origin(src));
            }
            Op::SignExtend { from, to, dst, src } => {
                let undefined = crate::values::sign_extend(from, self.get(src)) & to.mask();
                self.set(dst, undefined, self.origin(src));
            }
            Op::Insert { size, at, dst, src } => {
                let mask = size.mask() << (8 * at);
                let (kept, new) = (self.get(dst) & !mask, self.value(src) << (8 * at) & mask);
                let origin = if new != 0 { self.value_origin(src) } else { self.origin(dst) };
                self.set(dst, kept | new, origin);
            }
            Op::Extract { size, at, dst, src } => {
                self.set(dst, self.get(src) >> (8 * at) & size.mask(), self.origin(src));
            }
            Op::Divide { size, quotient, remainder, high, low, divisor, .. } => {
                let any = (self.get(high) | self.get(low) | self.get(divisor)) & size.mask() != 0;
                let origin = self.origin_of(&[high, low, divisor]);
                self.set(quotient, all_if(size, any), origin);
                self.set(remainder, all_if(size, any), origin);
            }
            Op::Lea { size, dst, address } => {
                let undefined = self.address(cpu, &address) & size.mask();
                self.set(dst, undefined, self.address_origin(&address));
            }
            Op::Flags { kind, size, a, b, c } => {
                self.define_flags(cpu, kind, size, [Value::Reg(a), b, Value::Reg(c)])
            }
            Op::ReadFlags { dst } => self.set(dst, self.flags(cpu).flags(), self.flags_origin()),
            Op::Carry { dst } => {
                let undefined = self.flags(cpu).condition(lift::Condition::Below);
                self.set(dst, undefined.into(), self.flags_origin());
            }
            Op::Test { condition, dst } => {
                let undefined = self.flags(cpu).condition(condition);
                self.set(dst, undefined.into(), self.flags_origin());
            }
            Op::IsZero { size, dst, src } => {
                let undefined = self.bits(cpu, src).low(size).may_be_zero_or_not();
                self.set(dst, undefined.into(), self.origin(src));
            }
            Op::Select { size, dst, condition, yes, no } => {
                let decides = self.bits(cpu, condition);
                let undefined = integer::select(size, decides, self.bits(cpu, yes), self.bits(cpu, no));
                let origin = self.origin_of(&[condition, if decides.value != 0 { yes } else { no }, no, yes]);
                self.set(dst, undefined, origin);
            }
            Op::Vector { op, dst, a, b, imm } => {
                let (x, y) = (self.wide(cpu, a).read_as(op.a()), self.wide(cpu, b).read_as(op.b()));
                let undefined = vectors::function(op, x, y, imm, a == b);
                let source = if x.undefined != 0 { a } else { b };
                let origin = self.pair_origin(source);
                match op.result() {
                    VectorResult::Vector => self.set_pair(dst, undefined, origin),
                    VectorResult::Slot(size) => self.set(dst, undefined as u64 & size.mask(), origin),
                    VectorResult::Flags => self.set(dst, undefined as u64, origin),
                }
            }
            Op::CompareStrings { result, dst, a, b, a_length, b_length, imm } => {
                let text = |elements: Reg, length: Reg| Text {
                    elements: self.wide(cpu, elements),
                    length: (length != Reg::ZERO).then(|| self.bits(cpu, length)),
                };
                let undefined = vectors::strings(result, text(a, a_length), text(b, b_length), imm);
                let halves = [a, a.high_half(), b, b.high_half(), a_length, b_length];
                let origin = self.origin_of(&halves);
                match result {
                    StringResult::Mask => self.set_pair(dst, undefined, origin),
                    StringResult::Index | StringResult::Flags => self.set(dst, undefined as u64, origin),
                }
            }
            Op::X87 { op, dst, a, b } => self.x87(op, dst, a, b),
            Op::Rotate { turn } => self.rotate(turn),
            Op::Helper { helper, .. } => self.helper(helper),
            Op::Load { .. }
            | Op::Store { .. }
            | Op::LoadVector { .. }
            | Op::StoreVector { .. }
            | Op::LoadExtended { .. }
            | Op::StoreExtended { .. }
            | Op::String { .. }
            | Op::CheckMxcsr { .. }
            | Op::Jump { .. }
            | Op::Call { .. }
            | Op::Return { .. }
            | Op::Branch { .. }
            | Op::Syscall
            | Op::Trap(_)
            | Op::Unsupported => {}
        }
    }

    fn define_flags(&mut self, cpu: &Cpu, kind: FlagKind, size: Size, operands: [Value; 3]) {
        let is_undefined = |values: &[Value]| values.iter().any(|value| self.value(*value) != 0);
        let kept = FLAGS.map(Value::Reg);
        let concerned = is_undefined(&operands) || kind.keeps_flags() && is_undefined(&kept);
        if !concerned {
            return self.forget_flags();
        }
        let [mut a, mut b, c] = operands.map(|operand| self.value_bits(cpu, operand));
        if kind == FlagKind::Sub && operands[0] == operands[1] {
            (a.undefined, b.undefined) = (0, 0);
        }
        let record = flags::define(&self.flags(cpu), kind, size, a, b, c);
        let sources = operands.into_iter().chain(kept);
        let origin =
            sources.filter(|source| self.value(*source) != 0).map(|source| self.value_origin(source));
        let origin = origin.into_iter().next().unwrap_or(0);
        self.set_flags(&record, origin);
    }

    /// Of a number, one undefined bit makes all undefined. Where the stack is, which exceptions there were and how results were rounded
    /// is never undefined.
    fn x87(&mut self, op: X87Op, dst: Reg, a: Reg, b: Reg) {
        if op.is_copy() {
            let (undefined, origin) = (self.pair(a), self.pair_origin(a));
            return self.set_pair(dst, undefined, origin);
        }
        if op == X87Op::StatusWord {
            return self.set(dst, self.get(Reg::X87_CODES), self.origin(Reg::X87_CODES));
        }
        let undefined_in = |operand: X87Operand, reg: Reg| match operand {
            X87Operand::None | X87Operand::Place => false,
            X87Operand::Slot(size) => self.get(reg) & size.mask() != 0,
            X87Operand::Register => self.pair(reg) != 0,
        };
        let (from_a, from_b) = (undefined_in(op.a(), a), undefined_in(op.b(), b));
        let origin = match (from_a, from_b) {
            (true, _) => self.pair_origin(a),
            (false, true) => self.pair_origin(b),
            (false, false) => 0,
        };
        let any = from_a || from_b;
        match op.result() {
            X87Result::None => {}
            X87Result::Slot => self.set(dst, all_if(Size::B1, any), origin),
            X87Result::Register => {
                self.set(dst, all_if(Size::B8, any), origin);
                self.set(dst.high_half(), if any { SIGN_AND_EXPONENT } else { 0 }, origin);
            }
            X87Result::Number(size) => {
                self.set(dst, all_if(size, any), origin);
                self.define(dst.high_half());
            }
        }
        if op.defines_codes() {
            self.set(Reg::X87_CODES, if any { C0 | C1 | C2 | C3 } else { 0 }, origin);
        }
    }

    fn rotate(&mut self, turn: Turn) {
        let first = Reg::st(0).index();
        for slots in [&mut self.undefined, &mut self.origins] {
            let registers = &mut slots[first..first + 16];
            match turn {
                Turn::Push => registers.rotate_right(2),
                Turn::Pop => registers.rotate_left(2),
            }
        }
    }

    /// What a helper writes to registers, unless that comes from memory.
    fn helper(&mut self, helper: Helper) {
        match helper {
            Helper::Cpuid | Helper::Rdtsc | Helper::Rdtscp => {
                let written: &[Reg] = match helper {
                    Helper::Cpuid => &[Reg::RAX, Reg::RBX, Reg::RCX, Reg::RDX],
                    Helper::Rdtsc => &[Reg::RAX, Reg::RDX],
                    _ => &[Reg::RAX, Reg::RCX, Reg::RDX],
                };
                written.iter().for_each(|reg| self.define(*reg));
            }
            Helper::Fninit | Helper::Fldenv => self.define(Reg::X87_CODES),
            // The order of the registers, which are relative to the top, is another afterwards: which one is undefined is the less
            // important as nobody computes with what they hold then.
            Helper::Xgetbv
            | Helper::Fnstenv
            | Helper::Fnsave
            | Helper::Fxsave
            | Helper::Fxrstor
            | Helper::Frstor => {}
        }
    }
}
