//! Adjusts a random state to the instruction, so that its interesting cases are not a matter of
//! luck: quotients that fit, comparisons that succeed, counts at the edges, returns that land.

use super::generate::{random_mxcsr, random_x87_control};
use super::layout::{HIGH, LOW, PAGE, READ_ONLY, writable_offset};
use super::operands::{Draft, RSP};
use super::state::{MAX_PATCHES, Patches};
use iced_x86::{Mnemonic, OpKind, Register};

const RAX: usize = 0;
const RCX: usize = 1;
const RDX: usize = 2;
const RBP: usize = 5;
const _: () = assert!(MAX_PATCHES >= 3);

pub fn shape(draft: &mut Draft, patches: &mut Patches) {
    use Mnemonic::*;
    let mnemonic = draft.instruction.mnemonic();
    match mnemonic {
        Shl | Sal | Shr | Sar | Rol | Ror | Rcl | Rcr | Shld | Shrd => {
            let count = count(draft);
            let noise = draft.random.word() << 8;
            draft.give(RCX, noise | count);
            if draft.instruction.op_kinds().last() == Some(OpKind::Immediate8) && !is_by_one(draft) {
                draft.instruction.set_immediate8(count as u8);
            }
        }
        Div | Idiv => divide(draft),
        Bt | Bts | Btr | Btc => bit_offset(draft),
        Cmpxchg => compare_exchange(draft, patches),
        Cmpxchg8b | Cmpxchg16b => compare_exchange_pair(draft, patches),
        Push | Pop | Pushf | Pushfq | Popf | Popfq | Call | Ret | Enter | Leave => stack(draft, patches),
        Jmp => indirect_target(draft, patches),
        Loop | Loope | Loopne | Jecxz | Jrcxz => {
            let low = draft.random.below(3);
            let high = draft.random.pick(&[0, 0, 1 << 32, u64::MAX << 32]);
            draft.give(RCX, low | high);
        }
        Syscall => {
            // A number that no kernel has: all that happens is entering and leaving it.
            let number = 0x1000_0000 + draft.random.below(0x1000_0000);
            draft.give(RAX, number);
        }
        Ldmxcsr => {
            let mut value = random_mxcsr(draft.random);
            if draft.random.percent(10) {
                value = draft.random.word() as u32 & 0x1_ffff;
            }
            patch(draft, patches, 0, &value.to_le_bytes());
        }
        Fxrstor | Fxrstor64 => {
            let mut head = [0; 32];
            head[..2].copy_from_slice(&random_x87_control(draft.random).to_le_bytes());
            let status = draft.random.word() as u16 & 0x7f7f;
            head[2..4].copy_from_slice(&status.to_le_bytes());
            head[4] = draft.random.word() as u8;
            let value = random_mxcsr(draft.random);
            head[24..28].copy_from_slice(&value.to_le_bytes());
            patch(draft, patches, 0, &head);
        }
        Pcmpistri | Pcmpistrm | Pcmpestri | Pcmpestri64 | Pcmpestrm | Pcmpestrm64 => texts(draft, patches),
        Fldcw => {
            let noise = draft.random.word() as u16 & 0xe0c0;
            let value = random_x87_control(draft.random) ^ noise;
            patch(draft, patches, 0, &value.to_le_bytes());
        }
        Fldenv | Frstor => {
            let mut environment = [0; 12];
            let words = [random_x87_control(draft.random), draft.random.word() as u16 & 0x7f7f];
            environment[..2].copy_from_slice(&words[0].to_le_bytes());
            environment[4..6].copy_from_slice(&words[1].to_le_bytes());
            let tags = draft.random.word() as u16;
            environment[8..10].copy_from_slice(&tags.to_le_bytes());
            patch(draft, patches, 0, &environment);
        }
        Fbld => {
            // Digits; what anything else stands for is not defined.
            let digits = (0..9).map(|_| draft.random.below(10) | draft.random.below(10) << 4);
            let mut number = [0; 10];
            number.iter_mut().zip(digits.collect::<Vec<_>>()).for_each(|(byte, two)| *byte = two as u8);
            number[9] = draft.random.pick(&[0, 0x80]);
            patch(draft, patches, 0, &number);
        }
        F2xm1 | Fyl2xp1 => small_top(draft),
        Fsincos | Fptan => {
            // From 2^63 on the top would stay where it is, which is not supported.
            const FAR: u128 = 16383 + 63;
            let top = &mut draft.state.float.stack[0];
            if (FAR..0x7fff).contains(&(*top >> 64 & 0x7fff)) {
                *top ^= 0x4000 << 64;
            }
        }
        // int 0x80 is a system call; the gates of 3 and 4 are open to user code, which never goes there.
        Int if matches!(draft.instruction.immediate8(), 3 | 4 | 0x80) => {
            draft.instruction.set_immediate8(0x81)
        }
        _ if draft.instruction.is_string_instruction() => {
            let narrow = draft
                .instruction
                .op_kinds()
                .any(|kind| matches!(kind, OpKind::MemorySegESI | OpKind::MemoryESEDI));
            let count = match draft.random.below(8) {
                0 => 0,
                1 => draft.random.below(2000),
                2 => 1,
                _ => draft.random.below(24),
            };
            let noise = if narrow { draft.random.word() << 32 } else { 0 };
            draft.give(RCX, count | noise);
        }
        _ => {}
    }
}

