//! From a decoded instruction to its ops. One file a group of instructions; this one has the
//! front door and the way operands are read and written.

mod arithmetic;
mod bits;
mod control;
mod movement;
mod strings;
mod system;
mod vector;
mod x87;

use crate::{Address, MAX_INSTRUCTION, Op, Reg, Size, Value};
use iced_x86::{
    ConditionCode, Decoder, DecoderError, DecoderOptions, FlowControl, Instruction, MemorySize, Mnemonic,
    OpKind, Register,
};

/// What the bytes at an address are.
pub enum Decoded {
    Instruction(Instruction),
    /// The bytes end within the instruction; with more of them it might be one.
    Truncated,
    /// No processor accepts this encoding.
    Invalid,
}

/// Decodes one instruction. `bytes` may hold more than it needs.
pub fn decode(bytes: &[u8], address: u64) -> Decoded {
    let bytes = &bytes[..bytes.len().min(MAX_INSTRUCTION)];
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    match decoder.last_error() {
        DecoderError::None => Decoded::Instruction(instruction),
        DecoderError::NoMoreBytes if bytes.len() < MAX_INSTRUCTION => Decoded::Truncated,
        _ => Decoded::Invalid,
    }
}

/// One instruction after the other, to the end of some bytes; `None` is a byte that begins none.
pub fn decode_all(bytes: &[u8], address: u64) -> impl Iterator<Item = Option<Instruction>> {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    std::iter::from_fn(move || {
        let start = decoder.position();
        if start >= bytes.len() {
            return None;
        }
        let instruction = decoder.decode();
        if decoder.last_error() == DecoderError::None {
            return Some(Some(instruction));
        }
        decoder.set_ip(address.wrapping_add(start as u64 + 1));
        decoder.set_position(start + 1).ok()?;
        Some(None)
    })
}

/// Whether an instruction is one of the common ones that do something, go on to the next, and do not tell an address by
/// their own. Who looks for the others in much code need not lift these.
pub fn only_computes(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let is_common = matches!(
        instruction.mnemonic(),
        Mov | Movzx
            | Movsx
            | Movsxd
            | Lea
            | Push
            | Pop
            | Add
            | Sub
            | And
            | Or
            | Xor
            | Cmp
            | Test
            | Shl
            | Shr
            | Sar
    );
    // Setting a byte and moving by a condition, and all that has to do with vectors.
    let is_conditional = instruction.condition_code() != ConditionCode::None;
    let is_of_vectors = [instruction.op0_register(), instruction.op1_register()]
        .iter()
        .any(|register| register.is_vector_register());
    let does_something = is_common || is_conditional || is_of_vectors;
    let (base, has_displacement) = (instruction.memory_base(), instruction.memory_displ_size() > 0);
    instruction.flow_control() == FlowControl::Next
        && does_something
        && !matches!(base, Register::RIP | Register::EIP)
        && (base != Register::None || !has_displacement)
}

/// Appends the ops of `instruction` to `ops`. What is not supported becomes one
/// [`Op::Unsupported`].
pub fn lift(instruction: &Instruction, ops: &mut Vec<Op>) {
    let start = ops.len();
    let mut lifter = Lifter { instruction: *instruction, ops, temps: 0, vector_temps: 0, x87_temps: 0 };
    let groups = [
        movement::lift,
        arithmetic::lift,
        control::lift,
        bits::lift,
        strings::lift,
        vector::lift,
        system::lift,
        x87::lift,
    ];
    if !groups.iter().any(|group| group(&mut lifter)) {
        ops.truncate(start);
        ops.push(Op::Unsupported);
    }
}

/// Whether control can go on to the next instruction, also after one that is not supported.
pub fn goes_on(instruction: &Instruction) -> bool {
    use FlowControl::*;
    match instruction.flow_control() {
        Next | ConditionalBranch | Call | IndirectCall | Interrupt | XbeginXabortXend => true,
        UnconditionalBranch | IndirectBranch | Return | Exception => false,
    }
}

/// The state of lifting one instruction. Each group's `lift` returns whether the instruction was
/// its own.
pub(crate) struct Lifter<'a> {
    pub(crate) instruction: Instruction,
    ops: &'a mut Vec<Op>,
    temps: u8,
    vector_temps: u8,
    x87_temps: u8,
}

