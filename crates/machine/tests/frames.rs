//! Operands in the stack frame, which unoptimised code has everywhere and random operands seldom are: every such
//! form of the common instructions, alone and before every conditional jump, by both executors.

mod common;

use common::*;
use iced_x86::{Code, Encoder, EncodingKind, Instruction, Mnemonic, OpCodeOperandKind, OpKind, Register};
use lift::Reg;
use machine::*;

/// The forms with a general memory operand of instructions that have codes of their own.
fn forms() -> Vec<Code> {
    use Mnemonic::*;
    let common = [
        Add, Sub, And, Or, Xor, Cmp, Test, Inc, Dec, Shl, Shr, Sar, Imul, Mov, Movzx, Movsx, Movsxd, Lea,
        Push, Pop,
    ];
    let has_memory = |code: Code| code.op_code().op_kinds().iter().any(|&kind| is_memory(kind));
    let usual = |code: Code| {
        let opcode = code.op_code();
        opcode.mode64() && opcode.encoding() == EncodingKind::Legacy && opcode.is_instruction()
    };
    let segment = |code: Code| code.op_code().op_kinds().contains(&OpCodeOperandKind::seg_reg);
    let known = |code: &Code| common.contains(&code.mnemonic());
    Code::values().filter(known).filter(|&code| usual(code) && has_memory(code) && !segment(code)).collect()
}

fn is_memory(kind: OpCodeOperandKind) -> bool {
    use OpCodeOperandKind::*;
    matches!(kind, r8_or_mem | r16_or_mem | r32_or_mem | r64_or_mem | mem)
}

/// The form with memory at `base + displacement`, rdx as its register and `constant` as its constant.
fn encoded(code: Code, base: Register, displacement: i64, constant: i64) -> Vec<u8> {
    use OpCodeOperandKind::*;
    let mut instruction = Instruction::default();
    instruction.set_code(code);
    for (number, kind) in code.op_code().op_kinds().iter().enumerate() {
        let number = number as u32;
        let register = match kind {
            r8_reg => Register::DL,
            r16_reg => Register::DX,
            r32_reg => Register::EDX,
            r64_reg => Register::RDX,
            cl => Register::CL,
            _ => Register::None,
        };
        let immediate = match kind {
            imm8 | imm8_const_1 => Some(OpKind::Immediate8),
            imm16 => Some(OpKind::Immediate16),
            imm32 => Some(OpKind::Immediate32),
            imm8sex16 => Some(OpKind::Immediate8to16),
            imm8sex32 => Some(OpKind::Immediate8to32),
            imm8sex64 => Some(OpKind::Immediate8to64),
            imm32sex64 => Some(OpKind::Immediate32to64),
            _ => Option::None,
        };
        if let Some(immediate) = immediate {
            instruction.set_op_kind(number, immediate);
            let constant = if *kind == imm8_const_1 { 1 } else { constant };
            match immediate {
                OpKind::Immediate8 => instruction.set_immediate8(constant as u8),
                OpKind::Immediate16 => instruction.set_immediate16(constant as u16),
                OpKind::Immediate32 => instruction.set_immediate32(constant as u32),
                _ => instruction.set_immediate_i32(number, constant as i32),
            }
        } else if is_memory(*kind) {
            instruction.set_op_kind(number, OpKind::Memory);
            instruction.set_memory_base(base);
            instruction.set_memory_displacement64(displacement as u64);
            instruction.set_memory_displ_size(1);
        } else {
            assert_ne!(register, Register::None, "{code:?} has a {kind:?}");
            instruction.set_op_kind(number, OpKind::Register);
            instruction.set_op_register(number, register);
        }
    }
    let mut encoder = Encoder::new(64);
    encoder.encode(&instruction, CODE).unwrap_or_else(|error| panic!("{code:?}: {error}"));
    encoder.take_buffer()
}

/// All that differs when the executors do.
fn outcome(mut machine: Machine, watched: bool) -> (Stop, Time, u64, u64, Vec<u64>) {
    let stop = run(&mut machine, Time(10), watched);
    let registers = (0..16).map(|n| machine.cpu.get(Reg::general(n))).collect();
    (stop, machine.time, machine.state_hash(), machine.cpu.rip, registers)
}

#[test]
fn operands_in_the_frame_mean_the_same_to_both_executors() {
    let forms = forms();
    assert!(forms.len() > 90, "{}", forms.len());
    let values = [0, 1, 0x80, 0x7fff_ffff, 0x8000_0000_0000_0000, u64::MAX];
    let mut cases = 0;
    for (number, &form) in forms.iter().enumerate() {
        for (base, displacement) in [(Register::RBP, -16), (Register::RSP, 16), (Register::RSP, -8)] {
            for condition in 0..16u8 {
                let (memory, register) = (values[(cases / 3) % 6], values[(cases + number) % 6]);
                cases += 1;
                let mut code = encoded(form, base, displacement, memory as i64 & 0x7f);
                // jcc over `mov ecx, 1`, then a system call.
                code.extend([0x70 | condition, 5, 0xb9, 1, 0, 0, 0, 0x0f, 0x05]);
                let mut machine = machine_with(&code, Permissions::RX);
                machine.cpu.set(Reg::RBP, STACK_END - 0x80);
                machine.cpu.set(Reg::RDX, register);
                machine.cpu.set(Reg::RCX, register & 0x3f);
                for address in [STACK_END - 0x90, STACK_END - 64 + 16, STACK_END - 64 - 8] {
                    machine.memory.store(address, memory).unwrap();
                }
                let fast = outcome(machine.fork(), false);
                let watched = outcome(machine, true);
                assert_eq!(
                    fast, watched,
                    "{form:?} by {base:?}, condition {condition}, {memory:#x} {register:#x}"
                );
            }
        }
    }
}
