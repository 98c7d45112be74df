//! Random cases: a form of the group, operands, and a state in which it does something.

use super::forms::{BLOCKS, comparisons, forms, is_x87, jumps};
use super::layout::{IMAGE_BYTES, LOW, PAGE, entry, slot, writable_offset};
use super::operands::{Draft, RSP};
use super::random::{Lanes, Random};
use super::shape::shape;
use super::state::{Case, DEFAULT_MXCSR, FloatState, Patches, State, Step};
use super::undefined::Undefined;
use iced_x86::{
    Code, Decoder, DecoderOptions, Encoder, Instruction, InstructionInfoFactory, MemorySize, Mnemonic,
    OpAccess, OpKind,
};
use lift::MAX_INSTRUCTION;

/// Makes the cases of one group. A case depends on seed, group and index alone.
pub struct Generator {
    group: &'static str,
    seed: u64,
    forms: Vec<Code>,
    encoder: Encoder,
    info: InstructionInfoFactory,
}

/// A case under construction.
struct Plan {
    state: State,
    patches: Patches,
    undefined: Undefined,
    /// General registers that an address is made of, and those that a step has written: neither may
    /// make up the address of a later step.
    address_registers: u16,
    written: u16,
    steps: Vec<Step>,
}

impl Generator {
    pub fn new(group: &'static str, seed: u64) -> Generator {
        Generator {
            group,
            seed,
            forms: forms(group),
            encoder: Encoder::new(64),
            info: InstructionInfoFactory::new(),
        }
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
        let random = &mut Random::for_case(self.seed, self.group, index);
        let rip = entry(slot(index));
        let mut plan;
        // Some choices exclude each other (a high byte register beside a REX prefix): those are
        // refused, and another draw is made.
        loop {
            let code = random.pick(&self.forms);
            plan = Plan::new(random_state(random, code), rip);
            if self.extend(&mut plan, code, random) {
                break;
            }
        }
        if self.group == BLOCKS {
            self.lengthen(&mut plan, random);
        }
        let Plan { state: input, patches, undefined, steps, .. } = plan;
        Case { index, steps, input, patches, undefined }
    }

    /// Adds steps, and often a comparison with a jump that it decides: the pairs that executors
    /// treat as one.
    fn lengthen(&mut self, plan: &mut Plan, random: &mut Random) {
        for _ in 0..random.below(5) {
            let code = random.pick(&self.forms);
            self.extend(plan, code, random);
        }
        if random.percent(60) {
            if random.percent(60) {
                let code = random.pick(comparisons());
                self.extend(plan, code, random);
            }
            let code = random.pick(jumps());
            self.extend(plan, code, random);
        }
    }

    /// Adds a step, or leaves the plan as it was where the draw was bad.
    fn extend(&mut self, plan: &mut Plan, code: Code, random: &mut Random) -> bool {
        let (mut state, mut patches) = (plan.state, plan.patches);
        let rip = plan.next_rip();
        let mut draft = Draft::new(code, random, &mut state);
        draft.address_registers = plan.address_registers;
        draft.forbidden = plan.address_registers | plan.written;
        choose_prefixes(&mut draft);
        if !draft.operands(rip) || draft.conflict {
            return false;
        }
        if draft.instruction.op0_kind() != OpKind::Memory {
            draft.instruction.set_has_lock_prefix(false);
        }
        patch_target(&mut draft, &mut patches);
        shape(&mut draft, &mut patches);
        if draft.conflict {
            return false;
        }
        let (draft, address_registers) = (draft.instruction, draft.address_registers);
        let prefix = redundant_prefix(&draft, random);
        let Some((bytes, instruction)) = self.encode(&draft, prefix, rip) else { return false };
        if !plan.undefined.can_precede(&instruction) {
            return false;
        }
        plan.steps.push(Step { bytes, instruction, undefined: plan.undefined });
        plan.undefined = plan.undefined.after(&instruction, &state);
        plan.address_registers = address_registers;
        plan.written |= self.written(&instruction);
        (plan.state, plan.patches) = (state, patches);
        true
    }

    fn encode(
        &mut self,
        draft: &Instruction,
        prefix: Option<u8>,
        rip: u64,
    ) -> Option<([u8; MAX_INSTRUCTION], Instruction)> {
        let result = self.encoder.encode(draft, rip + u64::from(prefix.is_some()));
        // Taken in any case: a refused instruction leaves some bytes behind.
        let mut buffer = self.encoder.take_buffer();
        let length = result.ok()?;
        let mut bytes = [0; MAX_INSTRUCTION];
        let all = prefix.iter().chain(buffer.get(..length)?);
        let total = length + usize::from(prefix.is_some());
        bytes.get_mut(..total)?.iter_mut().zip(all).for_each(|(to, from)| *to = *from);
        buffer.clear();
        self.encoder.set_buffer(buffer);
        let instruction = Decoder::with_ip(64, &bytes[..total], rip, DecoderOptions::NONE).decode();
        // A prefix must not make it another instruction.
        let good = !instruction.is_invalid() && instruction.len() == total;
        let same = prefix.is_none() || instruction.code() == draft.code();
        (good && same).then_some((bytes, instruction))
    }

