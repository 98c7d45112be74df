//! Random cases: a form of the group, operands, and a state in which it does something.

use super::forms::forms;
use super::layout::{IMAGE_BYTES, LOW, PAGE, entry, slot, writable_offset};
use super::operands::{Draft, RSP};
use super::random::{Lanes, Random};
use super::shape::shape;
use super::state::{Case, DEFAULT_MXCSR, Patches, State};
use iced_x86::{Code, Decoder, DecoderOptions, Encoder, Instruction, MemorySize};

/// Makes the cases of one group. A case depends on seed, group and index alone.
pub struct Generator {
    group: &'static str,
    seed: u64,
    forms: Vec<Code>,
    encoder: Encoder,
}

impl Generator {
    pub fn new(group: &'static str, seed: u64) -> Generator {
        Generator { group, seed, forms: forms(group), encoder: Encoder::new(64) }
    }

    /// The scratch memory that all cases of a seed start with.
    pub fn image(seed: u64) -> Box<[u8; IMAGE_BYTES]> {
        let mut random = Random::for_case(seed, "image", 0);
        let mut image = Box::new([0; IMAGE_BYTES]);
        for vector in image.chunks_exact_mut(16) {
            let lanes = random.pick(&Lanes::ALL);
            vector.copy_from_slice(&random.vector(lanes).to_le_bytes());
        }
        image
    }

    pub fn case(&mut self, index: u64) -> Case {
        let mut random = Random::for_case(self.seed, self.group, index);
        let rip = entry(slot(index));
        // Some choices exclude each other (a high byte register beside a REX prefix): the encoder
        // refuses those, and another draw is made.
        loop {
            let code = random.pick(&self.forms);
            if let Some(case) = self.attempt(code, index, rip, &mut random) {
                return case;
            }
        }
    }

    fn attempt(&mut self, code: Code, index: u64, rip: u64, random: &mut Random) -> Option<Case> {
        let mut state = random_state(random, code);
        state.rip = rip;
        let mut patches = Patches::none();
        let mut draft = Draft::new(code, random, &mut state);
        let opcode = code.op_code();
        if opcode.can_use_lock_prefix() && draft.random.percent(30) {
            draft.instruction.set_has_lock_prefix(true);
        }
        if opcode.can_use_rep_prefix() && draft.random.percent(40) {
            draft.instruction.set_has_rep_prefix(true);
        } else if opcode.can_use_repne_prefix() && draft.random.percent(50) {
            draft.instruction.set_has_repne_prefix(true);
        }
        if !draft.operands(rip) {
            return None;
        }
        if draft.instruction.op0_kind() != iced_x86::OpKind::Memory {
            draft.instruction.set_has_lock_prefix(false);
        }
        patch_target(&mut draft, &mut patches);
        shape(&mut draft, &mut patches);

        let (bytes, length) = self.encode(&draft.instruction, rip)?;
        let instruction = Decoder::with_ip(64, &bytes[..length], rip, DecoderOptions::NONE).decode();
        // The encoder may choose a form that means the same in fewer bytes; what was decoded counts.
        (!instruction.is_invalid() && instruction.len() == length)
            .then_some(Case { index, bytes, length, instruction, input: state, patches })
    }

    fn encode(&mut self, instruction: &Instruction, rip: u64) -> Option<([u8; 16], usize)> {
        let result = self.encoder.encode(instruction, rip);
        // What a refused instruction left behind goes too.
        let mut buffer = self.encoder.take_buffer();
        let mut bytes = [0; 16];
        let length = result.ok()?;
        bytes[..length].copy_from_slice(buffer.get(..length)?);
        buffer.clear();
        self.encoder.set_buffer(buffer);
        Some((bytes, length))
    }
}

/// What the vector operands of a form hold, as far as its memory operand tells.
fn lanes_of(code: Code) -> Option<Lanes> {
    match code.op_code().memory_size().info().element_type() {
        MemorySize::Float32 => Some(Lanes::Singles),
        MemorySize::Float64 => Some(Lanes::Doubles),
        _ => None,
    }
}

fn random_state(random: &mut Random, code: Code) -> State {
    let mut state = State::zero();
    for register in &mut state.general {
        *register = if random.percent(15) { LOW + random.below(2 * PAGE) } else { random.integer() };
    }
    // Room on the stack for whoever needs it.
    state.general[RSP] = LOW + (random.between(256, 2 * PAGE - 256) & !7);
    const CHANGEABLE: u64 = 0xcd5; // the arithmetic flags and DF
    state.rflags = 0x202 | (random.word() & CHANGEABLE);

    let typical = lanes_of(code);
    for register in &mut state.float.xmm {
        let lanes = match typical {
            Some(lanes) if random.percent(85) => lanes,
            _ => random.pick(&Lanes::ALL),
        };
        *register = random.vector(lanes);
    }
    state.float.mxcsr = random_mxcsr(random);
    state
}

/// Every rounding mode, flush and denormal mode; mostly masked exceptions.
pub fn random_mxcsr(random: &mut Random) -> u32 {
    let mut mxcsr = DEFAULT_MXCSR | (random.below(4) as u32) << 13;
    if random.percent(25) {
        mxcsr |= 1 << 15;
    }
    if random.percent(25) {
        mxcsr |= 1 << 6;
    }
    if random.percent(50) {
        mxcsr |= random.below(64) as u32;
    }
    if random.percent(8) {
        mxcsr &= !((random.below(64) as u32) << 7);
    }
    mxcsr
}

/// Puts a value that suits the form where its memory operand points.
fn patch_target(draft: &mut Draft, patches: &mut Patches) {
    let Some(offset) = draft.target.and_then(|target| writable_offset(target, 16)) else { return };
    if draft.random.percent(70) {
        let lanes = lanes_of(draft.instruction.code()).unwrap_or(Lanes::Integers);
        let value = draft.random.vector(lanes).to_le_bytes();
        patches.add(offset, &value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::forms::GROUPS;
    use std::collections::HashSet;

    #[test]
    fn every_form_of_every_group_is_generated() {
        for group in GROUPS {
            let mut generator = Generator::new(group, 11);
            let missing: HashSet<Code> = forms(group).into_iter().collect();
            let seen: HashSet<Code> = (0..20_000).map(|index| generator.case(index).instruction.code()).collect();
            let missing: Vec<_> = missing.difference(&seen).collect();
            assert!(missing.is_empty(), "{group}: {missing:?}");
        }
    }

    #[test]
    fn a_case_can_be_made_again_alone() {
        let mut all = Generator::new("alu", 5);
        let last = (0..500).map(|index| all.case(index)).last().map(|case| (case.bytes, case.input));
        let alone = Generator::new("alu", 5).case(499);
        assert_eq!(last, Some((alone.bytes, alone.input)));
    }
}