/// Strings of few different characters, so that some match, and lengths near those of a register.
fn texts(draft: &mut Draft, patches: &mut Patches) {
    for register in [RAX, RDX] {
        if draft.random.percent(85) {
            let length = draft.random.below(40).wrapping_sub(20);
            let noise = if draft.random.percent(20) { draft.random.word() << 32 } else { 0 };
            draft.give(register, length ^ noise);
        }
    }
    for number in 0..16 {
        if draft.random.percent(80) {
            draft.state.float.xmm[number] = text(draft);
        }
    }
    let text = text(draft).to_le_bytes();
    patch(draft, patches, 0, &text);
}

fn text(draft: &mut Draft) -> u128 {
    let letters = draft.random.between(1, 5);
    let zero = draft.random.percent(60);
    (0..16).fold(0, |text, _| {
        let ends = zero && draft.random.percent(7);
        let letter =
            draft.random.pick(&[0x41u8, 0x7f, 0xff, 0]).wrapping_add(draft.random.below(letters) as u8);
        text << 8 | u128::from(if ends { 0 } else { letter })
    })
}

/// A number between -0.29 and 0.29, for functions that have a result there only, or what is no number.
fn small_top(draft: &mut Draft) {
    const ONE: u128 = 16383;
    let sign = u128::from(draft.random.below(2)) << 79;
    let exponent = ONE - 2 - u128::from(draft.random.below(70));
    let significand = u128::from(draft.random.word() >> 3 | 1 << 63);
    let rest = draft.random.extended();
    let is_number = !matches!(rest >> 64 & 0x7fff, 0 | 0x7fff);
    draft.state.float.stack[0] = match is_number {
        true => sign | exponent << 64 | significand & !(7 << 60),
        false => rest,
    };
}

fn is_by_one(draft: &Draft) -> bool {
    use iced_x86::OpCodeOperandKind;
    draft.instruction.code().op_code().op_kinds().contains(&OpCodeOperandKind::imm8_const_1)
}

fn count(draft: &mut Draft) -> u64 {
    if draft.random.percent(50) {
        draft.random.pick(&[0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255])
    } else {
        draft.random.below(256)
    }
}

/// Keeps a bit offset in a register within the scratch memory, most of the time.
fn bit_offset(draft: &mut Draft) {
    if draft.instruction.op1_kind() == OpKind::Register && draft.random.percent(80) {
        let register = draft.instruction.op1_register().full_register().number();
        let offset = draft.random.below(4096).wrapping_sub(2048);
        draft.give(register, offset);
    }
}

/// Makes the quotient fit most of the time.
fn divide(draft: &mut Draft) {
    if draft.random.percent(20) {
        return;
    }
    let signed = draft.instruction.mnemonic() == Mnemonic::Idiv;
    let divisor_bits = draft.random.between(1, 64);
    let low = draft.random.integer();
    draft.give(RAX, low);
    let low = draft.state.general[RAX];
    let sign = |bits: u32| if signed { ((low << (64 - bits)) as i64 >> 63) as u64 } else { 0 };
    let small = if draft.random.percent(50) { draft.random.below(8) } else { 0 };
    let high = match operand_bytes(draft) {
        1 => {
            // The dividend is ax: its high byte is not in rdx.
            let high = (sign(8) ^ small) & 0xff;
            draft.give(RAX, (low & !0xff00) | high << 8);
            return;
        }
        2 => (draft.state.general[RDX] & !0xffff) | ((sign(16) ^ small) & 0xffff),
        4 => (draft.random.word() << 32) | ((sign(32) ^ small) & 0xffff_ffff),
        _ => sign(64) ^ small,
    };
    draft.give(RDX, high);
    if draft.instruction.op0_kind() == OpKind::Register {
        let register = draft.instruction.op0_register();
        let number = register.full_register().number();
        if number != RAX && number != RDX {
            let divisor = draft.random.word() >> (64 - divisor_bits);
            let divisor = if signed && draft.random.percent(50) { divisor.wrapping_neg() } else { divisor };
            draft.give(number, divisor);
        }
    }
}