    /// The general registers that an instruction writes.
    fn written(&mut self, instruction: &Instruction) -> u16 {
        use OpAccess::*;
        let used = self.info.info(instruction).used_registers();
        used.iter()
            .filter(|used| matches!(used.access(), Write | CondWrite | ReadWrite | ReadCondWrite))
            .map(|used| used.register())
            .filter(|register| register.is_gpr())
            .fold(0, |mask, register| mask | 1 << register.full_register().number())
    }
}

impl Plan {
    fn new(mut state: State, rip: u64) -> Plan {
        state.rip = rip;
        Plan {
            state,
            patches: Patches::none(),
            undefined: Undefined::default(),
            address_registers: 0,
            written: 0,
            steps: Vec::with_capacity(1),
        }
    }

    fn next_rip(&self) -> u64 {
        self.steps.last().map_or(self.state.rip, |step| step.instruction.next_ip())
    }
}

/// lock, rep and repne, where the form takes them.
fn choose_prefixes(draft: &mut Draft) {
    let opcode = draft.instruction.code().op_code();
    if opcode.can_use_lock_prefix() && draft.random.percent(30) {
        draft.instruction.set_has_lock_prefix(true);
    }
    if opcode.can_use_rep_prefix() && draft.random.percent(40) {
        draft.instruction.set_has_rep_prefix(true);
    } else if opcode.can_use_repne_prefix() && draft.random.percent(50) {
        draft.instruction.set_has_repne_prefix(true);
    }
}

/// Compilers and linkers pad with prefixes that change nothing: segment overrides without meaning in
/// 64-bit mode, operand sizes, `rep ret`.
fn redundant_prefix(instruction: &Instruction, random: &mut Random) -> Option<u8> {
    use Mnemonic::*;
    const SEGMENTS: [u8; 4] = [0x26, 0x2e, 0x36, 0x3e];
    const OPERAND_SIZE: u8 = 0x66;
    const REPEAT: [u8; 2] = [0xf2, 0xf3];
    if !random.percent(6) {
        return None;
    }
    let direct = matches!(instruction.op0_kind(), OpKind::NearBranch64);
    match instruction.mnemonic() {
        // Processors differ in whether an operand size shortens a branch.
        Jmp | Call => Some(random.pick(&SEGMENTS)),
        Ret => Some(random.pick(&REPEAT)),
        // A handler sees the address after it, and takes it for one byte long.
        Int3 => None,
        _ if direct => Some(random.pick(&SEGMENTS)),
        _ if random.percent(50) => Some(OPERAND_SIZE),
        _ => Some(random.pick(&SEGMENTS)),
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
    if is_x87(code) {
        random_x87(random, &mut state.float);
    }
    state
}

/// Numbers on the stack, mostly as many as an instruction needs, with every rounding and precision. Exceptions are masked.
fn random_x87(random: &mut Random, float: &mut FloatState) {
    float.control = random_x87_control(random);
    let top = random.below(8) as u16;
    let codes = random.word() as u16 & 0x4700;
    let flags = if random.percent(50) { random.below(0x80) as u16 } else { 0 };
    float.status = codes | top << 11 | flags;
    let depth = random.below(9) as u32;
    float.tags = match random.below(10) {
        0 => random.below(256) as u16,
        _ => (1u16 << depth) - 1,
    };
    // The mask is of physical registers, from the top on.
    let tags = float.tags as u8;
    float.tags = tags.rotate_left(top.into()).into();
    for register in &mut float.stack {
        *register = random.extended();
    }
}

pub fn random_x87_control(random: &mut Random) -> u16 {
    const DEFAULT: u16 = 0x37f;
    if random.percent(60) {
        return DEFAULT;
    }
    let precision = random.pick(&[0, 2, 3]) << 8;
    DEFAULT & !0x300 | precision | (random.below(4) as u16) << 10
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
        let value = match draft.instruction.code().op_code().memory_size() {
            MemorySize::Float80 => draft.random.extended(),
            _ => draft.random.vector(lanes),
        };
        patches.add(offset, &value.to_le_bytes());
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
            let all: HashSet<Code> = forms(group).into_iter().collect();
            let cases = (0..20_000).map(|index| generator.case(index));
            let seen: HashSet<Code> = cases.map(|case| case.steps[0].instruction.code()).collect();
            let missing: Vec<_> = all.difference(&seen).collect();
            assert!(missing.is_empty(), "{group}: {missing:?}");
        }
    }

    #[test]
    fn a_case_can_be_made_again_alone() {
        for group in ["alu", BLOCKS] {
            let mut all = Generator::new(group, 5);
            let last = (0..500).map(|index| all.case(index)).last().expect("there are 500");
            let alone = Generator::new(group, 5).case(499);
            let bytes = |case: &Case| case.steps.iter().map(|step| step.bytes).collect::<Vec<_>>();
            assert_eq!((bytes(&last), last.input), (bytes(&alone), alone.input));
        }
    }

    #[test]
    fn blocks_have_several_steps_and_end_in_jumps() {
        let mut generator = Generator::new(BLOCKS, 5);
        let cases: Vec<Case> = (0..500).map(|index| generator.case(index)).collect();
        let jumps =
            cases.iter().filter(|case| case.steps.last().is_some_and(|step| step.instruction.is_jcc_near()));
        assert!(jumps.count() > 200);
        assert!(cases.iter().map(|case| case.steps.len()).sum::<usize>() > 1500);
    }
}
