//! Holds ops to the slots that they say they read and write: a slot that is not said to be read makes no difference, one that
//! is not said to be written stays as it was. On the fuzzer's cases, so for every form of every group.

use super::describe;
use super::emulated::{Answer, Emulated, Executor};
use super::generate::Generator;
use super::groups;
use super::layout::SLOTS;
use super::state::{Case, Outcome, State};
use lift::{Op, Reg};

/// Cases a group. Each is run about fifty times.
const CASES: u64 = 300;

const ARITHMETIC: u64 = lift::flags::ARITHMETIC;
const DIRECTION: u64 = 1 << 10;
/// The rounding mode.
const ROUNDING: u32 = 3 << 13;
const X87_ROUNDING: u16 = 3 << 10;
/// In the x87 status word.
const X87_FLAGS: u16 = 0x7f;
const X87_CODES: u16 = 0x4700;

/// What a case reads before it has written it, and what it writes.
#[derive(Default)]
struct Use {
    reads: Vec<Reg>,
    writes: Vec<Reg>,
}

fn use_of(case: &Case) -> Use {
    let mut used = Use::default();
    for step in &case.steps {
        let mut ops: Vec<Op> = Vec::new();
        lift::lift(&step.instruction, &mut ops);
        for op in &ops {
            let written = &used.writes;
            let mut fresh = Vec::new();
            op.reads(|reg| {
                if !written.contains(&reg) {
                    fresh.push(reg);
                }
            });
            used.reads.extend(fresh);
            op.writes(|reg| used.writes.push(reg));
        }
    }
    used
}

/// Every slot that a state shows.
fn shown() -> impl Iterator<Item = Reg> {
    let vectors = (0..16).flat_map(|n| [Reg::xmm(n), Reg::xmm(n).high_half()]);
    let x87 = (0..8).flat_map(|n| [Reg::st(n), Reg::st(n).high_half()]);
    let others = [Reg::FLAG_A, Reg::DIRECTION, Reg::MXCSR, Reg::X87_CONTROL, Reg::X87_FLAGS, Reg::X87_CODES];
    (0..16).map(Reg::general).chain(vectors).chain(x87).chain(others)
}

/// Changes what a slot holds; twice makes no change.
fn flip(state: &mut State, reg: Reg) {
    const PATTERN: u64 = 0x8110_0000_8000_4081;
    let vector = usize::from(reg.0.wrapping_sub(Reg::xmm(0).0) / 2);
    match reg {
        Reg::FLAG_A => state.rflags ^= ARITHMETIC,
        Reg::DIRECTION => state.rflags ^= DIRECTION,
        Reg::MXCSR => state.float.mxcsr ^= ROUNDING,
        Reg::X87_CONTROL => state.float.control ^= X87_ROUNDING,
        Reg::X87_FLAGS => state.float.status ^= X87_FLAGS,
        Reg::X87_CODES => state.float.status ^= X87_CODES,
        _ if reg.is_st() => {
            let (number, half) = (usize::from(reg.0 - Reg::st(0).0) / 2, (reg.0 - Reg::st(0).0) % 2);
            state.float.stack[number] ^= if half == 0 { u128::from(PATTERN) } else { 0x4081 << 64 };
        }
        _ if reg.is_general() => state.general[reg.index()] ^= PATTERN,
        _ if reg.0.is_multiple_of(2) => state.float.xmm[vector] ^= u128::from(PATTERN),
        _ => state.float.xmm[vector] ^= u128::from(PATTERN) << 64,
    }
}

/// What a slot holds, as a state shows it.
fn shows(state: &State, reg: Reg) -> u64 {
    let vector = usize::from(reg.0.wrapping_sub(Reg::xmm(0).0) / 2);
    match reg {
        Reg::FLAG_A => state.rflags & ARITHMETIC,
        Reg::DIRECTION => state.rflags & DIRECTION,
        Reg::MXCSR => u64::from(state.float.mxcsr),
        Reg::X87_CONTROL => u64::from(state.float.control),
        Reg::X87_FLAGS => u64::from(state.float.status & X87_FLAGS),
        Reg::X87_CODES => u64::from(state.float.status & X87_CODES),
        _ if reg.is_st() => {
            let (number, half) = ((reg.0 - Reg::st(0).0) / 2, (reg.0 - Reg::st(0).0) % 2);
            (state.float.stack[usize::from(number)] >> (64 * half)) as u64
        }
        _ if reg.is_general() => state.general[reg.index()],
        _ if reg.0.is_multiple_of(2) => state.float.xmm[vector] as u64,
        _ => (state.float.xmm[vector] >> 64) as u64,
    }
}

fn run(emulated: &mut Emulated, case: &Case) -> Outcome {
    match emulated.run(case, Executor::Watched) {
        Answer::Outcome(outcome) => *outcome,
        Answer::Unsupported => panic!("{} is not supported", describe::form(case)),
        Answer::Broken(how) => panic!("{}: {how}", describe::form(case)),
    }
}

/// What is wrong with what a case's ops say of a slot.
fn objection(
    emulated: &mut Emulated,
    case: &Case,
    outcome: &Outcome,
    used: &Use,
    reg: Reg,
) -> Option<String> {
    let written = used.writes.contains(&reg);
    if !written && shows(&case.input, reg) != shows(&outcome.state, reg) {
        return Some(format!("{} writes {reg}", describe::form(case)));
    }
    if used.reads.contains(&reg) {
        return None;
    }
    let mut other = case.clone();
    flip(&mut other.input, reg);
    let mut expected = *outcome;
    // A case that faults may not come as far as its writes.
    let found = run(emulated, &other);
    let passes_through = !written || shows(&found.state, reg) == shows(&other.input, reg);
    if passes_through && found.fault.is_some() || !written {
        flip(&mut expected.state, reg);
    }
    (found != expected).then(|| format!("{} reads {reg}", describe::form(case)))
}

#[test]
fn ops_read_and_write_the_slots_that_they_say() {
    let seed = 7;
    let image = Generator::image(seed);
    let mut emulated = Emulated::new(&image);
    let mut objections = Vec::new();
    for group in groups() {
        let mut generator = Generator::new(group, seed);
        let cases: Vec<Case> = (0..CASES.min(SLOTS as u64)).map(|index| generator.case(index)).collect();
        emulated.load(&cases);
        for case in &cases {
            let used = use_of(case);
            let outcome = run(&mut emulated, case);
            objections.extend(shown().filter_map(|reg| objection(&mut emulated, case, &outcome, &used, reg)));
        }
    }
    objections.sort();
    objections.dedup();
    assert!(objections.is_empty(), "{}", objections.join("\n"));
}
