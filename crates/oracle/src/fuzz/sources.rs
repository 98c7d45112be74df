//! Holds ops to the sources that they name for each byte of their results: a byte of a register that is not among the sources of a result
//! makes no difference to it. On the fuzzer's cases, so for every form of every group.

use super::describe;
use super::emulated::{Answer, Emulated, Executor};
use super::generate::Generator;
use super::groups;
use super::state::{Case, Outcome, State};
use lift::{Address, Bytes, Op, Reg, SLOTS, WHOLE};

/// Cases a group. Each is run several hundred times.
const CASES: u64 = 40;

const FLAGS: [Reg; 4] = [Reg::FLAG_KIND, Reg::FLAG_A, Reg::FLAG_B, Reg::FLAG_C];

/// Bytes of the slots that something comes from.
#[derive(Clone)]
struct Needs {
    slots: [Bytes; SLOTS],
    memory: bool,
}

impl Needs {
    fn of(reg: Reg, bytes: Bytes) -> Needs {
        let mut needs = Needs { slots: [0; SLOTS], memory: false };
        needs.add(reg, bytes);
        needs
    }

    fn add(&mut self, reg: Reg, bytes: Bytes) {
        self.slots[reg.index()] |= bytes;
    }

    fn add_address(&mut self, address: &Address) {
        for reg in [address.segment, address.base, address.index] {
            self.add(reg, WHOLE);
        }
    }

    /// From what is needed after an op to what is needed before it.
    fn before(&mut self, op: &Op) {
        let mut written = Vec::new();
        op.writes(|reg| written.push((reg, std::mem::take(&mut self.slots[reg.index()]))));
        for (reg, bytes) in written {
            let sources = op.sources(reg, bytes);
            for (reg, bytes) in sources.slots() {
                self.add(reg, bytes);
            }
            if sources.memory != 0 {
                self.memory = true;
                if let Op::Load { address, .. }
                | Op::LoadVector { address, .. }
                | Op::LoadExtended { address, .. } = op
                {
                    self.add_address(address);
                }
            }
        }
        // What was in memory before the case does not change here, so memory comes from the stores of the case.
        let stores = matches!(
            op,
            Op::Store { .. }
                | Op::StoreVector { .. }
                | Op::StoreExtended { .. }
                | Op::String { .. }
                | Op::Helper { .. }
        );
        if self.memory && stores {
            op.reads(|reg| self.slots[reg.index()] = WHOLE);
        }
    }
}

/// The results that are looked at: bytes of registers, and the flags as a whole.
fn results() -> impl Iterator<Item = (Reg, u8)> {
    let vectors = (0..16).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()]);
    let slots = (0..16).map(Reg::general).chain(vectors);
    let whole = slots.flat_map(|reg| (0..8).map(move |byte| (reg, byte)));
    // Of an x87 register, the ten bytes of the number.
    let extended = (0..8).flat_map(|n| (0..10).map(move |byte| (n, byte)));
    let extended = extended.map(|(n, byte)| match byte {
        0..8 => (Reg::st(n), byte),
        _ => (Reg::st(n).high_half(), byte - 8),
    });
    whole.chain(extended).chain([(Reg::FLAG_KIND, 0)])
}

fn needs_before(ops: &[Op], (reg, byte): (Reg, u8)) -> Needs {
    let mut needs = Needs::of(reg, 1 << byte);
    if reg == Reg::FLAG_KIND {
        FLAGS.into_iter().for_each(|reg| needs.add(reg, WHOLE));
    }
    ops.iter().rev().for_each(|op| needs.before(op));
    needs
}

/// A byte of a state; of the flags, all of them.
fn byte_of(state: &State, (reg, byte): (Reg, u8)) -> u64 {
    let vector = usize::from(reg.0.wrapping_sub(Reg::xmm(0).0) / 2);
    let slot = match reg {
        Reg::FLAG_KIND => return state.rflags & lift::flags::ARITHMETIC,
        _ if reg.is_general() => state.general[reg.index()],
        _ if reg.is_st() => {
            let (number, half) = ((reg.0 - Reg::st(0).0) / 2, (reg.0 - Reg::st(0).0) % 2);
            (state.float.stack[usize::from(number)] >> (64 * half)) as u64
        }
        _ if reg.0.is_multiple_of(2) => state.float.xmm[vector] as u64,
        _ => (state.float.xmm[vector] >> 64) as u64,
    };
    slot >> (8 * byte) & 0xff
}

fn flip(state: &mut State, (reg, byte): (Reg, u8)) {
    let vector = usize::from(reg.0.wrapping_sub(Reg::xmm(0).0) / 2);
    let pattern = 0x5b << (8 * byte);
    match reg {
        Reg::FLAG_KIND => state.rflags ^= lift::flags::ARITHMETIC,
        _ if reg.is_general() => state.general[reg.index()] ^= pattern,
        _ if reg.is_st() => {
            let (number, half) = ((reg.0 - Reg::st(0).0) / 2, (reg.0 - Reg::st(0).0) % 2);
            state.float.stack[usize::from(number)] ^= u128::from(pattern) << (64 * half);
        }
        _ if reg.0.is_multiple_of(2) => state.float.xmm[vector] ^= u128::from(pattern),
        _ => state.float.xmm[vector] ^= u128::from(pattern) << 64,
    }
}

fn run(emulated: &mut Emulated, case: &Case) -> Option<Outcome> {
    match emulated.run(case, Executor::Watched) {
        Answer::Outcome(outcome) if outcome.fault.is_none() => Some(*outcome),
        _ => None,
    }
}

fn objections(emulated: &mut Emulated, case: &Case, told: &mut Vec<String>) {
    let Some(outcome) = run(emulated, case) else { return };
    let mut ops = Vec::new();
    case.steps.iter().for_each(|step| lift::lift(&step.instruction, &mut ops));
    // A case that jumps out of itself does not run all of them.
    if outcome.state.rip != case.next_rip() {
        return;
    }
    let needs: Vec<((Reg, u8), Needs)> =
        results().map(|result| (result, needs_before(&ops, result))).collect();
    for input in results() {
        let mut other = case.clone();
        flip(&mut other.input, input);
        let Some(changed) = run(emulated, &other) else { continue };
        if changed.state.rip != outcome.state.rip {
            continue;
        }
        for (result, needs) in &needs {
            let named = needs.slots[input.0.index()] & 1 << input.1 != 0;
            if !named && byte_of(&outcome.state, *result) != byte_of(&changed.state, *result) {
                let ((to, at), (from, of)) = (result, input);
                told.push(format!(
                    "{}: byte {at} of {to} comes from byte {of} of {from}",
                    describe::form(case)
                ));
            }
        }
    }
}

#[test]
fn results_come_from_the_bytes_that_ops_name() {
    let seed = 11;
    let image = Generator::image(seed);
    let mut emulated = Emulated::new(&image);
    let mut told = Vec::new();
    for group in groups() {
        let mut generator = Generator::new(group, seed);
        let cases: Vec<Case> = (0..CASES).map(|index| generator.case(index)).collect();
        emulated.load(&cases);
        cases.iter().for_each(|case| objections(&mut emulated, case, &mut told));
    }
    told.sort();
    told.dedup();
    told.truncate(40);
    assert!(told.is_empty(), "{}", told.join("\n"));
}