fn operand_bytes(draft: &Draft) -> usize {
    match draft.instruction.op0_kind() {
        OpKind::Register => draft.instruction.op0_register().size(),
        _ => draft.instruction.code().op_code().memory_size().size(),
    }
}

/// Makes the comparison succeed half of the time.
fn compare_exchange(draft: &mut Draft, patches: &mut Patches) {
    if draft.random.percent(50) {
        return;
    }
    let accumulator = draft.state.general[RAX];
    if draft.instruction.op0_kind() == OpKind::Register {
        let register = draft.instruction.op0_register();
        if !matches!(register, Register::AH | Register::CH | Register::DH | Register::BH) {
            draft.give(register.full_register().number(), accumulator);
        }
    } else {
        patch(draft, patches, 0, &accumulator.to_le_bytes());
    }
}

fn compare_exchange_pair(draft: &mut Draft, patches: &mut Patches) {
    if draft.random.percent(50) {
        return;
    }
    let (low, high) = (draft.state.general[RAX].to_le_bytes(), draft.state.general[RDX].to_le_bytes());
    let half = if draft.instruction.mnemonic() == Mnemonic::Cmpxchg8b { 4 } else { 8 };
    patch(draft, patches, 0, &low[..half]);
    patch(draft, patches, half as u64, &high[..half]);
}

/// Gives the stack pointer an address, and what lies there a value that suits.
fn stack(draft: &mut Draft, patches: &mut Patches) {
    use Mnemonic::*;
    let mnemonic = draft.instruction.mnemonic();
    if draft.address_registers & (1 << RSP) == 0 && draft.random.percent(30) {
        let alignment = if draft.random.percent(50) { 8 } else { 1 };
        let address = draft.wanted_address(8, alignment, false);
        draft.give_address(RSP, address);
    }
    if matches!(mnemonic, Enter | Leave) {
        let frame = if draft.random.percent(80) {
            LOW + draft.random.between(512, 2 * PAGE - 64)
        } else {
            draft.wanted_address(8, 1, false)
        };
        draft.give_address(RBP, frame);
    }
    match mnemonic {
        Popf | Popfq => {
            // With the trap flag the next instruction would not be ours.
            const TRAP: u64 = 1 << 8;
            let flags = draft.random.word() & 0x3f_ffff & !TRAP;
            let address = draft.state.general[RSP];
            let low = LOW - 8..READ_ONLY + PAGE;
            let high = HIGH - 8..HIGH + PAGE;
            if writable_offset(address, 8).is_none() && (low.contains(&address) || high.contains(&address)) {
                draft.give_address(RSP, LOW + PAGE);
            }
            patch_stack(draft, patches, flags);
        }
        Ret => {
            let target = if draft.random.percent(85) { draft.landing() } else { draft.random.integer() };
            patch_stack(draft, patches, target);
        }
        Call => indirect_target(draft, patches),
        Enter => {
            // Locals stay within a page. Nothing nests frames: compilers keep to level 0.
            let locals = draft.random.below(300) as u16;
            draft.instruction.set_immediate16(locals);
            draft.instruction.set_immediate8_2nd(0);
        }
        _ => {}
    }
}

/// Makes an indirect jump or call land where a landing is noticed.
fn indirect_target(draft: &mut Draft, patches: &mut Patches) {
    if draft.random.percent(5) {
        return;
    }
    let target = draft.landing();
    match draft.instruction.op0_kind() {
        OpKind::Register => {
            let register = draft.instruction.op0_register().number();
            draft.give(register, target);
        }
        OpKind::Memory => patch(draft, patches, 0, &target.to_le_bytes()),
        _ => {}
    }
}

fn patch(draft: &mut Draft, patches: &mut Patches, behind: u64, bytes: &[u8]) {
    let Some(target) = draft.target else { return };
    if let Some(offset) = writable_offset(target.wrapping_add(behind), bytes.len() as u64) {
        patches.add(offset, bytes);
    }
}

fn patch_stack(draft: &mut Draft, patches: &mut Patches, value: u64) {
    if let Some(offset) = writable_offset(draft.state.general[RSP], 8) {
        patches.add(offset, &value.to_le_bytes());
    }
}
