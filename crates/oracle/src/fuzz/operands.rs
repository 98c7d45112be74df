//! Random operands for any instruction form.
//!
//! The decoder's table says what kind each operand is. Memory operands are built backwards: an
//! address is wanted first, and registers and displacement are then given values that lead there.

use super::layout::{CODE, ENTRY_OFFSET, FS_BASE, GS_BASE, HIGH, LOW, PAGE, READ_ONLY, SLOT_BYTES, SLOTS};
use super::random::Random;
use super::state::State;
use iced_x86::{Code, Instruction, OpCodeOperandKind, OpKind, Register};

/// An instruction under construction, with the state that its operands need.
pub struct Draft<'a> {
    pub random: &'a mut Random,
    pub state: &'a mut State,
    pub instruction: Instruction,
    /// Linear address of the memory operand, if there is one.
    pub target: Option<u64>,
    /// Bits of the general registers that addresses are made of; other values must not go there.
    pub address_registers: u16,
    /// Bits of the general registers that no address may be made of.
    pub forbidden: u16,
    /// Whether one was made of them all the same.
    pub conflict: bool,
}

pub const RSP: usize = 4;

impl<'a> Draft<'a> {
    pub fn new(code: Code, random: &'a mut Random, state: &'a mut State) -> Draft<'a> {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        Draft {
            random,
            state,
            instruction,
            target: None,
            address_registers: 0,
            forbidden: 0,
            conflict: false,
        }
    }

    /// Fills all operands in; false where the table asks for what 64-bit user code has not.
    pub fn operands(&mut self, rip: u64) -> bool {
        use OpCodeOperandKind::*;
        let opcode = self.instruction.code().op_code();
        for (place, &kind) in opcode.op_kinds().iter().enumerate() {
            let place = place as u32;
            match kind {
                r8_or_mem => self.register_or_memory(place, Draft::byte_register),
                r16_or_mem => self.register_or_memory(place, |draft| draft.register(Register::AX)),
                r32_or_mem => self.register_or_memory(place, |draft| draft.register(Register::EAX)),
                r64_or_mem => self.register_or_memory(place, |draft| draft.register(Register::RAX)),
                xmm_or_mem => self.register_or_memory(place, |draft| draft.register(Register::XMM0)),
                mem => self.memory(place),
                mem_offs => self.absolute(place),
                r8_reg | r8_opcode => {
                    let register = self.byte_register();
                    self.set_register(place, register);
                }
                r16_reg | r16_rm | r16_opcode => self.random_register(place, Register::AX),
                r32_reg | r32_rm | r32_opcode => self.random_register(place, Register::EAX),
                r64_reg | r64_rm | r64_opcode => self.random_register(place, Register::RAX),
                xmm_reg | xmm_rm => self.random_register(place, Register::XMM0),
                st0 => self.set_register(place, Register::ST0),
                sti_opcode => {
                    let register = Register::ST0 + self.random.below(8) as u32;
                    self.set_register(place, register);
                }
                al => self.set_register(place, Register::AL),
                cl => self.set_register(place, Register::CL),
                ax => self.set_register(place, Register::AX),
                dx => self.set_register(place, Register::DX),
                eax => self.set_register(place, Register::EAX),
                rax => self.set_register(place, Register::RAX),
                imm8 | imm8sex16 | imm8sex32 | imm8sex64 | imm16 | imm32 | imm32sex64 | imm64
                | imm8_const_1 => {
                    self.immediate(place, kind);
                }
                seg_rSI => self.string_source(place),
                es_rDI => self.string_destination(place, OpKind::MemoryESRDI, OpKind::MemoryESEDI),
                seg_rDI => self.string_destination(place, OpKind::MemorySegRDI, OpKind::MemorySegEDI),
                seg_rBX_al => self.table(place),
                br64_1 => {
                    let slot = rip - ENTRY_OFFSET;
                    let offset = if self.random.percent(50) {
                        self.random.between(8, 112)
                    } else {
                        self.random.between(160, 250)
                    };
                    self.branch(place, slot + offset);
                }
                br64_4 => {
                    let target = self.landing();
                    self.branch(place, target);
                }
                _ => return false,
            }
        }
        true
    }

    /// An address to jump to: mostly filling of the code area, sometimes memory that cannot be
    /// executed or that is not there.
    pub fn landing(&mut self) -> u64 {
        match self.random.below(20) {
            0 => self.random.pick(&[LOW, READ_ONLY + 5, LOW - PAGE, READ_ONLY + PAGE, CODE - 1]),
            1 => CODE + SLOTS as u64 * SLOT_BYTES + self.random.below(PAGE / 4),
            _ => {
                let slot = self.random.below(SLOTS as u64);
                CODE + slot * SLOT_BYTES + self.random.below(ENTRY_OFFSET - 16)
            }
        }
    }

    /// Gives a general register a value, unless an address is made of it.
    pub fn give(&mut self, register: usize, value: u64) {
        if self.address_registers & (1 << register) == 0 {
            self.state.general[register] = value;
        }
    }

    /// Gives a general register a value that an address is made of.
    pub fn give_address(&mut self, register: usize, value: u64) {
        self.conflict |= self.forbidden & (1 << register) != 0;
        self.address_registers |= 1 << register;
        self.state.general[register] = value;
    }

    /// An address for an access of `size` bytes: mostly good, sometimes across a page border,
    /// read-only, not mapped or not canonical.
    pub fn wanted_address(&mut self, size: u64, alignment: u64, narrow: bool) -> u64 {
        let random = &mut *self.random;
        let straddle = random.between(1, size.max(2));
        let room = PAGE - 2 * size.min(PAGE / 4);
        let address = match random.below(100) {
            0..60 => LOW + size + random.below(2 * room),
            60..68 => LOW + PAGE - straddle,
            68..80 if !narrow => HIGH + size + random.below(room),
            68..84 => READ_ONLY + random.below(PAGE - size.min(PAGE / 2)),
            84..87 => READ_ONLY - straddle,
            87..89 => LOW - straddle,
            89..91 => READ_ONLY + PAGE - straddle,
            91..93 if !narrow => HIGH - straddle,
            93..95 if !narrow => HIGH + PAGE - straddle,
            95..97 if !narrow => random.pick(&[
                0x7fff_ffff_ff00,
                0x7fff_ffff_fffc,
                0x8000_0000_0000,
                0x1234_5678_9abc_def0,
                0xffff_7fff_ffff_fffe,
                0xffff_8000_0000_0000,
                0xffff_ffff_ff00_0000,
            ]),
            _ => random.pick(&[0, 8, 0x123, LOW - PAGE, READ_ONLY + PAGE, 0x1_0000, 0x7f00_0000]),
        };
        address & !(alignment - 1)
    }

    fn register_or_memory(&mut self, place: u32, register: fn(&mut Draft<'a>) -> Register) {
        if self.random.percent(50) {
            let register = register(self);
            self.set_register(place, register);
        } else {
            self.memory(place);
        }
    }

    fn set_register(&mut self, place: u32, register: Register) {
        self.instruction.set_op_kind(place, OpKind::Register);
        self.instruction.set_op_register(place, register);
    }

    fn random_register(&mut self, place: u32, first: Register) {
        let register = self.register(first);
        self.set_register(place, register);
    }

    fn register(&mut self, first: Register) -> Register {
        first + self.random.below(16) as u32
    }

    /// One of the twenty byte registers; the encoder refuses the high ones beside a REX prefix.
    fn byte_register(&mut self) -> Register {
        Register::AL + self.random.below(20) as u32
    }

    fn immediate(&mut self, place: u32, kind: OpCodeOperandKind) {
        use OpCodeOperandKind::*;
        let value = self.random.integer();
        let instruction = &mut self.instruction;
        match kind {
            imm8_const_1 => {
                instruction.set_op_kind(place, OpKind::Immediate8);
                instruction.set_immediate8(1);
            }
            imm8 => {
                // The second immediate of enter lies in a field of its own.
                if place > 0 && instruction.op_kind(place - 1) == OpKind::Immediate16 {
                    instruction.set_op_kind(place, OpKind::Immediate8_2nd);
                    instruction.set_immediate8_2nd(value as u8);
                } else {
                    instruction.set_op_kind(place, OpKind::Immediate8);
                    instruction.set_immediate8(value as u8);
                }
            }
            imm8sex16 => {
                instruction.set_op_kind(place, OpKind::Immediate8to16);
                instruction.set_immediate8to16(i16::from(value as i8));
            }
            imm8sex32 => {
                instruction.set_op_kind(place, OpKind::Immediate8to32);
                instruction.set_immediate8to32(i32::from(value as i8));
            }
            imm8sex64 => {
                instruction.set_op_kind(place, OpKind::Immediate8to64);
                instruction.set_immediate8to64(i64::from(value as i8));
            }
            imm16 => {
                instruction.set_op_kind(place, OpKind::Immediate16);
                instruction.set_immediate16(value as u16);
            }
            imm32 => {
                instruction.set_op_kind(place, OpKind::Immediate32);
                instruction.set_immediate32(value as u32);
            }
            imm32sex64 => {
                instruction.set_op_kind(place, OpKind::Immediate32to64);
                instruction.set_immediate32to64(i64::from(value as i32));
            }
            _ => {
                instruction.set_op_kind(place, OpKind::Immediate64);
                instruction.set_immediate64(value);
            }
        }
    }

    fn branch(&mut self, place: u32, target: u64) {
        self.instruction.set_op_kind(place, OpKind::NearBranch64);
        self.instruction.set_near_branch64(target);
    }

    /// How many bytes the memory operand has; forms without a size touch none or a block.
    fn memory_bytes(&self) -> u64 {
        match self.instruction.code().op_code().memory_size().size() as u64 {
            0 => 8,
            size => size,
        }
    }

    fn alignment(&mut self, size: u64) -> u64 {
        use iced_x86::Mnemonic::*;
        let mnemonic = self.instruction.mnemonic();
        // A locked access that crosses a cache line stops the whole machine for a while, and some
        // kernels punish it.
        let locks = mnemonic == Xchg || self.instruction.has_lock_prefix();
        let natural = size.next_power_of_two().clamp(1, 16);
        if locks || self.random.percent(if size >= 16 { 85 } else { 40 }) { natural } else { 1 }
    }

    /// Picks fs or gs now and then, and gives the base that comes with it.
    fn segment(&mut self) -> u64 {
        let (segment, base) = match self.random.below(20) {
            0 => (Register::FS, FS_BASE),
            1 => (Register::GS, GS_BASE),
            _ => return 0,
        };
        self.instruction.set_segment_prefix(segment);
        base
    }

    fn memory(&mut self, place: u32) {
        self.instruction.set_op_kind(place, OpKind::Memory);
        let narrow = self.random.percent(6);
        let size = self.memory_bytes();
        let alignment = self.alignment(size);
        let target = self.wanted_address(size, alignment, narrow);
        let segment = self.segment();
        let offset = target.wrapping_sub(segment);
        self.target = Some(target);
        let first = if narrow { Register::EAX } else { Register::RAX };
        let scale = 1u32 << self.random.below(4);
        let displacement = match self.random.below(3) {
            0 => 0,
            1 => self.random.below(256) as i64 - 128,
            _ => self.random.word() as i32 as i64 >> self.random.below(24),
        };
        self.instruction.set_memory_displ_size(if narrow { 4 } else { 8 });
        match self.random.below(10) {
            0 if offset as i64 == i64::from(offset as i32) || narrow => self.set_displacement(offset, narrow),
            1 if offset < 1 << 31 => {
                self.instruction.set_memory_base(if narrow { Register::EIP } else { Register::RIP });
                self.set_displacement(offset, narrow);
            }
            2 => {
                let index = self.index_register(first);
                self.instruction.set_memory_index(index);
                self.instruction.set_memory_index_scale(scale);
                let rest = offset.wrapping_sub(displacement as u64);
                let (value, remainder) = (rest / u64::from(scale), rest % u64::from(scale));
                self.set_address_register(index, value, narrow);
                self.set_displacement((displacement as u64).wrapping_add(remainder), narrow);
            }
            3..6 => {
                let base = self.register(first);
                let index = self.index_register(first);
                self.instruction.set_memory_base(base);
                self.instruction.set_memory_index(index);
                self.instruction.set_memory_index_scale(scale);
                let rest = offset.wrapping_sub(displacement as u64);
                let mut displacement = displacement as u64;
                if base == index {
                    let factor = u64::from(scale) + 1;
                    self.set_address_register(base, rest / factor, narrow);
                    displacement = displacement.wrapping_add(rest % factor);
                } else {
                    let value = if self.random.percent(60) {
                        self.random.below(64).wrapping_sub(32)
                    } else {
                        self.random.integer()
                    };
                    self.set_address_register(index, value, narrow);
                    let base_value = rest.wrapping_sub(value.wrapping_mul(u64::from(scale)));
                    self.set_address_register(base, base_value, narrow);
                }
                self.set_displacement(displacement, narrow);
            }
            _ => {
                let base = self.register(first);
                self.instruction.set_memory_base(base);
                self.set_address_register(base, offset.wrapping_sub(displacement as u64), narrow);
                self.set_displacement(displacement as u64, narrow);
            }
        }
    }

    /// Every register but the stack pointer can be an index.
    fn index_register(&mut self, first: Register) -> Register {
        loop {
            let register = self.register(first);
            if register.number() != RSP {
                return register;
            }
        }
    }

    fn set_displacement(&mut self, displacement: u64, narrow: bool) {
        let displacement = if narrow { displacement & 0xffff_ffff } else { displacement };
        self.instruction.set_memory_displacement64(displacement);
        let short = displacement as i64 == i64::from(displacement as i8);
        let no_base = self.instruction.memory_base() == Register::None;
        if short && !no_base && self.random.percent(80) {
            self.instruction.set_memory_displ_size(u32::from(displacement != 0));
        }
    }

    /// Under the address-size prefix only the low half counts; the rest is noise.
    fn set_address_register(&mut self, register: Register, value: u64, narrow: bool) {
        let noise = if narrow { self.random.word() << 32 } else { 0 };
        let value = if narrow { (value & 0xffff_ffff) | noise } else { value };
        self.give_address(register.number(), value);
    }

    /// The absolute 64-bit address of `mov al, [moffs]` and its kin.
    fn absolute(&mut self, place: u32) {
        self.instruction.set_op_kind(place, OpKind::Memory);
        let narrow = self.random.percent(10);
        let size = self.memory_bytes();
        let alignment = self.alignment(size);
        let target = self.wanted_address(size, alignment, narrow);
        let segment = if narrow { 0 } else { self.segment() };
        self.target = Some(target);
        self.instruction.set_memory_displ_size(if narrow { 4 } else { 8 });
        self.instruction.set_memory_displacement64(target.wrapping_sub(segment));
    }

    fn string_source(&mut self, place: u32) {
        const RSI: usize = 6;
        let narrow = self.string_is_narrow();
        let kind = if narrow { OpKind::MemorySegESI } else { OpKind::MemorySegRSI };
        self.instruction.set_op_kind(place, kind);
        let target = self.string_address(narrow);
        let segment = self.segment();
        let register = if narrow { Register::ESI } else { Register::RSI };
        debug_assert_eq!(register.number(), RSI);
        self.set_address_register(register, target.wrapping_sub(segment), narrow);
        self.target.get_or_insert(target);
    }

    fn string_destination(&mut self, place: u32, wide_kind: OpKind, narrow_kind: OpKind) {
        let narrow = self.string_is_narrow();
        self.instruction.set_op_kind(place, if narrow { narrow_kind } else { wide_kind });
        let target = self.string_address(narrow);
        let segment = if wide_kind == OpKind::MemorySegRDI { self.segment() } else { 0 };
        let register = if narrow { Register::EDI } else { Register::RDI };
        self.set_address_register(register, target.wrapping_sub(segment), narrow);
        self.target = Some(target);
    }

    /// Both operands of a string instruction have the same address size, so the first decides.
    fn string_is_narrow(&mut self) -> bool {
        match self.instruction.op0_kind() {
            OpKind::MemoryESEDI | OpKind::MemorySegESI => true,
            OpKind::MemoryESRDI | OpKind::MemorySegRSI => false,
            _ => self.random.percent(8),
        }
    }

    /// Far enough from borders for some elements either way, or just at one.
    fn string_address(&mut self, narrow: bool) -> u64 {
        let size = self.memory_bytes();
        if self.random.percent(60) {
            return LOW + self.random.between(1024, 2 * PAGE - 1024);
        }
        let alignment = self.alignment(size);
        self.wanted_address(size, alignment, narrow)
    }

    fn table(&mut self, place: u32) {
        const RAX: usize = 0;
        self.instruction.set_op_kind(place, OpKind::Memory);
        let narrow = self.random.percent(10);
        let base = if narrow { Register::EBX } else { Register::RBX };
        self.instruction.set_memory_base(base);
        self.instruction.set_memory_index(Register::AL);
        let target = self.wanted_address(1, 1, narrow);
        let segment = self.segment();
        let index = self.state.general[RAX] & 0xff;
        self.set_address_register(base, target.wrapping_sub(segment).wrapping_sub(index), narrow);
        self.target = Some(target);
    }
}