impl Lifter<'_> {
    pub(crate) fn emit(&mut self, op: Op) {
        self.ops.push(op);
    }

    pub(crate) fn temp(&mut self) -> Reg {
        self.temps += 1;
        Reg::temp(self.temps - 1)
    }

    pub(crate) fn vector_temp(&mut self) -> Reg {
        self.vector_temps += 1;
        Reg::xmm(15 + self.vector_temps)
    }

    pub(crate) fn x87_temp(&mut self) -> Reg {
        self.x87_temps += 1;
        Reg::x87_temp(self.x87_temps - 1)
    }

    pub(crate) fn next_address(&self) -> u64 {
        self.instruction.next_ip()
    }

    pub(crate) fn is_memory(&self, operand: u32) -> bool {
        self.instruction.op_kind(operand) == OpKind::Memory
    }

    pub(crate) fn is_register(&self, operand: u32) -> bool {
        self.instruction.op_kind(operand) == OpKind::Register
    }

    /// Width of an integer operand; immediates take the width of operand 0.
    pub(crate) fn size(&self, operand: u32) -> Size {
        let bytes = match self.instruction.op_kind(operand) {
            OpKind::Register => self.instruction.op_register(operand).size(),
            OpKind::Memory => self.instruction.memory_size().size(),
            _ if operand > 0 => return self.size(0),
            _ => 8,
        };
        Size::from_bytes(bytes).unwrap_or(Size::B8)
    }

    /// The memory operand's address.
    pub(crate) fn address(&self) -> Address {
        let instruction = &self.instruction;
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        Address {
            segment: match instruction.memory_segment() {
                Register::FS => Reg::FS_BASE,
                Register::GS => Reg::GS_BASE,
                _ => Reg::ZERO,
            },
            base: slot_of(base),
            index: slot_of(index),
            shift: instruction.memory_index_scale().trailing_zeros() as u8,
            narrow: is_narrow(base) || is_narrow(index) || is_narrow_absolute(instruction),
            displacement: instruction.memory_displacement64() as i64,
        }
    }

    /// The operand's value; a memory operand is loaded.
    pub(crate) fn read(&mut self, operand: u32) -> Value {
        match self.instruction.op_kind(operand) {
            OpKind::Register => Value::Reg(self.read_register(self.instruction.op_register(operand))),
            OpKind::Memory => Value::Reg(self.load(self.size(operand))),
            _ => Value::Const(self.instruction.immediate(operand) & self.size(operand).mask()),
        }
    }

    /// As [`Self::read`], with an immediate moved into a temporary.
    pub(crate) fn read_reg(&mut self, operand: u32) -> Reg {
        match self.read(operand) {
            Value::Reg(reg) => reg,
            constant => self.copy(constant),
        }
    }

    /// A fresh temporary that holds `value`.
    pub(crate) fn copy(&mut self, value: impl Into<Value>) -> Reg {
        let dst = self.temp();
        self.emit(Op::Move { dst, src: value.into() });
        dst
    }

    fn read_register(&mut self, register: Register) -> Reg {
        let slot = slot_of(register);
        if !is_high_byte(register) {
            return slot;
        }
        let dst = self.temp();
        self.emit(Op::Extract { size: Size::B1, at: 1, dst, src: slot });
        dst
    }

    /// Loads the memory operand into a temporary.
    pub(crate) fn load(&mut self, size: Size) -> Reg {
        let address = self.address();
        self.load_from(size, address)
    }

    pub(crate) fn load_from(&mut self, size: Size, address: Address) -> Reg {
        let dst = self.temp();
        self.emit(Op::Load { size, dst, address });
        dst
    }

    /// Where a result for `operand` is best computed: the register itself if the whole slot is
    /// written anyway, else a temporary. [`Self::write_back`] then completes the write.
    pub(crate) fn target(&mut self, operand: u32) -> Reg {
        if self.is_register(operand) && self.size(operand) >= Size::B4 {
            slot_of(self.instruction.op_register(operand))
        } else {
            self.temp()
        }
    }

    /// Completes a write that was computed into [`Self::target`].
    pub(crate) fn write_back(&mut self, operand: u32, value: Reg) {
        if !self.is_register(operand) || self.size(operand) < Size::B4 {
            self.write(operand, value.into());
        }
    }

    /// Writes a value, already zero-extended, to the operand.
    pub(crate) fn write(&mut self, operand: u32, value: Value) {
        let size = self.size(operand);
        if self.is_memory(operand) {
            let address = self.address();
            self.emit(Op::Store { size, src: value, address });
        } else {
            self.write_register(self.instruction.op_register(operand), value);
        }
    }

    pub(crate) fn write_register(&mut self, register: Register, value: Value) {
        let dst = slot_of(register);
        match Size::from_bytes(register.size()) {
            Some(size @ (Size::B1 | Size::B2)) => {
                let at = is_high_byte(register) as u8;
                self.emit(Op::Insert { size, at, dst, src: value });
            }
            _ if value == Value::Reg(dst) => {}
            _ => self.emit(Op::Move { dst, src: value }),
        }
    }

    pub(crate) fn binary(&mut self, function: crate::Binary, size: Size, a: Reg, b: impl Into<Value>) -> Reg {
        let dst = self.temp();
        self.emit(Op::Binary { function, size, dst, a, b: b.into() });
        dst
    }

    pub(crate) fn carry(&mut self) -> Reg {
        let dst = self.temp();
        self.emit(Op::Carry { dst });
        dst
    }

    pub(crate) fn test(&mut self, condition: crate::Condition) -> Reg {
        let dst = self.temp();
        self.emit(Op::Test { condition, dst });
        dst
    }

    pub(crate) fn select(&mut self, size: Size, condition: Reg, yes: Reg, no: Reg) -> Reg {
        let dst = self.temp();
        self.emit(Op::Select { size, dst, condition, yes, no });
        dst
    }

    /// Size of the memory operand in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let size: MemorySize = self.instruction.memory_size();
        size.size()
    }
}

/// The slot of a general or XMM register (of the whole of it, for a part). Others are
/// [`Reg::ZERO`]: an absent base or index, and rip, since displacements are already absolute.
pub(crate) fn slot_of(register: Register) -> Reg {
    if register.is_xmm() {
        Reg::xmm(register.number() as u8)
    } else if register.is_gpr() {
        Reg::general(register.full_register().number() as u8)
    } else {
        Reg::ZERO
    }
}

fn is_high_byte(register: Register) -> bool {
    matches!(register, Register::AH | Register::CH | Register::DH | Register::BH)
}

fn is_narrow(register: Register) -> bool {
    register.is_gpr32() || register == Register::EIP
}

/// Whether a bare displacement stands under the address-size prefix.
fn is_narrow_absolute(instruction: &Instruction) -> bool {
    let bare = (Register::None, Register::None);
    (instruction.memory_base(), instruction.memory_index()) == bare && instruction.memory_displ_size() == 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_computes_does_something_and_goes_on_and_tells_no_address() {
        let (mut state, mut found) = (1u64, 0);
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u8
        };
        let beginnings: [&[u8]; 8] =
            [&[], &[0x0f], &[0x66, 0x0f], &[0xf2, 0x0f], &[0xc5], &[0xc4], &[0x62], &[0x48]];
        for number in 0..400_000 {
            let mut bytes = beginnings[number % beginnings.len()].to_vec();
            bytes.resize_with(MAX_INSTRUCTION, &mut random);
            let Decoded::Instruction(instruction) = decode(&bytes, 0x1000) else { continue };
            if !only_computes(&instruction) {
                continue;
            }
            let mut ops = Vec::new();
            lift(&instruction, &mut ops);
            found += 1;
            // Moving a register to itself is no more than nothing.
            let moves_to_itself = instruction.op0_register() == instruction.op1_register();
            assert!(!ops.is_empty() || moves_to_itself, "{instruction}");
            assert!(ops.iter().all(|op| *op == Op::Unsupported || !op.ends_block()), "{instruction}");
            assert!(ops.last() != Some(&Op::Unsupported) || goes_on(&instruction), "{instruction}");
            let mut addresses = ops.iter().filter_map(|op| match op {
                Op::Lea { address, .. } | Op::Load { address, .. } | Op::Store { address, .. } => {
                    Some(address)
                }
                Op::LoadVector { address, .. } | Op::StoreVector { address, .. } => Some(address),
                _ => None,
            });
            let is_alone = |address: &Address| [address.base, address.index] == [Reg::ZERO; 2];
            assert!(!addresses.any(is_alone), "{instruction}");
        }
        assert!(found > 10_000, "only {found} were tried");
    }
}
